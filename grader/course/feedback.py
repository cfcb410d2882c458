"""Students' reports under the names that a platform takes back: as the files of a zip archive.

moodle    ``Ada Lovelace_12345_assignsubmission_file_/report.html``: "upload multiple feedback files in a zip"
          finds the participant by the number (importziplib.php)
canvas    ``lovelaceada_12345_678901_report.html``: "upload submissions" finds the user and the upload by
          their numbers
folders   ``<submission>/report.html``
mail      the same, and ``mail.csv`` with a row for each person: address, name, file
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.text import is_visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.model import HandIn

KINDS = ("moodle", "canvas", "folders", "mail")
REPORT = "report.html"
_CANVAS_FRONT = re.compile(r"(.+_(?:\d{2,}|anon_[A-Za-z0-9]{5})_\d{4,}_).+")


@dataclass(frozen=True, slots=True)
class Report:
    """A submission's report: a page for its students."""

    submission: str
    hand_in: HandIn | None
    page: str


@dataclass(frozen=True, slots=True)
class Pack:
    """Files by their names in the archive, in order; and submissions whose report has no name there."""

    files: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]


def pack(kind: str, reports: Sequence[Report], cell: Callable[[str], str]) -> Pack:
    """The reports under the names that ``kind`` asks for; ``cell`` makes a text harmless in a spreadsheet.

    Raises `UsageError` where none of them can have such a name.
    """
    named = [(report, _NAMES[kind](report)) for report in reports]
    files = [(name, report.page) for report, name in named if name]
    left_out = tuple(report.submission for report, name in named if not name)
    if not files:
        raise UsageError(_NONE[kind])
    if kind == "mail":
        files.append(("mail.csv", _mail([report for report, name in named if name], cell)))
    return Pack(tuple(files), left_out)


def _for_moodle(report: Report) -> str:
    hand_in = report.hand_in
    usable = hand_in is not None and hand_in.layout == "Moodle" and all(map(is_visible, hand_in.name))
    return f"{hand_in.name}_assignsubmission_file_/{REPORT}" if hand_in and usable else ""


def _for_canvas(report: Report) -> str:
    match = _CANVAS_FRONT.fullmatch(report.hand_in.file) if report.hand_in else None
    return f"{match[1]}{REPORT}" if match and all(map(is_visible, match[1])) else ""


def _for_folders(report: Report) -> str:
    return f"{report.submission}/{REPORT}"


def _for_mail(report: Report) -> str:
    students = report.hand_in.students if report.hand_in else ()
    return _for_folders(report) if any(student.email for student in students) else ""


_NAMES = {"moodle": _for_moodle, "canvas": _for_canvas, "folders": _for_folders, "mail": _for_mail}
_NONE = {
    "moodle": "no submission came out of a Moodle download, whose names Moodle finds students by; "
    "--for folders or --for mail takes any",
    "canvas": "no submission came out of a Canvas download, whose names Canvas finds students by; "
    "--for folders or --for mail takes any",
    "folders": "nothing is graded in this folder",
    "mail": "no student's e-mail address is known; grade with a --roster that has a column `email`",
}


def _mail(reports: Sequence[Report], cell: Callable[[str], str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("email", "name", "file"))
    for report in reports:
        for student in report.hand_in.students if report.hand_in else ():
            if student.email:
                writer.writerow((cell(student.email), cell(student.name), _for_folders(report)))
    return out.getvalue()
