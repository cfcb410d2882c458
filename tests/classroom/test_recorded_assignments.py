"""The assignment of a graded class: what a file calls it is never a path in the working folder."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.classroom.batch import OutFolder
from grader.classroom.batch.folder import load_grade
from grader.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = "memory-analysis"
OWN = "own-questions"
DECISIONS = "students:\n  ada: {score: 100, comment: by a student, by: eve}\n"


def assignment_in(folder: Path, name: str, points: int = 15) -> Path:
    """A copy of the questions under another id; its first item has these points."""
    path = folder / "assignments" / name
    shutil.copytree(ROOT / "assignments" / QUESTIONS, path)
    shutil.copytree(ROOT / "reference" / QUESTIONS, folder / "reference" / QUESTIONS)
    shutil.copytree(ROOT / "reference" / QUESTIONS, folder / "reference" / name, dirs_exist_ok=True)
    file = path / "assignment.yaml"
    text = file.read_text().replace(f"id: {QUESTIONS}", f"id: {name}", 1)
    file.write_text(text.replace("points: 15", f"points: {points}", 1))
    return path


def graded(folder: Path, assignment: Path | str) -> OutFolder:
    """A class of one, graded for an assignment."""
    (folder / "class").mkdir()
    (folder / "class/ada.yaml").write_text("student: ada\nanswers:\n  blocks-x: 75\n")
    out = folder / "out"
    assert main(["grade", str(assignment), str(folder / "class"), "-o", str(out), "--seed", "7"]) == 0
    return OutFolder(out)


def planted(folder: Path, name: str) -> Path:
    """A working folder in which a student has put a folder that is called like the assignment."""
    working = folder / "working"
    shutil.copytree(assignment_in(folder / "students", name, points=1), working / name)
    (working / name / "adjustments.yaml").write_text(DECISIONS)
    return working


COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "rescore": lambda _: [],
    "merge": lambda folder: ["-o", str(folder / "all")],
    "report": lambda _: ["--released", "published"],
}


def run(command: str, out: OutFolder, folder: Path, *more: str) -> int:
    """The exit code of a command on a graded class."""
    return main([command, str(out.path), *COMMANDS[command](folder), *more])


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", [OWN, QUESTIONS])
def test_a_folder_called_like_the_assignment_decides_nothing(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that was graded counts, wherever the staff stand."""
    out = graded(tmp_path, assignment_in(tmp_path, name, points=25))
    before = load_grade(out, "ada")
    monkeypatch.chdir(planted(tmp_path, name))
    assert run(command, out, tmp_path) == 0
    after = load_grade(out, "ada")
    assert (after.score, after.max_score) == (before.score, before.max_score)
    assert after.assignment_digest == before.assignment_digest


@pytest.mark.parametrize("name", [OWN, QUESTIONS])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_assignment_that_is_gone_is_asked_for(
    command: str,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No other one is taken for it, not even the bundled one of that id; named, it counts from then on."""
    assignment = assignment_in(tmp_path, name)
    out = graded(tmp_path, assignment)
    moved = assignment.rename(assignment.parent / "moved")
    monkeypatch.chdir(planted(tmp_path, name))
    record = out.record_path("ada").read_bytes()
    capsys.readouterr()
    assert run(command, out, tmp_path) == (2 if command == "rescore" else 0)
    output = capsys.readouterr().err
    assert f"{assignment}: is gone" in output
    assert "name the assignment that was graded with --assignment" in output
    assert out.record_path("ada").read_bytes() == record
    assert run(command, out, tmp_path, "--assignment", str(moved)) == 0
    if command == "rescore":
        assert run(command, out, tmp_path) == 0


@pytest.mark.parametrize("recorded", ["", "own-questions", "../own-questions"])
def test_a_class_that_does_not_say_where_its_assignment_is_asks_for_it(
    recorded: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As one that an older version graded; a path that is not absolute is no such place."""
    out = graded(tmp_path, assignment_in(tmp_path, OWN))
    session = out.graded_session()
    out.begin_again(session, {"ada": "pass"}, recorded)
    monkeypatch.chdir(planted(tmp_path, OWN))
    capsys.readouterr()
    assert run("rescore", out, tmp_path) == 2
    output = capsys.readouterr().err
    assert "--assignment" in output or "damaged" in output


def test_a_bundled_assignment_is_the_one_of_this_installation(tmp_path: Path) -> None:
    """So that a class can be taken to another machine; the journal names no folder of this one."""
    out = graded(tmp_path, QUESTIONS)
    assert str(ROOT) not in (out.path / "journal.jsonl").read_text()
    assert run("rescore", out, tmp_path) == 0
    assert str(ROOT) not in (out.path / "journal.jsonl").read_text()
