"""The places where an output is wrong, in operations and launches of which nothing else is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.explaining import NO_HYPOTHESES, WrongOutput, fitting
from grader.explaining.mistake import Rank
from grader.explaining.table import tests as asked_tests
from grader.model import Launch

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]


def first_mistake(
    shape: tuple[int, ...],
    wrong: Callable[[Array], Array],
    launch: Launch,
    *,
    stored: bool = False,
    zeros: bool = False,
) -> str:
    """The mistake named first for these wrong elements: not written, or ``stored`` with other numbers."""
    expected = np.random.default_rng(2).uniform(1, 2, shape)
    if zeros:
        expected *= np.random.default_rng(3).random(shape) < 0.6
    mask = np.broadcast_to(wrong(expected), shape)
    got = np.where(mask, np.random.default_rng(4).uniform(-9, 9, shape) if stored else np.nan, expected)
    unwritten = mask & ~np.bool_(stored)
    return next(
        fitting(
            NO_HYPOTHESES, WrongOutput("y", got, expected, 1e-9, unwritten, store_bytes=1, launch=launch)
        ),
        "",
    )


LINE = Launch((8, 1, 1), (128, 1, 1))
PLANE = Launch((3, 4, 1), (16, 8, 1))


def index(values: Array, axis: int = 0) -> Array:
    """The place of each element along an axis."""
    indices: Array = np.indices(values.shape)[axis]
    return indices


@pytest.mark.parametrize(
    ("mistake", "wrong", "stored"),
    [
        ("first-block-of-vector", lambda y: index(y) >= 128, False),
        ("tail-not-written", lambda y: index(y) >= 896, False),
        ("some-blocks-of-vector", lambda y: index(y) // 128 == 3, True),
        ("block-borders-wrong", lambda y: index(y) % 128 < 3, True),
        ("block-borders-wrong", lambda y: (index(y) % 128 >= 125) & (index(y) < 900), True),
    ],
)
def test_a_block_in_a_line_tells_how_long_its_part_of_a_vector_is(
    mistake: str, wrong: Callable[[Array], Array], *, stored: bool
) -> None:
    """Also where an assignment leaves no constant to its students."""
    assert first_mistake((1000,), wrong, LINE, stored=stored) == mistake


def test_rows_that_a_block_does_not_go_on_along() -> None:
    """A block of 64 threads for each row of 100."""
    rows = Launch((6, 1, 1), (64, 1, 1))
    assert first_mistake((6, 100), lambda y: index(y, 1) >= 64, rows) == "first-tile-of-rows"


def test_threads_whose_axes_are_exchanged_in_a_block_that_is_no_square() -> None:
    """Those along x are taken for rows: the grid is too narrow then."""
    launch = Launch((3, 4, 1), (16, 8, 1))
    assert first_mistake((29, 44), lambda y: index(y, 1) >= 32, launch) == "block-indices-swapped"


def test_zeros_that_no_thread_stored() -> None:
    """An `else` is missing, or the store stands in a loop that makes no round."""
    assert first_mistake((300,), lambda y: y == 0, LINE, zeros=True) == "zeros-not-stored"
    most = first_mistake((300,), lambda y: (y == 0) & (index(y) % 3 > 0), LINE, zeros=True)
    assert most == "zeros-not-stored"
    few = first_mistake((300,), lambda y: (y == 0) & (index(y) < 9), LINE, zeros=True)
    one_more = first_mistake((300,), lambda y: (y == 0) | (index(y) == 7), LINE, zeros=True)
    assert (few, one_more) == ("partly-unwritten", "partly-unwritten")


def test_a_matrix_that_is_wrong_at_its_border_alone() -> None:
    """A matrix that is wrong inside as well is not recognised as wrong at its border."""
    border = np.zeros((32, 48), np.bool_)
    border[0] = border[-1] = border[:, 0] = border[:, -1] = True
    assert first_mistake((32, 48), lambda _: border, PLANE, stored=True) == "border-wrong"
    inside = border.copy()
    inside[20, 20] = True
    assert first_mistake((32, 48), lambda _: inside, PLANE, stored=True) == ""


def test_a_border_that_is_never_written() -> None:
    """It is distinguished from a border that holds something else."""
    border = np.ones((32, 48), np.bool_)
    border[1:-1, 1:-1] = False
    assert first_mistake((32, 48), lambda _: border, PLANE) == "border-not-written"


@pytest.mark.parametrize("shape", [(37, 50), (301,)])
def test_the_last_row_or_element_alone_is_no_partial_tile(shape: tuple[int, ...]) -> None:
    """It is the bound of a neighbour that is wrong, and not what threads beyond the edge load."""
    launch = LINE if len(shape) == 1 else Launch((4, 3, 1), (16, 16, 1))
    last = shape[0] - 1 - (len(shape) == 1)
    assert first_mistake(shape, lambda y: index(y) >= last, launch, stored=True) == "border-wrong"


def test_a_partial_tile_that_is_wrong_as_a_whole_is_no_border() -> None:
    """Also where it is narrow."""
    launch = Launch((4, 3, 1), (16, 16, 1))
    wrong = first_mistake((34, 50), lambda y: (index(y) >= 32) | (index(y, 1) >= 48), launch, stored=True)
    assert wrong == "edge-wrong"


def test_halos_of_square_blocks() -> None:
    """The columns to either side of where two blocks meet."""
    launch = Launch((4, 3, 1), (16, 16, 1))
    wrong = first_mistake((37, 50), lambda y: index(y, 1) % 16 == 15, launch, stored=True)
    assert wrong == "block-borders-wrong"


def test_rows_to_which_the_index_of_the_block_does_not_lead() -> None:
    """In a block that is no square; of bytes, some of those that no thread stored are right by chance."""
    assert first_mistake((29, 44), lambda y: index(y) >= 8, PLANE) == "index-formula"
    expected = np.random.default_rng(2).integers(0, 256, (29, 44)).astype(np.uint8)
    got = np.where(np.indices(expected.shape)[0] < 8, expected, np.uint8(77))
    output = WrongOutput("y", got, expected, 0.0, got == 77, store_bytes=1, launch=PLANE)
    assert (output.unwritten & ~output.wrong).any()
    assert next(fitting(NO_HYPOTHESES, output)) == "index-formula"


@pytest.mark.parametrize(
    ("shape", "launch", "missing"),
    [
        ((100,), Launch((3, 1, 1), (32, 1, 1)), lambda y: index(y) >= 96),
        ((29, 44), Launch((2, 3, 1), (16, 16, 1)), lambda y: index(y, 1) >= 32),
        ((70, 44), Launch((3, 2, 1), (16, 16, 1)), lambda y: index(y) >= 32),
    ],
)
def test_elements_behind_the_last_thread_of_a_launch(
    shape: tuple[int, ...], launch: Launch, missing: Callable[[Array], Array]
) -> None:
    """Blocks are rounded down or exchanged, or a loop over the rest of a vector is missing."""
    assert first_mistake(shape, missing, launch) == "more-elements-than-threads"


def test_blocks_that_are_taken_to_be_as_long_as_along_the_other_axis() -> None:
    """`blockIdx.y * blockDim.x` leaves out rows where a block has more threads along x."""
    assert first_mistake((29, 44), lambda y: index(y) % 16 >= 8, PLANE) == "index-formula"


def test_an_input_that_is_added_once_too_often() -> None:
    """As of a sum over neighbours that counts the element itself."""
    x = np.random.default_rng(1).integers(-20, 50, 200)
    right = np.roll(x, 1) + np.roll(x, -1)
    output = WrongOutput("y", right + x, right, 0.0, np.zeros(200, np.bool_), (("x", x),), store_bytes=1)
    assert next(fitting(NO_HYPOTHESES, output)) == "off-by-input"


@pytest.mark.parametrize("factor", [-1.0, 0.8, 5.0])
def test_a_change_with_another_factor(factor: float) -> None:
    """As of a step in time, whose factor was cut to an integer or has the wrong sign."""
    old, change = (np.random.default_rng(seed).uniform(-2, 2, (20, 20)) for seed in (1, 2))
    got = old + factor * change
    unwritten = np.zeros(got.shape, np.bool_)
    output = WrongOutput("y", got, old + change, 1e-9, unwritten, (("x", old),), store_bytes=1)
    assert next(fitting(NO_HYPOTHESES, output)) == "change-scaled"
    got[3, 3] += 0.1
    assert not list(
        fitting(NO_HYPOTHESES, WrongOutput("y", got, old + change, 1e-9, unwritten, (("x", old),)))
    )


def test_the_first_of_several_matrices_alone() -> None:
    """The number of the matrix is in no index."""
    launch = Launch((1, 1, 3), (16, 16, 1))
    assert first_mistake((3, 16, 16), lambda y: index(y) > 0, launch) == "first-matrix-only"


@pytest.mark.parametrize("seed", range(30))
def test_a_few_elements_anywhere_are_no_border(seed: int) -> None:
    """In square blocks more than half of all elements lie near one."""
    row, column = np.random.default_rng(seed).integers(0, (37, 50), (3, 2)).T
    launch = Launch((4, 3, 1), (16, 16, 1))

    def wrong(y: Array) -> Array:
        mask = np.zeros(y.shape, np.bool_)
        mask[row, column] = True
        return mask

    assert first_mistake((37, 50), wrong, launch, stored=True) == ""


def test_infinities_that_are_expected_or_read_are_no_warning() -> None:
    """Such as the logarithm of 0: whoever grades would see NumPy's words."""
    x = np.array([0.0, 1.0, 2.0, np.inf, 4.0, 5.0, 6.0, 7.0, 8.0])
    right, unwritten = np.where(x > 0, x + 0.25, -np.inf), np.zeros(x.shape, np.bool_)
    got = np.where(np.isfinite(right), np.floor(right) + np.arange(9) % 2, 3.0)
    wrong = WrongOutput("y", got, right, 0.0, unwritten, (("x", x),))
    assert list(fitting(NO_HYPOTHESES, wrong)) == ["whole-numbers"]


