"""`host`: what a program does beside its kernels: copies, pointers, memory, launches that never ran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.checks.cases import judge_findings
from grader.checks.check import FindingsCheck
from grader.messages import text_of
from grader.model import FindingKind

if TYPE_CHECKING:
    from grader.model import CheckResult, Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCheck(FindingsCheck):
    """No mistake in how the program uses its device."""

    name: ClassVar[str] = "host"
    title: ClassVar[str] = "use of the device"
    kinds: ClassVar[tuple[str, ...]] = ("program",)

    def judge(self, evidence: Evidence) -> CheckResult:
        """Fail on a mistake of the host in any of the item's cases."""
        return judge_findings(self.item, evidence, (FindingKind.HOST,), text_of("no-mistake-of-host"))
