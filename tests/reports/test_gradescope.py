"""results.json: what Gradescope shows and records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from grader.reports import gradescope
from tests.reports.sample_grades import GRADES, compile_error, full_marks, missing_barrier, our_error

if TYPE_CHECKING:
    from grader.model import Grade
    from tests.conftest import Golden


def _results(grade: Grade) -> dict[str, Any]:
    results: dict[str, Any] = json.loads(gradescope.render(grade))
    return results


@pytest.mark.parametrize("name", ["compile-error", "missing-barrier", "our-error"])
def test_the_file_is_as_it_was(name: str, golden: Golden) -> None:
    """The whole file, for a student's failure and for one of ours."""
    make = {"compile-error": compile_error, "missing-barrier": missing_barrier, "our-error": our_error}[name]
    golden(f"reports/gradescope-{name}.json", gradescope.render(make()))


@pytest.mark.parametrize("name", GRADES)
def test_the_scores_of_the_tests_add_up(name: str) -> None:
    """To the score, but for rounding; a test without a score has no maximum either."""
    results = _results(GRADES[name]())
    scores = [test["score"] for test in results["tests"] if "score" in test]
    if "score" in results:
        assert sum(scores) == pytest.approx(results["score"], abs=0.01 * len(scores))
    assert all(("score" in test) == ("max_score" in test) == ("status" in test) for test in results["tests"])


def test_an_error_of_ours_records_no_score() -> None:
    """Gradescope must not take it for a zero."""
    assert "score" not in _results(our_error())
    assert _results(full_marks())["score"] > 0


def test_visibility_is_one_that_gradescope_knows() -> None:
    """The four words of its documentation."""
    known = {"visible", "hidden", "after_due_date", "after_published"}
    assert {test["visibility"] for make in GRADES.values() for test in _results(make())["tests"]} <= known
