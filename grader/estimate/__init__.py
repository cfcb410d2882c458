"""How fast a kernel would be on a GPU that is not at hand, by its machine code and its accesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.model import Estimate, Named, Submission
    from grader.nvcc import Tools
    from grader.plan import Plan


def estimate_submission(
    plan: Plan, submission: Submission, tools: Tools, device: str, shape: Named[int]
) -> Estimate:
    """The estimated speed of a submission beside the baseline of the plan's assignment, at a shape."""
    raise NotImplementedError
