"""Gradescope's results.json: a test per rubric item, with the visibility that Gradescope enforces.

Format: Gradescope autograder documentation, "Autograder Specifications", results.json. What a test says
is what a student may see whatever its visibility, so a wrong setting there cannot leak a hidden case.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from grader.model import Verdict
from grader.reports import points, safe_text, speed, text
from grader.reports.audience import student_view

if TYPE_CHECKING:
    from grader.model import Grade, ItemGrade

_STATUS = {Verdict.PASS: "passed", Verdict.FAIL: "failed"}


def render(grade: Grade) -> str:
    """Write one submission's results; items that were not judged have no score."""
    shown = student_view(grade)
    results: dict[str, Any] = {
        "output": text.render(shown, width=100).plain,
        "output_format": "text",
        "stdout_visibility": "hidden",
        "tests": [_test(item) for item in shown.items],
    }
    if grade.verdict != Verdict.ERROR:  # without a score Gradescope records none: ours is never a zero
        results["score"] = points.number(grade.score)
    fast = speed.measured(shown)
    if fast is not None:
        results["extra_data"] = {"gpu": safe_text.one_line(shown.device), "speedup": asdict(fast)}
    return json.dumps(results, ensure_ascii=True, indent=1) + "\n"


def _test(grade: ItemGrade) -> dict[str, Any]:
    result = grade.result
    lines = [result.message, *([f"try: {result.hint}"] if result.hint else [])]
    test: dict[str, Any] = {
        "name": safe_text.one_line(result.item.title or result.item.id),
        "visibility": result.item.visibility.value,
        "output": safe_text.many_lines("\n".join(lines)),
        "output_format": "text",
    }
    if result.verdict in _STATUS:
        test["status"] = _STATUS[result.verdict]
        test["score"] = points.number(grade.points)
        test["max_score"] = points.number(grade.max_points)
    return test
