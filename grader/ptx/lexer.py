"""PTX text → tokens (PTX ISA chapter 4)."""

from __future__ import annotations

import re
from typing import NamedTuple

from grader.errors import PtxSyntaxError

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\f]+|//[^\n]*|/\*.*?\*/)
  | (?P<newline>\n)
  | (?P<numbers>(?:(?:0|[1-9]\d{0,17}+),[ ]?){16,}+)
  | (?P<real>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|\d+\.\d*(?:[eE][+-]?\d+)?)
  | (?P<integer>0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?)
  | (?P<word>(?:[%_$][\w$]|[._$A-Za-z])[\w$]*(?:(?:\.|::)[\w$]+)*)
  | (?P<string>"[^"\n]*")
  | (?P<punctuation><<|>>|[<>=!]=|&&|\|\||[][(){}<>,;:=|!@+*/%~&^?-])
    """,
    re.VERBOSE | re.DOTALL,
)


_MOST_DIGITS = 80
"""Of an integer: one of 64 bits has 64 digits at most, written in base two."""


class Token(NamedTuple):
    """A lexeme: ``kind`` is a group of the expression above; ``line`` counts from 1, ``start`` from 0.

    A long run of plain numbers, each with its comma, is one token: nvcc writes tables byte by byte.
    """

    kind: str
    text: str
    line: int
    start: int = 0

    @property
    def end(self) -> int:
        """Where in the text the lexeme ends."""
        return self.start + len(self.text)


def tokens(text: str) -> list[Token]:
    """All tokens of ``text``; raises PtxSyntaxError at a character that starts none, or a number too long."""
    found: list[Token] = []
    line, position = 1, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise PtxSyntaxError(f"PTX line {line}: unexpected character {text[position]!r}")
        kind = match.lastgroup or ""
        if kind == "newline":
            line += 1
        elif kind == "space":
            line += match.group().count("\n")
        else:
            if kind == "integer" and len(match.group()) > _MOST_DIGITS:
                raise PtxSyntaxError(f"PTX line {line}: a number of {len(match.group()):,} digits")
            found.append(Token(kind, match.group(), line, position))
        position = match.end()
    return found
