"""Sentences for races: who does what to which element, where, and what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.model import Dim3, Finding


def spell(index: Dim3) -> str:
    """``(3, 5)``: a thread or block index without a z that is 0."""
    x, y, z = index
    return f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


_EARLIER = {"RAW": "writes", "WAR": "reads", "WAW": "writes"}
_LATER = {"RAW": "reads", "WAR": "overwrites", "WAW": "overwrites"}
_BETWEEN = {
    "block": "blocks run in any order, and nothing orders these two",
    "warp": "no __syncthreads() stands between the two",
    "lane": "both are in one warp, but no __syncthreads() and no __syncwarp() stands between the two",
}


def race_sentence(finding: Finding, level: str) -> str:
    """One sentence for a race: who does what to which element, where, and what is missing."""
    if finding.thread is None or finding.other_thread is None or finding.block is None:
        return "two threads race"
    later, earlier = f"thread {spell(finding.thread)}", f"thread {spell(finding.other_thread)}"
    if finding.other_block:
        later += f" of block {spell(finding.block)}"
        earlier += f" of block {spell(finding.other_block)}"
    else:
        later = f"in block {spell(finding.block)} {later}"
    here = f" on line {finding.line}" if finding.line else ""
    there = f" on line {finding.other_line}" if finding.other_line else ""
    return (
        f"{later} {_LATER[finding.hazard]} {finding.address}{here}, which {earlier}"
        f" {_EARLIER[finding.hazard]}{there}: {_BETWEEN[level]}"
    )
