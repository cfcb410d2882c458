"""Results for PrairieLearn and Classroom 50: what their readers ask of them, and that no error is a zero."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from grader.base.errors import OurError, UsageError
from grader.cli import main
from grader.model import Verdict
from grader.reports import platforms
from tests.json_rows import json_rows
from tests.reports import sample_grades
from tests.reports.sample_grades import GRADES, SOURCE

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade
    from tests.conftest import Golden

NOW = datetime(2026, 11, 2, 10, 30, tzinfo=UTC)
RUNNER = {
    "CLASSROOM": "cs101",
    "ASSIGNMENT": "hw3",
    "OWNER": "ada",
    "SUBMISSION_TAG": "submit/2026-11-02T10-30-00Z-0a1b2c3",
    "COMMIT_URL": "https://github.com/cs101/hw3-ada/commit/0a1b2c3",
    "RELEASE_URL": "https://github.com/cs101/hw3-ada/releases/tag/submit",
    "REVIEW_URL": "https://github.com/cs101/hw3-ada/pull/1",
}


def learned(grade: Grade) -> dict[str, Any]:
    """The results that PrairieLearn reads, checked against its rules."""
    text = platforms.prairielearn(grade, SOURCE)
    results: dict[str, Any] = json.loads(text)
    assert len(text.encode()) <= platforms.MOST_BYTES
    assert ("score" in results) == results["gradable"]
    assert 0 <= results.get("score", 0) <= 1
    for test in results["tests"]:
        assert set(test) == {"name", "points", "max_points", "message", "output"}
        assert isinstance(test["points"], int | float)
        assert test["name"]
    return results


def collected(grade: Grade, **changed: str) -> dict[str, Any]:
    """The results that Classroom 50 reads, checked against its rules."""
    result: dict[str, Any] = json.loads(platforms.classroom50(grade, RUNNER | changed, NOW))
    for name in platforms.ENVIRONMENT:
        assert isinstance(result[name], str)
        assert result[name]
    assert result["submission"].startswith("submit/")
    for entry in (result, *result["tests"]):
        for name in ("score", "max-score"):
            assert type(entry[name]) is int
        assert 0 <= entry["score"] <= entry["max-score"]
    for test in result["tests"]:
        assert test["test-name"]
        assert isinstance(test["passed"], bool)
    return result


@pytest.mark.parametrize("name", ["missing_barrier", "compile_error", "our_error"])
def test_prairielearn_reads_what_it_read_before(name: str, golden: Golden) -> None:
    """The whole file, with lines quoted."""
    grade = getattr(sample_grades, name)()
    learned(grade)
    text = platforms.prairielearn(grade, SOURCE)
    golden(f"reports/prairielearn-{name}.json", json_rows(text, indent=1, ascii_only=True))


@pytest.mark.parametrize("name", ["missing_barrier", "partial_credit"])
def test_classroom_50_reads_what_it_read_before(name: str, golden: Golden) -> None:
    """The whole file."""
    text = json.dumps(collected(getattr(sample_grades, name)()), indent=1) + "\n"
    golden(f"reports/classroom50-{name}.json", json_rows(text, indent=1, ascii_only=True))


@pytest.mark.parametrize("name", GRADES)
def test_the_rules_hold_for_every_sample(name: str) -> None:
    """Hostile names and messages, extra credit and penalties included."""
    grade = GRADES[name]()
    learned(grade)
    if grade.verdict is not Verdict.ERROR:
        collected(grade)


def test_a_score_stays_between_nothing_and_everything() -> None:
    """Extra credit and penalties may lead beyond either end."""
    grade = sample_grades.full_marks()
    for score, share in ((Fraction(-5), 0), (Fraction(500), 1), (grade.max_score / 3, pytest.approx(1 / 3))):
        assert learned(replace(grade, score=score))["score"] == share
    assert collected(replace(grade, score=Fraction(-5)))["score"] == 0
    result = collected(replace(grade, score=Fraction(500)))
    assert result["score"] == result["max-score"] == 75


def test_whole_points_make_full_marks_of_full_marks_only() -> None:
    """74.9 of 75 is not 75."""
    grade = sample_grades.full_marks()
    assert collected(replace(grade, score=grade.max_score - Fraction(1, 10)))["score"] == 74
    assert collected(replace(grade, score=grade.max_score))["score"] == 75


def test_an_error_of_ours_is_no_score_anywhere() -> None:
    """It costs no attempt at the one, and is an error of the autograder at the other."""
    results = learned(sample_grades.our_error())
    assert results["gradable"] is False
    assert results["format_errors"][0].startswith("not graded, through no fault of the submission")
    with pytest.raises(OurError, match="through no fault of the submission"):
        platforms.classroom50(sample_grades.our_error(), RUNNER, NOW)


def test_what_staff_have_to_decide_is_no_score_either() -> None:
    """Else a kernel that takes too much work would have full marks of what is left."""
    results = learned(sample_grades.given_up())
    assert results["gradable"] is False
    assert "for the course's staff to decide" in results["message"]
    with pytest.raises(OurError, match="for the course's staff to decide"):
        platforms.classroom50(sample_grades.given_up(), RUNNER, NOW)


def test_where_nothing_could_be_judged_there_is_no_score() -> None:
    """A share of nothing is none."""
    nothing = replace(sample_grades.full_marks(), score=Fraction(0), max_score=Fraction(0))
    assert learned(nothing)["gradable"] is False


def test_a_huge_grade_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outputs are cut before the file gets too large, all of them alike; then the tests go, but no score."""
    grade = sample_grades.full_marks()
    item = grade.items[0]
    huge = replace(item, result=replace(item.result, verdict=Verdict.FAIL, message="ж " * 1000))
    monkeypatch.setattr(platforms, "MOST_BYTES", 100_000)
    results = learned(replace(grade, items=(huge,) * 20))
    assert len(results["tests"]) == 20
    assert all(test["output"] for test in results["tests"])
    monkeypatch.setattr(platforms, "MOST_BYTES", 2_000)
    results = learned(replace(grade, items=(huge,) * 20))
    assert (results["tests"], results["score"]) == ([], 1)


