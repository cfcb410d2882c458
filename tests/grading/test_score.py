"""From results to points, exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.grading.score import case_grades, total
from grader.model import (
    Build,
    Case,
    CaseEvidence,
    CheckResult,
    Comparison,
    Counters,
    Evidence,
    Named,
    RubricItem,
    Verdict,
    Visibility,
)

if TYPE_CHECKING:
    from random import Random

ONE, NONE = Fraction(1), Fraction(0)


def result(
    verdict: Verdict,
    points: Fraction | int = 10,
    fraction: Fraction = NONE,
    check: str = "output",
    cases: Named[Verdict] = (),
) -> CheckResult:
    """A result of an item worth ``points``."""
    item = RubricItem(id=f"{check}-{points}", title="an item", points=Fraction(points), check=check)
    return CheckResult(item, verdict, fraction, "because", case_verdicts=cases)


def case(name: str) -> Case:
    """A visible case."""
    return Case(name, (("N", 4),), (), Visibility.VISIBLE, "random", 1)


def evidence(*cases: CaseEvidence) -> Evidence:
    """Evidence of a build that is in order."""
    return Evidence("emulator", Build(ok=True), cases)


def test_points_are_the_exact_share() -> None:
    """A third of ten points is ten thirds."""
    graded = total([result(Verdict.FAIL, 10, Fraction(1, 3)), result(Verdict.PASS, 5, ONE)])
    assert graded.items[0].points == Fraction(10, 3)
    assert graded.score == Fraction(25, 3)
    assert graded.max_score == 15
    assert graded.verdict is Verdict.FAIL


def test_skipped_points_are_set_apart() -> None:
    """A skipped item is neither in the score nor in the maximum, and spoils no pass."""
    graded = total([result(Verdict.PASS, 5, ONE), result(Verdict.SKIP, 10, ONE)])
    assert [graded.score, graded.max_score, graded.skipped_points] == [5, 5, 10]
    assert graded.verdict is Verdict.PASS
    assert graded.items[1].points == 0


def test_an_error_of_ours_makes_the_grade_an_error_and_costs_nothing() -> None:
    """Its points are set apart like skipped ones."""
    graded = total([result(Verdict.FAIL, 5), result(Verdict.ERROR, 10)])
    assert graded.verdict is Verdict.ERROR
    assert [graded.max_score, graded.skipped_points] == [5, 10]


@pytest.mark.parametrize("results", [[], [result(Verdict.SKIP)]])
def test_a_grade_of_which_nothing_was_judged_is_no_pass(results: list[CheckResult]) -> None:
    """An empty sum is not full marks."""
    assert total(results).verdict is Verdict.SKIP


def fractions_of_one() -> st.SearchStrategy[Fraction]:
    """Shares of an item's points."""
    return st.fractions(0, 1, max_denominator=97)


RESULTS = st.lists(
    st.builds(
        result,
        st.sampled_from(Verdict),
        st.fractions(0, 100, max_denominator=97),
        fractions_of_one(),
    ),
    max_size=8,
)


@given(RESULTS)
def test_the_score_never_exceeds_the_maximum_and_no_point_is_lost(results: list[CheckResult]) -> None:
    """0 <= score <= max_score, and what was judged and what was not make the whole rubric."""
    graded = total(results)
    assert 0 <= graded.score <= graded.max_score
    assert graded.max_score + graded.skipped_points == sum(one.item.points for one in results)
    assert graded.score == sum(item.points for item in graded.items)
    assert isinstance(graded.score, Fraction)


@given(RESULTS, st.randoms())
def test_the_score_does_not_depend_on_the_order_of_the_items(
    results: list[CheckResult], random: Random
) -> None:
    """Exact sums commute."""
    shuffled = list(results)
    random.shuffle(shuffled)
    assert total(shuffled)[1:] == total(results)[1:]


@given(RESULTS)
def test_a_pass_means_that_every_judged_item_passed(results: list[CheckResult]) -> None:
    """And that there was one."""
    verdicts = [one.verdict for one in results if one.verdict is not Verdict.SKIP]
    assert (total(results).verdict is Verdict.PASS) == (set(verdicts) == {Verdict.PASS})


def test_every_case_has_a_grade_in_order_even_if_it_never_ran() -> None:
    """Cases keep their order; those without evidence are skipped."""
    ran = CaseEvidence(case("b"), counters=Counters(flops=3), seconds=0.5)
    verdicts = (("b", Verdict.PASS),)
    grades = case_grades(evidence(ran), [result(Verdict.PASS, cases=verdicts)], [case("a"), case("b")])
    assert [(grade.case.id, grade.verdict) for grade in grades] == [("a", Verdict.SKIP), ("b", Verdict.PASS)]
    assert grades[1].counters.flops == 3
    assert grades[1].max_error is None


