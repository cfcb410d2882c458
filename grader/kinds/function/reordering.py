"""Test whether a wrong function is right when its parameters come in another order.

The wrong cases are called again with the arguments in other orders (`grader.kinds.attempts.orders`). Only an
order that makes every wrong case right that students see is accepted. It is a courtesy: it changes no
verdict, and where anything goes wrong nothing is reported.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.kinds.attempts.orders import right_order
from grader.model import Finding, FindingCode, FindingKind, SourceRemark, Visibility
from grader.model.messages import worded
from grader.toolchain.nvcc.function import line_of_definition

if TYPE_CHECKING:
    from grader.kinds.attempts.orders import Order
    from grader.kinds.function.calling import FurtherCalls
    from grader.kinds.plan import Plan
    from grader.model import Build, CaseEvidence, Submission

MOST_SECONDS = 2.0
"""Most seconds that each call may take."""


def with_order(further: FurtherCalls, cases: tuple[CaseEvidence, ...]) -> Build:
    """The build, with a remark on its parameters if another order of them makes the wrong cases right."""
    built = further.built
    visible = [case for case in cases if case.case.visibility is Visibility.VISIBLE]
    wrong = tuple(case.case for case in visible if not _is_right(case))
    if not wrong or any(case.error or case.too_much_work or _hangs(case) for case in visible):
        return built
    program = replace(further.program, seconds=min(MOST_SECONDS, further.program.seconds))

    def is_right(order: Order) -> bool:
        task = further.task_with(further.oracle, order)
        return all(_is_right(*further.in_cases((case,), task, program)) for case in wrong)

    order = right_order(further.plan.assignment.function.parameters, built.parameters, is_right)
    if order is None:
        return built
    return replace(built, suspicions=(*built.suspicions, _remark(further.plan, further.submission, order)))


def _is_right(case: CaseEvidence) -> bool:
    """True if a call came to its end and left right results."""
    wrong = any(comparison.wrong for comparison in case.comparisons) or case.changed_inputs
    return case.completed and not case.error and bool(case.comparisons) and not wrong


def _hangs(case: CaseEvidence) -> bool:
    return case.program is not None and case.program.ending == "time"


def _remark(plan: Plan, submission: Submission, order: Order) -> Finding:
    """Finding that the function is right in this order, with the order in which it is called."""
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
