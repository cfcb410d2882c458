"""Hypotheses about right numbers in other places, and about numbers of another array."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.explaining.facts import ENOUGH, MOST_ELEMENTS, agrees
from grader.explaining.mistake import Rank, named, predicts
from grader.explaining.threads_in_range import reached_by_swapped_axes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.explaining.facts import Mask, Prediction, Reals, WrongOutput

LARGEST_SCATTERED = 2**18
"""Elements up to which stores in other places are tried: beyond, sorting them takes a second and more."""

MOST_WRITERS = 64
"""Stores to one element beyond which there is no telling whose value stays."""


@predicts("output-transposed", "output-leading-dimension")
def stored_elsewhere(output: WrongOutput) -> Iterator[Prediction]:
    """The right numbers stored with another stride: transposed, or with the width of another array."""
    if output.got.ndim != 2 or output.got.size > LARGEST_SCATTERED:  # noqa: PLR2004 - rows and columns
        return
    rows, columns = output.got.shape
    if min(rows, columns) == 1:
        return
    arrays = (output.got, *(array for _, array in output.inputs))
    widths = dict.fromkeys(extent for array in arrays for extent in array.shape)
    for mistake, strides in (
        *(("output-transposed", (1, width)) for width in widths),
        *(("output-leading-dimension", (width, 1)) for width in widths if width != columns),
    ):
        index = np.add.outer(np.arange(rows) * strides[0], np.arange(columns) * strides[1])
        predicted = scatter(index, output.wanted)
        if predicted is not None:
            yield mistake, predicted, None


def scatter(index: np.ndarray[tuple[int, ...], np.dtype[np.intp]], values: Reals) -> Reals | None:
    """Values after ``flat[index] = values`` in no particular order: alternatives for `agrees`.

    Stores beyond the end are lost. None where an element has too many writers to say anything.
    """
    positions, stored = index.reshape(-1), values.reshape(-1)
    order = np.argsort(positions, kind="stable")
    order = order[positions[order] < values.size]
    positions, stored = positions[order], stored[order]
    if not positions.size:
        return None
    rank = np.arange(positions.size) - np.searchsorted(positions, positions)
    writers = int(rank.max()) + 1
    if writers > MOST_WRITERS:
        return None
    flat = np.full((writers, values.size), np.inf)
    flat[0] = np.nan
    flat[rank, positions] = stored
    return flat.reshape(writers, *values.shape)


@named("rows-and-columns-swapped", Rank.LIKELY, at_accesses="guard-exchanged")
def rows_and_columns_swapped(output: WrongOutput) -> bool:
    """The output is one that an exchanged grid and an exchanged guard both leave where blocks are whole."""
    return blocks_swapped(output) and bounds_swapped(output)


@named("block-indices-swapped", Rank.LIKELY)
def blocks_swapped(output: WrongOutput) -> bool:
    """Right only where a grid with its axes exchanged reaches; or tiles in each other's place."""
    if output.got.ndim != 2 or output.in_a_line:  # noqa: PLR2004 - rows and columns
        return False
    return reached_by_swapped_axes(output) or any(
        agrees(output, reached_by_swapped_blocks(output.wanted, tile)) or _tiles_exchanged(output, tile)
        for tile in output.tiles
    )


