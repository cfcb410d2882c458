"""Parts of an earlier batch that still hold, and files that are written of a graded submission.

A batch may be of a part of a class (`Shard`) that is graded apart, on another machine or by another job; see
`merge`.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from grader.base.errors import StorageError, UsageError
from grader.base.records import frozen
from grader.base.text import did_you_mean, escaped, quoted
from grader.classroom.batch.folder import BatchSession, load_grade
from grader.classroom.batch.journal import JOURNAL, RECORD
from grader.classroom.batch.reading import load_class, readable_grades
from grader.classroom.batch.removed_students import bring_back
from grader.grading.assignment import draw_seed
from grader.grading.submission.items import looks
from grader.kinds import pipeline
from grader.model import Verdict
from grader.reports import files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.classroom.batch.executor import BatchSetting, Graded
    from grader.classroom.batch.folder import OutFolder
    from grader.model import Assignment, Grade, HandIn, Submission


def session_for(
    out: OutFolder, setting: BatchSetting, assignment: Assignment, seed: int | None, shard: Shard | None
) -> BatchSession:
    """Session of a batch; without a ``seed`` it is that of the batch that it takes up, or drawn.

    Raises UsageError where the folder is another program's.
    """
    earlier = out.session()
    if seed is None:
        seed = earlier.seed if earlier else draw_seed()
    return BatchSession(
        assignment.id,
        assignment.digest,
        setting.backend,
        seed,
        dict(pipeline.versions())["grader"],
        setting.toolkit,
        setting.device,
        setting.races,
        str(shard or ""),
    )


_FILES = "assignment_digest"
_ENOUGH = 12
"""Digits of a digest that distinguish it from another."""


def differences(before: BatchSession, after: BatchSession) -> list[str]:
    """Differences of two sessions, as ``seed (1 → 2)``; that two assignments have other files goes unsaid."""
    return [
        _difference(field.name, one, other)
        for field in fields(before)
        if (one := getattr(before, field.name)) != (other := getattr(after, field.name))
        if field.name != _FILES or before.assignment == after.assignment
    ]


def _difference(field: str, before: object, after: object) -> str:
    if field == _FILES:
        return f"assignment's files ({str(before)[:_ENOUGH]} → {str(after)[:_ENOUGH]})"
    return f"{field} ({str(before) or 'none'} → {str(after) or 'none'})"


def require_submissions(
    submissions: Sequence[Submission], only: Sequence[str], whole: Sequence[Submission], shard: Shard | None
) -> None:
    """Raise UsageError for a request that no submission matches, or that another shard grades."""
    ids = [submission.id for submission in submissions]
    unknown = sorted(set(only) - set(ids))
    if not unknown:
        return
    name = escaped(unknown[0])
    if shard and unknown[0] in {submission.id for submission in whole}:
        raise UsageError(f"--only {name}: is not in shard {shard} but in another one; name that with --shard")
    near = did_you_mean(unknown[0], ids)
    raise UsageError(f"--only {name}: no submission is called so; {near or '--dry-run lists them'}")


def already_done(
    out: OutFolder, session: BatchSession, ids: Sequence[str], jobs: int | None
) -> tuple[dict[str, Grade], str]:
    """The grades that an earlier batch vouches for, by id, or what has changed since, for which none holds.

    They are read by as many processes as ``jobs``, by default as there are cores.

    Raises UsageError where the folder holds another assignment's grades, or another part of the class.
    """
    earlier = out.session()
    if earlier is None:
        return {}, ""
    if earlier.assignment != session.assignment:
        raise UsageError(
            f"{out.path} holds grades of `{earlier.assignment}`, and these are for `{session.assignment}`; "
            "choose another folder with -o, or --fresh to give those up"
        )
    if earlier.shard != session.shard:
        before, after = (
            f"shard {batch.shard}" if batch.shard else "a whole class" for batch in (earlier, session)
        )
        raise UsageError(f"{out.path} holds {before}, and this is {after}; choose another folder with -o")
    if earlier != session:
        return {}, ", ".join(differences(earlier, session))
    bring_back(out, ids)
    digests = out.finished()
    grades = readable_grades(out, digests, jobs)
    return {
        name: grade
        for name, grade in grades.items()
        if grade.submission_digest == digests[name]
        if grade.assignment_digest == session.assignment_digest  # else a rescoring was killed
    }, ""


def others_of_class(out: OutFolder, submissions: Sequence[Submission]) -> tuple[Grade, ...]:
    """The grades of a class of which only a part is given, to grade one of it again: they stay in it.

    Raises UsageError where others have no grade that could stay.
    """
    ids = {submission.id for submission in submissions}
    state = out.state()
    by_looks = {looks(name): name for name in state.names if name not in ids}
    if alike := sorted(name for name in ids if looks(name) in by_looks):
        pair = quoted([alike[0], by_looks[looks(alike[0])]])
        raise UsageError(f"{out.path}: --only: {pair} look alike and may be one student; rename one of them")
    if lost := sorted({*state.names, *state.unknown} - {*state.graded, *ids}):
        raise UsageError(
            f"{out.path}: --only: the grade of {quoted(lost)} is not in {JOURNAL}; run `grader grade` on the "
            "whole class first, without --only"
        )
    return tuple(load_class(out, [name for name in out.submissions() if name not in ids]))


def still_right(
    submissions: Sequence[Submission], done: Mapping[str, Grade], out: OutFolder, only: Sequence[str]
) -> dict[str, Grade]:
    """The grades of an earlier batch that still hold, by id; all others are to be graded.

    They are of the same text and the same student, and not what ``only`` asks for; where what reports quote
    was damaged, all is graded again.
    """
    grades = {}
    for submission in submissions:
        grade = done.get(submission.id)
        if grade is None or submission.id in only or grade.submission_digest != submission.digest:
            continue
        if not out.keeps_all(submission.id):
            continue
        if _key(grade.hand_in) == _key(submission.hand_in):  # else questions are drawn for another name
            grades[submission.id] = replace(grade, hand_in=submission.hand_in)
    return grades


def bring_up_to_date(out: OutFolder, valid: Mapping[str, Grade], done: Mapping[str, Grade]) -> None:
    """Write anew what changed about students whose grades still hold, and reports that were damaged.

    ``done`` are the grades as they are stored.
    """
    for name, grade in valid.items():
        if name in done and (grade.hand_in != done[name].hand_in or not out.is_whole(name)):
            rewrite(out, replace(load_grade(out, name), hand_in=grade.hand_in))


def _key(hand_in: HandIn | None) -> str:
    """The name that questions are drawn for."""
    return hand_in.key if hand_in else ""


def store(out: OutFolder, graded: Graded, submission: Submission, *, quoted: bool = True) -> None:
    """Write a grade and vouch for it. An error of ours is stored too, but tried again the next time.

    What was handed in is kept where reports have it ``quoted``: a sheet of answers says whose it is.
    """
    grade = graded.grade
    if quoted:
        out.keep_source(submission)
        out.keep_trace(grade, graded.trace)
    write(out, grade, dict(graded.files))
    failed = grade.verdict is Verdict.ERROR
    out.note(grade.submission_id, "" if failed else submission.digest, grade.verdict)


def rewrite(out: OutFolder, grade: Grade) -> None:
    """Write another version of a grade that is vouched for, with its evidence; raises as `write`.

    The journal names it first: a batch that is killed meanwhile can go on with either version.
    """
    contents = files_of(out, grade)
    out.note_replacing(grade, contents[RECORD])
    write(out, grade, contents)


def files_of(out: OutFolder, grade: Grade) -> dict[str, str]:
    """The files of a submission that is kept in the folder, by name."""
    return files.of_submission(
        grade, source=out.source_lines(grade), further=out.further_lines(grade), trace=out.trace(grade)
    )


def write(out: OutFolder, grade: Grade, contents: Mapping[str, str] | None = None) -> None:
    """Write the files of a submission, or those ``contents`` of it; raises StorageError with how to go on."""
    try:
        out.write(contents or files_of(out, grade), grade.submission_id)
    except StorageError as problem:
        raise StorageError(
            f"{problem}; what is graded so far is kept, run the same command again to go on"
        ) from None


@frozen
class Shard:
    """The ``number``-th of ``of`` parts, counted from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def of_class(self, submissions: Sequence[Submission]) -> tuple[Submission, ...]:
        """Select this shard of a whole class sorted by id: every n-th, so that parts are equally large."""
        return tuple(submissions[self.number - 1 :: self.of])


def digest_of_class(submissions: Sequence[Submission]) -> str:
    """A digest of who (as a roster says) handed in what, by which the parts of one class know each other."""
    people = [submission.hand_in.students if submission.hand_in else () for submission in submissions]
    content = "".join(
        f"{submission.id}\0{submission.digest}\0{students}\n"
        for submission, students in zip(submissions, people, strict=True)
    )
    return hashlib.sha256(content.encode(errors="backslashreplace")).hexdigest()
