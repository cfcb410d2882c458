"""A kernel that stands in the text and is not compiled: a directive of the preprocessor leaves it out.

Directives are read line by line, for what stands between them need not be C++, nor have both of its braces.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from grader.cpp import CppText

if TYPE_CHECKING:
    from grader.model import Named

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(?P<what>if|ifdef|ifndef|elif|else|endif)\b(?P<condition>[^\n]*)")
_LONGEST_HEAD = 400
_MOST_PLACES = 100
"""Definitions that are looked at; each takes a look at all the text before it."""


class Directive(NamedTuple):
    """An ``#if``, ``#ifdef``, ``#elif`` … as it stands, blanks made one, and its line."""

    text: str
    line: int


class LeftOut(NamedTuple):
    """Where a kernel stands, and the directive that decides about it."""

    file: str
    line: int
    directive: Directive


def left_out(sources: Named[bytes], kernel: str) -> LeftOut | None:
    """The first definition of a kernel that stands between ``#if`` and ``#endif``; None where there is none.

    To be asked where the compiler saw no such kernel: one between directives is then one that is left out.
    """
    wanted = re.compile(rf"\b__global__\b[^;{{}}#]{{0,{_LONGEST_HEAD}}}\b{re.escape(kernel)}\s*\(")
    for file, source in sources:
        text = CppText(source.decode(errors="replace")).without_comments
        for match in islice(wanted.finditer(text), _MOST_PLACES):
            directive = _innermost(text[: match.start()])
            if directive:
                return LeftOut(file, text.count("\n", 0, match.end()) + 1, directive)
    return None


def _innermost(text: str) -> Directive | None:
    """The directive whose branch is still open at the end of a text."""
    opened: list[Directive] = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _DIRECTIVE.match(line)
        if match is None:
            continue
        if match["what"] in ("elif", "else", "endif") and opened:
            opened.pop()
        if match["what"] != "endif":
            opened.append(Directive(" ".join(f"#{match['what']}{match['condition']}".split()), number))
    return opened[-1] if opened else None
