"""PTX text as tokens, and a cursor over them."""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

from grader.base.errors import PtxSyntaxError
from grader.simulation.ptx.nodes import Immediate

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
"""Limit of an integer: one of 64 bits has 64 digits at most, written in base two."""


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
        """Position in the text of the end of the lexeme."""
        return self.start + len(self.text)


def tokens(text: str) -> list[Token]:
    """All tokens of ``text``; raises PtxSyntaxError at a character that starts none, or a number too long."""
    result: list[Token] = []
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
            result.append(Token(kind, match.group(), line, position))
        position = match.end()
    return result


END = Token("end", "", 0)


class Cursor:
    """A place in a list of tokens."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._next = 0

    def peek(self, ahead: int = 0) -> Token:
        """The next token, or one further ``ahead``, without taking it."""
        index = self._next + ahead
        return self._tokens[index] if index < len(self._tokens) else END

    def last(self) -> Token:
        """The token that was taken last."""
        return self._tokens[min(self._next, len(self._tokens)) - 1]

    def line(self) -> int:
        """The line of the next token, or of the last."""
        return self._tokens[min(self._next, len(self._tokens) - 1)].line if self._tokens else 1

    def take(self) -> Token:
        """Take the next token."""
        token = self.peek()
        self._next += 1
        return token

    def accept(self, text: str) -> bool:
        """Take the next token if it is `text`."""
        if self.peek().text == text and self.peek().kind != "string":
            self._next += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        """Take the next token, which must be `text`."""
        token = self.take()
        if token.text != text:
            raise self.unexpected(token, f"`{text}`")
        return token

    def unexpected(self, token: Token, expected: str) -> PtxSyntaxError:
        """The error for a token that stands where something else was wanted."""
        if token.kind == "end":
            return PtxSyntaxError(f"the PTX ends where {expected} was expected")
        return PtxSyntaxError(f"PTX line {token.line}: expected {expected}, found {token.text!r}")

    def rest_of_line(self, line: int) -> list[Token]:
        """The tokens left on ``line``: some directives end with their line, not with a semicolon."""
        words = []
        while self.peek().line == line and self.peek().kind != "end":
            words.append(self.take())
        return words

    def skip_block(self) -> None:
        """Move past a ``{…}`` whose content does not matter here."""
        self.expect("{")
        depth = 1
        while depth:
            token = self.take()
            if token.kind == "end":
                raise self.unexpected(token, "`}`")
            depth += {"{": 1, "}": -1}.get(token.text, 0)

    def integer(self) -> int:
        """Take a whole number, perhaps negative."""
        sign = -1 if self.accept("-") else 1
        token = self.take()
        if token.kind != "integer":
            raise self.unexpected(token, "a whole number")
        return sign * integer(token.text)


def integer(text: str) -> int:
    """The value of an integer literal (section 4.5.1)."""
    text = text.rstrip("U")
    octal = len(text) > 1 and text[0] == "0" and text.isdigit()
    return int(text, 8 if octal else 0)


def real(text: str, sign: int) -> Immediate:
    """``0f3F800000`` and ``0d…`` are bits; a decimal literal is a double (section 4.5.2)."""
    prefix, digits = text[:2].lower(), text[2:]
    if prefix == "0f":
        return Immediate(int(digits, 16) ^ (0x80000000 if sign < 0 else 0), "f32")
    if prefix == "0d":
        return Immediate(int(digits, 16) ^ (1 << 63 if sign < 0 else 0), "f64")
    return Immediate(int.from_bytes(struct.pack("<d", sign * float(text)), "little"), "f64")
