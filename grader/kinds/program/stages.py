"""The stages of an assignment that asks for a whole program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.assignment import reference_folder
from grader.errors import OurError
from grader.kinds.program import running
from grader.kinds.program.outputs import verify
from grader.kinds.program.running import nothing
from grader.model import Build
from grader.oracle import load_oracle
from grader.plan import Plan, drawn_cases

if TYPE_CHECKING:
    from grader.backends.backend import Backend
    from grader.model import Assignment, Evidence, Named, Submission
    from grader.nvcc import Tools

__all__ = ["gather", "nothing", "plan"]


def plan(
    assignment: Assignment,
    seed: int,
    tools: Tools | None,
    *,
    visible_only: bool,
    backend: Backend,
) -> Plan:
    """Draw the cases; raises UsageError if the reference cannot tell what is asked."""
    if tools is None:
        raise OurError(f"the assignment {assignment.id} cannot be prepared without a compiler")
    verify(assignment, load_oracle(reference_folder(assignment)) if assignment.reference else None)
    return Plan(assignment, seed, drawn_cases(assignment, seed, visible_only=visible_only), (), backend)


def gather(
    plan: Plan,
    submission: Submission,  # noqa: ARG001 - all kinds have the same signature
    built: Build,
    tools: Tools | None,
) -> tuple[Evidence, Named[float]]:
    """Run the program case by case."""
    if tools is None:
        return nothing(plan, Build(ok=False, error="there is no compiler")), ()
    return running.gather(plan, built, tools), ()
