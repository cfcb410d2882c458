"""What must hold between the parts of an assignment of kind ``answers``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader import analysis
from grader.analysis import SUBJECTS, AnalysisProblem
from grader.arithmetic import ArithmeticProblem, exactly, names
from grader.assignment.document import Flaw
from grader.assignment.fields import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from grader.assignment.draft import Draft
    from grader.assignment.questions import QuestionPart, SettingPart

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
"""``{M}`` in a question's text."""


def flaws(draft: Draft) -> Iterator[Flaw]:
    """All that does not fit together."""
    sound: dict[str, SettingPart] = {}
    for name, setting in draft.settings.items():
        found = list(_setting(name, setting)) if setting else []
        yield from found
        if setting and not found:
            sound[name] = setting
    yield from _repeated(draft)
    for index, question in enumerate(draft.questions):
        if question and question.of not in draft.settings:
            known = suggestion(question.of, draft.settings)
            yield Flaw(("questions", index, "of"), f"there is no setting `{question.of}`; {known}")
        elif question and question.of in sound:
            yield from _question(index, question, sound[question.of])
    yield from _items(draft)


def _corners(setting: SettingPart) -> list[dict[str, int]]:
    """The numbers at their lowest and at their highest."""
    given = setting.given.items()
    return [{name: low for name, (low, _, _) in given}, {name: high for name, (_, high, _) in given}]


def _setting(name: str, setting: SettingPart) -> Iterator[Flaw]:
    """Numbers that are missing, unknown or out of range; a choice is looked at one by one."""
    subject = SUBJECTS[setting.subject]
    path = ("settings", name, setting.subject)
    lowest = _corners(setting)[0]
    try:
        for numbers in _corners(setting):
            analysis.parameters(subject, numbers)
        for key, (_, _, choices) in setting.given.items():
            for choice in choices:
                subject.situation(analysis.parameters(subject, {**lowest, key: choice}))
        subject.situation(analysis.parameters(subject, lowest))
    except AnalysisProblem as problem:
        yield Flaw(path, str(problem))


def _repeated(draft: Draft) -> Iterator[Flaw]:
    seen: dict[str, int] = {}
    for index, question in enumerate(draft.questions):
        if question and question.id in seen:
            other = f"questions[{seen[question.id]}]"
            message = f"expected an `id` of its own; `{question.id}` is that of {other} already"
            yield Flaw(("questions", index, "id"), message)
        elif question:
            seen[question.id] = index


def _question(index: int, question: QuestionPart, setting: SettingPart) -> Iterator[Flaw]:
    subject, path = SUBJECTS[setting.subject], ("questions", index)
    known = analysis.parameters(subject, _corners(setting)[0])
    for word in PLACEHOLDER.findall(question.text):
        if word not in known:
            message = f"`{{{word}}}` is no number of the setting `{question.of}`; {suggestion(word, known)}"
            yield Flaw((*path, "text"), message)
    allowed = analysis.quantity_names(subject, known)
    unknown = sorted(names(question.answer) - set(allowed))
    for word in unknown:
        message = f"`{word}` is no quantity or number of a {setting.subject}; {suggestion(word, allowed)}"
        yield Flaw((*path, "answer"), message)
    if not unknown:
        yield from _computed(path, question, setting)


def _computed(path: tuple[str | int, ...], question: QuestionPart, setting: SettingPart) -> Iterator[Flaw]:
    """An answer that has no value for some of the numbers."""
    for numbers in _corners(setting):
        try:
            exactly(question.answer, _values(question, setting.subject, numbers))
        except (ArithmeticProblem, AnalysisProblem) as problem:
            given = ", ".join(f"{name} = {number}" for name, number in numbers.items())
            yield Flaw((*path, "answer"), f"with {given}: {problem}")
            return


def _values(question: QuestionPart, subject: str, numbers: Mapping[str, int]) -> dict[str, Fraction]:
    return {name: analysis.value(SUBJECTS[subject], numbers, name) for name in names(question.answer)}


def _items(draft: Draft) -> Iterator[Flaw]:
    """Questions that nobody knows, that are asked for twice, or that no item asks for."""
    if None in draft.questions:
        return
    ids = [question.id for question in draft.questions if question]
    owner: dict[str, int] = {}
    for index, item in enumerate(draft.rubric):
        if item is None or item.CHECK.cases_key != "questions":
            continue
        for place, name in enumerate(item.named_cases):
            path = ("rubric", index, "questions", place)
            if name not in ids:
                yield Flaw(path, f"there is no question `{name}`; {suggestion(name, ids)}")
            elif name in owner:
                yield Flaw(path, f"rubric[{owner[name]}] gives points for `{name}` already")
            owner.setdefault(name, index)
    if None not in draft.rubric:
        for index, name in enumerate(ids):
            if name not in owner:
                yield Flaw(("questions", index), f"no item of the rubric gives points for `{name}`")
