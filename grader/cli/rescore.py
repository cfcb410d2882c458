"""`grader rescore`: a changed rubric, applied to what is stored; nothing is run."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from grader.base.text import one_line
from grader.classroom.batch import OutFolder
from grader.classroom.batch.rescore import rescore
from grader.cli import setup, stored
from grader.model import Verdict
from grader.reports import wording

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from grader.classroom.batch.rescore import Regraded
    from grader.model import Grade


def run(options: argparse.Namespace) -> int:
    """Rescore a graded class; 3 where some are not judged."""
    out = OutFolder(options.out)
    stored.say_of(out)
    session = out.graded_session()
    assignment = setup.graded_assignment(options.assignment, out)
    with out.locked("wait for it"):
        changes = rescore(out, session, assignment)
        unfinished = out.state().unfinished()
    _print(changes, assignment.path)
    if unfinished:
        setup.console(stderr=True).print(
            f"{out.path}: {unfinished}; run `grader grade` with the same command again for the others",
            soft_wrap=True,
        )
    return setup.OURS if any(change.after.verdict is Verdict.ERROR for change in changes) else 0


def _print(changes: tuple[Regraded, ...], rubric: Path) -> None:
    """Print how many scores changed, by how much, and whose."""
    console = setup.console()
    changed = [change for change in changes if change.alters_grade]
    room = max((len(one_line(change.after.submission_id, 40)) for change in changed), default=0)
    for change in sorted(changed, key=lambda change: change.difference):
        name = one_line(change.after.submission_id, 40)
        before, after = (_score(grade) for grade in (change.before, change.after))
        console.print(f"{name:<{room}}  {before} → {after}  ({wording.signed(change.difference)})")
    how_many = f"{len(changed)} of {len(changes)} grades changed"
    console.print(f"{how_many} by the rubric of {rubric}; nothing was run", soft_wrap=True)
    if changed:
        mean = sum((change.difference for change in changes), Fraction(0)) / len(changes)
        lowest, highest = (end(change.difference for change in changes) for end in (min, max))
        console.print(
            f"the score changes by {wording.signed(lowest)} to {wording.signed(highest)}, "
            f"{wording.signed(mean)} in the mean"
        )


def _score(grade: Grade) -> str:
    if grade.verdict is Verdict.ERROR:
        return "!"
    return f"{wording.points_text(grade.score)}/{wording.points_text(grade.max_score)}"
