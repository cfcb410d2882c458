"""Hypotheses about which elements the threads of a launch reach: other formulas for a thread's index."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.diagnosis.facts import MOST_AXES, agrees

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.diagnosis.facts import Mask, WrongOutput


def reached_by_swapped_axes(output: WrongOutput) -> bool:
    """Right only where the threads along y reach as columns, and those along x as rows."""
    launch = output.launch
    if launch is None or output.got.ndim != MOST_AXES or output.in_a_line:
        return False
    row, column = np.indices(output.got.shape)
    reached = (row < launch.grid[0] * launch.block[0]) & (column < launch.grid[1] * launch.block[1])
    return agrees(output, np.where(reached, output.wanted, np.nan))


def _wrong_only_at(output: WrongOutput, position: int) -> bool:
    """All is right but for one element of a vector, where nothing was stored."""
    wrong = output.wrong
    if wrong.ndim != 1 or wrong.size == 1 or not output.completed:
        return False
    alone = int(np.count_nonzero(wrong)) == 1
    return alone and bool(wrong[position] and output.unwritten[position])


def first_left_out(output: WrongOutput) -> bool:
    """Nobody stored the first element of a vector."""
    return _wrong_only_at(output, 0)


def last_left_out(output: WrongOutput) -> bool:
    """Nobody stored the last element of a vector."""
    return _wrong_only_at(output, -1)


def ends_with_the_launch(output: WrongOutput) -> bool:
    """What was stored is right, and ends where the last thread of the launch is, before the last element."""
    launch, shape = output.launch, output.got.shape
    if launch is None or not output.completed or not 0 < len(shape) <= MOST_AXES:
        return False
    if (len(shape) == 1) is not output.in_a_line:
        return False
    ends = [blocks * threads for blocks, threads in zip(launch.grid, launch.block, strict=True)]
    reached = np.zeros(shape, np.bool_)
    reached[tuple(map(slice, ends[: len(shape)][::-1]))] = True
    return _only_reached(output, reached)


def index_formula(output: WrongOutput) -> bool:
    """What was stored is right, and lies where threads get to by another formula than they should."""
    launch, wrong = output.launch, output.wrong
    if launch is None or not output.completed or not 0 < wrong.ndim <= MOST_AXES:
        return False
    if not output.only_unwritten:
        return False
    reached = [
        list(_reached(extent, launch.grid[axis], launch.block[axis]))
        for axis, extent in zip(range(wrong.ndim)[::-1], wrong.shape, strict=True)
    ]
    if wrong.ndim == 1:
        return any(_only_reached(output, mask) for mask in reached[0][1:])
    ways = [*product(*reached)][1:]
    return any(_only_reached(output, np.logical_and.outer(row, column)) for row, column in ways)


def index_along_one_axis(output: WrongOutput) -> bool:
    """What was stored is right, and along one axis the block's part is missing or of the other axis."""
    launch, shape = output.launch, output.got.shape
    if launch is None or not output.completed or len(shape) != MOST_AXES:
        return False
    for at, extent in enumerate(shape):
        axis = 1 - at
        block, thread = np.indices((launch.grid[axis], launch.block[axis]))
        right = _marked(block * launch.block[axis] + thread, extent)
        for index in (thread, block * launch.block[at] + thread):
            reached = np.expand_dims(_marked(index, extent), axis)
            if not np.array_equal(reached.reshape(-1), right) and _only_reached(output, reached):
                return True
    return False


def _marked(index: np.ndarray[tuple[int, ...], np.dtype[np.intp]], extent: int) -> Mask:
    """Which places along an axis are among these."""
    mask = np.zeros(extent, np.bool_)
    mask[index[index < extent]] = True
    return mask


def _only_reached(output: WrongOutput, reached: Mask) -> bool:
    """Whether all that was reached is right, and nothing else was stored: some bytes are right by chance."""
    left_out = output.unwritten[~np.broadcast_to(reached, output.got.shape)]
    return left_out.size > 0 and bool(left_out.all()) and not (output.wrong & reached).any()


def part_of_each_tile(output: WrongOutput) -> bool:
    """Of each tile only the first rows (or columns) are right, as far as some rounds of a block reach."""
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
    """Whether this is right and nearly all of the rest wrong, where something may be right by chance."""
    rest = int(np.count_nonzero(~right))
    return not (wrong & right).any() and int(np.count_nonzero(wrong & ~right)) * 10 >= max(1, rest * 9)


def _reached(extent: int, blocks: int, threads: int) -> Iterator[Mask]:
    """Where threads get to along an axis: as they should, and by five other formulas."""
    block, thread = np.indices((blocks, threads))
    for index in (
        block * threads + thread,
        block,
        block + thread,
        block * blocks + thread,
        block * block + thread,
        0 * block,
    ):
        yield _marked(index, extent)
