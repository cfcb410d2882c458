"""An estimate gives points only where blocks leave right results at the shape that is estimated."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import pytest

from grader.grading.checks.cases import FULL
from grader.kinds import estimating, pipeline
from grader.model import Submission, Threshold, Verdict
from tests.running.estimate.launches import tools
from tests.running.estimate.products import CHEATS, HONEST, SIZE, UNDECIDED
from tests.running.estimate.test_estimating import ASSIGNMENT, by_estimate, plan_of, small

if TYPE_CHECKING:
    from grader.model import Assignment, CheckResult, Grade

LOW = ((Threshold(Fraction(1, 4)), Fraction(1)),)
"""So slow a kernel may be."""


@cache
def assignment() -> Assignment:
    """Points for hardly any speed, so that only what is not estimated has none."""
    of_size = by_estimate(small(ASSIGNMENT, (("M", SIZE), ("K", SIZE), ("N", SIZE))))
    rubric = tuple(
        replace(item, options=(*((k, v) for k, v in item.options if k != "steps"), ("steps", LOW)))
        if item.check == "speedup"
        else item
        for item in of_size.rubric
    )
    return replace(of_size, rubric=rubric)


def graded(source: str) -> Grade:
    """A file that is handed in."""
    submission = Submission("ada", "ada.cu", source.encode(), "")
    return pipeline.grade(plan_of(assignment()), submission, tools())


def speed(grade: Grade) -> CheckResult:
    """The item for speed, of a kernel that is right in every case."""
    results = {item.result.item.id: item.result for item in grade.items}
    assert results["aligned"].verdict is Verdict.PASS
    return results["speedup"]


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_kernel_has_its_points(name: str) -> None:
    """Whatever its style."""
    result = speed(graded(HONEST[name]))
    assert (result.verdict, result.fraction) == (Verdict.PASS, FULL), result.message


@pytest.mark.parametrize("name", CHEATS)
def test_a_kernel_that_does_less_at_the_timed_shape_has_none(name: str) -> None:
    """Staff are asked where it is not shown to be wrong, for the model solution leaves no doubt."""
    grade = graded(CHEATS[name])
    result = speed(grade)
    assert result.fraction == 0
    assert result.verdict is Verdict.FAIL or (name in UNDECIDED and result.is_question), name
    assert grade.skipped_points == 0
    assert grade.estimate is not None
    assert (grade.estimate.ratio, grade.estimate.compared) == (None, 0)


def test_what_is_wrong_at_the_timed_shape_is_reported_with_its_element() -> None:
    """The message has the value and the one expected, or that no block writes it; the hint has a remedy."""
    wrong = graded(CHEATS["zeros"])
    expected = dict(wrong.estimate.details)["expected"] if wrong.estimate else ""
    assert speed(wrong).message.endswith(f"`{element(wrong)}` is 0, and should be {expected}")
    assert speed(wrong).hint == "compute the whole result at every shape, also at the one that is timed"
    missing = graded(CHEATS["returns at the shape"])
    assert f"no block writes `{element(missing)}`, which should be" in speed(missing).message


def test_where_the_solution_is_not_compared_either_the_doubt_is_nobodys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As with a student's copy of the assignment, which has no model solution."""
    monkeypatch.setattr(estimating, "SOLUTION", "none")
    monkeypatch.setattr(estimating, "_compared_solutions", {})
    timing = assignment().timing
    assert timing is not None
    of_none = replace(assignment(), timing=replace(timing, solution=""))
    submission = Submission("ada", "ada.cu", CHEATS["odd rows of blocks return"].encode(), "")
    grade = pipeline.grade(plan_of(of_none), submission, tools())
    assert speed(grade).verdict is Verdict.SKIP
    assert grade.skipped_points > 0


def element(grade: Grade) -> str:
    """The element that is wrong."""
    assert grade.estimate is not None
    return str(dict(grade.estimate.details)["element"])
