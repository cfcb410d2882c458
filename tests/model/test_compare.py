"""Right and wrong, element by element."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from grader.base.errors import OurError
from grader.model import Launch
from grader.model.compare import (
    CHUNK,
    HEAT_COLUMNS,
    HEAT_ROWS,
    MAP_CHARACTERS,
    MAP_COLUMNS,
    MAP_ROWS,
    MOST_SAMPLES,
    compare,
    heat_map,
    plainly_right,
    states,
    untouched,
    wrong_map,
)


def test_equal_arrays_are_right_with_an_error_of_zero() -> None:
    """Nothing wrong: no first element, no map."""
    result = compare("C", np.ones((2, 3), np.float32), np.ones((2, 3)), 0.0)
    assert (result.wrong, result.total, result.max_error) == (0, 6, 0.0)
    assert result.first is None
    assert result.wrong_map == ()


@pytest.mark.parametrize("bound", [0.0, 1.0, 1e300])
@pytest.mark.parametrize(
    ("got", "expected"),
    [(np.nan, 1.0), (np.nan, np.nan), (1.0, np.nan), (np.inf, 1.0), (1.0, np.inf), (-np.inf, np.inf)],
)
def test_no_bound_lets_nan_or_a_stray_infinity_pass(got: float, expected: float, bound: float) -> None:
    """NaN and infinite errors are wrong, and their error is infinite."""
    result = compare("C", np.array([got]), np.array([expected]), bound)
    assert result.wrong == 1
    assert result.max_error == np.inf


def test_the_infinity_that_is_expected_is_right() -> None:
    """Inf is inf, and its error is 0."""
    result = compare("C", np.array([np.inf, -np.inf]), np.array([np.inf, -np.inf]), 0.0)
    assert (result.wrong, result.max_error) == (0, 0.0)


def test_the_relative_error_is_the_largest_share_of_an_expected_value() -> None:
    """Element by element; what should be 0 has no share, and NaN is infinitely far off."""
    expected = np.array([4.0, -0.5, 0.0])
    assert compare("C", np.array([5.0, -0.75, 0.1]), expected, 1.0).max_relative_error == 0.5
    assert compare("C", np.array([4.0, np.nan, 0.0]), expected, 1.0).max_relative_error == np.inf
    assert compare("C", np.zeros(3), np.zeros(3), 1.0).max_relative_error == 0.0


@pytest.mark.parametrize(
    ("bound", "flaw"),
    [
        ([np.nan], "negative or NaN"),
        ([-1.0], "negative or NaN"),
        ([0.0, np.nan], "negative or NaN"),
        ([0.0, np.inf], "infinite"),
    ],
)
def test_a_bound_that_is_no_bound_is_our_error(bound: list[float], flaw: str) -> None:
    """It would fail, or pass, every student for a slip of the oracle's."""
    with pytest.raises(OurError, match=f"bound for C is {flaw}"):
        compare("C", np.ones(2), np.ones(2), np.array(bound))
    assert flaw == "negative or NaN" or not plainly_right(np.ones(2), np.ones(2), np.array(bound))


def test_a_bound_is_infinite_only_where_an_infinity_is_expected() -> None:
    """A share of what is expected is infinite there, and forgives nothing all the same."""
    expected = np.array([np.inf, 1.0])
    assert compare("C", np.array([np.inf, 1.0]), expected, np.array([np.inf, 0.0])).wrong == 0
    assert compare("C", np.array([9.0, 1.0]), expected, np.array([np.inf, 0.0])).wrong == 1


def test_an_error_exactly_at_the_bound_is_right() -> None:
    """The bound is inclusive."""
    assert compare("C", np.array([1.5]), np.array([1.0]), 0.5).wrong == 0
    assert compare("C", np.array([1.5]), np.array([1.0]), np.nextafter(0.5, 0)).wrong == 1


def test_the_first_wrong_element_is_first_in_c_order() -> None:
    """Row before column."""
    got = np.zeros((3, 4), np.float32)
    got[1, 3], got[2, 0] = 5, 7
    first = compare("C", got, np.zeros((3, 4)), 0.25).first
    assert first is not None
    assert (first.index, first.expected, first.got, first.bound) == ((1, 3), 0.0, 5.0, 0.25)
    assert not first.unwritten


def test_the_reported_bound_is_that_of_the_largest_error() -> None:
    """Bounds may differ from element to element."""
    result = compare("C", np.array([1.0, 3.0]), np.zeros(2), np.array([0.5, 10.0]))
    assert (result.max_error, result.error_bound, result.wrong) == (3.0, 10.0, 1)


def test_elements_that_hold_the_poison_are_unwritten() -> None:
    """An untouched NaN is unwritten, a computed one is wrong."""
    before = np.full((2, 2), np.nan, np.float32)
    after = before.copy()
    after[0, 0], after[0, 1] = 1, -np.float32(np.nan)
    result = compare("C", after, np.ones((2, 2)), 0.0, poison=untouched(after, before))
    assert (result.wrong, result.unwritten) == (3, 2)
    assert result.wrong_map == (".n", "??")
    assert result.first is not None
    assert not result.first.unwritten


