"""The reading of answers: numbers as people write them, units, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.kinds.answers.stages import LONGEST, readings_of


def values(text: str, unit: str = "bytes") -> list[Fraction]:
    """The possible values of the text."""
    return [value for _, value in readings_of(text, unit)[0]]


@pytest.mark.parametrize(
    ("text", "unit", "meant"),
    [
        ("64704", "bytes", 64704),
        ("64,704 bytes", "bytes", 64704),
        ("64 704 Byte", "bytes", 64704),
        ("64_704 B", "bytes", 64704),
        ("63.1875 KiB", "bytes", 64704),
        ("1 MiB", "bytes", 2**20),
        ("517632 bits", "bytes", 64704),
        ("4.72e6", "flop", 4_720_000),
        ("4.72 × 10^6 FLOPs", "flop", 4_720_000),
        ("6.5536 Mflop", "flop", 6_553_600),
        ("6.5536 million operations", "flop", 6_553_600),
        ("1/16", "", Fraction(1, 16)),
        (".25 FLOP/B", "flop/byte", Fraction(1, 4)),
        ("0.25 operations per byte", "flop/byte", Fraction(1, 4)),
        ("75%", "%", 75),
        ("75 percent", "%", 75),
        ("16x", "", 16),
        ("50 %", "", Fraction(1, 2)),
        ("4,725 blocks", "blocks", 4725),
        ("1 block", "blocks", 1),
        ("4.725 thousand", "blocks", 4725),
        ("-3", "rows", -3),
        ("−3", "rows", -3),
    ],
)
def test_numbers_are_understood_as_people_write_them(text: str, unit: str, meant: Fraction) -> None:
    """In the unit of the question, exactly."""
    assert values(text, unit) == [meant]


def test_a_kb_may_be_1000_or_1024_bytes() -> None:
    """Both readings are offered, each with words for it."""
    readings, problem = readings_of("9.46 KB", "bytes")
    assert problem == ""
    assert readings == (
        ("9,687.04 bytes (1 KB taken as 1,024 bytes)", Fraction("9.46") * 1024),
        ("9,460 bytes (1 KB taken as 1,000 bytes)", Fraction(9460)),
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("lots", "expected a number such as 64,704"),
        ("3,5", "a comma separates thousands"),
        ("64,704 apples", "the unit `apples` is not understood: expected bytes"),
        ("1/0", "nothing can be divided by 0"),
        ("1e999", "a power of ten beyond 18"),
        ("9" * 31, "expected a number"),
        ("1" * (LONGEST + 1), "longer than a number"),
        ("75 x 63 = 4725", "expected a number"),
        ("nan", "expected a number"),
        ("inf", "expected a number"),
        ("", "expected a number"),
        ("5 \x1b[31m", "expected a number"),
    ],
)
def test_what_is_no_number_is_refused_with_what_was_expected(text: str, complaint: str) -> None:
    """And nothing in the message does anything to a terminal."""
    readings, problem = readings_of(text, "bytes")
    assert readings == ()
    assert complaint in problem
    assert problem.isprintable()


@given(st.text(max_size=120))
def test_any_text_is_understood_or_refused(text: str) -> None:
    """Never an exception, and one of the two always."""
    readings, problem = readings_of(text, "bytes")
    assert bool(readings) != bool(problem)


@given(st.integers(0, 10**12))
def test_whole_numbers_come_back_with_and_without_commas(number: int) -> None:
    """Digits and groups of three mean the same."""
    assert values(str(number)) == values(f"{number:,}") == [number]
