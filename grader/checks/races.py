"""`races`: no two threads at one element without an order between them, and no barrier that some miss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.checks.hazards import check_kinds
from grader.model import FindingKind

if TYPE_CHECKING:
    from grader.model import CheckResult, Evidence, RubricItem

KINDS = (FindingKind.RACE, FindingKind.BARRIER_DIVERGENCE, FindingKind.UNDEFINED)
"""A file that is two programs earns nothing: what holds for the one says little of the other."""


def check(item: RubricItem, evidence: Evidence) -> CheckResult:
    """Fail on a race or a diverging barrier in any of the item's cases."""
    return check_kinds(item, evidence, KINDS, "no race and no diverging barrier")
