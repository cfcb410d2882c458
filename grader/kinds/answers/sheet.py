"""A student's sheet: the questions with the numbers in them, and the file to be filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.kinds.answers.solving import is_drawn, solved
from grader.text import escaped

if TYPE_CHECKING:
    from fractions import Fraction

    from grader.model import Assignment


def as_json(assignment: Assignment, student: str, seed: int) -> dict[str, Any]:
    """The sheet as data."""
    interface = assignment.answers
    worth = _worth(assignment)
    return {
        "format_version": 1,
        "assignment": assignment.id,
        "title": assignment.title,
        "student": escaped(student),
        "seed": seed,
        "questions": [
            {
                "id": question.id,
                "text": known.text,
                "unit": question.unit,
                "numbers": dict(known.numbers),
                "own": is_drawn(interface, question),
                "points": worth.get(question.id, ""),
            }
            for question in interface.questions
            for known in [solved(interface, question, seed, student)]
        ],
    }


def as_text(assignment: Assignment, student: str, seed: int) -> str:
    """The sheet to be read, with the file to be filled in at its end."""
    data = as_json(assignment, student, seed)
    rows = [f"{data['title']}: questions for {data['student']}", ""]
    for number, question in enumerate(data["questions"], start=1):
        own = ", your own numbers" if question["own"] else ""
        unit = f" [{question['unit']}]" if question["unit"] else ""
        rows += [
            f"{number}. {question['id']}{unit} ({question['points']}{own})",
            f"   {question['text']}",
            "",
        ]
    return "\n".join([*rows, "Fill in and hand in as answers.yaml:", "", template(assignment, student)])


def template(assignment: Assignment, student: str) -> str:
    """The YAML file to be filled in: no answer yet, and the unit behind each."""
    width = max(len(question.id) for question in assignment.answers.questions) + 1
    rows = [
        f"  {question.id + ':':<{width + 1}}  # {question.unit or 'a number'}"
        for question in assignment.answers.questions
    ]
    return "\n".join([*_head(student), "answers:", *rows]) + "\n"


def _head(student: str) -> list[str]:
    """Whose sheet it is, as the file itself says: its name may be any."""
    named = escaped(student, 60).replace('"', "'").replace("\\", "/")
    return [f'student: "{named}"'] if student else []


def model_answers(assignment: Assignment, student: str, seed: int | None = None) -> str:
    """The file with which this student gets all the points: the model's own answers, exactly."""
    interface = assignment.answers
    rows = [*_head(student), "answers:"]
    for question in interface.questions:
        known = solved(interface, question, interface.seed if seed is None else seed, student)
        rows.append(f"  {question.id}: {_written(known.expected)}")
    return "\n".join(rows) + "\n"


def _written(number: Fraction) -> str:
    return str(number)


def _worth(assignment: Assignment) -> dict[str, str]:
    """What each question is worth, in words: its share of its item's points, or with whom it shares them."""
    worth = {}
    for item in assignment.rubric:
        count = len(item.cases)
        for name in item.cases:
            points = item.points / count if item.partial else item.points
            amount = f"{float(points):.4g} point{'' if points == 1 else 's'}"
            worth[name] = amount if item.partial or count == 1 else f"{amount} for {count} together"
    return worth