def test_nothing_hidden_is_reported() -> None:
    """No id, shape or hint of a hidden case or item."""
    grade = sample_grades.hidden_item()
    for written in (platforms.prairielearn(grade, SOURCE), platforms.classroom50(grade, RUNNER, NOW)):
        assert "secret" not in written
        assert "dot-product" not in written


def test_what_the_runner_does_not_say_is_asked_for() -> None:
    """By the names of its variables; what older runners leave out is taken from elsewhere."""
    grade = sample_grades.full_marks()
    with pytest.raises(UsageError, match="sets CLASSROOM, RELEASE_URL in the environment"):
        platforms.classroom50(grade, RUNNER | {"CLASSROOM": "", "RELEASE_URL": "\n"}, NOW)
    with pytest.raises(UsageError, match="expected a tag such as submit/"):
        collected(grade, SUBMISSION_TAG="v1")
    older = collected(grade, REVIEW_URL="", OWNER="", USERNAME="grace", ASSIGNMENT_TYPE="group")
    assert (older["review"], older["owner"], older["assignment_type"]) == (older["commit"], "grace", "group")


def test_the_commands_print_the_result_of_one_submission(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 0 whatever the score: another code is a broken grader to these judges. Two files are one's."""
    (tmp_path / "answers.yaml").write_text("answers: {blocks: 1}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "memory-analysis", "answers.yaml", "--format", "prairielearn"]) == 0
    assert json.loads(capsys.readouterr().out)["score"] < 1
    command = ["grade", "memory-analysis", "answers.yaml", "-o", "out", "--format", "prairielearn"]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["score"] < 1
    assert main([*command, "--fail-under", "80"]) == 1
    capsys.readouterr()
    assert main(["check", "memory-analysis", "answers.yaml", "--format", "classroom50"]) == 2
    assert "CLASSROOM" in capsys.readouterr().err
    (tmp_path / "class").mkdir()
    for name in ("ada", "grace"):
        (tmp_path / f"class/{name}.yaml").write_text("answers: {blocks: 1}\n", encoding="utf-8")
    assert main(["grade", "memory-analysis", "class", "-o", "out2", "--format", "prairielearn"]) == 0
    assert "holds 2 .yaml, .yml and .json files" in capsys.readouterr().out
