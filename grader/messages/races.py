"""Sentences for races: who does what to which element, where, and what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model import Clause, FindingCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.model import Detail, Dim3, Finding

_PAIR = "{later} {overwrites} {element}{at}, which {earlier} {writes}{other_at}: "
_UNDEFINED = (
    "the code relies on something that C++ leaves undefined: an assumption that does not hold, a signed sum "
    "that overflows, an index or a shift out of range, a variable without a value, a loop without an end"
)

SENTENCES: Mapping[FindingCode, str] = {
    FindingCode.RACE_BETWEEN_BLOCKS: _PAIR + "blocks run in any order, and nothing orders these two",
    FindingCode.RACE_WITH_COPY: (
        _PAIR + "the copy may still be under way: wait for it, and put a __syncthreads() after the wait"
    ),
    FindingCode.RACE_IN_BLOCK: _PAIR + "no __syncthreads() stands between the two",
    FindingCode.RACE_IN_WARP: (
        _PAIR + "both are in one warp, but no __syncthreads() and no __syncwarp() stands between the two"
    ),
    FindingCode.RACE_REPORTED: "{pair}, and nothing orders the two",
    FindingCode.DEPENDS_ON_ORDER: (
        "`{element}` is wrong when one warp runs ahead of the others: what threads read depends on who comes "
        "first, and atomic or volatile accesses make nobody wait"
    ),
    FindingCode.BUILDS_DIFFER: "{difference}: " + _UNDEFINED,
    FindingCode.OUTPUT_DIFFERS_BETWEEN_BUILDS: "{difference}: " + _UNDEFINED,
}
"""What is said of a visible case, by code, with fields for the finding's data."""

CLAUSES: Mapping[str, str] = {
    "overwrites": "overwrites",
    "thread": "thread {thread}",
    "thread-in-block": "in block {block} thread {thread}",
    "thread-of-block": "thread {thread} of block {block}",
    "some-thread": "a thread",
    "another-thread": "another",
    "at-line": " on line {line}",
    "two-threads-read": "two threads read the same place in shared memory{at}",
    "two-threads-write": "two threads write the same place in shared memory{at}",
    "two-threads-use": "two threads use the same place in shared memory{at}",
    "one-and-another": "one thread {verb} a place in shared memory{at} that another {other_verb}{other_at}",
    "barriers-differ": (
        "threads arrive at barriers {graded:,} times when optimised and {unoptimised:,} when not"
    ),
    "stores-differ": "it stores {graded:,} bytes when optimised and {unoptimised:,} when not",
    "right-when-optimised": "`{array}` is right in the optimised program and wrong in the unoptimised one",
    "right-when-unoptimised": "`{array}` is right in the unoptimised program and wrong in the optimised one",
}

_EARLIER = {"RAW": "writes", "WAR": "reads", "WAW": "writes"}
_LATER = {"RAW": "reads", "WAR": "overwrites", "WAW": "overwrites"}


def at_line(line: int | None) -> tuple[Clause, ...]:
    """`` on line 7``, or nothing where the line is not known."""
    return (Clause("at-line", (("line", line),)),) if line else ()


def spell(index: Dim3) -> str:
    """``(3, 5)``: a thread or block index without a z that is 0."""
    x, y, z = index
    return f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


def fields(finding: Finding) -> dict[str, Detail]:
    """What the sentence of a race holds of the finding's own fields."""
    later, earlier = _threads(finding)
    return {
        "later": (later,),
        "overwrites": (Clause(_LATER.get(finding.hazard, "uses")),),
        "at": at_line(finding.line),
        "earlier": (earlier,),
        "writes": (Clause(_EARLIER.get(finding.hazard, "uses")),),
        "other_at": at_line(finding.other_line),
    }


def _threads(finding: Finding) -> tuple[Clause, Clause]:
    """The thread that came later, and the one before, each with its block where they are of two."""
    if finding.thread is None or finding.other_thread is None or finding.block is None:
        return Clause("some-thread"), Clause("another-thread")
    later, earlier = ("thread", spell(finding.thread)), ("thread", spell(finding.other_thread))
    block = ("block", spell(finding.block))
    if finding.other_block is None:
        return Clause("thread-in-block", (later, block)), Clause("thread", (earlier,))
    other = ("block", spell(finding.other_block))
    return Clause("thread-of-block", (later, block)), Clause("thread-of-block", (earlier, other))
