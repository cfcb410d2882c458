"""The estimated speed of a submission beside the baseline, at the shape that the assignment times.

The staff's baseline is estimated in the same way. Where a student's copy of an assignment lacks it, what was
recorded of it counts: its times at that shape, device by device. What a file takes on a device differs from
kind to kind: that is in the module ``estimating`` of the kind's package (`grader.kinds.Estimating`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from grader.base.errors import OurError, UsageError, log_swallowed
from grader.grading.assignment import recorded_counters, recorded_estimates, staff_kernel
from grader.grading.assignment.bundled import SOLUTION
from grader.grading.checks.speedup import WRONG_AT_SHAPE
from grader.kinds import kind_of, require_built, staff_submission
from grader.kinds.estimate_request import EstimateRequest, code_for
from grader.model import DEVICES, STUDENT, Estimate, EstimatedChange
from grader.running.estimate import (
    ERROR_BOUND,
    MOST_CHANGES,
    NotEstimatedError,
    changes_that_help,
    device_of,
    ratio_of,
    rolled_loop,
)
from grader.running.estimate.cache import entry_for, load, store

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from grader.kinds.estimate_request import Estimated
    from grader.kinds.plan import Plan
    from grader.model import (
        Assignment,
        Build,
        Evidence,
        KernelEstimate,
        Named,
        Submission,
    )
    from grader.toolchain.nvcc import MachineCode, Tools
    from grader.toolchain.nvcc.toolchain import Toolchain

    _Key = tuple[str, int, str, Named[int], Toolchain]


def device_for(plan: Plan) -> str:
    """The device that an assignment with something to time names."""
    return plan.assignment.timing.estimate_for if plan.assignment.timing else DEVICES[0]


def estimate_submission(
    plan: Plan, submission: Submission, tools: Tools, device: str, shape: Named[int]
) -> Estimate:
    """The estimated speed of a file; ``shape`` may be another than the assignment times."""
    built = kind_of(plan.assignment).estimating().build_of(plan.assignment, submission, tools)
    if not built.ok:
        return Estimate(device, device_of(device).name, problem="not-launched")
    return estimate_build(plan, submission, built, tools, device, shape)


def with_estimate(
    plan: Plan,
    submission: Submission,
    built: Build,
    tools: Tools,
    gathered: Callable[[Callable[[], object]], tuple[Evidence, Named[float]]],
    is_right: Callable[[Evidence], bool],
) -> tuple[Evidence, Named[float]]:
    """The evidence that is ``gathered`` of a build, with the estimated speed of one that is right.

    ptxas and nvdisasm run while the evidence is gathered. ``gathered`` may call its argument where there is
    time for the estimate, and need not wait for anything else then.
    """
    device = device_for(plan)
    with ThreadPoolExecutor(1) as pool:
        code = pool.submit(code_for, tools, built, device)
        estimated = cache(partial(estimate_build, plan, submission, built, tools, device, code=code))
        evidence, seconds = gathered(estimated)
    # Whether hidden cases are right its item says; that there is no estimate would say it once more.
    visible = tuple(case for case in evidence.cases if case.case.is_visible)
    is_wrong = not is_right(replace(evidence, cases=visible))
    estimate = Estimate(device, problem="wrong") if is_wrong else estimated()
    return replace(evidence, estimate=estimate), seconds


def estimate_build(
    plan: Plan,
    submission: Submission,
    built: Build,
    tools: Tools,
    device: str,
    shape: Named[int] = (),
    *,
    code: Future[MachineCode] | None = None,
) -> Estimate:
    """The estimated speed of a submission's build whose machine code is, or will be, in ``code``.

    A fault of ours is in the record: a grade does not depend on it.
    """
    assignment, timing = plan.assignment, plan.assignment.timing
    if timing is None:
        raise ValueError("nothing is timed")
    timing = replace(timing, shape=shape or timing.shape)
    request = EstimateRequest(assignment, plan.seed, timing, tools, device)
    empty = Estimate(device, device_of(device).name, timing.baseline, timing.shape)
    try:
        baseline = _baseline(request)
        estimated = kind_of(assignment).estimating().estimated(request, built, code, compares=True)
        changes = _changes(baseline, estimated, partial(_unrolled, request, submission))
    except NotEstimatedError as problem:
        is_own = problem.problem not in WRONG_AT_SHAPE and solution_is_compared(request)
        return replace(empty, problem=problem.problem, details=problem.details, is_own_doubt=is_own)
    except Exception:  # noqa: BLE001 - what a model does not foresee must not cost a student the grade
        log_swallowed("the estimate of speed")
        return replace(empty, problem="failed")
    return replace(
        empty,
        ratio=ratio_of(baseline, estimated.estimate),
        error_bound=ERROR_BOUND,
        kernels=((STUDENT, estimated.estimate), (timing.baseline, baseline)),
        changes=changes,
        compared=estimated.compared,
        is_own_doubt=_is_doubtful(estimated) and solution_is_compared(request),
    )


def _is_doubtful(estimated: Estimated) -> bool:
    """True if nothing says that the estimated time is that of all the work which a right result takes."""
    return not estimated.compared or estimated.estimate.launches > 1


def solution_is_compared(request: EstimateRequest) -> bool:
    """True if the model solution is estimated at the shape, and its results there are compared and right."""
    key = _key(request)
    if key not in _compared_solutions:
        try:
            built = build_of_staff(request.assignment, request.timing.solution or SOLUTION, request.tools)
            estimated = (
                kind_of(request.assignment).estimating().estimated(request, built, None, compares=True)
            )
            _compared_solutions[key] = not _is_doubtful(estimated)
        except (NotEstimatedError, OurError, UsageError):
            _compared_solutions[key] = False
    return _compared_solutions[key]


def _changes(
    baseline: KernelEstimate,
    estimated: Estimated,
    unrolled: Callable[[tuple[int, int]], KernelEstimate | None],
) -> tuple[EstimatedChange, ...]:
    """Changes that would speed up the launch that takes most of the time, beside the rest of the time.

    None does so beyond the model's error where that launch is too small a part of the whole. A loop is
    ``unrolled`` by the compiler: the model cannot predict the result of that.
    """
    if estimated.longest.time.microseconds <= ERROR_BOUND * estimated.others_us:
        return ()
    for_each = replace(baseline, milliseconds=baseline.milliseconds / estimated.times)
    changes = changes_that_help(for_each, estimated.longest, others_us=estimated.others_us)
    loop = rolled_loop(estimated.longest)
    changed = loop and unrolled(loop)
    if not (loop and changed and estimated.estimate.milliseconds > (1 + ERROR_BOUND) * changed.milliseconds):
        return changes
    by_unrolling = EstimatedChange("unrolled", baseline.milliseconds / changed.milliseconds, loop[0])
    return tuple(sorted((by_unrolling, *changes), key=lambda change: -change.ratio)[:MOST_CHANGES])


def _unrolled(
    request: EstimateRequest, submission: Submission, loop: tuple[int, int]
) -> KernelEstimate | None:
    """A submission's time with the loop on some lines unrolled; None where that cannot be had."""
    from grader.base.cpp import with_unrolled_loop  # noqa: PLC0415 - most have no loop to unroll

    source = with_unrolled_loop(submission.source, loop)
    if source is None:
        return None
    estimating = kind_of(request.assignment).estimating()
    with suppress(NotEstimatedError, OurError):
        built = estimating.build_of(request.assignment, replace(submission, source=source), request.tools)
        return estimating.estimated(request, built, None).estimate if built.ok else None
    return None


