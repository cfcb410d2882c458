"""A batch that was stopped is not taken for a whole one, and a rescored one is stopped as before."""

from __future__ import annotations

import csv
import fcntl
import zipfile
from typing import TYPE_CHECKING

import pytest

from grader.classroom.batch import OutFolder
from grader.cli import main
from tests.recorded_class import recorded
from tests.sealing import made_older

if TYPE_CHECKING:
    from pathlib import Path

STUDENTS = ("ada", "bob", "cy", "dee")


def words(command: str, folder: Path) -> list[str]:
    """The options that follow the folder."""
    (folder / "book.csv").write_text("id,points\n" + "".join(f"{name},\n" for name in STUDENTS))
    return {
        "gradebook": [
            "--into",
            str(folder / "book.csv"),
            "--column",
            "points",
            "--output",
            str(folder / "b.csv"),
        ],
        "feedback": ["--for", "folders", "-o", str(folder / "feedback.zip")],
        "merge": ["-o", str(folder / "all")],
    }.get(command, [])


@pytest.mark.parametrize("command", ["gradebook", "feedback", "merge"])
@pytest.mark.parametrize("version", ["this", "older"])
def test_grades_of_a_class_that_is_half_graded_are_not_given_away_unasked(
    command: str, version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message has their number, the exit code is 2, and nothing is written."""
    out = recorded(tmp_path / "out", graded=2)
    if version == "older":
        made_older(out.path)
    assert main([command, str(out.path), *words(command, tmp_path)]) == 2
    graded = "2 of 4 are graded" if version == "this" else "only 2 are graded"
    assert f"{graded}, for its batch has not come to its end" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"out", "book.csv"}


def test_those_who_are_graded_can_be_asked_for(tmp_path: Path) -> None:
    """`--unfinished` asks for them, and only they get anything."""
    out = recorded(tmp_path / "out", graded=2)
    for command in ("gradebook", "feedback"):
        assert main([command, str(out.path), *words(command, tmp_path), "--unfinished"]) == 0
    rows = list(csv.reader((tmp_path / "b.csv").read_text().splitlines()))
    assert [row[0] for row in rows[1:] if row[1]] == ["ada", "bob"]
    with zipfile.ZipFile(tmp_path / "feedback.zip") as archive:
        assert archive.namelist() == ["ada/report.html", "bob/report.html"]


def test_a_report_of_those_who_are_graded_has_their_number_in_its_first_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is looked at while a batch is stopped, so it is no question."""
    out = recorded(tmp_path / "out", graded=2)
    assert main(["report", str(out.path)]) == 0
    output = capsys.readouterr().out
    assert output.startswith("2 of 4 are graded, for its batch has not come to its end")
    assert "2 submissions" in output


def test_grades_of_an_earlier_batch_do_not_count_for_a_later_one(tmp_path: Path) -> None:
    """Old records still lie there where all is graded anew, until they are overwritten."""
    recorded(tmp_path / "out")
    out = recorded(tmp_path / "out", graded=1)
    assert out.submissions() == ("ada",)
    assert out.state().unfinished().startswith("1 of 4 are graded")


def test_what_is_to_be_graded_again_is_not_graded_yet(tmp_path: Path) -> None:
    """A class that was done is unfinished from the beginning of the next batch on."""
    out = recorded(tmp_path / "out")
    out.note_begun(STUDENTS, ["bob"])
    assert out.state().unfinished().startswith("3 of 4 are graded")
    out.note("bob", "digest", "pass")
    assert out.state().unfinished().startswith("4 of 4 are graded")
    out.note_class(STUDENTS)
    assert out.state().unfinished() == ""


def test_a_rescored_class_that_was_stopped_is_still_unfinished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So it is not merged as a whole one, and the batch can go on."""
    handed_in = tmp_path / "class"
    handed_in.mkdir()
    for name in ("ada", "bob"):
        (handed_in / f"{name}.yaml").write_text(f"student: {name}\nanswers:\n  blocks-x: 75\n")
    out = tmp_path / "out"
    command = ["grade", "memory-analysis", str(handed_in), "-o", str(out)]
    assert main(command) == 0
    journal = out / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-2]))  # as if it had been stopped when one of two was graded
    assert main(["rescore", str(out)]) == 0
    assert "1 of 2 are graded" in capsys.readouterr().err
    assert main(["merge", str(out), "-o", str(tmp_path / "all")]) == 2
    assert "1 of 2 are graded" in capsys.readouterr().err
    assert main(command) == 0
    assert "1 of 2 were graded before" in capsys.readouterr().out
    assert OutFolder(out).state().has_ended


@pytest.mark.parametrize("command", ["gradebook", "feedback", "report", "rescore", "merge"])
def test_nothing_is_read_beside_a_batch_that_runs(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Grades change while they would be given away."""
    out = recorded(tmp_path / "out")
    with (out.path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert main([command, str(out.path), *words(command, tmp_path)]) == 2
    assert "another grader is writing here" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"out", "book.csv"}


def test_a_batch_goes_on_after_a_line_that_was_cut_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line is left out, so that the next one is not written behind it, and readers are content again."""
    handed_in = tmp_path / "class"
    handed_in.mkdir()
    for name in ("ada", "bob"):
        (handed_in / f"{name}.yaml").write_text(f"student: {name}\nanswers:\n  blocks-x: 75\n")
    out = tmp_path / "out"
    command = ["grade", "memory-analysis", str(handed_in), "-o", str(out)]
    assert main(command) == 0
    journal = out / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-9])
    assert main(["report", str(out)]) == 2
    assert "journal.jsonl: line 6 is damaged (it is cut off)" in capsys.readouterr().err
    assert main(command) == 0
    assert "1 line is damaged and left out" in capsys.readouterr().err
    assert main(["report", str(out)]) == 0
