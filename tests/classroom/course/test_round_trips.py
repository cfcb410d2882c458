"""A class of 40 goes from a platform's download into its own gradebook by two commands."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, NamedTuple

import pytest

from grader.cli import main
from tests.classroom.course.test_import_commands import QUESTIONS, answers
from tests.classroom.course.test_layouts import written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIRST = ("Ada", "Boris", "Zoë", "José María", "Grace", "Linus", "Anne-Sophie", "Søren")
LAST = ("Lovelace", "Müller", "O'Neill", "de la Cruz", "Hopper")


class Person(NamedTuple):
    """A student as all platforms know them."""

    number: int
    first: str
    last: str

    @property
    def login(self) -> str:
        """The name that they log in with."""
        return f"u{self.number}"

    @property
    def email(self) -> str:
        """Their address."""
        return f"{self.login}@x.edu"


CLASS = tuple(Person(12300 + n, FIRST[n % 8], f"{LAST[n % 5]}{'-Weiß' * (n >= 20)}") for n in range(42))
"""The last two hand in nothing; of the others every third has it all right."""
HANDED_IN = CLASS[:40]
RIGHT = {person.number for person in HANDED_IN[::3]}


def canvas_name(person: Person) -> str:
    """The sortable name as Canvas writes it into names of files."""
    return "".join(c for c in f"{person.last}{person.first}".lower() if c.isalnum())


def late(person: Person) -> str:
    """The mark that Canvas writes behind the name of some."""
    return "_LATE" if person.number % 7 == 0 else ""


DOWNLOADS: dict[str, Callable[[Person], str]] = {
    "canvas": lambda p: f"{canvas_name(p)}{late(p)}_{p.number}_9{p.number}_answers.yaml",
    "moodle": lambda p: f"{p.first} {p.last}_{p.number}_assignsubmission_file/answers.yaml",
    "blackboard": lambda p: f"Quiz_{p.login}_attempt_2026-11-01-10-00-00_answers.yaml",
    "brightspace": lambda p: f"{p.number}-777 - {p.first} {p.last} - Nov 1, 2026 1000 AM/answers.yaml",
    "gradescope": lambda p: f"submission_{p.number}/answers.yaml",
}


def metadata() -> str:
    """Gradescope's list of who handed in what."""
    return "".join(
        f"submission_{p.number}:\n  :submitters:\n"
        f'  - :name: "{p.first} {p.last}"\n'
        f"    :sid: 'S{p.number}'\n"
        f"    :email: {p.email}\n  :created_at: 2026-11-01 10:00:00 Z\n"
        for p in HANDED_IN
    )


def table(rows: list[list[str]], separator: str = ",", end: str = "\r\n") -> str:
    """Rows as a spreadsheet writes them."""
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator=end).writerows(rows)
    return out.getvalue()


def exports(platform: str) -> tuple[bytes, int, int]:
    """The staff's own export, the column that identifies students, and the one that gets the grade."""
    if platform == "canvas":
        rows = [["Student", "ID", "SIS Login ID", "Section", "Quiz (88)", "Final Score"]]
        rows += [["    Points Possible", "", "", "", "100", "(read only)"]]
        rows += [[f"{p.last}, {p.first}", str(p.number), p.login, "A", "", "0"] for p in CLASS]
        return table(rows, end="\n").encode(), 1, 4
    if platform == "moodle":
        rows = [["Kennung", "Vollständiger Name", "E-Mail-Adresse", "Status", "Bewertung", "Bestwertung"]]
        rows[0] += [
            "Bewertung kann geändert werden",
            "Zuletzt geändert (Bewertung)",
            "Feedback als Kommentar",
        ]
        rows += [
            [f"Teilnehmer/in {p.number}", f"{p.first} {p.last}", p.email, "-", "", "100,00", "Ja", "-", ""]
            for p in CLASS
        ]
        return table(rows, end="\n").encode("utf-8-sig"), 0, 4
    if platform == "blackboard":
        rows = [["Last Name", "First Name", "Username", "Student ID", "Quiz [Total Pts: 100 Score] |88"]]
        rows += [[p.last, p.first, p.login, f"S{p.number}", ""] for p in CLASS]
        return table(rows, "\t").encode("utf-16"), 2, 4
    if platform == "brightspace":
        rows = [["OrgDefinedId", "Username", "Last Name", "First Name", "Email"]]
        rows[0] += ["Quiz Points Grade <Numeric MaxPoints:100>", "End-of-Line Indicator"]
        rows += [[f"#S{p.number}", f"#{p.login}", p.last, p.first, p.email, "", "#"] for p in CLASS]
        return table(rows).encode(), 1, 5
    rows = [["First Name", "Last Name", "SID", "Email", "Quiz"]]
    rows += [[p.first, p.last, f"S{p.number}", p.email, ""] for p in CLASS]
    return table(rows, end="\n").encode(), 2, 4


@pytest.mark.slow
@pytest.mark.parametrize("platform", DOWNLOADS)
def test_a_class_goes_from_the_download_to_the_gradebook(
    platform: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everybody's own score is in their row, and the two without a submission keep an empty cell."""
    files = {}
    has_ids = platform in {"canvas", "moodle"}  # the roster knows the platform's numbers, and goes by them
    for person in HANDED_IN:
        sheet = answers(str(person.number) if has_ids else person.login)
        files[DOWNLOADS[platform](person)] = sheet if person.number in RIGHT else b"answers: {}\n"
    if platform == "gradescope":
        files["submission_metadata.yml"] = metadata().encode()
    download = written(tmp_path / "download", files)
    roster = tmp_path / "roster.csv"
    rows = [["login", "name", "email", "sid"]]
    rows += [[p.login, f"{p.first} {p.last}", p.email, f"S{p.number}"] for p in CLASS]
    if has_ids:
        rows = [[*row, "id" if not n else str(CLASS[n - 1].number)] for n, row in enumerate(rows)]
    roster.write_text(table(rows), encoding="utf-8")
    out, export = tmp_path / "out", tmp_path / "export.csv"
    content, who, column = exports(platform)
    export.write_bytes(content)

    command = ["grade", QUESTIONS, str(download), "-o", str(out), "--roster", str(roster)]
    assert main(command) == 0
    assert "2 students of the roster without one" in capsys.readouterr().err
    heading = "Bewertung" if platform == "moodle" else "Quiz"
    assert main(["gradebook", str(out), "--into", str(export), "--column", heading]) == 0
    printed = capsys.readouterr().out
    assert "2 a row, with no grade" in printed
    encoding = "utf-16" if platform == "blackboard" else "utf-8-sig"
    filled = export.read_bytes().decode(encoding)
    separator = "\t" if platform == "blackboard" else ","
    cells = {
        row[who]: row[column]
        for row in csv.reader(io.StringIO(filled), delimiter=separator)
        if len(row) > column
    }
    for person in CLASS:
        (cell,) = (value for key, value in cells.items() if key.endswith((str(person.number), person.login)))
        score = float(cell.replace(",", ".")) if cell else None
        assert score == (None if person not in HANDED_IN else 100 if person.number in RIGHT else 0)
    before = content.decode(encoding)
    assert len(filled.splitlines()) == len(before.splitlines())
    assert [line[:12] for line in filled.splitlines()] == [line[:12] for line in before.splitlines()]
