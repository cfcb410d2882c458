"""Extra credit, penalties and words of the staff, as every report shows them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from grader.model import Verdict
from grader.reports import class_table, grade_json, html, junit, platforms, record_json, text
from grader.reports.audience import student_view
from grader.reports.class_table import render_class
from tests.json_rows import json_rows
from tests.reports.pages import content
from tests.reports.sample_grades import full_marks, rubric_features, with_staff_texts

if TYPE_CHECKING:
    from tests.conftest import Golden


def test_the_terminal_shows_them(golden: Golden) -> None:
    """A sign, a word, and the staff's words before ours."""
    golden("reports/rubric-features.txt", text.render(rubric_features()).plain)


def test_the_page_shows_them(golden: Golden) -> None:
    """The same in a browser."""
    golden("reports/rubric-features.html", content(html.render(rubric_features())))


def test_gradescope_gets_a_maximum_of_nothing_for_them(golden: Golden) -> None:
    """Gradescope calls that extra credit; the whole score is ours, and the days are Gradescope's."""
    rendered = platforms.gradescope(rubric_features())
    golden("reports/gradescope-rubric-features.json", json_rows(rendered, indent=1, ascii_only=True))
    results = json.loads(rendered)
    assert sum(test["score"] for test in results["tests"]) == results["score"] == 60
    assert sum(test["max_score"] for test in results["tests"]) == 65
    assert [test["visibility"] for test in results["tests"]] == ["visible"] * 5 + ["after_due_date"]


def test_a_test_that_gradescope_keeps_until_a_day_shows_everything_then() -> None:
    """Gradescope holds it back; in what it shows at once there is nothing of it."""
    results = json.loads(platforms.gradescope(rubric_features()))
    assert "uses no barriers" in results["tests"][-1]["output"]
    assert "uses no barriers" not in results["output"]


def test_points_of_junit_add_up() -> None:
    """To the score, of a maximum that leaves out extra credit and penalties."""
    suite = ET.fromstring(junit.render([rubric_features()]))[0]  # noqa: S314 - ours
    properties = {each.get("name"): each.get("value") for each in suite.iter("property")}
    points = [float(value or 0) for name, value in properties.items() if name and name.startswith("points.")]
    most = [
        float(value or 0) for name, value in properties.items() if name and name.startswith("max_points.")
    ]
    assert (sum(points), sum(most)) == (60, 65)
    assert (properties["points.lean"], properties["points.shuffles"]) == ("-5", "5")


def test_the_gradebook_has_what_each_adds_and_takes() -> None:
    """A negative number is a number, and no formula."""
    _, row = csv.reader(io.StringIO(class_table.gradebook([rubric_features()])))
    assert row[2:4] == ["60", "65"]
    assert row[-5:-1] == ["25", "5", "-5", "0"]


def test_a_stored_grade_keeps_them() -> None:
    """Keys are added where there is something to say, and none elsewhere."""
    stored = record_json.load(record_json.dump(rubric_features()))
    assert stored == rubric_features()
    plain = json.loads(grade_json.dump(full_marks()))
    assert not {"extra", "penalty", "message_staff"} & {key for item in plain["items"] for key in item}
    assert "rescored" not in plain


def test_a_hidden_item_keeps_the_words_of_the_staff_to_itself() -> None:
    """They tell what it was about."""
    grade = rubric_features()
    items = list(grade.items)
    result = replace(items[5].result, message_staff="No barrier anywhere!")
    grade = with_staff_texts(replace(grade, items=(*items[:5], replace(items[5], result=result))))
    assert "No barrier" not in text.render(grade).plain + html.render(grade)
    assert "No barrier" in html.render(grade, released="due_date")


@pytest.mark.parametrize(("released", "shown"), [("", False), ("due_date", True), ("published", True)])
def test_what_waits_for_the_due_date_is_shown_once_it_is_released(released: str, shown: bool) -> None:  # noqa: FBT001
    """Grades are published after the due date."""
    page = html.render(rubric_features(), released=released)  # type: ignore[arg-type]
    assert ("uses no barriers" in page) is shown


def test_a_class_has_full_marks_with_extra_credit_in_place_of_others() -> None:
    """A student with all points has full marks."""
    more = replace(rubric_features(), score=rubric_features().max_score + 1)
    assert "1 with full marks" in render_class([more]).plain


def test_a_view_for_students_carries_no_evidence() -> None:
    """Whatever is written from it."""
    assert student_view(rubric_features()).evidence is None
    assert rubric_features().verdict is Verdict.FAIL
