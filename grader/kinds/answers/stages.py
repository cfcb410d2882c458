"""The stages of an assignment that asks questions: nothing is compiled, and nothing runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.kinds.answers import nothing as no_answers
from grader.kinds.answers.evidence import gather as gather_answers
from grader.plan import Plan, drawn_cases

if TYPE_CHECKING:
    from grader.backends.backend import Backend
    from grader.model import Assignment, Build, Evidence, Named, Submission
    from grader.nvcc import Tools


def plan(
    assignment: Assignment,
    seed: int,
    tools: Tools | None,  # noqa: ARG001 - all kinds have the same signatures
    *,
    visible_only: bool,  # noqa: ARG001 - a question of a hidden item is asked all the same
    backend: Backend,  # noqa: ARG001 - as above
) -> Plan:
    """A case for each question."""
    return Plan(assignment, seed, drawn_cases(assignment, seed), ())


def gather(
    plan: Plan,
    submission: Submission,
    built: Build,  # noqa: ARG001 - as above
    tools: Tools | None,  # noqa: ARG001 - as above
) -> tuple[Evidence, Named[float]]:
    """Read the answers, each beside what the model computes."""
    return gather_answers(plan, submission), ()


def nothing(plan: Plan, built: Build) -> Evidence:  # noqa: ARG001 - as above
    """The evidence where no answer could be read."""
    return no_answers(built)
