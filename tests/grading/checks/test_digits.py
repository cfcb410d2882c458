"""The digits that measured numbers are written with."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.grading.checks.credit import SpeedupLimit, decimals, milliseconds


@given(
    st.floats(0.01, 100),
    st.floats(-1e-7, 1e-7),
    st.one_of(st.none(), st.fractions(Fraction(1, 100), 100, max_denominator=1000)),
)
def test_a_number_never_looks_to_be_on_the_other_side_of_a_limit(
    value: float, apart: float, exact: Fraction | None
) -> None:
    """Equal texts mean equal numbers, as far as nine decimals tell."""
    asked = (
        SpeedupLimit(value + apart, None)
        if exact is None
        else SpeedupLimit(float(exact), Fraction(f"{float(exact):.10g}"))
    )
    places = decimals((value,), (asked,))
    shown, beside = float(f"{value:.{places}f}"), float(asked.text(places))
    assert 2 <= places <= 9
    assert abs(value - asked.value) < 2e-9 or (shown < beside) == (value < asked.value)
    assert abs(value - asked.value) < 2e-9 or (shown == beside) == (value == asked.value)


@pytest.mark.parametrize(
    ("times", "shown"),
    [
        ((0.28104, 0.42719), ("0.281", "0.427")),
        ((0.28104, 0.28141), ("0.2810", "0.2814")),
        ((12.345, 1234.5), ("12.3", "1,234")),
        ((0.5, 0.5), ("0.500", "0.500")),
        ((0.0, 0.00123), ("0", "0.00123")),
    ],
)
def test_times_have_three_digits_or_as_many_as_tell_them_apart(
    times: tuple[float, ...], shown: tuple[str, ...]
) -> None:
    """0.281 ms beside 0.281 ms would say that nothing was gained."""
    assert milliseconds(*times) == shown


def test_values_that_differ_look_different() -> None:
    """With four decimals at most: what is nearer than that is the same for people."""
    assert decimals((1.1302, 1.1271, 1.1334)) == 3
    assert decimals((1.5, 1.5)) == 2
    assert decimals((1.500001, 1.5)) == 4
