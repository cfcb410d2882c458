"""`host`, `exit` and `streams`: what a program does beside its kernels.

`host` looks at copies, pointers, memory and launches that never ran; `exit`, whether the program comes to its
end by itself, with the status that it should have; `streams`, whether it gives its work to several streams,
copies and kernels to each of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from grader.base.records import frozen
from grader.grading.checks.cases import cases_of_item, judge_findings, merge_findings, shown_findings
from grader.grading.checks.check import Check, FindingsCheck, key
from grader.grading.checks.program_cases import (
    RIGHT,
    RunVerdict,
    ended_by_itself,
    ended_early,
    failed,
    judge_cases,
    kind_of_ending,
    last_lines_of_stderr,
    name_of_ending,
    why_it_stopped,
)
from grader.model import FindingCode, FindingKind, Severity, Verdict
from grader.model.messages import text_of

if TYPE_CHECKING:
    from grader.model import CaseEvidence, CheckResult, Evidence, Finding, ProgramRun

_PREFIX = "host-"

MISTAKES = tuple(
    code.removeprefix(_PREFIX)
    for code in FindingCode
    if code.startswith(_PREFIX) and code is not FindingCode.HOST_UNSUPPORTED
)
"""The names by which an item may ignore mistakes: their codes, less what all of them begin with."""


@frozen(kw_only=True)
class HostCheck(FindingsCheck):
    """No mistake in how the program uses its device, and no launch that never ends: a device is lost by it.

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
        """Fail on a mistake of the host, or a launch without an end, in any of the item's cases."""
        praise, kinds = text_of("no-mistake-of-host"), (FindingKind.HOST, FindingKind.TIMEOUT)
        result = judge_findings(self.item, evidence, kinds, praise, self.severity)
        if result.verdict not in (Verdict.PASS, Verdict.FAIL) or self.severity == Severity.INFO:
            return result
        shown = cases_of_item(self.item, evidence)
        remarks = merge_findings(shown_findings(shown, kinds=(FindingKind.HOST,)))
        costless = (finding for finding in remarks if finding.severity is Severity.INFO)
        return replace(result, findings=(*result.findings, *costless))

    def _without_ignored(self, case: CaseEvidence) -> CaseEvidence:
        return replace(case, findings=tuple(f for f in case.findings if not self._ignores(f)))

    def _ignores(self, finding: Finding) -> bool:
        return str(finding.code).removeprefix(_PREFIX) in (self.ignore or ())


@frozen(kw_only=True)
class ExitCheck(Check):
    """It ends by itself, with this status."""

    name: ClassVar[str] = "exit"
    title: ClassVar[str] = "how it ends"
    kinds: ClassVar[tuple[str, ...]] = ("program",)
    partial: ClassVar[tuple[str, ...]] = ("per-case",)
    status: int = key("Status", 0)

    def judge(self, evidence: Evidence) -> CheckResult:
        """Judge how the runs of the item's cases ended; the last lines of standard error are quoted."""
        return judge_cases(self.item, evidence, lambda _, run: _judge_exit(run, self.status))


def _judge_exit(run: ProgramRun, status: int) -> RunVerdict:
    if ended_by_itself(run) and run.returncode == status:
        return RIGHT
    if ended_by_itself(run):
        reason = text_of("wrong-status", status=status)
        detail = text_of("other-status", actual=run.returncode, status=status)
    else:
        reason = text_of("program-cut-short")
        detail = text_of("program-cut-short-because", reason=why_it_stopped(run))
    words = last_lines_of_stderr(run)
    if words:
        detail = text_of("with-stderr", sentence=detail)
    ending = "" if ended_by_itself(run) else name_of_ending(run)
    return RunVerdict(Verdict.FAIL, reason, detail, words, kind=kind_of_ending(run), ending=ending)


@frozen(kw_only=True)
class StreamsCheck(Check):
    """At least ``least`` streams are given kernels and asynchronous copies, which may overlap."""

    name: ClassVar[str] = "streams"
    title: ClassVar[str] = "work in several streams"
    kinds: ClassVar[tuple[str, ...]] = ("program", "function")
    partial: ClassVar[tuple[str, ...]] = ("per-case",)
    least: int = key("Whole", 2)

    def judge(self, evidence: Evidence) -> CheckResult:
        """Judge how many streams the runs of the item's cases gave work."""
        return judge_cases(self.item, evidence, lambda case, run: _judge_streams(case, run, self.least))


def _judge_streams(case: CaseEvidence, run: ProgramRun, least: int) -> RunVerdict:
    early = ended_early(run)
    if early is not None:
        return early
    if case.streams is None:
        return RunVerdict(Verdict.ERROR, text_of("streams-not-counted"))
    if case.streams >= least:
        return RIGHT
    counted = text_of("streams-counted", count=case.streams, least=least)
    if case.streams + case.staged_streams >= least:
        return failed(text_of("copies-not-pinned"), text_of("pin-memory", sentence=counted))
    return failed(text_of("too-few-streams"), counted)
