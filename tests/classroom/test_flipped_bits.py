"""A flipped bit in any file of a graded class is refused with the file's name, or changes nothing."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import UsageError
from grader.classroom.batch import OutFolder
from grader.classroom.batch.adjusting import adjustments_for
from grader.classroom.batch.folder import load_grade
from grader.classroom.batch.identities import load_identified
from grader.classroom.batch.merge import merge, parts_of
from grader.classroom.batch.resume import already_done, still_right
from grader.cli import main
from tests.recorded_class import SESSION, STUDENTS, person, recorded, submission_of
from tests.sealing import made_older

if TYPE_CHECKING:
    from grader.model import Grade

FLIPS = 240
"""In each of the parts, over all files; the parts come to 2,400."""
PARTS = 10

NO_ASSIGNMENT = Path("/nowhere/assignment.yaml")


def gradebook(out: OutFolder) -> object:
    """The content of a gradebook: students and their scores."""
    grades, _ = load_identified(out)
    names = [(grade.submission_id, grade.hand_in, grade.score, grade.max_score) for grade in grades]
    return out.state(), names


def feedback(out: OutFolder) -> object:
    """The reports that students are given."""
    return [out.report(name) for name in out.submissions()]


def report(out: OutFolder) -> object:
    """The input of reports: whole grades, and what they quote."""
    return [all_of(out, load_grade(out, name)) for name in out.submissions()]


def all_of(out: OutFolder, grade: Grade) -> object:
    """A grade with what it was decided on and what is kept beside it."""
    return grade, grade.evidence, out.source_lines(grade), out.further_lines(grade), out.trace(grade)


def rescore(out: OutFolder) -> object:
    """The input of a rubric: evidence and decisions."""
    grades = [load_grade(out, name) for name in out.submissions()]
    decisions = adjustments_for(out, None, NO_ASSIGNMENT).content
    return out.graded_session(), [(grade, grade.evidence) for grade in grades], decisions


def merged(out: OutFolder) -> object:
    """The grades and files of a class that is merged as a part of another one."""
    into = OutFolder(out.path.parent / "merged")
    shutil.rmtree(into.path, ignore_errors=True)
    into.path.mkdir()
    grades = merge(parts_of([out]), into).grades
    return grades, report(into), [into.stored_file(name) for name in ("import.json", "adjustments.yaml")]


Commands = dict[str, Callable[[OutFolder], object]]
COMMANDS: Commands = {
    "gradebook": gradebook,
    "feedback": feedback,
    "report": report,
    "rescore": rescore,
}


@pytest.mark.parametrize(("flips", "commands"), [(FLIPS, COMMANDS), (FLIPS // 8, {"merge": merged})])
@pytest.mark.parametrize("part", range(PARTS))
def test_one_flipped_bit_is_refused_by_name_or_changes_nothing(
    part: int, flips: int, commands: Commands, tmp_path: Path
) -> None:
    """Over all files of a class, anonymous in every other part; what each command reads is compared."""
    out = recorded(tmp_path / "out", anonymous=part % 2 == 1)
    sound = {name: read(out) for name, read in commands.items()}
    paths = sorted(path for path in out.path.rglob("*") if path.is_file() and path.stat().st_size)
    chance = random.Random(part)  # noqa: S311 - bits, no secret
    wrong = []
    for _ in range(flips):
        path = chance.choice(paths)
        content = path.read_bytes()
        bit = chance.randrange(8 * len(content))
        path.write_bytes(flipped(content, bit))
        for name, read in commands.items():
            try:
                same = read(OutFolder(out.path)) == sound[name]
            except UsageError as refused:
                same = path.name in str(refused)
            if not same:
                wrong.append((name, path.relative_to(out.path), bit))
        path.write_bytes(content)
    assert not wrong


def resumed(out: OutFolder) -> dict[str, object]:
    """The grades that a batch takes over, by submission; others it grades again, with the same seed."""
    handed_in = [submission_of(name, person(name)) for name in STUDENTS]
    done, changed = already_done(out, SESSION, list(STUDENTS), 1)
    assert not changed
    valid = still_right(handed_in, done, out, ())
    adjustments_for(out, None, NO_ASSIGNMENT)
    return {name: all_of(out, load_grade(out, name)) for name in valid}


@pytest.mark.parametrize("part", range(PARTS))
def test_a_batch_goes_on_with_what_is_sound_and_grades_the_rest_again(part: int, tmp_path: Path) -> None:
    """A flipped bit costs one submission the time to grade it, or is refused by the file's name."""
    out = recorded(tmp_path / "out")
    sound = resumed(out)
    assert sound.keys() == STUDENTS.keys()
    paths = sorted(path for path in out.path.rglob("*") if path.is_file() and path.stat().st_size)
    chance = random.Random(100 + part)  # noqa: S311 - as above
    wrong = []
    for number in range(FLIPS // 4):
        path = chance.choice(paths)
        content = path.read_bytes()
        path.write_bytes(flipped(content, bit := chance.randrange(8 * len(content))))
        try:
            got = resumed(OutFolder(out.path))
            if not (len(sound) - 1 <= len(got) and got.items() <= sound.items()):
                wrong.append((path.relative_to(out.path), bit, number))
        except UsageError as refused:
            if path.name not in str(refused):
                wrong.append((path.relative_to(out.path), bit, number))
        path.write_bytes(content)
    assert not wrong


@pytest.mark.parametrize("command", ["report", "gradebook", "feedback", "merge"])
def test_a_command_refuses_a_flipped_digit_of_a_score(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the name of the record, with exit code 2, and writes nothing."""
    out = recorded(tmp_path / "out")
    record = out.record_path("ada")
    text = record.read_text()
    at = text.index('"score":"75"') + len('"score":"')
    record.write_text(f"{text[:at]}3{text[at + 1 :]}")
    book = tmp_path / "book.csv"
    book.write_text("id,points\nada,\n")
    words = {
        "gradebook": ["--into", str(book), "--column", "points"],
        "feedback": ["--for", "folders", "-o", str(tmp_path / "f.zip")],
        "merge": ["-o", str(tmp_path / "all")],
    }
    assert main([command, str(out.path), *words.get(command, [])]) == 2
    output = capsys.readouterr().err
    assert "ada" in output
    assert not (tmp_path / "f.zip").exists()
    assert not (tmp_path / "all").exists()
    assert book.read_text() == "id,points\nada,\n"


def test_records_of_an_older_version_are_read_and_have_to_add_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No grade is lost; it is reported that they have no checksums; and a score that is none is refused."""
    out = recorded(tmp_path / "out")
    before = [load_grade(out, name) for name in STUDENTS]
    made_older(out.path)
    older = OutFolder(out.path)
    assert [load_grade(older, name) for name in STUDENTS] == before
    assert older.state().has_ended
    assert main(["report", str(out.path)]) == 0
    assert "its records have no checksums" in capsys.readouterr().err
    record = out.record_path("ada")
    record.write_text(record.read_text().replace('"score":"75"', '"score":"35"'))
    assert main(["report", str(out.path)]) == 2
    assert "ada/record.json is no stored grade: its points do not add up" in capsys.readouterr().err


def test_a_class_of_no_students_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A journal of an older version, in which no checksum could show that its last line is damaged."""
    for line in ('{"class": []}', '{"class": [1, null, {}]}', '{"class": ["ada", "ada"]}'):
        out = recorded(tmp_path / "out")
        made_older(out.path)
        journal = out.path / "journal.jsonl"
        journal.write_text("\n".join([*journal.read_text().splitlines()[:-1], line]) + "\n")
        assert main(["report", str(out.path)]) == 2, line
        assert "journal.jsonl: line 6 is damaged" in capsys.readouterr().err


def test_a_name_of_the_class_without_a_record_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is refused by the file's name, not left out of the gradebook."""
    out = recorded(tmp_path / "out")
    out.record_path("bob").unlink()
    assert main(["report", str(out.path)]) == 2
    assert "bob/record.json: is missing" in capsys.readouterr().err


def flipped(content: bytes, bit: int) -> bytes:
    """The bytes with one bit of them another one."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)