@named("guard-bounds-swapped", Rank.LIKELY, at_accesses="guard-exchanged")
def bounds_swapped(output: WrongOutput) -> bool:
    """Written only where the row is below the number of columns, and the column below that of rows.

    What threads of a tall matrix store beyond their row lies in the next one: nothing is foreseen there. They
    are as many as the last block has, or as the guard lets through.
    """
    if output.got.ndim != 2:  # noqa: PLR2004 - rows and columns
        return False
    rows, columns = output.got.shape
    row, column = np.indices(output.got.shape)
    predicted = np.where((row < columns) & (column < rows), output.wanted, np.nan)
    ends = dict.fromkeys(min(rows, -(-columns // tile) * tile) for tile in (*output.tiles, rows))
    return any(agrees(output, predicted, ~_beyond_rows(output.got.shape, end)) for end in ends)


def _beyond_rows(shape: tuple[int, ...], end: int) -> Mask:
    """Mask of stores from columns beyond the row and below ``end``, of rows that the guard lets by."""
    rows, columns = shape
    index = np.add.outer(np.arange(min(rows, columns)) * columns, np.arange(columns, end)).reshape(-1)
    reached = np.zeros(rows * columns, np.bool_)
    reached[index[index < reached.size]] = True
    return reached.reshape(shape)


def reached_by_swapped_blocks(values: Reals, tile: int) -> Reals:
    """The part of a matrix that a grid with its axes exchanged reaches, NaN beyond."""
    rows, columns = values.shape
    covered = values.copy()
    covered[-(-columns // tile) * tile :, :] = np.nan
    covered[:, -(-rows // tile) * tile :] = np.nan
    return covered


def _tiles_exchanged(output: WrongOutput, tile: int) -> bool:
    """Each tile holds what belongs into the one across the diagonal."""
    return agrees(output, *exchanged(output.wanted, tile))


def exchanged(expected: Reals, tile: int) -> tuple[Reals, Mask]:
    """Each tile where the one across the diagonal belongs, and where that is inside the array."""
    row, column = np.indices(expected.shape)
    source = (column // tile * tile + row % tile, row // tile * tile + column % tile)
    mask = (source[0] < expected.shape[0]) & (source[1] < expected.shape[1])
    return expected[np.where(mask, source[0], 0), np.where(mask, source[1], 0)], mask


@predicts("output-shifted", "output-reversed", "tiles-turned")
def misplaced_predictions(output: WrongOutput) -> Iterator[Prediction]:
    """Shifted, reversed, turned inside its tiles, cut to a smaller type; each with what is known of it."""
    if not ENOUGH <= output.got.size <= MOST_ELEMENTS or not output.got.ndim:
        return
    if np.unique(output.wanted).size >= ENOUGH:  # of a single number in many zeros any move is possible
        yield from (("output-shifted", *shifted) for shifted in _shifted_by_one(output.wanted))
        yield from (("output-reversed", turned, None) for turned in _reversed(output.wanted))
        yield from (("tiles-turned", *turned) for turned in _turned(output))
    yield from (("integer-overflow", wrapped, None) for wrapped in _in_smaller_types(output))


@predicts("input-copied")
def copied_input(output: WrongOutput) -> Iterator[Prediction]:
    """Each input with as many elements as the output (a matrix that was copied instead of transposed)."""
    for _, array in output.inputs:
        if array.size == output.got.size >= ENOUGH:
            yield "input-copied", np.asarray(array, np.float64).reshape(output.got.shape), None


@predicts("outputs-exchanged")
def other_output(output: WrongOutput) -> Iterator[Prediction]:
    """Values that belong into another output, where it has the same shape."""
    for other in output.others:
        if other.shape == output.got.shape and other.size >= ENOUGH:
            yield "outputs-exchanged", np.asarray(other, np.float64), None


def _shifted_by_one(expected: Reals) -> Iterator[tuple[Reals, Mask]]:
    """Shift by one along each axis, and by one element from row to row; known but where something came in."""
    for axis in range(expected.ndim):
        for step in (1, -1):
            mask = np.ones(expected.shape, np.bool_)
            edge = [slice(None)] * expected.ndim
            edge[axis] = slice(0, 1) if step > 0 else slice(-1, None)
            mask[tuple(edge)] = False
            yield np.roll(expected, step, axis), mask
    if expected.ndim > 1:
        for step in (1, -1):
            mask = np.ones(expected.shape, np.bool_)
            mask.flat[0 if step > 0 else -1] = False
            yield np.roll(expected.reshape(-1), step).reshape(expected.shape), mask


def _reversed(expected: Reals) -> Iterator[Reals]:
    """Along each axis, and along all."""
    for axis in range(expected.ndim):
        yield np.flip(expected, axis)
    if expected.ndim > 1:
        yield np.flip(expected)


def _turned(output: WrongOutput) -> Iterator[tuple[Reals, Mask]]:
    """Each tile in its place, with rows and columns exchanged inside; known where the whole tile is there."""
    expected = output.wanted
    if expected.ndim != 2:  # noqa: PLR2004 - rows and columns
        return
    row, column = np.indices(expected.shape)
    for tile in output.tiles:
        from_row, from_column = row // tile * tile + column % tile, column // tile * tile + row % tile
        mask = (from_row < expected.shape[0]) & (from_column < expected.shape[1])
        yield expected[np.where(mask, from_row, 0), np.where(mask, from_column, 0)], mask


def _in_smaller_types(output: WrongOutput) -> Iterator[Reals]:
    """Integers as a smaller type holds them: the low bits, or the largest number that it holds."""
    expected = output.wanted
    if output.got.dtype.kind not in "iu" or not np.isfinite(expected).all():
        return
    for bits in (8, 16, 32):
        low = np.mod(expected, 2.0**bits)
        yield low
        yield np.where(low >= 2.0 ** (bits - 1), low - 2.0**bits, low)
        yield np.minimum(expected, 2.0**bits - 1)
        yield np.clip(expected, -(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1)
