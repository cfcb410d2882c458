"""The parts of an assignment of kind ``answers`` → records. Each question becomes a case of its own, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.analysis import SUBJECTS
from grader.arithmetic import Name
from grader.model import AnswersInterface, CasePlan, DrawnNumber, Question, Setting, Visibility

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.assignment.questions import AnswersFile, QuestionPart, SettingPart


def interface(file: AnswersFile) -> AnswersInterface:
    """What is asked."""
    return AnswersInterface(
        questions=tuple(_question(part, file.settings) for part in file.questions),
        settings=tuple(_setting(name, part) for name, part in file.settings.items()),
        seed=file.submission.seed,
    )


def cases(file: AnswersFile) -> tuple[CasePlan, ...]:
    """A case for each question, as visible as the item that asks for it: a verdict alone tells something."""
    seen = {name: item.visibility for item in file.rubric for name in item.named_cases}
    return tuple(CasePlan(q.id, (), (), seen.get(q.id, Visibility.VISIBLE), "") for q in file.questions)


def _setting(name: str, part: SettingPart) -> Setting:
    numbers = tuple(DrawnNumber(key, low, high, choices) for key, (low, high, choices) in part.given.items())
    return Setting(name, part.subject, numbers)


def _question(part: QuestionPart, settings: Mapping[str, SettingPart]) -> Question:
    quantities = SUBJECTS[settings[part.of].subject].quantities
    own = part.answer.name if isinstance(part.answer, Name) else ""
    unit = part.unit or (quantities[own].unit if own in quantities else "")
    within = part.tolerance
    return Question(part.id, part.text, part.of, part.answer, unit, within.within, within.relative, part.note)
