"""Steps of credit: how much of its points an item is worth at which speedup, or at which share of traffic.

Credit comes in steps, also between the two ends of a linear band: measured again, the last digit of a speedup
is another one, and a score should not follow it.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from grader.model import Threshold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Steps: TypeAlias = tuple[tuple[Threshold, Fraction], ...]
"""Thresholds, each with the share of the points that reaching it is worth, from the lowest."""

Shares: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
"""Shares of what a baseline needs, each with the share of the points that it earns, from the least."""

BAND_STEPS = 10
"""Steps between the ends of a linear band: a tenth of the points each."""


def band(none_below: Threshold, full_at: Threshold) -> Steps:
    """The steps between two ends: nothing at ``none_below``, and a tenth more for each tenth of the way."""
    if none_below == full_at:
        return ((full_at, Fraction(1)),)
    parts = (Fraction(number, BAND_STEPS) for number in range(1, BAND_STEPS + 1))
    return tuple((_between(none_below, full_at, part), part) for part in parts)


def falling(none_above: Fraction, full_at: Fraction) -> Shares:
    """The steps of a band in which less is better: nothing at ``none_above``, all of it at ``full_at``."""
    if none_above == full_at:
        return ((full_at, Fraction(1)),)
    parts = (Fraction(number, BAND_STEPS) for number in range(1, BAND_STEPS + 1))
    return tuple((none_above + part * (full_at - none_above), part) for part in parts)


def _between(low: Threshold, high: Threshold, part: Fraction) -> Threshold:
    return Threshold(
        low.fixed + part * (high.fixed - low.fixed),
        low.of_solution + part * (high.of_solution - low.of_solution),
    )


def is_below(one: Threshold, other: Threshold) -> bool:
    """Whether ``one`` asks for less than ``other`` however fast the model solution is."""
    return one != other and one.fixed <= other.fixed and one.of_solution <= other.of_solution


def shares_out_of_order(steps: Shares) -> Iterator[tuple[int, str, str]]:
    """Steps of traffic that ask for no less, or give no more, than the one before; as in `out_of_order`."""
    for index, ((high, less), (low, more)) in enumerate(pairwise(steps), start=1):
        if low >= high:
            yield index, "at_most", "expected a smaller share than in the step before"
        if more <= less:
            yield index, "credit", "expected more credit than in the step before"
    if steps[-1][1] != 1:
        yield len(steps) - 1, "credit", "expected 1 in the last step: it is what earns all the points"


def out_of_order(steps: Iterable[tuple[Threshold, Fraction]]) -> Iterator[tuple[int, str, str]]:
    """Steps that ask for no more, or give no more, than the one before: index, key, what was expected."""
    listed = list(steps)
    for index, ((low, less), (high, more)) in enumerate(pairwise(listed), start=1):
        if low == high or is_below(high, low):
            yield index, "at", "expected a higher speedup than in the step before"
        if more <= less:
            yield index, "credit", "expected more credit than in the step before"
    if listed[-1][1] != 1:
        yield len(listed) - 1, "credit", "expected 1 in the last step: it is what earns all the points"
