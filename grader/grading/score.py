"""Points: from results to items, a score and a verdict, in exact fractions; and further parts of a grade.

Pure, so a stored grade can be scored again by another rubric. What could not be judged takes no part: the
points of skipped items, and of items where we failed, are in neither the score nor the maximum but in
``skipped_points``; an error of ours makes the whole grade an error on top, so that it is not recorded. An
item that the program itself kept us from judging is a question to the staff: its points stay in the maximum,
and it makes the grade an error where nothing else has failed.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from grader.model import CaseGrade, Counters, ItemGrade, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.model import Case, CaseEvidence, CheckResult, Evidence, Timing

JUDGED = (Verdict.PASS, Verdict.FAIL)
NOTHING = Fraction(0)


class Total(NamedTuple):
    """Sums over the results of all items.

    ``max_score + skipped_points`` is the rubric's total, without extra credit and penalties.
    """

    items: tuple[ItemGrade, ...]
    score: Fraction
    max_score: Fraction
    skipped_points: Fraction
    verdict: Verdict


def total(results: Iterable[CheckResult]) -> Total:
    """Add up; the items keep the order of the results.

    Extra credit adds to the score and penalties take from it, down to 0 and no further.
    """
    items = tuple(_graded(result) for result in results)
    judged = tuple(item for item in items if item.result.verdict in JUDGED or item.result.is_question)
    everything = _most(items)
    max_score = _most(judged)
    return Total(
        items=items,
        score=max(NOTHING, sum((item.points for item in judged), NOTHING)),
        max_score=max_score,
        skipped_points=everything - max_score,
        verdict=_overall_of(items),
    )


def _most(items: Iterable[ItemGrade]) -> Fraction:
    """Most points that can be reached, extra credit apart."""
    return sum((item.max_points for item in items if item.result.item.counts), NOTHING)


def _overall_of(items: tuple[ItemGrade, ...]) -> Verdict:
    """The verdict on the whole: a question to the staff is an error only where nothing else has failed."""
    without_questions = tuple(item for item in items if not item.result.is_question)
    verdict = _overall(set(_deciding(without_questions)))
    has_question = len(without_questions) < len(items)
    return Verdict.ERROR if has_question and verdict is not Verdict.FAIL else verdict


def _deciding(items: tuple[ItemGrade, ...]) -> Iterator[Verdict]:
    """The verdicts that decide on the whole: extra credit that was not earned is no failure."""
    for item in items:
        verdict = item.result.verdict
        if not item.result.item.extra or verdict is Verdict.ERROR:
            yield verdict


def case_grades(
    evidence: Evidence, results: Iterable[CheckResult], all_cases: Iterable[Case]
) -> tuple[CaseGrade, ...]:
    """A line for every case, in the order of ``all_cases``, also for those that never ran.

    The verdict of a case is that of its outputs, where any `output` item looks at it: whether it is racy
    besides is said by the items that ask. A case that no such item looks at takes the worst of all others.
    """
    results = tuple(results)
    ran = {case.case.id: case for case in evidence.cases}
    return tuple(_case_grade(case, ran.get(case.id), results) for case in all_cases)


def timing_of(evidence: Evidence) -> Timing | None:
    """Speed, and the kernel's resources, as the grade keeps them; None where nothing was timed."""
    return evidence.timing and replace(evidence.timing, resources=evidence.build.resources)


def _graded(result: CheckResult) -> ItemGrade:
    """An item with its points; nothing is earned, or taken off, by what was not judged."""
    item = result.item
    if result.verdict not in JUDGED:
        points = NOTHING
    elif item.penalty:
        points = (result.fraction - 1) * item.points
    else:
        points = result.fraction * item.points
    return ItemGrade(result, points=points, max_points=item.points)


def _overall(verdicts: set[Verdict]) -> Verdict:
    """Error before fail before pass; a rubric of which nothing was judged is skipped, not passed."""
    for verdict in (Verdict.ERROR, Verdict.FAIL, Verdict.PASS):
        if verdict in verdicts:
            return verdict
    return Verdict.SKIP


def _case_grade(case: Case, evidence: CaseEvidence | None, results: tuple[CheckResult, ...]) -> CaseGrade:
    if evidence is None:
        return CaseGrade(case, Verdict.SKIP, None, None, 0.0, Counters())
    worst = max(evidence.comparisons, key=lambda comparison: comparison.max_error, default=None)
    run = evidence.program
    return CaseGrade(
        case=case,
        verdict=Verdict.ERROR if evidence.error else _case_verdict(case.id, results),
        max_error=None if worst is None else worst.max_error,
        elements=sum(comparison.total for comparison in evidence.comparisons),
        max_relative_error=max(
            (comparison.max_relative_error for comparison in evidence.comparisons), default=None
        ),
        error_bound=None if worst is None else worst.error_bound,
        seconds=evidence.seconds if run is None else run.seconds,
        counters=evidence.counters,
        ending="" if run is None else run.ending,
        returncode=None if run is None else run.returncode,
        too_much_work=bool(evidence.too_much_work),
    )


def _case_verdict(case: str, results: tuple[CheckResult, ...]) -> Verdict:
    """Verdict of the output items on a case, or else of all items."""
    verdicts = [(result.item.check, dict(result.case_verdicts).get(case)) for result in results]
    outputs = {verdict for check, verdict in verdicts if check == "output" and verdict is not None}
    return _overall(outputs or {verdict for _, verdict in verdicts if verdict is not None})
