"""What `races` and `memory` share: findings of some kinds, over cases that must have run to their end.

A run that stopped early may have stopped before the very thing that we look for. So a case earns only where
its launch came to its end, on a device or at least on the emulator: what stops on a device alone costs its
outputs. A stop by the student's own doing is a fail whose message says so, a stop by ours an error. An error
is also a case without findings where nobody was able to rule them out.
Warnings count like errors unless the item says `severity: error`; what is merely `info` never costs anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.checks import wording
from grader.checks.cases import (
    CaseVerdict,
    at_least,
    decide,
    given_up,
    merged,
    nothing_to_judge,
    our_trouble,
    refusal,
    selected,
    shown_findings,
    stopped_by,
)
from grader.model import FindingKind, Severity, Verdict
from grader.text import count

if TYPE_CHECKING:
    from collections.abc import Collection

    from grader.model import CaseEvidence, CheckResult, Evidence, Finding, RubricItem


def check_kinds(
    item: RubricItem,
    evidence: Evidence,
    kinds: Collection[FindingKind],
    clean: str,
    severity: str = Severity.WARNING,
    extra: tuple[Finding, ...] = (),
) -> CheckResult:
    """Fail cases with findings of ``kinds`` that are at least as severe as ``severity``.

    ``extra`` findings hold for all cases; ``clean`` is the praise.
    """
    empty = nothing_to_judge(item, evidence)
    if empty is not None:
        return empty
    cases = selected(item, evidence)
    extra = at_least(extra, severity)
    judged = tuple(_judge(case, kinds, severity, fails_anyway=bool(extra)) for case in cases)
    findings = (*merged(shown_findings(cases, severity, kinds)), *extra)
    return decide(item, judged, _message(judged, findings, clean), findings=findings)


def _judge(
    case: CaseEvidence, kinds: Collection[FindingKind], severity: str, *, fails_anyway: bool
) -> CaseVerdict:
    """One case: ours to explain, clean, or not."""
    trouble = our_trouble(case)
    if trouble:
        return CaseVerdict(case, Verdict.ERROR, trouble)
    if fails_anyway or at_least((finding for finding in case.findings if finding.kind in kinds), severity):
        return CaseVerdict(case, Verdict.FAIL)
    ended = case.completed or case.followed
    open_question = next((reason for kind, reason in case.undecided if kind in kinds), "")
    if case.too_much_work and (open_question or not ended):
        return CaseVerdict(case, Verdict.SKIP, given_up(case))
    if not ended:
        return CaseVerdict(case, Verdict.FAIL, stopped_by(case))
    if open_question:
        return CaseVerdict(case, Verdict.ERROR, open_question)
    return CaseVerdict(case, Verdict.PASS)


def _message(judged: tuple[CaseVerdict, ...], findings: tuple[Finding, ...], clean: str) -> str:
    """The first finding and how many more; or why it could not be judged; or praise."""
    if findings:
        told = wording.with_line(findings[0])
        times = f"{findings[0].count:,} times" if findings[0].count > 1 else ""
        times = times and (f" ({times})" if told.endswith("?") else f", {times}")
        return told + times + _elsewhere(findings[1:])
    stopped = next((case for case in judged if case.verdict is Verdict.FAIL), None)
    if stopped is None:
        return f"{clean} in {count(len(judged), 'case')}"
    which = f"case `{wording.printable(stopped.case.case.id)}`" if stopped.visible else "a hidden case"
    if refusal(stopped.case):
        return f"could not be judged, because the kernel {refusal(stopped.case)}"
    return f"could not be judged, because {which} did not run to its end: {stopped.reason}"


def _elsewhere(findings: tuple[Finding, ...]) -> str:
    """How many findings there are beside the one that is told: places, which is not how often it happens."""
    if not findings:
        return ""
    if all(finding.kind is FindingKind.RACE for finding in findings):
        return f"; and {count(len(findings), 'more pair of lines', 'more pairs of lines')}"
    return f"; and at {count(len(findings), 'more place')}"
