"""What a kernel left in its outputs, against the oracle: where it is wrong, and the mistake that explains it.

Run, oracle ─compare▶ Comparison per output ─diagnosis▶ with a named mistake ─▶ CaseEvidence
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.compare import compare, untouched
from grader.debug import log_swallowed
from grader.diagnosis import WrongOutput, can_tell_mistakes_apart, fitting, load_hypotheses
from grader.emulator.two_builds import is_clean
from grader.messages import worded
from grader.mistakes import texts_of_course
from grader.model import (
    Argument,
    Case,
    CaseEvidence,
    Clause,
    Comparison,
    Finding,
    FindingCode,
    FindingKind,
    Severity,
)
from grader.oracle import expected_of
from grader.precision import numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.backends.backend import CaseRun
    from grader.diagnosis import Hypotheses
    from grader.model import Assignment, Launch, Named
    from grader.oracle import Oracle


@dataclass(frozen=True, slots=True)
class Launched:
    """A case that was launched: with what, for a kernel with which constants, and what was seen."""

    case: Case
    arguments: tuple[Argument, ...]
    constants: Named[int]
    case_run: CaseRun
    launch: Launch | None = None

    def arrays(self, *directions: str) -> dict[str, NDArray[Any]]:
        """The numbers of the arrays as they were before the launch, by name."""
        return {name: numbers(value) for name, value in self.contents(*directions).items()}

    def label(self, array: str) -> str:
        """What the student's kernel calls an array."""
        return next((argument.label for argument in self.arguments if argument.name == array), array)

    def contents(self, *directions: str) -> dict[str, NDArray[Any]]:
        """The arrays themselves as they were before the launch, by name."""
        given = ((a.name, a.value) for a in self.arguments if a.direction in directions)
        return {name: value for name, value in given if isinstance(value, np.ndarray)}


def compared(launched: Launched, oracle: Oracle, explained: Assignment | None) -> CaseEvidence:
    """Evidence of a run; a wrong output comes with the mistakes that fit it if its assignment is given."""
    case, case_run, run = launched.case, launched.case_run, launched.case_run.run
    inputs = launched.arrays("in", "inout")
    names = [name for name, _ in run.outputs]
    expected = expected_of(oracle, inputs, dict(case.shape), names) if names else {}
    comparisons, unlike = [], list[Finding]()
    unoptimised = dict(run.unoptimised) if is_clean(run.findings) else {}
    warp_by_warp = dict(run.warp_by_warp)
    for name, got in run.outputs:
        values, bound = expected[name]
        unwritten = untouched(got, launched.contents("out", "inout")[name])
        comparison = compare(name, got, values, bound, poison=unwritten)
        comparison = replace(comparison, label=launched.label(name))
        if name in unoptimised:
            unlike += _unlike(
                launched.label(name), comparison, compare(name, unoptimised[name], values, bound)
            )
        if name in warp_by_warp and not comparison.wrong:
            unlike += _depends_on_order(
                launched.label(name), compare(name, warp_by_warp[name], values, bound)
            )
        if explained and comparison.wrong:
            wrong = _wrong_output(
                launched, comparison, *_without_masked(got, values, bound, unwritten), inputs
            )
            comparison = _explained(explained, load_hypotheses(oracle.folder), comparison, wrong)
        comparisons.append(comparison)
    return CaseEvidence(
        case=case,
        comparisons=tuple(comparisons),
        findings=tuple(replace(finding, case=case.id) for finding in (*run.findings, *unlike)),
        changed_inputs=run.changed_inputs,
        counters=run.counters,
        lines=run.lines,
        seconds=run.seconds,
        completed=run.completed,
        followed=case_run.followed,
        launched=run.launched,
        too_much_work=case_run.too_much_work,
        uncounted=case_run.uncounted,
        undecided=case_run.undecided,
    )


def _unlike(label: str, graded: Comparison, unoptimised: Comparison) -> list[Finding]:
    """A finding if only one of the two builds of a file is right, although nothing else is wrong with it.

    A wrong output of the build that is graded costs its own item: the finding is information then.
    """
    if bool(graded.wrong) == bool(unoptimised.wrong):
        return []
    severity = Severity.INFO if graded.wrong else Severity.ERROR
    difference = "right-when-unoptimised" if graded.wrong else "right-when-optimised"
    details = (("difference", (Clause(difference, (("array", label),)),)),)
    code = FindingCode.OUTPUT_DIFFERS_BETWEEN_BUILDS
    finding = Finding(FindingKind.UNDEFINED, address=label, severity=severity, code=code, details=details)
    return [worded(finding)]


def _depends_on_order(label: str, warp_by_warp: Comparison) -> list[Finding]:
    """A finding if an output is wrong as soon as warps run in another order, although nothing races."""
    if not warp_by_warp.wrong:
        return []
    return [worded(Finding(FindingKind.RACE, address=label, code=FindingCode.DEPENDS_ON_ORDER))]


def _without_masked(
    got: NDArray[Any], values: NDArray[Any], bound: NDArray[Any], unwritten: NDArray[np.bool_]
) -> tuple[NDArray[Any], tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]]:
    """An output, and what it is judged by, with something right wherever anything would be right."""
    anything, outputs = np.ma.getmaskarray(values), numbers(got)
    if not anything.any():
        return outputs, (np.ma.getdata(values), bound, unwritten)
    outputs = np.where(anything & ~np.isfinite(outputs), 0, outputs)
    wanted = np.where(anything, outputs, np.ma.getdata(values))
    bounds = np.where(anything, 0.0, np.ma.getdata(bound))
    return outputs, (wanted, bounds, unwritten & ~anything)


def _wrong_output(
    launched: Launched,
    comparison: Comparison,
    got: NDArray[Any],
    judged: tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]],
    inputs: dict[str, NDArray[Any]],
) -> WrongOutput:
    """All that a diagnosis may look at."""
    run, (values, bound, unwritten) = launched.case_run.run, judged
    counted = run.completed and not launched.case_run.uncounted
    return WrongOutput(
        comparison.array,
        got,
        values,
        bound,
        unwritten,
        inputs=tuple(inputs.items()),
        constants=launched.constants,
        before=launched.arrays("out", "inout")[comparison.array],
        store_bytes=run.counters.global_store_bytes if counted else None,
        completed=run.completed,
        launch=launched.launch,
        reads_outside=any(finding.kind is FindingKind.OUT_OF_BOUNDS for finding in run.findings),
        raced=any(finding.kind is FindingKind.RACE for finding in run.findings),
    )


def _explained(
    assignment: Assignment, hypotheses: Hypotheses, comparison: Comparison, wrong: WrongOutput
) -> Comparison:
    """The comparison with the named mistakes that would have produced just this output."""
    try:
        with_texts = texts_of_course(assignment.feedback)
        mistakes = tuple(mistake for mistake in fitting(hypotheses, wrong) if mistake in with_texts)
        return replace(comparison, fitting=mistakes, telling=can_tell_mistakes_apart(wrong))
    except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
        log_swallowed("naming the mistake in an output")
        return comparison
