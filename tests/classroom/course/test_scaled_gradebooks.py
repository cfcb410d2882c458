"""A full score becomes a full score: columns of other points are a question, or scores are scaled to them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import UsageError
from grader.classroom.course.gradebooks import Score, fill
from grader.cli import main
from grader.model import Student
from tests.recorded_class import recorded

if TYPE_CHECKING:
    from pathlib import Path

ADA = Student(id="12345", sid="12345", login="ada", email="ada@x.org", name="Ada Lovelace")
OF_90 = Score("ada", (ADA,), ("ada",), Fraction(90), most=Fraction(90), not_judged="10 points of `speedup`")

CANVAS = (
    "Student,ID,SIS Login ID,Section,HW 3 (9)\n"
    "    Points Possible,,,,{most}\n"
    '"Lovelace, Ada",12345,ada,A,{cell}\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed\n"
    "Participant 12345,Ada Lovelace,ada@x.org,,{cell},{most},Yes\n"
)
GRADESCOPE = "Name,SID,Email,Total Score,Max Points\nAda Lovelace,12345,ada@x.org,{cell},{most}\n"
GRADESCOPE_COURSE = "Name,SID,Email,HW 3,HW 3 - Max Points\nAda Lovelace,12345,ada@x.org,{cell},{most}\n"
BRIGHTSPACE = (
    "OrgDefinedId,Username,HW 3 Points Grade <Numeric MaxPoints:{most} Weight:1>,End-of-Line Indicator\n"
    "#12345,#ada,{cell},#\n"
)
BLACKBOARD = (
    '"Last Name","First Name","Username","Student ID","HW 3 [Total Pts: {most} Score] |4711"\n'
    '"Lovelace","Ada","ada","12345","{cell}"\n'
)
PLATFORMS = {
    "Canvas": CANVAS,
    "Moodle": MOODLE,
    "Gradescope": GRADESCOPE,
    "Gradescope, course": GRADESCOPE_COURSE,
    "Brightspace": BRIGHTSPACE,
    "Blackboard": BLACKBOARD,
}


def filled(export: str, most: str, score: Score, *, scale: bool | None = None) -> str:
    """The export with the score in it."""
    return fill(export.format(most=most, cell="").encode(), [score], "HW 3", scale=scale).content.decode()


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_column_of_other_points_than_could_be_reached_is_a_question(platform: str) -> None:
    """Both numbers are named, and what was not judged: else a perfect student would get 90 of 100."""
    with pytest.raises(UsageError) as asked:
        filled(PLATFORMS[platform], "100", OF_90)
    for part in ("90 points could be reached (10 points of `speedup` not judged)", "takes 100", "--scale"):
        assert part in str(asked.value)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_scaled_score_is_the_same_share_of_the_columns_points(platform: str) -> None:
    """A perfect student has all of them; half is half; --no-scale leaves points; equal ones need no word."""
    export = PLATFORMS[platform]
    half = replace(OF_90, points=Fraction(45))
    assert filled(export, "100", OF_90, scale=True) == export.format(most="100", cell="100")
    assert filled(export, "100", half, scale=True) == export.format(most="100", cell="50")
    assert filled(export, "20", half, scale=True) == export.format(most="20", cell="10")
    assert filled(export, "100", half, scale=False) == export.format(most="100", cell="45")
    assert filled(export, "90", OF_90) == export.format(most="90", cell="90")
    assert filled(export, "90", OF_90, scale=True) == export.format(most="90", cell="90")


def test_a_file_that_does_not_state_its_points_cannot_be_scaled_to() -> None:
    """Without --scale it is filled as before."""
    export = b"id,points\n12345,\n"
    assert fill(export, [OF_90], column="points").content == b"id,points\n12345,90\n"
    with pytest.raises(UsageError, match="nothing says how many points the column `points` takes"):
        fill(export, [OF_90], column="points", scale=True)


def test_a_decimal_comma_is_no_other_number() -> None:
    """Moodle writes `90,00` in some languages."""
    export = MOODLE.replace(",", ";")
    assert filled(export, "90,00", OF_90) == export.format(most="90,00", cell="90,00")


def test_the_command_asks_and_a_key_of_the_course_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2 and an untouched file; with `--scale`, or `scale = true` in grader.toml, it is filled."""
    out = recorded(tmp_path / "out", ["ada"])
    book = tmp_path / "canvas.csv"
    before = CANVAS.format(most="85", cell="").replace("12345,ada", "12345,ada@x.org")
    command = ["gradebook", str(out.path), "--into", str(book), "--column", "HW 3"]
    book.write_text(before)
    assert main(command) == 2
    output = capsys.readouterr().err
    assert "75 points could be reached (10 points of `speedup` not judged)" in output
    assert "takes 85" in output
    assert book.read_text() == before
    assert main([*command, "--scale"]) == 0
    assert "1 with 10 points of `speedup` not judged here" in capsys.readouterr().out
    assert book.read_text() == before.replace("A,\n", "A,85\n")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grader.toml").write_text("scale = true\n")
    book.write_text(before)
    assert main(command) == 0
    assert book.read_text() == before.replace("A,\n", "A,85\n")
    (tmp_path / "grader.toml").write_text('scale = "yes"\n')
    assert main(command) == 2
    assert "grader.toml: scale: expected true or false, without quotes" in capsys.readouterr().err
