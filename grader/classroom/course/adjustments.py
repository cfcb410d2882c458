"""Staff's decisions, applied to grades: what is taken off for being late, and what is set by hand.

What cannot be applied with certainty is said before anything is graded.
"""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.base.text import escaped, listed, suggestion
from grader.classroom.course.decisions import FILE_NAME, OfStudent, moment_of
from grader.classroom.course.matching import IDENTIFIERS
from grader.classroom.course.roster import folded, indexed, name_forms
from grader.model import Adjustment, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from grader.classroom.course.decisions import Adjustments, Decisions
    from grader.model import Grade, HandIn

_MOST_NAMES = 8
_NOTHING = Fraction(0)


def unadjusted(grade: Grade) -> Grade:
    """The grade as it was before anything was decided about it."""
    return replace(
        grade,
        score=grade.score - sum((entry.points for entry in grade.adjustments), _NOTHING),
        adjustments=(),
    )


def decided_for(
    adjustments: Adjustments, hand_ins: Sequence[tuple[str, HandIn | None]]
) -> dict[str, OfStudent]:
    """Decisions about each submission, by its id.

    A key of the file is an id, or any value by which exactly one submission's student is known. Raises
    `UsageError` for one that fits several, or a second one for the same submission.
    """
    submissions_of = _meaning(adjustments, hand_ins)
    decided: dict[str, OfStudent] = {}
    for key, decision in adjustments.decisions.students.items():
        for submission in submissions_of(key, "students"):
            if submission in decided:
                raise UsageError(
                    f"{adjustments.name}: students.{escaped(key)}: `{submission}` stands there twice; "
                    "expected one entry for each"
                )
            decided[submission] = decision
    return decided


def group_comments(
    adjustments: Adjustments, hand_ins: Sequence[tuple[str, HandIn | None]]
) -> dict[str, tuple[Adjustment, ...]]:
    """The comments of groups that each submission is in, by its id; raises as `decided_for`."""
    submissions_of = _meaning(adjustments, hand_ins)
    comments: dict[str, tuple[Adjustment, ...]] = {}
    for group in adjustments.decisions.groups:
        comment = Adjustment("comment", comment=group.comment, by=group.by)
        names = [submission for key in group.students for submission in submissions_of(key, "groups")]
        for submission in dict.fromkeys(names):
            comments[submission] = (*comments.get(submission, ()), comment)
    return comments


def _meaning(
    adjustments: Adjustments, hand_ins: Sequence[tuple[str, HandIn | None]]
) -> Callable[[str, str], list[str]]:
    """A function from a key of the file, and the part where it stands, to the submission that is meant."""
    values = indexed(
        (number, _values(submission, hand_in)) for number, (submission, hand_in) in enumerate(hand_ins)
    )

    def meant(key: str, part: str) -> list[str]:
        fitting = [hand_ins[number][0] for number in sorted(values.get(folded(key), ()))]
        if key in fitting:
            return [key]
        if len(fitting) > 1:
            names = listed([f"`{name}`" for name in fitting[:_MOST_NAMES]])
            raise UsageError(f"{adjustments.name}: {part}.{escaped(key)}: could be {names}; use the id")
        return fitting

    return meant


def without_submission(
    adjustments: Adjustments, hand_ins: Sequence[tuple[str, HandIn | None]]
) -> tuple[str, ...]:
    """The keys of the file that no submission is known by."""
    values = {value for submission, hand_in in hand_ins for value in _values(submission, hand_in)}
    decisions = adjustments.decisions
    keys = [*decisions.students, *(key for group in decisions.groups for key in group.students)]
    return tuple(dict.fromkeys(key for key in keys if folded(key) not in values))


def _values(submission: str, hand_in: HandIn | None) -> set[str]:
    values = {folded(submission)}
    if hand_in is not None:
        values |= {folded(hand_in.name), folded(hand_in.key)}
        for student in hand_in.students:
            values |= {folded(getattr(student, kind)) for kind in IDENTIFIERS} | name_forms(student.name)
            values |= {folded(student.group)}
    return values - {""}


