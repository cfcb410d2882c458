"""What a program printed: bytes of anybody's making → text to compare, and text that is safe to be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.text import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model import ProgramRun

WIDEST = 58
"""Characters of a line that are shown: with what stands before it, it fits a terminal of 80 columns."""

BEFORE = 20
"""Characters that are shown before the place in a long line that matters."""

BLANKS = " \t\r\f\v"


def content(run: ProgramRun, of: str) -> str | None:
    """What a run left under this name, a stream or a file; None where there is no such file."""
    known = {"stdout": run.stdout, "stderr": run.stderr}
    found = known[of] if of in known else dict(run.files).get(of)
    return None if found is None else decoded(found)


def decoded(content: bytes) -> str:
    """UTF-8 with U+FFFD for what is none, and lines that end in a line feed."""
    return content.decode("utf-8", "replace").replace("\r\n", "\n")


def lines(text: str) -> list[str]:
    """The lines of a text without blanks at their ends and without empty lines at the end of all."""
    found = [line.rstrip(BLANKS) for line in text.split("\n")]
    while found and not found[-1]:
        found.pop()
    return found


def loose(text: str) -> str:
    """The text as `lines` sees it."""
    return "\n".join(lines(text))


def visible(character: str) -> str:
    r"""A character that does nothing to a terminal: control characters are written out, as `\x1b` or `\t`."""
    return escaped(character)


def harmless(line: str, limit: int = WIDEST) -> str:
    """A line as it is shown: every character visible, and cut at the limit."""
    shown = "".join(map(visible, line[: limit + 1]))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def quoted(text: str, limit: int = WIDEST) -> str:
    """A text in backticks, on one line."""
    return f"`{harmless(text, limit)}`"


def window(line: str, place: int) -> tuple[str, int]:
    """The part of a line around a place, as it is shown, and where the place is in it."""
    start = max(0, place - BEFORE) if place > WIDEST - BEFORE else 0
    opening = "…" if start else ""
    at = len(opening) + sum(len(visible(character)) for character in line[start:place])
    return opening + harmless(line[start:]), at


def indented(shown: Iterable[str]) -> str:
    """Lines of a block below a sentence."""
    return "".join(f"\n  {line}" for line in shown)
