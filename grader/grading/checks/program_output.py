"""Output of a program: bytes from an untrusted source → text to compare, and text that is safe to show.

The difference of two texts is reported by its first lines. Lines that are the same at the start and at the
end are left out first; the lines between are aligned, so that one line too many does not make all that
follow differ.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.base.text import escaped
from grader.model.messages import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grader.model import ProgramRun

WIDEST = 58
"""Characters of a line that are shown: with what stands before it, it fits a terminal of 80 columns."""

BEFORE = 20
"""Characters that are shown before the place in a long line that matters."""

BLANKS = " \t\r\f\v"


def content(run: ProgramRun, of: str) -> str | None:
    """Content that a run left under this name, a stream or a file; None where there is no such file."""
    streams = {"stdout": run.stdout, "stderr": run.stderr}
    data = streams[of] if of in streams else dict(run.files).get(of)
    return None if data is None else decoded(data)


def no_file(run: ProgramRun, file: str) -> str:
    """Sentence that a run left no such file; a status of its own comes first, for it is the likely reason."""
    if run.ending == "exit" and run.returncode:
        return text_of("no-file-and-status", status=run.returncode, file=quoted(file))
    return text_of("no-file", file=quoted(file))


def decoded(content: bytes) -> str:
    """UTF-8 with U+FFFD for what is none, and lines that end in a line feed."""
    return content.decode("utf-8", "replace").replace("\r\n", "\n")


def lines(text: str) -> list[str]:
    """The lines of a text without blanks at their ends and without empty lines at the end of all."""
    stripped = [line.rstrip(BLANKS) for line in text.split("\n")]
    while stripped and not stripped[-1]:
        stripped.pop()
    return stripped


def without_end_blanks(text: str) -> str:
    """The text as `lines` sees it."""
    return "\n".join(lines(text))


def visible(character: str) -> str:
    r"""A character that does nothing to a terminal: control characters are written out, as `\x1b` or `\t`."""
    return escaped(character)


def safe_line(line: str, limit: int = WIDEST) -> str:
    """A line as it is shown: every character visible, and cut at the limit."""
    shown = "".join(map(visible, line[: limit + 1]))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def quoted(text: str, limit: int = WIDEST) -> str:
    """A text in backticks, on one line."""
    return f"`{safe_line(text, limit)}`"


def window(line: str, position: int) -> tuple[str, int]:
    """The part of a line around a place, as it is shown, and where the place is in it."""
    start = max(0, position - BEFORE) if position > WIDEST - BEFORE else 0
    opening = "…" if start else ""
    at = len(opening) + sum(len(visible(character)) for character in line[start:position])
    return opening + safe_line(line[start:]), at


def indented(shown: Iterable[str]) -> str:
    """Lines of a block below a sentence."""
    return "".join(f"\n  {line}" for line in shown)


MOST_ROWS = 12
"""Rows of a difference that are shown."""

MOST_ALIGNED = 60
"""Lines on either side that are aligned; beyond them only their number is reported."""


@frozen
class LineChange:
    """One line that is not as expected; ``expected`` or ``got`` is None where the line is extra or missing.

    ``line`` counts from 1 in what was printed; a line that is missing should come before it.
    """

    line: int
    expected: str | None
    actual: str | None


def line_changes(expected: Sequence[str], actual: Sequence[str]) -> tuple[LineChange, ...]:
    """Lines that are not as expected, in the order of the lines; empty where nothing differs."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - a kernel has no lines

    start = _equal_at_start(expected, actual)
    room = min(len(expected), len(actual)) - start
    end = min(room, _equal_at_start(expected[::-1], actual[::-1]))
    expected_part = expected[start : len(expected) - end][:MOST_ALIGNED]
    middle = actual[start : len(actual) - end][:MOST_ALIGNED]
    aligned = SequenceMatcher(None, expected_part, middle, autojunk=False).get_opcodes()
    if max(len(expected), len(actual)) - start - end > MOST_ALIGNED and len(aligned) > 1:
        aligned.pop()  # only the end of what was aligned, perhaps
    return tuple(
        change
        for kind, i, j, k, m in aligned
        if kind != "equal"
        for change in _lines_side_by_side(expected_part[i:j], middle[k:m], start + k + 1)
    )


