"""The stages of an assignment that asks for a kernel: planned in `planning`, run and compared here.

Build ─backend▶ CaseRun per case ─compared▶ CaseEvidence per case
                timed rounds     ─read────▶ Timing
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.assignment import reference_folder
from grader.backends import PreparedCase
from grader.backends.emulated_kernel import EmulatedKernel, handwriting, is_clean
from grader.backends.emulator import limited
from grader.compare import all_ones, compare, data_of, heat_map, mask_of, untouched
from grader.diagnosis import (
    StillPossible,
    WrongOutput,
    agree_on_mistakes,
    can_tell_mistakes_apart,
    fitting,
    load_hypotheses,
)
from grader.errors import OurError, log_swallowed
from grader.kinds import not_built
from grader.kinds.kernel.further_runs import MOST_NUMBERS, example_of, with_order, with_smallest
from grader.kinds.kernel.other_answers import MutantAnswers, OtherAnswers
from grader.kinds.kernel.planning import arguments, is_estimated, plan
from grader.kinds.kernel.timing import read, timing_job, untimed
from grader.messages import worded
from grader.mistakes import texts_of_course
from grader.model import (
    Argument,
    Build,
    Case,
    CaseEvidence,
    Clause,
    Comparison,
    Evidence,
    Finding,
    FindingCode,
    FindingKind,
    HeatMap,
    Run,
    Severity,
    Visibility,
)
from grader.nvcc import build_at
from grader.nvcc.launch import plan_launch
from grader.oracle import are_right, array_types, expected_of, in_case, load_oracle
from grader.precision import numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.backends import CaseRun
    from grader.backends.emulated_kernel import Handwriting
    from grader.diagnosis import Hypotheses
    from grader.model import Assignment, Case, Launch, Named, Structure, Submission
    from grader.nvcc import Tools
    from grader.oracle import Oracle
    from grader.plan import Plan

__all__ = ["Launched", "compared", "gather", "nothing", "plan"]


def gather(plan: Plan, submission: Submission, built: Build, tools: Tools) -> tuple[Evidence, Named[float]]:
    """All that can be known of a build, and the seconds that it took by stage.

    A failure of ours is in the records, case by case.
    """
    if not is_estimated(plan, built):
        return _gathered(plan, submission, built, tools)
    from grader.kinds.estimating import with_estimate  # noqa: PLC0415 - most submissions of a class do without

    gathered = partial(_gathered, plan, submission, built, tools)
    return with_estimate(plan, submission, built, tools, gathered, _came_right)


def _gathered(
    plan: Plan,
    submission: Submission,
    built: Build,
    tools: Tools,
    meanwhile: Callable[[], object] | None = None,
) -> tuple[Evidence, Named[float]]:
    """All that can be known of a build but its speed elsewhere; ``meanwhile`` as in `Backend.run`."""
    oracle = load_oracle(reference_folder(plan.assignment), array_types(plan.assignment.kernel))
    text = tuple(submission.source.decode("latin-1").split("\n"))
    judged_by_hand = not plan.backend.runs_any_ptx and not plan.assignment.kernel.inline_asm
    handed_in = handwriting(submission) if judged_by_hand else None
    kernels = {
        name: EmulatedKernel(
            build, build.source_name, submission.file, plan.steps, text=text, handed_in=handed_in
        )
        for name, build in ((plan.assignment.kernel.kernel, built), *built.others)
    }
    sized = _Sized(plan, submission, tools, text, handed_in) if plan.assignment.kernel.sizes else None
    largest = _largest(plan) if plan.feedback else None
    cases = tuple(
        _prepared(plan, kernels, case, oracle, sized, profile=case is largest) for case in plan.cases
    )
    timing = timing_job(plan, built, oracle)
    job = None if isinstance(timing, Finding) else timing
    runs = plan.backend.run(built, cases, tools, job, meanwhile)
    evidence = Evidence(
        plan.backend.name,
        runs.build,
        device=runs.device,
        timing=read(plan, runs, timing, oracle, submission.file),
        witnesses=runs.witnesses,
        measures_time=plan.backend.measures_time,
    )
    evidence = _finished(plan, cases, runs.cases, oracle, evidence)
    evidence = replace(evidence, structures=_structures(kernels))
    return evidence, runs.seconds


def _came_right(evidence: Evidence) -> bool:
    """Whether each case came to its end with nothing wrong in its outputs."""
    return all(
        case.completed and case.launched and not any(c.wrong for c in case.comparisons)
        for case in evidence.cases
    )


def nothing(plan: Plan, built: Build) -> Evidence:
    """The evidence where no kernel could be run."""
    backend = plan.backend
    return Evidence(
        backend.name,
        built,
        device=backend.device,
        timing=untimed(plan),
        measures_time=backend.measures_time,
    )


def _structures(kernels: dict[str, EmulatedKernel]) -> Named[Structure]:
    """How each kernel is built; nothing where its PTX cannot be read, as every case of it says, too."""
    structures = []
    for name, kernel in kernels.items():
        with suppress(OurError):
            structures.append((name, kernel.structure()))
    return tuple(structures)


@dataclass(slots=True)
class _Sized:
    """Kernels of a file that writes sizes down as macros, each built when it is asked for."""

    plan: Plan
    submission: Submission
    tools: Tools
    text: tuple[str, ...]
    handed_in: Handwriting | None = None
    kernels: dict[tuple[str, Named[int]], EmulatedKernel] = field(default_factory=dict)

    def kernel(self, case: Case) -> EmulatedKernel:
        """The kernel of a case, built with the case's sizes."""
        interface = self.plan.assignment.kernel
        name = case.kernel or interface.kernel
        if (name, case.shape) not in self.kernels:
            built = build_at(self.tools, self.submission, interface, name, case.shape)
            self.kernels[name, case.shape] = EmulatedKernel(
                built,
                built.source_name,
                self.submission.file,
                self.plan.steps,
                text=self.text,
                handed_in=self.handed_in,
            )
        return self.kernels[name, case.shape]


