"""Names, messages and source lines come from students and compilers: nothing in them may act.

A terminal obeys escape sequences, a reader is fooled by bidirectional overrides (CVE-2021-42574), XML
and UTF-8 refuse some code points. Whatever is not plainly visible is written out as an escape.
"""

from __future__ import annotations

import re

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
"""Letters and marks that nobody sees, though they are printable: most `Default_Ignorable_Code_Point`s."""

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
    return code(" ".join(_lines(text[: 4 * limit])).strip(), limit)


def headline(text: str) -> str:
    """Take the first line of ``text``, without the colon that announces the lines below it."""
    first, newline, _ = text.partition("\n")
    return first.removesuffix(":") if newline else text


def code(line: str, limit: int = 160) -> str:
    """Make a line of source harmless, keeping its indentation; at most ``limit`` characters."""
    return _cut(_visible(ESCAPE_SEQUENCE.sub("", line[: 4 * limit])).rstrip(), limit)


def many_lines(text: str, limit: int = 8000) -> str:
    """Make ``text`` harmless and keep its lines; at most ``limit`` characters."""
    return _cut("\n".join(_visible(line) for line in _lines(text[: 4 * limit])), limit)


def ascii_only(text: str) -> str:
    """Write ``text`` in ASCII: near equivalents where there are any, else escapes."""
    return text.translate(ASCII_FOR).encode("ascii", "backslashreplace").decode("ascii")


def _lines(text: str) -> list[str]:
    plain = ESCAPE_SEQUENCE.sub("", text)
    return plain.replace("\r\n", "\n").split("\n")


def _visible(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line
    return "".join(c if is_visible(c) else escape(c) for c in line.expandtabs(TAB_WIDTH))


def is_visible(character: str) -> bool:
    """Tell whether a character stands for itself: it is printable, and not one that nobody sees."""
    return character.isprintable() and not UNSEEN.match(character)


def escape(character: str) -> str:
    r"""Write an invisible character out, as `\x1b` or `\u202e`; spaces of any width become spaces."""
    code = ord(character)
    if character.isspace() and code > 0x7F:  # noqa: PLR2004 - beyond ASCII
        return " "
    if 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004 - a byte that is not UTF-8, as os.fsdecode keeps it (PEP 383)
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
