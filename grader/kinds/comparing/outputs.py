"""A run against the oracle: what is wrong with its outputs, and which named mistakes would explain it.

CaseRun ─compared▶ CaseEvidence
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.errors import log_swallowed
from grader.base.precision import numbers
from grader.base.records import frozen
from grader.explaining import StillPossible, WrongOutput, can_tell_mistakes_apart, fitting, load_hypotheses
from grader.explaining.other_answers import MutantAnswers, OtherAnswers
from grader.grading.oracle import expected_of, in_case
from grader.kinds.comparing.examples import MOST_NUMBERS, example_of
from grader.model import (
    Argument,
    Case,
    CaseEvidence,
    Clause,
    Comparison,
    Finding,
    FindingCode,
    FindingKind,
    HeatMap,
    Severity,
)
from grader.model.compare import all_ones, compare, data_of, heat_map, mask_of, untouched
from grader.model.messages import worded
from grader.model.mistakes import texts_of_course
from grader.running.backends.deciding import by_order
from grader.running.backends.emulated_kernel import is_clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.explaining import Hypotheses
    from grader.grading.oracle import Oracle
    from grader.model import Assignment, Launch, Named
    from grader.running.backends import BothOutputs, CaseRun


@frozen
class Launched:
    """A case that was launched: with what, for a kernel with which constants, and what was seen."""

    case: Case
    arguments: tuple[Argument, ...]
    constants: Named[int]
    case_run: CaseRun
    launch: Launch | None = None
    copied_back: bool = False
    """True if outputs come from an emulated device, where memory that was never written is all ones."""

    def arrays(self, *directions: str) -> dict[str, NDArray[Any]]:
        """The numbers of the arrays as they were before the launch, by name."""
        return {name: numbers(value) for name, value in self.contents(*directions).items()}

    def label(self, array: str) -> str:
        """Name that the student's kernel has for an array."""
        return next((argument.label for argument in self.arguments if argument.name == array), array)

    def contents(self, *directions: str) -> dict[str, NDArray[Any]]:
        """The arrays themselves as they were before the launch, by name."""
        values = ((a.name, a.value) for a in self.arguments if a.direction in directions)
        return {name: value for name, value in values if isinstance(value, np.ndarray)}


