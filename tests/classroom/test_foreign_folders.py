"""A folder of grades from elsewhere: commands touch nothing outside it, whatever it holds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from grader.classroom.batch.journal import line_of
from grader.cli import main
from grader.grading.submission.items import ids, is_id
from grader.model import HandIn, Student
from tests.recorded_class import recorded
from tests.sealing import changed, changed_record, made_older

if TYPE_CHECKING:
    from pathlib import Path

    from grader.classroom.batch import OutFolder

NAMES = (
    "../../thesis",
    "..",
    ".",
    "",
    "/etc",
    "a/b",
    "a\\b",
    "a\0b",
    "ada\n",
    ".hidden",
    "-option",
    "e\u0301mil",
    "ada\u200b",
    "x" * 300,
)
"""Names of which a path or a terminal would make something else, or that can be written in two ways."""


def run(command: str, out: Path, folder: Path) -> int:
    """The exit code of a command on a graded class."""
    (folder / "book.csv").write_text("id,points\nada,\n")
    words = {
        "gradebook": ["--into", str(folder / "book.csv"), "--column", "points"],
        "feedback": ["--for", "folders", "-o", str(folder / "feedback.zip")],
        "merge": ["-o", str(folder / "all")],
    }
    return main([command, str(out), *words.get(command, [])])


def everything(folder: Path) -> dict[str, bytes | str]:
    """All that is in a folder, and where links lead to."""
    paths = sorted(folder.rglob("*"))
    return {
        str(path): str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
        for path in paths
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["report", "gradebook", "feedback", "merge", "rescore"])
def test_a_name_that_is_no_id_is_refused_where_the_journal_is_read(
    command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the file's name; nothing beside the folder is changed, even where a record of that name lies."""
    out = recorded(tmp_path / "staff/out")
    thesis = tmp_path / "staff/thesis"
    thesis.mkdir()
    (thesis / "chapter1.tex").write_text("a year of work")
    (thesis / "record.json").write_bytes(out.record_path("ada").read_bytes())
    with (out.path / "journal.jsonl").open("a", encoding="utf-8") as journal:
        journal.write(line_of({"class": ["ada", name]}) + "\n")
    before = everything(tmp_path / "staff")
    assert run(command, out.path, tmp_path) == 2
    assert "journal.jsonl: line 9 is damaged" in capsys.readouterr().err
    assert everything(tmp_path / "staff") == before
    assert not (tmp_path / "all").exists()


def test_every_id_that_is_made_is_taken_for_one() -> None:
    """Also of labels that are cut, counted, composed, or nothing but signs."""
    labels = [
        "x" * 70,
        "x" * 71,
        "..",
        "é",
        "e\u0301",
        "Ada Lovelace_12345",
        "-",
        "a.",
        "Ä" * 60,
        "Ä" * 61,
        "ё",
    ]
    made = ids({str(number): label for number, label in enumerate(labels)}).values()
    assert len(set(made)) == len(labels)
    assert [one for one in made if not is_id(one)] == []


