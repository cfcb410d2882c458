"""Secrecy of hidden cases: students learn one bit an item, and staff no more than the file may choose.

A kernel chooses by its data on which line, in which of its own arrays, how often and with which words it
fails, and in which of the hidden cases. A student who hands in a file with a race of its own line for each
value of M learns every hidden M from the lines, and from a list of the cases that fail a bit of each of them.

So students read what is judged of the visible cases alone, beside a fixed clause: whether the item's hidden
cases pass, all of them together (`for_student`). A kernel also chooses by its data where it takes too much
work, or asks for what is not done here. So hidden cases that could not be judged look to students like cases
that fail, in verdict, points and all that follows from them (`failing_where_in_doubt`); that they were not
judged, and the points for it, stay in staff's records. An error of ours is no choice of the kernel's: it
stays one, for it must not cost anybody points.

For staff, of a finding of a hidden case the kind and the assignment's array are left, and of each pair of
them one; of an error of ours, that there was one; of a wrong output, that it is wrong. An item that says
``hidden_lines: true`` keeps the lines and the named mistakes, and shows students as much.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.text import capital
from grader.grading.checks.cases import NOTHING, is_visible, our_trouble
from grader.model import SEVERITIES, CheckResult, Evidence, Finding, FindingKind, Verdict
from grader.model.messages import text_of
from grader.model.messages.hidden import PLACES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from grader.grading.checks.check import Check
    from grader.model import Build, Case, CaseEvidence, Named

GRAVEST = (Verdict.FAIL, Verdict.ERROR, Verdict.SKIP, Verdict.PASS)
"""The verdict of several cases together is the first of these that one of them has."""

OPEN = {Verdict.ERROR: "hidden-cases-in-error", Verdict.SKIP: "hidden-cases-skipped"}
"""The verdicts of what was not judged, with the text for hidden cases that no kernel made so."""

CLAUSES = {Verdict.PASS: "hidden-cases-pass", Verdict.FAIL: "hidden-cases-fail"}
"""The text of all that a student reads of an item's hidden cases."""

PROGRAM = "program"
"""The hazard of a hidden finding about how the program ended: that it did, and not how."""


def visible_evidence(check: Check, evidence: Evidence) -> Evidence:
    """The evidence as a check may see it; verdicts do not depend on what is left out."""
    if check.shows_hidden_lines:
        return evidence
    arrays = (*evidence.array_parameters, *check.arrays)
    cases = tuple(case if is_visible(case) else _veiled(case, arrays) for case in evidence.cases)
    return replace(evidence, cases=cases)


def has_hidden_cases(evidence: Evidence) -> bool:
    """True if a case was run that is secret from students."""
    return not all(map(is_visible, evidence.cases))


def visible_part(evidence: Evidence) -> Evidence:
    """The evidence as it were if there were no hidden cases."""
    visible = evidence.visible_structures
    structures = evidence.structures if visible is None else visible
    return replace(evidence, cases=tuple(filter(is_visible, evidence.cases)), structures=structures)


def without_hidden_names(build: Build, cases: Iterable[Case]) -> Build:
    """The build, whose error quotes no hidden one of ``cases``: an oracle's names its shape.

    Ids are often plain words, so only quoted ones count.
    """
    hidden = (case.id for case in cases if not case.is_visible)
    if any(f"{quote}{case}{quote}" in build.error for case in hidden for quote in "`'\""):
        return replace(build, error=text_of("grader-error-hidden"))
    return build


def evidence_for_students(evidence: Evidence, checks: Iterable[Check]) -> Evidence:
    """The evidence of which explanations are made: all of it where a check shows lines of hidden cases."""
    return evidence if any(check.shows_hidden_lines for check in checks) else visible_part(evidence)


def verdict_together(
    result: CheckResult, cases: Collection[str], verdicts: Named[Verdict] | None = None
) -> Verdict:
    """The verdict of some of the cases of an item, all together: they pass or they do not.

    ``result`` is what a student is shown of it, and ``verdicts`` are those of its cases, if not its own.
    Where it is not judged because of visible cases, neither are these; without any it is its own.
    """
    of_cases = {verdict for case, verdict in verdicts or result.case_verdicts if case in cases}
    if result.verdict in OPEN or not of_cases:
        return result.verdict
    return Verdict.PASS if of_cases == {Verdict.PASS} else Verdict.FAIL


def failing_where_in_doubt(whole: CheckResult, evidence: Evidence) -> Evidence:
    """The evidence with a failure in each hidden case that the ``whole`` result has not judged.

    It is the same object where there is no such case.
    """
    verdicts = dict(whole.case_verdicts)
    in_doubt = {
        case.case.id
        for case in evidence.cases
        if not is_visible(case) and verdicts.get(case.case.id, whole.verdict) in OPEN
    }
    if not in_doubt:
        return evidence
    cases = (_failing(case) if case.case.id in in_doubt else case for case in evidence.cases)
    return replace(evidence, cases=tuple(cases))


def _failing(case: CaseEvidence) -> CaseEvidence:
    """A case of which nothing is known but that it did not come to its end, by the student's doing."""
    return replace(
        case,
        comparisons=(),
        findings=(Finding(FindingKind.TIMEOUT),),
        completed=False,
        followed=False,
        error="",
        question="",
        too_much_work=None,
        undecided=(),
        program=None,
        computed_by=None,
        skipped="",
    )


