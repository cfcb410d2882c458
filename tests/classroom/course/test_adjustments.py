"""Decisions of staff about grades: late policies, extensions, changed scores, excused students."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import SpecError, UsageError
from grader.classroom.course.adjustments import (
    adjusted,
    adjusted_class,
    decided_for,
    must_be_certain,
    unadjusted,
    unknown_times,
    without_submission,
)
from grader.classroom.course.decisions import OfStudent, read_adjustments
from grader.model import HandIn, Student, Verdict
from grader.reports import record_json, wording
from tests.reports.sample_grades import partial_credit

if TYPE_CHECKING:
    from pathlib import Path

    from grader.classroom.course.decisions import Adjustments
    from grader.model import Grade
    from tests.conftest import Golden

STAFF = "comment: the hidden case was wrong, by: Prof. Weber"


def given(folder: Path, text: str) -> Adjustments:
    """The decisions in a file with this text."""
    (folder / "adjustments.yaml").write_text(text, encoding="utf-8")
    return read_adjustments(folder / "adjustments.yaml")


def graded(adjustments: Adjustments, hand_in: HandIn) -> Grade:
    """A grade of 54 of 90 points or so, with what was decided about it."""
    grade = replace(partial_credit(), hand_in=hand_in)
    decided = decided_for(adjustments, [(grade.submission_id, hand_in)])
    return adjusted(grade, adjustments.decisions, decided.get(grade.submission_id, OfStudent()))


def handed_in(time: str = "", *, late: bool | None = None) -> HandIn:
    """Ada's, at a time."""
    return HandIn(
        "lovelaceada_12345",
        students=(Student("Ada Lovelace", id="12345", login="ada"),),
        time=time,
        late=late,
    )


DUE = "due: 2026-11-01 23:59\nlate: {grace: 15 minutes, per_day: 10%, at_most: 25%}\n"


@pytest.mark.parametrize(
    ("time", "more", "days", "share"),
    [
        ("2026-11-01 10:00:00", "", 0, 0),
        ("2026-11-02 00:14:00", "", 0, 0),
        ("2026-11-02 00:14:01", "", 1, 10),
        ("2026-11-02 23:59:00", "", 1, 10),
        ("2026-11-02 23:59:01", "", 2, 20),
        ("2026-11-09 10:00:00", "", 8, 25),
        ("2026-11-03 10:00:00", "students: {ada: {extension: 2 days}}\n", 0, 0),
        ("2026-11-04 10:00:00", "students: {ada: {extension: 2 days}}\n", 1, 10),
        ("2026-11-04 10:00:00", "students: {ada: {days_late: 1}}\n", 1, 10),
        ("2026-11-04 10:00:00", "students: {ada: {days_late: 0}}\n", 0, 0),
    ],
)
def test_each_day_begun_costs_its_share_of_the_maximum(
    tmp_path: Path, time: str, more: str, days: int, share: int
) -> None:
    """After the grace, an extension, and up to what is taken off at most."""
    before = partial_credit()
    after = graded(given(tmp_path, DUE + more), handed_in(time))
    assert before.score - after.score == Fraction(share, 100) * before.max_score
    assert [one.days for one in after.adjustments if one.days] == [days] * bool(days)


def test_zones_are_compared_as_times(tmp_path: Path) -> None:
    """A time with a zone needs a due date with one; a time without one is in that of the due date."""
    zoned = DUE.replace("23:59", "23:59 +01:00")
    in_time, late = handed_in("2026-11-01 22:59:00.000000000 Z"), handed_in("2026-11-01 23:59:00 UTC")
    assert graded(given(tmp_path, zoned), in_time).adjustments == ()
    assert graded(given(tmp_path, zoned), late).adjustments[0].days == 1
    assert graded(given(tmp_path, zoned), handed_in("2026-11-01 23:50:00")).adjustments == ()
    with pytest.raises(UsageError, match="the times of this download have a zone; expected one"):
        graded(given(tmp_path, DUE), in_time)


def test_how_late_a_student_is_must_be_certain(tmp_path: Path) -> None:
    """With `late` from the platform and no time, a share for each day is a question; one for all is not."""
    late = handed_in(late=True)
    with pytest.raises(UsageError, match=r"is late by an unknown time; write `.*: \{days_late: 1\}`"):
        must_be_certain(given(tmp_path, DUE), [("ada", late)], [])
    flat = given(tmp_path, "late: {flat: 10%}\n")
    must_be_certain(flat, [("ada", late)], [])
    assert graded(flat, late).adjustments[0].points == -partial_credit().max_score / 10
    assert graded(flat, handed_in(late=False)).adjustments == ()
    assert graded(given(tmp_path, "due: 2026-11-01 23:59\n"), late).adjustments == ()


