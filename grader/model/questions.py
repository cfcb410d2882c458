"""What an assignment of kind ``answers`` asks, and what is known of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

    from grader.arithmetic import Expression
    from grader.model.terms import Named


@dataclass(frozen=True, slots=True)
class DrawnNumber:
    """A number that questions speak of: one of ``choices``, else from ``low`` to ``high``, both included.

    Where there is more than one possibility it is drawn for each student.
    """

    name: str
    low: int
    high: int
    choices: tuple[int, ...] = ()

    @property
    def fixed(self) -> bool:
        """Whether it is the same for everybody."""
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class Setting:
    """What questions are about: one of the subjects of `grader.analysis`, and its numbers."""

    id: str
    subject: str
    numbers: tuple[DrawnNumber, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """One question. ``text`` may hold ``{M}`` for a number of its setting.

    ``answer`` is an expression over the quantities and numbers of the setting. An answer may be off by
    ``tolerance``, absolute or, where ``relative``, as a share of what is expected.
    """

    id: str
    text: str
    setting: str
    answer: Expression
    unit: str
    tolerance: Fraction
    relative: bool = False
    note: str = ""
    """What the staff add to the worked explanation."""


@dataclass(frozen=True, slots=True)
class AnswersInterface:
    """What a submission of kind ``answers`` is: a file with a number for each question.

    ``seed`` decides, together with the student's id, what is drawn; the same for the sheet and the grade.
    """

    questions: tuple[Question, ...]
    settings: tuple[Setting, ...]
    seed: int = 1


@dataclass(frozen=True, slots=True)
class AnswerEvidence:
    """All that is known of the answer to one question.

    ``given`` is what was written, safe to be shown, and empty where nothing was. ``readings`` are what it may
    mean, in words and as a number in the question's unit: two for a "KB"; where it means nothing ``problem``
    says why. ``numbers`` are the student's own, ``steps`` the worked explanation, and ``misconceptions`` the
    values that known mistakes lead to, each with words for it. ``drawn`` says that the numbers are the
    student's own, ``note`` what is odd about the sheet.
    """

    question: str
    text: str
    given: str
    readings: Named[Fraction]
    problem: str
    expected: Fraction
    unit: str
    tolerance: Fraction
    relative: bool
    numbers: Named[int] = ()
    steps: tuple[str, ...] = ()
    misconceptions: Named[Fraction] = ()
    drawn: bool = False
    note: str = ""
