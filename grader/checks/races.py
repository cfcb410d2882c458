"""`races`: no two threads at one element without an order between them, and no barrier that some miss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.checks.cases import judge_findings
from grader.checks.check import FindingsCheck, key
from grader.messages import text_of
from grader.model import FindingKind, Severity

if TYPE_CHECKING:
    from grader.model import CheckResult, Evidence

KINDS = (FindingKind.RACE, FindingKind.BARRIER_DIVERGENCE, FindingKind.UNDEFINED)
"""A file that is two programs earns nothing: what holds for the one says little of the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RacesCheck(FindingsCheck):
    """No hazards, and no divergent barriers.

    Hazards inside one warp are warnings, and cost the item like errors unless it says ``severity: error``.
    """

    name: ClassVar[str] = "races"
    kinds: ClassVar[tuple[str, ...]] = ("kernel", "program", "function")
    title: ClassVar[str] = "no races"
    severity: str = key(("error", "warning"), Severity.WARNING.value)

    def judge(self, evidence: Evidence) -> CheckResult:
        """Fail on a race or a diverging barrier in any of the item's cases."""
        return judge_findings(self.item, evidence, KINDS, text_of("no-race"), self.severity)
