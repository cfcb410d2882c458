"""How fast a kernel was on a device, next to the staff's kernels in the same process."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.model.findings import Finding
    from grader.model.terms import Named
    from grader.model.work import Resources


@dataclass(frozen=True, slots=True)
class Threshold:
    """A speedup to reach: ``fixed`` + ``of_solution`` times the model solution's speedup on the same device.

    ``1.25`` is fixed alone, ``0.9 of solution`` is a share alone; what lies between the two in a linear band
    has both parts.
    """

    fixed: Fraction = Fraction(0)
    of_solution: Fraction = Fraction(0)

    def speedup(self, solution: float) -> float:
        """The speedup that is asked for, where the model solution has the speedup ``solution``."""
        return float(self.fixed) + float(self.of_solution) * solution


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as fast: the median of paired ratios, and the ends of its bootstrap interval."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Timing:
    """What the timed rounds of one submission gave.

    ``speedup``, ``control`` and ``solution`` are times of the ``baseline`` kernel divided by those of the
    submission, of the baseline itself (A/A: 1.00 on a quiet device), and of the model solution.
    ``milliseconds`` are medians by kernel (the baseline's name, ``student``, ``solution``, ``library``).
    ``dropped`` of the ``rounds`` were left out because the device throttled meanwhile. ``settled`` is false
    where the budget ended before the interval was clear of every threshold.
    ``verified`` of ``launches`` timed launches of the submission left an output that was compared in full
    with the oracle. ``findings`` say what was wrong with others, or with a time that no device can reach.
    ``floor_milliseconds`` is the roofline: what the device needs at least, by what was measured of it.
    ``details`` goes into grade.json as it is: clocks, temperatures, overheads, how the rounds went.
    ``shape`` is what they ran on, and ``level`` how sure the intervals are.
    ``error`` is ours, and then nothing else means anything. Where there is neither an error nor a
    ``speedup`` the submission was not timed, although others are: it does not build, or is not right.
    """

    baseline: str = ""
    speedup: Ratio | None = None
    control: Ratio | None = None
    solution: Ratio | None = None
    rounds: int = 0
    dropped: int = 0
    settled: bool = True
    milliseconds: Named[float] = ()
    first_milliseconds: float = 0.0
    launches: int = 0
    verified: int = 0
    findings: tuple[Finding, ...] = ()
    floor_milliseconds: float = 0.0
    gflops: Named[float] = ()
    occupancy: float | None = None
    details: Named[Any] = ()
    error: str = ""
    shape: Named[int] = ()
    level: float = 0.99
    resources: Resources | None = None
    """What ptxas says of the submission: only in a grade, beside what was timed of it."""

    @property
    def roofline_share(self) -> float | None:
        """How much of what the device could do the submission does, 0 to 1; None where nobody knows."""
        milliseconds = dict(self.milliseconds).get("student", 0.0)
        return (
            self.floor_milliseconds / milliseconds
            if milliseconds > 0 and self.floor_milliseconds > 0
            else None
        )