@pytest.mark.parametrize("where", ["grades", "grades/ada", "grades/ada/source", ".lock", "journal.jsonl"])
@pytest.mark.parametrize("command", ["report", "merge", "rescore"])
def test_no_link_of_a_folder_is_followed(
    command: str, where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The target of a link is neither read nor written; the link is named, or left out of what is made."""
    out = recorded(tmp_path / "staff/out")
    private = tmp_path / "staff/private-things"
    (out.path / where).rename(private)
    (out.path / where).symlink_to(private)
    before = everything(private) if private.is_dir() else private.read_bytes()
    code = run(command, out.path, tmp_path)
    assert (everything(private) if private.is_dir() else private.read_bytes()) == before
    error = capsys.readouterr().err
    assert code != 0 or (command, where) in {("merge", ".lock"), ("merge", "grades/ada/source")}, error
    assert code == 0 or "link" in error or "is not what was run" in error  # asked before anything is written


@pytest.mark.parametrize(
    "name", ["record.json", "trace.json.gz", "report.html", "source/cy.cu", "staff.html"]
)
def test_a_file_that_is_a_link_or_a_pipe_is_not_read(name: str, tmp_path: Path) -> None:
    """A link to a secret shows nothing of it in a report, and no command waits for a pipe."""
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET}\n")
    for kind in ("link", "pipe"):
        out = recorded(tmp_path / kind)
        path = out.path / "grades/cy" / name
        path.unlink()
        os.mkfifo(path) if kind == "pipe" else path.symlink_to(secret)
        for command in ("report", "merge"):
            run(command, out.path, tmp_path)
        assert secret.read_text() == "SECRET}\n"
        shown = [file for file in tmp_path.rglob("*") if file.is_file() and file.resolve() != secret]
        assert not [file for file in shown if b"SECRET" in file.read_bytes()]


def test_a_part_file_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    """A file is made beside its place first: what stands there is removed, and not what it leads to."""
    out = recorded(tmp_path / "out")
    thesis = tmp_path / "thesis.tex"
    thesis.write_text("a year of work")
    for place in (".index.html.part", "grades/ada/.record.json.part", "grades/ada/.report.html.part"):
        (out.path / place).symlink_to(thesis)
    assert run("report", out.path, tmp_path) == 0
    assert run("merge", out.path, tmp_path) == 0
    assert thesis.read_text() == "a year of work"


@pytest.mark.parametrize(("one", "other"), [("S01", "s01"), ("ada", "аdа"), ("straße", "STRASSE")])
def test_names_that_look_alike_are_not_merged_as_two(
    one: str, other: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They may be one student, and on some disks they are one folder."""
    for folder, name in (("a", one), ("b", other)):
        renamed(recorded(tmp_path / folder, ["ada"]), "ada", name)
    assert main(["merge", str(tmp_path / "a"), str(tmp_path / "b"), "-o", str(tmp_path / "all")]) == 2
    assert "look alike" in capsys.readouterr().err
    assert not (tmp_path / "all").exists()


def renamed(out: OutFolder, old: str, new: str) -> None:
    """Give a submission of a folder another name."""
    changed_record(
        out, old, lambda text: text.replace(f'"submission_id":"{old}"', f'"submission_id":"{new}"')
    )
    changed(out.path / "journal.jsonl", lambda text: text.replace(f'"{old}"', f'"{new}"'))
    (out.path / "grades" / old).rename(out.path / "grades" / new)


@pytest.mark.parametrize("assignment", ["../evil", "/srv/evil", "evil.yaml/..", ""])
def test_a_journal_that_names_a_path_for_its_assignment_is_refused(
    assignment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An assignment brings code with it: it is found by an id, and not by a path from a foreign folder."""
    out = recorded(tmp_path / "out")
    changed(out.path / "journal.jsonl", lambda text: text.replace('"tiled-matmul"', f'"{assignment}"'))
    for command in ("rescore", "merge", "report"):
        assert run(command, out.path, tmp_path) == 2
        assert "journal.jsonl: its first line is damaged" in capsys.readouterr().err


def test_an_older_journal_is_held_to_the_same_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has no checksums, so that anything may stand there."""
    out = recorded(tmp_path / "out")
    made_older(out.path)
    journal = out.path / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"ada"', '"../../ada"'))
    assert run("merge", out.path, tmp_path) == 2
    assert "is no name that the grader gives to a submission" in capsys.readouterr().err


def test_names_in_the_list_of_pseudonyms_are_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The archive that feedback packs has files under them."""
    out = recorded(tmp_path / "out", anonymous=True)
    people = out.path / "private/identities.json"
    text = people.read_text().replace("real-ada", "../../ada")
    people.write_text(text)
    one_line = " ".join(text.split("\n")) + "\n"
    people.write_text(one_line)
    changed(people, lambda whole: whole)
    assert run("feedback", out.path, tmp_path) == 2
    assert "a name that the grader gives to no submission" in capsys.readouterr().err


ADA = Student(name="Ada Lovelace", id="17", sid="4711", login="al123", email="ada@x.org", github="ada-l")
OF_ONE = {
    "row": (ADA, ADA),
    "student number": (ADA, Student(name="A. King", sid="4711")),
    "login": (ADA, Student(login="al123")),
    "address": (ADA, Student(name="A. King", email="ADA@x.org")),
    "github": (Student(github="ada-l"), ADA),
    "platform's number": (Student(id="17", name="Lovelace, Ada"), ADA),
    "name": (Student(name="Ada Lovelace"), Student(name="Ada  lovelace")),
}
OF_TWO = {
    "numbers of two platforms": (ADA, Student(name="Grace Hopper", id="17")),
    "names alone": (ADA, Student(name="Ada Lovelace", sid="4712")),
    "nothing": (Student(), Student()),
}


def merged_under_two_names(folder: Path, students: tuple[Student, Student], *, anonymous: bool) -> int:
    """The exit code of merging two parts, in which two students are called `ada` and `bob`."""
    for part, name, student in zip(("a", "b"), ("ada", "bob"), students, strict=True):
        other = Student(name="Zoe Z", login=f"of {part}")
        hand_in = HandIn(name, students=(other, student), key=student.id)
        recorded(folder / part, [name], anonymous=anonymous, hand_in=hand_in)
    return main(["merge", str(folder / "a"), str(folder / "b"), "-o", str(folder / "all")])


@pytest.mark.parametrize("anonymous", [False, True])
@pytest.mark.parametrize("students", OF_ONE.values(), ids=OF_ONE)
def test_a_student_who_is_in_two_parts_under_two_names_is_refused(
    anonymous: bool,  # noqa: FBT001 - drawn
    students: tuple[Student, Student],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By whatever the roster or the platform knows them, alone or in a team; both names are said."""
    assert merged_under_two_names(tmp_path, students, anonymous=anonymous) == 2
    output = capsys.readouterr().err
    assert "are one student by the roster or the platform" in output
    assert "ada` of" in output
    assert "bob` of" in output
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize("students", OF_TWO.values(), ids=OF_TWO)
def test_students_who_have_something_in_common_are_merged(
    students: tuple[Student, Student], tmp_path: Path
) -> None:
    """Two courses count their students apart, and two people may have one name."""
    assert merged_under_two_names(tmp_path, students, anonymous=False) == 0
