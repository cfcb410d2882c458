"""Measured numbers with as many digits as it takes not to look like something else.

What is below a threshold must look so: 1.2499 beside an asked 1.25 is not written as 1.25.
"""

from __future__ import annotations

from decimal import Decimal
from math import floor, isfinite, log10
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from fractions import Fraction

    from grader.model import Threshold

FEWEST, ENOUGH, MOST = 2, 4, 9
"""Decimals of a speedup: so many at least, so many to tell two of them apart, so many before a limit."""


class Limit(NamedTuple):
    """A speedup that is asked for; ``exact`` where it does not depend on the device."""

    value: float
    exact: Fraction | None = None

    def text(self, decimals: int) -> str:
        """As the staff wrote it, or to so many decimals."""
        return f"{self.value:.{decimals}f}" if self.exact is None else f"{float(self.exact):.10g}"


def limit(threshold: Threshold, solution: float) -> Limit:
    """What a threshold asks for where the model solution has the speedup ``solution``."""
    return Limit(threshold.speedup(solution), None if threshold.of_solution else threshold.fixed)


def decimals(values: Collection[float], limits: Iterable[Limit] = ()) -> int:
    """The fewest decimals with which every value looks to be on the side of every limit where it is.

    And with which the values look different, unless that takes more than `ENOUGH`.
    """
    pairs = [(value, asked) for value in values for asked in limits]
    for count in range(FEWEST, MOST):
        different = len({f"{value:.{count}f}" for value in values}) == len(set(values))
        if (different or count >= ENOUGH) and all(_same_side(*pair, count) for pair in pairs):
            return count
    return MOST


def _same_side(value: float, asked: Limit, count: int) -> bool:
    shown, beside = Decimal(f"{value:.{count}f}"), Decimal(asked.text(count))
    return (shown > beside) - (shown < beside) == (value > asked.value) - (value < asked.value)


def milliseconds(*times: float) -> tuple[str, ...]:
    """Times to three digits, or to four where only these make different times look different; no unit."""
    shown, closer = (tuple(_rounded(time, digits) for time in times) for digits in (3, 4))
    return closer if len(set(shown)) < len(set(closer)) else shown


def _rounded(value: float, digits: int) -> str:
    """``0.281``, ``12.3``, ``1,235``."""
    if value <= 0 or not isfinite(value):
        return f"{value:.3g}"
    return f"{value:,.{max(0, digits - 1 - floor(log10(value)))}f}"
