"""results.json: what Gradescope shows and records."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from grader.reports import platforms
from tests.json_rows import json_rows
from tests.reports import sample_grades
from tests.reports.sample_grades import (
    GRADES,
    SOURCE,
    compile_error,
    full_marks,
    hidden_item,
    missing_barrier,
    our_error,
)

if TYPE_CHECKING:
    from grader.model import Grade
    from tests.conftest import Golden


def _results(grade: Grade) -> dict[str, Any]:
    results: dict[str, Any] = json.loads(platforms.gradescope(grade))
    return results


@pytest.mark.parametrize("name", ["compile-error", "missing-barrier", "our-error"])
def test_the_file_is_as_it_was(name: str, golden: Golden) -> None:
    """The whole file, for a student's failure and for one of ours."""
    make = {"compile-error": compile_error, "missing-barrier": missing_barrier, "our-error": our_error}[name]
    text = platforms.gradescope(make())
    golden(f"reports/gradescope-{name}.json", json_rows(text, indent=1, ascii_only=True))


@pytest.mark.parametrize("name", GRADES)
def test_the_scores_of_the_tests_add_up(name: str) -> None:
    """To the score, but for rounding; a test without a score has no maximum either."""
    results = _results(GRADES[name]())
    scores = [test["score"] for test in results["tests"] if "score" in test]
    if "score" in results:
        assert sum(scores) == pytest.approx(results["score"], abs=0.01 * len(scores))
    assert all(("score" in test) == ("max_score" in test) for test in results["tests"])
    assert all("status" in test for test in results["tests"] if "score" in test)


def test_an_error_of_ours_records_no_score() -> None:
    """Gradescope must not take it for a zero, nor the sum of what was judged for what was earned."""
    results = _results(our_error())
    assert "score" not in results
    assert not [test for test in results["tests"] if "score" in test or "max_score" in test]
    assert results["tests"][0]["status"] == "passed"
    assert _results(full_marks())["score"] > 0


def test_why_there_is_no_score_is_reported_in_the_course_s_words() -> None:
    """Of an error of ours, and of what staff decide."""
    words = (("not-graded-submission", "nicht bewertet: {reason}"), ("no-score-yet", "noch offen"))
    outputs = [
        _results(replace(grade, words=words))["output"] for grade in (our_error(), sample_grades.given_up())
    ]
    assert outputs[0].splitlines()[1].startswith("nicht bewertet: ")
    assert outputs[1].startswith("noch offen")


def test_what_staff_have_to_decide_has_no_score_either() -> None:
    """A case that was given up, a hidden one too, is not a student's loss: staff are asked."""
    results = _results(sample_grades.given_up())
    assert results["output"].startswith("no score yet: what took too long to be judged here")
    assert not [test for test in results["tests"] if "score" in test]
    assert "score" not in results


def test_a_failure_before_there_is_a_grade_is_a_sentence_without_a_score() -> None:
    """On one line, with nothing in it that acts."""
    results = json.loads(platforms.gradescope_failure("the disk\nis \x1b[31mfull" + "!" * 5000))
    assert results["output"].startswith("not graded, through no fault of the submission: the disk is full!")
    assert len(results["output"]) < 1200
    assert "score" not in results
    assert results["tests"] == []


def test_a_test_quotes_the_lines_that_it_speaks_of() -> None:
    """As the terminal does, with a mark in the margin; of a hidden item nothing is quoted."""
    results = json.loads(platforms.gradescope(missing_barrier(), SOURCE))
    output = next(
        test["output"] for test in results["tests"] if test["name"] == "Threads wait for each other"
    )
    assert ">  9 |         A_tile[threadIdx.y][threadIdx.x] = row < M" in output
    assert results["output"].count(">  9 |") == 1
    hidden = json.loads(platforms.gradescope(hidden_item(), SOURCE))
    assert ">" not in "".join(test["output"] for test in hidden["tests"] if test["visibility"] == "hidden")


def test_remarks_and_further_data_stand_beside_the_grade() -> None:
    """Remarks come first in what is shown; data is kept, and not shown."""
    results = json.loads(platforms.gradescope(full_marks(), remarks=["late"], extra={"late": True}))
    assert results["output"].startswith("late\n\nTiled matrix multiplication: ada.cu\n")
    assert results["extra_data"] == {"late": True}


def test_visibility_is_one_that_gradescope_knows() -> None:
    """The four words of its documentation."""
    known = {"visible", "hidden", "after_due_date", "after_published"}
    assert {test["visibility"] for make in GRADES.values() for test in _results(make())["tests"]} <= known