def compared(launched: Launched, oracle: Oracle, possible: StillPossible | None) -> CaseEvidence:
    """Evidence of a run; a wrong output has the ``possible`` mistakes that fit it if they are given."""
    case, inputs = launched.case, launched.arrays("in", "inout")
    names = [name for name, _ in launched.case_run.run.outputs]
    expected = expected_of(oracle, inputs, dict(case.shape), names, case.id) if names else {}
    launched = replace(launched, case_run=by_order(launched.case_run, expected))
    case_run, run = launched.case_run, launched.case_run.run
    # Values that threads store without having set them may lie where anything is right, or is not read.
    sure = tuple(f for f in run.findings if f.code is not FindingCode.UNSET_IN_SOME_THREADS)
    unoptimised = dict(run.unoptimised) if is_clean(sure) else {}
    comparisons, unlike = [], list[Finding]()
    for name, output in run.outputs:
        comparison = _compared_output(launched, oracle, possible, name, output, inputs, expected)
        unlike += _unlike_results(launched, comparison, expected[name], unoptimised.get(name))
        comparisons.append(comparison)
    is_small = all(np.size(argument.value) <= MOST_NUMBERS for argument in launched.arguments)
    is_wrong = any(result.wrong for result in comparisons)
    is_shown = case.is_visible and is_wrong and is_small
    findings = run.findings if is_wrong or unlike else sure
    outputs = [(name, numbers(np.asarray(output)), *expected[name]) for name, output in run.outputs]
    return CaseEvidence(
        case=case,
        comparisons=tuple(comparisons),
        example=example_of(launched.arguments, inputs, outputs) if is_shown else (),
        findings=tuple(replace(finding, case=case.id) for finding in (*findings, *unlike)),
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


def _compared_output(
    launched: Launched,
    oracle: Oracle,
    possible: StillPossible | None,
    name: str,
    output: NDArray[Any],
    inputs: dict[str, NDArray[Any]],
    expected: dict[str, tuple[NDArray[Any], NDArray[Any]]],
) -> Comparison:
    """Comparison of one output; a wrong one has the mistakes that explain it, and a map if it is shown."""
    case, case_run, (values, bound) = launched.case, launched.case_run, expected[name]
    unwritten = untouched(output, launched.contents("out", "inout")[name])
    if launched.copied_back:
        unwritten |= all_ones(output)
    with in_case(case.id):
        comparison = compare(name, output, values, bound, poison=unwritten)
    comparison = replace(comparison, label=launched.label(name))
    if case_run.both is not None:
        comparison = _beside_gpu(comparison, case_run.both, values, bound)
    if not possible or not comparison.wrong:
        return comparison
    wrong = _wrong_output(
        oracle,
        launched,
        comparison,
        *_without_masked(output, values, bound, unwritten),
        inputs,
        {other: target for other, (target, _) in expected.items()},
        possible.in_output(case, name),
    )
    comparison = _explained(possible.assignment, load_hypotheses(oracle.folder), comparison, wrong)
    possible.judged(case, comparison)
    return replace(comparison, heat=_heat(wrong)) if case.is_visible else comparison


def _unlike_results(
    launched: Launched,
    comparison: Comparison,
    expected: tuple[NDArray[Any], NDArray[Any]],
    unoptimised: NDArray[Any] | None,
) -> Iterator[Finding]:
    """Findings about an output that is right in one build only, or in one order of warps only."""
    name, label = comparison.array, launched.label(comparison.array)
    if unoptimised is not None:
        yield from _unlike(label, comparison, compare(name, unoptimised, *expected))
    warp_by_warp = dict(launched.case_run.run.warp_by_warp)
    if name in warp_by_warp and not comparison.wrong:
        yield from _depends_on_order(label, compare(name, warp_by_warp[name], *expected))


def _beside_gpu(
    comparison: Comparison, both: BothOutputs, values: NDArray[Any], bound: NDArray[Any]
) -> Comparison:
    """The comparison with how much of the output is undefined, and what the GPU made of it, if anything."""
    if both.proved is None:
        return comparison
    elements = both.proved.elements
    undefined = comparison.total if elements is None else int(dict(elements)[comparison.array].sum())
    on_device = dict(both.on_device).get(comparison.array)
    if not undefined or on_device is None:
        return replace(comparison, undefined=undefined)
    wrong = compare(comparison.array, on_device, values, bound).wrong
    return replace(comparison, undefined=undefined, wrong_on_device=wrong)


def _heat(wrong: WrongOutput) -> HeatMap:
    return heat_map(wrong.values, wrong.expected, wrong.bound, poison=wrong.unwritten, launch=wrong.launch)


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
    output: NDArray[Any], values: NDArray[Any], bound: NDArray[Any], unwritten: NDArray[np.bool_]
) -> tuple[NDArray[Any], tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]]:
    """An output, and what it is judged by, with something right wherever anything would be right."""
    masked, outputs = mask_of(values), numbers(output)
    if not masked.any():
        return outputs, (data_of(values), bound, unwritten)
    outputs = np.where(masked & ~np.isfinite(outputs), 0, outputs)
    targets = np.where(masked, outputs, data_of(values))
    bounds = np.where(masked, 0.0, data_of(bound))
    return outputs, (targets, bounds, unwritten & ~masked)


def _wrong_output(
    oracle: Oracle,
    launched: Launched,
    comparison: Comparison,
    output: NDArray[Any],
    judged: tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]],
    inputs: dict[str, NDArray[Any]],
    expected: dict[str, NDArray[Any]],
    possible: frozenset[str] | None,
) -> WrongOutput:
    """All that a diagnosis may look at; ``expected`` is of all outputs."""
    run, (values, bound, unwritten) = launched.case_run.run, judged
    counted = run.completed and not launched.case_run.uncounted
    kinds = {finding.kind for finding in run.findings}
    return WrongOutput(
        comparison.array,
        output,
        values,
        bound,
        unwritten,
        inputs=tuple(inputs.items()),
        constants=launched.constants,
        before=launched.arrays("out", "inout")[comparison.array],
        store_bytes=run.counters.global_store_bytes if counted else None,
        completed=run.completed,
        launch=launched.launch,
        reads_unset=FindingKind.UNINITIALISED in kinds if counted else None,
        reads_outside=FindingKind.OUT_OF_BOUNDS in kinds,
        raced=FindingKind.RACE in kinds,
        answer=OtherAnswers(oracle, launched.case, comparison.array),
        anything=mask_of(expected[comparison.array]),
        others=tuple(data_of(expected[name]) for name, _ in run.outputs if name != comparison.array),
        mutants=MutantAnswers(oracle, launched.case, comparison.array, inputs, _threads(launched), possible),
    )


def _threads(launched: Launched) -> tuple[int, ...]:
    """Lengths that a block, or a tile, may have along an axis, and the threads of a block in all."""
    block = () if launched.launch is None else launched.launch.block
    lengths = (*(value for _, value in launched.constants), *block, math.prod(block))
    return tuple(dict.fromkeys(length for length in lengths if length > 1))


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
