"""The reduction oracle: float32 sums in any order are within its bound, coarser ones are not; its inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from grader.grading.oracle import load_oracle
from grader.model.compare import compare

Array: TypeAlias = NDArray[Any]

FOLDER = Path(__file__).parents[2] / "reference" / "reduction"
ORACLE = load_oracle(FOLDER)
LENGTHS = (1, 2, 33, 255, 256, 1000)


def _inputs(kind: str, n: int, seed: int = 3) -> dict[str, Array]:
    return ORACLE.inputs(kind, {"N": n}, np.random.default_rng(seed))


def _wrong(inputs: dict[str, Array], group: str) -> set[str]:
    """The names of the answers of ``orders`` or ``coarser`` that are wrong."""
    shape = {"N": len(inputs["values"])}
    values, bound = ORACLE.expected(inputs, shape)["total"]
    answers = getattr(ORACLE, group)(inputs, shape)
    return {name for name, given in answers if compare("total", given["total"], values, bound).wrong}


@pytest.mark.parametrize("kind", ORACLE.kinds)
@pytest.mark.parametrize("n", LENGTHS)
def test_inputs_are_float32_and_repeat_with_the_seed(kind: str, n: int) -> None:
    """N numbers, none of them zero, and a total that starts from zero."""
    first, second = _inputs(kind, n), _inputs(kind, n)
    assert (first["values"].dtype.name, first["values"].shape) == ("float32", (n,))
    assert (first["values"] == second["values"]).all()
    assert first["values"].all()
    assert first["total"].tolist() == [0.0]


@pytest.mark.parametrize("kind", ORACLE.kinds)
@pytest.mark.parametrize("n", LENGTHS)
def test_float32_is_right_in_every_order(kind: str, n: int) -> None:
    """Forwards, backwards, by size, pairwise, strided and in blocks."""
    assert not _wrong(_inputs(kind, n), "orders")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-(2.0**60), 2.0**60, width=32, allow_subnormal=False), min_size=1, max_size=300))
def test_float32_is_right_in_every_order_for_any_numbers(numbers: list[float]) -> None:
    """The bound is derived for every vector, not fitted to the kinds."""
    assert not _wrong({"values": np.array(numbers, np.float32)}, "orders")


@pytest.mark.parametrize(("kind", "n"), [("random", 32), ("quarters", 1024)])
def test_coarser_arithmetic_is_wrong(kind: str, n: int) -> None:
    """A short vector has a small bound and a sum of quarters none: half, bfloat16 and TF32 are beyond it."""
    assert _wrong(_inputs(kind, n), "coarser") == {"half", "TF32", "bfloat16", "sum in half"}


@pytest.mark.parametrize(("kind", "total"), [("ones", 1000), ("counting", 500500)])
def test_whole_numbers_leave_no_room(kind: str, total: int) -> None:
    """Their sum is exact, so the bound is zero."""
    values, bound = ORACLE.expected(_inputs(kind, 1000), {"N": 1000})["total"]
    assert (values.tolist(), bound.tolist()) == ([total], [0.0])


def test_a_missing_element_of_a_long_vector_shows() -> None:
    """The total of 20,000 whole numbers has no slack that could hide one of them."""
    inputs = _inputs("whole", 20000)
    values, bound = ORACLE.expected(inputs, {"N": 20000})["total"]
    without_last = np.array([inputs["values"][:-1].sum()], np.float32)
    assert compare("total", without_last, values, bound).wrong == 1


def test_the_work_is_one_addition_fewer_than_elements() -> None:
    """N - 1 floating-point operations."""
    assert ORACLE.work
    assert ORACLE.work({"N": 12})["flops"] == 11
