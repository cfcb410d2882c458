"""The stages of an assignment that asks for a kernel: planned in `planning`, run and compared here.

Build ─backend▶ CaseRun per case ─compared▶ CaseEvidence per case
                timed rounds     ─read────▶ Timing
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from grader.assignment import reference_folder
from grader.backends.backend import PreparedCase
from grader.backends.emulated_kernel import EmulatedKernel
from grader.debug import log_swallowed
from grader.diagnosis import agree_on_mistakes
from grader.emulator.by_hand import handwriting
from grader.errors import OurError
from grader.kinds.kernel.further_runs import with_order, with_smallest
from grader.kinds.kernel.outputs import Launched, compared
from grader.kinds.kernel.planning import arguments, plan
from grader.kinds.kernel.speed import read, timing_job, untimed
from grader.memory_limit import limited
from grader.messages import worded
from grader.model import (
    Build,
    CaseEvidence,
    Clause,
    Evidence,
    Finding,
    FindingCode,
    FindingKind,
    Run,
    Visibility,
)
from grader.nvcc import build_at
from grader.nvcc.launch import plan_launch
from grader.oracle import are_right, array_types, load_oracle

if TYPE_CHECKING:
    from grader.backends.backend import CaseRun
    from grader.emulator.by_hand import Handwriting
    from grader.model import Case, Named, Structure, Submission
    from grader.nvcc import Tools
    from grader.oracle import Oracle
    from grader.plan import Plan

__all__ = ["gather", "nothing", "plan"]


def gather(
    plan: Plan, submission: Submission, built: Build, tools: Tools | None
) -> tuple[Evidence, Named[float]]:
    """All that can be known of a build, and the seconds that it took by stage.

    A failure of ours is in the records, case by case.
    """
    if tools is None:
        return nothing(plan, Build(ok=False, error="there is no compiler")), ()
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
    runs = plan.backend.run(built, cases, tools, job)
    evidence = Evidence(
        plan.backend.name,
        runs.build,
        device=runs.device,
        timing=read(plan, runs, timing, oracle, submission.file),
        witnesses=runs.witnesses,
        measures_time=plan.backend.measures_time,
    )
    evidence = _finished(plan, cases, runs.cases, oracle, evidence)
    return replace(evidence, structures=_structures(kernels)), runs.seconds


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


def _not_built(built: Build, case: Case) -> Finding:
    """Why a case cannot be launched whose sizes do not compile; of a hidden one without what they are."""
    texts = [finding.message for finding in built.findings] if case.visibility is Visibility.VISIBLE else []
    reason = tuple(Clause("because", (("text", text),)) for text in texts[:1])
    details = (("reason", reason),)
    return worded(Finding(FindingKind.FAULT, code=FindingCode.SIZES_DO_NOT_COMPILE, details=details))


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
        return PreparedCase(case, kernel, _not_built(kernel.build, case), ())
    launch = plan_launch(plan.assignment.kernel, kernel.build, dict(case.shape))
    if isinstance(launch, Finding):
        return PreparedCase(case, kernel, launch, ())
    given = arguments(plan.assignment, kernel.build, case, oracle)
    return PreparedCase(case, kernel, launch, given, plan.work_of(case), profile)


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
    baselines = dict(plan.baselines)
    shown = tuple(
        replace(_judged(plan, case, run, oracle), baselines=baselines.get(case.case.id, ()))
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
    given = next(prepared.arguments for prepared in cases if prepared.case.id == case.id)
    return run.completed and are_right(oracle, given, dict(case.shape), run.outputs)


def _judged(plan: Plan, prepared: PreparedCase, case_run: CaseRun, oracle: Oracle) -> CaseEvidence:
    """Evidence of a run: its outputs against the oracle."""
    if case_run.run.error:
        return CaseEvidence(prepared.case, completed=False, error=case_run.run.error)
    launch = None if isinstance(prepared.launch, Finding) else prepared.launch
    launched = Launched(prepared.case, prepared.arguments, prepared.kernel.build.constants, case_run, launch)
    return compared(launched, oracle, plan.assignment if plan.feedback else None)
