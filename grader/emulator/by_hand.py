"""Who wrote an instruction that is not interpreted: the student, by hand, or nvcc.

nvcc makes only instructions that are interpreted of C++ in the student's file. What a student writes as
`asm`, or by a built-in function that is one instruction, is the student's choice: else a kernel that loses
could have itself called an error of ours. What stems from the toolkit's headers stays ours.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.emulator.instructions import TABLE
from grader.errors import UnsupportedPtx
from grader.model import Finding, FindingKind

if TYPE_CHECKING:
    from grader.errors import PtxSyntaxError

_FILE = re.compile(r'^\s*\.file\s+(?P<number>\d+) "(?:[^"]*/)?(?P<name>[^"/]*)"', re.MULTILINE)
_PLACE = re.compile(r"\s*\.loc\s+(?P<file>\d+)\s+(?P<line>\d+)")
_BODY = re.compile(r"\s*(?:\.visible |\.weak )*\.(?:func|entry)\b")
_ASM = re.compile(r"\s*// (?P<end>begin|end) inline asm\s*$")


def written_by_hand(
    problem: UnsupportedPtx | PtxSyntaxError, ptx: str, source: str, file: str
) -> Finding | None:
    """The student's finding if the instruction was written by hand in ``source``; None if it is ours.

    ``ptx`` is the text in which the problem has its line, ``source`` what it calls the student's file.
    """
    lines = ptx.splitlines()
    number = problem.ptx_line
    if not 0 < number <= len(lines):
        return None
    place = _place(lines, number)
    own = {found["number"] for found in _FILE.finditer(ptx) if found["name"] == source}
    if place is None or place["file"] not in own:
        return None
    name = problem.instruction if isinstance(problem, UnsupportedPtx) else ""
    opcode = re.match(r"[a-z]\w*", name)
    never_from_nvcc = opcode is not None and opcode[0] not in TABLE  # an `asm` may forge the marks around it
    if not (_inside_asm(lines, number) or never_from_nvcc):
        return None
    return Finding(FindingKind.UNSUPPORTED, "", hazard=name, file=file, line=int(place["line"]))


def _place(lines: list[str], number: int) -> re.Match[str] | None:
    """The `.loc` that holds at a line of a function; None where it has none."""
    for text in reversed(lines[:number]):
        if _BODY.match(text):
            return None
        if found := _PLACE.match(text):
            return found
    return None


def _inside_asm(lines: list[str], number: int) -> bool:
    """Whether a line is one of those that nvcc copied from an `asm`."""
    marks = filter(None, (_ASM.match(text) for text in reversed(lines[:number])))
    last = next(marks, None)
    return last is not None and last["end"] == "begin"
