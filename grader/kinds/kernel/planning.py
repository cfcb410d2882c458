"""What submissions of a kernel share: cases, what the staff's kernels moved, what they are timed beside."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grader.arguments import make_arguments
from grader.assignment import recorded_counters, reference_folder, staff_kernel
from grader.backends.emulated_kernel import EmulatedKernel
from grader.errors import OurError
from grader.gpu.request import Image, has_variables, widths
from grader.gpu.timing_job import SETS, StaffKernel
from grader.kinds import require_built, staff_submission
from grader.model import Argument, Build, Finding
from grader.nvcc import assemble, build_at
from grader.nvcc.launch import plan_launch
from grader.oracle import array_types, draw_inputs, in_case, load_oracle
from grader.plan import TimingStaff
from grader.precision import numpy_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.backends import Backend
    from grader.model import Assignment, Case, Counters, Named, TimingPlan
    from grader.nvcc import Tools
    from grader.oracle import Oracle
    from grader.plan import Plan

    Baselines = Named[Named[Counters]]

_TIMING_STREAM = 0x7173
"""Keeps the inputs of timed launches apart from those of cases with the same seed."""


def plan(drawn: Plan, tools: Tools) -> Plan:
    """Prepare the staff's kernels for the drawn cases; raises OurError if one of them cannot be run."""
    assignment = drawn.assignment
    oracle = load_oracle(reference_folder(assignment), array_types(assignment.kernel))
    recorded = recorded_counters(assignment)
    if recorded is not None:
        return replace(drawn, baselines=recorded, timing=None)
    with ThreadPoolExecutor(1) as beside:
        timing = beside.submit(_timing, assignment, oracle, tools, drawn.backend)
        baselines = _baselines(assignment, drawn.cases, oracle, tools)
    return replace(drawn, baselines=baselines, timing=timing.result())


def arguments(assignment: Assignment, built: Build, case: Case, oracle: Oracle) -> tuple[Argument, ...]:
    """The arguments of a case's launch for the kernel of a build, with what it calls them."""
    arrays = draw_inputs(oracle, case)
    with in_case(case.id):
        unnamed = make_arguments(assignment.kernel, dict(case.shape), arrays, dict(built.constants))
    names = dict(built.student_names)
    with_names = (replace(argument, student_name=names.get(argument.name, "")) for argument in unnamed)
    return tuple(_with_offset(argument, case.offset) for argument in with_names)


def _with_offset(argument: Argument, offset: int) -> Argument:
    stays = argument.direction == "value" or argument.symbol
    return argument if stays else replace(argument, offset=offset)


def timing_sets(
    assignment: Assignment, constants: Named[int], oracle: Oracle, timing: TimingPlan, seed: int
) -> tuple[tuple[Argument, ...], ...]:
    """The arguments of timed launches: several sets that differ in nothing but the numbers in them."""
    shape = dict(timing.shape)
    sets = []
    for index in range(SETS):
        rng = np.random.default_rng([seed, _TIMING_STREAM, index])
        arrays = oracle.inputs(timing.inputs, shape, rng)
        sets.append(make_arguments(assignment.called, shape, arrays, dict(constants)))
    return tuple(sets)


def _baselines(assignment: Assignment, cases: tuple[Case, ...], oracle: Oracle, tools: Tools) -> Baselines:
    """The counters of each baseline kernel on the cases that a `traffic` item asks about."""
    case_ids: dict[str, set[str]] = {}
    for item in assignment.rubric:
        if item.check == "traffic":
            chosen = {case.id for case in cases if item.looks_at(case)}
            case_ids.setdefault(str(dict(item.options)["baseline"]), set()).update(chosen)
    counters: dict[str, dict[str, Counters]] = {}
    for name, chosen in case_ids.items():
        built = staff_build(assignment, name, tools)
        kernel = EmulatedKernel(built, "", f"{name}.cu")
        for case in (case for case in cases if case.id in chosen):
            if assignment.kernel.sizes:
                built = staff_build(assignment, name, tools, case.shape)
                kernel = EmulatedKernel(built, "", f"{name}.cu")
            launch = plan_launch(assignment.kernel, built, dict(case.shape))
            if isinstance(launch, Finding):
                raise OurError(
                    f"the baseline {name}.cu cannot be launched for case {case.id}: {launch.message}"
                )
            arguments_of_case = arguments(assignment, built, case, oracle)
            counters.setdefault(case.id, {})[name] = kernel.launch(
                launch, arguments_of_case, count_only=True
            ).counters
    return tuple((case, tuple(by_name.items())) for case, by_name in counters.items())


