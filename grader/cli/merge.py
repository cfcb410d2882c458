"""`grader merge`: parts of a class that were graded apart become one."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.classroom.batch import OutFolder
from grader.classroom.batch.class_page import class_files, write_similar
from grader.classroom.batch.merge import merge, must_be_another, parts_of
from grader.cli import setup, stored
from grader.kinds import kind_of
from grader.model import Verdict

if TYPE_CHECKING:
    import argparse

    from grader.model import Assignment


def run(options: argparse.Namespace) -> int:
    """Merge the parts and show the table of the class; 3 where some are not judged."""
    into = OutFolder(options.out)
    folders = [OutFolder(path) for path in {path.resolve(): path for path in options.parts}.values()]
    must_be_another(into, folders)
    with ExitStack() as locks:
        for folder in folders:
            locks.enter_context(folder.unchanging())
            stored.say_of(folder)
        parts = parts_of(folders)  # no folder is made where they are refused
        assignment = _assignment(options.assignment, parts[0].out)
        locks.enter_context(into.locked())
        merged = merge(parts, into)
        grades = merged.grades
        if assignment is not None and kind_of(assignment).compiles:
            write_similar(into, assignment, {one.submission_id: into.source(one) for one in grades})
        into.write(class_files(into, grades))
        into.note_class([grade.submission_id for grade in grades])
    setup.say_removed(merged.removed, into.path)
    setup.print_class(grades, resumed=0, out=into.path)
    return setup.OURS if any(grade.verdict is Verdict.ERROR for grade in grades) else 0


def _assignment(named: str | None, part: OutFolder) -> Assignment | None:
    """The assignment, for what is handed out is no sign of similar submissions; None where it is not here.

    Raises UsageError where the user named it.
    """
    try:
        return setup.graded_assignment(named, part)
    except UsageError as problem:
        if named is not None:
            raise
        setup.console(stderr=True).print(f"similar submissions are not looked for: {problem}", soft_wrap=True)
        return None
