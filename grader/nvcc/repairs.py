"""What no compiler takes, though everybody sees what was meant: read as meant, with a remark.

A notebook's command in the first line, blanks that are none (from a PDF or a web page), and blanks inside the
brackets of an ``#include``. Lines and columns stay as they are.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from grader.model import Finding, FindingKind, Severity
from grader.nvcc.shown import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMMAND = re.compile(r"\s*(?P<command>%%[A-Za-z]\w*)[^\n]*")
_BLANK = re.compile("[\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]")
_QUOTED = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
_INCLUDE = re.compile(
    r"^(?P<start>[ \t]*#[ \t]*include[ \t]*)"
    r"<(?P<before>[ \t]{0,20})(?P<name>[^<>\s][^<>\n]{0,200}?)(?P<after>[ \t]{0,20})>",
    re.MULTILINE,
)

_MOST_REMARKS = 20
"""Repairs of one kind that are told of a file: more say nothing new."""

_LONGEST_LINE = 2000
"""Longer ones are nobody's writing, and looking for quotes in them may take long."""


class Repaired(NamedTuple):
    """A text as it was meant, and for each repair its first line and a sentence."""

    text: str
    remarks: tuple[tuple[int, str], ...]


def repaired(text: str) -> Repaired:
    """The text as its author meant it; the same text where a compiler takes it."""
    text, command = _without_command(text)
    text, blanks = _with_plain_blanks(text)
    text, includes = _with_tight_brackets(text)
    return Repaired(text, (*command, *blanks, *includes))


def findings(text: str, file: str) -> Iterator[Finding]:
    """A remark, which costs nothing, for each repair of a file's text."""
    for line, message in repaired(text).remarks:
        yield Finding(FindingKind.COMPILE, message, file=file, line=line, severity=Severity.WARNING)


def _without_command(text: str) -> tuple[str, list[tuple[int, str]]]:
    found = _COMMAND.match(text)
    if found is None:
        return text, []
    start = found.start("command")
    remark = (
        f"`{harmless(found['command'])}` is a command of the notebook that this text comes from, "
        "and no CUDA: it was left out; remove the line"
    )
    return text[:start] + text[found.end() :], [(text.count("\n", 0, start) + 1, remark)]


def _with_plain_blanks(text: str) -> tuple[str, list[tuple[int, str]]]:
    """Blanks instead of characters that look like them, outside strings: those are printed as they are."""
    if not _BLANK.search(text):
        return text, []
    lines = text.split("\n")
    plain = [_outside_quotes(line) if len(line) < _LONGEST_LINE else line for line in lines]
    changed = [number for number, line in enumerate(lines, 1) if plain[number - 1] != line]
    if not changed:
        return text, []
    found = next(filter(None, map(_BLANK.search, (lines[number - 1] for number in changed))))
    more = len(changed) - 1
    others = f" and on {more} more line{'' if more == 1 else 's'}" if more else ""
    remark = (
        f"here{others} stand characters that look like blanks and are none (U+{ord(found[0]):04X}), as in "
        "text copied from a PDF or a web page: they were read as blanks; replace them"
    )
    return "\n".join(plain), [(changed[0], remark)]


def _outside_quotes(line: str) -> str:
    kept, begin = [], 0
    for quoted in _QUOTED.finditer(line):
        kept += [_BLANK.sub(" ", line[begin : quoted.start()]), quoted[0]]
        begin = quoted.end()
    return "".join((*kept, _BLANK.sub(" ", line[begin:])))


def _with_tight_brackets(text: str) -> tuple[str, list[tuple[int, str]]]:
    loose = (found for found in _INCLUDE.finditer(text) if found["before"] or found["after"])
    remarks = [
        (
            text.count("\n", 0, found.start("name")) + 1,
            f"write `<{harmless(found['name'])}>`, as it was read: blanks in the brackets belong to the name",
        )
        for found in islice(loose, _MOST_REMARKS)
    ]
    return _INCLUDE.sub(r"\g<start>\g<before><\g<name>>\g<after>", text), remarks
