"""The stages of an assignment that asks for a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader import gpu
from grader.backends import emulator
from grader.kinds.kernel.evidence import gather as gather_kernel
from grader.kinds.kernel.planning import plan
from grader.kinds.kernel.speed import untimed
from grader.model import Build, Evidence
from grader.nvcc import build_with

if TYPE_CHECKING:
    from grader.model import Named, Submission
    from grader.nvcc import Tools
    from grader.plan import Plan

__all__ = ["build", "gather", "nothing", "plan"]


def build(plan: Plan, submission: Submission, tools: Tools | None) -> Build:
    """Build the kernels; a failure of ours is in the record's ``error``."""
    return build_with(tools, submission, plan.assignment.interface, plan.architecture)


def gather(
    plan: Plan, submission: Submission, built: Build, tools: Tools | None
) -> tuple[Evidence, Named[float]]:
    """Run the kernels case by case."""
    if tools is None:
        return nothing(plan, Build(ok=False, error="there is no compiler")), ()
    return gather_kernel(plan, submission, built, tools)


def nothing(plan: Plan, built: Build) -> Evidence:
    """The evidence where no kernel could be run."""
    if plan.station is None:
        return Evidence(emulator.NAME, built, device=emulator.DEVICE)
    return Evidence(gpu.NAME, built, device=plan.station.devices, timing=untimed(plan))
