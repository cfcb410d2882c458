"""A question and a student → the expected answer, how one gets there, and what known mistakes would give."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING

from grader.analysis import SUBJECTS, Misconception, parameters, shown, study, value
from grader.arithmetic import ArithmeticProblem, Name, exactly, names
from grader.errors import OurError
from grader.submission.files import safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.analysis import Subject
    from grader.model import AnswersInterface, DrawnNumber, Named, Question, Setting

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")

SCALES: dict[str, tuple[tuple[Fraction, str], ...]] = {
    "bytes": (
        (Fraction(1, 4), "this counts elements, not bytes: a float has 4 bytes"),
        (Fraction(4), "this is four times too much: are bytes multiplied by 4 once too often?"),
        (Fraction(8), "this counts bits: a byte has 8"),
    ),
    "flop": (
        (Fraction(1, 2), "this counts a multiplication and an addition as one operation; they are two"),
        (
            Fraction(2),
            "this counts every operation twice: a multiplication and an addition are two, not four",
        ),
    ),
    "flop/byte": (
        (Fraction(4), "this is for each float that is read: a float has 4 bytes"),
        (Fraction(1, 2), "this counts a multiplication and an addition as one operation; they are two"),
    ),
    "%": ((Fraction(1, 100), "this is a share: as a percentage it is 100 times as much"),),
}
"""Mistakes of scale by the unit of the answer."""

EVERYWHERE: tuple[tuple[Fraction, str], ...] = (
    (
        Fraction(1, 1000),
        "this is 1,000 times too small: a point is a decimal point here, or the unit is another one",
    ),
    (Fraction(1000), "this is 1,000 times too much: check the unit"),
    (Fraction(1, 1024), "this is 1,024 times too small: check the unit"),
    (Fraction(1024), "this is 1,024 times too much: check the unit"),
    (Fraction(2), "this is twice as much as it should be"),
    (Fraction(1, 2), "this is half of what it should be"),
)


@dataclass(frozen=True, slots=True)
class SolvedQuestion:
    """A question with a student's numbers in it, and all that follows from them."""

    text: str
    expected: Fraction
    numbers: Named[int]
    steps: tuple[str, ...]
    misconceptions: Named[Fraction]


def setting_of(interface: AnswersInterface, question: Question) -> Setting:
    """What the question is about; raises OurError where there is no such setting."""
    for setting in interface.settings:
        if setting.id == question.setting:
            return setting
    raise OurError(f"the question {question.id} names the setting {question.setting}, which is not there")


def is_drawn(interface: AnswersInterface, question: Question) -> bool:
    """Whether its numbers differ between students."""
    return any(not number.fixed for number in setting_of(interface, question).numbers)


def solve_question(
    interface: AnswersInterface, question: Question, seed: int, student: str
) -> SolvedQuestion:
    """The question for this student; raises UsageError where its numbers give no answer."""
    setting = setting_of(interface, question)
    subject = SUBJECTS[setting.subject]
    numbers = numbers_of(setting, seed, student)
    expected = _answer_value(subject, numbers, question)
    return SolvedQuestion(
        text=fill_in(question.text, parameters(subject, numbers)),
        expected=expected,
        numbers=tuple(numbers.items()),
        steps=tuple(_steps(subject, numbers, question, expected)),
        misconceptions=tuple(_misconceptions(subject, numbers, question, expected)),
    )


def fill_in(text: str, numbers: Mapping[str, int]) -> str:
    """The text with numbers for their names in braces."""
    return _PLACEHOLDER.sub(
        lambda match: _plainly(numbers[match[1]]) if match[1] in numbers else match[0], text
    )


def _plainly(number: int) -> str:
    """Sizes of matrices stay plain, large numbers get commas."""
    return str(number) if number < 10_000 else f"{number:,}"  # noqa: PLR2004 - five digits are many


def _answer_value(
    subject: Subject, numbers: Mapping[str, int], question: Question, wrong: Misconception | None = None
) -> Fraction:
    named = {name: value(subject, numbers, name, wrong) for name in names(question.answer)}
    return exactly(question.answer, named)


def _steps(
    subject: Subject, numbers: Mapping[str, int], question: Question, expected: Fraction
) -> Iterator[str]:
    steps: dict[str, None] = {}
    for name in sorted(names(question.answer)):
        steps.update(dict.fromkeys(study(subject, numbers, name).steps))
    yield from steps
    if not isinstance(question.answer, Name) or not steps:
        yield f"{question.answer} = {shown(expected)}{f' {question.unit}' if question.unit else ''}"
    if question.note:
        yield question.note


def _misconceptions(
    subject: Subject, numbers: Mapping[str, int], question: Question, expected: Fraction
) -> Iterator[tuple[str, Fraction]]:
    """The wrong values that something explains, each once, the likeliest explanation first."""
    seen = {expected}
    for words, wrong_value in (
        *_wrong_models(subject, numbers, question),
        *((words, expected * factor) for factor, words in (*SCALES.get(question.unit, ()), *EVERYWHERE)),
        *((("this is turned upside down"), 1 / expected) for _ in (0,) if expected and not question.unit),
    ):
        if wrong_value not in seen:
            seen.add(wrong_value)
            yield words, wrong_value


def _wrong_models(
    subject: Subject, numbers: Mapping[str, int], question: Question
) -> Iterator[tuple[str, Fraction]]:
    for wrong in subject.misconceptions(subject.situation(parameters(subject, numbers))):
        try:
            yield wrong.words, _answer_value(subject, numbers, question, wrong)
        except (ArithmeticProblem, ArithmeticError):
            continue  # so wrong that it has no value


def numbers_of(setting: Setting, seed: int, student: str) -> dict[str, int]:
    """The setting's numbers for a student, whose id is that of the submission; case does not count in it."""
    who = safe(student).casefold()
    return {number.name: _drawn(number, seed, who, setting.id) for number in setting.numbers}


def _drawn(number: DrawnNumber, seed: int, student: str, setting: str) -> int:
    hashed = sha256(repr(("question", seed, student, setting, number.name)).encode()).digest()
    number_drawn = int.from_bytes(
        hashed, "big"
    )  # 256 bits: no number is likelier than another by anything measurable
    if number.choices:
        return number.choices[number_drawn % len(number.choices)]
    return number.low + number_drawn % (number.high - number.low + 1)
