"""Numbers at places of a text: what is read as one, and that only a number that is near enough passes."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.grading.checks.text import LONGEST_NUMBER, NUMBER, is_right_number, number_value, read_number
from grader.model import ExpectedNumber


def wanted(number: float = 2, *, within: str = "0", relative: bool = False, nth: int = 1) -> ExpectedNumber:
    """The number after `x:`."""
    return ExpectedNumber("x", "x:", Fraction(number), Fraction(within), relative=relative, nth=nth)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("128", [128]),
        ("1,024", [1, 24]),
        ("2.00x", [2]),
        ("1e3", [1000]),
        ("1E-2", [Fraction(1, 100)]),
        ("-4.5", [Fraction(-9, 2)]),
        ("+4", [4]),
        ("=-4", [-4]),
        ("(-4)", [-4]),
        ("[-4,-5]", [-4, -5]),
        ("0-1", [0, 1]),
        ("a-1", [1]),
        ("C[0][0]-1", [0, 0, 1]),
        ("- 4", [4]),
        ("5.", [5]),
        (".5", [Fraction(1, 2)]),
        ("4x4", [4, 4]),
        ("2e", [2]),
        ("1.5.2", [Fraction(3, 2), Fraction(1, 5)]),
        ("0x1F", [0, 1]),
        ("nan", [None]),
        ("-nan(ind)", [None]),
        ("inf -Infinity INF", [None, None, None]),
        ("information, banana", []),
        ("1e401", [None]),
        ("١٢", []),
    ],
)
def test_what_is_a_number(text: str, numbers: list[Fraction | None]) -> None:
    """A number is what C prints as one, and nothing that a person would not call one."""
    assert [number_value(match.group()) for match in NUMBER.finditer(text)] == numbers


@pytest.mark.parametrize(
    ("text", "nth", "shown", "right"),
    [
        ("x: 2", 1, "2", True),
        ("x:2.0 3", 1, "2.0", True),
        ("x: 3 2", 2, "2", True),
        ("x: 3 x: 2", 1, "3", False),
        ("a 2 x: none", 1, "", False),
        ("x:\n\n2", 1, "2", True),
        ("x: nan 2", 1, "nan", False),
    ],
)
def test_the_place_is_after_the_first_such_words(text: str, nth: int, shown: str, *, right: bool) -> None:
    """The nth number after them, on whatever line it is."""
    reading = read_number(text, wanted(nth=nth))
    assert (reading.has_words, reading.text, reading.right) == (True, shown, right)


def test_words_that_are_not_there_are_no_place() -> None:
    """Whatever numbers there are."""
    assert read_number("X: 2", wanted()).has_words is False


@pytest.mark.parametrize(
    ("number", "within", "relative", "right"),
    [
        ("2.005", "0.005", False, True),
        ("2.0050001", "0.005", False, False),
        ("1.995", "0.005", False, True),
        ("2.002", "0.001", True, True),
        ("2.0021", "0.001", True, False),
        ("2", "0", False, True),
        ("2.0000000000000000001", "0", False, False),
    ],
)
def test_a_tolerance_is_exact(number: str, within: str, right: bool, *, relative: bool) -> None:  # noqa: FBT001
    """Its ends belong to it, and no rounding moves them."""
    assert is_right_number(number_value(number), wanted(within=within, relative=relative)) is right


def test_a_relative_tolerance_of_a_negative_number_is_positive() -> None:
    """It is a share of the magnitude."""
    assert is_right_number(Fraction(-101, 50), wanted(-2, within="0.01", relative=True))


PIECES = st.sampled_from(
    ["x:", "nan", "inf", "-", "+", ".", "e", "E", "9" * 30, "0", "1", " ", "\n", "é", "٣", "x"]
)


@given(st.lists(PIECES, max_size=40).map("".join), st.integers(1, 4))
def test_reading_never_fails_and_only_numbers_pass(text: str, nth: int) -> None:
    """Whatever is printed: what passes is a finite number within the tolerance."""
    reading = read_number(text, wanted(1, within="5", nth=nth))
    if reading.right:
        assert abs(Fraction(float(reading.text)) - 1) <= Fraction(5) + Fraction(1, 10**6)
        assert not {"n", "N"} & set(reading.text)


@given(st.text(alphabet="0123456789.eE+-naif", max_size=2 * LONGEST_NUMBER))
def test_any_number_of_digits_is_read_or_refused(text: str) -> None:
    """Neither a long exponent nor a long mantissa takes time or memory."""
    for match in NUMBER.finditer(text):
        number = number_value(match.group())
        assert number is None or abs(number) < Fraction(10) ** (2 * LONGEST_NUMBER)


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_what_c_prints_is_read_back(number: float) -> None:
    """As `%.17g` writes it; nan and infinity are never right, whatever is expected."""
    reading = read_number(f"x: {number:.17g}", wanted(0, within="1e400"))
    if number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN
        assert reading.right is False
    else:
        assert number_value(reading.text) == Fraction(f"{number:.17g}")
