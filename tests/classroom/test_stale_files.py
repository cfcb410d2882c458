"""Intact files of an earlier batch in a graded class: no command takes them for those of the last one."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.classroom.batch import OutFolder
from grader.classroom.batch.executor import Graded
from grader.classroom.batch.folder import load_grade
from grader.classroom.batch.merge import parts_of
from grader.classroom.batch.resume import store
from grader.cli import main
from grader.model.seals import sealed_page
from tests.recorded_class import STUDENTS, grade_of, person, recorded, submission_of

if TYPE_CHECKING:
    from grader.model import Grade

COMMANDS = ("report", "gradebook", "feedback", "merge", "rescore")
QUESTIONS = "memory-analysis"
ROOT = Path(__file__).resolve().parents[2]


def run(command: str, out: Path, folder: Path, *more: str) -> int:
    """The exit code of a command on a graded class; what it writes goes to the folder."""
    book = folder / "book.csv"
    if not book.exists():
        book.write_text("id,points\n" + "".join(f"{name},\n" for name in STUDENTS))
    words = {
        "gradebook": ["--into", str(book), "--column", "points"],
        "feedback": ["--for", "folders", "-o", str(folder / "feedback.zip")],
        "merge": ["-o", str(folder / "all")],
    }
    return main([command, str(out), *words.get(command, []), *more])


def as_earlier(out: OutFolder, folder: Path, **difference: object) -> None:
    """Give ada a record and a page that differ so, as a copy of an earlier batch has them."""
    submission = submission_of("ada", person("ada"))
    earlier: Grade = replace(grade_of("ada", submission), **difference)  # type: ignore[arg-type]
    other = OutFolder(folder)
    (folder / "grades").mkdir(parents=True)
    store(other, Graded(earlier), submission)
    for name in ("record.json", "report.html"):
        shutil.copy(folder / "grades/ada" / name, out.path / "grades/ada" / name)


DIFFERENCES: dict[str, dict[str, object]] = {
    "hand-in": {"submission_digest": "e" * 64},
    "seed": {"seed": 8},
    "assignment": {"assignment_id": "other"},
}


@pytest.mark.parametrize("what", DIFFERENCES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_record_of_an_earlier_batch_is_refused_by_name(
    command: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is intact, but not of what the journal vouches for: exit code 2, and nothing is written."""
    out = recorded(tmp_path / "out")
    as_earlier(out, tmp_path / "earlier", **DIFFERENCES[what])
    assert run(command, out.path, tmp_path) == 2
    output = capsys.readouterr().err
    assert "out/grades/ada/record.json" in output
    assert "earlier batch's" in output
    assert command == "merge" or f"another {what} than journal.jsonl says" in output
    assert not {"all", "feedback.zip"} & {path.name for path in tmp_path.iterdir()}
    assert (tmp_path / "book.csv").read_text().count(",\n") == len(STUDENTS)


