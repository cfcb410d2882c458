"""The part of a grade that a student may see.

A hidden item shows its title and its verdict. Of hidden cases an item shows one bit: whether all of those
that it looks at pass. They are one case here, in place of all of them, and the sentences are those that were
made for students when the grade was judged (`grader.grading.checks.secrecy`); a grade without such sentences
gets fixed ones. Shapes, values, counters, times and single verdicts of hidden cases are in no view, nor is
the speed, measured or estimated, where its item is hidden.

``after_due_date`` and ``after_published`` count as hidden until they are declared released: a report does not
know whether the day has come. What is ``hidden`` stays hidden for good. What items say was written when the
cases were hidden; `grader.classroom.batch.rescore` judges it anew where evidence was kept.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

from grader.grading import score
from grader.grading.checks.secrecy import GRAVEST, verdict_together
from grader.model import (
    Case,
    CaseGrade,
    Cause,
    CheckResult,
    Counters,
    Finding,
    Grade,
    ItemGrade,
    Named,
    StudentResults,
    Verdict,
    Visibility,
)
from grader.model.messages import text_of
from grader.reports.wording import in_its_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

Released: TypeAlias = Literal["", "due_date", "published"]
"""Event that has come since the work was graded; when grades are published, the due date is over."""

SHOWN: dict[Released, frozenset[Visibility]] = {
    "": frozenset({Visibility.VISIBLE}),
    "due_date": frozenset({Visibility.VISIBLE, Visibility.AFTER_DUE_DATE}),
    "published": frozenset({Visibility.VISIBLE, Visibility.AFTER_DUE_DATE, Visibility.AFTER_PUBLISHED}),
}
"""Visibilities that a student may see after each event."""

FAILED = {Verdict.FAIL, Verdict.ERROR}
WORDS = {
    Verdict.PASS: "item-passes",
    Verdict.FAIL: "item-fails",
    Verdict.SKIP: "item-is-skipped",
    Verdict.ERROR: "item-is-in-error",
}
"""The texts of an item of which nothing else may be reported; ``-hidden`` where its cases are hidden."""


@in_its_words
def student_view(grade: Grade, released: Released = "") -> Grade:
    """Leave out what is hidden, the seeds, and which tools looked.

    Scores and verdicts stay as they are, but where a hidden case was not judged: that looks as if it failed.
    The view of a view is the same view.
    """
    shown = SHOWN[released]
    hidden = frozenset(case.case.id for case in grade.cases if case.case.visibility not in shown)
    speed_is_hidden = _speed_is_hidden(grade, shown)
    shared = _texts(grade, hidden)
    scored = _scored(grade, shared.results)
    items = tuple(
        _item(grade, item, result, hidden, shown)
        for item, result in zip(scored.items, shared.results, strict=True)
    )
    cause = _cause(grade, shared.cause, shown)
    return replace(
        scored,
        seed=0,
        items=items,
        cases=(*_visible(grade, hidden), *_together(grade, items, hidden)),
        timing=None if speed_is_hidden else grade.timing,
        estimate=None if speed_is_hidden else grade.estimate,
        witnesses=(),
        seconds=(),
        error=shared.error,
        evidence=None,
        cause=cause,
        for_student=StudentResults(tuple(item.result for item in items), cause, shared.error),
    )


def _scored(grade: Grade, results: tuple[CheckResult, ...]) -> Grade:
    """The grade with the verdicts and points of ``results``, which are another's where cases were in doubt.

    Points that staff have set for the whole stay as they are set.
    """
    if all(map(_has_same_outcome, grade.items, results)):
        return grade
    outcomes = [
        replace(item.result, **{name: getattr(result, name) for name in _OUTCOME})
        for item, result in zip(grade.items, results, strict=True)
    ]
    total = score.total(outcomes)
    decided = sum((one.points for one in grade.adjustments), Fraction(0))
    is_set = any(one.kind == "score" and not one.item for one in grade.adjustments)
    return replace(
        grade,
        items=total.items,
        verdict=total.verdict,
        score=grade.score if is_set else total.score + decided,
        max_score=total.max_score,
        skipped_points=total.skipped_points,
    )


_OUTCOME = ("verdict", "fraction", "judged", "needs_gpu", "is_question")
"""The fields of a result that say how it ended."""


def _has_same_outcome(item: ItemGrade, result: CheckResult) -> bool:
    return all(getattr(item.result, name) == getattr(result, name) for name in _OUTCOME)


def _texts(grade: Grade, hidden: Collection[str]) -> StudentResults:
    """Texts that may be shown of the items: as judged for students, or in fixed words, item by item."""
    if not hidden and grade.for_student is None:
        return StudentResults(tuple(item.result for item in grade.items), grade.cause, grade.error)
    if grade.for_student is not None and len(grade.for_student.results) == len(grade.items):
        return grade.for_student
    cases = [case.case for case in grade.cases if case.case.id in hidden]
    fixed = tuple(_without(item.result, cases) for item in grade.items)
    why = "question-hidden" if grade.is_question else "grader-error-hidden"
    return StudentResults(fixed, error=text_of(why) if grade.error else "")


def _without(result: CheckResult, hidden: Iterable[Case]) -> CheckResult:
    """A result in words in which nothing of these cases can be."""
    if result.item.check == "compile" or not any(map(result.item.looks_at, hidden)):
        return result
    if not result.judged:
        return replace(result, hint="", findings=())
    return _in_fixed_words(result, "-hidden")


def _in_fixed_words(result: CheckResult, suffix: str = "") -> CheckResult:
    message = text_of(f"{WORDS[result.verdict]}{suffix}")
    return replace(
        result, message=message, message_staff="", hint="", findings=(), amounts=None, estimated=False
    )


def _cause(grade: Grade, cause: Cause | None, shown: Collection[Visibility]) -> Cause | None:
    """Finding that explains the rest, unless its item is hidden."""
    items = {item.result.item.id: item.result.item for item in grade.items}
    if cause is None or cause.item not in items:
        return None
    return cause if items[cause.item].visibility in shown else None


def _speed_is_hidden(grade: Grade, shown: Collection[Visibility]) -> bool:
    """Tell whether an item that judges the speed may not be looked into: the numbers would reveal it."""
    items = [item.result.item for item in grade.items]
    return any(item.check == "speedup" and item.visibility not in shown for item in items)


def _visible(grade: Grade, hidden: Collection[str]) -> Iterator[CaseGrade]:
    for case in grade.cases:
        if case.case.id not in hidden:
            yield replace(case, case=replace(case.case, seed=0))


def _together(grade: Grade, items: Iterable[ItemGrade], hidden: Collection[str]) -> Iterator[CaseGrade]:
    """All hidden cases as one, if there are any, with what items show of them."""
    cases = [case for case in grade.cases if case.case.id in hidden]
    if not cases:
        return
    name = text_of("hidden-cases-together")
    verdicts = {verdict for item in items for case, verdict in item.result.case_verdicts if case == name}
    verdict = next((verdict for verdict in GRAVEST if verdict in verdicts), Verdict.SKIP)
    tags = tuple(dict.fromkeys(tag for case in cases for tag in case.case.tags))
    one = Case(name, (), tags, Visibility.HIDDEN, "", 0)
    open_items = any(
        item.result.verdict is Verdict.SKIP and item.result.judged and not item.result.needs_gpu
        for item in items
    )
    given_up = open_items and any(case.too_much_work for case in grade.cases)
    yield CaseGrade(one, verdict, None, None, 0.0, Counters(), too_much_work=given_up)


def _item(
    grade: Grade,
    item_grade: ItemGrade,
    shared: CheckResult,
    hidden: Collection[str],
    shown: Collection[Visibility],
) -> ItemGrade:
    """The item with its own verdict and points, and what is ``shared`` of it."""
    result = replace(
        item_grade.result,
        message=shared.message,
        hint=shared.hint,
        findings=tuple(
            _without_withheld_steps(finding, shown)
            for finding in shared.findings
            if finding.case not in hidden
        ),
        amounts=shared.amounts,
        estimated=shared.estimated,
        message_staff=shared.message_staff,
        case_verdicts=_verdicts(grade, item_grade.result, shared, hidden),
    )
    names = dict.fromkeys(
        text_of("hidden-cases-together") if name in hidden else name for name in result.item.cases
    )
    result = replace(result, item=replace(result.item, cases=tuple(names), options=()))
    if result.item.visibility not in shown:
        result = replace(_in_fixed_words(result), case_verdicts=(), item=replace(result.item, hint=""))
    return replace(item_grade, result=result)


def _verdicts(
    grade: Grade, result: CheckResult, shared: CheckResult, hidden: Collection[str]
) -> Named[Verdict]:
    """The verdicts of visible cases, of released ones, and one of all hidden ones that the item looks at."""
    if not shared.case_verdicts and not result.case_verdicts:
        return ()
    waited = {case.case.id for case in grade.cases if not case.case.is_visible} - set(hidden)
    released = {case: verdict for case, verdict in result.case_verdicts if case in waited}
    verdicts = released | {case: verdict for case, verdict in shared.case_verdicts if case not in hidden}
    if any(case.case.id in hidden and result.item.looks_at(case.case) for case in grade.cases):
        verdicts[text_of("hidden-cases-together")] = verdict_together(shared, hidden, result.case_verdicts)
    return tuple(verdicts.items())


def _without_withheld_steps(finding: Finding, shown: Collection[Visibility]) -> Finding:
    """The finding without an explanation that waits for the day when grades are published."""
    if not finding.withheld or Visibility.AFTER_PUBLISHED in shown:
        return finding
    return replace(finding, steps=())
