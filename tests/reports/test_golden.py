"""Every report of every sample grade, as it stands in tests/golden/reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.reports import class_table, grade_json, junit, text
from grader.reports.class_table import render_class
from tests.json_rows import json_rows
from tests.reports.sample_grades import GRADES, SOURCE, partial_credit, sample_class

if TYPE_CHECKING:
    from tests.conftest import Golden


@pytest.mark.parametrize("name", GRADES)
def test_feedback_for_students(name: str, golden: Golden) -> None:
    """The terminal shows a student what is wrong, where and what to try, and nothing that is hidden."""
    shown = text.render(GRADES[name](), source_lines=SOURCE, width=100)
    golden(f"reports/{name}.txt", shown.plain)


def test_feedback_for_staff_in_ascii(golden: Golden) -> None:
    """Staff see hidden cases too; a terminal without Unicode gets ASCII and nothing else."""
    shown = text.render(partial_credit(), audience="staff", width=80, source_lines=SOURCE, ascii_only=True)
    golden("reports/staff-ascii.txt", shown.plain)


@pytest.mark.parametrize("width", [80, 140])
def test_class_table(width: int, golden: Golden) -> None:
    """A class is a line per submission; item ids head the columns where they fit."""
    golden(f"reports/class-{width}.txt", render_class(sample_class(), width=width).plain)


@pytest.mark.parametrize("name", ["missing-barrier", "compile-error", "our-error", "partial-credit"])
def test_stored_grade(name: str, golden: Golden) -> None:
    """grade.json keeps the contract: its keys, their order and how numbers are written."""
    golden(f"reports/{name}.json", json_rows(grade_json.dump(GRADES[name]()), indent=2))


@pytest.mark.parametrize("name", ["missing-barrier", "compile-error", "our-error", "partial-credit"])
def test_junit_of_one(name: str, golden: Golden) -> None:
    """JUnit XML of one submission."""
    golden(f"reports/{name}.xml", junit.render([GRADES[name]()]))


def test_gradebook(golden: Golden) -> None:
    """The gradebook of a class."""
    golden("reports/gradebook.csv", class_table.gradebook(sample_class()))
