"""Which lines of a PTX text stem from an `asm` in the student's own file, and which line of it wrote them."""

from __future__ import annotations

import re
from typing import NamedTuple

_FILE = re.compile(r'^[ \t]*\.file[ \t]+(?P<number>\d+) "(?:[^"]*/)?(?P<name>[^"/]*)"', re.MULTILINE)
_PLACE = re.compile(r"\s*\.loc\s+(?P<file>\d+)\s+(?P<line>\d+)")
_BODY = re.compile(r"\s*(?:\.visible |\.weak )*\.(?:func|entry)\b")
_LINE_DIRECTIVE = re.compile(
    r"(?:^|\*/)[ \t\f\v\r]*(?:#|%:|\?\?=)[ \t\f\v\r]*(?:line\b|\d|/\*)", re.MULTILINE
)
"""A directive, also behind the end of a comment. What a comment hides behind the sign counts as one."""

_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t\f\v\0]*\r?\n")
"""Where a line goes on in the next one; gcc takes blanks before the end of the line."""

_ASM = re.compile(r"\s*// (?P<end>begin|end) inline asm\s*$")
_OF_TEXTURES = frozenset({"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"})


class SourceLine(NamedTuple):
    """A file, by its name without folders, and a line in it."""

    file: str
    line: int


def origin(ptx: str, number: int) -> SourceLine | None:
    """Where line ``number`` of a PTX text stems from; None where it says nothing of that."""
    lines = ptx.splitlines()
    if not 0 < number <= len(lines):
        return None
    directive = _place(lines, number)
    if directive is None:
        return None
    names = {match["number"]: match["name"] for match in _FILE.finditer(ptx)}
    return SourceLine(names.get(directive["file"], ""), int(directive["line"]))


def is_inside_asm(ptx: str, number: int) -> bool:
    """Whether a line is one of those that nvcc copied from an `asm`."""
    marks = filter(None, (_ASM.match(text) for text in reversed(ptx.splitlines()[:number])))
    last = next(marks, None)
    return last is not None and last["end"] == "begin"


def needs_texture(instruction: str) -> bool:
    """Whether an instruction, by its full name, needs a texture or a surface."""
    return instruction.partition(".")[0] in _OF_TEXTURES


def renames_lines(source: bytes) -> bool:
    """Whether a file of the student's renames its lines.

    After `#line` they may be said to be of any file, one of the toolkit's as well.
    """
    return _LINE_DIRECTIVE.search(_SPLICE.sub("", source.decode("latin-1"))) is not None


def _place(lines: list[str], number: int) -> re.Match[str] | None:
    """The `.loc` of nvcc that holds at a line of a function, none from an `asm`; None where it has none."""
    latest = None
    inside_asm = False
    for text in lines[:number]:
        if mark := _ASM.match(text):
            inside_asm = mark["end"] == "begin"
        elif inside_asm:
            continue
        elif _BODY.match(text):
            latest = None
        elif match := _PLACE.match(text):
            latest = match
    return latest
