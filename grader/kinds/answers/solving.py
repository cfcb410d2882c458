"""A question and a student → the expected answer, how one gets there, and what known mistakes would give."""

from __future__ import annotations

import re
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING

from grader.base.arithmetic import ArithmeticProblem, Name, exactly, names
from grader.base.errors import OurError
from grader.base.records import frozen
from grader.grading.submission.items import safe
from grader.model import Clause
from grader.model.messages import text_of
from grader.simulation.analysis.subjects import SUBJECTS, Misconception, number_text, parameters, study, value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.model import AnswersInterface, DrawnNumber, Named, Question, Setting
    from grader.simulation.analysis.subjects import Subject

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")

SCALES: dict[str, tuple[tuple[Fraction, str], ...]] = {
    "bytes": (
        (Fraction(1, 4), "slip-elements"),
        (Fraction(4), "slip-four-times"),
        (Fraction(8), "slip-bits"),
    ),
    "flop": ((Fraction(1, 2), "slip-one-operation"), (Fraction(2), "slip-four-operations")),
    "flop/byte": ((Fraction(4), "slip-each-float"), (Fraction(1, 2), "slip-one-operation")),
    "%": ((Fraction(1, 100), "slip-share"),),
}
"""Mistakes of scale by the unit of the answer, by their names in `grader.model.messages.answers`."""

EVERYWHERE: tuple[tuple[Fraction, str], ...] = (
    (Fraction(1, 1000), "slip-thousandth"),
    (Fraction(1000), "slip-thousand"),
    (Fraction(1, 1024), "slip-1024th"),
    (Fraction(1024), "slip-1024"),
    (Fraction(2), "slip-twice"),
    (Fraction(1, 2), "slip-half"),
)


@frozen
class SolvedQuestion:
    """A question with a student's numbers in it, and all that follows from them."""

    text: str
    expected: Fraction
    numbers: Named[int]
    steps: tuple[str, ...]
    misconceptions: Named[Fraction]


def setting_of(interface: AnswersInterface, question: Question) -> Setting:
    """Setting that the question is about; raises OurError where there is no such setting."""
    for setting in interface.settings:
        if setting.id == question.setting:
            return setting
    raise OurError(f"the question {question.id} names the setting {question.setting}, which is not there")


def is_drawn(interface: AnswersInterface, question: Question) -> bool:
    """True if the question's numbers differ between students."""
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
        steps.update(dict.fromkeys(map(_worded, study(subject, numbers, name).steps)))
    yield from steps
    if not isinstance(question.answer, Name) or not steps:
        worked_out = "answer-worked-out-unit" if question.unit else "answer-worked-out"
        yield text_of(
            worked_out, expression=str(question.answer), value=number_text(expected), unit=question.unit
        )
    if question.note:
        yield question.note


def _misconceptions(
    subject: Subject, numbers: Mapping[str, int], question: Question, expected: Fraction
) -> Iterator[tuple[str, Fraction]]:
    """The wrong values that something explains, each once, the likeliest explanation first."""
    seen = {expected}
    for slip, wrong_value in (
        *_wrong_models(subject, numbers, question),
        *((Clause(name), expected * factor) for factor, name in SCALES.get(question.unit, ())),
        *((Clause(name), expected * factor) for factor, name in EVERYWHERE),
        *((Clause("slip-upside-down"), 1 / expected) for _ in (0,) if expected and not question.unit),
    ):
        if wrong_value not in seen:
            seen.add(wrong_value)
            yield _worded(slip), wrong_value


def _worded(part: Clause) -> str:
    """A step or a mistake in the language of the course."""
    return text_of(part.name, **dict(part.values))


def _wrong_models(
    subject: Subject, numbers: Mapping[str, int], question: Question
) -> Iterator[tuple[Clause, Fraction]]:
    for wrong in subject.misconceptions(subject.situation(parameters(subject, numbers))):
        try:
            yield wrong.slip, _answer_value(subject, numbers, question, wrong)
        except (ArithmeticProblem, ArithmeticError):
            continue  # so wrong that it has no value


def numbers_of(setting: Setting, seed: int, student: str) -> dict[str, int]:
    """The setting's numbers for a student, whose id is that of the submission; case does not count in it."""
    who = safe(student).casefold()
    return {number.name: _random_number(number, seed, who, setting.id) for number in setting.numbers}


def _random_number(number: DrawnNumber, seed: int, student: str, setting: str) -> int:
    hashed = sha256(repr(("question", seed, student, setting, number.name)).encode()).digest()
    number_drawn = int.from_bytes(
        hashed, "big"
    )  # 256 bits: no number is likelier than another by anything measurable
    if number.choices:
        return number.choices[number_drawn % len(number.choices)]
    return number.low + number_drawn % (number.high - number.low + 1)
