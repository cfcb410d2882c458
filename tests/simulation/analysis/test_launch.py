"""A launch over any extent: blocks, threads without work, bytes; and what known mistakes make of it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.simulation.analysis.subjects import SUBJECTS, AnalysisProblem, number_text, study, value

LAUNCH = SUBJECTS["launch"]
SIZES = st.integers(1, 300)


def of(name: str, **numbers: int) -> Fraction:
    """A quantity."""
    return value(LAUNCH, numbers, name)


def test_a_vector_addition() -> None:
    """1,000 elements in blocks of 256: 4 blocks, 24 idle threads, 8,000 bytes read, 4,000 written."""
    numbers = {"x": 1000, "block_x": 256, "reads": 2, "writes": 1, "work": 1}
    names = ("blocks", "idle_threads", "boundary_blocks", "global_load_bytes", "global_store_bytes", "flops")
    assert [of(name, **numbers) for name in names] == [4, 24, 1, 8000, 4000, 1000]
    assert of("intensity", **numbers) == Fraction(1, 12)
    assert of("warps_per_block", x=1, block_x=48) == 2


def test_an_intensity_of_nothing_that_moves_is_refused() -> None:
    """There would be a division by zero."""
    with pytest.raises(AnalysisProblem, match="expected `reads` or `writes`"):
        of("intensity", x=4, block_x=2)


@settings(max_examples=30, deadline=None)
@given(x=SIZES, y=SIZES, block_x=st.integers(1, 32), block_y=st.integers(1, 32))
def test_blocks_cover_every_element_and_not_a_row_more(x: int, y: int, block_x: int, block_y: int) -> None:
    """Counted block by block."""
    numbers = {"x": x, "y": y, "block_x": block_x, "block_y": block_y}
    corners = [(left, top) for left in range(0, x, block_x) for top in range(0, y, block_y)]
    assert of("blocks", **numbers) == len(corners)
    sticking_out = [corner for corner in corners if corner[0] + block_x > x or corner[1] + block_y > y]
    assert of("boundary_blocks", **numbers) == len(sticking_out)
    assert of("threads", **numbers) - of("elements", **numbers) == of("idle_threads", **numbers)


def test_every_quantity_has_steps() -> None:
    """There is an explanation for each, with its value at the end of whole ones."""
    numbers = {"x": 1000, "y": 3, "block_x": 256, "reads": 2, "writes": 1, "work": 1}
    for name in LAUNCH.quantities:
        assert study(LAUNCH, numbers, name).steps, name


@pytest.mark.parametrize(
    ("number", "text"),
    [(Fraction(64704), "64,704"), (Fraction(1, 4), "0.25"), (Fraction(1, 3), "0.333333 (1/3)")],
)
def test_numbers_are_shown_as_people_write_them(number: Fraction, text: str) -> None:
    """Whole, as a short decimal, or as a fraction."""
    assert number_text(number) == text
