"""Text for people: lists and counts in English, and names, messages and lines in which nothing can act.

Names, messages and source lines come from students, compilers and tools. A terminal obeys escape sequences, a
reader is fooled by bidirectional overrides (CVE-2021-42574), XML and UTF-8 refuse some code points. Every
character that is not plainly visible is written out as an escape.
"""

from __future__ import annotations

import re
from string import Formatter
from textwrap import dedent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ESCAPE_SEQUENCE = re.compile(
    r"""\x1b\[[0-?]*[ -/]*[@-~]      # control sequences: colour, cursor movement
      | \x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?   # strings: window title, hyperlink, up to their end
      | \x1b[ -/]*[0-~]              # two-character sequences: reset, character set
    """,
    re.VERBOSE,
)
"""ECMA-48 escape sequences, sections 5.3 to 5.6."""

TAB_WIDTH = 4

UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Invisible letters and marks, though they are printable: most `Default_Ignorable_Code_Point`s."""

ASCII_FOR = str.maketrans(
    {
        **dict.fromkeys("–—−", "-"),
        **dict.fromkeys("‘’", "'"),
        **dict.fromkeys("“”„", '"'),
        "…": "...",
        "·": "-",
        "×": "x",
        "≤": "<=",
        "≥": ">=",
        "→": "->",
        "✓": "+",
        "○": "o",
        "✗": "x",
    }
)


def one_line(text: str, limit: int = 200) -> str:
    """Make ``text`` harmless, on one line of at most ``limit`` characters."""
    if len(text) <= limit and _is_visible_line(text):  # most are, and reports ask for thousands of them
        return text.strip()
    return source_line(" ".join(_lines(text[: 4 * limit])).strip(), limit)


def escaped(text: str, limit: int = 200) -> str:
    r"""Write everything out that is not plainly visible, blanks but the space too: ``a\tb\n`` in one line."""
    if len(text) > limit:
        return escaped(text[: limit - 1], limit) + "…"
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if is_visible(c) else _code_of(c) for c in text)


def sentence(text: str, limit: int = 400) -> str:
    """Write ``text`` as one sentence: any blanks are one space, and what is not visible is written out."""
    return _shortened(escaped(" ".join(text[: 16 * limit].split()), 16 * limit), limit)


_NAME = re.compile(r"[a-z]+(?:[A-Z]|_\w)")
"""Beginnings of names of the source, `cudaMemset` or `device_x`, that no words of sentences have."""


def capital(text: str) -> str:
    """The text as a sentence begins; what starts with a name of the source stays as it is."""
    first = text.partition(" ")[0]
    begins_with_a_name = "<<<" in first or _NAME.match(first)
    return text if begins_with_a_name else text[:1].upper() + text[1:]


def suggestion(word: str, candidates: Iterable[str]) -> str:
    """The tail of a message about a word that is none of the candidates: the nearest of them, or all."""
    words = tuple(candidates)
    if near := did_you_mean(word, words):
        return near
    return f"expected one of {', '.join(words)}" if words else "there are none"


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """A question for the candidate that is nearest to a word; empty where none is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - for a message about a mistake only

    words = tuple(candidates)
    near = [candidate for candidate in words if candidate.casefold() == word.casefold()]
    near = near or get_close_matches(word, words, n=1)
    return f"did you mean `{near[0]}`?" if near else ""


def listed(words: Sequence[str], last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def quoted(names: Sequence[str], most: int = 8) -> str:
    """The first of these names as code, listed; ``…`` stands for the others."""
    return listed([f"`{escaped(name, 60)}`" for name in names[:most]] + ["…"] * (len(names) > most))


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 case`, `2,365 elements`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def headline(text: str) -> str:
    """Take the first line of ``text``, without the colon that announces the lines below it."""
    first, newline, _ = text.partition("\n")
    return first.removesuffix(":") if newline else text


def below_headline(text: str) -> str:
    """Take the lines of ``text`` below its first, without the indentation that they share."""
    return dedent(text.partition("\n")[2])


def source_line(line: str, limit: int = 160) -> str:
    """Make a line of source harmless, keeping its indentation; at most ``limit`` characters."""
    return _shortened(_visible(ESCAPE_SEQUENCE.sub("", line[: 4 * limit])).rstrip(), limit)


def many_lines(text: str, limit: int = 8000) -> str:
    """Make ``text`` harmless and keep its lines; at most ``limit`` characters."""
    return _shortened("\n".join(_visible(line) for line in _lines(text[: 4 * limit])), limit)


def ascii_only(text: str) -> str:
    """Write ``text`` in ASCII: near equivalents where there are any, else escapes."""
    return text.translate(ASCII_FOR).encode("ascii", "backslashreplace").decode("ascii")


def _lines(text: str) -> list[str]:
    plain = ESCAPE_SEQUENCE.sub("", text)
    return plain.replace("\r\n", "\n").split("\n")


def _visible(line: str) -> str:
    if _is_visible_line(line):
        return line
    return "".join(c if is_visible(c) else escape_character(c) for c in line.expandtabs(TAB_WIDTH))


def _is_visible_line(line: str) -> bool:
    return line.isprintable() and (line.isascii() or not UNSEEN.search(line))


def is_visible(character: str) -> bool:
    """True if a character stands for itself: it is printable and visible."""
    return character.isprintable() and not UNSEEN.match(character)


def escape_character(character: str) -> str:
    r"""Write an invisible character out, as `\x1b` or `\u202e`; spaces of any width become spaces."""
    code = ord(character)
    return " " if character.isspace() and code > 0x7F else _code_of(character)  # noqa: PLR2004 - beyond ASCII


def _code_of(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004 - a byte that is not UTF-8, as os.fsdecode keeps it (PEP 383)
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def placeholders(template: str) -> frozenset[str]:
    """The names in the braces of a text that is filled in; raises ValueError where these do not match."""
    return frozenset(name for _, name, _, _ in Formatter().parse(template) if name is not None)