def test_a_score_and_items_are_set_with_a_reason(tmp_path: Path) -> None:
    """A score that is set is final; what an item gets instead is added to what was earned."""
    before = partial_credit()
    item = next(
        one for one in before.items if one.points < one.max_points and one.result.verdict is Verdict.FAIL
    )
    name = item.result.item.id
    after = graded(given(tmp_path, f"students: {{ada: {{items: {{{name}: 7.5}}, {STAFF}}}}}\n"), handed_in())
    assert after.score == before.score + Fraction(15, 2) - item.points
    late = handed_in("2026-11-09 10:00:00")
    final = graded(given(tmp_path, f"{DUE}students: {{12345: {{score: 80, {STAFF}}}}}\n"), late)
    assert final.score == 80
    assert [one.kind for one in final.adjustments] == ["score"]
    assert wording.adjustment(final.adjustments[0]).endswith("by Prof. Weber: the hidden case was wrong")
    assert unadjusted(final).score == before.score
    excused = graded(given(tmp_path, f"{DUE}students: {{Ada Lovelace: {{excused: true, {STAFF}}}}}\n"), late)
    assert excused.excused
    assert excused.score == before.score


def test_nothing_is_taken_off_twice(tmp_path: Path) -> None:
    """Applied again, or read back from its record, a grade stays as it is; other decisions replace them."""
    late = handed_in("2026-11-02 10:00:00")
    first = graded(given(tmp_path, DUE), late)
    again = adjusted(record_json.load(record_json.dump(first)), given(tmp_path, DUE).decisions, OfStudent())
    assert (again.score, again.adjustments) == (first.score, first.adjustments)
    none = adjusted(first, given(tmp_path, "students: {}\n").decisions, OfStudent())
    assert (none.score, none.adjustments) == (partial_credit().score, ())


def test_less_than_nothing_is_never_left(tmp_path: Path) -> None:
    """And an error of ours stays one, with nothing taken off."""
    late = handed_in("2026-11-02 10:00:00")
    everything = given(tmp_path, "due: 2026-11-01 23:59\nlate: {flat: 100%}\n")
    assert graded(everything, late).score == 0
    broken = replace(partial_credit(), verdict=Verdict.ERROR, hand_in=late)
    assert adjusted(broken, everything.decisions, OfStudent()) == broken


def test_a_key_means_one_submission(tmp_path: Path) -> None:
    """One that could be two is refused, and so are two for one; those of no submission are listed."""
    two = [
        ("ada_1", HandIn("ada_1", students=(Student("Ada", login="x1"),))),
        ("ada_2", HandIn("ada_2", students=(Student("Ada"),))),
    ]
    with pytest.raises(UsageError, match=r"students.Ada: could be `ada_1` and `ada_2`; use the id"):
        decided_for(given(tmp_path, "students: {Ada: {days_late: 1}}\n"), two)
    with pytest.raises(UsageError, match="`ada_1` stands there twice"):
        decided_for(given(tmp_path, "students: {ada_1: {days_late: 1}, x1: {days_late: 2}}\n"), two)
    assert without_submission(given(tmp_path, "students: {bob: {days_late: 1}, x1: {}}\n"), two) == ("bob",)
    with pytest.raises(UsageError, match="there is no item `nothing`; expected one of edges"):
        must_be_certain(
            given(tmp_path, f"students: {{ada_1: {{items: {{nothing: 1}}, {STAFF}}}}}\n"), two, ["edges"]
        )


def test_a_time_without_a_due_date_is_a_question(tmp_path: Path) -> None:
    """There is no question where the platform itself reports whether it was late."""
    policy = given(tmp_path, "late: {per_day: 10%}\n")
    with pytest.raises(UsageError, match="due: is missing; expected the time that work was due"):
        must_be_certain(policy, [("ada", handed_in("2026-11-01 10:00:00"))], [])
    must_be_certain(policy, [("ada", handed_in("2026-11-01 10:00:00", late=False))], [])
    must_be_certain(given(tmp_path, "students: {}\n"), [("ada", handed_in("2026-11-01 10:00:00"))], [])


def test_submissions_whose_time_is_unknown_are_listed(tmp_path: Path) -> None:
    """With a policy, and only where the time matters."""
    hand_ins = [
        ("ada", handed_in("2026-11-01 10:00:00")),
        ("bob", HandIn("bob")),
        ("cy", handed_in(late=False)),
        ("dee", handed_in("tomorrow")),
        ("eve", None),
    ]
    assert unknown_times(given(tmp_path, DUE), hand_ins) == ("bob", "dee", "eve")
    decisions = (
        f"{DUE}students: {{bob: {{days_late: 0}}, dee: {{score: 5, {STAFF}}}, "
        f"eve: {{excused: true, {STAFF}}}}}\n"
    )
    assert unknown_times(given(tmp_path, decisions), hand_ins) == ()
    assert unknown_times(given(tmp_path, "due: 2026-11-01 23:59\n"), hand_ins) == ()


