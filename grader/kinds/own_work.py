"""Cases that the emulator gave up although the model solution comes to its end there.

What takes too much work for anyone says nothing of a submission, and its points are set apart. Where the
model solution ends, the work is the submission's own: it may hang, or may be meant not to be judged. That is
a question to the staff, whose points stay in the maximum.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.errors import OurError, UsageError
from grader.grading.assignment import staff_kernel
from grader.grading.assignment.bundled import SOLUTION
from grader.grading.checks.speedup import SpeedupCheck
from grader.kinds import kind_of, staff_submission
from grader.kinds.plan import size
from grader.running.backends.emulator import EMULATOR

if TYPE_CHECKING:
    from grader.kinds.plan import Plan
    from grader.model import Case, Evidence, Submission
    from grader.toolchain.nvcc import Tools

_ends: dict[tuple[str, bytes, int, int, Case], bool] = {}
"""True where the model solution ends, by assignment, solution, seed, limit and case: see `_solution_ends`.

A class hands in what takes too much work more than once, and the solution is run for the first of it.
"""


def with_own_work(plan: Plan, submission: Submission, evidence: Evidence, tools: Tools | None) -> Evidence:
    """The evidence, in which cases that were given up say whether that is the submission's own doing.

    Where the assignment has no model solution, as students have it, or the submission is the solution, it
    stays unknown.
    """
    if tools is None or not plan.compares_work:
        return evidence
    solution = _solution(plan)
    if solution is None or solution.source == submission.source:
        return evidence
    cases = tuple(
        replace(case, is_own_work=True)
        if case.too_much_work and _solution_ends(plan, solution, case.case, tools)
        else case
        for case in evidence.cases
    )
    return replace(evidence, cases=cases)


def _solution(plan: Plan) -> Submission | None:
    """The model solution; None where there is none to be read."""
    try:
        return staff_submission(staff_kernel(plan.assignment, SOLUTION), "model solution")
    except (OurError, UsageError):
        return None


def _solution_ends(plan: Plan, solution: Submission, case: Case, tools: Tools) -> bool:
    """True if the emulator runs the model solution to its end in a case, with the limits of a submission."""
    key = (plan.assignment.digest, solution.source, plan.seed, plan.steps, case)
    if key not in _ends:
        alone = _alone(plan, case)
        kind = kind_of(alone.assignment)
        try:
            built = kind.build(tools, solution, alone.assignment)
            cases = kind.gather(alone, solution, built, tools)[0].cases
        except OurError:
            cases = ()
        _ends[key] = any(shown.completed and not (shown.error or shown.too_much_work) for shown in cases)
    return _ends[key]


def _alone(plan: Plan, case: Case) -> Plan:
    """The plan of one case on the emulator, with the work that the case has among all, and nothing timed."""
    untimed = tuple(item for item in plan.assignment.rubric if item.check != SpeedupCheck.name)
    return replace(
        plan,
        assignment=replace(plan.assignment, rubric=untimed),
        cases=(case,),
        baselines=(),
        backend=EMULATOR,
        timing=None,
        feedback=False,
        estimates=False,
        everything=plan.everything or sum(map(size, plan.cases)),
    )
