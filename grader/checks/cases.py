"""What several checks ask of the cases: which ones, what went wrong, and how verdicts add up.

`races` and `memory` judge findings of some kinds over cases that must have run to their end
(`judge_findings`): a run that stopped early may have stopped before the very thing that they look for. So a
case earns only where its launch came to its end, on a device or at least on the emulator: what stops on a
device alone costs its outputs. A stop by the student's own doing is a fail whose message says so, a stop by
ours an error. A program of which no kernel ran has shown nothing, and earns nothing. An error is also a case
without findings where nobody was able to rule them out. Warnings count like errors unless the item says
`severity: error`; what is merely `info` never costs anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from grader.checks import wording
from grader.messages import current, text_of
from grader.model import (
    NO_MORE_TIME,
    SEVERITIES,
    TOO_MUCH_WORK,
    CheckResult,
    Finding,
    FindingKind,
    Severity,
    Verdict,
    Visibility,
)
from grader.text import capital

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from grader.model import CaseEvidence, Evidence, Named, RubricItem

FULL = Fraction(1)
NOTHING = Fraction(0)

STOPPERS = (
    FindingKind.TIMEOUT,
    FindingKind.FAULT,
    FindingKind.OUT_OF_BOUNDS,
    FindingKind.MISALIGNED,
    FindingKind.BARRIER_DIVERGENCE,
    FindingKind.UNSUPPORTED,
)
"""What can end a run before its time."""


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """One case as one item sees it; ``reason`` is a clause about it that names no shape."""

    case: CaseEvidence
    verdict: Verdict
    reason: str = ""

    @property
    def visible(self) -> bool:
        """Whether the student may be told about this case."""
        return is_visible(self.case)


def is_visible(case: CaseEvidence) -> bool:
    """Whether a case may be named and quoted in a message."""
    return case.case.visibility is Visibility.VISIBLE


def cases_of_item(item: RubricItem, evidence: Evidence) -> tuple[CaseEvidence, ...]:
    """The cases an item speaks of, by tag or id; all of them where it names none."""
    return tuple(case for case in evidence.cases if item.looks_at(case.case))


def our_trouble(case: CaseEvidence) -> str:
    """Why a case cannot be judged through no fault of the student; empty where it can."""
    if case.error:
        return case.error
    if not case.completed and not case.findings and not case.too_much_work:
        return text_of("cut-short")
    return ""


def given_up(case: CaseEvidence) -> str:
    """Why a case is not judged and nobody is to blame, as a clause; empty where it is judged.

    How far the threads of a hidden case came would tell of shapes; that a program got no more time does not.
    """
    reason = case.too_much_work
    if reason is None:
        return ""
    is_harmless = is_visible(case) or reason.name == NO_MORE_TIME
    return current().clause(reason if is_harmless else TOO_MUCH_WORK)


def stopped_by(case: CaseEvidence) -> str:
    """What ended an incomplete run, as a clause that names no shape unless the case is visible.

    A launch that a device would refuse has no thread to blame; its own message says which number is to blame.
    """
    for finding in case.findings:
        if finding.kind is FindingKind.COMPILE and case.case.sizes:  # of a hidden one it names none
            return wording.with_line(finding)
        if finding.kind in STOPPERS:
            if case.program is not None:
                return wording.with_line(finding) if is_visible(case) else text_of("program-cut-short")
            if finding.kind is FindingKind.FAULT and finding.block is None and is_visible(case):
                return wording.with_line(finding)
            return wording.sentence(wording.bare(finding))
    if is_visible(case):  # it never started, perhaps: what our_trouble let through has a finding
        return wording.with_line(case.findings[0])
    return text_of("not-run")


def error_result(item: RubricItem, reason: str) -> CheckResult:
    """The result of an item that could not be judged, through no fault of the submission."""
    message = text_of("grader-at-fault", reason=wording.printable(reason))
    return CheckResult(item, Verdict.ERROR, NOTHING, message)


def nothing_to_judge(item: RubricItem, evidence: Evidence) -> CheckResult | None:
    """The result where no case of an item ran: ours, the student's, or nobody's; None where some did.

    A build that failed on us is an error. A submission that does not build earns nothing here. Where the
    item's cases were simply not asked for (hidden ones in a self-check) the item is skipped.
    """
    if evidence.build.error:
        message = text_of("not-judged", reason=wording.printable(evidence.build.error))
        return CheckResult(item, Verdict.ERROR, NOTHING, message)
    if not evidence.build.ok:
        return CheckResult(item, Verdict.FAIL, NOTHING, text_of("does-not-build"), judged=False)
    if not cases_of_item(item, evidence):
        return CheckResult(item, Verdict.SKIP, NOTHING, text_of("no-case-run"))
    return None


def shown_findings(
    cases: Iterable[CaseEvidence],
    severity: str = Severity.INFO,
    kinds: Collection[FindingKind] = tuple(FindingKind),
) -> tuple[Finding, ...]:
    """The findings of some cases as the student may see them, visible cases first; of these kinds, as severe.

    Those of hidden cases are in the order of the source's lines: the one in which they were found, or of the
    cases, would tell of shapes. One without a line adds nothing to a visible one of its kind and array.
    """
    visible: list[Finding] = []
    hidden: list[Finding] = []
    for case in cases:
        findings = (finding for finding in at_least(case.findings, severity) if finding.kind in kinds)
        shown = [wording.shown(finding, case.case.visibility, case.case.id) for finding in findings]
        (visible if is_visible(case) else hidden).extend(shown)
    visible_keys = {key for finding in visible for key in ((finding.kind, finding.array), (finding.kind, ""))}
    new = (
        finding
        for finding in hidden
        if finding.line is not None or (finding.kind, finding.array) not in visible_keys
    )
    return (*visible, *sorted(new, key=_order_of_hidden))


def _order_of_hidden(finding: Finding) -> tuple[object, ...]:
    """The order of findings of hidden cases."""
    lines = (finding.line or 0, finding.other_line or 0)
    return (*lines, finding.kind, finding.hazard, finding.message)


def merge_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each kind, hazard and pair of lines (or array, without a line), the severest first.

    It is the first of its group, with the counts of all of them and the worst severity.
    """
    groups: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        where = finding.array if finding.line is None else finding.line
        key = (finding.kind, finding.hazard, finding.file, where, finding.other_line)
        first = groups.get(key)
        if first is None:
            groups[key] = finding
            continue
        worst = max(first.severity, finding.severity, key=SEVERITIES.index)
        # What a hidden case adds to the count would say how large it is.
        more = finding.count if finding.case else 0
        groups[key] = replace(first, count=first.count + more, severity=worst)
    return tuple(sorted(groups.values(), key=lambda finding: -SEVERITIES.index(finding.severity)))


