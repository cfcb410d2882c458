"""`grader feedback`: students' reports, packed as the platform that they came from takes them back."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from grader.base.text import count, escaped, listed
from grader.classroom.batch import OutFolder
from grader.classroom.batch.identities import load_identified
from grader.classroom.batch.reading import must_be_of_one_version
from grader.classroom.course.anonymous import named
from grader.classroom.course.feedback import StudentReport, pack
from grader.cli import setup, stored
from grader.reports.class_table import spreadsheet_cell

if TYPE_CHECKING:
    import argparse

_FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""First time that a zip archive can hold; the same reports give the same bytes."""
_MOST_NAMES = 8


def run(options: argparse.Namespace) -> int:
    """Pack each student's report as it was written last by `grade` or `report`; 0, or 2 where none fits."""
    out = OutFolder(options.out)
    with out.unchanging():
        stored.require_staff_course_file(out)
        stored.must_be_whole(out, options)
        grades, identities = load_identified(out)
        must_be_of_one_version(out, grades)
        reports = [
            StudentReport(
                named(grade.submission_id, identities), grade.hand_in, out.report(grade.submission_id)
            )
            for grade in grades
        ]
    packed = pack(options.platform, reports, spreadsheet_cell)
    setup.write_bytes(options.output, _archive(packed.files))
    screen = setup.console()
    screen.print(
        f"{count(len(reports) - len(packed.left_out), 'report')} in {options.output}", soft_wrap=True
    )
    if packed.left_out:
        names = [f"`{escaped(name, 60)}`" for name in packed.left_out[:_MOST_NAMES]]
        rest = len(packed.left_out) - _MOST_NAMES
        screen.print(
            f"{count(len(packed.left_out), 'report')} left out, for which the platform has no name: "
            f"{listed([*names, f'{rest} more'] if rest > 0 else names)}"
        )
    if options.platform == "moodle" and not any(one.hand_in and one.hand_in.key for one in grades):
        setup.console(stderr=True).print(
            "the numbers in the download's names are taken for participants; if teams handed in, grade with "
            "the worksheet as --roster, for a team's number may be a student's",
            soft_wrap=True,
        )
    return 0


def _archive(files: tuple[tuple[str, str], ...]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files:
            archive.writestr(zipfile.ZipInfo(name, _FIRST_DAY), text.encode(errors="backslashreplace"))
    return content.getvalue()