def _prepared(
    plan: Plan,
    kernels: dict[str, EmulatedKernel],
    case: Case,
    oracle: Oracle,
    sized: _Sized | None = None,
    *,
    profile: bool = False,
) -> PreparedCase:
    """A case with its launch and its arguments, or with the finding that says why it cannot be launched."""
    kernel = sized.kernel(case) if sized else kernels[case.kernel or plan.assignment.kernel.kernel]
    if not kernel.build.ok:
        if kernel.build.error:
            raise OurError(kernel.build.error)
        return PreparedCase(case, kernel, not_built(kernel.build, case), ())
    launch = plan_launch(plan.assignment.kernel, kernel.build, dict(case.shape))
    if isinstance(launch, Finding):
        return PreparedCase(case, kernel, launch, ())
    arguments_of_case = arguments(plan.assignment, kernel.build, case, oracle)
    return PreparedCase(case, kernel, launch, arguments_of_case, plan.work_of(case), profile)


def _largest(plan: Plan) -> Case | None:
    """The visible case with the most in it: what a line does in the long run shows there."""
    main = ("", plan.assignment.kernel.kernel)
    visible = [c for c in plan.cases if c.visibility is Visibility.VISIBLE and c.kernel in main]
    return max(visible, key=lambda case: math.prod(size for _, size in case.shape), default=None)


def _finished(
    plan: Plan,
    cases: tuple[PreparedCase, ...],
    runs: tuple[CaseRun, ...],
    oracle: Oracle,
    evidence: Evidence,
) -> Evidence:
    """The evidence with its cases, each compared and with what was tried to repair it."""
    baselines, possible = dict(plan.baselines), StillPossible(plan.assignment) if plan.feedback else None
    shown = tuple(
        replace(_judged(case, run, oracle, possible), baselines=baselines.get(case.case.id, ()))
        for case, run in zip(cases, runs, strict=True)
    )
    if not plan.feedback:
        return replace(evidence, cases=shown)
    launches = [(case.kernel, case.launch, case.arguments) for case in cases]
    try:
        with limited():
            shown = with_order(plan.assignment.kernel.parameters, oracle, shown, launches)
    except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
        log_swallowed("running threads in another order")
    shown = agree_on_mistakes(plan.assignment, evidence.build, shown)
    if not plan.assignment.kernel.sizes:  # a smaller shape would be another build
        shown = with_smallest(plan.assignment, oracle, shown, [case.kernel for case in cases])
    kernels = tuple({id(case.kernel): case.kernel for case in cases}.values())
    try:
        with limited():
            for kernel in kernels:
                shown = kernel.repaired(shown, partial(_is_right, cases, oracle))
            advised = kernels if plan.assignment.advice else ()
            advice = dict.fromkeys(piece for kernel in advised for piece in kernel.advice(shown))
        return replace(evidence, cases=shown, advice=tuple(advice))
    except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
        log_swallowed("trying repairs")
        return replace(evidence, cases=shown)


