"""Staff's decisions, applied to grades: what is taken off for being late, and what is set by hand.

What cannot be applied with certainty is said before anything is graded.
"""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from grader.course.decisions import FILE_NAME, OfStudent, moment_of
from grader.course.matching import IDENTIFIERS
from grader.course.roster import folded, indexed, name_forms
from grader.errors import UsageError
from grader.model import Adjustment, Verdict
from grader.text import escaped, listed, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from grader.course.decisions import Adjustments, Decisions
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
    """What is decided about each submission, by its id.

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


def said_to_groups(
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

    Nobody may be meant by two keys, items must be in the rubric, and how late somebody is must be certain.
    """
    decided = decided_for(adjustments, hand_ins)
    said_to_groups(adjustments, hand_ins)
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
    """Whether a key names the submission, or the team that handed it in, and not only somebody of it."""
    names = {
        submission,
        *((hand_in.name, *(student.group for student in hand_in.students)) if hand_in else ()),
    }
    return bool({folded(name) for name in names} & {folded(key) for key in adjustments.decisions.students})


def says_when(hand_in: HandIn | None) -> bool:
    """Whether a platform says when it was handed in, or whether that was late."""
    return hand_in is not None and (hand_in.late is not None or moment_of(hand_in.time) is not None)


def unknown_times(adjustments: Adjustments, hand_ins: Sequence[tuple[str, HandIn | None]]) -> tuple[str, ...]:
    """Of whom nobody knows whether they were late, though there is a policy: no time, no mark, no word."""
    policy = adjustments.decisions.late
    if not (policy.per_day or policy.flat):
        return ()
    decided = decided_for(adjustments, hand_ins)
    unsaid = (submission for submission, hand_in in hand_ins if not says_when(hand_in))
    return tuple(
        submission_id for submission_id in unsaid if not _is_final(decided.get(submission_id, OfStudent()))
    )


def _is_final(decision: OfStudent) -> bool:
    """Whether it does not matter when it was handed in."""
    return decision.days_late is not None or decision.score is not None or decision.excused


def adjusted_class(grades: Sequence[Grade], adjustments: Adjustments) -> list[Grade]:
    """The grades with what was decided about each and said to groups; raises as `must_be_certain`."""
    final = applying(adjustments, [(grade.submission_id, grade.hand_in) for grade in grades])
    return [final(grade) for grade in grades]


def applying(
    adjustments: Adjustments, hand_ins: Sequence[tuple[str, HandIn | None]]
) -> Callable[[Grade], Grade]:
    """A function that gives each grade of these submissions what was decided about it and said to groups.

    Raises as `must_be_certain`, and so does the function.
    """
    decided, comments = decided_for(adjustments, hand_ins), said_to_groups(adjustments, hand_ins)

    def final(grade: Grade) -> Grade:
        decision = decided.get(grade.submission_id, OfStudent())
        return adjusted(grade, adjustments.decisions, decision, comments.get(grade.submission_id, ()))

    return final


def adjusted(
    grade: Grade, decisions: Decisions, decision: OfStudent, comments: Sequence[Adjustment] = ()
) -> Grade:
    """The grade with what was decided about it; an error of ours stays one. Raises as `must_be_certain`."""
    grade = unadjusted(grade)
    if grade.verdict is Verdict.ERROR:
        return grade
    staff = Adjustment("item", comment=decision.comment, by=decision.by)
    adjustments = [replace(staff, kind="excused")] if decision.excused else []
    if decision.score is not None:
        adjustments.append(replace(staff, kind="score", points=decision.score - grade.score))
    else:
        earned = {entry.result.item.id: entry.points for entry in grade.items}
        adjustments += [
            replace(staff, item=item, points=points - earned[item])
            for item, points in decision.items.items()
            if item in earned
        ]
        adjustments += _for_lateness(grade, adjustments, decisions, decision)
    total = sum((entry.points for entry in adjustments), _NOTHING)
    return replace(grade, score=grade.score + total, adjustments=(*adjustments, *comments))


def _for_lateness(
    grade: Grade, adjustments: Sequence[Adjustment], decisions: Decisions, decision: OfStudent
) -> list[Adjustment]:
    """What is taken off for being late, of what the grade is by now; or that an extension was given."""
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
            f"{FILE_NAME}: `{submission}` is late, and nobody says by how much; write "
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
