"""Cases to try a changed kernel on, and how much of that a submission is worth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model import Argument, Finding, Launch

Key: TypeAlias = tuple[str, str, int | None, int | None]
"""Kind, hazard and both lines: what findings of several cases have in common."""

WORK = 40_000
"""Work that all trials of one submission may take together: about a second."""

FEW_LANES = 4096
"""As many lanes more make a vector step with detection take about as long again."""


FEW_RACES = 4
"""As many findings more do so, too."""

MOST_FINDINGS = 20
"""Where there are more in one case, barriers are not what is missing."""


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A case to try repairs on: the launch, what was found in it, and the vector steps it took."""

    launch: Launch
    arguments: tuple[Argument, ...]
    findings: tuple[Finding, ...]
    steps: int
    case: str = ""

    @property
    def keys(self) -> frozenset[Key]:
        """What was found."""
        return frozenset(map(key, self.findings))

    def work(self, steps: int | None = None) -> int:
        """What it takes to run so many vector steps, or as many as it took: one each, more in large cases.

        To compare the accesses that race takes longer than to run them.
        """
        races = FEW_RACES + len(self.findings)
        return max(1, self.budget(self.steps if steps is None else steps) * races // FEW_RACES)

    def budget(self, steps: int) -> int:
        """The work of a run of so many vector steps (`Run.work`)."""
        lanes = min(math.prod(self.launch.block) * math.prod(self.launch.grid), 4 * FEW_LANES)
        return steps * (FEW_LANES + lanes) // FEW_LANES


def key(finding: Finding) -> Key:
    """What tells findings apart here."""
    return finding.kind, finding.hazard, finding.line, finding.other_line


def fitting(trials: Iterable[Trial]) -> list[Trial]:
    """Of these the smallest, as many as the budget allows to run several times; the smallest first.

    The smallest to show a hazard is always among them, unless it alone would take a quarter of the budget.
    """
    waiting = sorted((each for each in trials if len(each.keys) <= MOST_FINDINGS), key=Trial.work)
    kept: list[Trial] = []
    seen: set[Key] = set()
    for trial in [each for each in waiting if each.work() <= WORK // 4]:
        if trial.keys - seen:
            kept.append(trial)
            seen |= trial.keys
    for trial in waiting:
        if trial not in kept and sum(each.work() for each in [*kept, trial]) <= WORK // 8:
            kept.append(trial)
    return sorted(kept, key=Trial.work)
