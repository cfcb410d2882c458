"""The one finding that explains the others: what a student has to repair first.

One order for all items of a submission, from what makes everything else meaningless to what is only likely:
constants that the assignment does not allow, a launch that is refused, sizes taken in another order, what the
text shows and could be meant (two names of one memory, a loop that steps twice), an access outside an array,
threads that do not come, a race, what nobody wrote, and then the mistake that all wrong outputs show. Threads
that miss a barrier make races, so they come before them. What a line shows in some of the wrong cases only
explains less than a mistake that all of them show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.diagnosis.agreement import described
from grader.diagnosis.causes import mistake_behind
from grader.diagnosis.findings import explain_findings
from grader.mistakes import texts
from grader.model import Cause, FindingKind, KernelInterface, Severity, SourceRemark, Verdict, Visibility

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grader.diagnosis.facts import Diagnosis
    from grader.diagnosis.surroundings import Surroundings
    from grader.model import Assignment, CheckResult, Evidence, Finding

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

JUDGED_BY_THEM = frozenset({"output", "races", "memory"})
"""The checks that fail because of such a finding: where only others fail, none of them is the cause."""

EXPLAINS_ALL = frozenset(
    {
        *("parameter-order", "another-rule-for-bins", "both-leading-dimensions", "tile-loop-bound"),
        *("a-transposed", "b-transposed", "both-transposed", "elementwise-product"),
    }
)
"""What an output shows and makes accesses go astray as well: told before them."""

VAGUE = frozenset(
    {
        *("values-not-counted", "counted-more-than-once", "updates-lost", "all-zeros", "adds-to-output"),
        *(
            "some-blocks",
            "some-blocks-of-vector",
            "partly-unwritten",
            "edge-wrong",
            "tail-wrong",
            "imprecise",
        ),
        *("constant-factor", "constant-offset", "all-the-same", "every-second", "not-accumulated"),
    }
)
"""What outputs show whatever made them so: any finding with a line says more."""

SEVERE = (Severity.ERROR, Severity.WARNING)


def first_cause(
    assignment: Assignment, evidence: Evidence, results: Iterable[CheckResult], around: Surroundings
) -> Cause | None:
    """What to repair first; None where nothing failed, or no finding explains more than its own item.

    Of items that are not shown nothing is said, of hidden cases what ``results`` say. A file that does not
    compile has one item that says why.
    """
    interface = assignment.interface
    failing = [each for each in results if each.verdict is Verdict.FAIL]
    shown = [each for each in failing if each.item.visibility is Visibility.VISIBLE]
    if not evidence.build.ok or not isinstance(interface, KernelInterface):
        return None
    shown = [each for each in shown if each.item.check in JUDGED_BY_THEM]
    if not shown:
        return None
    item = shown[0].item.id
    output = _shown_by_outputs(assignment, evidence, shown)
    found = _findings(evidence, shown)
    explained = output is not None and output.mistake not in VAGUE
    if explained and output is not None and output.mistake not in EXPLAINS_ALL:
        explained = not _everywhere(evidence, found)
    return (
        _constants(assignment, evidence, item)
        or _changed(assignment, evidence, item)
        or (_cause(output, item) if output is not None and output.mistake in EXPLAINS_ALL else None)
        or _suspected(assignment, evidence, found, item)
        or (_cause(output, item) if output is not None and explained else None)
        or _located(assignment, found, around, item)
        or (None if output is None else _cause(output, item))
    )


def _cause(found: Diagnosis, item: str, line: int | None = None) -> Cause:
    return Cause(found.mistake, found.explanation, found.advice, item, line)


def _constants(assignment: Assignment, evidence: Evidence, item: str) -> Cause | None:
    """A constant of the file that the assignment does not allow."""
    wrong = next((each for each in evidence.build.warnings if each.hazard == SourceRemark.CONSTANT), None)
    if wrong is None:
        return None
    said = texts(assignment.feedback).mistake("constant-not-allowed")
    hint = said.hint.format(constants=f"`{wrong.address}`")
    return Cause("constant-not-allowed", wrong.message, hint, item, wrong.line)


def _suspected(
    assignment: Assignment, evidence: Evidence, found: Sequence[Finding], item: str
) -> Cause | None:
    """What the text shows that could be meant, but not where something is wrong that it may have made.

    A loop that steps twice makes numbers wrong. Names of one address make arrays wrong that share it, and
    whatever is found at another array, or at none, has another reason.
    """
    suspicions = evidence.build.suspicions
    shared = {each.address for each in suspicions if each.hazard == SourceRemark.ONE_ADDRESS}
    elsewhere = any(finding.kind in LOCATED and finding.array not in shared for finding in found)
    possible = [
        each
        for each in suspicions
        if (not elsewhere if each.hazard == SourceRemark.ONE_ADDRESS else _wrong_cases(evidence))
    ]
    told = next(iter(explain_findings(possible, assignment.feedback)), None)
    if told is None:
        return None
    lines = [each.line for each in possible if mistake_behind(each) == told.mistake]
    return _cause(told, item, lines[-1])


def _wrong_cases(evidence: Evidence) -> list[str]:
    """The visible cases with a wrong output."""
    visible = (case for case in evidence.cases if case.case.visibility is Visibility.VISIBLE)
    return [case.case.id for case in visible if any(each.wrong for each in case.comparisons)]


def _findings(evidence: Evidence, shown: Sequence[CheckResult]) -> list[Finding]:
    """All that may be told: what visible cases have, and what items tell of hidden ones."""
    visible = (case for case in evidence.cases if case.case.visibility is Visibility.VISIBLE)
    found = [finding for case in visible for finding in case.findings]
    kinds = {finding.kind for finding in found}
    told = (finding for result in shown for finding in result.findings)
    found += [finding for finding in told if finding.kind not in kinds]
    return [finding for finding in found if finding.severity in SEVERE]


def _everywhere(evidence: Evidence, found: Sequence[Finding]) -> bool:
    """Whether each case with a wrong output has one of these findings, or there is no such case."""
    located = {finding.case for finding in found if finding.kind in LOCATED}
    return all(case in located for case in _wrong_cases(evidence))


def _located(
    assignment: Assignment, findings: Sequence[Finding], around: Surroundings, item: str
) -> Cause | None:
    for kind in LOCATED:
        of_kind = [finding for finding in findings if finding.kind is kind]
        grave = [finding for finding in of_kind if finding.severity is Severity.ERROR] or of_kind
        cause = _reads_its_output(assignment, grave, around, item) or next(
            (
                _cause(diagnosis, item, grave[0].line)
                for diagnosis in explain_findings(grave, assignment.feedback, around)
            ),
            None,
        )
        if cause is not None:
            return cause
    return None


def _reads_its_output(
    assignment: Assignment, findings: Sequence[Finding], around: Surroundings, item: str
) -> Cause | None:
    """An array of the interface that is read before anything was stored there: it is added to."""
    for finding in findings:
        if finding.kind is FindingKind.UNINITIALISED and finding.array in around.arrays:
            found = described("adds-to-output", finding.array, (), (), assignment.feedback)
            return _cause(found, item, finding.line)
    return None


def _changed(assignment: Assignment, evidence: Evidence, item: str) -> Cause | None:
    """An input that the kernel writes to, in a case that may be told of."""
    visible = (case for case in evidence.cases if case.case.visibility is Visibility.VISIBLE)
    names = dict.fromkeys(name for case in visible for name in case.changed_inputs)
    if not names:
        return None
    array = evidence.build.label(next(iter(names)))
    return _cause(described("input-changed", array, (), (), assignment.feedback), item)


def _shown_by_outputs(
    assignment: Assignment, evidence: Evidence, shown: Sequence[CheckResult]
) -> Diagnosis | None:
    """The mistake of the first output item that fails, if its wrong outputs agree on one.

    What hidden cases alone show may depend on their shapes: it is told only where the item tells their lines.
    """
    result = next((each for each in shown if each.item.check == "output"), None)
    if result is None:
        return None
    cases = [case for case in evidence.cases if result.item.looks_at(case.case)]
    visible = [case for case in cases if case.case.visibility is Visibility.VISIBLE]
    for chosen in (visible, cases) if dict(result.item.options).get("hidden_lines") else (visible,):
        wrong = [each for case in chosen for each in case.comparisons if each.wrong]
        if wrong:
            named = wrong[0]
            if not named.mistake:
                return None
            built = evidence.build
            read = [p.name for p in assignment.kernel.parameters if p.extents and p.direction != "out"]
            inputs, array = [built.label(name) for name in read], built.label(named.array)
            return described(named.mistake, array, inputs, built.constants, assignment.feedback)
    return None
