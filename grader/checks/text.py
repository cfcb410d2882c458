"""`text`: what the program printed, or wrote to a file, is what it should be.

In one of four ways: `exact` character by character; `lines` line by line, where blanks at the ends of lines
and empty lines at the end do not count; `matches`, a regular expression found somewhere; `numbers` at named
places, each within its tolerance, with `partial: per-number` each worth its share. A run that did not come to
its end has not printed what it should, whatever it printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from grader.checks import numbers, printed, text_diff, wording
from grader.checks.check import Check, key
from grader.checks.program_cases import RIGHT, Outcome, ended_early, failed, judge_cases
from grader.text import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.checks.check import Disorder
    from grader.model import CheckResult, Evidence, ExpectedNumber, ProgramRun

WAYS = ("exact", "lines", "matches", "numbers")
"""How an item looks at what was printed: in one of these ways."""

STREAMS = ("stdout", "stderr")
"""What an item may look at that is no file."""

MOST_NUMBERS = 8
"""Wrong numbers that are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCheck(Check):
    """It prints, or writes to a file, what it should; in exactly one of the `WAYS`."""

    name: ClassVar[str] = "text"
    title: ClassVar[str] = "what it prints"
    kinds: ClassVar[tuple[str, ...]] = ("program",)
    partial: ClassVar[tuple[str, ...]] = ("per-case", "per-number")
    of: str = key("Stream", "stdout")
    exact: str | None = key("Verbatim", None)
    lines: str | None = key("Lines", None)
    matches: str | None = key("Pattern", None)
    numbers: tuple[ExpectedNumber, ...] | None = key("ExpectedNumbers", None)

    def contradiction(self) -> tuple[str, str] | None:
        """Where there is none of the `WAYS`, or more than one."""
        given = [way for way in WAYS if getattr(self, way) is not None]
        if len(given) != 1:
            listed = " and ".join(f"`{way}`" for way in given) or "none"
            return given[1] if given else WAYS[0], f"expected one of {', '.join(WAYS)}, found {listed}"
        if self.item.partial == "per-number" and self.numbers is None:
            return "partial", "expected `per-case`: only `numbers` can earn points one by one"
        return None

    def disorder(self) -> Iterator[Disorder]:
        """A stream in capitals, shares of nothing, and numbers that are looked for at one place."""
        if self.of.casefold() in STREAMS and self.of not in STREAMS:
            yield ("of",), f"expected `{self.of.casefold()}`, in lower case"
        seen: dict[tuple[str, int], int] = {}
        for index, number in enumerate(self.numbers or ()):
            if number.relative and number.value == 0:
                yield (
                    ("numbers", index, "within"),
                    "expected an absolute number, like 0.001: any share of 0 is 0",
                )
            where = (number.after, number.nth)
            if where in seen:
                message = f"numbers[{seen[where]}] looks at the same place; say `nth: 2` for the next number"
                yield ("numbers", index, "after"), message
            seen.setdefault(where, index)

    def judge(self, evidence: Evidence) -> CheckResult:
        """Judge one text of the runs of the item's cases."""
        return judge_cases(self.item, evidence, lambda _, run: self._judge_run(run))

    def _judge_run(self, run: ProgramRun) -> Outcome:
        early = ended_early(run)
        if early is not None:
            return early
        text = printed.content(run, self.of)
        if text is None:
            return failed(f"the program left no file {printed.quoted(self.of)}, or one that is too large")
        if self.exact is not None:
            return _exact(text, self.exact, self.of)
        if self.lines is not None:
            expected = printed.lines(printed.decoded(self.lines.encode()))
            return _lines(printed.lines(text), expected, self.of)
        if self.matches is not None:
            return _matches(text, self.matches, self.of)
        return _numbers(printed.loose(text), self.numbers or (), self.of)


def _exact(text: str, expected: str, of: str) -> Outcome:
    wanted = expected.replace("\r\n", "\n")
    if text == wanted:
        return RIGHT
    if printed.loose(text) == printed.loose(wanted):
        why = f"{_name(of)} differs from what is expected in blanks or line ends"
        return failed(why, _blanks(wanted, text, _name(of)))
    return _different(printed.lines(wanted), printed.lines(text), of)


def _blanks(expected: str, text: str, name: str) -> str:
    """Where two texts differ that look the same."""
    pairs = zip(expected.split("\n"), text.split("\n"), strict=False)
    line = next((n for n, (wanted, got) in enumerate(pairs, start=1) if wanted != got), None)
    if line is not None:
        return f"line {line} of {name} differs from what is expected in blanks at its end"
    return f"there {_ends(text)} at the end of {name}; expected {_ends(expected).partition(' ')[2]}"


def _ends(text: str) -> str:
    """How many line ends a text ends with."""
    number = len(text) - len(text.rstrip("\n"))
    if not number:
        return "is no line end"
    return f"{'is' if number == 1 else 'are'} {count(number, 'line end')}"


def _lines(got: list[str], expected: list[str], of: str) -> Outcome:
    return RIGHT if got == expected else _different(expected, got, of)


def _different(expected: list[str], got: list[str], of: str) -> Outcome:
    name = _name(of)
    why = f"{name} is not as expected"
    if not any(got):
        return failed(why, f"{name} is empty; expected {count(len(expected), 'line')}")
    changes = text_diff.changes(expected, got)
    what = text_diff.headline(changes, len(expected), len(got), name)
    return failed(why, what, text_diff.rows(changes))


def _matches(text: str, pattern: str, of: str) -> Outcome:
    import re2  # noqa: PLC0415 - few assignments have a pattern

    options = re2.Options()
    options.log_errors = False
    if re2.compile(f"(?m){pattern}", options).search(text) is not None:
        return RIGHT
    why = f"{_name(of)} is not of the form that is expected"
    return failed(why, f"nothing in {_name(of)} matches the pattern {printed.quoted(pattern, 100)}")


def _numbers(text: str, expected: tuple[ExpectedNumber, ...], of: str) -> Outcome:
    readings = [(numbers.read(text, number), number) for number in expected]
    wrong = [(reading, number) for reading, number in readings if not reading.right]
    if not wrong:
        return RIGHT
    right = len(expected) - len(wrong)
    verb = "are" if right > 1 else "is"
    share = f"{right or 'none'} of {count(len(expected), 'number')} {verb} right"
    told = numbers.sentences(wrong, of)
    shown = [
        *told[:MOST_NUMBERS],
        *([f"… and {len(told) - MOST_NUMBERS} more"] if told[MOST_NUMBERS:] else []),
    ]
    points = Fraction(right, len(expected))
    hidden = f"{share}; wrong: {_names([number for _, number in wrong])}"
    if len(expected) == 1:
        return failed(hidden, told[0], share=points)
    if len(told) == 1:
        return failed(hidden, f"{share}: {told[0]}", share=points)
    return failed(hidden, share, tuple(shown), points)


def _names(wrong: list[ExpectedNumber]) -> str:
    """What the staff call the numbers: no secret, unlike what they are."""
    names = [wording.printable(number.name) for number in wrong[:MOST_NUMBERS]]
    return "; ".join([*names, *(["…"] if wrong[MOST_NUMBERS:] else [])])


def _name(of: str) -> str:
    known = {"stdout": "what your program prints", "stderr": "what your program prints to standard error"}
    return known.get(of) or f"the file {printed.quoted(of)}"
