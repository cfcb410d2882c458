"""A mark that staff set by hand is for what they saw: who hands in anew since is reported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from grader.cli import main

if TYPE_CHECKING:
    from pathlib import Path

SCORE = "students: {bo: {score: 20, comment: half of it was shown, by: Tim}}\n"
ITEM = "students: {bo: {items: {traffic: 3}, comment: half, by: Tim}}\n"
MESSAGE = "handed in anew since staff decided about their points: `bo`"


class Course:
    """A class of two that is graded again and again."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        (folder / "class").mkdir()
        self.hands_in("ada", 75)
        self.hands_in("bo", 1)

    def hands_in(self, name: str, blocks: int) -> None:
        """Write a student's sheet of answers."""
        text = f"student: {name}\nanswers:\n  blocks-x: {blocks}\n"
        (self.folder / f"class/{name}.yaml").write_text(text)

    def grade(self, decisions: str = "", *options: str) -> str:
        """Grade the class with what is decided; gives what is printed."""
        file = self.folder / "decided.yaml"
        if decisions:
            file.write_text(decisions)
            options = ("--adjustments", str(file), *options)
        command = ["grade", "memory-analysis", str(self.folder / "class"), "-o", str(self.folder / "out")]
        assert main([*command, "--seed", "7", *options]) in {0, 2}  # no student may have a point: a question
        return self.printed()

    def printed(self) -> str:
        """The output since the last call."""
        output = self._capsys.readouterr()
        return output.out + output.err

    def report(self, command: str) -> str:
        """Run `report` or `rescore`; gives what is printed."""
        assert main([command, str(self.folder / "out")]) == 0
        return self.printed()

    def gradebook(self) -> str:
        """Run `gradebook` on a new export; gives what is printed."""
        book = self.folder / "book.csv"
        book.write_text("id,points\nada,\nbo,\n")
        words = ["--into", str(book), "--column", "points", "--no-scale"]
        assert main(["gradebook", str(self.folder / "out"), *words]) == 0
        return self.printed()

    def text(self, name: str) -> str:
        """A file of the graded class."""
        return (self.folder / "out" / name).read_text("utf-8")

    def mark(self, name: str = "bo") -> dict[str, object]:
        """The mark of a student, as programs read it."""
        (mark,) = json.loads(self.text(f"grades/{name}/grade.json"))["adjustments"]
        found: dict[str, object] = mark
        return found


@pytest.fixture
def course(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Course:
    """A class of which nothing is graded yet."""
    return Course(tmp_path, capsys)


@pytest.mark.parametrize("decisions", [SCORE, ITEM])
def test_who_hands_in_anew_after_a_mark_is_reported(course: Course, decisions: str) -> None:
    """By the batch, on the class page, to staff and student; by later commands, too, until it is decided."""
    assert MESSAGE not in course.grade(decisions)
    assert "earlier" not in course.mark()
    course.hands_in("bo", 76)
    assert MESSAGE in course.grade(decisions)
    assert course.mark()["earlier"] is True
    assert "handed in anew since staff decided" in course.text("index.html")
    for page in ("report.html", "staff.html"):
        assert "decided about what was handed in before" in course.text(f"grades/bo/{page}")
    assert "decided about what was handed in before" in course.text("gradebook.csv")
    assert "earlier" not in course.text("grades/ada/grade.json")
    assert MESSAGE in course.report("report")
    course.report("rescore")
    assert course.mark()["earlier"] is True
    assert MESSAGE in course.grade(decisions)
    assert MESSAGE not in course.grade(decisions.replace("half", "now half"))
    assert "earlier" not in course.mark()


def test_the_gradebook_reports_a_mark_for_an_earlier_file(course: Course) -> None:
    """In the batch's words, beside the cells that it fills; the cell is filled all the same."""
    course.grade(SCORE)
    assert MESSAGE not in course.gradebook()
    course.hands_in("bo", 76)
    course.grade(SCORE)
    assert MESSAGE in course.gradebook()
    assert "bo,20" in (course.folder / "book.csv").read_text()
    course.grade(SCORE.replace("half", "now half"))
    assert MESSAGE not in course.gradebook()


def test_a_mark_that_is_written_after_a_batch_is_for_what_that_graded(course: Course) -> None:
    """Staff decide about a file that they have seen graded; then the student hands in anew."""
    course.grade()
    course.hands_in("bo", 76)
    assert MESSAGE in course.grade(SCORE)


def test_a_mark_is_remembered_where_all_is_graded_anew(course: Course) -> None:
    """With another seed nothing of the earlier batch is reused, but what a mark was for is."""
    course.grade(SCORE)
    course.hands_in("bo", 76)
    assert MESSAGE in course.grade(SCORE, "--fresh")


def test_who_hands_in_the_old_file_again_has_the_mark_for_it(course: Course) -> None:
    """Staff decided about that file."""
    course.grade(SCORE)
    course.hands_in("bo", 76)
    assert MESSAGE in course.grade(SCORE)
    course.hands_in("bo", 1)
    assert MESSAGE not in course.grade(SCORE)


def test_the_dry_run_refuses_decisions_that_the_batch_would_refuse(course: Course) -> None:
    """It ends with exit code 2 and the line; names that no student has are reported as by the batch."""
    command = ["grade", "memory-analysis", str(course.folder / "class"), "--dry-run", "--adjustments"]
    file = course.folder / "decided.yaml"
    for text, message in (
        (
            "students: {bo: {score: lots, comment: x, by: y}}\n",
            "decided.yaml:1:24: students.bo.score: expected a",
        ),
        ("students: {bo: {items: {no-item: 3}, comment: x, by: y}}\n", "there is no item `no-item`"),
        ("students: {bo: {days_late: 1}, BO: {days_late: 2}}\n", "stands there twice"),
        ("a: &a [1]\nb: *a\n", "decided.yaml:"),
    ):
        file.write_text(text)
        assert main([*command, str(file)]) == 2
        assert message in course.printed()
    file.write_text("students: {nobody: {days_late: 1}}\n")
    assert main([*command, str(file)]) == 0
    assert "decided.yaml: no submission is known as `nobody`" in course.printed()
