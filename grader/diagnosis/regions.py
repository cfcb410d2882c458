"""Hypotheses about where an output is wrong: whole tiles, rows, what was never written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.diagnosis.facts import ENOUGH, MOST_AXES, agrees

if TYPE_CHECKING:
    from grader.diagnosis.facts import Mask, WrongOutput


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
    """Where stores land from a column beyond the row and below ``end``, of rows that the guard lets by."""
    rows, columns = shape
    index = np.add.outer(np.arange(min(rows, columns)) * columns, np.arange(columns, end)).reshape(-1)
    reached = np.zeros(rows * columns, np.bool_)
    reached[index[index < reached.size]] = True
    return reached.reshape(shape)


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
    return _stopped_after_the_first(output)


def first_matrix_only(output: WrongOutput) -> bool:
    """Of several matrices the first is right, and no other was ever written."""
    wrong = output.wrong
    if wrong.ndim <= MOST_AXES or len(wrong) == 1 or wrong[0].size < ENOUGH:
        return False
    return _stopped_after_the_first(output)


def _stopped_after_the_first(output: WrongOutput) -> bool:
    """Along the first axis only what comes first was written, and it is right."""
    return output.completed and not output.wrong[0].any() and bool(output.unwritten[1:].all())


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
    if output.got.ndim < MOST_AXES or not output.completed or not output.only_unwritten:
        return False
    stored = int(np.argmax(wrong))
    return bool(stored % output.got.shape[-1] and wrong[stored:].all())


def zeros_not_stored(output: WrongOutput) -> bool:
    """What was stored is right, and 0 belongs wherever nothing was; that is no accident, nor the end."""
    wrong, zeros = output.wrong, output.wanted == 0
    if not output.completed or wrong.all() or not wrong.any() or not output.only_unwritten:
        return False
    others = int(np.count_nonzero(zeros & ~wrong))
    accident = (np.count_nonzero(zeros) / zeros.size) ** np.count_nonzero(wrong)
    first = int(np.argmax(wrong))
    scattered = not wrong.reshape(-1)[first:].all()
    return scattered and not (wrong & ~zeros).any() and (not others or accident < BY_ACCIDENT)


BY_ACCIDENT = 1e-6
"""How likely it may be that elements that were chosen without a look at the numbers all have one property."""


def partly_unwritten(output: WrongOutput) -> bool:
    """Something is right, and all that is wrong was never written."""
    wrong = output.wrong
    return output.completed and not wrong.all() and output.only_unwritten
