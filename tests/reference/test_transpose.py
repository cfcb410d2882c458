"""The transpose oracle: exact values, and inputs in which a wrong place or a narrower type shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.grading.oracle import load_oracle
from grader.model.compare import compare

ORACLE = load_oracle(Path(__file__).parents[2] / "reference" / "transpose")
SHAPES = ((1, 1), (1, 9), (9, 1), (32, 32), (33, 65))


def _inputs(kind: str, m: int, n: int) -> dict[str, np.ndarray[Any, Any]]:
    return ORACLE.inputs(kind, {"M": m, "N": n}, np.random.default_rng(3))


@pytest.mark.parametrize("kind", ORACLE.kinds)
@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_the_transpose_itself_is_right_and_nothing_else_is(kind: str, m: int, n: int) -> None:
    """Every element is compared exactly, at the place where row and column have changed roles."""
    inputs = _inputs(kind, m, n)
    assert (inputs["input"].dtype.name, inputs["input"].shape) == ("float32", (m, n))
    values, bound = ORACLE.expected(inputs, {"M": m, "N": n})["output"]
    right = inputs["input"].T.copy()
    assert compare("output", right, values, bound).wrong == 0
    right[n - 1, m - 1] = np.nextafter(right[n - 1, m - 1], np.float32(0))
    assert compare("output", right, values, bound).wrong == 1


def test_random_numbers_do_not_survive_a_narrower_type() -> None:
    """Half, bfloat16, TF32 and int lose bits of nearly every number; the transpose as it is loses none."""
    assert ORACLE.orders
    assert ORACLE.coarser
    inputs, shape = _inputs("random", 20, 30), {"M": 20, "N": 30}
    values, bound = ORACLE.expected(inputs, shape)["output"]
    assert [name for name, _ in ORACLE.orders(inputs, shape)] == ["moved"]
    for name, given in (*ORACLE.orders(inputs, shape), *ORACLE.coarser(inputs, shape)):
        wrong = compare("output", given["output"], values, bound).wrong
        assert wrong == 0 if name == "moved" else wrong > values.size * 0.9


def test_each_number_of_counting_shows_where_it_comes_from() -> None:
    """1, 2, 3 … row by row, so that the first column of the output is the first row of the input."""
    values, _ = ORACLE.expected(_inputs("counting", 2, 3), {"M": 2, "N": 3})["output"]
    assert values.tolist() == [[1, 4], [2, 5], [3, 6]]
