"""`grader report`: everything that can be written from stored grades."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.classroom.batch import OutFolder, adjusting
from grader.classroom.batch.class_page import class_files
from grader.classroom.batch.folder import EXPORT, RECORD, load_grade
from grader.classroom.batch.reading import load_class, must_be_of_one_version
from grader.cli import setup, stored
from grader.reports import files, grade_json
from grader.reports.audience import SHOWN

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from grader.model import Grade


def run(options: argparse.Namespace) -> int:
    """Write the reports of a graded class again and show the table."""
    out = OutFolder(options.out)
    stored.say_of(out)  # no folder is made where there are no grades
    with out.locked("wait for it"):  # a batch that ends meanwhile would find older tables in place of its own
        adjusting.stored_decisions(out)  # a folder without its decisions is not whole
        if unfinished := out.state().unfinished():
            setup.console().print(f"{unfinished}; these are they:", soft_wrap=True)
        grades = _written(out, options)
    setup.print_class(grades, resumed=0, out=out.path, width=options.width)
    return 0


def _written(out: OutFolder, options: argparse.Namespace) -> Sequence[Grade]:
    """The grades of a class, whose reports have been written again."""
    ids = out.submissions()
    grades = load_class(out, ids)
    must_be_of_one_version(out, grades)
    released = _releasing(out, ids, options)
    for name in ids:
        stored = load_grade(out, name)
        grade = released(stored)
        source, further = out.source_lines(grade), out.further_lines(grade)
        trace = out.trace(grade)
        written = files.of_submission(grade, options.released, source=source, further=further, trace=trace)
        del written[RECORD]
        out.write(written | {EXPORT: grade_json.dump(stored)}, name)  # both record the graded files
    out.write(class_files(out, grades))
    return grades


def _releasing(out: OutFolder, ids: Sequence[str], options: argparse.Namespace) -> Callable[[Grade], Grade]:
    """A function that has grades name what has been released; all stay as they are where one has to."""
    if not options.released:
        return _as_it_was
    from grader.classroom.batch.rescore import with_released  # noqa: PLC0415 - a report as it was graded needs no checks

    releasing, why = _as_it_was, ""
    try:
        assignment = setup.graded_assignment(options.assignment, out)
        release = partial(with_released, out, assignment, opened=SHOWN[options.released])
        if any(release(load_grade(out, name)).assignment_digest != assignment.digest for name in ids):
            why = "the assignment is not the one that was graded; name that one with --assignment"
        releasing = release
    except UsageError as problem:
        why = str(problem)
    if why:
        note = f"what items say still speaks of hidden cases: {why}"
        setup.console(stderr=True).print(note, soft_wrap=True)
    return releasing


def _as_it_was(grade: Grade) -> Grade:
    return grade
