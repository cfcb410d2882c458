"""Mistakes that show by outputs that hold the numbers of an input in another order, or count its elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.explaining.facts import ENOUGH, WARP
from grader.explaining.mistake import Rank, Says, named

if TYPE_CHECKING:
    from grader.explaining.facts import WrongOutput


@named("parts-reversed", Rank.APPEARANCE, Says.HOW)
def parts_reversed(output: WrongOutput) -> bool:
    """Each ascending part of what is right stands in the output from its last number to its first."""
    if output.got.ndim != 1 or output.never_stored.any() or output.rearranged is None:
        return False
    starts = np.flatnonzero(np.diff(output.wanted) < 0) + 1
    predicted = np.concatenate([part[::-1] for part in np.split(output.wanted, starts)])
    return bool(np.array_equal(predicted, output.values))


def _holds_the_numbers(output: WrongOutput) -> bool:
    """True if the output holds nothing but numbers of the input that it should hold in another order."""
    is_rearranged = output.rearranged is not None and not output.never_stored.any()
    return is_rearranged and bool(output.from_input.all())


@named("numbers-misplaced", Rank.APPEARANCE, Says.HOW)
def numbers_misplaced(output: WrongOutput) -> bool:
    """The output holds all the right numbers, and some of them in other places."""
    ordered = output.rearranged
    if ordered is None or not _holds_the_numbers(output):
        return False
    return bool(np.array_equal(np.sort(output.values, axis=None), ordered))


@named("numbers-twice", Rank.APPEARANCE, Says.HOW)
def numbers_twice(output: WrongOutput) -> bool:
    """The output holds numbers of the input alone, some more often and others less often than it should."""
    return _holds_the_numbers(output) and not numbers_misplaced(output)


@named("numbers-from-elsewhere", Rank.APPEARANCE, Says.HOW)
def numbers_from_elsewhere(output: WrongOutput) -> bool:
    """The output holds numbers that are not among those of the input, which it should hold; NaN is none."""
    if output.rearranged is None or not output.completed:
        return False
    foreign = ~output.from_input & ~output.never_stored
    return bool((foreign & np.isfinite(output.values)).any())


@named("values-exchanged", Rank.APPEARANCE)
def values_exchanged(output: WrongOutput) -> bool:
    """Only two numbers are right anywhere, and each stands where the other one belongs."""
    if output.got.size < WARP or output.never_stored.any() or not output.wrong.all():
        return False
    numbers = np.unique(output.wanted)
    return numbers.size == 2 and bool(np.array_equal(output.values, numbers.sum() - output.wanted))  # noqa: PLR2004


def _counts_an_input(output: WrongOutput) -> bool:
    """True if the right numbers are counts of all elements of an input, and the output could be counts."""
    if output.got.dtype.kind not in "iu" or output.got.size < ENOUGH or not output.completed:
        return False
    if output.empty.any() or (output.wanted < 0).any() or (output.values < 0).any():
        return False
    if (
        np.count_nonzero(output.wanted) < ENOUGH
    ):  # where all lie in one place, they may have come there in any way
        return False
    total = float(output.wanted.sum())
    sizes = [array.size for name, array in output.inputs if name != output.array]
    return total in sizes and total >= 2 * output.got.size


@named("counted-elsewhere", Rank.APPEARANCE, Says.HOW)
def counted_elsewhere(output: WrongOutput) -> bool:
    """The number of counted elements is right, but some are counted in another place."""
    return _counts_an_input(output) and float(output.values.sum()) == float(output.wanted.sum())


@named("counted-more-than-once", Rank.APPEARANCE, Says.HOW, excludes="values-not-counted")
def too_many_counted(output: WrongOutput) -> bool:
    """No count is too small, and some are too large."""
    return _counts_an_input(output) and bool((output.values >= output.wanted).all())


@named("values-not-counted", Rank.APPEARANCE, Says.HOW, excludes="counted-more-than-once")
def too_few_counted(output: WrongOutput) -> bool:
    """No count is too large, some are too small, and most are not gone."""
    if not _counts_an_input(output) or not (output.values <= output.wanted).all():
        return False
    return 2 * int(np.count_nonzero(output.values)) > int(np.count_nonzero(output.wanted))