def _timing(assignment: Assignment, oracle: Oracle, tools: Tools, backend: Backend) -> TimingStaff | None:
    """The staff's kernels for the GPUs, if a rubric item asks for a speedup and time is measured."""
    if not is_timed(assignment, backend) or assignment.timing is None:
        return None
    plan = assignment.timing
    names = [name for name in (plan.baseline, plan.solution) if name]
    with ThreadPoolExecutor(len(names)) as pool:
        built = pool.map(
            lambda name: _staff_kernel(assignment, plan, name, tools, backend.architectures), names
        )
        return timing_staff(assignment, oracle, list(built))


def is_timed(assignment: Assignment, backend: Backend) -> bool:
    """Whether a rubric item asks for a speedup, and the backend measures time."""
    is_scored = any(item.check == "speedup" for item in assignment.rubric)
    return is_scored and backend.measures_time and assignment.timing is not None


def is_estimated(plan: Plan, built: Build) -> bool:
    """Whether somebody wants to know how fast a build would be: a student, or an item without a GPU."""
    items = [item for item in plan.assignment.rubric if item.check == "speedup"]
    counts = any(dict(item.options).get("estimate") for item in items) and not plan.backend.measures_time
    return (plan.estimates or counts) and bool(items) and plan.assignment.timing is not None and built.ok


def timing_staff(assignment: Assignment, oracle: Oracle, kernels: Sequence[StaffKernel]) -> TimingStaff:
    """What is timed beside every submission: the baseline, and the model solution if there is one."""
    items = [item for item in assignment.rubric if item.check == "speedup"]
    steps = [step for item in items for step in dict(item.options)["steps"]]
    shape = assignment.timing.shape if assignment.timing else ()
    work = oracle.work(dict(shape)) if oracle.work else {}
    return TimingStaff(
        baseline=kernels[0],
        solution=kernels[1] if len(kernels) > 1 else None,
        thresholds=tuple(dict.fromkeys(threshold for threshold, _ in steps)),
        flops=work.get("flops"),
        library=tuple(work.get("library", {}).items()),
    )


def _staff_kernel(
    assignment: Assignment, plan: TimingPlan, name: str, tools: Tools, architectures: tuple[str, ...]
) -> StaffKernel:
    built = staff_build(assignment, name, tools)
    launch = plan_launch(assignment.kernel, built, dict(plan.shape))
    if isinstance(launch, Finding):
        raise OurError(f"{name}.cu cannot be launched for the timing: {launch.message}")
    scalars = tuple(
        Argument(p.name, p.direction, np.void(1) if p.fields else numpy_type(p.dtype).type(0))
        for p in assignment.kernel.parameters
    )
    types = widths(scalars, built.parameter_bytes)
    variables = has_variables(built.ptx)
    images = tuple(
        (a, Image(assemble(tools, built.ptx, a), built.entry, types, variables=variables))
        for a in architectures
    )
    return StaffKernel(name, images, launch)


def staff_build(assignment: Assignment, name: str, tools: Tools, shape: Named[int] = ()) -> Build:
    """The build of one of the staff's kernels; raises OurError if it does not build."""
    interface, submission = assignment.kernel, staff_submission(staff_kernel(assignment, name), "kernel")
    built = build_at(tools, submission, interface, interface.kernel, shape)
    return require_built(built, submission, "kernel")