def must_be_certain(
    adjustments: Adjustments, hand_ins: Sequence[tuple[str, HandIn | None]], items: Collection[str]
) -> None:
    """Raise `UsageError` before anything is graded where a decision could not be applied.

    No student may be meant by two keys, items must be in the rubric, and the lateness must be certain.
    """
    decided = decided_for(adjustments, hand_ins)
    group_comments(adjustments, hand_ins)
    for submission, hand_in in hand_ins:
        decision = decided.get(submission, OfStudent())
        for item in decision.items:
            if item not in items:
                raise UsageError(
                    f"{adjustments.name}: there is no item `{escaped(item)}`; {suggestion(item, items)}"
                )
        people = hand_in.students if hand_in else ()
        if submission in decided and len(people) > 1 and not _means_all(adjustments, submission, hand_in):
            raise UsageError(
                f"{adjustments.name}: `{submission}` was handed in by {len(people)} together, and one of "
                f"them stands there; to decide about all of them, write `{submission}` instead"
            )
        if decision.score is None and not decision.excused:
            _days_late(submission, hand_in, adjustments.decisions, decision)


def _means_all(adjustments: Adjustments, submission: str, hand_in: HandIn | None) -> bool:
    """True if a key names the submission, or the team that handed it in, and not only one member."""
    names = {
        submission,
        *((hand_in.name, *(student.group for student in hand_in.students)) if hand_in else ()),
    }
    return bool({folded(name) for name in names} & {folded(key) for key in adjustments.decisions.students})


def says_when(hand_in: HandIn | None) -> bool:
    """True if a platform reports when it was handed in, or that it was late."""
    return hand_in is not None and (hand_in.late is not None or moment_of(hand_in.time) is not None)


def unknown_times(adjustments: Adjustments, hand_ins: Sequence[tuple[str, HandIn | None]]) -> tuple[str, ...]:
    """Submissions of unknown lateness, though there is a policy: no time, no mark, no word of staff."""
    policy = adjustments.decisions.late
    if not (policy.per_day or policy.flat):
        return ()
    decided = decided_for(adjustments, hand_ins)
    unsaid = (submission for submission, hand_in in hand_ins if not says_when(hand_in))
    return tuple(
        submission_id for submission_id in unsaid if not _is_final(decided.get(submission_id, OfStudent()))
    )


def _is_final(decision: OfStudent) -> bool:
    """True if the time of the hand-in does not matter."""
    return decision.days_late is not None or decision.score is not None or decision.excused


def adjusted_class(grades: Sequence[Grade], adjustments: Adjustments) -> list[Grade]:
    """The grades with what was decided about each and said to groups; raises as `must_be_certain`."""
    before = {grade.submission_id: grade for grade in grades}
    final = applying(adjustments, [(grade.submission_id, grade.hand_in) for grade in grades], before)
    return [final(grade) for grade in grades]


def applying(
    adjustments: Adjustments,
    hand_ins: Sequence[tuple[str, HandIn | None]],
    before: Mapping[str, Grade],
) -> Callable[[Grade], Grade]:
    """A function that gives each grade of these submissions what was decided about it and said to groups.

    ``before`` are the grades that there were, by their ids, which say what points were set for by hand.
    Raises as `must_be_certain`, and so does the function.
    """
    decided, comments = decided_for(adjustments, hand_ins), group_comments(adjustments, hand_ins)

    def final(grade: Grade) -> Grade:
        decision = decided.get(grade.submission_id, OfStudent())
        own_comments = comments.get(grade.submission_id, ())
        return adjusted(grade, adjustments.decisions, decision, own_comments, before.get(grade.submission_id))

    return final


