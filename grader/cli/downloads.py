"""Submissions of a class, as a folder, an archive or a platform's download.

Reading these takes much that a student's own file does without, so that it is loaded only for a class.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.classroom.course.download import read_download, read_only_one
from grader.classroom.course.entries import PLAIN, Doubt, StaffQuestion
from grader.classroom.course.matching import match_roster
from grader.classroom.course.roster import read_roster
from grader.grading.submission import wanted_by
from grader.grading.submission.items import is_our_output, safe

if TYPE_CHECKING:
    from pathlib import Path

    from grader.classroom.course.entries import Download
    from grader.model import Assignment


def download(
    path: Path,
    assignment: Assignment,
    roster: Path | None = None,
    *,
    only_one: bool = False,
    out: Path | None = None,
) -> Download:
    """Submissions of a class for the assignment: sources, or files with answers; owners by a roster.

    ``only_one``: all of it is what one student handed in. ``out`` is where the grades go.
    """
    wanted = wanted_by(assignment.interface)
    whole = read_only_one(path, wanted) if only_one else read_download(path, wanted, assignment.id, out)
    if roster is not None:
        return match_roster(whole, read_roster(roster))
    return _without_other_sheets(whole) if assignment.interface.asks_questions else whole


def must_lie_apart(out: Path, submissions: Path) -> None:
    """Raise UsageError where grades would lie among files of students, and be read as such the next time."""
    folder, handed_in = out.resolve(), submissions.resolve()
    if not folder.is_dir() or not folder.is_relative_to(handed_in):
        return
    if folder == handed_in or not (is_our_output(folder) or _is_empty(folder)):
        raise UsageError(f"{out}: that is where submissions lie; choose another folder with -o")


def _is_empty(folder: Path) -> bool:
    return all(path.name.startswith(".") for path in folder.iterdir())


def _without_other_sheets(whole: Download) -> Download:
    """The download without sheets of another name than a platform wrote: whose they are is to be asked."""
    from grader.kinds.answers.stages import named_in  # noqa: PLC0415 - for this kind only

    names = {submission.id: named_in(submission) for submission in whole.submissions if whole.layout != PLAIN}
    of_others = [
        submission
        for submission in whole.submissions
        if names.get(submission.id) and safe(names[submission.id]).casefold() != submission.id.casefold()
    ]
    if not of_others:
        return whole
    files = tuple(
        submission.hand_in.file if submission.hand_in else submission.file for submission in of_others
    )
    names_of_others = {submission.id for submission in of_others}
    question = StaffQuestion(
        Doubt.ANOTHER_SHEET, files, tuple(names[submission.id] for submission in of_others)
    )
    return replace(
        whole,
        submissions=tuple(one for one in whole.submissions if one.id not in names_of_others),
        questions=(*whole.questions, question),
    )
