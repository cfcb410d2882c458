"""Appearances of an output, for when nothing says why: unwritten parts, rows, columns, ends, and zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.explaining.facts import ENOUGH, MOST_AXES
from grader.explaining.mistake import Rank, Says, named

if TYPE_CHECKING:
    from grader.explaining.facts import Mask, WrongOutput

NEARLY_ALL = 0.9
"""Least share of wrong elements in a row that is wrong as a whole: some are right by chance."""


@named("partly-unwritten", Rank.APPEARANCE, Says.HOW)
def partly_unwritten(output: WrongOutput) -> bool:
    """Something is right, and all that is wrong was never written."""
    wrong = output.wrong
    return output.completed and not wrong.all() and output.only_unwritten


@named("last-row-or-column-wrong", Rank.APPEARANCE, Says.WHERE)
def last_of_axis_wrong(output: WrongOutput) -> bool:
    """Only the last row or the last column is wrong, or both."""
    return _only_at(output, -1)


@named("first-row-or-column-wrong", Rank.APPEARANCE, Says.WHERE)
def first_of_axis_wrong(output: WrongOutput) -> bool:
    """Only the first row or the first column is wrong, or both."""
    return _only_at(output, 0)


def _only_at(output: WrongOutput, side: int) -> bool:
    wrong = output.wrong
    if not output.completed or wrong.ndim != MOST_AXES or min(wrong.shape) < ENOUGH:
        return False
    if np.count_nonzero(wrong) < ENOUGH:
        return False
    inside = wrong.copy()
    inside[side, :] = inside[:, side] = False
    return not inside.any()


@named("some-rows-wrong", Rank.APPEARANCE, Says.WHERE)
def some_rows_wrong(output: WrongOutput) -> bool:
    """Each row is right, or nearly all of it is wrong, and there are both."""
    return output.completed and _whole_lines(output.wrong)


@named("some-columns-wrong", Rank.APPEARANCE, Says.WHERE)
def some_columns_wrong(output: WrongOutput) -> bool:
    """Each column is right, or nearly all of it is wrong, and there are both."""
    return output.completed and _whole_lines(output.wrong.T)


def _whole_lines(wrong: Mask) -> bool:
    if wrong.ndim != MOST_AXES or min(wrong.shape) < ENOUGH:
        return False
    shares = wrong.mean(axis=1)
    bad = shares > 0
    return bool(bad.any() and not bad.all() and (shares[bad] >= NEARLY_ALL).all())


@named("wrong-from-there-on", Rank.APPEARANCE, Says.WHERE)
def wrong_from_there_on(output: WrongOutput) -> bool:
    """A vector is right up to an element, and nearly everything is wrong from there on."""
    wrong = output.wrong
    if not output.completed or wrong.ndim != 1 or np.count_nonzero(wrong) < ENOUGH:
        return False
    first = int(np.argmax(wrong))
    return first >= ENOUGH and float(wrong[first:].mean()) >= NEARLY_ALL


@named("wrong-are-zero", Rank.APPEARANCE, Says.WHERE)
def wrong_are_zero(output: WrongOutput) -> bool:
    """Wherever it is wrong, 0 was stored."""
    wrong = output.wrong
    various = (
        np.count_nonzero(wrong) >= ENOUGH and not wrong.all() and np.unique(output.wanted).size >= ENOUGH
    )
    return bool(
        output.completed
        and various
        and not output.values[wrong].any()
        and not (wrong & output.unwritten).any()
    )
