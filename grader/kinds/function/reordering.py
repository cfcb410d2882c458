"""Whether a wrong function is right when its parameters come in another order.

The wrong cases are called again with the arguments in the order of the names that the file gives its
parameters; where the names tell nothing, with the sizes in every other order, if they are few
(`grader.kinds.kernel.further_runs`). Only an order that makes every wrong case right that students see is
believed. It is a courtesy: it changes no verdict, and where anything goes wrong nothing is said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.device.observation import Observation
from grader.errors import log_swallowed
from grader.kinds.kernel.further_runs import orders
from grader.kinds.program.running import run_cases
from grader.messages import worded
from grader.model import Finding, FindingCode, FindingKind, SourceRemark, Visibility
from grader.nvcc.function import line_of_definition

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.kinds.kernel.further_runs import Order
    from grader.kinds.program.running import Task
    from grader.model import Build, Case, CaseEvidence, Submission
    from grader.nvcc import Tools
    from grader.plan import Plan

MOST_SECONDS = 2.0
"""What each call may take at most."""


def with_order(
    plan: Plan,
    submission: Submission,
    built: Build,
    tools: Tools,
    cases: tuple[CaseEvidence, ...],
    task: Callable[[Order], Task],
) -> Build:
    """The build, with a remark on its parameters if another order of them makes the wrong cases right."""
    visible = [case for case in cases if case.case.visibility is Visibility.VISIBLE]
    wrong = tuple(case.case for case in visible if not _is_right(case))
    if not wrong or any(case.error or case.too_much_work or _hangs(case) for case in visible):
        return built
    parameters = plan.assignment.function.parameters
    try:
        for order in orders(parameters, built.parameters):
            if all(_is_right_so(plan, submission, built, tools, case, task(order)) for case in wrong):
                remark = _remark(plan, submission, order)
                return replace(built, suspicions=(*built.suspicions, remark))
    except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
        log_swallowed("calling a function with its parameters in another order")
    return built


def _is_right_so(
    plan: Plan, submission: Submission, built: Build, tools: Tools, case: Case, task: Task
) -> bool:
    """Whether a case is right where the task calls the function."""
    interface = plan.assignment.function
    program = replace(interface.program, seconds=min(MOST_SECONDS, interface.program.seconds))
    assignment = replace(plan.assignment, interface=replace(interface, program=program))
    one = replace(plan, assignment=assignment, cases=(case,), feedback=False)
    ran = run_cases(one, submission, built, tools, task, observation=Observation(count_only=True))
    return all(map(_is_right, ran.cases))


def _is_right(case: CaseEvidence) -> bool:
    """Whether a call came to its end and left right results."""
    wrong = any(comparison.wrong for comparison in case.comparisons) or case.changed_inputs
    return case.completed and not case.error and bool(case.comparisons) and not wrong


def _hangs(case: CaseEvidence) -> bool:
    return case.program is not None and case.program.ending == "time"


def _remark(plan: Plan, submission: Submission, order: Order) -> Finding:
    """That the function is right in this order, and in which it is called."""
    interface = plan.assignment.function
    names = [parameter.name for parameter in interface.parameters]
    details = {
        "function": interface.function,
        "taken": ", ".join(names[position] for position in order),
        "passed": ", ".join(names),
    }
    return worded(
        Finding(
            FindingKind.MISTAKE,
            hazard=SourceRemark.OTHER_ORDER,
            line=line_of_definition(submission.source, interface),
            code=FindingCode.FUNCTION_ORDER,
            details=tuple(details.items()),
        )
    )
