"""Files of a graded submission that a power cut emptied or cut off are written again of its record."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from grader.cli import main

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
    """Programs read `grade.json`, and students get `report.html`; nobody looks at either before."""
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


def test_an_empty_report_is_given_to_nobody(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is said what writes it again."""
    folder = tmp_path / "course"
    shutil.copytree(graded, folder)
    (folder / "out/grades/ada/report.html").write_text("")
    assert run(folder, "feedback") == 2
    assert "report.html: is missing or damaged; `grader report " in capsys.readouterr().err
    assert not (folder / "feedback.zip").exists()
