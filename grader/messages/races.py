"""Sentences for races: who does what to which element, where, and what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.messages.english import spell
from grader.model import FindingCode

if TYPE_CHECKING:
    from grader.model import Finding

EARLIER = {"RAW": "writes", "WAR": "reads", "WAW": "writes"}
LATER = {"RAW": "reads", "WAR": "overwrites", "WAW": "overwrites"}

MISSING = {
    FindingCode.RACE_BETWEEN_BLOCKS: "blocks run in any order, and nothing orders these two",
    FindingCode.RACE_WITH_COPY: (
        "the copy may still be under way: wait for it, and put a __syncthreads() after the wait"
    ),
    FindingCode.RACE_IN_BLOCK: "no __syncthreads() stands between the two",
    FindingCode.RACE_IN_WARP: (
        "both are in one warp, but no __syncthreads() and no __syncwarp() stands between the two"
    ),
}
"""What does not order the two accesses."""


def sentence(finding: Finding) -> str:
    """One sentence for a race of two threads; KeyError for a finding with another code."""
    missing = MISSING[finding.code]
    if finding.thread is None or finding.other_thread is None or finding.block is None:
        return "two threads race"
    later, earlier = f"thread {spell(finding.thread)}", f"thread {spell(finding.other_thread)}"
    if finding.other_block:
        later += f" of block {spell(finding.block)}"
        earlier += f" of block {spell(finding.other_block)}"
    else:
        later = f"in block {spell(finding.block)} {later}"
    at = f" on line {finding.line}" if finding.line else ""
    other_at = f" on line {finding.other_line}" if finding.other_line else ""
    return (
        f"{later} {LATER[finding.hazard]} {finding.address}{at}, which {earlier}"
        f" {EARLIER[finding.hazard]}{other_at}: {missing}"
    )