def baseline_estimates(plan: Plan, tools: Tools) -> Named[KernelEstimate]:
    """The baseline's time on each device, for those who do not have its source; what has none is left out."""
    assignment, timing = plan.assignment, plan.assignment.timing
    if timing is None or not any(item.check == "speedup" for item in assignment.rubric):
        return ()
    estimates = []
    for device in DEVICES:
        request = EstimateRequest(assignment, plan.seed, timing, tools, device)
        with suppress(NotEstimatedError):
            estimates.append((device, _baseline(request)))
    return tuple(estimates)


_baselines: dict[_Key, KernelEstimate] = {}
"""Estimates made in this process: a class needs them each time."""


_compared_solutions: dict[_Key, bool] = {}
"""Answers of `solution_is_compared`, which is asked only in doubt."""


def _key(request: EstimateRequest) -> _Key:
    """Key of an estimate of a file of the staff's; without a disassembler there is none."""
    assignment, shape = request.assignment, request.timing.shape
    return assignment.digest, request.seed, request.device, shape, request.tools.toolchain


def _baseline(request: EstimateRequest) -> KernelEstimate:
    """The baseline's time: from its source, or as it was recorded."""
    assignment, timing = request.assignment, request.timing
    if recorded_counters(assignment) is None:
        key = _key(request)
        if key not in _baselines:
            _baselines[key] = _cached_baseline(request)
        return _baselines[key]
    same_shape = assignment.timing is not None and timing.shape == assignment.timing.shape
    recorded = dict(recorded_estimates(assignment)) if same_shape else {}
    if request.device not in recorded:
        raise NotEstimatedError("no-baseline")
    return recorded[request.device]


def _cached_baseline(request: EstimateRequest) -> KernelEstimate:
    """The baseline's time from its source, or from the cache of the tools where it holds one."""
    assignment, timing, tools = request.assignment, request.timing, request.tools
    toolchain = (tools.toolchain.version, tools.toolchain.host_version)
    task = (timing.baseline, timing.shape, timing.inputs, request.device)
    entry = tools.cache and entry_for(tools.cache, (assignment.digest, request.seed, *task, *toolchain))
    estimate = entry and load(entry)
    if not estimate:
        built = build_of_staff(assignment, timing.baseline, tools)
        estimate = kind_of(assignment).estimating().estimated(request, built, None).estimate
        if entry:
            store(entry, estimate)
    return estimate


def build_of_staff(assignment: Assignment, name: str, tools: Tools) -> Build:
    """The build of one of the staff's files; raises OurError if it does not build."""
    kind = kind_of(assignment)
    submission = staff_submission(staff_kernel(assignment, name), kind.name)
    return require_built(kind.estimating().build_of(assignment, submission, tools), submission, kind.name)
