"""The roster of a course, a CSV file as a platform exports it or staff write it → who is in the course.

What a column holds is known by its heading, in whatever case: those of Canvas' gradebook, Moodle's list of
participants and worksheet, Brightspace, Blackboard, Gradescope, GitHub Classroom and Classroom 50, or simply
``id``, ``name``, ``email``, ``sid``, ``login``, ``github``, ``section`` and ``group``.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.base.records import frozen
from grader.base.text import escaped, one_line
from grader.grading.submission.items import Unusable, read_bytes
from grader.model import Student

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_BYTES = 16 * 2**20
MAX_ROWS = 100_000
_LONGEST = 300

HEADINGS: dict[str, tuple[str, ...]] = {
    "name": (
        "name",
        "student",
        "full name",
        "student name",
        "display name",
        "vollständiger name",
        "nom complet",
    ),
    "first": ("first name", "firstname", "vorname", "prénom", "given name"),
    "last": ("last name", "lastname", "surname", "nachname", "nom", "family name"),
    "id": ("id", "identifier", "user id", "userid", "participant", "identifikator", "identifiant"),
    "sid": (
        "sid",
        "sis user id",
        "student id",
        "id number",
        "orgdefinedid",
        "matrikelnummer",
        "student number",
    ),
    "login": ("login", "login id", "sis login id", "username", "user name", "netid", "roster identifier"),
    "email": (
        "email",
        "e-mail",
        "email address",
        "e-mail address",
        "mail",
        "e-mail-adresse",
        "adresse de courriel",
    ),
    "github": ("github", "github username", "github login"),
    "section": ("section", "sections", "kurs"),
    "group": ("group", "groups", "group name", "team", "gruppe", "gruppen", "groupe"),
}
"""Headings by what they hold, in small letters and with blanks for ``_``."""

_NO_STUDENT = re.compile(r"points possible|student, test|test student|manual posting", re.IGNORECASE)
_PARTICIPANT = re.compile(r"(?P<word>\D{5,}?) ?(?P<number>\d+)")
"""Form of an id in Moodle's worksheet, in the teacher's language: one word for all, and a number."""


@frozen
class Roster:
    """All students of the course, in the order of the file."""

    name: str
    students: tuple[Student, ...]
    participants: bool = False
    """True if the ids are those of Moodle's worksheet: numbers of participants."""


def key_of(student: Student) -> str:
    """The one word for a student of the roster, which their questions are drawn for."""
    return student.id or student.login or student.sid or student.github or student.email or student.name


def read_roster(path: Path) -> Roster:
    """The students in a CSV file: UTF-8, UTF-16 with a byte order mark, or else Windows-1252.

    Raises `UsageError` where it is no such table, or names a student twice.
    """
    shown = escaped(str(path))
    if not path.is_file():
        what = "is no file" if path.exists() else "there is no such file"
        raise UsageError(f"{shown}: {what}; expected a CSV file with a row for each student")
    try:
        content = read_bytes(path, path.parent, MAX_BYTES, "a-roster")
    except Unusable as problem:
        raise UsageError(f"the roster cannot be read: {problem}") from None
    if content.startswith(b"PK\x03\x04"):
        raise UsageError(f"{shown}: is an Excel workbook; save it as CSV")
    rows = csv_rows(content, shown)
    columns = _columns(rows[0], shown)
    students = [student for row in rows[1:] if (student := _student(row, columns))]
    if not students:
        raise UsageError(
            f"{shown}: the roster names no student; expected a row for each student below the headings"
        )
    numbered = _with_numbers(students)
    _require_distinct(numbered, shown)
    return Roster(path.name, tuple(numbered), participants=numbered is not students)


def csv_rows(content: bytes, shown: str) -> list[list[str]]:
    """The rows of a CSV file in which anything stands; ``shown`` is its name. Raises `UsageError`."""
    text = _decoded(content)
    if "\0" in text:
        raise UsageError(f"{shown}: holds NUL characters; expected a CSV file")
    first = text.split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        rows = [row for row in reader if any(row)]
    except csv.Error as problem:
        raise UsageError(f"{shown}: is no CSV file that can be read: {problem}") from None
    if not rows:
        raise UsageError(f"{shown}: is empty; expected a CSV file with a row for each student")
    if len(rows) > MAX_ROWS:
        raise UsageError(f"{shown}: has {len(rows):,} rows; expected at most {MAX_ROWS:,}")
    return rows


