"""Selection of cases for several checks, failures in them, and the sum of their verdicts.

`races` and `memory` judge findings of some kinds over cases that must have run to their end
(`judge_findings`): a run that stopped early may have stopped before the very thing that they look for. So a
case earns only where its launch came to its end, on a device or at least on the emulator: what stops on a
device alone costs its outputs. A stop by the student's own doing is a fail whose message says so, a stop by
ours an error. A program of which no kernel ran has shown nothing, and earns nothing. An error is also a case
without findings where findings could not be ruled out. Warnings count like errors unless the item says
`severity: error`; what is merely `info` never costs anything.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.base.text import capital
from grader.grading.checks import wording
from grader.model import (
    NO_MORE_TIME,
    SEVERITIES,
    TOO_MUCH_WORK,
    CheckResult,
    Finding,
    FindingKind,
    Severity,
    Verdict,
)
from grader.model.messages import current, text_of

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
"""Findings of mistakes that can end a run before its time."""


@frozen
class CaseVerdict:
    """One case as one item sees it; ``reason`` is a clause about it that names no shape."""

    case: CaseEvidence
    verdict: Verdict
    reason: str = ""

    @property
    def visible(self) -> bool:
        """True if the student may see details of this case."""
        return is_visible(self.case)

    @property
    def is_question(self) -> bool:
        """True if it is an error because of what the submission does: its points stay in the maximum."""
        return self.verdict is Verdict.ERROR and self.case.is_for_staff


def is_visible(case: CaseEvidence) -> bool:
    """True if a case may be named and quoted in a message."""
    return case.case.is_visible


def cases_of_item(item: RubricItem, evidence: Evidence) -> tuple[CaseEvidence, ...]:
    """The cases an item speaks of, by tag or id; all of them where it names none."""
    return tuple(case for case in evidence.cases if item.looks_at(case.case))


def our_trouble(case: CaseEvidence) -> str:
    """Reason why a case cannot be judged through no fault of the student; empty where it can."""
    if case.error:
        return case.error
    is_explained = case.findings or case.too_much_work or case.question
    if not case.completed and not is_explained:
        return text_of("cut-short")
    return ""


def no_verdict_reason(case: CaseEvidence) -> str:
    """Reason why a case is not judged without any fault, as a clause; empty where it is judged.

    The progress of a hidden case's threads would reveal shapes; the fact that a program got no more time does
    not.
    """
    reason = case.too_much_work
    if reason is None:
        return ""
    is_harmless = is_visible(case) or reason.name == NO_MORE_TIME
    text = current().clause(reason if is_harmless else TOO_MUCH_WORK)
    return text_of("own-work", reason=text) if case.is_own_work else text


def verdict_where_given_up(case: CaseEvidence) -> Verdict:
    """Verdict where the emulator gave a case up: a question where the model solution ends, or not judged."""
    return Verdict.ERROR if case.is_own_work else Verdict.SKIP


def stopped_by(case: CaseEvidence) -> str:
    """Cause of an incomplete run, as a clause that names no shape unless the case is visible.

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


def question_in(cases: Iterable[CaseEvidence]) -> str:
    """Request of a program that kept cases from being judged; of hidden ones nothing that it chose."""
    questions = [case for case in cases if case.question]
    shown = next((case.question for case in questions if is_visible(case)), "")
    return shown or (text_of("question-hidden") if questions else "")


def question_result(item: RubricItem, reason: str) -> CheckResult:
    """The result of an item that could not be judged because of what the program itself asked for."""
    message = text_of("question-to-staff", reason=wording.printable(reason))
    return CheckResult(item, Verdict.ERROR, NOTHING, message, is_question=True)


def nothing_to_judge(item: RubricItem, evidence: Evidence) -> CheckResult | None:
    """The result where no case of an item ran, by whose fault it is; None where some case did.

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

    Those of hidden cases are in the order of the source's lines: the order in which they occurred, or of the
    cases, would reveal shapes. One without a line adds nothing to a visible one of its kind and array.
    """
    visible: list[Finding] = []
    hidden: list[Finding] = []
    for case in cases:
        findings = (finding for finding in at_least(case.findings, severity) if finding.kind in kinds)
        shown = [
            wording.displayed_finding(finding, case.case.visibility, case.case.id) for finding in findings
        ]
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
    """Reason why a device would refuse the launch; empty where the kernel was launched.

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

    All cases must pass for all the points, or, with ``partial: per-case``, each earns its share, and the
    hidden ones together theirs (`partial_credit`); the verdict is a pass only with full marks. A case in
    error makes the item an error, and one that was not judged leaves it unjudged, unless another case fails:
    nothing that those cases could have shown makes up for that, and the others share the points. A case that
    is a question because of what the program itself asked for earns nothing, and leaves the others no more
    than they have.
    """
    errors = [case for case in judged if case.verdict is Verdict.ERROR]
    questions = [case for case in errors if case.is_question]
    skipped = [case for case in judged if case.verdict is Verdict.SKIP]
    passed = sum(case.verdict is Verdict.PASS for case in judged)
    decided = len(judged) - len(errors) - len(skipped)
    verdict = Verdict.PASS if passed == decided else Verdict.FAIL
    fraction = Fraction(passed == decided + len(questions))
    if item.partial == "per-case":
        shares = tuple((case, Fraction(case.verdict is Verdict.PASS)) for case in judged)
        fraction = partial_credit(item, shares)
    if errors and verdict is Verdict.PASS:
        broken = next((case for case in errors if case.visible), errors[0])
        verdict, fraction = Verdict.ERROR, NOTHING
        cause = "question-to-staff" if len(questions) == len(errors) else "grader-at-fault"
        is_veiled = not broken.visible and broken in questions
        reason = (question_in([broken.case]) if is_veiled else "") or broken.reason
        message = text_of(cause, reason=wording.printable(reason))
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
        is_question=verdict is Verdict.ERROR and len(questions) == len(errors),
    )