def test_a_page_of_an_earlier_grade_is_given_to_no_student(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is intact, and of the same hand-in, but not of the record; `report` writes it again."""
    out = recorded(tmp_path / "out")
    page = out.path / "grades/ada/report.html"
    sound, record = page.read_bytes(), out.record_path("ada").read_bytes()
    as_earlier(out, tmp_path / "earlier", assignment_title="as it was called")
    out.record_path("ada").write_bytes(record)
    assert run("feedback", out.path, tmp_path) == 2
    text = capsys.readouterr().err
    assert "report.html: is missing or damaged, or of another grade than record.json; `grader report " in text
    assert not (tmp_path / "feedback.zip").exists()
    assert run("report", out.path, tmp_path) == 0
    assert page.read_bytes() == sound
    assert run("feedback", out.path, tmp_path) == 0


def test_a_page_that_does_not_name_its_grade_is_given(tmp_path: Path) -> None:
    """As it was written before; its checksum still holds."""
    out = recorded(tmp_path / "out")
    page = out.path / "grades/ada/report.html"
    lines = page.read_text().splitlines(keepends=True)
    assert lines[-2].startswith("<!-- of ")
    page.write_text(sealed_page("".join(lines[:-2])))
    assert run("feedback", out.path, tmp_path) == 0


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a class of two in `class`, graded in `out`; two more came, and ada handed in anew."""
    folder = tmp_path_factory.mktemp("course")
    (folder / "class").mkdir()
    for name, answer in {"ada": "1", "bob": "2"}.items():
        handed_in(folder, name, answer)
    assert grade(folder) == 0
    shutil.copytree(folder / "out", folder / "before")
    for name, answer in {"ada": "75", "carl": "3", "dora": "4"}.items():
        handed_in(folder, name, answer)
    assert grade(folder) == 0
    return folder


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Path:
    """A copy of it; `before` is the folder as it was after the first batch."""
    return Path(shutil.copytree(graded, tmp_path / "course"))


def handed_in(folder: Path, name: str, answer: str) -> None:
    """Hand in one answer."""
    (folder / f"class/{name}.yaml").write_text(f"student: {name}\nanswers:\n  blocks-x: {answer}\n")


def grade(folder: Path, *more: str) -> int:
    """The exit code of grading the class."""
    words = ["grade", QUESTIONS, str(folder / "class"), "-o", str(folder / "out"), "--seed", "7"]
    return main([*words, *more])


def scores(folder: Path) -> dict[str, float]:
    """The scores of the class by submission."""
    out = OutFolder(folder / "out")
    return {name: float(load_grade(out, name).score) for name in out.submissions()}


def test_a_batch_grades_anew_what_is_an_earlier_ones(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that the command that is named mends it."""
    sound = scores(course)
    for name in ("record.json", "report.html"):
        shutil.copy(course / "before/grades/ada" / name, course / "out/grades/ada" / name)
    assert run("report", course / "out", course) == 2
    capsys.readouterr()
    assert grade(course) == 0
    assert "3 of 4 were graded before" in capsys.readouterr().out
    assert scores(course) == sound
    assert run("report", course / "out", course) == 0


def of_before(course: Path) -> None:
    """Leave a journal that speaks of the first batch alone, with sound grades of those whom it knows."""
    shutil.copy(course / "before/journal.jsonl", course / "out/journal.jsonl")
    shutil.rmtree(course / "out/grades/ada")
    shutil.copytree(course / "before/grades/ada", course / "out/grades/ada")


@pytest.mark.parametrize("command", ["gradebook", "feedback", "merge"])
def test_grades_that_the_journal_lost_are_not_left_out_unasked(
    command: str, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folders are named, with exit code 2, and nothing is written."""
    of_before(course)
    assert run(command, course / "out", course) == 2
    assert "the grades of `carl` and `dora` are not in journal.jsonl" in capsys.readouterr().err
    assert not {"all", "feedback.zip"} & {path.name for path in course.iterdir()}


def test_those_whom_the_journal_knows_can_be_asked_for(course: Path) -> None:
    """As those of a batch that was stopped."""
    of_before(course)
    assert run("feedback", course / "out", course, "--unfinished") == 0


def test_reports_and_rescoring_name_whom_the_journal_lost(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither gives grades away; a rescored class is as unfinished as before."""
    of_before(course)
    message = "the grades of `carl` and `dora` are not in journal.jsonl"
    assert run("report", course / "out", course) == 0
    assert capsys.readouterr().out.startswith(message)
    assert run("rescore", course / "out", course) == 0
    assert message in capsys.readouterr().err
    assert OutFolder(course / "out").state().unknown == ("carl", "dora")


def test_a_batch_grades_anew_whom_the_journal_lost(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The class is whole afterwards."""
    sound = scores(course)
    of_before(course)
    capsys.readouterr()
    assert grade(course) == 0
    assert "1 of 4 were graded before" in capsys.readouterr().out
    assert scores(course) == sound
    assert OutFolder(course / "out").state().unfinished() == ""


def test_one_of_a_class_is_not_graded_again_while_others_would_be_lost(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--only` from a folder that holds nothing else keeps grades that the journal knows, and no others."""
    of_before(course)
    one = ["grade", QUESTIONS, str(course / "class/ada.yaml"), "-o", str(course / "out"), "--only", "ada"]
    assert main(one) == 2
    assert "the grade of `carl` and `dora` is not in journal.jsonl" in capsys.readouterr().err
    assert {path.name for path in (course / "out/grades").iterdir()} == {"ada", "bob", "carl", "dora"}


def test_a_folder_without_a_grade_is_no_student_whom_the_journal_lost(tmp_path: Path) -> None:
    """As staff may have put beside the others, or a copy that was stopped left."""
    out = recorded(tmp_path / "out")
    for name in ("notes", ".ada.part"):
        (out.path / "grades" / name).mkdir()
    (out.path / "grades/.ada.part/record.json").touch()
    (out.path / "grades/README").touch()
    assert out.state().unknown == ()
    assert len(parts_of([out])) == 1


def decided(course: Path) -> Path:
    """A class that staff have decided about, and the folder of another one, which is about to be."""
    decisions = course / "decisions.yaml"
    decisions.write_text("students:\n  bob: {score: 80, comment: shown, by: Tim}\n")
    assert grade(course, "--adjustments", str(decisions)) == 0
    return course / "out"


@pytest.mark.parametrize("command", ["report", "rescore", "merge", "grade", "gradebook", "feedback"])
@pytest.mark.parametrize("damage", ["gone", "older", "spoiled"])
def test_decisions_that_the_journal_lists_as_kept_are_not_forgotten(
    command: str, damage: str, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Gone, damaged, or as an earlier batch kept them: it is named, with exit code 2; nothing changes."""
    out = decided(course)
    kept = out / "adjustments.yaml"
    earlier = kept.read_bytes()
    if damage == "older":
        (course / "decisions.yaml").write_text("students:\n  bob: {score: 90, comment: seen, by: Tim}\n")
        assert grade(course, "--adjustments", str(course / "decisions.yaml")) == 0
        kept.write_bytes(earlier)
    elif damage == "spoiled":
        kept.write_bytes(earlier[:-3])
    else:
        kept.unlink()
    before = scores(course)
    capsys.readouterr()
    assert (grade(course) if command == "grade" else run(command, out, course)) == 2
    why = "is gone, though journal.jsonl says" if damage == "gone" else "its checksum is another"
    assert (
        f"out/adjustments.yaml: {'' if damage == 'gone' else 'is damaged, or was changed by hand: '}{why}"
        in (capsys.readouterr().err)
    )
    assert scores(course) == before
    assert not {"all", "feedback.zip"} & {path.name for path in course.iterdir()}
    assert not (course / "book.csv").exists() or (course / "book.csv").read_text().count(",\n") == 4
    assert grade(course, "--adjustments", str(course / "decisions.yaml")) == 0
    assert scores(course) == before
    assert run("rescore", out, course) == 0
    assert scores(course) == before


def test_a_copy_of_what_stood_beside_an_assignment_may_go_while_that_stands_there(course: Path) -> None:
    """It is the one that counts, and it is kept again."""
    assignment = course / "assignments" / QUESTIONS
    for folder in ("assignments", "reference"):
        shutil.copytree(ROOT / folder / QUESTIONS, course / folder / QUESTIONS)
    (assignment / "adjustments.yaml").write_text("students:\n  bob: {score: 80, comment: shown, by: Tim}\n")
    words = ["grade", str(assignment), str(course / "class"), "-o", str(course / "own")]
    assert main(words) == 0
    kept = course / "own/adjustments-beside.yaml"
    kept.unlink()
    assert main(words) == 0
    assert kept.exists()
    (assignment / "adjustments.yaml").unlink()
    kept.unlink()
    assert main(words) == 2
