"""Students' reports under the names that a platform takes back: as the files of a zip archive.

moodle    ``Ada Lovelace_12345_assignsubmission_file_/report.html``: "upload multiple feedback files in a zip"
          finds the participant by the number (importziplib.php); a team's report is there for each member,
          for the number in the name of a team's folder is the team's
canvas    ``lovelaceada_12345_678901_report.html``: "upload submissions" finds the user and the upload by
          their numbers
folders   ``<submission>/report.html``
mail      the same, and ``mail.csv`` with a row for each person: address, name, file
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.base.records import frozen
from grader.base.text import is_visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.model import HandIn, Student

KINDS = ("moodle", "canvas", "folders", "mail")
REPORT = "report.html"
_CANVAS_FRONT = re.compile(r"(.+_(?:\d{2,}|anon_[A-Za-z0-9]{5})_\d{4,}_).+")


@frozen
class StudentReport:
    """A submission's report: a page for its students."""

    submission: str
    hand_in: HandIn | None
    page: str


@frozen
class Pack:
    """Files by their names in the archive, in order; and submissions without a name there for a student."""

    files: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]


def pack(kind: str, reports: Sequence[StudentReport], cell: Callable[[str], str]) -> Pack:
    """The reports under the names that ``kind`` asks for; ``cell`` makes a text harmless in a spreadsheet.

    Raises `UsageError` where none of them can have such a name.
    """
    named = [(report, _NAMES[kind](report)) for report in reports]
    files = [(name, report.page) for report, names in named for name in names if name]
    left_out = [_without_name(report, names) for report, names in named if not names or not all(names)]
    if not files:
        raise UsageError(_NONE[kind])
    if kind == "mail":
        files.append(("mail.csv", _mail([report for report, names in named if names], cell)))
    return Pack(tuple(files), tuple(left_out))


def _without_name(report: StudentReport, names: Sequence[str]) -> str:
    """The submission, and who of its team has no name there where the others have one."""
    students = report.hand_in.students if report.hand_in else ()
    if not any(names) or len(names) != len(students):
        return report.submission
    missing = (
        one.name or one.login or one.email for one, name in zip(students, names, strict=True) if not name
    )
    return f"{report.submission} ({', '.join(missing)})"


def _for_moodle(report: StudentReport) -> list[str]:
    """A name for each student, empty where the number of the participant is not known."""
    hand_in = report.hand_in
    if hand_in is None or hand_in.layout != "Moodle":
        return []
    fronts = [_of_participant(hand_in, student) for student in hand_in.students]
    return [f"{front}_assignsubmission_file_/{REPORT}" if front else "" for front in fronts]


def _of_participant(hand_in: HandIn, student: Student) -> str:
    """Name and number, as in the download where it has that number; Moodle divides it at each ``_``."""
    if not _is_component(student.id):
        return ""
    alone = len(hand_in.students) == 1
    if alone and hand_in.name.endswith(f"_{student.id}") and _is_component(hand_in.name):
        return hand_in.name
    name = "".join(c if is_visible(c) and c not in "_/\\" else " " for c in student.name).strip(" .")
    return f"{name or 'Participant'}_{student.id}"


def _for_canvas(report: StudentReport) -> list[str]:
    match = _CANVAS_FRONT.fullmatch(report.hand_in.file) if report.hand_in else None
    return [f"{match[1]}{REPORT}"] if match and _is_component(match[1]) else []


def _is_component(name: str) -> bool:
    """True if a name that a download or a roster brought may be one of a file in an archive."""
    return name not in {"", ".", ".."} and all(map(is_visible, name)) and not {"/", "\\"} & set(name)


def _for_folders(report: StudentReport) -> list[str]:
    return [f"{report.submission}/{REPORT}"]


def _for_mail(report: StudentReport) -> list[str]:
    students = report.hand_in.students if report.hand_in else ()
    return _for_folders(report) if any(student.email for student in students) else []


_NAMES = {"moodle": _for_moodle, "canvas": _for_canvas, "folders": _for_folders, "mail": _for_mail}
_NONE = {
    "moodle": "no submission came out of a Moodle download with the number of a participant, by which "
    "Moodle finds students (for teams, grade with the worksheet as --roster); "
    "--for folders or --for mail takes any",
    "canvas": "no submission came out of a Canvas download, whose names Canvas finds students by; "
    "--for folders or --for mail takes any",
    "folders": "nothing is graded in this folder",
    "mail": "no student's e-mail address is known; grade with a --roster that has a column `email`",
}


def _mail(reports: Sequence[StudentReport], cell: Callable[[str], str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("email", "name", "file"))
    for report in reports:
        for student in report.hand_in.students if report.hand_in else ():
            if student.email:
                writer.writerow((cell(student.email), cell(student.name), f"{report.submission}/{REPORT}"))
    return out.getvalue()