@pytest.mark.parametrize("mistake", ["change-scaled", "off-by-input"])
def test_large_outputs_are_left_to_what_is_quick(mistake: str) -> None:
    """Four million elements took two seconds more, for each wrong case."""
    tests = dict(asked_tests(Rank.LIKELY))
    for size, fits in ((2**10, True), (2**20 + 1, False)):
        x = np.arange(size, dtype=np.float64)
        got = np.where(mistake == "off-by-input", x * x + x, x + 2 * (x * x - x))
        wrong = WrongOutput("y", got, x * x, 1e-9, np.zeros(size, np.bool_), (("x", x),))
        assert tests[mistake](wrong) is fits


@pytest.mark.parametrize("few", [1, 2])
def test_both_ends_of_a_vector_are_its_border_and_not_where_blocks_meet(few: int) -> None:
    """A neighbour is missing on either side, also where blocks begin and end there."""
    launch = Launch((4, 1, 1), (64, 1, 1))
    both = first_mistake((200,), lambda y: (index(y) < few) | (index(y) >= 200 - few), launch, stored=True)
    assert both == "border-wrong"
    assert first_mistake((200,), lambda y: index(y) < few, launch, stored=True) == ""


def test_half_of_the_elements_changed_are_no_step_with_a_factor() -> None:
    """The absolute value is x plus twice what makes it max(x, 0), and has no factor."""
    x = np.random.default_rng(1).uniform(-2, 2, 200)
    right, unwritten = np.maximum(x, 0), np.zeros(200, np.bool_)
    wrong = WrongOutput("y", np.abs(x), right, 1e-9, unwritten, (("x", x),), store_bytes=1)
    assert not list(fitting(NO_HYPOTHESES, wrong))


