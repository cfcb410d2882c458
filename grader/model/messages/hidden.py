"""Sentences by the kind of a finding alone: of hidden cases, and where no more is known.

Of a hidden case block, thread, element and count would give away its shape, so that these say the kind, the
array and perhaps the lines.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.base.text import sentence as one_sentence
from grader.model import Clause, FindingKind
from grader.model.messages.hazards import at_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.model import Detail, Dim3, Finding

FIELDS = frozenset({"what", "at", "other_at", "at_both", "who"})
"""Fields of a sentence: an array, the two lines apart or together, and of visible cases who it was."""

SENTENCES: Mapping[str, str] = {
    FindingKind.COMPILE: "the submission does not compile{at}{who}",
    FindingKind.WRONG_OUTPUT: "an output is wrong{at}{who}",
    FindingKind.RACE: "two threads use {what} without waiting{at_both}{who}",
    "race-raw": "one thread reads {what}{at} while another is still writing it{other_at}{who}",
    "race-war": "one thread overwrites {what}{at} while another is still reading it{other_at}{who}",
    "race-waw": "two threads write {what} at the same time{at_both}{who}",
    FindingKind.OUT_OF_BOUNDS: "a thread goes outside {what}{at}{who}",
    "out-of-bounds-load": "a thread reads outside {what}{at}{who}",
    "out-of-bounds-store": "a thread writes outside {what}{at}{who}",
    FindingKind.MISALIGNED: "a thread uses {what} at an address that does not fit its type{at}{who}",
    FindingKind.UNINITIALISED: "a thread reads {what} before anything was stored there{at}{who}",
    FindingKind.BARRIER_DIVERGENCE: (
        "some threads of a block wait at `__syncthreads()`{at} and the others never get there{who}"
    ),
    FindingKind.FAULT: "the kernel stopped with a fault{at}{who}",
    "fault-program": "the program did not come to its end{at}{who}",
    FindingKind.TIMEOUT: "the kernel did not come to an end{at}{who}",
    "timeout-program": "the program did not come to its end{at}{who}",
    FindingKind.SLOW: "the kernel is slow{at}{who}",
    FindingKind.TRAFFIC: "the kernel moves too much memory{at}{who}",
    FindingKind.MISTAKE: "there is a known mistake{at}{who}",
    FindingKind.STRUCTURE: "the kernel is not built as was asked{at}{who}",
    FindingKind.ANSWER: "an answer is not what was asked for{at}{who}",
    FindingKind.UNSUPPORTED: (
        "the kernel uses {what}, written by hand{at}, which the grader does not run{who}"
    ),
    "unsupported-texture": "the kernel uses {what}{at} and is given no texture or surface{who}",
    FindingKind.UNDEFINED: "the optimised program and the unoptimised one do not do the same{at}{who}",
    FindingKind.HOST: "the program makes a mistake in how it uses the device{at}{who}",
}
"""Sentences by kind, and where more is known of it by a name that begins with the kind."""

CLAUSES: Mapping[str, str] = {
    "element": "`{name}`",
    "memory": "memory",
    "every-array": "every array",
    "a-value": "a value",
    "an-instruction": "an instruction",
    "on-both-lines": " on lines {line} and {other_line}",
    "last-seen": "; it was last seen on line {line}",
    "who": " ({parts})",
    "of-a-block": "block {block}",
    "of-a-thread": "thread {thread}",
    "of-threads": "threads {thread} and {other_thread}{of_block}",
    "of-another-block": " of block {block}",
    "of-a-case": "case `{case}`",
}

LONGEST = 500
"""Maximum number of characters of another author's text in a sentence."""

NAMED_ELEMENT = re.compile(r"(?!local$|shared\b|0x)[A-Za-z_$][\w$]*(\[\d+\])*$", re.ASCII)
"""`A_tile[3][5]`, and an array's name alone."""

PLACES = {"local": "local-array", "a local variable": "local-variable", "shared": "shared-memory"}
"""The clause for addresses that name no array of the source."""

_FALLBACK = {FindingKind.OUT_OF_BOUNDS: "every-array", FindingKind.UNINITIALISED: "a-value"}


def key(finding: Finding, *, texture: bool = False) -> str:
    """Key of the sentence that fits; ``texture``: an instruction needs a texture or a surface."""
    parts = {
        FindingKind.RACE: finding.hazard.lower(),
        FindingKind.OUT_OF_BOUNDS: finding.direction,
        FindingKind.UNSUPPORTED: "texture" if texture else "",
        # how a program ended; a kernel that stops has none
        FindingKind.FAULT: "program" if finding.hazard else "",
        FindingKind.TIMEOUT: "program" if finding.hazard else "",
    }
    name = f"{finding.kind}-{parts.get(finding.kind, '')}"
    return name if name in SENTENCES else finding.kind


def fields(finding: Finding) -> dict[str, Detail]:
    """Values of a finding for such a sentence."""
    both = at_line(finding.line)
    if finding.line and finding.other_line not in (None, finding.line):
        both = (Clause("on-both-lines", (("line", finding.line), ("other_line", finding.other_line or 0))),)
    at = at_line(finding.line)
    if finding.kind is FindingKind.TIMEOUT and finding.line:
        at = (Clause("last-seen", (("line", finding.line),)),)
    who = tuple(_threads_and_case(finding))
    return {
        "what": (_subject_of(finding),),
        "at": at,
        "other_at": at_line(finding.other_line),
        "at_both": both,
        "who": (Clause("who", (("parts", who),)),) if who else (),
    }


def _subject_of(finding: Finding) -> Clause:
    if finding.kind is FindingKind.UNSUPPORTED:
        name = one_sentence(finding.hazard, LONGEST)
        return Clause("element", (("name", name),)) if name else Clause("an-instruction")
    if NAMED_ELEMENT.match(finding.address):
        return Clause("element", (("name", finding.address),))
    # "shared memory", "a local variable"; a bare address has no meaning for readers
    return Clause(PLACES.get(finding.address) or _FALLBACK.get(finding.kind, "memory"))


def _threads_and_case(finding: Finding) -> list[Clause]:
    """Block, threads and case, of what is known."""
    parts = []
    if finding.block is not None:
        parts.append(Clause("of-a-block", (("block", _triple(finding.block)),)))
    if finding.thread is not None and finding.other_thread is not None:
        other = finding.other_block
        of_block = () if other is None else (Clause("of-another-block", (("block", _triple(other)),)),)
        both = (("thread", _triple(finding.thread)), ("other_thread", _triple(finding.other_thread)))
        parts.append(Clause("of-threads", (*both, ("of_block", of_block))))
    elif finding.thread is not None:
        parts.append(Clause("of-a-thread", (("thread", _triple(finding.thread)),)))
    if finding.case:
        parts.append(Clause("of-a-case", (("case", one_sentence(finding.case, LONGEST)),)))
    return parts


def _triple(index: Dim3) -> str:
    return "({}, {}, {})".format(*index)
