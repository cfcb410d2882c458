"""The first lines in which a text differs from what was expected, for people to read.

Lines that are the same at the start and at the end are left out first; what is between is aligned, so that
one line too many does not make all that follow differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile
from typing import TYPE_CHECKING

from grader.checks.printed import WIDEST, harmless, window
from grader.text import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_ROWS = 12
"""Rows of a difference that are shown."""

MOST_ALIGNED = 60
"""Lines on either side that are aligned; beyond them only their number is told."""

EMPTY = "(an empty line)"


@dataclass(frozen=True, slots=True)
class Change:
    """One line that is not as expected; ``expected`` or ``got`` is None where the line is extra or missing.

    ``line`` counts from 1 in what was printed; a line that is missing should come before it.
    """

    line: int
    expected: str | None
    got: str | None


def changes(expected: Sequence[str], got: Sequence[str]) -> tuple[Change, ...]:
    """What is not as expected, in the order of the lines; empty where nothing differs."""
    start = _alike(expected, got)
    room = min(len(expected), len(got)) - start
    end = min(room, _alike(expected[::-1], got[::-1]))
    wanted = expected[start : len(expected) - end][:MOST_ALIGNED]
    found = got[start : len(got) - end][:MOST_ALIGNED]
    aligned = SequenceMatcher(None, wanted, found, autojunk=False).get_opcodes()
    if max(len(expected), len(got)) - start - end > MOST_ALIGNED and len(aligned) > 1:
        aligned.pop()  # only the end of what was aligned, perhaps
    return tuple(
        change
        for kind, i, j, k, m in aligned
        if kind != "equal"
        for change in _paired(wanted[i:j], found[k:m], start + k + 1)
    )


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are the same at the start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _paired(expected: Sequence[str], got: Sequence[str], line: int) -> Iterator[Change]:
    """Lines that stand for each other side by side, those that have none before or after them."""
    longer = max(len(expected), len(got))
    shifts = range(longer - min(len(expected), len(got)) + 1)
    wanted, found = (
        _beside(lines, other, shifts, longer) for lines, other in ((expected, got), (got, expected))
    )
    for pair in zip(wanted, found, strict=True):
        yield Change(line, *pair)
        line += pair[1] is not None


def _beside(lines: Sequence[str], other: Sequence[str], shifts: range, longer: int) -> list[str | None]:
    """The lines, and None where they have no partner; moved to where they are most like the other ones."""
    best = 0
    if len(lines) < longer:
        best = max(shifts, key=lambda shift: sum(map(_likeness, lines, other[shift:])))
    return [*[None] * best, *lines, *[None] * (longer - len(lines) - best)]


def _likeness(one: str, other: str) -> int:
    """How many characters are the same at both ends, of those that matter."""
    one, other = one[:WIDEST], other[:WIDEST]
    return _alike(one, other) + _alike(one[::-1], other[::-1])


def headline(found: Sequence[Change], expected: int, got: int, name: str) -> str:
    """What the first changes are about, of so many lines: `line 3 of the file `a` is not as expected`."""
    first = found[0]
    if first.got is None:
        alike = takewhile(lambda change: change.got is None and change.line == first.line, found)
        at_end = first.line > got
        lines = _are(expected - got if at_end else len(tuple(alike)))
        return f"{lines} missing {'at the end' if at_end else f'before line {first.line}'} of {name}"
    if first.expected is None and first.line > expected:
        return f"{_are(got - expected)} too many at the end of {name}"
    if first.expected is None:
        return f"line {first.line} of {name} is one too many"
    return f"line {first.line} of {name} {_manner(first.expected, first.got)}"


def _are(lines: int) -> str:
    return f"{count(lines, 'line')} {'is' if lines == 1 else 'are'}"


def _manner(expected: str, got: str) -> str:
    if "".join(expected.split()) == "".join(got.split()):
        return "differs in blanks"
    if expected.casefold() == got.casefold():
        return "differs in upper and lower case"
    return "is not as expected"


def rows(found: Sequence[Change]) -> tuple[str, ...]:
    """The first changes as lines of text, each with its number; at most `MOST_ROWS`."""
    shown: list[str] = []
    for number, change in enumerate(found):
        block = list(_rows(change))
        if len(shown) + len(block) >= MOST_ROWS:
            shown.append(f"… and {count(len(found) - number, 'more line')}")
            break
        shown += block
    return tuple(shown)


def _rows(change: Change) -> Iterator[str]:
    if change.got is None:
        yield f"missing before line {change.line}: {_line(change.expected or '')}"
    elif change.expected is None:
        yield f"too many, line {change.line}: {_line(change.got)}"
    else:
        place = _alike(change.expected, change.got)
        wanted, _ = window(change.expected, place)
        got, caret = window(change.got, place)
        yield f"line {change.line}"
        yield f"  expected: {wanted or EMPTY}"
        yield f"  got:      {got or EMPTY}"
        yield f"            {'^':>{caret + 1}}"


def _line(text: str) -> str:
    return harmless(text) if text else EMPTY
