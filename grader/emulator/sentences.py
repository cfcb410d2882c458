"""Findings and sentences for races: who does what to which element, where, and what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.emulator.machine.geometry import unflatten
from grader.model import Finding, FindingCode, FindingKind, Severity
from grader.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.emulator.machine.geometry import Geometry
    from grader.emulator.races.conflicts import Conflict
    from grader.model import Dim3


_MOST = 3
"""Lines that are named."""


def spell(index: Dim3) -> str:
    """``(3, 5)``: a thread or block index without a z that is 0."""
    x, y, z = index
    return f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


def on_lines(lines: Iterable[int], last: str = "and") -> str:
    """``on line 3``, ``on lines 3, 5 and 9``; no more than three are named, each once."""
    words = [str(line) for line in sorted(set(lines))]
    if len(words) > _MOST:
        words[_MOST:] = ["others"]
    return f"on line{'s' if len(words) > 1 else ''} {listed(words, last)}"


_EARLIER = {"RAW": "writes", "WAR": "reads", "WAW": "writes"}
_LATER = {"RAW": "reads", "WAR": "overwrites", "WAW": "overwrites"}
_BETWEEN = {
    "block": "blocks run in any order, and nothing orders these two",
    "copy": "the copy may still be under way: wait for it, and put a __syncthreads() after the wait",
    "warp": "no __syncthreads() stands between the two",
    "lane": "both are in one warp, but no __syncthreads() and no __syncwarp() stands between the two",
}


_CODES = {
    "block": FindingCode.RACE_BETWEEN_BLOCKS,
    "copy": FindingCode.RACE_WITH_COPY,
    "warp": FindingCode.RACE_IN_BLOCK,
    "lane": FindingCode.RACE_IN_WARP,
}


def race_finding(geometry: Geometry, space: str, conflict: Conflict, element: str) -> Finding:
    """A race without its lines and its sentence."""
    severity = Severity.WARNING if conflict.level == "lane" else Severity.ERROR
    lane, other = conflict.lane, conflict.other_lane
    return Finding(
        FindingKind.RACE,
        "",
        hazard=conflict.hazard,
        block=geometry.block_index(lane) if space == "shared" else _block(geometry, lane),
        thread=geometry.thread_index(lane),
        other_block=_block(geometry, other) if conflict.level == "block" else None,
        other_thread=geometry.thread_index(other),
        address=element,
        severity=Severity.INFO if conflict.silent else severity,
        code=_CODES[conflict.level],
    )


def _block(geometry: Geometry, lane: int) -> Dim3:
    """The block of a lane counted over the whole launch."""
    return unflatten(lane // geometry.threads, geometry.launch.grid)


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
