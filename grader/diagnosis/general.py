"""Hypotheses that know nothing of the operation: what was stored, where, and how far off it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.diagnosis import regions, threads
from grader.diagnosis.facts import ENOUGH, RELATIVE_SLACK, agrees

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.diagnosis.facts import Mask, Prediction, Reals, Tests, WrongOutput

HALF_TO_SINGLE = 2.0**14
"""How much larger than a float32 bound the error of 16-bit arithmetic may be (2⁻¹¹ against 2⁻²⁴, doubled)."""

LARGEST = 2**18
"""Elements up to which stores in other places are tried: beyond, sorting them takes a second and more."""

CROWDED = 64
"""Stores to one element beyond which there is no telling whose value stays."""


# --- what was stored at all --------------------------------------------------------------------------


def no_store(output: WrongOutput) -> bool:
    """Everything is as it was, and nobody saw a store."""
    return output.completed and bool(output.unwritten.all()) and not output.store_bytes


def adds_to_output(output: WrongOutput) -> bool:
    """Nothing but NaN came of NaN poison, or exactly the poison plus the answer of any other."""
    if np.isnan(output.values).all() and not no_store(output):
        return output.completed and not output.reads_outside
    if output.before is None:
        return False
    return agrees(output, np.asarray(output.before, np.float64) + output.wanted)


def all_zeros(output: WrongOutput) -> bool:
    """Zero everywhere, and the kernel ran to its end."""
    return output.completed and not output.values.any()


def all_the_same(output: WrongOutput) -> bool:
    """One number everywhere, where different ones are expected."""
    values, wanted = output.values, output.wanted
    if values.size < ENOUGH or output.unwritten.any() or not np.isfinite(wanted).all():
        return False
    different = float(np.ptp(wanted)) > float(output.tolerance(wanted).max())
    return different and bool((values == values.flat[0]).all())


# --- where the right numbers went --------------------------------------------------------------------


def stored_elsewhere(output: WrongOutput) -> Iterator[Prediction]:
    """The right numbers stored with another stride: transposed, or with the width of another array."""
    if output.got.ndim != 2 or output.got.size > LARGEST:  # noqa: PLR2004 - rows and columns
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
    """What stands where after ``flat[index] = values`` in no particular order: alternatives for `agrees`.

    Stores beyond the end are lost. None where an element has so many writers that nothing can be said.
    """
    where, what = index.reshape(-1), values.reshape(-1)
    order = np.argsort(where, kind="stable")
    order = order[where[order] < values.size]
    where, what = where[order], what[order]
    if not where.size:
        return None
    rank = np.arange(where.size) - np.searchsorted(where, where)
    writers = int(rank.max()) + 1
    if writers > CROWDED:
        return None
    flat = np.full((writers, values.size), np.inf)
    flat[0] = np.nan
    flat[rank, where] = what
    return flat.reshape(writers, *values.shape)


def blocks_swapped(output: WrongOutput) -> bool:
    """Right only where a grid with its axes exchanged reaches; or tiles in each other's place."""
    if output.got.ndim != 2 or output.in_a_line:  # noqa: PLR2004 - rows and columns
        return False
    return any(
        agrees(output, reached_by_swapped_blocks(output.wanted, tile)) or _tiles_exchanged(output, tile)
        for tile in output.tiles
    )


def rows_and_columns_swapped(output: WrongOutput) -> bool:
    """What an exchanged grid and an exchanged guard leave alike, where all blocks are whole."""
    return blocks_swapped(output) and regions.bounds_swapped(output)


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


