"""Files of a graded submission that a power cut emptied or cut off are written again of its record."""

from __future__ import annotations

import resource
import shutil
from typing import TYPE_CHECKING

import pytest

from grader.classroom.batch import OutFolder
from grader.classroom.batch.folder import load_grade
from grader.cli import main
from grader.reports import files

if TYPE_CHECKING:
    from pathlib import Path

WRITTEN = ("grade.json", "junit.xml", "report.html", "results.json", "staff.html")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a class of one in `class`, graded in `out`."""
    folder = tmp_path_factory.mktemp("course")
    (folder / "class").mkdir()
    (folder / "class/ada.yaml").write_text("student: ada\nanswers: {bytes-read: 64704}\n")
    assert run(folder, "grade") == 0
    return folder


def run(folder: Path, command: str) -> int:
    """The exit code of a command on the graded class."""
    out = str(folder / "out")
    words = {
        "grade": ["memory-analysis", str(folder / "class"), "-o", out, "--seed", "7"],
        "merge": [out, "-o", str(folder / "merged")],
        "feedback": [out, "--for", "folders", "-o", str(folder / "feedback.zip")],
    }
    return main([command, *words.get(command, [out])])


def contents(out: Path) -> dict[str, bytes]:
    """The files of the submission by name."""
    return {path.name: path.read_bytes() for path in (out / "grades/ada").iterdir() if path.is_file()}


def test_a_file_is_damaged_only_if_something_is_wrong_with_it(graded: Path) -> None:
    """All that is written of a submission is looked at, and as it was written it is whole."""
    out = OutFolder(graded / "out")
    stored = load_grade(out, "ada")
    assert set(files.of_submission(stored)) == {"record.json", *WRITTEN} <= set(contents(out.path))
    assert out.is_whole("ada")


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *((name, "emptied") for name in WRITTEN),
        *(("grade.json", how) for how in ("cut off", "zeros", "gone")),
    ],
)
@pytest.mark.parametrize("command", ["grade", "report", "merge", "rescore"])
def test_what_is_damaged_is_written_again_from_the_record(
    command: str, name: str, damage: str, graded: Path, tmp_path: Path
) -> None:
    """Programs read `grade.json`, and students get `report.html`; no one looks at either before."""
    folder = tmp_path / "course"
    shutil.copytree(graded, folder)
    before = contents(folder / "out")
    path, content = folder / "out/grades/ada" / name, before[name]
    half = content[: len(content) // 2].rstrip(b"}>\n")
    path.write_bytes({"cut": half, "zeros": bytes(len(content))}.get(damage, b""))
    if damage == "gone":
        path.unlink()
    assert run(folder, command) == 0
    after = contents(folder / ("merged" if command == "merge" else "out"))
    assert after[name] == content
    assert after.keys() == {*WRITTEN, "record.json"}


def test_an_empty_report_is_given_to_no_student(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names what writes it again."""
    folder = tmp_path / "course"
    shutil.copytree(graded, folder)
    (folder / "out/grades/ada/report.html").write_text("")
    assert run(folder, "feedback") == 2
    text = capsys.readouterr().err
    assert "report.html: is missing or damaged, or of another grade than record.json; `grader report " in text
    assert not (folder / "feedback.zip").exists()


def test_a_file_that_cannot_be_written_to_its_end_leaves_nothing(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither of it nor beside it, where room is scarce; no option is named that there is not."""
    folder = tmp_path / "course"
    shutil.copytree(graded, folder)
    before = contents(folder / "out")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8000, limits[1]))
    try:
        assert run(folder, "report") == 3
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert contents(folder / "out") == before
    output = capsys.readouterr().err
    assert "cannot be written: File too large; use a folder that can be written" in output
    assert " -o" not in output


def test_a_folder_whose_journal_is_gone_is_not_reported_to_hold_no_grades(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The missing file is named, and what writes it."""
    folder = tmp_path / "course"
    shutil.copytree(graded, folder)
    (folder / "out/journal.jsonl").unlink()
    assert [run(folder, "rescore"), run(folder, "merge")] == [2, 2]
    message = "out: journal.jsonl is missing or empty, which says what was graded; grade the class again"
    assert capsys.readouterr().err.count(message) == 2
