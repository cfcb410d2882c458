"""Rosters as platforms export them, and whose a submission is by them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import UsageError
from grader.classroom.course.download import read_download
from grader.classroom.course.entries import Doubt, StaffQuestion
from grader.classroom.course.matching import match_roster
from grader.classroom.course.roster import key_of, read_roster
from grader.model import Student
from tests.classroom.course.layouts import KERNEL, LAYOUTS
from tests.classroom.course.test_layouts import written

if TYPE_CHECKING:
    from pathlib import Path

    from grader.classroom.course.entries import Download

ADA = "Ada Lovelace"
ROSTERS = {
    "our own": (
        "id,name,email,sid,login,github,section,group\n1,Ada Lovelace,ada@x.edu,4711,ada,ada-l,A,G1\n"
    ),
    "Canvas": (
        "Student,ID,SIS User ID,SIS Login ID,Section,HW3 (9)\n"
        "    Points Possible,,,,,100\n"
        '"Lovelace, Ada",12345,4711,ada,A,\n"Student, Test",9,,,A,\n'
    ),
    "Moodle participants": (
        "First name,Last name,ID number,Email address,Groups\nAda,Lovelace,4711,ada@x.edu,G1\n"
    ),
    "Moodle worksheet": (
        "Identifikator,Vollständiger Name,E-Mail-Adresse,Status\n"
        "Teilnehmer/in 12345,Ada Lovelace,ada@x.edu,ok\n"
    ),
    "Brightspace": (
        "OrgDefinedId,Username,Last Name,First Name,Email,End-of-Line Indicator\n"
        "#4711,#ada,Lovelace,Ada,ada@x.edu,#\n"
    ),
    "Blackboard": '"Last Name"\t"First Name"\t"Username"\t"Student ID"\nLovelace\tAda\tada\t4711\n',
    "Gradescope": "First Name,Last Name,SID,Email,Sections\nAda,Lovelace,4711,ada@x.edu,A\n",
    "GitHub Classroom": (
        '"identifier","github_username","github_id","name"\n"4711","ada-l","99","Ada Lovelace"\n'
    ),
    "semicolons": "Nachname;Vorname;Matrikelnummer\nLovelace;Ada;4711\n",
}


def roster_of(folder: Path, text: str | bytes) -> Path:
    """A file with this text."""
    path = folder / "roster.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("name", ROSTERS)
def test_a_roster_of_each_platform_is_read(tmp_path: Path, name: str) -> None:
    """One student, whatever the columns are called; rows that are no students' are passed over."""
    (student,) = read_roster(roster_of(tmp_path, ROSTERS[name])).students
    assert student.name in {ADA, "Lovelace, Ada"}
    assert "4711" in {student.sid, student.id} or student.id == "12345"
    assert not {"#", "\t"} & set(key_of(student))


