"""`grader report --released`: items tell of what was hidden as if it had been visible; points stay."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.cli.main import main
from tests.cli.test_rescore import SOUND, Course, evidence
from tests.sealing import changed_record

if TYPE_CHECKING:
    from pathlib import Path

LATER = SOUND.replace("shape: {N: 55}", "shape: {N: 55}, visibility: after_due_date")


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course whose second case waits for the due date, with one grade that is wrong in that alone."""
    course = Course(tmp_path)
    made = course.writes(LATER)
    right, wrong = evidence(made), evidence(made, wrong=3)
    cases = tuple(
        bad if bad.case.visibility == "after_due_date" else good
        for good, bad in zip(right.cases, wrong.cases, strict=True)
    )
    course.grades(made, ada=replace(right, cases=cases))
    return course


def _report(course: Course, *more: str) -> tuple[int, str]:
    code = main(["report", str(course.out.path), "--assignment", str(course.assignment), *more])
    return code, (course.out.path / "grades" / "ada" / "report.html").read_text(encoding="utf-8")


def test_sentences_name_what_has_been_released_and_hide_it_again(course: Course) -> None:
    """The stored grade stays as it was graded."""
    before = course.out.record("ada")
    code, hidden = _report(course)
    assert (code, "hidden case" in hidden) == (0, True)
    code, page = _report(course, "--released", "due_date")
    assert (code, "hidden case" in page) == (0, False)
    assert "case <code>odd</code> (N=55)" in page
    assert _report(course) == (0, hidden)
    assert course.out.record("ada") == before


def test_where_the_assignment_has_changed_the_old_sentences_stay(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its present text is not what was graded; a message about the class reports that once."""
    course.writes(LATER.replace("points: 90", "points: 80"))
    code, page = _report(course, "--released", "due_date")
    assert (code, "hidden case" in page) == (0, True)
    assert capsys.readouterr().err.count("still speaks of hidden cases") == 1


def test_points_and_verdicts_are_those_that_were_graded(course: Course) -> None:
    """Also where the stored evidence differs: the sentence about an item is then left as it was."""
    changed_record(course.out, "ada", lambda text: re.sub(r'"wrong": ?3', '"wrong": 0', text))
    code, page = _report(course, "--released", "due_date")
    assert (code, "hidden case" in page) == (0, True)
