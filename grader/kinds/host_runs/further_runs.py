"""Further runs of host code, beside the graded ones: to explain these, or to find who computes their results.

They look for no hazards and count against nothing; a run takes little more time than the graded one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.kinds.host_runs.running import run_cases

if TYPE_CHECKING:
    from grader.kinds.host_runs.running import Task
    from grader.kinds.plan import Plan
    from grader.model import Assignment, Build, Case, CaseEvidence, ProgramInterface, Submission
    from grader.running.device.observation import Observation
    from grader.toolchain.nvcc import Tools

_LEAST_SECONDS, _TIMES = 2.0, 2
"""Most seconds that a further run may take, if the graded one was short, and as a multiple of its time."""


def further_seconds(graded: CaseEvidence, program: ProgramInterface) -> float:
    """Seconds that a further run of a graded case may take: never more than a graded run may."""
    return min(max(_LEAST_SECONDS, _TIMES * graded.seconds), program.seconds)


def run_further(
    plan: Plan,
    submission: Submission,
    built: Build,
    tools: Tools,
    task: Task,
    cases: tuple[Case, ...],
    program: ProgramInterface,
    observation: Observation,
) -> tuple[CaseEvidence, ...]:
    """Evidence of a further run in each of these cases, within the limits of ``program``."""
    assignment = _within_limits(plan.assignment, program)
    further = replace(plan, assignment=assignment, cases=cases, baselines=(), feedback=False)
    graded_seconds = plan.assignment.program.seconds
    return run_cases(
        further, submission, built, tools, task, observation=observation, graded_seconds=graded_seconds
    ).cases


def _within_limits(assignment: Assignment, program: ProgramInterface) -> Assignment:
    """The assignment with other limits for its program, or for the program that calls its function."""
    called = assignment.interface.called_function
    return replace(assignment, interface=program if called is None else replace(called, program=program))
