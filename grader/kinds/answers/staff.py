"""The staff's own files with answers: what depends on the student's numbers is written as an expression.

    my-bytes-read: = global_load_bytes / 4

stands for a quarter of what this student should answer. Students' files are never read in this way.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from grader.analysis import SUBJECTS, parameters, value
from grader.arithmetic import exactly, names, parse
from grader.errors import UsageError
from grader.kinds.answers.drawing import numbers_of
from grader.kinds.answers.reading import read_sheet
from grader.kinds.answers.solving import setting_of
from grader.model import AnswersInterface, Finding

if TYPE_CHECKING:
    from grader.model import Assignment, Question

MARK = "="
"""How an answer begins that is an expression."""


def filled_in(assignment: Assignment, content: bytes, student: str, seed: int) -> bytes:
    """A staff's file for this student: with numbers for expressions. What is no such file stays as it is.

    Raises `UsageError` for an expression that has no value.
    """
    interface = assignment.interface
    if not isinstance(interface, AnswersInterface):
        return content
    sheet = read_sheet("staff.yaml", content)
    if isinstance(sheet, Finding) or not any(text.startswith(MARK) for _, text in sheet.answers):
        return content
    questions = {question.id: question for question in interface.questions}
    rows = {
        name: _worked_out(interface, questions[name], text, student, seed)
        if text.startswith(MARK) and name in questions
        else text
        for name, text in sheet.answers
    }
    return json.dumps({"answers": rows}, ensure_ascii=False).encode()


def _worked_out(interface: AnswersInterface, question: Question, text: str, student: str, seed: int) -> str:
    setting = setting_of(interface, question)
    subject, numbers = SUBJECTS[setting.subject], numbers_of(setting, seed, student)
    expression = parse(text.removeprefix(MARK).strip())
    known = {*subject.quantities, *parameters(subject, numbers)}
    if unknown := sorted(names(expression) - known):
        raise UsageError(f"{question.id}: `{unknown[0]}` is no quantity or number of a {setting.subject}")
    return str(exactly(expression, {name: value(subject, numbers, name) for name in names(expression)}))
