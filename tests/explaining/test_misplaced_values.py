"""Right numbers in wrong places, and threads that did nothing: whatever the operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.explaining import WrongOutput
from tests.references import MISTAKES, explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]

RANDOM = np.random.default_rng(3)
MATRIX = RANDOM.uniform(-2, 2, (19, 11))
VECTOR = RANDOM.uniform(-2, 2, 300)
BLOCK = (("BLOCK", 64),)
TILE = (("TILE", 8),)


def named(got: Array, expected: Array, **fields: Any) -> str:  # noqa: ANN401 - the record's own
    """The mistake that is named for an unknown operation, empty for none."""
    given = {"bound": 1e-6, "constants": BLOCK if got.ndim == 1 else TILE, **fields}
    unwritten = np.isnan(got) if got.dtype.kind == "f" else np.zeros(got.shape, np.bool_)
    output = WrongOutput("y", got, expected, unwritten=unwritten, **given)
    found = explained("some-operation", output)
    return "" if found is None else found.mistake


def with_wrong(expected: Array, right: Array) -> Array:
    """Right where ``right`` is true, something else elsewhere."""
    other = np.random.default_rng(8).uniform(5, 9, expected.shape)
    return np.where(right, expected, other).astype(np.float32)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("step", [1, -1])
def test_rows_and_columns_off_by_one(axis: int, step: int) -> None:
    """Whatever has come in at the edge."""
    got = np.roll(MATRIX, step, axis).astype(np.float32)
    edge = [slice(None), slice(None)]
    edge[axis] = slice(0, 1) if step > 0 else slice(-1, None)
    got[tuple(edge)] = 77
    assert named(got, MATRIX) == "output-shifted"


@pytest.mark.parametrize("step", [1, -1])
def test_elements_off_by_one(step: int) -> None:
    """In a vector the neighbour's element, in a matrix on to the next row."""
    assert named(np.roll(VECTOR, step).astype(np.float32), VECTOR) == "output-shifted"
    flat = np.roll(MATRIX.reshape(-1), step).reshape(MATRIX.shape)
    assert named(flat.astype(np.float32), MATRIX) == "output-shifted"


def test_the_opposite_order() -> None:
    """Along one axis, or along both."""
    assert named(VECTOR[::-1].astype(np.float32), VECTOR) == "output-reversed"
    for turned in (MATRIX[::-1], MATRIX[:, ::-1], MATRIX[::-1, ::-1]):
        assert named(turned.astype(np.float32), MATRIX) == "output-reversed"


def test_an_input_that_was_only_copied() -> None:
    """A transposition that does not transpose, a scan that does not add."""
    source = MATRIX.astype(np.float32)
    inputs = (("x", source),)
    assert named(source.reshape(11, 19), MATRIX.T.copy(), inputs=inputs) == "input-copied"
    assert named(source[0], np.cumsum(source[0]), inputs=(("x", source[0]),)) == "input-copied"


