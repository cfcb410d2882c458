"""Hypotheses about where an output is wrong: the edge, whole tiles, what no thread of the launch reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.diagnosis.facts import ENOUGH, agrees

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.diagnosis.facts import Mask, WrongOutput


MOST_AXES = 2


def _edge(shape: tuple[int, ...], tile: int, first_axis: int = 0) -> Mask:
    """Where the last tile along an axis is a partial one, or the last row or column of a full one."""
    edge = np.zeros(shape, np.bool_)
    for axis, extent in enumerate(shape):
        if axis < first_axis:
            continue
        start = min(extent // tile * tile, extent - 1)
        edge |= np.expand_dims(np.arange(extent) >= start, [i for i in range(len(shape)) if i != axis])
    return edge


def _edges(output: WrongOutput) -> Iterator[Mask]:
    """The edge for each tile: along the last axis alone where blocks lie in one line."""
    first_axis = output.wrong.ndim - 1 if output.in_a_line else 0
    return (_edge(output.wrong.shape, tile, first_axis) for tile in output.tiles)


def _only_edge_wrong(output: WrongOutput) -> bool:
    """Something is right, and all that is wrong lies at the edge, where that is not the whole array."""
    wrong = output.wrong
    edges = _edges(output)
    return not wrong.all() and any(not edge.all() and not (wrong & ~edge).any() for edge in edges)


def overwritten_by_the_edge(output: WrongOutput) -> bool:
    """Only the first columns are wrong, below the first row: what is stored beyond a row lands there."""
    wrong = output.wrong
    if wrong.ndim != 2 or (output.empty & wrong).any():  # noqa: PLR2004 - rows and columns
        return False
    for tile in output.tiles:
        beyond = -wrong.shape[1] % tile
        if beyond < wrong.shape[1] and wrong[1:, :beyond].sum() == wrong.sum():
            return True
    return False


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


def reached_by_swapped_axes(output: WrongOutput) -> bool:
    """Right only where the threads along y reach as columns, and those along x as rows."""
    launch = output.launch
    if launch is None or output.got.ndim != MOST_AXES or output.in_a_line:
        return False
    row, column = np.indices(output.got.shape)
    reached = (row < launch.grid[0] * launch.block[0]) & (column < launch.grid[1] * launch.block[1])
    return agrees(output, np.where(reached, output.wanted, np.nan))


def _beyond_rows(shape: tuple[int, ...], end: int) -> Mask:
    """Where stores land from a column beyond the row and below ``end``, of rows that the guard lets by."""
    rows, columns = shape
    index = np.add.outer(np.arange(min(rows, columns)) * columns, np.arange(columns, end)).reshape(-1)
    reached = np.zeros(rows * columns, np.bool_)
    reached[index[index < reached.size]] = True
    return reached.reshape(shape)


def edge_not_written(output: WrongOutput) -> bool:
    """The edge was left out, all of it, and the rest is right; a small array may be nothing but edge."""
    wrong = output.wrong
    if not output.completed or not output.unwritten[wrong].all():
        return False
    return _only_edge_wrong(output) or any(np.array_equal(wrong, edge) for edge in _edges(output))


def edge_wrong(output: WrongOutput) -> bool:
    """The edge is wrong, the rest is right."""
    return _only_edge_wrong(output)


def _tile_numbers(shape: tuple[int, ...], tile: int) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
    """For each element the number of its tile: a square of the last two axes, or a line of the only one."""
    numbers = np.zeros(shape, np.intp)
    for axis, extent in enumerate(shape):
        along = np.arange(extent) // (tile if axis >= len(shape) - 2 else 1)
        others = [i for i in range(len(shape)) if i != axis]
        numbers = numbers * (int(along[-1]) + 1) + np.expand_dims(along, others)
    return numbers


def first_row_only(output: WrongOutput) -> bool:
    """The first row is right, and no other was ever written."""
    wrong = output.wrong
    if wrong.ndim != 2 or min(wrong.shape) < 2 or wrong.shape[1] < ENOUGH:  # noqa: PLR2004 - rows and columns
        return False
    return output.completed and not wrong[0].any() and bool(output.unwritten[1:].all())


def first_matrix_only(output: WrongOutput) -> bool:
    """Of several matrices the first is right, and no other was ever written."""
    wrong = output.wrong
    if wrong.ndim <= MOST_AXES or len(wrong) == 1 or wrong[0].size < ENOUGH:
        return False
    return output.completed and not wrong[0].any() and bool(output.unwritten[1:].all())


def first_block_only(output: WrongOutput) -> bool:
    """The first tile is right and nothing else is."""
    wrong = output.wrong
    numbers = (_tile_numbers(wrong.shape, tile) for tile in output.tiles)
    return output.completed and any(np.array_equal(wrong, number > 0) for number in numbers if number.any())


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


def some_blocks(output: WrongOutput) -> bool:
    """Every tile is all right or all wrong, and there are both."""
    wrong = output.wrong
    if wrong.all() or not output.completed:
        return False
    for tile in output.tiles:
        numbers = _tile_numbers(wrong.shape, tile).reshape(-1)
        sizes = np.bincount(numbers)
        bad = np.bincount(numbers, weights=wrong.reshape(-1))
        if sizes.max() >= ENOUGH and ((bad == 0) | (bad == sizes)).all():
            return True
    return False


def end_not_stored(output: WrongOutput) -> bool:
    """Right up to an element inside a row, and from there on nothing was stored."""
    wrong = output.wrong.reshape(-1)
    if output.got.ndim < MOST_AXES or not output.completed or not output.unwritten[output.wrong].all():
        return False
    stored = int(np.argmax(wrong))
    return bool(stored % output.got.shape[-1] and wrong[stored:].all())


def zeros_not_stored(output: WrongOutput) -> bool:
    """Nothing was stored where 0 belongs, and there alone; more was stored behind the first such element."""
    wrong = output.wrong
    if not output.completed or not wrong.any() or not np.array_equal(wrong, output.unwritten):
        return False
    first = int(np.argmax(wrong))
    return np.array_equal(wrong, output.wanted == 0) and not wrong.reshape(-1)[first:].all()


MOST_NEIGHBOURS = 3
"""How far from a border the elements lie whose neighbours are beyond it."""


def border_not_written(output: WrongOutput) -> bool:
    """The border was left out, on all sides of a matrix, and all inside is right."""
    sides = [side for axis in range(output.wrong.ndim) for side in (0, -1) if _side(output, axis, side).all()]
    return (
        output.completed and len(sides) == 2 * MOST_AXES and _only_near_ends(output) and _is_unwritten(output)
    )


def border_wrong(output: WrongOutput) -> bool:
    """Only elements near the ends are wrong, and not just the last tile, or most of it.

    Of a vector these are its last elements, where the last block has more: elsewhere they need no neighbours.
    """
    wrong, count = output.wrong, int(np.count_nonzero(output.wrong))
    if count < ENOUGH // 2 or not _only_near_ends(output):
        return False
    edges = list(_edges(output))
    of_edge = [2 * count < np.count_nonzero(edge) and not edge.all() for edge in edges]
    beside = [int(np.count_nonzero(wrong & ~edge)) >= ENOUGH // 2 for edge in edges]
    if wrong.ndim == 1:
        return bool(edges) and all(of_edge) and not any(beside)
    return all(few or some for few, some in zip(of_edge, beside, strict=True))


def _side(output: WrongOutput, axis: int, side: int) -> Mask:
    """Which elements of the first, or of the last, row (or column, or element) are wrong."""
    return np.asarray(np.take(output.wrong, [side], axis))


def _is_unwritten(output: WrongOutput) -> bool:
    return bool(output.unwritten[output.wrong].all())


def _only_near_ends(output: WrongOutput) -> bool:
    wrong = output.wrong
    if not 0 < wrong.ndim <= MOST_AXES or min(wrong.shape) <= 2 * MOST_NEIGHBOURS:
        return False
    return not wrong[(slice(MOST_NEIGHBOURS, -MOST_NEIGHBOURS),) * wrong.ndim].any()


def block_borders_wrong(output: WrongOutput) -> bool:
    """Only elements are wrong that lie near the first or the last one of a block."""
    wrong, launch = output.wrong, output.launch
    if launch is None or not 0 < wrong.ndim <= MOST_AXES or (wrong.ndim == 1) is not output.in_a_line:
        return False
    near = np.zeros(wrong.shape, np.bool_)
    for axis, index in enumerate(np.indices(wrong.shape)):
        threads = launch.block[wrong.ndim - 1 - axis]
        if threads < 4 * MOST_NEIGHBOURS:
            return False
        thread = index % threads
        near |= (thread < MOST_NEIGHBOURS) | (thread >= threads - MOST_NEIGHBOURS)
        near |= index >= wrong.shape[axis] - MOST_NEIGHBOURS
    several = int(np.count_nonzero(wrong)) > 1 and not (wrong & output.unwritten).any()
    return several and not near.all() and not (wrong & ~near).any()


def partly_unwritten(output: WrongOutput) -> bool:
    """Something is right, and all that is wrong was never written."""
    wrong = output.wrong
    return output.completed and not wrong.all() and bool(output.unwritten[wrong].all())


# --- which elements the threads of a launch reach: other formulas for a thread's index ------------


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
        return any(_only_reached(output, mask) for mask in reached[0][1:])
    reached = [
        [*masks, np.arange(len(masks[0])) < launch.block[1 - axis]] for axis, masks in enumerate(reached)
    ]
    ways = [(row, column) for row in range(len(reached[0])) for column in range(len(reached[1]))]
    first_block = (len(reached[0]) - 1, len(reached[1]) - 1)  # which has a name of its own
    return any(
        _only_reached(output, np.logical_and.outer(reached[0][row], reached[1][column]))
        for row, column in ways
        if (row or column) and (row, column) != first_block
    )


def _only_reached(output: WrongOutput, reached: Mask) -> bool:
    """Whether all that was reached is right, and nothing else was stored: some bytes are right by chance."""
    return not (output.wrong & reached).any() and bool(output.unwritten[~reached].all()) and not reached.all()


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
        mask = np.zeros(extent, np.bool_)
        inside = index[index < extent]
        mask[inside.reshape(-1)] = True
        yield mask
