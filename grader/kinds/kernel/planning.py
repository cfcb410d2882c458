"""Data that submissions of a kernel share: cases, the traffic of the staff's kernels, timing baselines."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from grader.base.errors import OurError
from grader.grading.arguments import make_arguments
from grader.grading.assignment import recorded_counters, reference_folder, staff_kernel
from grader.grading.oracle import array_types, draw_inputs, in_case, load_oracle
from grader.kinds import require_built, staff_submission
from grader.kinds.timing import is_timed
from grader.model import Argument, Build, Finding
from grader.running.backends.emulated_kernel import EmulatedKernel
from grader.toolchain.nvcc import build_at
from grader.toolchain.nvcc.launch import plan_launch

if TYPE_CHECKING:
    from grader.grading.oracle import Oracle
    from grader.kinds.plan import Plan, TimingStaff
    from grader.model import Assignment, Case, Counters, Named
    from grader.running.backends import Backend
    from grader.toolchain.nvcc import Tools

    Baselines = Named[Named[Counters]]


def plan(drawn: Plan, tools: Tools) -> Plan:
    """Prepare the staff's kernels for the drawn cases; raises OurError if one of them cannot be run."""
    assignment = drawn.assignment
    oracle = load_oracle(reference_folder(assignment), array_types(assignment.kernel))
    recorded = recorded_counters(assignment)
    if recorded is not None:
        return replace(drawn, baselines=recorded, timing=None)
    with ThreadPoolExecutor(1) as beside:
        timing = beside.submit(_timing_staff, assignment, oracle, tools, drawn.backend)
        baselines = _baselines(assignment, drawn.cases, oracle, tools)
    return replace(drawn, baselines=baselines, timing=timing.result())


def _timing_staff(
    assignment: Assignment, oracle: Oracle, tools: Tools, backend: Backend
) -> TimingStaff | None:
    """The staff's kernels for the GPUs, if a rubric item asks for a speedup and time is measured."""
    if not is_timed(assignment, backend) or assignment.timing is None:
        return None
    from grader.kinds.kernel.timing import staff  # noqa: PLC0415 - without a GPU it is not loaded

    build = partial(staff_build, assignment, tools=tools)
    return staff(assignment, assignment.timing, oracle, build, tools, backend.architectures)


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


def staff_build(assignment: Assignment, name: str, tools: Tools, shape: Named[int] = ()) -> Build:
    """The build of one of the staff's kernels; raises OurError if it does not build."""
    interface, submission = assignment.kernel, staff_submission(staff_kernel(assignment, name), "kernel")
    built = build_at(tools, submission, interface, interface.kernel, shape)
    return require_built(built, submission, "kernel")
