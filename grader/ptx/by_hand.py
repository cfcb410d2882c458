"""Which lines of a PTX text stem from an `asm` in the student's own file, and which line of it wrote them."""

from __future__ import annotations

import re

_FILE = re.compile(r'^\s*\.file\s+(?P<number>\d+) "(?:[^"]*/)?(?P<name>[^"/]*)"', re.MULTILINE)
_PLACE = re.compile(r"\s*\.loc\s+(?P<file>\d+)\s+(?P<line>\d+)")
_BODY = re.compile(r"\s*(?:\.visible |\.weak )*\.(?:func|entry)\b")
_ASM = re.compile(r"\s*// (?P<end>begin|end) inline asm\s*$")


def source_line(ptx: str, number: int, source: str) -> int | None:
    """The line of the file that a text calls ``source`` from which line ``number`` of the text stems.

    None where it stems from no such file, or nobody can tell.
    """
    lines = ptx.splitlines()
    if not 0 < number <= len(lines):
        return None
    place = _place(lines, number)
    own = {found["number"] for found in _FILE.finditer(ptx) if found["name"] == source}
    return int(place["line"]) if place is not None and place["file"] in own else None


def is_inside_asm(ptx: str, number: int) -> bool:
    """Whether a line is one of those that nvcc copied from an `asm`."""
    marks = filter(None, (_ASM.match(text) for text in reversed(ptx.splitlines()[:number])))
    last = next(marks, None)
    return last is not None and last["end"] == "begin"


def _place(lines: list[str], number: int) -> re.Match[str] | None:
    """The `.loc` that holds at a line of a function; None where it has none."""
    for text in reversed(lines[:number]):
        if _BODY.match(text):
            return None
        if found := _PLACE.match(text):
            return found
    return None
