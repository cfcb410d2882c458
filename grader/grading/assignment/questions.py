"""An assignment file of kind ``answers``: settings, questions about them, and their records.

A setting ``mp3: {matmul: {M: 55, K: 48, N: 43, tile: 16}}``, a question ``{id: read, of: mp3, text: …,
answer: global_load_bytes}`` and an item ``{id: traffic, points: 10, check: answers, questions: [read]}``
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from grader.base.arithmetic import Name as NameOfNumber
from grader.grading.assignment.fields import Formula, Identifier, Name, Sentence, text
from grader.grading.assignment.program_fields import EXACTLY, Within
from grader.grading.assignment.rubric import AnswersItem  # noqa: TC001
from grader.grading.assignment.structure import AssignmentFile, FilePart
from grader.model import AnswersInterface, CasePlan, DrawnNumber, Question, Setting, Visibility
from grader.simulation.analysis.subjects import MOST, SUBJECTS

if TYPE_CHECKING:
    from collections.abc import Mapping


MOST_TEXT = 1000
"""Characters of a question."""

LONGEST_UNIT = 30
_NUMBER = r"[0-9]{1,9}"
_EXPECTED = "a whole number, a range like 40..160, or a choice like `8 | 16 | 32`"


def _numbers(value: object) -> tuple[int, int, tuple[int, ...]]:
    """The lowest, the highest and, of a choice, all the numbers there are."""
    written = text(value, _EXPECTED)
    choices = [part.strip() for part in written.split("|")]
    ends = [part.strip() for part in written.split("..")]
    parts = choices if len(choices) > 1 else ends
    if len(ends) > 2 or not all(re.fullmatch(_NUMBER, part) for part in parts):  # noqa: PLR2004 - two ends
        raise ValueError(f"expected {_EXPECTED}, found `{written[:60]}`")
    numbers = tuple(map(int, parts))
    if max(numbers) > MOST:
        raise ValueError(f"expected at most {MOST}, found `{written}`")
    if len(choices) > 1:
        return min(numbers), max(numbers), numbers
    if numbers[0] > numbers[-1]:
        raise ValueError(f"expected the lower end first, found `{written}`")
    return numbers[0], numbers[-1], ()


def _question_text(value: object) -> str:
    written = text(value, "a question")
    if any(not character.isprintable() and character != "\n" for character in written):
        raise ValueError("expected a text without control characters")
    if len(written) > MOST_TEXT:
        raise ValueError(f"expected at most {MOST_TEXT} characters, found {len(written)}")
    return written


def _unit(value: object) -> str:
    written = text(value, "a unit such as bytes")
    if not written.isprintable() or len(written) > LONGEST_UNIT or re.search(r"\d", written):
        raise ValueError("expected a unit such as bytes, without digits")
    return written


def _seed(value: object) -> int:
    written = text(value, "a whole number")
    if not re.fullmatch(r"[0-9]{1,9}", written):
        raise ValueError(f"expected a whole number of at most nine digits, found `{written[:60]}`")
    return int(written)


Numbers = Annotated[
    tuple[int, int, tuple[int, ...]],
    PlainValidator(_numbers),
    WithJsonSchema(
        {
            "type": ["integer", "string"],
            "description": "a number, or what is drawn for each student: a range 40..160, a choice 8 | 16",
        }
    ),
]
QuestionText = Annotated[
    str,
    PlainValidator(_question_text),
    WithJsonSchema(
        {"type": "string", "description": "text for people; {M} stands for a number of the setting"}
    ),
]
Unit = Annotated[
    str, PlainValidator(_unit), WithJsonSchema({"type": "string", "description": "bytes, flop, %, blocks …"})
]
Seed = Annotated[int, PlainValidator(_seed), WithJsonSchema({"type": "integer", "minimum": 0})]

MOST_QUESTIONS = 100


class AnswersPart(FilePart):
    """A file with answers that students hand in; ``seed`` decides what is drawn for whom."""

    kind: Literal["answers"]
    seed: Seed = 1


class SettingPart(FilePart):
    """The subject of questions, and its numbers: exactly one of these."""

    matmul: dict[Name, Numbers] | None = None
    launch: dict[Name, Numbers] | None = None
    occupancy: dict[Name, Numbers] | None = None
    numbers: dict[Name, Numbers] | None = None

    @model_validator(mode="after")
    def _of_one_subject(self) -> Self:
        present = [key for key, value in self if value is not None]
        if len(present) != 1:
            keys = ", ".join(type(self).model_fields)
            listed = " and ".join(f"`{key}`" for key in present) or "none"
            text = f"expected one of {keys}, found {listed}"
            raise PydanticCustomError(
                "of_one_key", "{text}", {"text": text, "key": present[-1] if present else ""}
            )
        return self

    @property
    def subject(self) -> str:
        """The key that is given, which names the subject."""
        return next(key for key, value in self if value is not None)

    @property
    def given(self) -> dict[str, tuple[int, int, tuple[int, ...]]]:
        """Its numbers."""
        numbers: dict[str, tuple[int, int, tuple[int, ...]]] = getattr(self, self.subject)
        return numbers


class QuestionPart(FilePart):
    """A question, and the expression that answers it."""

    id: Identifier
    of: Identifier
    text: QuestionText
    answer: Formula
    unit: Unit | None = None
    tolerance: Within = EXACTLY
    note: Sentence = ""


class AnswersFile(AssignmentFile):
    """An assignment that asks questions, as written."""

    submission: AnswersPart
    settings: Annotated[dict[Identifier, SettingPart], Field(min_length=1)]
    questions: Annotated[list[QuestionPart], Field(min_length=1, max_length=MOST_QUESTIONS)]
    rubric: Annotated[list[AnswersItem], Field(min_length=1)]


# --- records ---------------------------------------------------------------------------------------


def answers_interface(file: AnswersFile) -> AnswersInterface:
    """Interface of the questions."""
    return AnswersInterface(
        questions=tuple(_question_record(part, file.settings) for part in file.questions),
        settings=tuple(_setting_record(name, part) for name, part in file.settings.items()),
        seed=file.submission.seed,
    )


def question_cases(file: AnswersFile) -> tuple[CasePlan, ...]:
    """A case for each question, as visible as the item that asks for it: a verdict alone is information."""
    visibilities = {name: item.visibility for item in file.rubric for name in item.named_cases}
    return tuple(
        CasePlan(q.id, (), (), visibilities.get(q.id, Visibility.VISIBLE), "") for q in file.questions
    )


def _setting_record(name: str, part: SettingPart) -> Setting:
    numbers = tuple(DrawnNumber(key, low, high, choices) for key, (low, high, choices) in part.given.items())
    return Setting(name, part.subject, numbers)


def _question_record(part: QuestionPart, settings: Mapping[str, SettingPart]) -> Question:
    quantities = SUBJECTS[settings[part.of].subject].quantities
    quantity = part.answer.name if isinstance(part.answer, NameOfNumber) else ""
    unit = part.unit or (quantities[quantity].unit if quantity in quantities else "")
    within = part.tolerance
    return Question(part.id, part.text, part.of, part.answer, unit, within.within, within.relative, part.note)