def _equal_at_start(first: Sequence[str], second: Sequence[str]) -> int:
    """Number of lines that are the same at the start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _lines_side_by_side(expected: Sequence[str], actual: Sequence[str], line: int) -> Iterator[LineChange]:
    """Lines that stand for each other side by side, those that have none before or after them."""
    longer = max(len(expected), len(actual))
    shifts = range(longer - min(len(expected), len(actual)) + 1)
    expected_part, middle = (
        _with_gaps(lines, partners, shifts, longer)
        for lines, partners in ((expected, actual), (actual, expected))
    )
    for pair in zip(expected_part, middle, strict=True):
        yield LineChange(line, *pair)
        line += pair[1] is not None


def _with_gaps(lines: Sequence[str], partners: Sequence[str], shifts: range, longer: int) -> list[str | None]:
    """The lines, and None where they have no partner; moved to where they are most like the other ones."""
    best = 0
    if len(lines) < longer:
        best = max(shifts, key=lambda shift: sum(map(_likeness, lines, partners[shift:])))
    return [*[None] * best, *lines, *[None] * (longer - len(lines) - best)]


def _likeness(first: str, second: str) -> int:
    """Number of characters that are the same at both ends, of those that matter."""
    first, second = first[:WIDEST], second[:WIDEST]
    return _equal_at_start(first, second) + _equal_at_start(first[::-1], second[::-1])


def headline(changes: Sequence[LineChange], expected: int, actual: int, name: str) -> str:
    """Headline for the first changes, with numbers of lines: `line 3 of the file `a` is not as expected`."""
    first = changes[0]
    if first.actual is None:
        if first.line > actual:
            return text_of("lines-missing-at-end", count=expected - actual, name=name)
        alike = takewhile(lambda change: change.actual is None and change.line == first.line, changes)
        return text_of("lines-missing", count=len(tuple(alike)), line=first.line, name=name)
    if first.expected is None and first.line > expected:
        return text_of("lines-too-many", count=actual - expected, name=name)
    if first.expected is None:
        return text_of("line-too-many", line=first.line, name=name)
    return text_of(_how_it_differs(first.expected, first.actual), line=first.line, name=name)


def _how_it_differs(expected: str, actual: str) -> str:
    """The text that says it."""
    if "".join(expected.split()) == "".join(actual.split()):
        return "line-differs-in-blanks"
    return "line-differs-in-capitals" if expected.casefold() == actual.casefold() else "line-differs"


def change_rows(changes: Sequence[LineChange]) -> tuple[str, ...]:
    """The first changes as lines of text, each with its number; at most `MOST_ROWS`."""
    shown: list[str] = []
    for number, change in enumerate(changes):
        block = list(_rows_of_change(change))
        if len(shown) + len(block) >= MOST_ROWS:
            shown.append(text_of("more-lines", count=len(changes) - number))
            break
        shown += block
    return tuple(shown)


def _rows_of_change(change: LineChange) -> Iterator[str]:
    if change.actual is None:
        yield text_of("row-missing", line=change.line, text=_quoted_line(change.expected or ""))
    elif change.expected is None:
        yield text_of("row-too-many", line=change.line, text=_quoted_line(change.actual))
    else:
        position = _equal_at_start(change.expected, change.actual)
        expected, _ = window(change.expected, position)
        actual, caret = window(change.actual, position)
        labels = text_of("row-expected"), text_of("row-got")
        room = max(map(len, labels))
        yield text_of("row", line=change.line)
        for label, text in zip(labels, (expected, actual), strict=True):
            yield f"  {label:<{room}} {text or text_of('empty-line')}"
        yield f"  {'':<{room}} {'^':>{caret + 1}}"


def _quoted_line(text: str) -> str:
    return safe_line(text) if text else text_of("empty-line")
