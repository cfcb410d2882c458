"""`text`: what the program printed, or wrote to a file, is what it should be.

In one of four ways: `exact` character by character; `lines` line by line, where blanks at the ends of lines
and empty lines at the end do not count; `matches`, a regular expression that matches somewhere; `numbers` at
named places, each within its tolerance, with `partial: per-number` each worth its share. A run that did not
come to its end has not printed what it should, whatever it printed.

A number is what C prints with `%d`, `%f`, `%e` or `%g`: digits with a point and an exponent if need be, and a
sign where nothing it could belong to stands before it (`0-1` are two numbers). What follows it does not
matter: `2.00x` is 2. There are no separators of thousands: `1,024` is 1. `inf` and `nan` are read as numbers
that are never right.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import groupby, islice
from typing import TYPE_CHECKING, ClassVar

from grader.base.records import frozen
from grader.grading.checks import program_output, wording
from grader.grading.checks.check import Check, key
from grader.grading.checks.program_cases import RIGHT, RunVerdict, ended_early, failed, judge_cases
from grader.grading.checks.program_output import change_rows, headline, line_changes, quoted, safe_line
from grader.model.messages import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.grading.checks.check import Disorder
    from grader.model import CheckResult, Evidence, ExpectedNumber, ProgramRun

WAYS = ("exact", "lines", "matches", "numbers")
"""Ways in which an item looks at what was printed."""

STREAMS = ("stdout", "stderr")
"""Values of ``of`` that are no files."""

MOST_NUMBERS = 8
"""Most wrong numbers that are reported."""


@frozen(kw_only=True)
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
        """Conflict where there is none of the `WAYS`, or more than one."""
        ways = [way for way in WAYS if getattr(self, way) is not None]
        if len(ways) != 1:
            listed = " and ".join(f"`{way}`" for way in ways) or "none"
            return ways[1] if ways else WAYS[0], f"expected one of {', '.join(WAYS)}, found {listed}"
        if self.item.partial == "per-number" and self.numbers is None:
            return "partial", "expected `per-case`: only `numbers` can earn points one by one"
        return None

    def disorder(self) -> Iterator[Disorder]:
        """A stream in capitals, shares of nothing, and numbers that are looked for at one place."""
        if self.of.casefold() in STREAMS and self.of not in STREAMS:
            yield ("of",), f"expected `{self.of.casefold()}`, in lower case"
        earlier: dict[tuple[str, int], int] = {}
        for index, number in enumerate(self.numbers or ()):
            if number.relative and number.value == 0:
                yield (
                    ("numbers", index, "within"),
                    "expected an absolute number, like 0.001: any share of 0 is 0",
                )
            start = (number.after, number.nth)
            if start in earlier:
                message = (
                    f"numbers[{earlier[start]}] looks at the same place; say `nth: 2` for the next number"
                )
                yield ("numbers", index, "after"), message
            earlier.setdefault(start, index)

    def judge(self, evidence: Evidence) -> CheckResult:
        """Judge one text of the runs of the item's cases."""
        return judge_cases(self.item, evidence, lambda _, run: self._judge_run(run))

    def _judge_run(self, run: ProgramRun) -> RunVerdict:
        early = ended_early(run)
        if early is not None:
            return early
        text = program_output.content(run, self.of)
        if text is None:
            return failed(text_of("no-file", file=quoted(self.of)), program_output.no_file(run, self.of))
        if self.exact is not None:
            return _exact(text, self.exact, self.of)
        if self.lines is not None:
            expected = program_output.lines(program_output.decoded(self.lines.encode()))
            return _lines(program_output.lines(text), expected, self.of)
        if self.matches is not None:
            return _matches(text, self.matches, self.of)
        return _numbers(program_output.without_end_blanks(text), self.numbers or (), self.of)