def _decoded(content: bytes) -> str:
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _columns(headings: list[str], shown: str) -> dict[str, int]:
    """Column of each kind of value; the first heading of a kind counts."""
    forms = [" ".join(heading.replace("_", " ").split()).casefold() for heading in headings]
    columns = {
        kind: next(index for index, form in enumerate(forms) if form in names)
        for kind, names in HEADINGS.items()
        if any(form in names for form in forms)
    }
    if not columns.keys() & {"id", "sid", "login", "email", "github", "name", "last"}:
        names = ", ".join(field.name for field in fields(Student))
        listed = ", ".join(f"`{escaped(heading, 40)}`" for heading in headings[:8])
        raise UsageError(
            f"{shown}: no heading says who the students are ({listed}); expected some of {names}"
        )
    return columns


def _student(row: list[str], columns: dict[str, int]) -> Student | None:
    """The student of a row; None for rows that a platform writes for other ends."""
    values = {
        kind: one_line(row[index], _LONGEST).strip().removeprefix("#") if index < len(row) else ""
        for kind, index in columns.items()
    }
    first, last = values.pop("first", ""), values.pop("last", "")
    values["name"] = values.get("name", "") or " ".join(part for part in (first, last) if part)
    if not any(values.values()) or _NO_STUDENT.fullmatch(values["name"]):
        return None
    return Student(**values)


def _with_numbers(students: list[Student]) -> list[Student]:
    """The students with the numbers alone where all ids are those of Moodle's worksheet."""
    matches = [_PARTICIPANT.fullmatch(student.id) for student in students]
    if len({match["word"] for match in matches if match}) != 1 or not all(matches):
        return students
    return [
        replace(student, id=match["number"])
        for student, match in zip(students, matches, strict=True)
        if match is not None
    ]


def _require_distinct(students: list[Student], shown: str) -> None:
    for kind in ("id", "sid", "login", "email", "github"):
        values = [folded(getattr(student, kind)) for student in students if getattr(student, kind)]
        twice = next((value for value, times in Counter(values).items() if times > 1), None)
        if twice:
            raise UsageError(f"{shown}: {kind} `{escaped(twice, 60)}` stands in two rows; expected it once")


def folded(value: str) -> str:
    """A value in the form in which equal ones are equal: small letters, one code for each, single blanks."""
    return " ".join(unicodedata.normalize("NFKC", value).casefold().split())


def name_forms(name: str) -> set[str]:
    """The ways to write a name: in both orders, and as Canvas does, last name first without blanks."""
    plain = folded(name)
    forms = {plain}
    if "," in plain:
        last, _, first = (part.strip() for part in plain.partition(","))
        forms |= {f"{first} {last}", f"{last} {first}", squeezed(last + first)}
    elif plain:
        words = plain.split()
        for cut in range(1, len(words)):
            first, last = " ".join(words[:cut]), " ".join(words[cut:])
            forms |= {f"{last}, {first}", f"{last} {first}", squeezed(last + first)}
    return {form for form in forms if form}


def squeezed(name: str) -> str:
    """A folded name without blanks and signs, as Canvas writes it."""
    return re.sub(r"[\W_]", "", name)


def merged(row: Student, platform: Student) -> Student:
    """The roster's row, with what only the platform knows; its number there is kept, for the way back."""
    values = {
        field.name: getattr(row, field.name) or getattr(platform, field.name) for field in fields(Student)
    }
    student = Student(**values)
    if platform.id and row.id and platform.id != row.id:
        return replace(student, id=platform.id, sid=row.sid or row.id)
    return student


def indexed(rows: Iterable[tuple[int, Iterable[str]]]) -> dict[str, set[int]]:
    """Numbers of the rows that have each value, by value."""
    index: dict[str, set[int]] = {}
    for number, values in rows:
        for value in values:
            if value:
                index.setdefault(value, set()).add(number)
    return index
