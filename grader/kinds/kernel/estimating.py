"""The estimated speed of a submission beside the baseline, at the shape that the assignment times.

The staff's baseline is estimated in the same way. Where a student's copy of an assignment lacks it, what was
recorded of it counts: its times at that shape, device by device.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.assignment import recorded_counters, recorded_estimates, reference_folder
from grader.errors import ToolMissing, log_swallowed
from grader.estimate import (
    ERROR_BOUND,
    NotEstimatedError,
    changes_that_help,
    device_of,
    estimate_kernel,
    ratio_of,
)
from grader.estimate.cache import entry_for, load, store
from grader.kinds.kernel.planning import staff_build, timing_sets
from grader.model import DEVICES, Estimate, Finding
from grader.nvcc import build_at, machine_code
from grader.nvcc.launch import plan_launch
from grader.oracle import array_types, load_oracle

if TYPE_CHECKING:
    from concurrent.futures import Future

    from grader.estimate.estimate import EstimatedKernel
    from grader.model import Assignment, Build, KernelEstimate, Named, Submission, TimingPlan
    from grader.nvcc import MachineCode, Tools
    from grader.plan import Plan

STUDENT = "student"


def device_for(plan: Plan) -> str:
    """The device that an assignment with something to time names."""
    return plan.assignment.timing.estimate_for if plan.assignment.timing else DEVICES[0]


def code_for(tools: Tools, built: Build, device: str) -> MachineCode:
    """The machine code of a build for a device; raises ToolMissing and OurError as `machine_code` does."""
    return machine_code(tools, built.ptx, device_of(device).architecture)


def estimate_submission(
    plan: Plan, submission: Submission, tools: Tools, device: str, shape: Named[int]
) -> Estimate:
    """The estimated speed of a file; ``shape`` may be another than the assignment times."""
    interface = plan.assignment.kernel
    built = build_at(tools, submission, interface, interface.kernel, ())
    if not built.ok:
        return Estimate(device, device_of(device).name, problem="not-launched")
    return estimate_build(plan, built, tools, device, shape)


def estimate_build(
    plan: Plan,
    built: Build,
    tools: Tools,
    device: str,
    shape: Named[int] = (),
    *,
    code: Future[MachineCode] | None = None,
) -> Estimate:
    """The estimated speed of a build whose machine code is, or will be, in ``code``.

    A fault of ours is in the record: a grade does not depend on it.
    """
    assignment, timing = plan.assignment, plan.assignment.timing
    if timing is None:
        raise ValueError("nothing is timed")
    timing = replace(timing, shape=shape or timing.shape)
    empty = Estimate(device, device_of(device).name, timing.baseline, timing.shape)
    try:
        baseline = _baseline(assignment, plan.seed, timing, tools, device)
        kernel = _estimated(assignment, plan.seed, built, timing, tools, device, code)
        changes = changes_that_help(baseline, kernel)
    except NotEstimatedError as problem:
        return replace(empty, problem=problem.problem, details=problem.details)
    except Exception:  # noqa: BLE001 - what a model does not foresee must not cost a student the grade
        log_swallowed("the estimate of speed")
        return replace(empty, problem="failed")
    return replace(
        empty,
        ratio=ratio_of(baseline, kernel.estimate),
        error_bound=ERROR_BOUND,
        kernels=((STUDENT, kernel.estimate), (timing.baseline, baseline)),
        changes=changes,
    )


def baseline_estimates(plan: Plan, tools: Tools) -> Named[KernelEstimate]:
    """The baseline's time on each device, for those who do not have its source; what has none is left out."""
    assignment, timing = plan.assignment, plan.assignment.timing
    if timing is None or not any(item.check == "speedup" for item in assignment.rubric):
        return ()
    estimates = []
    for device in DEVICES:
        with suppress(NotEstimatedError):
            estimates.append((device, _baseline(assignment, plan.seed, timing, tools, device)))
    return tuple(estimates)


def _estimated(
    assignment: Assignment,
    seed: int,
    built: Build,
    timing: TimingPlan,
    tools: Tools,
    device: str,
    code: Future[MachineCode] | None = None,
) -> EstimatedKernel:
    launch = plan_launch(assignment.kernel, built, dict(timing.shape))
    if isinstance(launch, Finding):
        raise NotEstimatedError("not-launched")
    oracle = load_oracle(reference_folder(assignment), array_types(assignment.kernel))
    arguments = timing_sets(assignment, built.constants, oracle, timing, seed)[0]
    try:
        compiled = code.result() if code else code_for(tools, built, device)
    except ToolMissing as problem:
        raise NotEstimatedError("no-disassembler") from problem
    return estimate_kernel(compiled, built, launch, arguments, device_of(device))


_baselines: dict[tuple[str, int, str, Named[int]], KernelEstimate] = {}
"""What was estimated in this process, by assignment, seed, device and shape: a class needs it each time."""


def _baseline(
    assignment: Assignment, seed: int, timing: TimingPlan, tools: Tools, device: str
) -> KernelEstimate:
    """The baseline's time: from its source, or as it was recorded."""
    if recorded_counters(assignment) is None:
        key = (assignment.digest, seed, device, timing.shape)
        if key not in _baselines:
            _baselines[key] = _cached_baseline(assignment, seed, timing, tools, device)
        return _baselines[key]
    same_shape = assignment.timing is not None and timing.shape == assignment.timing.shape
    recorded = dict(recorded_estimates(assignment)) if same_shape else {}
    if device not in recorded:
        raise NotEstimatedError("no-baseline")
    return recorded[device]


def _cached_baseline(
    assignment: Assignment, seed: int, timing: TimingPlan, tools: Tools, device: str
) -> KernelEstimate:
    """The baseline's time from its source, or from the cache of the ``tools`` where it holds one."""
    toolchain = (tools.toolchain.version, tools.toolchain.host_version)
    task = (timing.baseline, timing.shape, timing.inputs, device)
    entry = tools.cache and entry_for(tools.cache, (assignment.digest, seed, *task, *toolchain))
    estimate = entry and load(entry)
    if not estimate:
        built = staff_build(assignment, timing.baseline, tools)
        estimate = _estimated(assignment, seed, built, timing, tools, device).estimate
        if entry:
            store(entry, estimate)
    return estimate