def _exact(text: str, expected: str, of: str) -> RunVerdict:
    normalised = expected.replace("\r\n", "\n")
    if text == normalised:
        return RIGHT
    if program_output.without_end_blanks(text) == program_output.without_end_blanks(normalised):
        name = _name(of)
        return failed(text_of("differs-in-blanks", name=name), _blanks(normalised, text, name))
    return _different(program_output.lines(normalised), program_output.lines(text), of)


def _blanks(expected: str, text: str, name: str) -> str:
    """Position of the difference of two texts that look the same."""
    pairs = zip(expected.split("\n"), text.split("\n"), strict=False)
    line = next(
        (n for n, (expected_line, actual_line) in enumerate(pairs, start=1) if expected_line != actual_line),
        None,
    )
    if line is not None:
        return text_of("line-differs-at-end", line=line, name=name)
    actual, expected_ends = _line_ends(text), _line_ends(expected)
    ends = text_of("expected-ends", count=expected_ends) if expected_ends else text_of("expected-ends-none")
    if not actual:
        return text_of("line-ends-none", name=name, expected=ends)
    return text_of("line-ends", count=actual, name=name, expected=ends)


def _line_ends(text: str) -> int:
    """Number of line ends at the end of a text."""
    return len(text) - len(text.rstrip("\n"))


def _lines(actual: list[str], expected: list[str], of: str) -> RunVerdict:
    return RIGHT if actual == expected else _different(expected, actual, of)


def _different(expected: list[str], actual: list[str], of: str) -> RunVerdict:
    name = _name(of)
    why = text_of("not-as-expected", name=name)
    if not any(actual):
        return failed(why, text_of("empty", name=name, count=len(expected)))
    changes = line_changes(expected, actual)
    details = headline(changes, len(expected), len(actual), name)
    return failed(why, details, change_rows(changes))


def _matches(text: str, pattern: str, of: str) -> RunVerdict:
    import re2  # noqa: PLC0415 - few assignments have a pattern

    options = re2.Options()
    options.log_errors = False
    if re2.compile(f"(?m){pattern}", options).search(text) is not None:
        return RIGHT
    name = _name(of)
    return failed(
        text_of("not-of-form", name=name), text_of("no-match", name=name, pattern=quoted(pattern, 100))
    )


def _numbers(text: str, expected: tuple[ExpectedNumber, ...], of: str) -> RunVerdict:
    readings = [(read_number(text, number), number) for number in expected]
    wrong = [(reading, number) for reading, number in readings if not reading.right]
    if not wrong:
        return RIGHT
    right = len(expected) - len(wrong)
    total = text_of("numbers", count=len(expected))
    share = (
        text_of("numbers-right", count=right, total=total)
        if right
        else text_of("numbers-none-right", total=total)
    )
    texts = number_sentences(wrong, of)
    more = [text_of("more-numbers", number=len(texts) - MOST_NUMBERS)] if texts[MOST_NUMBERS:] else []
    points = Fraction(right, len(expected))
    hidden = text_of("numbers-wrong", share=share, names=_names([number for _, number in wrong]))
    if len(expected) == 1:
        return failed(hidden, texts[0], share=points)
    if len(texts) == 1:
        return failed(hidden, text_of("share-and-number", share=share, sentence=texts[0]), share=points)
    return failed(hidden, share, (*texts[:MOST_NUMBERS], *more), points)


def _names(wrong: list[ExpectedNumber]) -> str:
    """Names that the staff give the numbers: no secret, unlike their values."""
    names = [wording.printable(number.name) for number in wrong[:MOST_NUMBERS]]
    return "; ".join([*names, *(["…"] if wrong[MOST_NUMBERS:] else [])])


def _name(of: str) -> str:
    return text_of(_kind(of), file=quoted(of))


def _kind(of: str) -> str:
    """A stream, or `file`: how texts about it are named."""
    return of if of in STREAMS else "file"


# --- numbers at named places: the first one after some words, or the second, and so on ----------------------

