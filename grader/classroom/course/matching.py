"""A download and a roster → the download with each student's row, and unmatched students.

A value that stands in one row only decides: a student number, a login, an address, a name in either order. A
platform's own number counts where the row has it as its ``id``, and no other name: it may well be another
person's student number. Where no platform says whose something is, its name may be one of these values, or
begin or end with one (``hw3-ada``, ``Ada Lovelace - kernel``). What fits no row or several is asked about.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.classroom.course.entries import Doubt, StaffQuestion
from grader.classroom.course.roster import folded, indexed, key_of, merged, name_forms, squeezed
from grader.grading.submission.items import stem
from grader.model import HandIn, Student

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.classroom.course.entries import Download
    from grader.classroom.course.roster import Roster
    from grader.model import Submission

_SHORTEST_PART = 2
_SHORTEST_NUMBER = 4
"""A shorter one in a file's name may count anything."""
_COLUMNS = {
    "sid": ("sid", "id"),
    "login": ("login", "id"),
    "email": ("email",),
    "github": ("github",),
}
"""Roster columns for each attribute that a platform reports, the strongest first."""
_SEPARATORS = re.compile(r"\s+-\s+|[-_ .()]+")
IDENTIFIERS = ("id", "sid", "login", "email", "github")


def match_roster(download: Download, roster: Roster) -> Download:
    """Each submission with its students' rows; who is missing, and what fits no row or several."""
    finder = _RosterFinder(roster)
    matched: list[tuple[Submission, tuple[int, ...]]] = []
    strangers: list[str] = []
    for submission in download.submissions:
        hand_in = submission.hand_in or HandIn(submission.file)
        rows = finder.rows_of(hand_in)
        if rows:
            matched.append((_with_rows(submission, hand_in, rows, roster), rows))
        else:
            strangers.append(hand_in.file)
    owners: dict[int, list[Submission]] = {}
    for submission, rows in matched:
        for row in rows:
            owners.setdefault(row, []).append(submission)
    shared = {name for several in owners.values() if len(several) > 1 for name in map(_file, several)}
    questions = [
        *download.questions,
        *([StaffQuestion(Doubt.NOT_ON_ROSTER, tuple(strangers))] if strangers else ()),
        *(
            StaffQuestion(
                Doubt.SEVERAL_ON_ROSTER, tuple(map(_file, several)), (key_of(roster.students[row]),)
            )
            for row, several in owners.items()
            if len(several) > 1
        ),
    ]
    return replace(
        download,
        submissions=tuple(submission for submission, _ in matched if _file(submission) not in shared),
        questions=tuple(questions),
        missing=tuple(row for number, row in enumerate(roster.students) if number not in owners),
    )


def values_of(student: Student) -> list[tuple[str, str]]:
    """The values by which a student is known, folded, each with its kind; the name if there are no others."""
    values = [(kind, value) for kind in IDENTIFIERS if (value := folded(getattr(student, kind)))]
    return values or [("name", name) for name in (folded(student.name),) if name]


def may_be_one(student: Student, other: Student) -> bool:
    """True if two students who have a value of one kind in common may be one person.

    A platform's own number may be another person's elsewhere, who then has another name altogether.
    """
    if {kind for kind, _ in {*values_of(student)} & {*values_of(other)}} - {"id"}:
        return True
    words, others = (set(re.findall(r"\w+", folded(one.name))) for one in (student, other))
    return not words or not others or bool(words & others)


def _file(submission: Submission) -> str:
    return submission.hand_in.file if submission.hand_in else submission.file


def _with_rows(submission: Submission, hand_in: HandIn, rows: tuple[int, ...], roster: Roster) -> Submission:
    people = tuple(roster.students[row] for row in rows)
    key = key_of(people[0]) if people else ""
    if any(one.group and _is_called(hand_in, one.group) for one in people):  # its own text is the team's
        no_participants = hand_in.layout == "Moodle" and not roster.participants
        students = tuple(replace(p, id="", sid=p.sid or p.id) if no_participants else p for p in people)
    else:
        platform = hand_in.students if len(hand_in.students) == len(people) else (Student(),) * len(people)
        students = tuple(merged(row, one) for row, one in zip(people, platform, strict=True))
    return replace(submission, hand_in=replace(hand_in, students=students, key=key))