@pytest.mark.parametrize("word", ["Participant ", "Teilnehmer/in", "Participant·e "])
def test_ids_of_a_worksheet_are_numbers(tmp_path: Path, word: str) -> None:
    """Moodle writes one word before everybody's number; an id that is a login stays whole."""
    rows = f"Identifier,Full name\n{word}12345,Ada\n{word}54321,Grace\n"
    assert [one.id for one in read_roster(roster_of(tmp_path, rows)).students] == ["12345", "54321"]
    logins = "id,name\nstudent1,Ada\nguest2,Grace\n"
    assert [one.id for one in read_roster(roster_of(tmp_path, logins)).students] == ["student1", "guest2"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_roster_may_be_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    """Umlauts come out as they went in."""
    text = "id;name\r\n7;Jürgen Groß\r\n".encode(encoding)
    assert read_roster(roster_of(tmp_path, text)).students == (Student(id="7", name="Jürgen Groß"),)


BAD: dict[str, tuple[str | bytes, str]] = {
    "nothing": ("", "is empty; expected a CSV file"),
    "headings only": ("id,name\n", "the roster names no student"),
    "no heading": (
        "Ada,Lovelace\nGrace,Hopper\n",
        "no heading says who the students are (`Ada`, `Lovelace`)",
    ),
    "workbook": (b"PK\x03\x04....", "is an Excel workbook; save it as CSV"),
    "NUL": (b"id,name\n1,a\0b\n", "holds NUL characters"),
    "twice": ("id,name\n1,Ada\n1,Grace\n", "id `1` stands in two rows; expected it once"),
    "a huge cell": (
        "id,name\n1," + "x" * 200_000 + "\n",
        "is no CSV file that can be read: field larger than",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_roster_is_refused(tmp_path: Path, name: str) -> None:
    """With what it is, and what was expected."""
    text, message = BAD[name]
    with pytest.raises(UsageError) as caught:
        read_roster(roster_of(tmp_path, text))
    assert message in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_roster_that_is_not_there_is_a_wrong_use(tmp_path: Path) -> None:
    """So is a folder, a pipe or a link out of its folder."""
    (tmp_path / "link.csv").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe.csv")
    for name, message in {
        "missing.csv": r"/missing\.csv: there is no such file; expected a CSV file with a row",
        "pipe.csv": "is no file; expected a CSV file",
        ".": "is no file; expected a CSV file",
        "link.csv": "the roster cannot be read",
    }.items():
        with pytest.raises(UsageError, match=message):
            read_roster(tmp_path / name)


def matched(folder: Path, layout: str, roster: str) -> Download:
    """A download with a roster."""
    download = read_download(written(folder / "download", LAYOUTS[layout]), assignment="the-assignment")
    return match_roster(download, read_roster(roster_of(folder, roster)))


CLASS = (
    "id,name,email,login,github,group\n"
    "1,Ada Lovelace,ada@x.edu,ada,ada-l,Team 12\n2,Grace Hopper,grace@x.edu,grace_h,grace,Team 12\n"
    "3,Linus Pauling,linus@example.edu,linus,lp,Team 14\n4,Nobody Else,n@x.edu,nobody,nobody,\n"
)


@pytest.mark.parametrize(
    ("layout", "people"),
    [
        ("gradescope", {"submission_101": ["1", "2"], "submission_102": ["3"]}),
        ("blackboard", {"ada": ["1"], "grace_h": ["2"], "linus": ["3"]}),
        ("github-classroom", {"ada-l": ["1"], "grace": ["2"]}),
        ("classroom-50", {"gpu-hw3-ada": ["1"], "gpu-hw3-grace": ["2"]}),
        ("google-drive", {"Ada_Lovelace_-_tiled": ["1"], "Grace_Hopper_-_tiled": ["2"]}),
        ("teams", {"Ada_Lovelace": ["1"], "Grace_Hopper": ["2"]}),
        ("moodle-old", {"Ada_Lovelace_12345": ["1"], "Grace_Hopper_54321": ["2"]}),
    ],
)
def test_submissions_are_matched_by_any_column(
    tmp_path: Path, layout: str, people: dict[str, list[str]]
) -> None:
    """By number, login, address, name in either order, or what a file's name begins or ends with."""
    download = matched(tmp_path, layout, CLASS)
    assert download.questions == ()
    keys = {
        one.id: [row.id if row.id in "1234" else row.sid for row in one.hand_in.students]
        for one in download.submissions
        if one.hand_in
    }
    assert keys == people
    everybody = {key for several in people.values() for key in several}
    assert {student.id for student in download.missing} == {"1", "2", "3", "4"} - everybody


def test_canvas_names_are_matched_without_ids(tmp_path: Path) -> None:
    """Last name first, in small letters, without blanks; the platform's number is kept for the way back."""
    download = matched(
        tmp_path,
        "canvas",
        "name,login\n"
        + "\n".join(
            f"{name},{name[:3].lower()}"
            for name in ("Ada Lovelace", "Boris Muller", "Grace Hopper", "Linus Pauling", "Marie Curie")
        ),
    )
    assert download.questions == ()
    ada = next(one for one in download.submissions if one.id == "lovelaceada_12345")
    assert ada.hand_in
    assert ada.hand_in.students == (Student(name="Ada Lovelace", id="12345", login="ada"),)
    assert ada.hand_in.key == "ada"


def test_a_group_is_everybody_in_it(tmp_path: Path) -> None:
    """A team's folder under the name that the roster gives the group."""
    files = {
        "Team 12_77_assignsubmission_file_/kernel.cu": KERNEL,
        "Linus Pauling_78_assignsubmission_file_/kernel.cu": KERNEL,
    }
    download = read_download(written(tmp_path / "download", files))
    download = match_roster(download, read_roster(roster_of(tmp_path, CLASS)))
    team = next(one for one in download.submissions if one.id == "Team_12_77")
    assert team.hand_in
    assert [student.login for student in team.hand_in.students] == ["ada", "grace_h"]
    assert download.questions == ()


def test_a_group_of_canvas_is_everybody_in_it(tmp_path: Path) -> None:
    """Its files have the group's name as Canvas writes names, and the number of one of its members."""
    files = {"team12_10_678901_kernel.cu": KERNEL, "paulinglinus_LATE_11_678902_kernel.cu": KERNEL}
    download = read_download(written(tmp_path / "download", files))
    download = match_roster(download, read_roster(roster_of(tmp_path, CLASS)))
    team = next(one for one in download.submissions if one.id == "team12_10")
    assert team.hand_in
    assert [student.login for student in team.hand_in.students] == ["ada", "grace_h"]
    assert download.questions == ()


def test_who_is_not_on_the_roster_is_asked_about(tmp_path: Path) -> None:
    """So are two submissions of one student; neither is graded."""
    files = {"ada.cu": KERNEL, "hw3-ada.cu": KERNEL, "eve.cu": KERNEL, "linus.cu": KERNEL}
    download = read_download(written(tmp_path / "download", files))
    download = match_roster(download, read_roster(roster_of(tmp_path, CLASS)))
    assert [one.id for one in download.submissions] == ["linus"]
    assert download.questions == (
        StaffQuestion(Doubt.NOT_ON_ROSTER, ("eve.cu",)),
        StaffQuestion(Doubt.SEVERAL_ON_ROSTER, ("ada.cu", "hw3-ada.cu"), ("1",)),
    )


def test_a_platforms_number_is_no_student_number(tmp_path: Path) -> None:
    """Canvas' 12345 is not whose student number that is, and not a row of another name: the name decides."""
    rows = "id,name,sid\n12345,Grace Hopper,777\n12,Linus Pauling,54321\n13,Ada Lovelace,1\n"
    files = {
        "Ada Lovelace_12345_assignsubmission_file_/k.cu": KERNEL,
        "Marie Curie_54321_assignsubmission_file_/k.cu": KERNEL,
    }
    download = read_download(written(tmp_path / "download", files))
    download = match_roster(download, read_roster(roster_of(tmp_path, rows)))
    (ada,) = download.submissions
    assert ada.hand_in
    assert ada.hand_in.key == "13"
    assert [question.doubt for question in download.questions] == [Doubt.NOT_ON_ROSTER]


def test_a_number_that_counts_something_is_no_students(tmp_path: Path) -> None:
    """`lab-12` is the twelfth of something; the whole name, or a long number, may be a student's."""
    rows = "id,name\n12,Ada Lovelace\n4711,Grace Hopper\n"
    files = {"lab-12.cu": KERNEL, "lab-4711.cu": KERNEL}
    download = read_download(written(tmp_path / "download", files))
    download = match_roster(download, read_roster(roster_of(tmp_path, rows)))
    assert [one.hand_in.key for one in download.submissions if one.hand_in] == ["4711"]
    assert download.questions == (StaffQuestion(Doubt.NOT_ON_ROSTER, ("lab-12.cu",)),)


def test_a_name_that_two_students_share_decides_nothing(tmp_path: Path) -> None:
    """A name alone leaves it to staff whose it is; a number decides."""
    roster = "id,name\n12345,Ada Lovelace\n54321,Ada Lovelace\n"
    files = {"Ada Lovelace.cu": KERNEL, "Ada Lovelace_54321_assignsubmission_file_/k.cu": KERNEL}
    for number, (name, content) in enumerate(files.items()):
        folder = written(tmp_path / f"download-{number}", {name: content})
        download = match_roster(read_download(folder), read_roster(roster_of(tmp_path, roster)))
        assert bool(download.questions) == ("_" not in name)


def key_by(folder: Path, rows: str, *names: str) -> list[str]:
    """The students whose files have these names, by a roster; none for those that are asked about."""
    download = read_download(written(folder / "download", dict.fromkeys(names, KERNEL)))
    download = match_roster(download, read_roster(roster_of(folder, rows)))
    return [one.hand_in.key for one in download.submissions if one.hand_in]


def test_an_account_of_one_place_is_none_of_another(tmp_path: Path) -> None:
    """The student with that GitHub name is meant, not the one whose login at the university is the same."""
    rows = "id,login,github\n1,ada,\n2,grace,ada\n3,linus,pauling\n"
    assert key_by(tmp_path, rows, "hw3-submissions/hw3-ada/k.cu", "hw3-submissions/hw3-linus/k.cu") == ["2"]


def test_a_number_in_a_column_of_another_kind_needs_the_name(tmp_path: Path) -> None:
    """Gradescope's student number may be another student's `id` in the roster."""
    rows = "id,name\n4711,Linus Pauling\n4712,Grace Hopper\n1,Ada Lovelace\n"
    files = LAYOUTS["gradescope"]
    download = read_download(written(tmp_path / "download", files))
    download = match_roster(download, read_roster(roster_of(tmp_path, rows)))
    students = {
        student.name: hand_in.key
        for one in download.submissions
        if (hand_in := one.hand_in)
        for student in hand_in.students
    }
    assert students == {"Ada Lovelace": "1", "Grace Hopper": "1", "Linus Pauling": "4711"}


@pytest.mark.parametrize("name", ["Ada_Lovelace.cu", "lovelace-ada.cu", "Ada.Lovelace.cu"])
def test_a_name_is_found_with_any_separators(tmp_path: Path, name: str) -> None:
    """As people write their names into names of files."""
    assert key_by(tmp_path, "id,name\n1,Ada Lovelace\n2,Ada Byron\n", name) == ["1"]


def test_a_quote_that_is_never_closed_is_refused(tmp_path: Path) -> None:
    """It would swallow everybody behind it."""
    with pytest.raises(UsageError, match="is no CSV file that can be read: unexpected end of data"):
        read_roster(roster_of(tmp_path, 'id,name\n1,"Ada Lovelace\n2,Grace Hopper\n'))
