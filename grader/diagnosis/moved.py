"""Hypotheses that know nothing of the operation: right numbers elsewhere, and threads that did nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.diagnosis.facts import ENOUGH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.diagnosis.facts import Mask, Prediction, Reals, Tests, WrongOutput

WARP = 32
MOST_THREADS = 1024
"""Threads of a block."""

LARGEST = 2**20
"""Elements up to which other places are tried: beyond, it would take a second and more."""


def predictions(output: WrongOutput) -> Iterator[Prediction]:
    """Shifted, reversed, turned inside its tiles, cut to a smaller type; each with what is known of it."""
    if not ENOUGH <= output.got.size <= LARGEST or not output.got.ndim:
        return
    if np.unique(output.wanted).size >= ENOUGH:  # of a single number in many zeros any move is possible
        yield from (("output-shifted", *shifted) for shifted in _shifted(output.wanted))
        yield from (("output-reversed", turned, None) for turned in _reversed(output.wanted))
        yield from (("tiles-turned", *turned) for turned in _turned(output))
    yield from (("integer-overflow", held, None) for held in _held_by_smaller_types(output))


def copied(output: WrongOutput) -> Iterator[Prediction]:
    """Each input with as many elements as the output (a matrix that was copied instead of transposed)."""
    for _, array in output.inputs:
        if array.size == output.got.size >= ENOUGH:
            yield "input-copied", np.asarray(array, np.float64).reshape(output.got.shape), None


def _shifted(wanted: Reals) -> Iterator[tuple[Reals, Mask]]:
    """By one along each axis, and by one element from row to row; known but where something came in."""
    for axis in range(wanted.ndim):
        for step in (1, -1):
            known = np.ones(wanted.shape, np.bool_)
            edge = [slice(None)] * wanted.ndim
            edge[axis] = slice(0, 1) if step > 0 else slice(-1, None)
            known[tuple(edge)] = False
            yield np.roll(wanted, step, axis), known
    if wanted.ndim > 1:
        for step in (1, -1):
            known = np.ones(wanted.shape, np.bool_)
            known.flat[0 if step > 0 else -1] = False
            yield np.roll(wanted.reshape(-1), step).reshape(wanted.shape), known


def _reversed(wanted: Reals) -> Iterator[Reals]:
    """Along each axis, and along all."""
    for axis in range(wanted.ndim):
        yield np.flip(wanted, axis)
    if wanted.ndim > 1:
        yield np.flip(wanted)


def _turned(output: WrongOutput) -> Iterator[tuple[Reals, Mask]]:
    """Each tile in its place, with rows and columns exchanged inside; known where the whole tile is there."""
    wanted = output.wanted
    if wanted.ndim != 2:  # noqa: PLR2004 - rows and columns
        return
    row, column = np.indices(wanted.shape)
    for tile in output.tiles:
        from_row, from_column = row // tile * tile + column % tile, column // tile * tile + row % tile
        known = (from_row < wanted.shape[0]) & (from_column < wanted.shape[1])
        yield wanted[np.where(known, from_row, 0), np.where(known, from_column, 0)], known


def _held_by_smaller_types(output: WrongOutput) -> Iterator[Reals]:
    """What is left of integers in a smaller type: the low bits, or the largest that it holds."""
    wanted = output.wanted
    if output.got.dtype.kind not in "iu" or not np.isfinite(wanted).all():
        return
    for bits in (8, 16, 32):
        low = np.mod(wanted, 2.0**bits)
        yield low
        yield np.where(low >= 2.0 ** (bits - 1), low - 2.0**bits, low)
        yield np.minimum(wanted, 2.0**bits - 1)
        yield np.clip(wanted, -(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1)


# --- which threads did what they should ---------------------------------------------------------------


def _right_only_where(output: WrongOutput, did: Mask) -> bool:
    """Right wherever these threads stored and wrong everywhere else, with enough of both."""
    wrong = output.wrong
    enough = min(int(np.count_nonzero(did)), int(np.count_nonzero(~did))) >= ENOUGH
    return enough and output.completed and np.array_equal(wrong, ~did)


def _threads(output: WrongOutput) -> Iterator[tuple[Mask, Mask]]:
    """Where the first thread, and the first 32, of each block store, for each block size to think of."""
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


def first_thread_only(output: WrongOutput) -> bool:
    """One element of each block is right."""
    return any(_right_only_where(output, first) for first, _ in _threads(output))


def first_warp_only(output: WrongOutput) -> bool:
    """What 32 threads of each block store is right."""
    return any(_right_only_where(output, warp) for _, warp in _threads(output))


def every_second(output: WrongOutput) -> bool:
    """Even elements of the last axis are right and odd ones wrong, or the other way round."""
    if not output.got.ndim:
        return False
    even = np.broadcast_to(np.arange(output.got.shape[-1]) % 2 == 0, output.got.shape)
    return _right_only_where(output, even) or _right_only_where(output, ~even)


CERTAIN: Tests = (
    ("every-second", every_second),
    ("first-thread-only", first_thread_only),
    ("first-warp-only", first_warp_only),
)
"""The more specific first."""
