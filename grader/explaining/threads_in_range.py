"""Mistakes that show by which elements the threads of a launch reach: other formulas for a thread's index."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.explaining.facts import MOST_AXES, agrees
from grader.explaining.mistake import Rank, named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.explaining.facts import Mask, WrongOutput


@named("first-tile-of-rows", Rank.LIKELY)
def first_tile_of_rows(output: WrongOutput) -> bool:
    """Each row is right up to the first block's length and wrong from there on: blocks lie in one line."""
    wrong = output.wrong
    if wrong.ndim != 2 or not output.in_a_line:  # noqa: PLR2004 - rows and columns
        return False
    column = np.arange(wrong.shape[1])
    lengths = {*output.tiles, *(output.launch.block[:1] if output.launch else ())}
    return any(
        length < wrong.shape[1] and np.array_equal(wrong, np.broadcast_to(column >= length, wrong.shape))
        for length in lengths
    )


@named("more-elements-than-threads", Rank.LIKELY)
def ends_with_the_launch(output: WrongOutput) -> bool:
    """All that was stored is right, and ends where the launch's last thread is, before the last element."""
    launch, shape = output.launch, output.got.shape
    if launch is None or not output.completed or not 0 < len(shape) <= MOST_AXES:
        return False
    if (len(shape) == 1) is not output.in_a_line:
        return False
    ends = [blocks * threads for blocks, threads in zip(launch.grid, launch.block, strict=True)]
    reached = np.zeros(shape, np.bool_)
    reached[tuple(map(slice, ends[: len(shape)][::-1]))] = True
    return only_reached(output, reached)


@named("index-formula", Rank.LIKELY)
def index_formula(output: WrongOutput) -> bool:
    """All that was stored is right, and lies where another formula of the index takes the threads."""
    launch, wrong = output.launch, output.wrong
    if launch is None or not output.completed or not 0 < wrong.ndim <= MOST_AXES:
        return False
    if not output.only_unwritten:
        return False
    reached = [
        list(_places_by_formula(extent, launch.grid[axis], launch.block[axis]))
        for axis, extent in zip(range(wrong.ndim)[::-1], wrong.shape, strict=True)
    ]
    if wrong.ndim == 1:
        return any(only_reached(output, mask) for mask in reached[0][1:])
    ways = [*product(*reached)][1:]
    return any(only_reached(output, np.logical_and.outer(row, column)) for row, column in ways)


def _places_by_formula(extent: int, blocks: int, threads: int) -> Iterator[Mask]:
    """Places that threads get to along an axis: as they should, and by five other formulas."""
    block, thread = np.indices((blocks, threads))
    for index in (
        block * threads + thread,
        block,
        block + thread,
        block * blocks + thread,
        block * block + thread,
        0 * block,
    ):
        yield marked(index, extent)


def marked(index: np.ndarray[tuple[int, ...], np.dtype[np.intp]], extent: int) -> Mask:
    """Mask of the places along an axis that are among these."""
    mask = np.zeros(extent, np.bool_)
    mask[index[index < extent]] = True
    return mask


def only_reached(output: WrongOutput, reached: Mask) -> bool:
    """True if all that was reached is right, and nothing else was stored: some bytes are right by chance."""
    left_out = output.unwritten[~np.broadcast_to(reached, output.got.shape)]
    return left_out.size > 0 and bool(left_out.all()) and not (output.wrong & reached).any()


@named("part-of-each-tile", Rank.LIKELY)
def part_of_each_tile(output: WrongOutput) -> bool:
    """The first rows (or columns) of each tile alone are right, as far as some rounds of a block reach."""
    launch, wrong = output.launch, output.wrong
    if launch is None or wrong.ndim != MOST_AXES or not output.completed:
        return False
    row, column = np.indices(wrong.shape)
    for tile in output.tiles:
        rounds = {reach for size in launch.block[:2] if size > 1 for reach in range(size, tile, size)}
        for reach in sorted(rounds):
            rows, columns = row % tile < reach, column % tile < reach
            shapes: list[NDArray[Any]] = [np.asarray(mask) for mask in (rows, columns, rows & columns)]
            if any(_is_all_that_is_right(wrong, right) for right in shapes):
                return True
    return False


def _is_all_that_is_right(wrong: Mask, right: NDArray[Any]) -> bool:
    """True if this is right and nearly all of the rest wrong, where something may be right by chance."""
    rest = int(np.count_nonzero(~right))
    return not (wrong & right).any() and int(np.count_nonzero(wrong & ~right)) * 10 >= max(1, rest * 9)


@named("first-element-left-out", Rank.LIKELY)
def first_left_out(output: WrongOutput) -> bool:
    """The first element of a vector was not stored."""
    return _wrong_only_at(output, 0)


@named("last-element-left-out", Rank.LIKELY)
def last_left_out(output: WrongOutput) -> bool:
    """The last element of a vector was not stored."""
    return _wrong_only_at(output, -1)


def _wrong_only_at(output: WrongOutput, position: int) -> bool:
    """All is right but for one element of a vector, where nothing was stored."""
    wrong = output.wrong
    if wrong.ndim != 1 or wrong.size == 1 or not output.completed:
        return False
    alone = int(np.count_nonzero(wrong)) == 1
    return alone and bool(wrong[position] and output.unwritten[position])


def reached_by_swapped_axes(output: WrongOutput) -> bool:
    """Right only where the threads along y reach as columns, and those along x as rows."""
    launch = output.launch
    if launch is None or output.got.ndim != MOST_AXES or output.in_a_line:
        return False
    row, column = np.indices(output.got.shape)
    reached = (row < launch.grid[0] * launch.block[0]) & (column < launch.grid[1] * launch.block[1])
    return agrees(output, np.where(reached, output.wanted, np.nan))
