"""Hypotheses about which elements the threads of a launch reach: other formulas for a thread's index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.diagnosis.facts import Mask, WrongOutput

MOST_AXES = 2


def _only(output: WrongOutput, place: int) -> bool:
    """All is right but for one element of a vector, where nothing was stored."""
    wrong = output.wrong
    if wrong.ndim != 1 or not output.completed or not wrong[place] or not output.unwritten[place]:
        return False
    return int(np.count_nonzero(wrong)) == 1


def first_left_out(output: WrongOutput) -> bool:
    """Nobody stored the first element of a vector."""
    return _only(output, 0)


def last_left_out(output: WrongOutput) -> bool:
    """Nobody stored the last element of a vector."""
    return _only(output, -1)


def index_formula(output: WrongOutput) -> bool:
    """What was stored is right, and lies where threads get to by another formula than they should."""
    launch, wrong = output.launch, output.wrong
    if launch is None or not output.completed or not 0 < wrong.ndim <= MOST_AXES:
        return False
    if not output.unwritten[wrong].all():
        return False
    reached = [
        list(_reached(extent, launch.grid[axis], launch.block[axis]))
        for axis, extent in zip(range(wrong.ndim)[::-1], wrong.shape, strict=True)
    ]
    if wrong.ndim == 1:
        return any(np.array_equal(wrong, ~mask) for mask in reached[0][1:])
    ways = [(row, column) for row in range(len(reached[0])) for column in range(len(reached[1]))]
    return any(
        np.array_equal(wrong, ~np.logical_and.outer(reached[0][row], reached[1][column]))
        for row, column in ways
        if row or column
    )


def part_of_each_tile(output: WrongOutput) -> bool:
    """Of each tile only as many rows (or columns) are right as a block has threads along an axis."""
    launch, wrong = output.launch, output.wrong
    if launch is None or wrong.ndim != MOST_AXES or not output.completed:
        return False
    row, column = np.indices(wrong.shape)
    for tile in output.tiles:
        for threads in {size for size in launch.block[:2] if 1 < size < tile}:
            rows, columns = row % tile < threads, column % tile < threads
            shapes: list[NDArray[Any]] = [np.asarray(each) for each in (rows, columns, rows & columns)]
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
        mask = np.zeros(extent, np.bool_)
        inside = index[index < extent]
        mask[inside.reshape(-1)] = True
        yield mask