def test_a_case_shows_its_largest_error_with_that_output_s_bound() -> None:
    """Of several outputs the one furthest off."""
    near = Comparison("C", 4, 0, 0, max_error=0.1, error_bound=0.2)
    far = Comparison("D", 4, 1, 0, max_error=3.0, error_bound=0.4)
    grades = case_grades(evidence(CaseEvidence(case("a"), (near, far))), [], [case("a")])
    assert (grades[0].max_error, grades[0].error_bound) == (3.0, 0.4)


def test_a_case_tells_how_many_elements_were_compared_and_how_close_they_are() -> None:
    """Over all its outputs; nothing where none was compared."""
    near = Comparison("C", 4, 0, 0, max_error=0.1, error_bound=0.2, max_relative_error=0.5)
    far = Comparison("D", 3, 0, 0, max_error=3.0, error_bound=4.0, max_relative_error=0.25)
    ran, idle = case_grades(evidence(CaseEvidence(case("a"), (near, far))), [], [case("a"), case("b")])
    assert (ran.elements, ran.max_relative_error) == (7, 0.5)
    assert (idle.elements, idle.max_relative_error) == (0, None)


def test_a_case_is_judged_by_its_outputs_where_an_item_looks_at_them() -> None:
    """A racy kernel with the right answer has right cases; the races are another item."""
    right = result(Verdict.PASS, cases=(("a", Verdict.PASS),))
    racy = result(Verdict.FAIL, check="races", cases=(("a", Verdict.FAIL), ("b", Verdict.FAIL)))
    ran = evidence(CaseEvidence(case("a")), CaseEvidence(case("b")))
    grades = case_grades(ran, [right, racy], [case("a"), case("b")])
    assert [grade.verdict for grade in grades] == [Verdict.PASS, Verdict.FAIL]


def test_a_case_in_error_is_an_error_whatever_items_say() -> None:
    """No item looked at it, and still it went wrong on our side."""
    grades = case_grades(evidence(CaseEvidence(case("a"), error="out of budget")), [], [case("a")])
    assert grades[0].verdict is Verdict.ERROR


def weighed(
    verdict: Verdict, fraction: Fraction = NONE, *, extra: bool = False, penalty: bool = False
) -> CheckResult:
    """A result of ten points that are extra credit or a penalty."""
    item = RubricItem(
        id="x", title="an item", points=Fraction(10), check="races", extra=extra, penalty=penalty
    )
    return CheckResult(item, verdict, fraction, "because")


def test_extra_credit_adds_to_the_score_and_to_no_maximum() -> None:
    """More than everything can be reached."""
    graded = total([result(Verdict.PASS, 20, ONE), weighed(Verdict.PASS, ONE, extra=True)])
    assert [graded.score, graded.max_score, graded.skipped_points] == [30, 20, 0]
    assert graded.verdict is Verdict.PASS


def test_extra_credit_that_is_not_earned_is_no_failure() -> None:
    """No student has to earn it; but an error of ours is one."""
    full = result(Verdict.PASS, 20, ONE)
    assert total([full, weighed(Verdict.FAIL, extra=True)]).verdict is Verdict.PASS
    assert total([full, weighed(Verdict.ERROR, extra=True)]).verdict is Verdict.ERROR
    skipped = total([full, weighed(Verdict.SKIP, extra=True)])
    assert [skipped.verdict, skipped.max_score, skipped.skipped_points] == [Verdict.PASS, 20, 0]


def test_a_penalty_takes_off_where_it_fails_and_counts_in_no_maximum() -> None:
    """A part of it where a part is in order; nothing where all is."""
    full = result(Verdict.PASS, 20, ONE)
    failed = total([full, weighed(Verdict.FAIL, penalty=True)])
    assert [failed.score, failed.max_score, failed.verdict] == [10, 20, Verdict.FAIL]
    assert failed.items[1].points == -10
    half = total([full, weighed(Verdict.FAIL, Fraction(1, 2), penalty=True)])
    assert [half.score, half.items[1].points] == [15, -5]
    fine = total([full, weighed(Verdict.PASS, ONE, penalty=True)])
    assert [fine.score, fine.items[1].points, fine.verdict] == [20, 0, Verdict.PASS]
    for verdict in (Verdict.SKIP, Verdict.ERROR):
        assert total([full, weighed(verdict, penalty=True)]).score == 20


def test_no_penalty_takes_the_score_below_nothing() -> None:
    """However many there are."""
    graded = total([result(Verdict.PASS, 5, ONE), *[weighed(Verdict.FAIL, penalty=True)] * 3])
    assert [graded.score, graded.max_score] == [0, 5]
