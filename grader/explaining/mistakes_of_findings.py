"""The table of mistakes that findings suggest: those to repair first in front, in that order.

`causes` decides between those that depend on what else is known of a submission: they have no code here.
"""

from __future__ import annotations

from grader.base.records import frozen
from grader.model import FindingCode, FindingKind, SourceRemark


@frozen
class SuggestedMistake:
    """A mistake, and the findings that suggest it whatever else is known: its texts stand under its id."""

    id: str
    codes: tuple[FindingCode, ...] = ()
    kind: FindingKind | None = None
    """Kind of findings that suggest it where their code and memory suggest no other."""
    remark: SourceRemark | None = None
    """Remark about a source text that shows it, whatever the text did."""
    ending: str = ""
    """End of the run of a whole program, as its finding's ``hazard`` says: no kernel's fault."""


FIRST = (
    SuggestedMistake("local-without-value", (FindingCode.UNSET_VARIABLE,)),
    SuggestedMistake("local-set-by-some", (FindingCode.UNSET_IN_SOME_THREADS,)),
    SuggestedMistake("barrier-divergence", kind=FindingKind.BARRIER_DIVERGENCE),
    SuggestedMistake(
        "lanes-and-mask",
        (
            FindingCode.LANES_MISSING,
            FindingCode.WARP_LANES_MISSING,
            FindingCode.LANES_UNNAMED,
            FindingCode.WARP_INCOMPLETE,
        ),
    ),
    SuggestedMistake("guard-exchanged"),
    SuggestedMistake("pointer-without-memory"),
    SuggestedMistake("index-before-start"),
    SuggestedMistake("row-length-of-store"),
    SuggestedMistake("row-length-of-load"),
    SuggestedMistake("store-into-next-row"),
    SuggestedMistake("store-beyond-vector"),
    SuggestedMistake("load-beyond-vector"),
    SuggestedMistake("store-out-of-bounds"),
    SuggestedMistake("load-out-of-bounds"),
    SuggestedMistake("store-beyond-own-array"),
    SuggestedMistake("load-beyond-own-array"),
    SuggestedMistake("access-out-of-bounds"),
    SuggestedMistake("race-between-blocks"),
    SuggestedMistake("barrier-before-reading"),
    SuggestedMistake("barrier-before-overwriting"),
)
"""Mistakes to repair first, in this order."""

OTHERS = (
    SuggestedMistake("barrier-between"),
    SuggestedMistake("barrier-between-stores"),
    SuggestedMistake("update-in-place"),
    SuggestedMistake("two-writers"),
    SuggestedMistake("unsynchronised-update"),
    SuggestedMistake("race-inside-warp"),
    SuggestedMistake("sizes-exchanged"),
    SuggestedMistake("shared-arrays-overlap", remark=SourceRemark.ONE_ADDRESS),
    SuggestedMistake("loop-stepped-twice", remark=SourceRemark.STEPPED_TWICE),
    SuggestedMistake("misaligned-access", kind=FindingKind.MISALIGNED),
    SuggestedMistake("uninitialised-read", kind=FindingKind.UNINITIALISED),
    SuggestedMistake("memory-never-filled"),
    SuggestedMistake("endless", kind=FindingKind.TIMEOUT),
    SuggestedMistake("fault", kind=FindingKind.FAULT),
    SuggestedMistake("written-by-hand", kind=FindingKind.UNSUPPORTED),
    SuggestedMistake("texture-fetch"),
    SuggestedMistake("stack-overflow", (FindingCode.STACK_OVERFLOW,)),
    SuggestedMistake("constant-not-allowed"),
    SuggestedMistake("launch-shared-memory", (FindingCode.LAUNCH_SHARED_MEMORY,)),
    # what only the device knows, registers and threads, makes it refuse a launch
    SuggestedMistake("launch-too-large", (FindingCode.LAUNCH_TOO_LARGE, FindingCode.LAUNCH_REFUSED)),
    SuggestedMistake("launch-too-small", (FindingCode.LAUNCH_TOO_SMALL, FindingCode.LAUNCH_NOT_COMPUTED)),
    SuggestedMistake("variable-too-small", (FindingCode.VARIABLE_TOO_SMALL,)),
    SuggestedMistake("program-endless", ending="time"),
    SuggestedMistake("program-memory", ending="memory"),
    SuggestedMistake("program-flood", ending="output-limit"),
    SuggestedMistake("program-crash", ending="signal"),
    SuggestedMistake("program-throws", ending="exception"),
    SuggestedMistake("function-ends-program", ending="exit"),
    SuggestedMistake("host-never-copied-back"),
    SuggestedMistake("call-failed"),
    SuggestedMistake("addresses-sent"),
    SuggestedMistake("index-unread"),
    SuggestedMistake("part-left"),
)
"""Mistakes that come after those, in the order of their findings."""

OF_FINDINGS = (*FIRST, *OTHERS)

BY_CODE = {code: one.id for one in OF_FINDINGS for code in one.codes}
BY_KIND = {one.kind: one.id for one in OF_FINDINGS if one.kind}
BY_REMARK = {one.remark: one.id for one in OF_FINDINGS if one.remark}
BY_ENDING = {one.ending: one.id for one in OF_FINDINGS if one.ending}

_POSITIONS = {one.id: index for index, one in enumerate(FIRST)}


def position(name: str) -> int:
    """Position of a mistake among those to repair first; the same for all others, behind them."""
    return _POSITIONS.get(name, len(FIRST))