def for_student(
    whole: CheckResult, visible: CheckResult, strict: CheckResult, evidence: Evidence
) -> CheckResult:
    """The ``whole`` result in the sentences of what was judged of ``visible`` cases alone.

    Verdict and points stay where hidden cases pass or fail. Where some were not judged they are those of a
    ``strict`` judge, for whom these fail. Of the cases only visible ones have a verdict here: reports add
    what all hidden ones come to (`verdict_together`).
    """
    whole = _with_two_outcomes(whole, visible, strict, evidence)
    item = whole.item
    is_contradicted = whole.verdict is Verdict.PASS and visible.verdict is Verdict.FAIL
    hint = visible.hint if visible.verdict is Verdict.FAIL else item.hint
    return replace(
        whole,
        message=_message(whole, visible, [case.case for case in evidence.cases if item.looks_at(case.case)]),
        hint=hint if whole.verdict is Verdict.FAIL else "",
        findings=() if is_contradicted else visible.findings,
        amounts=visible.amounts,
        case_verdicts=tuple(
            (case, dict(whole.case_verdicts).get(case, verdict)) for case, verdict in visible.case_verdicts
        ),
    )


def _with_two_outcomes(
    whole: CheckResult, visible: CheckResult, strict: CheckResult, evidence: Evidence
) -> CheckResult:
    """The ``whole`` result, of which hidden cases decide on one thing alone.

    What is not judged because of ``visible`` cases stays so, unless hidden ones make it a fail; all else
    passes or fails. Only the lack of a GPU is no secret where an item looks at no visible case, nor is an
    error of ours.
    """
    if _is_ours(whole, evidence):
        return whole
    looks_at_visible = any(is_visible(case) and whole.item.looks_at(case.case) for case in evidence.cases)
    if visible.verdict in OPEN and (looks_at_visible or evidence.build.error):
        if whole.verdict in (Verdict.PASS, visible.verdict):
            return _with_outcome(whole, visible)
    elif whole.verdict is Verdict.PASS or whole.needs_gpu:
        return whole
    fails = replace(strict, verdict=Verdict.FAIL, is_question=False, needs_gpu=False)
    return _with_outcome(whole, fails if strict.verdict is Verdict.FAIL else replace(fails, fraction=NOTHING))


def _is_ours(whole: CheckResult, evidence: Evidence) -> bool:
    """True if an item is in error because we failed in a hidden case."""
    cases = (case for case in evidence.cases if whole.item.looks_at(case.case) and not is_visible(case))
    return whole.verdict is Verdict.ERROR and not whole.is_question and any(map(our_trouble, cases))


def _with_outcome(result: CheckResult, other: CheckResult) -> CheckResult:
    return replace(
        result,
        verdict=other.verdict,
        fraction=other.fraction,
        judged=other.judged,
        is_question=other.is_question,
        needs_gpu=other.needs_gpu,
    )


def _message(whole: CheckResult, visible: CheckResult, cases: Collection[Case]) -> str:
    """Message about visible cases, with the clause for hidden ones, of an item that looks at ``cases``."""
    hidden = [case.id for case in cases if not case.is_visible]
    by_case = bool(whole.case_verdicts or visible.case_verdicts)
    if not hidden or (not by_case and visible.verdict is whole.verdict):
        return visible.message
    together = verdict_together(whole, hidden)
    if together in OPEN:
        return text_of(OPEN[together]) if visible.verdict not in OPEN else visible.message
    clause, sentence = text_of(CLAUSES[together]), visible.message
    says_something = visible.verdict in (Verdict.PASS, Verdict.FAIL) or visible.verdict is whole.verdict
    if not says_something or (by_case and len(hidden) == len(cases)):
        return clause
    if together is visible.verdict is Verdict.PASS:
        return text_of("hidden-cases-pass-too", sentence=sentence)
    if visible.verdict is Verdict.FAIL and "\n" not in sentence:
        return f"{sentence}. {capital(clause)}"
    return text_of("hidden-and-visible", hidden=clause, sentence=sentence)


def _veiled(case: CaseEvidence, arrays: tuple[str, ...]) -> CaseEvidence:
    """A hidden case without anything that the student's code could have chosen by the case's data.

    Of an error only its existence is reported: its text names instructions that the kernel chose.
    """
    hidden_error = text_of("grader-error-hidden")
    return replace(
        case,
        findings=_kinds_and_arrays(case.findings, arrays),
        comparisons=tuple(
            replace(c, explanation="", mistake="", hint="", label="") for c in case.comparisons
        ),
        error=hidden_error if case.error else "",
        question=text_of("question-hidden") if case.question else "",
        undecided=tuple((kind, hidden_error) for kind, _ in case.undecided),
    )


def _kinds_and_arrays(findings: Iterable[Finding], arrays: tuple[str, ...]) -> tuple[Finding, ...]:
    """A finding for each kind and array, as severe as the gravest of them, in an order of their own."""
    gravest: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        address = finding.array if finding.array in (*arrays, *PLACES) else ""
        ended = bool(finding.hazard) and finding.kind in (FindingKind.FAULT, FindingKind.TIMEOUT)
        veiled = Finding(
            finding.kind, address=address, severity=finding.severity, hazard=PROGRAM if ended else ""
        )
        previous = gravest.setdefault((finding.kind, address), veiled)
        if SEVERITIES.index(veiled.severity) > SEVERITIES.index(previous.severity):
            gravest[finding.kind, address] = veiled
    return tuple(gravest[key] for key in sorted(gravest))
