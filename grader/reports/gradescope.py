"""Gradescope's results.json: a test per rubric item, with the visibility that Gradescope enforces.

Format: Gradescope autograder documentation, "Autograder Specifications", results.json. What a test says
is what a student may see once it is shown: Gradescope keeps a test that is ``after_due_date`` or
``after_published`` until then. Of a hidden test nothing but the verdict is told, so a wrong setting there
leaks nothing. Extra credit and penalties have a maximum of 0; the whole score counts them in.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from grader.messages import text_of
from grader.model import Verdict, Visibility
from grader.reports import text, wording
from grader.reports.audience import Released, student_view
from grader.reports.text import apart, title
from grader.reports.words import in_its_words
from grader.text import many_lines, one_line

if TYPE_CHECKING:
    from grader.model import Grade, ItemGrade

_RELEASED: dict[Visibility, Released] = {
    Visibility.AFTER_DUE_DATE: "due_date",
    Visibility.AFTER_PUBLISHED: "published",
}
"""What has come by the time that Gradescope shows a test."""

_STATUS = {Verdict.PASS: "passed", Verdict.FAIL: "failed"}


@in_its_words
def render(grade: Grade) -> str:
    """Write one submission's results; items that were not judged have no score."""
    shown = student_view(grade)
    results: dict[str, Any] = {
        "output": text.render(shown, width=100).plain,
        "output_format": "text",
        "stdout_visibility": "hidden",
        "tests": [_test(item) for item in _as_released(grade)],
    }
    if grade.verdict != Verdict.ERROR:  # without a score Gradescope records none: ours is never a zero
        results["score"] = wording.number(grade.score)
    fast = wording.measured(shown)
    if fast is not None:
        results["extra_data"] = {"gpu": one_line(shown.device), "speedup": asdict(fast)}
    return json.dumps(results, ensure_ascii=True, indent=1) + "\n"


def _as_released(grade: Grade) -> list[ItemGrade]:
    """Give each item as a student may see it on the day when Gradescope shows it."""
    views = {released: student_view(grade, released).items for released in ("", *_RELEASED.values())}
    days = [_RELEASED.get(item.result.item.visibility, "") for item in grade.items]
    return [views[day][index] for index, day in enumerate(days)]


def _test(grade: ItemGrade) -> dict[str, Any]:
    result = grade.result
    staff = [result.message_staff] if result.message_staff else []
    lines = [*staff, result.message, *([f"{text_of('try')} {result.hint}"] if result.hint else [])]
    test: dict[str, Any] = {
        "name": title(grade) + apart(grade),
        "visibility": result.item.visibility.value,
        "output": many_lines("\n".join(lines)),
        "output_format": "text",
    }
    if result.verdict in _STATUS:
        test["status"] = _STATUS[result.verdict]
        test["score"] = wording.number(grade.points)
        test["max_score"] = wording.number(grade.max_points) if result.item.counts else 0
    return test