def partial_blocks(length: int, wrong: Callable[[Array], Array]) -> list[str]:
    """All mistakes named for a vector in blocks of 64, with an input as long and these wrong elements."""
    expected = np.random.default_rng(2).uniform(1, 2, length)
    got = np.where(wrong(np.arange(length)), 9 - expected, expected)
    launch = Launch((-(-length // 64), 1, 1), (64, 1, 1))
    unwritten = np.zeros(length, np.bool_)
    given = (("x", expected[::-1] ** 3),)
    output = WrongOutput("y", got, expected, 1e-9, unwritten, given, store_bytes=1, launch=launch)
    return list(fitting(NO_HYPOTHESES, output))


def test_an_array_that_fills_no_block_may_be_wrong_for_that_reason() -> None:
    """As the last block of a longer one is; a block that is full is wrong for another one."""
    assert "partial-blocks-wrong" in partial_blocks(37, lambda i: i < 20)
    assert "partial-blocks-wrong" in partial_blocks(150, lambda i: i >= 140)
    assert "partial-blocks-wrong" not in partial_blocks(150, lambda i: i >= 100)
    assert "partial-blocks-wrong" not in partial_blocks(128, lambda i: i % 3 == 0)


def test_a_few_last_elements_are_a_border_also_where_all_blocks_are_full() -> None:
    """Those whose neighbours are beyond the end."""
    for length in (256, 203, 50):
        last = np.arange(length) >= length - 3
        assert partial_blocks(length, last.__getitem__)[0] == "border-wrong"


def test_the_last_elements_of_each_block_are_reported_also_where_they_are_six() -> None:
    """A halo of three on either side that is missing on one."""
    assert partial_blocks(256, lambda i: i % 64 >= 58)[0] == "block-borders-wrong"
