"""Calls that keep a program from being judged: a question to the staff, which gives no points back."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from grader.grading.score import total
from grader.model import Finding, FindingKind, Verdict
from tests.grading.checks.judging import judge
from tests.grading.checks.runs import case, evidence, item, ran, result_text

if TYPE_CHECKING:
    from grader.model import CaseEvidence, CheckResult

REASON = "not supported here: `cudaCreateTextureObject`, line 15"


def asked(run: CaseEvidence) -> CaseEvidence:
    """A run that has called what is not done here."""
    return replace(run, question=REASON, launches=1)


def judged(check: str, *runs: CaseEvidence, partial: str = "", **options: object) -> CheckResult:
    """The result of an item for some runs."""
    return judge(item(check, partial=partial, **options), evidence(*runs))


@pytest.mark.parametrize("check", ["races", "memory", "exit"])
def test_what_cannot_be_judged_is_an_error_that_keeps_its_points(check: str) -> None:
    """With the reason, and without the words that it is no fault of the submission."""
    result = judged(check, asked(ran(b"", returncode=98)))
    assert (result.verdict, result.is_question) == (Verdict.ERROR, True)
    assert result.message == f"not judged, and a question to the course's staff: {REASON}"
    graded = total([result])
    assert (graded.max_score, graded.score + graded.skipped_points) == (result.item.points, Fraction(0))
    assert graded.verdict is Verdict.ERROR


def test_what_was_seen_before_is_judged() -> None:
    """A race costs its item, and a right text has its points."""
    race = Finding(FindingKind.RACE, "a race", line=3)
    assert judged("races", replace(asked(ran(b"")), findings=(race,))).verdict is Verdict.FAIL
    assert judged("text", asked(ran(b"8\n")), lines="8").verdict is Verdict.PASS
    assert judged("text", asked(ran(b"7\n")), lines="8").is_question


def test_a_grade_with_a_question_fails_where_anything_else_fails() -> None:
    """And has all its points in the maximum."""
    open_item = judged("memory", asked(ran(b"")))
    graded = total([open_item, judged("exit", ran(b""), status=1)])
    assert (graded.verdict, graded.max_score) == (Verdict.FAIL, 2 * open_item.item.points)


def test_the_other_cases_of_an_item_get_no_more_than_their_share() -> None:
    """A wrong case cannot take itself out of the sum by such a call."""
    runs = (ran(b"8\n", "one"), ran(b"7\n", "two"), asked(ran(b"7\n", "three")), asked(ran(b"7\n", "four")))
    assert judged("text", *runs, partial="per-case", lines="8").fraction == Fraction(1, 4)


def test_of_a_hidden_case_nothing_is_reported_that_the_program_chose() -> None:
    """Neither the function's name nor its line."""
    hidden = replace(asked(ran(b"")), case=case("secret", hidden=True))
    result = judged("memory", hidden)
    assert result.is_question
    assert "cudaCreateTextureObject" not in result_text(result)
    assert "in a hidden case" in result.message
