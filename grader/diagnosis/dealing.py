"""How a vector is dealt out to blocks and threads, and what of it counts where something is left out.

Reductions, histograms and scans share it. Blocks are as long as the launch says, or else as the constants
say, or twice that: threads may load two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from grader.diagnosis.general import WARP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.diagnosis.facts import Mask, Reals, WrongOutput

Places: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.intp]]"
"""Whole numbers, one for each element."""


class Dealt(NamedTuple):
    """For each element of a vector its block and its thread, where each thread takes every ``step``-th."""

    block: Places
    thread: Places
    threads: int
    step: int


def dealt_out(output: WrongOutput, size: int, threads: int) -> Dealt:
    """How a vector is dealt out to blocks of so many threads that go on in steps of the whole grid."""
    blocks = output.launch.grid[0] if output.launch else max(1, -(-size // threads))
    index = np.arange(size)
    return Dealt(index // threads % blocks, index % threads, threads, blocks * threads)


def parts(dealt: Dealt) -> Iterator[tuple[str, Mask]]:
    """Which elements count where something is left out."""
    block, thread, threads, step = dealt
    index = np.arange(block.size)
    yield "first-round-only", index < step
    yield "first-block-of-sum", block == 0
    yield "tail-not-counted", index < block.size // threads * threads
    yield "tail-not-counted", index < block.size // step * step
    yield "first-warp-of-sum", thread < WARP
    yield "first-thread-of-sum", thread == 0
    yield "last-step-missing", thread < threads // 2
    lane, warp = thread % WARP, thread // WARP
    for distance in (1, 2, 4, 8, 16):
        yield "last-step-missing", thread % (2 * distance) < distance
        yield "last-step-missing", lane % (2 * distance) < distance
        yield "last-step-missing", (lane % (2 * distance) < distance) & (warp % (2 * distance) < distance)


def repeated(dealt: Dealt) -> Iterator[tuple[str, Places]]:
    """How often each element counts where some count more than once."""
    index = np.arange(dealt.block.size)
    blocks = dealt.step // dealt.threads
    first_lane = dealt.thread == 0
    yield "stride-of-one-block", np.minimum(index // dealt.threads + 1, blocks)
    yield "shuffles-up", first_lane * WARP
    yield "shuffles-up", first_lane * WARP * WARP
    yield "counted-more-than-once", np.full(index.size, dealt.threads)
    if blocks > 1:
        yield "counted-more-than-once", np.full(index.size, blocks)


def blocks_of(output: WrongOutput, size: int) -> tuple[int, ...]:
    """The lengths that a block may work on: its threads where they are known, or else as constants say."""
    if output.launch is not None:
        return (output.launch.block[0],)
    return _blocks(output, size)


def _blocks(output: WrongOutput, size: int) -> tuple[int, ...]:
    """The lengths that a block may work on, those that divide an input of this size into several."""
    lengths = dict.fromkeys(length for block in output.tiles for length in (block, 2 * block))
    return tuple(length for length in lengths if length < size)


def vector(output: WrongOutput) -> Reals | None:
    """The first input with more than one element, flat."""
    arrays = (array for _, array in output.inputs if array.size > 1)
    array = next(arrays, None)
    return None if array is None else np.asarray(array, np.float64).reshape(-1)