NUMBER = re.compile(
    r"""(?:(?<![\w.)\]}])[-+])?                    # a sign, unless it stands between two things
        (?: (?:[0-9]+(?:\.[0-9]*)? | \.[0-9]+)     # 12, 12., 12.5 and .5
            (?:[eE][-+]?[0-9]+)?
          | (?<!\w)(?:inf(?:inity)?|nan)(?!\w) )""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)

LONGEST_NUMBER = 400
"""Characters of a number that is read, and the largest power of ten: no type of C holds more."""

SHOWN_CHARACTERS = 30
"""Characters of a number that are shown."""

MOST_EXPECTED = 6
"""Numbers that are named where the words before them are not there."""


@frozen
class ReadNumber:
    """Number read at a place: ``has_words`` says if the words before it are there; ``text`` is the number."""

    has_words: bool
    text: str = ""
    right: bool = False


def read_number(text: str, required: ExpectedNumber) -> ReadNumber:
    """Look one number up, after the words that it belongs to, and judge it."""
    start = text.find(required.after)
    if start < 0:
        return ReadNumber(has_words=False)
    numbers = NUMBER.finditer(text, start + len(required.after))
    match = next(islice(numbers, required.nth - 1, None), None)
    if match is None:
        return ReadNumber(has_words=True)
    return ReadNumber(
        has_words=True, text=match.group(), right=is_right_number(number_value(match.group()), required)
    )


def number_value(text: str) -> Fraction | None:
    """The number that a text of the form `NUMBER` means; None for `inf`, `nan` and what is absurdly large."""
    mantissa, _, exponent = text.lower().partition("e")
    if "n" in mantissa or len(text) > LONGEST_NUMBER or abs(int(exponent or 0)) > LONGEST_NUMBER:
        return None
    return Fraction(mantissa.removesuffix(".")) * Fraction(10) ** int(exponent or 0)


def is_right_number(number: Fraction | None, required: ExpectedNumber) -> bool:
    """True if a number is within its tolerance."""
    margin = required.within * abs(required.value) if required.relative else required.within
    return number is not None and abs(number - required.value) <= margin


def number_sentences(wrong: Sequence[tuple[ReadNumber, ExpectedNumber]], of: str) -> list[str]:
    """Actual and expected number at each place; words that are not there at all are reported once."""
    texts = []
    for after, group in groupby(wrong, key=lambda pair: pair[1].after):
        pairs = list(group)
        if pairs[0][0].has_words:
            texts += [_sentence(reading, required, of) for reading, required in pairs]
        else:
            numbers = [
                f"{plain_number(required.value)}{_margin(required)}" for _, required in pairs[:MOST_EXPECTED]
            ]
            listed = ", ".join([*numbers, *(["…"] if pairs[MOST_EXPECTED:] else [])])
            name, words = f"no-words-{_kind(of)}", quoted(after.strip())
            texts.append(text_of(name, words=words, expected=listed, file=quoted(of)))
    return texts


def _sentence(reading: ReadNumber, required: ExpectedNumber, of: str) -> str:
    """After `Speed:` your program prints 3; expected 2."""
    expected = f"{plain_number(required.value)}{_margin(required)}"
    words, nth = quoted(required.after.strip()), required.nth
    number = safe_line(reading.text, SHOWN_CHARACTERS)
    if not number:
        number = text_of("no-number-nth", nth=nth) if nth > 1 else text_of("no-number")
    elif nth > 1:
        number = text_of("number-nth", number=number, nth=nth)
    name = f"number-{_kind(of)}"
    return text_of(name, words=words, number=number, expected=expected, file=quoted(of))


def plain_number(number: Fraction) -> str:
    """A number as people write it: `128`, `0.25`, `1e-09`."""
    if number.denominator == 1 and abs(number) < 10**15:
        return str(number.numerator)
    return f"{float(number):.12g}"


def _margin(required: ExpectedNumber) -> str:
    if not required.within:
        return ""
    margin = (
        f"{plain_number(100 * required.within)} %" if required.relative else plain_number(required.within)
    )
    return text_of("margin", bound=margin)
