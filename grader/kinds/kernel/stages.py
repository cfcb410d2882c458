"""The stages of an assignment that asks for a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.kinds.kernel.evidence import gather as gather_kernel
from grader.kinds.kernel.planning import plan
from grader.kinds.kernel.speed import untimed
from grader.model import Build, Evidence

if TYPE_CHECKING:
    from grader.model import Named, Submission
    from grader.nvcc import Tools
    from grader.plan import Plan

__all__ = ["gather", "nothing", "plan"]


def gather(
    plan: Plan, submission: Submission, built: Build, tools: Tools | None
) -> tuple[Evidence, Named[float]]:
    """Run the kernels case by case."""
    if tools is None:
        return nothing(plan, Build(ok=False, error="there is no compiler")), ()
    return gather_kernel(plan, submission, built, tools)


def nothing(plan: Plan, built: Build) -> Evidence:
    """The evidence where no kernel could be run."""
    backend = plan.backend
    return Evidence(
        backend.name,
        built,
        device=backend.device,
        timing=untimed(plan),
        measures_time=backend.measures_time,
    )
