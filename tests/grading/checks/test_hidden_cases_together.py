"""Points of hidden cases: together or not at all, whatever an item gives partial credit for."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from grader.grading.checks import results_for_student, run_checks
from grader.model import Clause, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Make = Callable[..., Any]


@pytest.mark.parametrize(
    ("visible", "hidden", "earned"),
    [
        ("..", "..", Fraction(1)),
        ("..", ".x", Fraction(1, 2)),
        ("..", "xx", Fraction(1, 2)),
        (".x", "..", Fraction(3, 4)),
        (".x", ".x", Fraction(1, 4)),
        ("xx", "..x", Fraction(0)),
        ("", ".x", Fraction(0)),
        (".", "..", Fraction(1)),
        (".x", ".-", Fraction(1, 2)),
        (".x", "x-", Fraction(1, 4)),
    ],
)
def test_hidden_cases_earn_their_share_together(
    visible: str, hidden: str, earned: Fraction, item: Make, case: Make, comparison: Make, evidence: Make
) -> None:
    """A case passes (.), is wrong (x), or was given up (-): one wrong hidden case costs all of them."""
    cases = []
    for number, state in enumerate(visible + hidden):
        made = {"hidden": number >= len(visible), "comparisons": (comparison(3 if state == "x" else 0),)}
        if state == "-":
            made |= {"completed": False, "too_much_work": Clause("too-much-work"), "comparisons": ()}
        cases.append(case(f"c{number}", **made))
    (result,) = run_checks((item("output", partial="per-case"),), evidence(*cases))
    assert result.fraction == earned


def test_an_item_that_shows_hidden_lines_counts_hidden_cases_one_by_one(
    item: Make, case: Make, comparison: Make, evidence: Make
) -> None:
    """Its author has chosen help over secrecy, for points as for lines."""
    cases = [case(f"c{wrong}", hidden=True, comparisons=(comparison(wrong),)) for wrong in (0, 1)]
    one = item("output", partial="per-case", options={"hidden_lines": True})
    for judge in (run_checks, results_for_student):
        (result,) = judge((one,), evidence(*cases))
        assert result.fraction == Fraction(1, 2)


@pytest.mark.parametrize(
    ("shown", "hidden", "earned"),
    [
        (10, 10, Fraction(1)),
        (10, 60, Fraction(1)),
        (10, 100, Fraction(1)),
        (10, 300, Fraction(0)),
        (60, 10, Fraction(1, 2)),
        (60, 60, Fraction(1, 2)),
        (90, 10, Fraction(0)),
        (None, 10, Fraction(1)),
        (None, 60, Fraction(0)),
    ],
)
def test_steps_of_traffic_follow_visible_cases(
    shown: int | None, hidden: int, earned: Fraction, item: Make, case: Make, evidence: Make
) -> None:
    """All cases together must reach the lowest step; where no case is visible it is all or nothing."""
    cases = [case("hidden", hidden=True, loads=hidden, naive=100)]
    cases += [] if shown is None else [case("shown", loads=shown, naive=100)]
    steps = ((Fraction(8, 10), Fraction(1, 2)), (Fraction(2, 10), Fraction(1)))
    (result,) = run_checks((item("traffic", options={"steps": steps}),), evidence(*cases))
    assert result.fraction == earned
    assert result.verdict is (Verdict.PASS if earned == 1 else Verdict.FAIL)
