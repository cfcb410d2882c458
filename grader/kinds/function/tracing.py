"""A trace of one launch of a function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.kinds.function.stages import task_of
from grader.kinds.host_runs.tracing import scene_of

if TYPE_CHECKING:
    from grader.kinds import TraceRequest
    from grader.model import Assignment, Submission
    from grader.model.trace import TraceScene
    from grader.toolchain.nvcc import Tools


def scene(assignment: Assignment, submission: Submission, tools: Tools, request: TraceRequest) -> TraceScene:
    """The trace of a launch of a function; raises UsageError where there is no such launch."""
    return scene_of(assignment, submission, tools, request, task_of)