def _is_called(hand_in: HandIn, group: str) -> bool:
    names = [one.name for one in hand_in.students] or [stem(hand_in.name)]
    return [squeezed(folded(name)) for name in names] == [squeezed(folded(group))]


class _RosterFinder:
    """Rows of a roster by their values."""

    def __init__(self, roster: Roster) -> None:
        rows = list(enumerate(roster.students))
        self._students = roster.students
        self._columns = {
            kind: indexed((number, (folded(getattr(row, kind)),)) for number, row in rows)
            for kind in IDENTIFIERS
        }
        self._identifiers = indexed(
            (number, (folded(getattr(row, kind)) for kind in IDENTIFIERS)) for number, row in rows
        )
        self._names = indexed((number, name_forms(row.name)) for number, row in rows)
        self._groups = indexed((number, (squeezed(folded(row.group)),)) for number, row in rows)

    def rows_of(self, hand_in: HandIn) -> tuple[int, ...]:
        """The rows of all students who handed it in; empty where anyone has none."""
        if not hand_in.students:
            row = self._by_name_of_file(hand_in)
            return (row,) if row is not None else self._group(stem(hand_in.name))
        rows = [self._row(student) for student in hand_in.students]
        certain = tuple(row for row in rows if row is not None)
        if len(certain) == len(rows) == len(set(certain)):
            return certain
        return self._group(hand_in.students[0].name) if len(hand_in.students) == 1 else ()

    def _group(self, name: str) -> tuple[int, ...]:
        return tuple(sorted(self._groups.get(squeezed(folded(name)), ())))

    def _row(self, student: Student) -> int | None:
        for kind, columns in _COLUMNS.items():
            value = folded(getattr(student, kind))
            for column in columns:
                row = _only(self._columns[column].get(value, ()))
                if row is not None and (kind == column or self._may_be_called(row, student.name)):
                    return row
        row = _only(self._columns["id"].get(folded(student.id), ()))
        if row is not None and self._may_be_called(row, student.name):
            return row
        return self._row_of_name(student.name)

    def _may_be_called(self, row: int, name: str) -> bool:
        """True if nothing speaks against a name: one of the two is not known, or they are forms of one."""
        registered = self._students[row].name
        return not name or not registered or bool(name_forms(name) & name_forms(registered))

    def _row_of_name(self, name: str) -> int | None:
        rows = {row for form in name_forms(name) for row in self._names.get(form, ())}
        return _only(rows)

    def _by_name_of_file(self, hand_in: HandIn) -> int | None:
        """The row whose value the name is, or else begins or ends with, where that is but one."""
        file_stem = stem(hand_in.name)
        row = _only(self._identifiers.get(folded(file_stem), ()))
        for name in (file_stem, _SEPARATORS.sub(" ", file_stem).strip()):
            row = self._row_of_name(name) if row is None else row
        if row is not None:
            return row
        parts = {folded(part) for part in _parts(file_stem)}
        rows = {row for part in parts for row in self._identifiers.get(part, ())}
        rows |= {row for part in parts for form in name_forms(part) for row in self._names.get(form, ())}
        return _only(rows)


def _parts(name: str) -> Iterable[str]:
    """Parts with which a name begins and ends, up to any separator."""
    for match in _SEPARATORS.finditer(name):
        for part in (name[: match.start()], name[match.end() :]):
            if len(part) >= (_SHORTEST_NUMBER if part.isdecimal() else _SHORTEST_PART):
                yield part
                yield _SEPARATORS.sub(" ", part)


def _only(rows: Iterable[int]) -> int | None:
    several = set(rows)
    return several.pop() if len(several) == 1 else None