def test_a_transposition_that_forgets_the_inside_of_tiles() -> None:
    """Tiles stand where they should; those that are cut at the edge count as far as they are whole."""
    tile, got = 8, np.zeros((19, 11), np.float32)
    for row in range(19):
        for col in range(11):
            source = (row // tile * tile + col % tile, col // tile * tile + row % tile)
            inside = source[0] < 19 and source[1] < 11
            got[row, col] = MATRIX[source] if inside else 0
    assert named(got, MATRIX) == "tiles-turned"


@pytest.mark.parametrize(
    ("mistake", "right"),
    [
        ("every-second", np.arange(300) % 2 == 0),
        ("every-second", np.arange(300) % 2 == 1),
        ("first-thread-only", np.arange(300) % 64 == 0),
        ("first-warp-only", np.arange(300) % 64 < 32),
        ("first-block-of-vector", np.arange(300) < 64),
    ],
)
def test_some_of_the_threads_of_a_vector_s_blocks(mistake: str, right: Array) -> None:
    """They are recognised by the pattern of what is right, even if what is wrong was never written."""
    assert named(with_wrong(VECTOR, right), VECTOR) == mistake
    unwritten = np.where(right, VECTOR, np.nan).astype(np.float32)
    assert named(unwritten, VECTOR) == mistake


@pytest.mark.parametrize(("mistake", "threads"), [("first-warp-only", 32), ("first-thread-only", 1)])
def test_some_of_the_threads_of_a_matrix_s_tiles(mistake: str, threads: int) -> None:
    """Threads are numbered along x first."""
    row, col = np.indices(MATRIX.shape)
    right: Array = np.asarray(row % 8 * 8 + col % 8 < threads)
    assert named(with_wrong(MATRIX, right), MATRIX) == mistake


def test_the_first_row_of_many_is_no_warp_of_blocks_that_no_device_launches() -> None:
    """256 × 256 threads: the constant is the length of a block along a row."""
    expected = np.arange(160.0).reshape(5, 32) + 1
    got = np.where(np.arange(5)[:, None] == 0, expected, np.nan).astype(np.float32)
    assert named(got, expected, constants=(("BLOCK_SIZE", 256),)) == "first-row-only"


@pytest.mark.parametrize("shape", [(1, 50), (50, 1)])
def test_a_single_row_or_column_shows_no_width(shape: tuple[int, int]) -> None:
    """Whatever the stride, its elements are in a line."""
    expected = np.arange(50.0).reshape(shape) + 1
    got = np.zeros(shape, np.float32)
    got.reshape(-1)[::-1][:25] = expected.reshape(-1)[25:]
    found = named(got, expected, inputs=(("A", np.zeros(shape[::-1], np.float32)),))
    assert found not in {"output-leading-dimension", "output-transposed"}


@pytest.mark.parametrize(
    "held",
    [
        lambda x: x.astype(np.uint8),
        lambda x: x.astype(np.int16),
        lambda x: np.minimum(x, 255),
        lambda x: np.clip(x, -32768, 32767),
    ],
)
def test_counts_that_a_smaller_type_held(held: Callable[[Array], Array]) -> None:
    """The low bits, or as much as fits."""
    counts = np.array([3, 40_000, 255, 256, 70_000, 12, 300, 90_001], np.int32)
    assert named(held(counts).astype(np.int32), counts.astype(np.float64), bound=0.0) == "integer-overflow"


def test_a_pattern_with_one_exception_is_no_pattern() -> None:
    """It must explain every wrong element, and no right one."""
    right = np.arange(300) % 2 == 0
    right[7] = True
    assert named(with_wrong(VECTOR, right), VECTOR) == ""
    got = np.roll(VECTOR, 1).astype(np.float32)
    got[40] += 1
    assert named(got, VECTOR) == ""


def test_all_alike_is_neither_shifted_nor_reversed() -> None:
    """Places cannot be distinguished where every element is expected to be the same."""
    expected = np.full(300, 68.0)
    got = expected.astype(np.float32)
    got[100:110] = 3
    assert named(got, expected) not in {"output-shifted", "output-reversed", "input-copied"}


DESCRIPTIONS = {
    "some-blocks",
    "some-blocks-of-vector",
    "updates-lost",
    "values-not-counted",
    "edge-wrong",
    "tail-wrong",
}
"""Mistakes that only describe where an output is wrong."""


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["float32", "int32", "uint8"]),
    st.lists(st.integers(1, 9), min_size=0, max_size=3),
    st.integers(0, 2**31),
    st.sampled_from(["reduction", "scan", "histogram", "convolution", "vector-add", "transpose", "matmul"]),
)
def test_garbage_has_no_name_that_claims_a_cause(
    dtype: str, shape: list[int], seed: int, operation: str
) -> None:
    """For any type, shape and operation random numbers are at most described, never explained."""
    random = np.random.default_rng(seed)
    expected = np.floor(random.uniform(0, 100, shape))
    got = np.floor(random.uniform(0, 100, shape)).astype(dtype)
    inputs = (("a", random.uniform(0, 100, shape).astype(dtype)), ("b", random.uniform(0, 9, (3, 3))))
    output = WrongOutput(
        "y", got, expected, 0.0, np.zeros(got.shape, np.bool_), inputs=inputs, constants=(("B", 4),)
    )
    found = explained(operation, output)
    if got.size >= 20:
        assert found is None or found.mistake in DESCRIPTIONS
    assert found is None or found.mistake in MISTAKES