def test_poison_that_happens_to_be_the_answer_is_right() -> None:
    """Integer poison may equal an expected value: that element is not wrong, so not unwritten either."""
    poison = np.array([7, 7], np.int32)
    result = compare("count", poison, np.array([7.0, 8.0]), 0.0, poison=untouched(poison, poison))
    assert (result.wrong, result.unwritten) == (1, 1)
    assert result.first is not None
    assert result.first.unwritten


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.uint64, np.bool_])
def test_any_real_dtype_can_be_compared(dtype: type) -> None:
    """The error is taken in float64, so unsigned numbers do not wrap."""
    assert compare("v", np.array([0, 1], dtype), np.array([1.0, 1.0]), 0.0).max_error == 1.0


def test_arrays_of_different_shapes_are_refused() -> None:
    """Broadcasting would hide a missing row."""
    with pytest.raises(OurError, match=r"the oracle expects C in shape \(2, 2\), the assignment says"):
        compare("C", np.zeros((2, 1)), np.zeros((2, 2)), 0.0)


def test_a_scalar_and_an_empty_output_can_be_compared() -> None:
    """No dimension, or no element."""
    assert compare("sum", np.array(2.0), np.array(3.0), 0.0).wrong_map == ("x",)
    assert compare("C", np.zeros((0, 4)), np.zeros((0, 4)), 0.0).total == 0


def test_untouched_distinguishes_one_nan_from_another() -> None:
    """Bits are compared, not values."""
    before = np.array([0x7FC00000, 0x7FC00001], np.uint32).view(np.float32)
    after = np.array([0x7FC00000, 0x7FC00000], np.uint32).view(np.float32)
    assert untouched(after, before).tolist() == [True, False]
    with pytest.raises(ValueError, match="shape or type"):
        untouched(after, before.astype(np.float64))


def test_a_map_of_a_large_matrix_draws_cells() -> None:
    """One wrong element marks the cell it lies in; the scale is reported."""
    got = np.zeros((48, 480), np.float32)
    got[47, 479] = 1
    result = compare("C", got, np.zeros_like(got), 0.5)
    assert result.map_cell == (4, 10)
    assert result.wrong_map == ("." * 48,) * 11 + ("." * 47 + "x",)


def test_a_cell_shows_the_worst_that_it_holds() -> None:
    """Wrong before NaN before unwritten before right."""
    states = np.tile(np.array([[0, 1], [2, 3]], np.uint8), (12, 48))
    states[:, :2] = np.array([[0, 1], [0, 0]] * 12, np.uint8)
    picture, cell = wrong_map(states)
    assert cell == (2, 2)
    assert picture[0] == "?" + "x" * 47


def test_a_vector_is_folded_into_lines() -> None:
    """Five hundred elements fit, one character each."""
    got = np.zeros(500)
    got[100] = 1
    result = compare("v", got, np.zeros(500), 0.0)
    assert [line.find("x") for line in result.wrong_map].index(4) == 2
    assert sum(map(len, result.wrong_map)) == 500
    assert result.map_cell == (1, 1)


def test_more_than_two_axes_are_flattened_to_rows_of_the_last() -> None:
    """A stack of matrices is drawn one below the other."""
    got = np.zeros((2, 2, 3))
    got[1, 0, 2] = 1
    assert compare("T", got, np.zeros((2, 2, 3)), 0.0).wrong_map == ("...", "...", "..x", "...")


@given(arrays.arrays(np.uint8, arrays.array_shapes(max_dims=3, max_side=120), elements=st.integers(0, 3)))
def test_a_map_fits_a_terminal_and_hides_nothing(
    states: np.ndarray[tuple[int, ...], np.dtype[np.uint8]],
) -> None:
    """At most 12 lines of 48 characters, and the worst of the array is on it."""
    picture, _ = wrong_map(states)
    assert len(picture) <= MAP_ROWS
    assert all(len(line) <= MAP_COLUMNS for line in picture)
    worst = int(states.max())
    assert max((MAP_CHARACTERS.index(c) for line in picture for c in line), default=0) == worst


@given(
    arrays.arrays(np.float32, 12, elements=st.floats(width=32)),
    arrays.arrays(np.float64, 12, elements=st.floats()),
    st.floats(min_value=0, allow_infinity=False),
)
def test_right_means_a_finite_difference_within_the_bound_or_equality(
    got: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
    expected: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    bound: float,
) -> None:
    """The same decision, one Python float at a time."""
    right = 0
    for one, other in zip(got.tolist(), expected.tolist(), strict=True):
        difference = abs(one - other)
        right += one == other or difference <= min(bound, 1.7976931348623157e308)
    assert compare("C", got, expected, bound).wrong == 12 - right
    assert right == 12 or not plainly_right(got, expected, bound)


