"""Stored evidence, judged once more: by a changed rubric, or with what has been released in plain sight."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader import pipeline
from grader.errors import UsageError
from grader.model import Submission, Visibility
from grader.spec import expand_cases, find_assignment, load_assignment

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from grader.batch import OutFolder, Session
    from grader.model import Assignment, Case, Evidence, Grade, ItemGrade


def assignment(named: str | None, session: Session) -> Assignment:
    """The assignment as it is now, by what the user calls it or else by the id that was graded.

    Raises UsageError where there is none, or it is another one than was graded.
    """
    try:
        path = find_assignment(named or session.assignment)
    except UsageError as problem:
        hint = "" if named else "; name the assignment that was graded with --assignment"
        raise UsageError(f"{problem}{hint}") from None
    found = load_assignment(path)
    if found.id != session.assignment:
        raise UsageError(f"{path} is `{found.id}`, and what was graded is `{session.assignment}`")
    return found


def evidence(grade: Grade) -> Evidence | None:
    """What a grade was decided on; None where its record holds none."""
    return grade.evidence


def _place(out: OutFolder, grade: Grade) -> Path:
    return out.record_path(grade.submission_id)


def judged(
    out: OutFolder,
    assignment: Assignment,
    grade: Grade,
    evidence: Evidence,
    opened: Collection[Visibility] = (),
) -> Grade:
    """The grade that an assignment gives for evidence; ``opened`` cases are told of like visible ones.

    Raises UsageError where the file does not fit the assignment.
    """
    cases = tuple(_seen(case, opened) for case in expand_cases(assignment, grade.seed))
    known = {case.case.id: case for case in evidence.cases}
    if known and not all(case.id in known for case in cases):
        raise UsageError(f"{_place(out, grade)} lacks cases; grade the submission again")
    shown = tuple(replace(known[case.id], case=case) for case in cases) if known else ()
    submission = Submission(grade.submission_id, grade.submission_file, b"", grade.submission_digest)
    plan = pipeline.Plan(assignment, grade.seed, cases, ())
    try:
        made = pipeline.judge(plan, submission, replace(evidence, cases=shown))
    except Exception as problem:  # the file is foreign, and each value in it may be absurd
        what = f"{type(problem).__name__}: {problem}"
        raise UsageError(
            f"{_place(out, grade)} cannot be judged: {what}; grade the submission again"
        ) from problem
    return replace(made, seconds=grade.seconds, evidence=evidence)


def _seen(case: Case, opened: Collection[Visibility]) -> Case:
    return replace(case, visibility=Visibility.VISIBLE) if case.visibility in opened else case


def retold(out: OutFolder, assignment: Assignment, grade: Grade, opened: Collection[Visibility]) -> Grade:
    """The grade with what its items would say, had ``opened`` cases been visible; points and verdicts stay.

    As it is, where another version of the assignment was graded or no evidence was kept.
    """
    if grade.assignment_digest != assignment.digest or (stored := evidence(grade)) is None:
        return grade
    made = judged(out, assignment, grade, stored, opened)
    again = {item.result.item.id: item for item in made.items}
    return replace(grade, items=tuple(_retold(item, again.get(item.result.item.id)) for item in grade.items))


def _retold(item: ItemGrade, again: ItemGrade | None) -> ItemGrade:
    old = item.result
    if again is None or (again.result.verdict, again.points) != (old.verdict, item.points):
        return item
    new = again.result
    told = replace(
        old,
        message=new.message,
        message_staff=new.message_staff,
        hint=new.hint,
        findings=new.findings,
        judged=new.judged,
    )
    return replace(item, result=told)
