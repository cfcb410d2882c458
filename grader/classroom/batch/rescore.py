"""Re-runs checks and scoring on stored evidence; nothing is compiled or launched.

`rescore` applies a changed rubric: every grade is scored anew, or none is, where its evidence is of something
else than what the changed assignment would run. `with_released` keeps points and
verdicts, and says what items would say with cases in plain sight that were hidden then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.base.records import frozen
from grader.classroom.batch.adjusting import adjustments_for
from grader.classroom.batch.class_page import class_files
from grader.classroom.batch.folder import evidence_of, load_grade
from grader.classroom.batch.identities import load_identified
from grader.classroom.batch.resume import rewrite
from grader.classroom.batch.smaller_grades import Slimming
from grader.classroom.course.adjustments import applying
from grader.classroom.course.anonymous import identified, nameless
from grader.grading.assignment import execution_digests, expand_cases
from grader.grading.assignment.bundled import own_path
from grader.kinds import pipeline
from grader.model import Submission, Visibility

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from fractions import Fraction

    from grader.classroom.batch.folder import BatchSession, OutFolder
    from grader.model import Assignment, Case, Grade, ItemGrade, RubricItem

MOST_TOLD = 8
"""Differences that are named."""


@frozen
class Regraded:
    """A grade before and after."""

    before: Grade
    after: Grade

    @property
    def difference(self) -> Fraction:
        """Change of the score."""
        return self.after.score - self.before.score

    @property
    def alters_grade(self) -> bool:
        """True if the score, the verdict or the maximum changed."""
        before, after = self.before, self.after
        return bool(self.difference) or (before.verdict, before.max_score) != (after.verdict, after.max_score)


def rescore(out: OutFolder, session: BatchSession, assignment: Assignment) -> tuple[Regraded, ...]:
    """Score a graded class by an assignment with another rubric, and write its files and the journal.

    Raises UsageError, before anything is written, where something else would be run.
    """
    grades, identities = load_identified(out)
    hand_ins = [(grade.submission_id, grade.hand_in) for grade in grades]
    _must_be_the_same(out, assignment, [name for name, _ in hand_ins])
    before = {grade.submission_id: grade for grade in grades}
    final = applying(adjustments_for(out, None, assignment.path), hand_ins, before)

    def rescored(name: str) -> Grade:
        return final(_rescored(out, assignment, identified(load_grade(out, name), identities)))

    slim = Slimming()
    changes = tuple(Regraded(grade, slim(rescored(grade.submission_id))) for grade in grades)
    out.note_rescoring()
    for name, _ in hand_ins:  # judged once more: nothing is written before all can be, nor are all kept
        grade = rescored(name)
        rewrite(out, replace(grade, hand_in=nameless(grade.hand_in, identities)))
    after = [replace(change.after, hand_in=nameless(change.after.hand_in, identities)) for change in changes]
    _vouch(out, replace(session, assignment_digest=assignment.digest), own_path(assignment), after)
    return changes


def _rescored(out: OutFolder, assignment: Assignment, grade: Grade) -> Grade:
    """The new grade, which names the assignment that the old one was first graded with."""
    first = grade.rescored if grade.assignment_digest == assignment.digest else grade.assignment_digest
    return replace(_judged(out, assignment, grade), rescored=first)


def _vouch(out: OutFolder, session: BatchSession, path: str, grades: list[Grade]) -> None:
    """Write the files of the class, and a journal that vouches for it as before: unfinished stays so."""
    out.write(class_files(out, grades))
    out.begin_again(session, {grade.submission_id: grade.verdict for grade in grades}, path)


def _must_be_the_same(out: OutFolder, assignment: Assignment, ids: Sequence[str]) -> None:
    """Raise UsageError where evidence is missing or of something else, before anything is changed."""
    differing: dict[str, list[str]] = {}
    for name in ids:
        grade = load_grade(out, name)
        evidence = evidence_of(out, grade)
        cases = expand_cases(assignment, grade.seed)
        by_estimate = evidence.estimate is not None and any(map(_is_estimated, assignment.rubric))
        digests = execution_digests(assignment, cases, timed=evidence.measures_time, estimated=by_estimate)
        ran = dict(evidence.ran)
        for piece, digest in digests:
            if ran.get(piece) != digest:
                differing.setdefault(f"{piece}{'' if piece in ran else ', which is new'}", []).append(name)
    if not differing:
        return
    lines = [
        f"  {what}{'' if len(whose) == len(ids) else f' ({len(whose)} of {len(ids)} submissions)'}"
        for what, whose in differing.items()
    ]
    more = [f"  … and {len(lines) - MOST_TOLD} more"] if len(lines) > MOST_TOLD else []
    raise UsageError(
        "\n".join(
            [
                "nothing was changed: what the assignment asks for now is not what was run:",
                *lines[:MOST_TOLD],
                *more,
                "a rubric alone can be rescored; for this, grade again with `grader grade`",
            ]
        )
    )


def _is_estimated(item: RubricItem) -> bool:
    """True if an item is judged by an estimated speed, where nothing is measured."""
    return bool(dict(item.options).get("estimate"))


def with_released(
    out: OutFolder, assignment: Assignment, grade: Grade, opened: Collection[Visibility]
) -> Grade:
    """The grade with what its items would say, had ``opened`` cases been visible; points and verdicts stay.

    As it is, where another version of the assignment was graded.
    """
    if grade.assignment_digest != assignment.digest:
        return grade
    judged = _judged(out, assignment, grade, opened)
    again = {item.result.item.id: item for item in judged.items}
    items = tuple(_item_with_sentences(item, again.get(item.result.item.id)) for item in grade.items)
    is_same = [item.result.item.id for item in grade.items] == list(again)
    return replace(grade, items=items, for_student=judged.for_student if is_same else grade.for_student)


def _item_with_sentences(item: ItemGrade, again: ItemGrade | None) -> ItemGrade:
    old = item.result
    if again is None or again.result.verdict is not old.verdict:
        return item
    new = again.result
    sentences = replace(
        old,
        message=new.message,
        message_staff=new.message_staff,
        hint=new.hint,
        findings=new.findings,
        judged=new.judged,
    )
    return replace(item, result=sentences)


def _judged(
    out: OutFolder, assignment: Assignment, grade: Grade, opened: Collection[Visibility] = ()
) -> Grade:
    """Judge a grade's evidence by an assignment; ``opened`` cases are reported like visible ones.

    All of the evidence stays with it. Raises UsageError where the file does not fit the assignment.
    """
    evidence, path = evidence_of(out, grade), out.record_path(grade.submission_id)
    cases = tuple(_released(case, opened) for case in expand_cases(assignment, grade.seed))
    recorded = {case.case.id: case for case in evidence.cases}
    if recorded and not all(case.id in recorded for case in cases):
        raise UsageError(f"{path} lacks cases; grade the submission again")
    shown = tuple(replace(recorded[case.id], case=case) for case in cases) if recorded else ()
    submission = Submission(
        grade.submission_id, grade.submission_file, b"", grade.submission_digest, hand_in=grade.hand_in
    )
    plan = pipeline.Plan(assignment, grade.seed, cases, ())
    try:
        judged = pipeline.judge(plan, submission, replace(evidence, cases=shown))
    except Exception as problem:  # the file is foreign, and each value in it may be absurd
        problem_text = f"{type(problem).__name__}: {problem}"
        raise UsageError(f"{path} cannot be judged: {problem_text}; grade the submission again") from problem
    return replace(judged, seconds=grade.seconds, evidence=evidence)


def _released(case: Case, opened: Collection[Visibility]) -> Case:
    return replace(case, visibility=Visibility.VISIBLE) if case.visibility in opened else case
