"""`grader rescore`: a changed rubric, applied to what is stored; nothing is run."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from grader.batch import OutFolder
from grader.batch.rescore import rescore
from grader.cli import setup
from grader.model import Verdict
from grader.reports import wording
from grader.text import one_line

if TYPE_CHECKING:
    import argparse

    from grader.batch.rescore import Regraded
    from grader.model import Grade


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after the command."""
    parser.add_argument("out", metavar="OUT", type=Path, help="the folder given to `grader grade -o`")
    parser.add_argument(
        "--assignment",
        metavar="ASSIGNMENT",
        default=None,
        help="the assignment with the changed rubric: an id or a path (default: the id that was graded)",
    )


def run(options: argparse.Namespace) -> int:
    """Rescore a graded class; 3 with errors of ours."""
    out = OutFolder(options.out)
    session = out.graded_session()
    assignment = setup.graded_assignment(options.assignment, session)
    with out.locked("wait for it"):
        changes = rescore(out, session, assignment)
    _print(changes, assignment.path)
    return setup.OURS if any(change.after.verdict is Verdict.ERROR for change in changes) else 0


def _print(changes: tuple[Regraded, ...], rubric: Path) -> None:
    """How many scores changed, by how much, and whose."""
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
    return f"{wording.shown(grade.score)}/{wording.shown(grade.max_score)}"