def at_least(findings: Iterable[Finding], severity: str) -> tuple[Finding, ...]:
    """The findings that are as severe as ``severity``, or more."""
    limit = SEVERITIES.index(Severity(severity))
    return tuple(finding for finding in findings if SEVERITIES.index(finding.severity) >= limit)


def refusal(case: CaseEvidence) -> str:
    """Why a device would refuse the launch; empty where the kernel was launched.

    A launch that was refused has no thread and no line to blame.
    """
    if case.launched:
        return ""
    if not is_visible(case):
        return text_of("cannot-be-launched")
    return text_of("cannot-be-launched-because", reason=stopped_by(case))


def add_up_verdicts(
    item: RubricItem,
    judged: tuple[CaseVerdict, ...],
    message: str,
    hint: str = "",
    findings: tuple[Finding, ...] = (),
) -> CheckResult:
    """Add the verdicts of an item's cases up to its own; a specific ``hint`` replaces the staff's.

    All cases must pass for all the points, or, with ``partial: per-case``, each earns its share; the verdict
    is a pass only with full marks. A case in error makes the item an error, and one that was not judged
    leaves it unjudged, unless another case fails: nothing that those cases could have shown makes up for
    that, and the others share the points.
    """
    errors = [case for case in judged if case.verdict is Verdict.ERROR]
    skipped = [case for case in judged if case.verdict is Verdict.SKIP]
    passed = sum(case.verdict is Verdict.PASS for case in judged)
    decided = len(judged) - len(errors) - len(skipped)
    verdict = Verdict.PASS if passed == decided else Verdict.FAIL
    fraction = Fraction(passed, decided or 1) if item.partial == "per-case" else Fraction(passed == decided)
    if errors and verdict is Verdict.PASS:
        broken = next((case for case in errors if case.visible), errors[0])
        verdict, fraction = Verdict.ERROR, NOTHING
        message = text_of("grader-at-fault", reason=wording.printable(broken.reason))
        hint, findings = "", ()
    elif skipped and verdict is Verdict.PASS:
        verdict, fraction, message, hint, findings = Verdict.SKIP, NOTHING, _not_judged(skipped), "", ()
    return CheckResult(
        item=item,
        verdict=verdict,
        fraction=fraction,
        message=message,
        hint=(capital(hint) or item.hint) if verdict is Verdict.FAIL else "",
        findings=findings,
        case_verdicts=verdicts_by_case(judged),
    )


