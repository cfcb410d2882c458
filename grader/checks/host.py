"""`host`: what a program does beside its kernels: copies, pointers, memory, launches that never ran."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from grader.checks.cases import at_least, cases_of_item, judge_findings, merge_findings, shown_findings
from grader.checks.check import FindingsCheck, key
from grader.messages import text_of
from grader.model import FindingCode, FindingKind, Severity, Verdict

if TYPE_CHECKING:
    from grader.model import CaseEvidence, CheckResult, Evidence, Finding

_PREFIX = "host-"

MISTAKES = tuple(
    code.removeprefix(_PREFIX)
    for code in FindingCode
    if code.startswith(_PREFIX) and code is not FindingCode.HOST_UNSUPPORTED
)
"""The names by which an item may ignore mistakes: their codes, less what all of them begin with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCheck(FindingsCheck):
    """No mistake in how the program uses its device.

    Errors and warnings cost the item; with ``severity: info`` remarks do, too, and with ``severity: error``
    errors alone. What it is to ``ignore`` it does not even tell.
    """

    name: ClassVar[str] = "host"
    title: ClassVar[str] = "use of the device"
    kinds: ClassVar[tuple[str, ...]] = ("program", "function")

    severity: str = key(("error", "warning", "info"), Severity.WARNING.value)
    ignore: tuple[str, ...] | None = key("HostMistakes", None)

    def considered(self, evidence: Evidence) -> Evidence:
        """The evidence without the mistakes that the item ignores."""
        return replace(evidence, cases=tuple(map(self._without_ignored, evidence.cases)))

    def judge(self, evidence: Evidence) -> CheckResult:
        """Fail on a mistake of the host in any of the item's cases."""
        praise = text_of("no-mistake-of-host")
        result = judge_findings(self.item, evidence, (FindingKind.HOST,), praise, self.severity)
        if result.verdict not in (Verdict.PASS, Verdict.FAIL):
            return result
        shown = cases_of_item(self.item, evidence)
        remarks = merge_findings(shown_findings(shown, kinds=(FindingKind.HOST,)))
        costless = (finding for finding in remarks if not at_least((finding,), self.severity))
        return replace(result, findings=(*result.findings, *costless))

    def _without_ignored(self, case: CaseEvidence) -> CaseEvidence:
        return replace(case, findings=tuple(f for f in case.findings if not self._ignores(f)))

    def _ignores(self, finding: Finding) -> bool:
        return str(finding.code).removeprefix(_PREFIX) in (self.ignore or ())