def exchanged(wanted: Reals, tile: int) -> tuple[Reals, Mask]:
    """Each tile where the one across the diagonal belongs, and where that is inside the array."""
    row, column = np.indices(wanted.shape)
    source = (column // tile * tile + row % tile, row // tile * tile + column % tile)
    known = (source[0] < wanted.shape[0]) & (source[1] < wanted.shape[1])
    return wanted[np.where(known, source[0], 0), np.where(known, source[1], 0)], known


# --- how far off it is -------------------------------------------------------------------------------


def sign_flipped(output: WrongOutput) -> bool:
    """The right answer times -1."""
    return agrees(output, -output.wanted)


def constant_factor(output: WrongOutput) -> bool:
    """The right answer times one number."""
    clear = np.abs(output.wanted) > output.tolerance(output.wanted)
    if output.empty.any() or np.count_nonzero(clear) < ENOUGH:
        return False
    factor = float(np.median(output.values[clear] / output.wanted[clear]))
    return abs(factor) > RELATIVE_SLACK and agrees(output, factor * output.wanted)


def constant_offset(output: WrongOutput) -> bool:
    """The right answer plus one number."""
    if output.empty.any() or output.got.size < ENOUGH:
        return False
    return agrees(output, output.wanted + float(np.median(output.values - output.wanted)))


def integer_output(output: WrongOutput) -> bool:
    """The right answer without its fraction."""
    return agrees(output, np.trunc(output.wanted))


def half_precision(output: WrongOutput) -> bool:
    """Close, and every number is one that a float16 (or a bfloat16) can hold."""
    values = output.values
    if not np.issubdtype(output.got.dtype, np.floating) or values.size < ENOUGH or not _close(output):
        return False
    return any(
        bool(fits(values).all()) and not bool(fits(output.wanted).all()) for fits in (_is_half, _is_bfloat)
    )


def _is_half(values: Reals) -> Mask:
    with np.errstate(over="ignore"):
        fits: Mask = values == values.astype(np.float16)
    return fits


def _is_bfloat(values: Reals) -> Mask:
    with np.errstate(over="ignore"):
        fits: Mask = (values.astype(np.float32).view(np.uint32) & 0xFFFF) == 0
    return fits


def imprecise(output: WrongOutput) -> bool:
    """Close, with errors all over of the size that 16-bit arithmetic makes."""
    widespread = int(np.count_nonzero(output.wrong)) * 2 > output.got.size >= ENOUGH
    if not widespread or not _close(output):
        return False
    error = np.abs(output.values - output.wanted)
    return bool((error <= HALF_TO_SINGLE * output.bounds).all())


def _close(output: WrongOutput) -> bool:
    """No error above a twentieth of the largest element."""
    if output.empty.any() or not np.isfinite(output.values).all():
        return False
    return bool((np.abs(output.values - output.wanted) <= np.abs(output.wanted).max() / 20).all())


CERTAIN: Tests = (
    ("no-store", no_store),
    ("adds-to-output", adds_to_output),
    ("all-zeros", all_zeros),
)
"""Asked first: nothing else could look like these."""

LIKELY: Tests = (
    ("all-the-same", all_the_same),
    ("first-tile-of-rows", regions.first_tile_of_rows),
    ("index-formula", threads.index_formula),
    ("part-of-each-tile", threads.part_of_each_tile),
    ("first-element-left-out", threads.first_left_out),
    ("last-element-left-out", threads.last_left_out),
    ("rows-and-columns-swapped", rows_and_columns_swapped),
    ("block-indices-swapped", blocks_swapped),
    ("guard-bounds-swapped", regions.bounds_swapped),
    ("sign-flipped", sign_flipped),
    ("integer-output", integer_output),
    ("constant-factor", constant_factor),
    ("constant-offset", constant_offset),
    ("half-precision", half_precision),
    ("imprecise", imprecise),
    ("store-unguarded", regions.overwritten_by_the_edge),
    ("edge-not-written", regions.edge_not_written),
    ("edge-wrong", regions.edge_wrong),
    ("first-row-only", regions.first_row_only),
    ("first-block-only", regions.first_block_only),
    ("some-blocks", regions.some_blocks),
    ("partly-unwritten", regions.partly_unwritten),
)
"""Asked last, the more specific first."""