def _not_judged(skipped: list[CaseVerdict]) -> str:
    """Why cases were not judged: of a visible one in full if there is one."""
    first = next((case for case in skipped if case.visible), skipped[0])
    return text_of("not-judged-in", case=_which(first), reason=first.reason)


def _which(judged: CaseVerdict) -> str:
    """A case by its id where the student may know it."""
    if not judged.visible:
        return text_of("hidden-case")
    return text_of("case", case=wording.printable(judged.case.case.id))


def verdicts_by_case(judged: tuple[CaseVerdict, ...]) -> Named[Verdict]:
    """Verdicts by case id, hidden cases included."""
    return tuple((case.case.case.id, case.verdict) for case in judged)


def judge_findings(
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
    cases = cases_of_item(item, evidence)
    extra = at_least(extra, severity)
    judged = tuple(_judge_case(case, kinds, severity, fails_anyway=bool(extra)) for case in cases)
    findings = (*merge_findings(shown_findings(cases, severity, kinds)), *extra)
    return add_up_verdicts(item, judged, _findings_message(judged, findings, clean), findings=findings)


def _judge_case(
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
    return CaseVerdict(case, Verdict.FAIL if case.launches == 0 else Verdict.PASS)


def _findings_message(judged: tuple[CaseVerdict, ...], findings: tuple[Finding, ...], clean: str) -> str:
    """The first finding and how many more; or why it could not be judged; or praise."""
    if findings:
        text = wording.with_line(findings[0])
        if findings[0].count > 1:
            text = current().repeated(text, findings[0].count)
        return text + _elsewhere(findings[1:])
    stopped = next((case for case in judged if case.verdict is Verdict.FAIL), None)
    if stopped is None:
        return text_of("clean", clean=clean, count=len(judged))
    if stopped.case.launches == 0 and stopped.case.completed:
        return text_of("no-kernel-ran", case=_which(stopped))
    if refusal(stopped.case):
        return text_of("not-judged-without-launch", refusal=refusal(stopped.case))
    return text_of("not-judged-without-end", case=_which(stopped), reason=stopped.reason)


def _elsewhere(findings: tuple[Finding, ...]) -> str:
    """How many findings there are beside the one that is told: places, which is not how often it happens."""
    if not findings:
        return ""
    if all(finding.kind is FindingKind.RACE for finding in findings):
        return text_of("more-pairs", count=len(findings))
    return text_of("more-places", count=len(findings))
