"""The one finding that explains the others: what a student has to repair first.

One order for all items of a submission, from what makes everything else meaningless to what is only likely:
constants that the assignment does not allow, a launch that is refused, sizes taken in another order, what the
text shows and could be meant (two names of one memory, a loop that steps twice), an access outside an array,
threads that do not come, a race, a read of what was never written, and then the mistake that all wrong
outputs show. Threads that miss a barrier make races, so they come before them. What a line shows in some of
the wrong cases only explains less than a mistake that all of them show.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from grader.explaining.agreement import describe_mistake
from grader.explaining.causes import mistake_behind
from grader.explaining.findings import explain_findings
from grader.explaining.first_cause_of_host import first_cause_of_host, has_error_of_host
from grader.explaining.mistake import Says
from grader.explaining.mistakes_of_findings import BY_ENDING
from grader.explaining.table import saying
from grader.model import (
    Cause,
    FindingKind,
    Severity,
    SourceRemark,
    Verdict,
    Visibility,
)
from grader.model.mistakes import texts_of_course

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grader.explaining.causes import SubmissionContext
    from grader.explaining.facts import Diagnosis
    from grader.model import (
        Assignment,
        CheckResult,
        Evidence,
        Finding,
    )

LOCATED = (
    FindingKind.OUT_OF_BOUNDS,
    FindingKind.MISALIGNED,
    FindingKind.FAULT,
    FindingKind.BARRIER_DIVERGENCE,
    FindingKind.TIMEOUT,
    FindingKind.RACE,
    FindingKind.UNINITIALISED,
)
"""The kinds of findings that name a line, the one that explains the others first."""

JUDGED_BY_THEM = frozenset({"output", "races", "memory", "kernel-output", "array", "text", "exit"})
"""The checks that fail because of such a finding: where only others fail, none of them is the cause."""

OF_PROGRAMS = frozenset({"array", "kernel-output"})
"""The checks of the arrays of a program, each of which is explained by itself."""

SEVERE = (Severity.ERROR, Severity.WARNING)


def first_cause(
    assignment: Assignment,
    evidence: Evidence,
    results: Iterable[CheckResult],
    context: SubmissionContext,
    main_file: str = "",
) -> Cause | None:
    """First thing to repair; None where nothing failed, or no finding explains more than its own item.

    ``main_file`` is that of which a line can be quoted: another one stands in the sentence, with its line.

    Items that are not shown contribute nothing, and hidden cases only what ``results`` say. A file that does
    not compile has one item that says why.
    """
    failing = [result for result in results if result.verdict is Verdict.FAIL]
    shown = [result for result in failing if result.item.visibility is Visibility.VISIBLE]
    if not evidence.build.ok:
        return None
    if shown and (reordered := _reordered(assignment, evidence, shown[0].item.id)) is not None:
        return reordered
    of_host = first_cause_of_host(assignment, evidence, shown, main_file)
    if of_host is not None:
        return of_host
    shown = [result for result in shown if result.item.check in JUDGED_BY_THEM]
    if not shown or has_error_of_host(evidence, shown):
        return None
    item = shown[0].item.id
    diagnosis = _mistake_of_outputs(assignment, evidence, shown)
    findings = _findings(evidence, shown)
    shown_mistake = "" if diagnosis is None else diagnosis.mistake
    misdirects_accesses = shown_mistake in saying(Says.ALL)
    explained = shown_mistake not in saying(Says.HOW, Says.WHERE)
    if explained and not misdirects_accesses:
        explained = not _everywhere(evidence, findings)
    return (
        _constants(assignment, evidence, item)
        or _cause_by_changed_input(assignment, evidence, item)
        or (_cause(diagnosis, item) if diagnosis is not None and misdirects_accesses else None)
        or _suspected(assignment, evidence, findings, item)
        or (_cause(diagnosis, item) if diagnosis is not None and explained else None)
        or _located(assignment, findings, context, item)
        or (None if diagnosis is None else _cause(diagnosis, item))
        or _mistake_of_arrays(assignment, evidence, shown)
    )


def _cause(diagnosis: Diagnosis, item: str, line: int | None = None) -> Cause:
    return Cause(
        diagnosis.mistake,
        diagnosis.explanation,
        diagnosis.advice,
        item,
        line,
        names_line=diagnosis.names_line,
        title=diagnosis.title,
    )


def _constants(assignment: Assignment, evidence: Evidence, item: str) -> Cause | None:
    """A constant of the file that the assignment does not allow."""
    wrong = next(
        (warning for warning in evidence.build.warnings if warning.hazard == SourceRemark.CONSTANT), None
    )
    if wrong is None:
        return None
    texts_of_mistake = texts_of_course(assignment.feedback).mistake("constant-not-allowed")
    hint = texts_of_mistake.hint.format(constants=f"`{wrong.address}`")
    title = texts_of_mistake.title
    return Cause("constant-not-allowed", wrong.message, hint, item, wrong.line, title=title)


def _reordered(assignment: Assignment, evidence: Evidence, item: str) -> Cause | None:
    """Cause where a function takes its parameters in another order, which makes copies go astray, too."""
    remarks = (r for r in evidence.build.suspicions if r.hazard == SourceRemark.OTHER_ORDER)
    remark = next(remarks, None)
    if remark is None:
        return None
    texts_of_mistake = texts_of_course(assignment.feedback).mistake("parameter-order")
    title, hint = texts_of_mistake.title, texts_of_mistake.hint
    return Cause("parameter-order", remark.message, hint, item, remark.line, title=title)


def _suspected(
    assignment: Assignment, evidence: Evidence, findings: Sequence[Finding], item: str
) -> Cause | None:
    """Cause from a suspicious text, but not where something is wrong that it cannot have made.

    A loop that steps twice makes numbers wrong. Names of one address make arrays wrong that share it, and a
    finding at another array, or at none, has another reason.
    """
    suspicions = evidence.build.suspicions
    shared = {suspicion.address for suspicion in suspicions if suspicion.hazard == SourceRemark.ONE_ADDRESS}
    elsewhere = any(finding.kind in LOCATED and finding.array not in shared for finding in findings)
    possible = [
        suspicion
        for suspicion in suspicions
        if (not elsewhere if suspicion.hazard == SourceRemark.ONE_ADDRESS else _wrong_cases(evidence))
    ]
    diagnosis = next(iter(explain_findings(possible, assignment.feedback)), None)
    if diagnosis is None:
        return None
    lines = [suspicion.line for suspicion in possible if mistake_behind(suspicion) == diagnosis.mistake]
    return _cause(diagnosis, item, lines[-1])


def _wrong_cases(evidence: Evidence) -> list[str]:
    """The visible cases with a wrong output."""
    visible = (case for case in evidence.cases if case.case.visibility is Visibility.VISIBLE)
    return [case.case.id for case in visible if any(comparison.wrong for comparison in case.comparisons)]


def _findings(evidence: Evidence, shown: Sequence[CheckResult]) -> list[Finding]:
    """All findings that may be shown: those of visible cases, and those that items show of hidden ones."""
    visible = (case for case in evidence.cases if case.case.visibility is Visibility.VISIBLE)
    findings = [finding for case in visible for finding in case.findings]
    kinds = {finding.kind for finding in findings}
    item_findings = (finding for result in shown for finding in result.findings)
    findings += [finding for finding in item_findings if finding.kind not in kinds]
    return [finding for finding in findings if finding.severity in SEVERE and not _ends_hidden_run(finding)]


def _ends_hidden_run(finding: Finding) -> bool:
    """True if the finding ends the run of a hidden case, the details of which are secret."""
    is_stop = finding.kind in (FindingKind.FAULT, FindingKind.TIMEOUT)
    return is_stop and not (finding.case or finding.line or finding.code)


def _everywhere(evidence: Evidence, findings: Sequence[Finding]) -> bool:
    """True if each case with a wrong output has one of these findings, or there is no such case."""
    located = {finding.case for finding in findings if finding.kind in LOCATED}
    return all(case in located for case in _wrong_cases(evidence))


def _located(
    assignment: Assignment, findings: Sequence[Finding], context: SubmissionContext, item: str
) -> Cause | None:
    """The cause behind the gravest findings, kind by kind: a warning explains nothing where an error is."""
    for severity, kind in product(SEVERE, LOCATED):
        chosen = [finding for finding in findings if finding.kind is kind and finding.severity is severity]
        cause = _reads_its_output(assignment, chosen, context, item) or _explained(
            assignment, chosen, context, item
        )
        if cause is not None:
            return cause
    return None


def _explained(
    assignment: Assignment, findings: Sequence[Finding], context: SubmissionContext, item: str
) -> Cause | None:
    """The mistake behind findings that is to be repaired first, at the first of them that it made."""
    diagnosis = next(iter(explain_findings(findings, assignment.feedback, context)), None)
    if diagnosis is None:
        return None
    first = next(finding for finding in findings if mistake_behind(finding, context) == diagnosis.mistake)
    if first.hazard in BY_ENDING:  # how a run ended says more than that it did
        diagnosis = replace(diagnosis, explanation=first.message)
    return _cause(diagnosis, item, first.line)


def _reads_its_output(
    assignment: Assignment, findings: Sequence[Finding], context: SubmissionContext, item: str
) -> Cause | None:
    """An array of the interface that is read before anything was stored there: it is added to."""
    for finding in findings:
        if finding.kind is FindingKind.UNINITIALISED and finding.array in context.arrays:
            diagnosis = describe_mistake("adds-to-output", finding.array, (), (), assignment.feedback)
            return _cause(diagnosis, item, finding.line)
    return None


def _cause_by_changed_input(assignment: Assignment, evidence: Evidence, item: str) -> Cause | None:
    """Cause where the kernel writes to an input in a visible case."""
    visible = (case for case in evidence.cases if case.case.visibility is Visibility.VISIBLE)
    names = dict.fromkeys(name for case in visible for name in case.changed_inputs)
    if not names:
        return None
    array = evidence.build.label(next(iter(names)))
    return _cause(describe_mistake("input-changed", array, (), (), assignment.feedback), item)


def _mistake_of_outputs(
    assignment: Assignment, evidence: Evidence, shown: Sequence[CheckResult]
) -> Diagnosis | None:
    """The mistake of the first output item that fails, if its wrong outputs agree on one.

    A mistake in hidden cases alone may depend on their shapes: it is shown only where the item shows their
    lines.
    """
    result = next((comparison for comparison in shown if comparison.item.check == "output"), None)
    if result is None:
        return None
    cases = [case for case in evidence.cases if result.item.looks_at(case.case)]
    visible = [case for case in cases if case.case.visibility is Visibility.VISIBLE]
    for chosen in (visible, cases) if dict(result.item.options).get("hidden_lines") else (visible,):
        wrong = [c for case in chosen for c in case.comparisons if c.wrong and not c.kernel]
        if wrong:
            first = wrong[0]
            if not first.mistake:
                return None
            built = evidence.build
            read = [
                parameter.name
                for parameter in assignment.parameters
                if parameter.extents and parameter.direction != "out"
            ]
            inputs, array = [built.label(name) for name in read], built.label(first.array)
            return describe_mistake(first.mistake, array, inputs, built.constants, assignment.feedback)
    return None


def _mistake_of_arrays(
    assignment: Assignment, evidence: Evidence, shown: Sequence[CheckResult]
) -> Cause | None:
    """The mistake of the first array of a program that is wrong, if its visible cases agree on one."""
    item = next((result.item for result in shown if result.item.check in OF_PROGRAMS), None)
    if item is None:
        return None
    options = dict(item.options)
    kernel, output = options.get("kernel", ""), options.get("output", "")
    arrays = {f"{kernel}.{output}" if kernel else output}  # others may be those of hidden items
    arrays |= {output} if options.get("of") else set()
    cases = (case for case in evidence.cases if case.case.visibility is Visibility.VISIBLE)
    wrong = [
        comparison
        for case in cases
        if item.looks_at(case.case)
        for comparison in case.comparisons
        if comparison.wrong and comparison.array in arrays
    ]
    if len({comparison.mistake for comparison in wrong}) != 1 or not wrong[0].mistake:
        return None
    first, texts = wrong[0], texts_of_course(assignment.feedback).mistake(wrong[0].mistake)
    return Cause(first.mistake, first.explanation, first.hint, item.id, title=texts.title)
