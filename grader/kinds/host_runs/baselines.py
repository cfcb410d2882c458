"""Counters of the staff's programs and functions on the cases, which submissions are compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.errors import OurError
from grader.grading.assignment import recorded_counters, staff_kernel
from grader.grading.checks.traffic import TrafficCheck
from grader.kinds import kind_of, require_built, staff_submission
from grader.kinds.host_runs.running import run_cases
from grader.model.messages import clause
from grader.running.device.observation import Observation

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.kinds.host_runs.running import Task
    from grader.kinds.plan import Plan
    from grader.model import Build, CaseEvidence, Counters
    from grader.toolchain.nvcc import Tools


def with_baselines(plan: Plan, tools: Tools, task_of: Callable[[Build], Task]) -> Plan:
    """The plan with what each baseline of a `traffic` item moves on the item's cases.

    ``task_of`` says what runs of a build are given. Raises OurError where a baseline cannot be run.
    """
    recorded = recorded_counters(plan.assignment)
    if recorded is not None:
        return replace(plan, baselines=recorded)
    counters: dict[str, dict[str, Counters]] = {}
    of_traffic = tuple(TrafficCheck.in_rubric(plan.assignment.rubric))
    for name in dict.fromkeys(check.baseline for check in of_traffic if check.baseline):
        checks = [check for check in of_traffic if check.baseline == name]
        chosen = tuple(case for case in plan.cases if any(check.item.looks_at(case) for check in checks))
        for case in _run(replace(plan, cases=chosen, feedback=False), name, tools, task_of):
            moved = counters.setdefault(case.case.id, {})
            for check in checks:
                moved[check.baseline_key] = _of_kernel(case, check.kernel or "")
    return replace(plan, baselines=tuple((case, tuple(moved.items())) for case, moved in counters.items()))


def _run(plan: Plan, name: str, tools: Tools, task_of: Callable[[Build], Task]) -> tuple[CaseEvidence, ...]:
    """The cases of a baseline; raises OurError where it does not build, or one did not come to its end."""
    submission = staff_submission(staff_kernel(plan.assignment, name), "file")
    built = kind_of(plan.assignment).build(tools, submission, plan.assignment)
    require_built(built, submission, "file")
    observation = Observation(count_only=True)
    cases = run_cases(plan, submission, built, tools, task_of(built), observation=observation).cases
    for case in cases:
        reason = case.error or clause(case.too_much_work) or next((f.message for f in case.findings), "")
        if case.error or not case.completed or not case.kernels:
            reason = reason or "it launches no kernel"
            raise OurError(f"the baseline {submission.file} does not run in case {case.case.id}: {reason}")
    return cases


def _of_kernel(case: CaseEvidence, kernel: str) -> Counters:
    """Counters of a kernel of the baseline; those of all kernels where it has none of that name."""
    return next((moved.counters for moved in case.kernels if moved.kernel == kernel), case.counters)
