"""Which mistake a finding suggests, by its kind and by what else is known of the submission.

A race is read as follows (the emulator's convention): ``hazard`` is second access after first, ``line`` and
``thread`` belong to the second access, ``other_line`` and ``other_thread`` to the first. So in a RAW ``line``
reads what ``other_line`` writes, and in a WAR ``line`` overwrites what ``other_line`` reads.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.diagnosis.surroundings import NOWHERE
from grader.model import FindingCode, FindingKind, Severity, SourceRemark
from grader.ptx.by_hand import needs_texture

if TYPE_CHECKING:
    from grader.diagnosis.surroundings import Surroundings
    from grader.model import Finding

EXCHANGED = frozenset({"parameter-order"})
"""What an output shows where the kernel takes one size for another: its guards are of no use then."""

ARRAY = re.compile(r"(?!local$|shared$|0x)[A-Za-z_$][\w$]*$", re.ASCII)
"""The name of an array; the emulator also gives addresses and places."""

SIMPLE = {
    FindingKind.BARRIER_DIVERGENCE: "barrier-divergence",
    FindingKind.MISALIGNED: "misaligned-access",
    FindingKind.UNINITIALISED: "uninitialised-read",
    FindingKind.TIMEOUT: "endless",
    FindingKind.FAULT: "fault",
    FindingKind.UNSUPPORTED: "written-by-hand",
}

OF_SOURCE = {
    SourceRemark.ONE_ADDRESS: "shared-arrays-overlap",
    SourceRemark.STEPPED_TWICE: "loop-stepped-twice",
}
"""What a text shows, whatever it did."""

ENDINGS = {
    "time": "program-endless",
    "memory": "program-memory",
    "output-limit": "program-flood",
    "signal": "program-crash",
}
"""How the run of a whole program ended, as its finding's ``hazard`` says: no kernel's fault."""

IMPORTANCE = (
    "local-without-value",
    "barrier-divergence",
    "lanes-and-mask",
    "guard-exchanged",
    "row-length-of-store",
    "row-length-of-load",
    "store-into-next-row",
    "store-beyond-vector",
    "load-beyond-vector",
    "store-out-of-bounds",
    "load-out-of-bounds",
    "store-beyond-own-array",
    "load-beyond-own-array",
    "access-out-of-bounds",
    "race-between-blocks",
    "barrier-before-reading",
    "barrier-before-overwriting",
)
"""Repair these first, in this order; the others come as they were found."""

BY_CODE = {
    FindingCode.UNSET_VARIABLE: "local-without-value",
    FindingCode.STACK_OVERFLOW: "stack-overflow",
    FindingCode.LANES_MISSING: "lanes-and-mask",
    FindingCode.WARP_LANES_MISSING: "lanes-and-mask",
    FindingCode.LANES_UNNAMED: "lanes-and-mask",
    FindingCode.WARP_INCOMPLETE: "lanes-and-mask",
    FindingCode.LAUNCH_SHARED_MEMORY: "launch-shared-memory",
    FindingCode.LAUNCH_TOO_LARGE: "launch-too-large",
    FindingCode.LAUNCH_REFUSED: "launch-too-large",  # of what only the device knows: registers and threads
    FindingCode.LAUNCH_TOO_SMALL: "launch-too-small",
    FindingCode.LAUNCH_NOT_COMPUTED: "launch-too-small",
}
"""Mistakes that a finding's code shows, whatever else is known."""

GUARDS = frozenset({"guard-bounds-swapped", "rows-and-columns-swapped"})
"""What an output shows where the bounds of a guard are exchanged, or may be."""


def mistake_behind(finding: Finding, around: Surroundings = NOWHERE) -> str:
    """The id of the mistake, empty where a finding suggests none."""
    if finding.hazard in ENDINGS:
        return ENDINGS[finding.hazard]
    if finding.kind is FindingKind.MISTAKE and finding.hazard in OF_SOURCE:
        return OF_SOURCE[SourceRemark(finding.hazard)]
    if finding.kind is FindingKind.OUT_OF_BOUNDS:
        return _out_of_bounds(finding, around)
    if finding.kind is FindingKind.RACE:
        # Which order is missing is not known of a hidden case, whose data could have chosen it.
        return _spilled(finding, around) or (_race(finding, around) if finding.hazard else "")
    if finding.kind is FindingKind.UNSUPPORTED and needs_texture(finding.hazard):
        return "texture-fetch"
    return BY_CODE.get(finding.code) or SIMPLE.get(finding.kind, "")


def _out_of_bounds(finding: Finding, around: Surroundings) -> str:
    """A load or a store that leaves its array; or what the output shows."""
    array, way = finding.array, finding.direction
    if way and ARRAY.match(array) and around.arrays and array not in around.arrays:
        return f"{way}-beyond-own-array"
    if around.shown in EXCHANGED:
        return "sizes-exchanged"
    if array in around.vectors and way:
        return f"{way}-beyond-vector"
    if around.shown in GUARDS:
        return "guard-exchanged"
    if way and array and array == around.misread:
        return f"row-length-of-{way}"
    return f"{way or 'access'}-out-of-bounds"


def _spilled(finding: Finding, around: Surroundings) -> str:
    """A race of a store that also leaves its array: what it stores beyond a row lies in the next one."""
    array = finding.array
    if not around.spilled & {(array, finding.line), (array, finding.other_line)}:
        return ""
    return "guard-exchanged" if around.shown in GUARDS else "store-into-next-row"


def _race(finding: Finding, around: Surroundings) -> str:
    """Which order is missing."""
    same = finding.line is not None and finding.line == finding.other_line
    if finding.other_block is not None and finding.other_block != finding.block:
        return "race-between-blocks"
    if finding.severity is Severity.WARNING:
        return "race-inside-warp"
    if finding.hazard == "WAW":
        return _stores(same=same or finding.line is None, around=around)
    if around.rewritten & {(finding.array, finding.line), (finding.array, finding.other_line)}:
        return "unsynchronised-update"  # no barrier helps where several threads store to one element
    return "update-in-place" if same else _barrier(finding)


def _barrier(finding: Finding) -> str:
    """Which barrier is missing between a read and a write on different lines."""
    if finding.hazard == "RAW":
        return "barrier-before-reading"
    return "barrier-before-overwriting" if _goes_back(finding) else "barrier-between"


def _stores(*, same: bool, around: Surroundings) -> str:
    """Two stores to one element, on the same line or not."""
    if not same:
        return "barrier-between-stores"
    return "store-into-next-row" if around.shown == "store-unguarded" else "two-writers"


def _goes_back(finding: Finding) -> bool:
    """Whether the second access stands above the first: then a loop lies between them."""
    return finding.line is None or finding.other_line is None or finding.line < finding.other_line
