"""Hypotheses that know nothing of the operation: what was stored, how far off it is, and by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.diagnosis.borders import (
    block_borders_wrong,
    border_not_written,
    border_wrong,
    edge_not_written,
    edge_wrong,
    ends_wrong,
    overwritten_by_the_edge,
    partial_blocks_wrong,
)
from grader.diagnosis.deviations import (
    added_in_float,
    change_scaled,
    constant_factor,
    constant_offset,
    expects_various,
    half_precision,
    imprecise,
    integer_output,
    off_by_input,
    overflowed,
    sign_flipped,
    starts_at_one,
    whole_numbers,
)
from grader.diagnosis.facts import ENOUGH, WARP, agrees
from grader.diagnosis.kept_numbers import (
    counted_elsewhere,
    numbers_from_elsewhere,
    numbers_misplaced,
    numbers_twice,
    parts_reversed,
    too_few_counted,
    too_many_counted,
    values_exchanged,
)
from grader.diagnosis.moved import blocks_swapped, rows_and_columns_swapped
from grader.diagnosis.patterns import (
    first_of_axis_wrong,
    last_of_axis_wrong,
    some_columns_wrong,
    some_rows_wrong,
    wrong_are_zero,
    wrong_from_there_on,
)
from grader.diagnosis.reached import (
    ends_with_the_launch,
    first_left_out,
    index_along_one_axis,
    index_formula,
    last_left_out,
    part_of_each_tile,
)
from grader.diagnosis.regions import (
    bounds_swapped,
    end_not_stored,
    first_block_only,
    first_matrix_only,
    first_row_only,
    first_tile_of_rows,
    partly_unwritten,
    some_blocks,
    zeros_not_stored,
)
from grader.model import MOST_THREADS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.diagnosis.facts import Mask, Tests, WrongOutput

# --- what was stored at all --------------------------------------------------------------------------


def no_store(output: WrongOutput) -> bool:
    """Everything is as it was, and nobody saw a store."""
    return output.completed and bool(output.unwritten.all()) and not output.store_bytes


def adds_to_output(output: WrongOutput) -> bool:
    """Nothing but NaN came of NaN poison, or exactly the poison plus the answer of any other."""
    if np.isnan(output.values).all() and not no_store(output):
        return output.completed and not output.reads_outside and output.reads_unset is not False
    if output.before is None:
        return False
    return agrees(output, np.asarray(output.before, np.float64) + output.wanted)


def computes_nan(output: WrongOutput) -> bool:
    """NaN in elements that were written, though nothing unset was read: it is a result of the arithmetic."""
    nan = np.isnan(output.values) & ~output.unwritten
    return output.completed and not output.reads_outside and output.reads_unset is False and bool(nan.all())


def all_zeros(output: WrongOutput) -> bool:
    """Zero everywhere, and the kernel ran to its end."""
    return output.completed and not output.values.any()


def all_the_same(output: WrongOutput) -> bool:
    """One number everywhere, where different ones are expected."""
    values, expected = output.values, output.wanted
    if values.size < ENOUGH or output.unwritten.any() or not np.isfinite(expected).all():
        return False
    return expects_various(output) and bool((values == values.flat[0]).all())


# --- which threads did what they should ---------------------------------------------------------------


def _right_only_where(output: WrongOutput, stored: Mask) -> bool:
    """Right wherever these threads stored and wrong everywhere else, with enough of both."""
    wrong = output.wrong
    enough = min(int(np.count_nonzero(stored)), int(np.count_nonzero(~stored))) >= ENOUGH
    return enough and output.completed and np.array_equal(wrong, ~stored)


def _threads_of_blocks(output: WrongOutput) -> Iterator[tuple[Mask, Mask]]:
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
    return any(_right_only_where(output, first) for first, _ in _threads_of_blocks(output))


def first_warp_only(output: WrongOutput) -> bool:
    """What 32 threads of each block store is right."""
    return any(_right_only_where(output, warp) for _, warp in _threads_of_blocks(output))


def every_second(output: WrongOutput) -> bool:
    """Even elements of the last axis are right and odd ones wrong, or the other way round."""
    if not output.got.ndim:
        return False
    even = np.broadcast_to(np.arange(output.got.shape[-1]) % 2 == 0, output.got.shape)
    return _right_only_where(output, even) or _right_only_where(output, ~even)


# --- the tests, in the order of asking --------------------------------------------------------------

CERTAIN_TESTS: Tests = (
    ("no-store", no_store),
    ("adds-to-output", adds_to_output),
    ("computes-nan", computes_nan),
    ("all-zeros", all_zeros),
)
"""Asked first: nothing else could look like these."""

PATTERNS: Tests = (
    ("last-row-or-column-wrong", last_of_axis_wrong),
    ("first-row-or-column-wrong", first_of_axis_wrong),
    ("some-rows-wrong", some_rows_wrong),
    ("some-columns-wrong", some_columns_wrong),
    ("wrong-from-there-on", wrong_from_there_on),
    ("wrong-are-zero", wrong_are_zero),
)
"""Asked where nothing says why."""

LIKELY_TESTS: Tests = (
    ("all-the-same", all_the_same),
    ("first-tile-of-rows", first_tile_of_rows),
    ("more-elements-than-threads", ends_with_the_launch),
    ("index-formula", index_formula),
    ("part-of-each-tile", part_of_each_tile),
    ("first-element-left-out", first_left_out),
    ("last-element-left-out", last_left_out),
    ("rows-and-columns-swapped", rows_and_columns_swapped),
    ("block-indices-swapped", blocks_swapped),
    ("guard-bounds-swapped", bounds_swapped),
    ("sign-flipped", sign_flipped),
    ("integer-overflow", overflowed),
    ("start-of-formula", starts_at_one),
    ("added-in-float", added_in_float),
    ("integer-output", integer_output),
    ("whole-numbers", whole_numbers),
    ("constant-factor", constant_factor),
    ("constant-offset", constant_offset),
    ("change-scaled", change_scaled),
    ("off-by-input", off_by_input),
    ("half-precision", half_precision),
    ("imprecise", imprecise),
    ("zeros-not-stored", zeros_not_stored),
    ("store-unguarded", overwritten_by_the_edge),
    ("end-not-stored", end_not_stored),
    ("edge-not-written", edge_not_written),
    ("border-not-written", border_not_written),
    ("border-wrong", border_wrong),
    ("edge-wrong", edge_wrong),
    ("partial-blocks-wrong", partial_blocks_wrong),
    ("block-borders-wrong", block_borders_wrong),
    ("first-row-only", first_row_only),
    ("first-matrix-only", first_matrix_only),
    ("first-block-only", first_block_only),
    ("index-formula", index_along_one_axis),
    ("some-blocks", some_blocks),
    ("border-wrong", ends_wrong),
    ("parts-reversed", parts_reversed),
    ("numbers-misplaced", numbers_misplaced),
    ("numbers-twice", numbers_twice),
    ("numbers-from-elsewhere", numbers_from_elsewhere),
    ("values-exchanged", values_exchanged),
    ("counted-elsewhere", counted_elsewhere),
    ("counted-more-than-once", too_many_counted),
    ("values-not-counted", too_few_counted),
    ("partly-unwritten", partly_unwritten),
    *PATTERNS,
)
"""Asked last, the more specific first."""

THREAD_TESTS: Tests = (
    ("every-second", every_second),
    ("first-thread-only", first_thread_only),
    ("first-warp-only", first_warp_only),
)
"""The more specific first."""