def partial_credit(item: RubricItem, shares: tuple[tuple[CaseVerdict, Fraction], ...]) -> Fraction:
    """The share of its points that an item earns where each case earns a share of its own.

    Hidden cases stand together: they earn what all of them are worth, or nothing, for their number among
    those that pass would tell of each of them. Cases that were not judged take no part, and neither do hidden
    ones of which some were not and none fails. An item with ``hidden_lines`` counts them one by one. A case
    that is a question because of what the program asked for counts as one that fails.
    """
    one_by_one = bool(dict(item.options).get("hidden_lines"))
    verdicts = [Verdict.FAIL if case.is_question else case.verdict for case, _ in shares]
    counted = [
        (case.visible or one_by_one, verdict, share)
        for (case, share), verdict in zip(shares, verdicts, strict=True)
    ]
    decided = [share for alone, verdict, share in counted if alone and verdict in _DECIDED]
    together = [verdict for alone, verdict, _ in counted if not alone]
    if Verdict.FAIL in together:
        decided += [NOTHING for _ in together]
    elif all(verdict is Verdict.PASS for verdict in together):
        decided += [FULL for _ in together]
    return sum(decided, NOTHING) / (len(decided) or 1)


_DECIDED = (Verdict.PASS, Verdict.FAIL)


def _not_judged(skipped: list[CaseVerdict]) -> str:
    """Reason why cases were not judged: of a visible one in full if there is one."""
    first = next((case for case in skipped if case.visible), skipped[0])
    return text_of("not-judged-in", case=_case_shown(first), reason=first.reason)


def _case_shown(judged: CaseVerdict) -> str:
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

    Warnings are shown, whether or not they cost anything, and remarks where they do; the message is of what
    costs. ``extra`` findings hold for all cases, warnings of the compiler among them; ``clean`` is praise.
    """
    empty = nothing_to_judge(item, evidence)
    if empty is not None:
        return empty
    cases = cases_of_item(item, evidence)
    extra = at_least(extra, Severity.WARNING)
    judged = tuple(_judge_case(case, kinds, severity, fails_anyway=bool(extra)) for case in cases)
    shown = Severity.INFO if severity == Severity.INFO else Severity.WARNING
    findings = merge_findings(shown_findings(cases, shown, kinds))
    message = _findings_message(judged, (*at_least(findings, severity), *extra), clean)
    return add_up_verdicts(item, judged, message, findings=(*findings, *extra))


def _judge_case(
    case: CaseEvidence, kinds: Collection[FindingKind], severity: str, *, fails_anyway: bool
) -> CaseVerdict:
    """One case: ours to explain, clean, or not."""
    fails = fails_anyway or at_least((f for f in case.findings if f.kind in kinds), severity)
    trouble = our_trouble(case) or ("" if fails else case.question)
    if trouble:
        return CaseVerdict(case, Verdict.ERROR, trouble)
    if fails:
        return CaseVerdict(case, Verdict.FAIL)
    ended = case.completed or case.followed
    open_question = next((reason for kind, reason in case.undecided if kind in kinds), "")
    if case.too_much_work and (open_question or not ended):
        return CaseVerdict(case, verdict_where_given_up(case), no_verdict_reason(case))
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
        return text_of("no-kernel-ran", case=_case_shown(stopped))
    if refusal(stopped.case):
        return text_of("not-judged-without-launch", refusal=refusal(stopped.case))
    return text_of("not-judged-without-end", case=_case_shown(stopped), reason=stopped.reason)


def _elsewhere(findings: tuple[Finding, ...]) -> str:
    """Number of findings beside the one that is reported: places, which is not how often it happens."""
    if not findings:
        return ""
    if all(finding.kind is FindingKind.RACE for finding in findings):
        return text_of("more-pairs", count=len(findings))
    return text_of("more-places", count=len(findings))