def _is_right(cases: tuple[PreparedCase, ...], oracle: Oracle, case: Case, run: Run) -> bool:
    """Whether a run of one of the cases left the outputs that the oracle expects."""
    arguments_of_case = next(prepared.arguments for prepared in cases if prepared.case.id == case.id)
    return run.completed and are_right(oracle, arguments_of_case, case, run.outputs)


def _judged(
    prepared: PreparedCase, case_run: CaseRun, oracle: Oracle, possible: StillPossible | None
) -> CaseEvidence:
    """Evidence of a run: its outputs against the oracle."""
    if case_run.run.error:
        return CaseEvidence(prepared.case, completed=False, error=case_run.run.error)
    launch = None if isinstance(prepared.launch, Finding) else prepared.launch
    launched = Launched(prepared.case, prepared.arguments, prepared.kernel.build.constants, case_run, launch)
    return compared(launched, oracle, possible)


@dataclass(frozen=True, slots=True)
class Launched:
    """A case that was launched: with what, for a kernel with which constants, and what was seen."""

    case: Case
    arguments: tuple[Argument, ...]
    constants: Named[int]
    case_run: CaseRun
    launch: Launch | None = None
    copied_back: bool = False
    """Whether outputs come from an emulated device, where memory that nobody has written is all ones."""

    def arrays(self, *directions: str) -> dict[str, NDArray[Any]]:
        """The numbers of the arrays as they were before the launch, by name."""
        return {name: numbers(value) for name, value in self.contents(*directions).items()}

    def label(self, array: str) -> str:
        """What the student's kernel calls an array."""
        return next((argument.label for argument in self.arguments if argument.name == array), array)

    def contents(self, *directions: str) -> dict[str, NDArray[Any]]:
        """The arrays themselves as they were before the launch, by name."""
        values = ((a.name, a.value) for a in self.arguments if a.direction in directions)
        return {name: value for name, value in values if isinstance(value, np.ndarray)}


def compared(launched: Launched, oracle: Oracle, possible: StillPossible | None) -> CaseEvidence:
    """Evidence of a run; a wrong output has the ``possible`` mistakes that fit it if they are given."""
    case, case_run, run = launched.case, launched.case_run, launched.case_run.run
    inputs = launched.arrays("in", "inout")
    names = [name for name, _ in run.outputs]
    expected = expected_of(oracle, inputs, dict(case.shape), names, case.id) if names else {}
    comparisons, unlike = [], list[Finding]()
    # What threads store that did not set it may lie where anything is right, or where nobody looks.
    sure = tuple(f for f in run.findings if f.code is not FindingCode.UNSET_IN_SOME_THREADS)
    unoptimised = dict(run.unoptimised) if is_clean(sure) else {}
    warp_by_warp = dict(run.warp_by_warp)
    for name, output in run.outputs:
        values, bound = expected[name]
        unwritten = untouched(output, launched.contents("out", "inout")[name])
        if launched.copied_back:
            unwritten |= all_ones(output)
        with in_case(case.id):
            comparison = compare(name, output, values, bound, poison=unwritten)
        comparison = replace(comparison, label=launched.label(name))
        if name in unoptimised:
            unlike += _unlike(
                launched.label(name), comparison, compare(name, unoptimised[name], values, bound)
            )
        if name in warp_by_warp and not comparison.wrong:
            unlike += _depends_on_order(
                launched.label(name), compare(name, warp_by_warp[name], values, bound)
            )
        if possible and comparison.wrong:
            wrong = _wrong_output(
                oracle,
                launched,
                comparison,
                *_without_masked(output, values, bound, unwritten),
                inputs,
                {other: values for other, (values, _) in expected.items()},
                possible.in_output(case, name),
            )
            comparison = _explained(possible.assignment, load_hypotheses(oracle.folder), comparison, wrong)
            possible.judged(case, comparison)
            if case.visibility is Visibility.VISIBLE:
                comparison = replace(comparison, heat=_heat(wrong))
        comparisons.append(comparison)
    is_small = all(np.size(argument.value) <= MOST_NUMBERS for argument in launched.arguments)
    is_wrong = any(result.wrong for result in comparisons)
    is_shown = case.visibility is Visibility.VISIBLE and is_wrong and is_small
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
    """What a block, or a tile, may have along an axis, and a block in all."""
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
