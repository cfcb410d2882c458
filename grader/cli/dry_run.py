"""`grader grade --dry-run`: what a download and decisions are understood as; nothing is graded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.classroom.batch import OutFolder, adjusting
from grader.classroom.course.entries import Left, Omission
from grader.cli import import_table, setup

if TYPE_CHECKING:
    import argparse

    from grader.classroom.course.entries import Download
    from grader.model import Assignment


def show(options: argparse.Namespace, assignment: Assignment, download: Download) -> int:
    """Show whose what is; 2 where `grade` would ask. Raises what the decisions make `grade` raise."""
    screen = setup.console()
    for part in import_table.render(download, width=screen.width):
        screen.print(part)
    setup.write(options.json, import_table.dump(download))
    out = OutFolder(options.out) if options.out else None
    earlier = out.session() if out else None
    anew = earlier is not None and earlier.assignment != assignment.id
    decided = adjusting.adjustments_for(out, options.adjustments, assignment.path, anew=anew)
    hand_ins = [(submission.id, submission.hand_in) for submission in download.submissions]
    for note in adjusting.require_applicable(decided, hand_ins, (), assignment):
        screen.print(note, soft_wrap=True)
    return setup.ASKS if download.questions else 0


def certain(download: Download, *, skip: bool) -> Download:
    """The download without what is in doubt, where that may be skipped; else raises UsageError."""
    if not download.questions:
        return download
    if not skip:
        raise UsageError(import_table.refusal(download))
    skipped = [Omission(name, Left.SKIPPED) for question in download.questions for name in question.names]
    if not download.submissions:
        raise UsageError(f"{import_table.refusal(download)}; there are no others here")
    return replace(download, left_out=(*download.left_out, *skipped), questions=())
