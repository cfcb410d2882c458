"""`grader rescore`: a changed rubric, applied to what is stored; nothing is run.

Either every grade that has its evidence is rescored, or none is: where that evidence is of something else
than what the changed assignment would run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from grader import gpu
from grader.batch import OutFolder
from grader.cli import judged_again, report, setup
from grader.errors import UsageError
from grader.model import Verdict
from grader.reports import points, safe_text
from grader.spec import expand_cases, what_is_run

if TYPE_CHECKING:
    import argparse

    from grader.batch import Session
    from grader.model import Assignment, Evidence, Grade

MOST_TOLD = 8
"""Differences that are named."""

_INCOMPLETE = 1
_OURS = 3


@dataclass(frozen=True, slots=True)
class Change:
    """A grade before and after."""

    before: Grade
    after: Grade

    @property
    def difference(self) -> Fraction:
        """By how much the score changes."""
        return self.after.score - self.before.score


def run(options: argparse.Namespace) -> int:
    """Rescore a graded class; 1 where a grade has no evidence with it, 3 with errors of ours."""
    out = OutFolder(options.out)
    session = out.session()
    if session is None:
        raise UsageError(f"{options.out}: no grades here; expected the folder given to `grader grade -o`")
    assignment = judged_again.assignment(options.assignment, session)
    with out.locked():
        return _rescore(out, session, assignment)


def _rescore(out: OutFolder, session: Session, assignment: Assignment) -> int:
    grades = report.load_all(out, out.submissions())
    stored = {grade.submission_id: judged_again.evidence(grade) for grade in grades}
    _must_be_the_same(assignment, grades, stored)
    changes = []
    for grade in grades:
        evidence = stored[grade.submission_id]
        if evidence is not None:
            made = judged_again.judged(out, assignment, grade, evidence)
            before = (
                grade.rescored if grade.assignment_digest == assignment.digest else grade.assignment_digest
            )
            changes.append(Change(grade, replace(made, rescored=before)))
    for change in changes:
        out.write(report.of_submission(change.after), change.after.submission_id)
    finished = out.finished()
    out.begin(replace(session, assignment_digest=assignment.digest))
    for change in changes:
        after = change.after
        if after.verdict is not Verdict.ERROR and after.submission_id in finished:
            out.note(after.submission_id, finished[after.submission_id], after.verdict)
    known = {change.after.submission_id: change.after for change in changes}
    everybody = [known.get(grade.submission_id, grade) for grade in grades]
    out.note_class([grade.submission_id for grade in everybody])
    report.write_class(out, everybody)
    _print(changes, [grade.submission_id for grade in grades if stored[grade.submission_id] is None])
    if any(grade.verdict is Verdict.ERROR for grade in everybody):
        return _OURS
    return _INCOMPLETE if len(changes) < len(grades) else 0


def _must_be_the_same(
    assignment: Assignment, grades: list[Grade], stored: dict[str, Evidence | None]
) -> None:
    """Raise UsageError where evidence is missing or of something else, before anything is changed."""
    differing: dict[str, list[str]] = {}
    for grade in grades:
        evidence = stored[grade.submission_id]
        if evidence is None:
            continue
        cases = expand_cases(assignment, grade.seed)
        wanted = what_is_run(assignment, cases, timed=evidence.backend == gpu.NAME)
        ran = dict(evidence.ran)
        for piece, digest in wanted:
            if ran.get(piece) != digest:
                differing.setdefault(f"{piece}{'' if piece in ran else ', which is new'}", []).append(
                    grade.submission_id
                )
    if not differing:
        return
    told = [
        f"  {what}{'' if len(whose) == len(grades) else f' ({len(whose)} of {len(grades)} submissions)'}"
        for what, whose in differing.items()
    ]
    more = [f"  … and {len(told) - MOST_TOLD} more"] if len(told) > MOST_TOLD else []
    raise UsageError(
        "\n".join(
            [
                "nothing was changed: what the assignment asks for now is not what was run:",
                *told[:MOST_TOLD],
                *more,
                "a rubric alone can be rescored; for this, grade again with `grader grade`",
            ]
        )
    )


def _print(changes: list[Change], without: list[str]) -> None:
    """How many scores changed, by how much, and whose."""
    console = setup.console()
    changed = [change for change in changes if change.difference or _other_verdict(change)]
    room = max((len(safe_text.one_line(change.after.submission_id, 40)) for change in changed), default=0)
    for change in sorted(changed, key=lambda change: change.difference):
        name = safe_text.one_line(change.after.submission_id, 40)
        before, after = (_score(grade) for grade in (change.before, change.after))
        console.print(f"{name:<{room}}  {before} → {after}  ({points.signed(change.difference)})")
    console.print(f"{len(changed)} of {len(changes)} grades changed; nothing was run")
    if changed:
        mean = sum((change.difference for change in changes), Fraction(0)) / len(changes)
        lowest, highest = (end(change.difference for change in changes) for end in (min, max))
        console.print(
            f"the score changes by {points.signed(lowest)} to {points.signed(highest)}, "
            f"{points.signed(mean)} in the mean"
        )
    for name in without:
        shown = safe_text.one_line(name, 40)
        console.print(
            f"{shown}: left as it is, for an older version graded it and kept no evidence; grade it again"
        )


def _other_verdict(change: Change) -> bool:
    one, other = change.before, change.after
    return (one.verdict, one.max_score) != (other.verdict, other.max_score)


def _score(grade: Grade) -> str:
    if grade.verdict is Verdict.ERROR:
        return "!"
    return f"{points.shown(grade.score)}/{points.shown(grade.max_score)}"
