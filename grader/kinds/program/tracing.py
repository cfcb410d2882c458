"""A trace of one launch of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.grading.assignment import reference_folder
from grader.grading.oracle import load_oracle
from grader.kinds.host_runs.tracing import scene_of
from grader.kinds.program.stages import task_of

if TYPE_CHECKING:
    from grader.kinds import TraceRequest
    from grader.model import Assignment, Submission
    from grader.model.trace import TraceScene
    from grader.toolchain.nvcc import Tools


def scene(assignment: Assignment, submission: Submission, tools: Tools, request: TraceRequest) -> TraceScene:
    """The trace of a launch of a program; raises UsageError where there is no such launch."""
    oracle = load_oracle(reference_folder(assignment)) if assignment.reference else None
    return scene_of(
        assignment, submission, tools, request, lambda _, built: task_of(assignment, built, oracle)
    )
