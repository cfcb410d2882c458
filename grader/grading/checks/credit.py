"""Steps of credit: how much of its points an item is worth at which speedup, or at which share of traffic.

Credit comes in steps, also between the two ends of a linear band: measured again, the last digit of a speedup
is another one, and a score should not follow it. Measured numbers are written with as many digits as it takes
to look as they are judged: 1.2499 beside an asked 1.25 is not written as 1.25.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import floor, isfinite, log10
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from grader.model import Threshold

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

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
    """True if ``one`` asks for less than ``other`` however fast the model solution is."""
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


FEWEST_DECIMALS, ENOUGH_DECIMALS, MOST_DECIMALS = 2, 4, 9
"""Decimals of a speedup: the least number, the most to tell two apart, the most before a limit."""


class SpeedupLimit(NamedTuple):
    """A speedup that is asked for; ``exact`` where it does not depend on the device."""

    value: float
    exact: Fraction | None = None

    def text(self, decimals: int) -> str:
        """As the staff wrote it, or to a number of ``decimals``."""
        return f"{self.value:.{decimals}f}" if self.exact is None else f"{float(self.exact):.10g}"


def speedup_limit(threshold: Threshold, solution: float) -> SpeedupLimit:
    """Speedup that a threshold asks for where the model solution has the speedup ``solution``."""
    return SpeedupLimit(threshold.speedup(solution), None if threshold.of_solution else threshold.fixed)


class CreditStep(NamedTuple):
    """A speedup that is asked for on this device, and the share of the points that it earns."""

    limit: SpeedupLimit
    credit: Fraction
    threshold: Threshold


def credit_steps(steps: Steps, solution: float) -> tuple[CreditStep, ...]:
    """Steps that an item asks for where the model solution has the speedup ``solution``."""
    return tuple(
        CreditStep(speedup_limit(threshold, solution), credit, threshold) for threshold, credit in steps
    )


def highest_credit(steps: Iterable[CreditStep]) -> Fraction:
    """The credit of the highest of these steps; nothing where there are none."""
    return max((step.credit for step in steps), default=Fraction(0))


def decimals(
    values: Collection[float], limits: Iterable[SpeedupLimit] = (), fewest: int = FEWEST_DECIMALS
) -> int:
    """The fewest decimals with which every value looks to be on the side of every limit where it is.

    The values look different as well, unless that takes more than `ENOUGH_DECIMALS`.
    """
    pairs = [(value, limit) for value in values for limit in limits]
    for digits in range(fewest, MOST_DECIMALS):
        different = len({f"{value:.{digits}f}" for value in values}) == len(set(values))
        if (different or digits >= ENOUGH_DECIMALS) and all(_same_side(*pair, digits) for pair in pairs):
            return digits
    return MOST_DECIMALS


def _same_side(value: float, limit: SpeedupLimit, digits: int) -> bool:
    value_shown, limit_shown = Decimal(f"{value:.{digits}f}"), Decimal(limit.text(digits))
    return (value_shown > limit_shown) - (value_shown < limit_shown) == (value > limit.value) - (
        value < limit.value
    )


def milliseconds(*times: float) -> tuple[str, ...]:
    """Times to three digits, or to four where only these make different times look different; no unit."""
    shown, closer = (tuple(_rounded(time, digits) for time in times) for digits in (3, 4))
    return closer if len(set(shown)) < len(set(closer)) else shown


def _rounded(value: float, digits: int) -> str:
    """``0.281``, ``12.3``, ``1,235``."""
    if value <= 0 or not isfinite(value):
        return f"{value:.3g}"
    return f"{value:,.{max(0, digits - 1 - floor(log10(value)))}f}"
