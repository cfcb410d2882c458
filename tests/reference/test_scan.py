"""The scan oracle: float32 sums in every order are within its bound, coarser ones are not, and its inputs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.grading.oracle import load_oracle
from grader.model.compare import compare

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ORACLE = load_oracle(Path(__file__).parents[2] / "reference" / "scan")
SHAPES = ((1, 1), (3, 2), (2, 33), (1, 700))
EXACT_KINDS = ("ones", "small-integers")


def _inputs(kind: str, m: int, n: int, seed: int = 3) -> dict[str, np.ndarray[Any, Any]]:
    return ORACLE.inputs(kind, {"M": m, "N": n}, np.random.default_rng(seed))


def _wrong(
    inputs: dict[str, np.ndarray[Any, Any]],
    answers: Iterable[tuple[str, Mapping[str, np.ndarray[Any, Any]]]],
) -> set[str]:
    """The names of the answers that are outside the bound."""
    values, bound = ORACLE.expected(inputs, _shape(inputs))["output"]
    return {name for name, given in answers if compare("output", given["output"], values, bound).wrong}


def _shape(inputs: dict[str, np.ndarray[Any, Any]]) -> dict[str, int]:
    return dict(zip("MN", inputs["input"].shape, strict=True))


@pytest.mark.parametrize("kind", ORACLE.kinds)
@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_float32_is_right_in_every_order(kind: str, m: int, n: int) -> None:
    """One after another, by doubling strides, in tiles with a carry, and each from its end."""
    assert ORACLE.orders
    inputs = _inputs(kind, m, n)
    assert not _wrong(inputs, ORACLE.orders(inputs, _shape(inputs)))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-(2.0**60), 2.0**60, width=32, allow_subnormal=False), min_size=1, max_size=150))
def test_float32_is_right_in_every_order_for_any_numbers(numbers: list[float]) -> None:
    """The bound is derived for every row, not fitted to the kinds."""
    assert ORACLE.orders
    inputs = {"input": np.array([numbers], np.float32)}
    assert not _wrong(inputs, ORACLE.orders(inputs, _shape(inputs)))


def test_coarser_arithmetic_is_wrong_for_a_random_warp() -> None:
    """The bound grows along the row, and half, bfloat16 and TF32 are beyond it at once."""
    assert ORACLE.coarser
    inputs = _inputs("random", 1, 32)
    assert _wrong(inputs, ORACLE.coarser(inputs, _shape(inputs))) == {"half", "bfloat16", "tf32"}


@pytest.mark.parametrize("kind", EXACT_KINDS)
def test_whole_numbers_leave_no_room_for_rounding(kind: str) -> None:
    """Their sums are exact in every order, so the bound is zero; elsewhere only that of first elements is."""
    assert not ORACLE.expected(_inputs(kind, 2, 900), {"M": 2, "N": 900})["output"][1].any()
    bound = ORACLE.expected(_inputs("random", 2, 900), {"M": 2, "N": 900})["output"][1]
    assert not bound[:, 0].any()
    assert (np.diff(bound, axis=1) > 0).all()


def test_each_row_is_a_sum_of_its_own() -> None:
    """3 1 7 0 4 becomes 3 4 11 11 15, and the row after it begins anew."""
    rows = np.array([[3, 1, 7, 0, 4], [1, 1, 1, 1, 1]], np.float32)
    values, _ = ORACLE.expected({"input": rows}, {"M": 2, "N": 5})["output"]
    assert values.tolist() == [[3, 4, 11, 11, 15], [1, 2, 3, 4, 5]]
