"""What an assignment file of kind ``answers`` consists of: settings, questions about them, and a rubric.

A setting ``mp3: {matmul: {M: 55, K: 48, N: 43, tile: 16}}``, a question ``{id: read, of: mp3, text: …,
answer: global_load_bytes}`` and an item ``{id: traffic, points: 10, check: answers, questions: [read]}``
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from grader.assignment.fields import (  # noqa: TC001 - pydantic reads annotations; so below
    Formula,
    Identifier,
    Name,
    Sentence,
)
from grader.assignment.program_fields import EXACTLY, Within
from grader.assignment.question_fields import Numbers, QuestionText, Seed, Unit  # noqa: TC001
from grader.assignment.rubric import AnswersItem  # noqa: TC001
from grader.assignment.structure import AssignmentFile, Part

MOST_QUESTIONS = 100


class AnswersPart(Part):
    """A file with answers that students hand in; ``seed`` decides what is drawn for whom."""

    kind: Literal["answers"]
    seed: Seed = 1


class SettingPart(Part):
    """What questions are about, and its numbers: exactly one of these."""

    matmul: dict[Name, Numbers] | None = None
    launch: dict[Name, Numbers] | None = None
    occupancy: dict[Name, Numbers] | None = None
    numbers: dict[Name, Numbers] | None = None

    @model_validator(mode="after")
    def _of_one_subject(self) -> Self:
        given = [key for key, value in self if value is not None]
        if len(given) != 1:
            known = ", ".join(type(self).model_fields)
            found = " and ".join(f"`{key}`" for key in given) or "none"
            text = f"expected one of {known}, found {found}"
            raise PydanticCustomError(
                "of_one_key", "{text}", {"text": text, "key": given[-1] if given else ""}
            )
        return self

    @property
    def subject(self) -> str:
        """Which of them it is."""
        return next(key for key, value in self if value is not None)

    @property
    def given(self) -> dict[str, tuple[int, int, tuple[int, ...]]]:
        """Its numbers."""
        found: dict[str, tuple[int, int, tuple[int, ...]]] = getattr(self, self.subject)
        return found


class QuestionPart(Part):
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
