"""Checks and messages of commands about a graded class before they read its grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.classroom.batch import adjusting
from grader.classroom.batch.folder import IMPORT
from grader.cli import course_file, import_table, setup

if TYPE_CHECKING:
    import argparse

    from grader.classroom.batch import OutFolder


def must_be_whole(out: OutFolder, options: argparse.Namespace) -> None:
    """Say how far the class is graded; raises UsageError where that is not all of it, unless it is meant.

    Nor is it where decisions about it are gone or damaged.
    """
    say_of(out)
    adjusting.stored_decisions(out)
    state = out.state()
    unfinished = state.unfinished()
    if unfinished and not options.unfinished:
        raise UsageError(
            f"{out.path}: {unfinished}; run {state.unfinished_command} again, or take those who "
            "are graded with --unfinished"
        )
    if unfinished:
        setup.console(stderr=True).print(f"{out.path}: {unfinished}", soft_wrap=True)


def require_staff_course_file(out: OutFolder) -> None:
    """Refuse a course's file of a student's, by where that class lies; raises UsageError."""
    if course_file.COURSE_FILE.is_file():
        submissions = import_table.submissions_of(out.path, out.stored_file(IMPORT))
        course_file.require_from_staff(out.path, *filter(None, (submissions,)))


def say_of(out: OutFolder) -> None:
    """Say that a class has no checksums, as where an older version graded it; raises UsageError."""
    if note := _of_older(out):
        setup.console(stderr=True).print(note, soft_wrap=True)


def repair_journal(out: OutFolder) -> list[str]:
    """Make the journal fit for a batch to go on with; gives what is to be said of it. Raises UsageError."""
    return [note for note in (_of_older(out), out.mend()) if note]


def _of_older(out: OutFolder) -> str:
    session = out.graded_session()
    if out.journal().has_checksums:
        return ""
    return (
        f"{out.path}: an older version graded this (grader {session.grader}), and its records have no "
        f"checksums, so that damage may go unseen; `grader rescore {out.path}` writes them anew with one"
    )
