"""GitHub Classroom's list of an assignment, ``grades.csv``: whose a repository is, and when it was pushed.

Its columns are those of ``gh classroom assignment-grades`` and of "download grades"; a team's repository has
a row for each member. The repository itself is not asked: its author writes the dates of its commits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.course.roster import csv_rows
from grader.model import Student
from grader.submission.files import ending
from grader.text import escaped, one_line

if TYPE_CHECKING:
    from grader.course.entries import Level

_REPOSITORY, _LOGIN, _TIME = "student_repository_name", "github_username", "submission_timestamp"
_MOST_BYTES = 16 * 2**20
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Pushed:
    """What the list says of a repository."""

    students: tuple[Student, ...] = ()
    time: str = ""


def pushed_repositories(level: Level) -> dict[str, Pushed]:
    """By the names of repositories, what a list in the folder or beside it says; empty where there is none.

    Raises `UsageError` where it cannot be read as CSV.
    """
    for item in (*level.items, *level.beside):
        if item.is_folder or ending(item.name) != ".csv" or not item.is_file:
            continue
        content = item.read(_MOST_BYTES, "a list")
        if _REPOSITORY.encode() in content.split(b"\n", 1)[0]:
            return _listed(csv_rows(content, escaped(item.name, 60)))
    return {}


def _listed(rows: list[list[str]]) -> dict[str, Pushed]:
    columns = {heading.strip(): index for index, heading in enumerate(rows[0])}
    repositories: dict[str, Pushed] = {}
    for row in rows[1:]:
        values = {name: one_line(row[i], _LONGEST) for name, i in columns.items() if i < len(row)}
        name = values.get(_REPOSITORY, "").rpartition("/")[2]
        if not name:
            continue
        identifier = values.get("roster_identifier", "")
        student = Student(
            login="" if "@" in identifier else identifier,
            email=identifier if "@" in identifier else "",
            github=values.get(_LOGIN, ""),
            group=values.get("group_name", ""),
        )
        before = repositories.get(name, Pushed())
        time = max(before.time, values.get(_TIME, ""))
        repositories[name] = Pushed((*before.students, student), time)
    return repositories
