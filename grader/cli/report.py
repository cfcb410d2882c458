"""`grader report`: everything that can be written from stored grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.batch import OutFolder
from grader.cli import setup
from grader.errors import UsageError
from grader.reports import (
    class_table,
    grade_json,
    gradebook,
    gradescope,
    html,
    junit,
    record_json,
)
from grader.reports.audience import SHOWN, student_view

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from grader.model import Grade
    from grader.reports.audience import Released


def run(options: argparse.Namespace) -> int:
    """Write the reports of a graded class again and show the table."""
    out = OutFolder(options.out)
    grades = load_all(out, out.submissions())
    for grade in _retold(out, grades, options):
        files = of_submission(grade, options.released)
        del files["record.json"], files["grade.json"]  # they stay as it was graded
        out.write(files, grade.submission_id)
    write_class(out, grades)
    print_class(grades, resumed=0, out=out.path, width=options.width)
    return 0


def _retold(out: OutFolder, grades: list[Grade], options: argparse.Namespace) -> list[Grade]:
    """The grades with sentences that name what has been released; with the old ones where that cannot be."""
    session = out.session()
    if not options.released or session is None:
        return grades
    from grader.cli import judged_again  # noqa: PLC0415 - a report as it was graded needs no assignment

    try:
        assignment = judged_again.assignment(options.assignment, session)
        opened = SHOWN[options.released]
        told = [judged_again.retold(out, assignment, grade, opened) for grade in grades]
        why = "the assignment is not the one that was graded; name that one with --assignment"
    except UsageError as problem:
        told, why, assignment = grades, str(problem), None
    if assignment is None or any(grade.assignment_digest != assignment.digest for grade in grades):
        setup.console(stderr=True).print(f"what items say still speaks of hidden cases: {why}")
    return told


def load_all(out: OutFolder, ids: Iterable[str]) -> list[Grade]:
    """The stored grades of these submissions; raises UsageError naming a file that is none."""
    return [record_json.load(out.record(each), str(out.record_path(each)), each) for each in ids]


def is_whole(out: OutFolder, submission: str) -> bool:
    """Whether a stored grade can be read; what a power cut damaged is graded again."""
    try:
        load_all(out, [submission])
    except UsageError:
        return False
    return True


def of_submission(grade: Grade, released: Released = "") -> dict[str, str]:
    """The files of one submission: record.json and grade.json are the staff's.

    The others show what a student may see: what is ``released`` by now; Gradescope knows the day by itself.
    """
    return {
        "record.json": record_json.dump(grade),
        "grade.json": grade_json.dump(grade),
        "junit.xml": junit.render([student_view(grade, released)]),
        "results.json": gradescope.render(grade),
        "report.html": html.render(grade, released=released),
    }


def write_class(out: OutFolder, grades: Sequence[Grade]) -> None:
    """Write the files of the class."""
    out.write(
        {
            "junit.xml": junit.render(grades),
            "gradebook.csv": gradebook.render(grades),
            "index.html": html.render_class(grades),
        },
    )


def write_files(options: argparse.Namespace, grades: Sequence[Grade]) -> None:
    """Write what --json, --junit and --html ask for."""
    setup.write(options.json, grade_json.dump_all(grades))
    setup.write(options.junit, junit.render(grades))
    setup.write(options.html, html.render_class(grades))


def print_class(grades: Sequence[Grade], *, resumed: int, out: Path, width: int | None = None) -> None:
    """Print the table of the class and where its reports are."""
    console = setup.console(width=width)
    console.print(
        class_table.render_class(grades, width=console.width, ascii_only=setup.ascii_only()), end=""
    )
    if resumed:
        console.print(f"{resumed} of {len(grades)} were graded before and are unchanged.")
    if grades:
        seed = grades[0].seed
        console.print(f"seed {seed}: with --seed {seed} another folder is graded on the same cases")
    console.print(f"\nper submission  {out}/grades/<submission>/junit.xml, results.json, report.html;")
    console.print("                record.json and grade.json name hidden cases: for staff only")
    console.print(f"for the class   {out}/gradebook.csv, junit.xml, index.html: for staff only")