def test_a_large_output_is_plainly_right_only_without_a_wrong_element_anywhere() -> None:
    """Its last element counts as its first; NaN, masks and integers are for `compare` to judge."""
    expected = np.arange(CHUNK + 5.0)
    got = expected.astype(np.float32)
    assert plainly_right(got, expected, 0.0)
    assert not plainly_right(got.astype(np.int32), expected, 0.0)
    assert not plainly_right(got, np.ma.masked_equal(expected, 3.0), 0.0)
    for wrong in (np.nan, np.inf, got[-1] + 1):
        changed = got.copy()
        changed[-1] = wrong
        assert not plainly_right(changed, expected, np.full(expected.shape, 0.5))


def test_what_an_oracle_masks_may_be_anything() -> None:
    """Numbers, NaN and elements that no thread wrote pass there, and only there."""
    expected = np.ma.masked_array(np.arange(6.0), mask=[False, True, True, True, False, False])
    got = np.array([0.0, 77.0, np.nan, np.inf, 4.0, 5.0])
    found = compare("C", got, expected, 0.0, poison=np.array([False, False, True, False, False, False]))
    assert (found.wrong, found.unwritten, found.total, found.max_error) == (0, 0, 3, 0.0)
    got[4] = 9.0
    found = compare("C", got, expected, 0.0)
    assert found.wrong == 1
    assert found.first is not None
    assert found.first.index == (4,)
    assert found.wrong_map == ("....x.",)


def test_integers_are_distinguished_beyond_what_float64_holds() -> None:
    """2⁵³ + 1 is not 2⁵³."""
    expected = np.array([2**53, 2**53 + 1, -5], np.int64)
    assert compare("C", expected, expected, 0.0).wrong == 0
    assert compare("C", np.array([2**53, 2**53, -5], np.int64), expected, 0.0).wrong == 1
    assert compare("C", np.array([2**64 - 1], np.uint64), np.array([2**64 - 2], np.uint64), 0.0).wrong == 1


def test_a_heat_map_shows_how_far_each_element_is_off() -> None:
    """Right, little, more and much by the largest number expected; NaN and unwritten by themselves."""
    expected = np.full((2, 3), 100.0)
    got = np.array([[100.0, 100.5, 110.0], [150.0, np.nan, 7.0]])
    poison = np.array([[False] * 3, [False, False, True]])
    heat = heat_map(got, expected, 0.1, poison=poison)
    assert heat.rows == (".12", "3n?")
    assert [(sample.row, sample.column) for sample in heat.samples] == [
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
        (1, 2),
    ]
    first, *_, last = (sample.element for sample in heat.samples)
    assert (first.index, first.got, first.expected, first.bound) == ((0, 1), 100.5, 100.0, 0.1)
    assert last.unwritten


def test_a_large_output_is_drawn_in_few_cells_with_the_worst_in_each() -> None:
    """However large: some hundred samples, each the first wrong element of its cell."""
    got = np.zeros((100, 640))
    got[37, 100:] = 1.0
    got[99, 639] = np.nan
    heat = heat_map(got, np.ones((100, 640)), 0.0, poison=np.zeros((100, 640), bool))
    assert heat.cell == (2, 10)
    assert len(heat.rows) <= HEAT_ROWS
    assert {len(row) for row in heat.rows} == {64} == {HEAT_COLUMNS}
    assert 0 < len(heat.samples) <= MOST_SAMPLES
    assert heat.samples[0].element.index == (0, 0)
    for sample in heat.samples:
        row, column = sample.element.index
        assert (row // 2, column // 10) == (sample.row, sample.column)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 3072, 3073, 100_000])
def test_a_vector_is_folded_into_lines_with_nothing_behind_its_end(size: int) -> None:
    """All lines are equally long; what is beyond the last element is neither right nor wrong."""
    heat = heat_map(np.zeros(size), np.ones(size), 0.0, poison=np.zeros(size, bool))
    assert len({len(row) for row in heat.rows}) == 1
    cells = "".join(heat.rows)
    assert cells.rstrip() == "3" * -(-size // heat.cell[1])
    assert len(heat.rows) <= HEAT_ROWS + 1


def test_blocks_are_known_where_the_grid_just_covers_the_output() -> None:
    """Each element has a thread; for any other launch it is unknown which thread computes what."""
    wrong = (np.zeros((55, 43)), np.ones((55, 43)), 0.0)
    poison = np.zeros((55, 43), bool)
    fitting = Launch((3, 4, 1), (16, 16, 1))
    assert heat_map(*wrong, poison=poison, launch=fitting).block == (16, 16)
    assert heat_map(*wrong, poison=poison, launch=Launch((4, 3, 1), (16, 16, 1))).block == (0, 0)
    line = (np.zeros(1000), np.ones(1000), 0.0)
    launch = Launch((4, 1, 1), (256, 1, 1))
    assert heat_map(*line, poison=np.zeros(1000, bool), launch=launch).block == (1, 256)


def test_each_element_of_a_small_output_has_its_state() -> None:
    """As in the map, and what may be anything is right."""
    expected = np.ma.masked_array([1.0, 1.0, 1.0, 1.0], [False, False, False, True])
    got = np.array([1.0, 2.0, np.nan, np.nan])
    assert states(got, expected, 0.0, poison=np.array([False, False, True, True])) == ".x?."
