"""Lines for a terminal: wrapped to a width, indented, styled; the same with and without colour.

Nothing is parsed as markup, and printed to a file a page is its plain text. ``ascii_only`` serves
terminals that cannot show anything else.
"""

from __future__ import annotations

import textwrap
from dataclasses import field
from typing import TypeAlias

from rich.text import Text

from grader.base.records import mutable
from grader.base.text import ascii_only

NARROWEST = 40
"""Below this a page is laid out as if it were so wide, and the terminal breaks the lines."""

Piece: TypeAlias = str | tuple[str, str]
"""Words alone, or words and their style."""


@mutable
class Page:
    """A page under construction; what is written to it must be harmless already (`grader.base.text`)."""

    width: int
    ascii_only: bool = False
    lines: list[Text] = field(default_factory=list)

    def line(self, *pieces: Piece) -> None:
        """Write one line, cut at the width."""
        line = Text()
        for piece in pieces:
            words, style = (piece, "") if isinstance(piece, str) else piece
            line.append(self._in_charset(words), style)
        line.rstrip()
        room = max(self.width, NARROWEST)
        if line.cell_len > room:
            dots = self._in_charset("…")
            line.truncate(room - len(dots), overflow="crop")
            line.append(dots)
        self.lines.append(line)

    def blank(self) -> None:
        """Leave a line empty."""
        self.lines.append(Text())

    def paragraph(self, words: str, *, indent: int = 0, opening: str = "", style: str = "") -> None:
        """Write words wrapped and indented; ``opening`` comes first and the rest hangs after it.

        Lines of their own (a map of an array, say) stay so, with their indentation.
        """
        start, rest = " " * indent + self._in_charset(opening), " " * (indent + len(opening))
        for number, line in enumerate(self._in_charset(words).split("\n")):
            indentation = line[: len(line) - len(line.lstrip())]
            wrapped = textwrap.wrap(
                line.strip(),
                max(self.width, NARROWEST),
                initial_indent=(rest if number else start) + indentation,
                subsequent_indent=rest + indentation,
                break_on_hyphens=False,
            )
            self.lines.extend(Text(row, style) for row in wrapped)

    def text(self) -> Text:
        """Finish: the page as one text, each of its lines ended; print it with ``end=""``."""
        page = Text("\n").join([*self.lines, Text()])
        page.no_wrap, page.overflow = True, "ignore"
        return page

    def _in_charset(self, words: str) -> str:
        return ascii_only(words) if self.ascii_only else words
