"""Mistakes that show by what was stored at all, and by which threads of a block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.explaining.facts import ENOUGH, WARP, agrees, expects_various
from grader.explaining.mistake import Rank, Says, Shows, named
from grader.model import MOST_THREADS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.explaining.facts import Mask, WrongOutput


@named("no-store", Rank.CERTAIN, shows=Shows.OF_ANY_SHAPE)
def no_store(output: WrongOutput) -> bool:
    """Everything is as it was, and no store was seen."""
    return output.completed and bool(output.unwritten.all()) and not output.store_bytes


@named("adds-to-output", Rank.CERTAIN, Says.HOW)
def adds_to_output(output: WrongOutput) -> bool:
    """Nothing but NaN came of NaN poison, or exactly the poison plus the answer of any other."""
    if np.isnan(output.values).all() and not no_store(output):
        return output.completed and not output.reads_outside and output.reads_unset is not False
    if output.before is None:
        return False
    return agrees(output, np.asarray(output.before, np.float64) + output.wanted)


@named("computes-nan", Rank.CERTAIN, Says.HOW)
def computes_nan(output: WrongOutput) -> bool:
    """NaN in elements that were written, though nothing unset was read: it is a result of the arithmetic."""
    nan = np.isnan(output.values) & ~output.unwritten
    return output.completed and not output.reads_outside and output.reads_unset is False and bool(nan.all())


@named("all-zeros", Rank.CERTAIN, Says.HOW)
def all_zeros(output: WrongOutput) -> bool:
    """Zero everywhere, and the kernel ran to its end."""
    return output.completed and not output.values.any()


@named("every-second", Rank.APPEARANCE, Says.HOW, Shows.OF_ANY_SHAPE)
def every_second(output: WrongOutput) -> bool:
    """Even elements of the last axis are right and odd ones wrong, or the other way round."""
    if not output.got.ndim:
        return False
    even = np.broadcast_to(np.arange(output.got.shape[-1]) % 2 == 0, output.got.shape)
    return _right_only_where(output, even) or _right_only_where(output, ~even)


@named("first-thread-only", Rank.LIKELY, shows=Shows.OF_ANY_SHAPE)
def first_thread_only(output: WrongOutput) -> bool:
    """One element of each block is right."""
    return any(_right_only_where(output, first) for first, _ in _threads_of_blocks(output))


@named("first-warp-only", Rank.LIKELY, shows=Shows.OF_ANY_SHAPE)
def first_warp_only(output: WrongOutput) -> bool:
    """The part that 32 threads of each block store is right."""
    return any(_right_only_where(output, warp) for _, warp in _threads_of_blocks(output))


def _right_only_where(output: WrongOutput, stored: Mask) -> bool:
    """Right wherever these threads stored and wrong everywhere else, with enough of both."""
    wrong = output.wrong
    enough = min(int(np.count_nonzero(stored)), int(np.count_nonzero(~stored))) >= ENOUGH
    return enough and output.completed and np.array_equal(wrong, ~stored)


def _threads_of_blocks(output: WrongOutput) -> Iterator[tuple[Mask, Mask]]:
    """Masks of what the first thread, and the first 32, of each block store, for each possible block size."""
    shape = output.got.shape
    if len(shape) == 1:
        for block in output.tiles:
            thread = np.arange(shape[0]) % block
            yield thread == 0, thread < min(WARP, block)
    if len(shape) == 2:  # noqa: PLR2004 - rows and columns
        row, column = np.indices(shape)
        for tile in (tile for tile in output.tiles if tile * tile <= MOST_THREADS):
            thread = row % tile * tile + column % tile
            yield thread == 0, thread < min(WARP, tile * tile)


@named("all-the-same", Rank.APPEARANCE, Says.HOW, Shows.IN_ALL_CASES)
def all_the_same(output: WrongOutput) -> bool:
    """One number everywhere, where different ones are expected."""
    values, expected = output.values, output.wanted
    if values.size < ENOUGH or output.unwritten.any() or not np.isfinite(expected).all():
        return False
    return expects_various(output) and bool((values == values.flat[0]).all())
