"""The stages of an assignment that asks for a kernel: planned in `planning`, and run here.

Build ─backend▶ CaseRun per case ─compared▶ CaseEvidence per case
                timed rounds     ─read────▶ Timing
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

from grader.base.errors import OurError, log_swallowed
from grader.base.memory_limit import limited
from grader.base.records import mutable
from grader.explaining import (
    StillPossible,
    agree_on_mistakes,
)
from grader.grading.assignment import reference_folder
from grader.grading.oracle import are_right, array_types, load_oracle
from grader.kinds import not_built
from grader.kinds.comparing.outputs import Launched, compared
from grader.kinds.kernel.further_runs import with_order, with_smallest
from grader.kinds.kernel.planning import arguments, plan
from grader.kinds.timing import is_estimated, read, untimed
from grader.model import (
    Build,
    Case,
    CaseEvidence,
    Evidence,
    Finding,
    OutputJudge,
    Run,
)
from grader.running.backends import PreparedCase
from grader.running.backends.emulated_kernel import EmulatedKernel, handwriting
from grader.toolchain.nvcc import build_at
from grader.toolchain.nvcc.launch import plan_launch

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.grading.oracle import Oracle
    from grader.kinds.plan import Plan
    from grader.model import Case, Named, Structure, Submission
    from grader.running.backends import CaseRun
    from grader.running.backends.emulated_kernel import Handwriting
    from grader.toolchain.gpu.timing_job import TimingJob
    from grader.toolchain.nvcc import Tools

__all__ = ["gather", "nothing", "plan"]


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
    timing = _timing_job(plan, built, oracle)
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
    visibly = _structures(kernels, visibly=True) if plan.has_hidden_cases else None
    return replace(evidence, structures=_structures(kernels), visible_structures=visibly), runs.seconds


def _came_right(evidence: Evidence) -> bool:
    """True if each case came to its end with nothing wrong in its outputs."""
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


def _structures(kernels: dict[str, EmulatedKernel], *, visibly: bool = False) -> Named[Structure]:
    """Structure of each kernel, as all or visible cases show it; none where its PTX cannot be read."""
    structures = []
    for name, kernel in kernels.items():
        with suppress(OurError):
            structures.append((name, kernel.structure(visibly=visibly)))
    return tuple(structures)


@mutable
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
    gpu_decides = plan.assignment.undefined_outputs is OutputJudge.GPU
    steps = plan.work_of(case)
    return PreparedCase(case, kernel, launch, arguments_of_case, steps, profile, gpu_decides)


def _largest(plan: Plan) -> Case | None:
    """The visible case with the most in it: what a line does in the long run shows there."""
    main = ("", plan.assignment.kernel.kernel)
    visible = [c for c in plan.cases if c.is_visible and c.kernel in main]
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
    with limited():
        shown = with_order(plan.assignment.kernel.parameters, oracle, shown, launches)
    shown = agree_on_mistakes(plan.assignment, evidence.build, shown)
    if not plan.assignment.kernel.sizes:  # a smaller shape would be another build
        shown = with_smallest(plan.assignment, oracle, shown, [case.kernel for case in cases])
    kernels = tuple({id(case.kernel): case.kernel for case in cases}.values())
    try:
        with limited():
            for kernel in kernels:
                shown = kernel.repaired(shown, partial(_is_right, cases, oracle))
            advised = kernels if plan.assignment.advice else ()
            visible = tuple(one for one in shown if one.case.is_visible)
            advice = dict.fromkeys(piece for kernel in advised for piece in kernel.advice(visible))
        return replace(evidence, cases=shown, advice=tuple(advice))
    except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
        log_swallowed("trying repairs")
        return replace(evidence, cases=shown)


def _is_right(cases: tuple[PreparedCase, ...], oracle: Oracle, case: Case, run: Run) -> bool:
    """True if a run of one of the cases left the outputs that the oracle expects."""
    arguments_of_case = next(prepared.arguments for prepared in cases if prepared.case.id == case.id)
    return run.completed and are_right(oracle, arguments_of_case, case, run.outputs)


def _judged(
    prepared: PreparedCase, case_run: CaseRun, oracle: Oracle, possible: StillPossible | None
) -> CaseEvidence:
    """Evidence of a run: its outputs against the oracle."""
    if case_run.run.error:
        return CaseEvidence(prepared.case, completed=False, error=case_run.run.error)
    if case_run.run.question:
        return CaseEvidence(prepared.case, completed=False, question=case_run.run.question)
    launch = None if isinstance(prepared.launch, Finding) else prepared.launch
    launched = Launched(prepared.case, prepared.arguments, prepared.kernel.build.constants, case_run, launch)
    return compared(launched, oracle, possible)


def _timing_job(plan: Plan, built: Build, oracle: Oracle) -> TimingJob | Finding | None:
    """Timing job of a submission, or why its launch would be refused; None where nothing is timed."""
    staff, timing = plan.timing, plan.assignment.timing
    if staff is None or timing is None:
        return None
    from grader.kinds.kernel.timing import job  # noqa: PLC0415 - without a GPU it is not loaded

    return job(plan, staff, timing, built, oracle)