def adjusted(
    grade: Grade,
    decisions: Decisions,
    decision: OfStudent,
    comments: Sequence[Adjustment] = (),
    before: Grade | None = None,
) -> Grade:
    """The grade with what was decided about it; an error of ours stays one. Raises as `must_be_certain`.

    ``before`` is the student's grade of an earlier batch.
    """
    grade = unadjusted(grade)
    if grade.verdict is Verdict.ERROR:
        return grade
    staff = Adjustment("item", comment=decision.comment, by=decision.by)
    adjustments = [replace(staff, kind="excused")] if decision.excused else []
    if decision.score is not None:
        mark = replace(staff, kind="score", points=decision.score - grade.score)
        adjustments.append(_with_digest(mark, decision.score, grade, before))
    else:
        earned = {entry.result.item.id: entry.points for entry in grade.items}
        adjustments += [
            _with_digest(replace(staff, item=item, points=points - earned[item]), points, grade, before)
            for item, points in decision.items.items()
            if item in earned
        ]
        adjustments += _for_lateness(grade, adjustments, decisions, decision)
    total = sum((entry.points for entry in adjustments), _NOTHING)
    return replace(grade, score=grade.score + total, adjustments=(*adjustments, *comments))


def _with_digest(mark: Adjustment, points: Fraction, grade: Grade, before: Grade | None) -> Adjustment:
    """A mark with the digest of what it was set for.

    That is what it was set for already in the grade ``before``, or else what that grade was of: staff decide
    about a file that they have seen graded. A decision that changed, be it only its comment, is a new one.
    """
    if before is None:
        return replace(mark, digest=grade.submission_digest)
    earned = {entry.result.item.id: entry.points for entry in before.items}
    for one in before.adjustments:
        of_one = before.score if one.kind == "score" else earned.get(one.item, _NOTHING) + one.points
        same = replace(one, points=points, digest="") == replace(mark, points=points)
        if same and of_one == points and one.digest:
            return replace(mark, digest=one.digest)
    return replace(mark, digest=before.submission_digest)


def _for_lateness(
    grade: Grade, adjustments: Sequence[Adjustment], decisions: Decisions, decision: OfStudent
) -> list[Adjustment]:
    """Deductions for being late, of the points so far; or a note that an extension was given."""
    if decision.excused:
        return []
    days = _days_late(grade.submission_id, grade.hand_in, decisions, decision)
    policy = decisions.late
    share = min(policy.at_most, policy.flat + days * policy.per_day) if days else _NOTHING
    score = max(_NOTHING, grade.score + sum((entry.points for entry in adjustments), _NOTHING))
    if days and share:
        return [Adjustment("late", -min(score, share * grade.max_score), days=days)]
    extended = decision.extension or decision.days_late == 0
    return [Adjustment("late", comment=decision.comment, by=decision.by)] if extended else []


def _days_late(submission: str, hand_in: HandIn | None, decisions: Decisions, decision: OfStudent) -> int:
    """The days begun after the due date, its grace and an extension."""
    if decision.days_late is not None:
        return decision.days_late
    policy = decisions.late
    if hand_in is None or not (policy.per_day or policy.flat):
        return 0
    time = moment_of(hand_in.time)
    if time is not None and decisions.due is None and hand_in.late is None:
        raise UsageError(
            f"{FILE_NAME}: due: is missing; expected the time that work was due, for the platform says when "
            "it was handed in"
        )
    if time is not None and decisions.due is not None:
        over = _difference(time, decisions.due) - decision.extension
        return 0 if over <= policy.grace else math.ceil(over / timedelta(days=1))
    if hand_in.late and (policy.per_day or decision.extension):
        raise UsageError(
            f"{FILE_NAME}: `{submission}` is late by an unknown time; write "
            f"`{submission}: {{days_late: 1}}`, or how many it is, under `students`"
        )
    return int(bool(hand_in.late))


def _difference(time: datetime, due: datetime) -> timedelta:
    if (time.tzinfo is None) == (due.tzinfo is None):
        return time - due
    if due.tzinfo is None:
        raise UsageError(
            f"{FILE_NAME}: due: the times of this download have a zone; expected one, such as "
            f"`{due:%Y-%m-%d %H:%M} +01:00`"
        )
    return time.replace(tzinfo=due.tzinfo or UTC) - due
