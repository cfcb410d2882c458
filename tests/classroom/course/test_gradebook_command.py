"""`grader gradebook`: what it prints, when it asks, and that the staff's file is never half written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.cli import main
from tests.classroom.course.test_import_commands import QUESTIONS, answers
from tests.classroom.course.test_layouts import written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Golden

CANVAS = (
    "Student,ID,SIS Login ID,Section,Memory and work (9)\n    Points Possible,,,,100\n"
    '"Lovelace, Ada",12345,ada,A,\n"Hopper, Grace",12346,grace,A,50\n"Curie, Marie",12399,marie,A,12\n'
)


@pytest.fixture
def out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Grades of three students, of whom one is in no gradebook and one is excused."""
    download = written(
        tmp_path / "download",
        {
            "lovelaceada_12345_678901_answers.yaml": answers("lovelaceada_12345"),
            "hoppergrace_12346_678902_answers.yaml": b"answers: {}\n",
            "nobody_12347_678903_answers.yaml": b"answers: {}\n",
        },
    )
    adjustments = tmp_path / "adjustments.yaml"
    adjustments.write_text("students: {12346: {excused: true, comment: moved away, by: Prof. Weber}}\n")
    command = ["grade", QUESTIONS, str(download), "-o", str(tmp_path / "out")]
    assert main([*command, "--adjustments", str(adjustments)]) == 0
    capsys.readouterr()
    return tmp_path / "out"


def test_the_file_itself_is_filled_and_who_is_where_is_reported(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    """Grades under another title are kept; with --column scores are written, and EX for who is excused."""
    export = tmp_path / "canvas.csv"
    export.write_text(CANVAS, encoding="utf-8")
    assert main(["gradebook", str(out), "--into", str(export)]) == 2
    asked = capsys.readouterr().err
    assert (
        "the only column for grades, `Memory and work (9)`, has another title than this assignment" in asked
    )
    assert "say that it is meant with `--column 5`" in asked
    assert export.read_text(encoding="utf-8") == CANVAS
    command = ["gradebook", str(out), "--into", str(export), "--column", "Memory and work"]
    assert main(command) == 0
    golden("cli/gradebook.txt", capsys.readouterr().out.replace(f"{tmp_path}/", ""))
    assert export.read_text(encoding="utf-8") == CANVAS.replace("ada,A,", "ada,A,100").replace(",50", ",EX")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "adjustments.yaml",
        "canvas.csv",
        "download",
        "out",
    ]


def test_another_file_can_be_written_and_the_first_stays(out: Path, tmp_path: Path) -> None:
    """--output names the other one."""
    export, filled = tmp_path / "canvas.csv", tmp_path / "filled.csv"
    export.write_text(CANVAS, encoding="utf-8")
    command = ["gradebook", str(out), "--into", str(export), "--output", str(filled)]
    assert main([*command, "--column", "5"]) == 0
    assert export.read_text(encoding="utf-8") == CANVAS
    assert "ada,A,100" in filled.read_text(encoding="utf-8")


def test_doubt_whose_a_row_is_ends_with_a_question(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two rows of one student: nothing is written for them, and the exit code is 2."""
    export = tmp_path / "gradebook.csv"
    rows = "Full name,Points\nlovelaceada,\nLOVELACEADA,\nhoppergrace,\n"
    export.write_text(rows, encoding="utf-8")
    assert main(["gradebook", str(out), "--into", str(export), "--column", "Points"]) == 2
    printed = capsys.readouterr()
    assert "`lovelaceada_12345`" in printed.out + printed.err
    assert export.read_text(encoding="utf-8") == rows


@pytest.mark.parametrize("name", ["missing.csv", "."])
def test_what_cannot_be_read_is_a_wrong_use(
    out: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its name and why."""
    assert main(["gradebook", str(out), "--into", str(tmp_path / name)]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_a_gradebook_that_does_not_fit_is_named(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that fills several learns from the message which of them has no such column."""
    export = tmp_path / "section-2.csv"
    export.write_text("Full name,Points\nhoppergrace,\n", encoding="utf-8")
    assert main(["gradebook", str(out), "--into", str(export), "--column", "Quiz"]) == 2
    assert f"{export}: " in capsys.readouterr().err.replace("\n", "")
