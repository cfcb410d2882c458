"""What submissions of a kernel share: cases, what the staff's kernels moved, what is timed beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grader.assignment import recorded_counters, reference_folder, staff_kernel
from grader.backends.emulated_kernel import EmulatedKernel
from grader.errors import OurError
from grader.gpu.request import Image, has_variables, widths
from grader.gpu.timing_job import SETS, StaffKernel
from grader.model import Argument, Build, Finding, Submission
from grader.nvcc import assemble, build_at
from grader.nvcc.launch import plan_launch
from grader.oracle import array_types, draw_inputs, load_oracle, make_arguments
from grader.plan import Plan, TimingStaff, drawn_cases, size
from grader.precision import numpy_type

if TYPE_CHECKING:
    from grader.backends.backend import Backend
    from grader.model import Assignment, Case, Counters, Named, TimingPlan
    from grader.nvcc import Tools
    from grader.oracle import Oracle

    Baselines = Named[Named[Counters]]

_TIMING_STREAM = 0x7173
"""Keeps the inputs of timed launches apart from those of cases with the same seed."""


def plan(
    assignment: Assignment,
    seed: int,
    tools: Tools | None,
    *,
    visible_only: bool,
    backend: Backend,
) -> Plan:
    """Draw the cases and prepare the staff's kernels; raises OurError if one of them cannot be run."""
    if tools is None:
        raise OurError(f"the assignment {assignment.id} cannot be prepared without a compiler")
    everything = sum(map(size, drawn_cases(assignment, seed)))
    cases = drawn_cases(assignment, seed, visible_only=visible_only)
    oracle = load_oracle(reference_folder(assignment), array_types(assignment.kernel))
    recorded = recorded_counters(assignment)
    baselines = _baselines(assignment, cases, oracle, tools) if recorded is None else recorded
    timing = _timing(assignment, oracle, tools, backend) if recorded is None else None
    return Plan(assignment, seed, cases, baselines, backend, timing, everything=everything)


def arguments(assignment: Assignment, built: Build, case: Case, oracle: Oracle) -> tuple[Argument, ...]:
    """The arguments of a case's launch for the kernel of a build, with what it calls them."""
    arrays = draw_inputs(oracle, case)
    unnamed = make_arguments(assignment.kernel, dict(case.shape), arrays, dict(built.constants))
    names = dict(built.student_names)
    named = (replace(argument, student_name=names.get(argument.name, "")) for argument in unnamed)
    return tuple(_with_offset(argument, case.offset) for argument in named)


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
        sets.append(make_arguments(assignment.kernel, shape, arrays, dict(constants)))
    return tuple(sets)


def _baselines(assignment: Assignment, cases: tuple[Case, ...], oracle: Oracle, tools: Tools) -> Baselines:
    """The counters of each baseline kernel on the cases that a `traffic` item asks about."""
    wanted: dict[str, set[str]] = {}
    for item in assignment.rubric:
        if item.check == "traffic":
            chosen = {case.id for case in cases if item.looks_at(case)}
            wanted.setdefault(str(dict(item.options)["baseline"]), set()).update(chosen)
    counters: dict[str, dict[str, Counters]] = {}
    for name, chosen in wanted.items():
        built = _staff_build(assignment, name, tools)
        kernel = EmulatedKernel(built, "", f"{name}.cu")
        for case in (case for case in cases if case.id in chosen):
            if assignment.kernel.sizes:
                built = _staff_build(assignment, name, tools, case.shape)
                kernel = EmulatedKernel(built, "", f"{name}.cu")
            launch = plan_launch(assignment.kernel, built, dict(case.shape))
            if isinstance(launch, Finding):
                raise OurError(
                    f"the baseline {name}.cu cannot be launched for case {case.id}: {launch.message}"
                )
            given = arguments(assignment, built, case, oracle)
            counters.setdefault(case.id, {})[name] = kernel.launch(launch, given, count_only=True).counters
    return tuple((case, tuple(by_name.items())) for case, by_name in counters.items())


def _timing(assignment: Assignment, oracle: Oracle, tools: Tools, backend: Backend) -> TimingStaff | None:
    """The staff's kernels for the GPUs, if a rubric item asks for a speedup and time is measured."""
    items = [item for item in assignment.rubric if item.check == "speedup"]
    plan = assignment.timing
    if not backend.measures_time or not items or plan is None:
        return None
    steps = [step for item in items for step in dict(item.options)["steps"]]
    work = oracle.work(dict(plan.shape)) if oracle.work else {}
    kernels = [
        _staff_kernel(assignment, plan, name, tools, backend.architectures)
        for name in (plan.baseline, plan.solution)
        if name
    ]
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
    built = _staff_build(assignment, name, tools)
    launch = plan_launch(assignment.kernel, built, dict(plan.shape))
    if isinstance(launch, Finding):
        raise OurError(f"{name}.cu cannot be launched for the timing: {launch.message}")
    scalars = tuple(
        Argument(p.name, p.direction, np.void(1) if p.fields else numpy_type(p.dtype).type(0))
        for p in assignment.kernel.parameters
    )
    types = widths(scalars, built.parameter_bytes)
    kept = has_variables(built.ptx)
    images = tuple(
        (a, Image(assemble(tools, built.ptx, a), built.entry, types, variables=kept)) for a in architectures
    )
    return StaffKernel(name, images, launch)


def _staff_build(assignment: Assignment, name: str, tools: Tools, shape: Named[int] = ()) -> Build:
    path = staff_kernel(assignment, name)
    try:
        source = path.read_bytes()
    except OSError as problem:
        raise OurError(f"the staff's kernel {path} cannot be read: {problem.strerror}") from None
    interface = assignment.kernel
    built = build_at(tools, Submission(name, path.name, source, ""), interface, interface.kernel, shape)
    if not built.ok:
        reasons = "; ".join(finding.message for finding in built.findings) or built.error
        raise OurError(f"the staff's kernel {path.name} does not build: {reasons}")
    return built