@pytest.mark.parametrize("key", ["team_12", "Team 12", "Group A"])
@pytest.mark.parametrize("what", [f"score: 80, {STAFF}", "extension: 1 day", "days_late: 1"])
def test_what_is_decided_about_one_of_a_team_is_not_decided_about_all(
    tmp_path: Path, key: str, what: str
) -> None:
    """The team is named, by its submission, its name or its group."""
    people = (Student("Ada", login="ada", group="Group A"), Student("Grace", login="grace", group="Group A"))
    hand_ins = [("team_12", HandIn("Team 12", students=people)), ("bob", HandIn("bob"))]
    with pytest.raises(
        UsageError, match="`team_12` was handed in by 2 together, and one of them stands there"
    ):
        must_be_certain(given(tmp_path, f"students: {{ada: {{{what}}}}}\n"), hand_ins, [])
    whole = given(tmp_path, f"students: {{{key}: {{{what}}}, bob: {{{what}}}}}\n")
    must_be_certain(whole, hand_ins, [])
    assert set(decided_for(whole, hand_ins)) == {"team_12", "bob"}


WRONG = {
    "keys": "dew: 2026-11-01\nlate: {per_week: 1%}\nstudents: {ada: {excuse: true}}\n",
    "values": (
        "due: tomorrow\nlate: {grace: soon, per_day: 110%, flat: 5}\n"
        "students: {ada: {score: -5, days_late: 1.5, excused: maybe, items: [1]}}\n"
    ),
    "no reason": "students: {ada: {score: 80}, bob: {excused: true, comment: ill}}\n",
    "an alias": "late: &a {flat: 1%}\nstudents: *a\n",
    "no mapping": "- a\n",
}


@pytest.mark.parametrize("case", WRONG)
def test_everything_that_is_wrong_is_reported_at_once(tmp_path: Path, case: str, golden: Golden) -> None:
    """Each with its line and column, and what was expected."""
    with pytest.raises(SpecError) as caught:
        given(tmp_path, WRONG[case])
    golden(f"adjustments/{case.replace(' ', '-')}.txt", str(caught.value).replace(f"{tmp_path}/", "") + "\n")


GROUPS = """\
students: {ada: {score: 80, comment: shown in person, by: Tim}}
groups:
  - {students: [ada, bob, ada, nobody], comment: see the lecture on barriers, by: Tim}
  - {students: [bob], comment: and read chapter 3}
"""


def test_a_group_gets_one_comment_beside_what_is_decided_about_each(tmp_path: Path) -> None:
    """It changes no score; who is in two groups gets both, and who stands in one twice gets it once."""
    ada, bob = (replace(partial_credit(), submission_id=name) for name in ("ada", "bob"))
    adjustments = given(tmp_path, GROUPS)
    first, second = adjusted_class([ada, bob], adjustments)
    assert [wording.adjustment(one) for one in first.adjustments][1:] == ["Tim: see the lecture on barriers"]
    assert [first.score, second.score] == [Fraction(80), bob.score]
    assert [one.comment for one in second.adjustments] == [
        "see the lecture on barriers",
        "and read chapter 3",
    ]
    assert adjusted_class([first, second], adjustments) == [first, second]
    assert without_submission(adjustments, [("ada", None), ("bob", None)]) == ("nobody",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("groups: {a: b}\n", "adjustments.yaml:1:9: groups: expected a list"),
        ("groups: [{students: ada, comment: x}]\n", "groups[0].students: expected a list"),
        ("groups: [{students: [ada]}]\n", "expected `comment`"),
        ("groups: [{students: [ada], comment: x, note: y}]\n", "unknown key `note`"),
        ("groups: [{students: [[ada]], comment: x}]\n", "groups[0].students[0]: expected a text"),
    ],
)
def test_a_group_that_is_none_is_refused(text: str, message: str, tmp_path: Path) -> None:
    """With its line, and what was expected."""
    with pytest.raises(SpecError) as refused:
        given(tmp_path, text)
    assert message in str(refused.value)


def test_a_name_in_a_group_that_fits_two_is_asked_about(tmp_path: Path) -> None:
    """Before anything is graded."""
    two = [(name, HandIn(name, students=(Student("Ada Lovelace"),))) for name in ("ada_1", "ada_2")]
    adjustments = given(tmp_path, "groups: [{students: [Ada Lovelace], comment: x}]\n")
    with pytest.raises(UsageError, match=r"groups\.Ada Lovelace: could be `ada_1` and `ada_2`; use the id"):
        must_be_certain(adjustments, two, ())
