"""The vector-add oracle: one float32 addition is within its bound, coarser arithmetic is not; its inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from grader.grading.oracle import load_oracle
from grader.model.compare import compare

Array: TypeAlias = NDArray[Any]

FOLDER = Path(__file__).parents[2] / "reference" / "vector-add"
ORACLE = load_oracle(FOLDER)
LENGTHS = (1, 7, 256, 1000)


def _inputs(kind: str, n: int, seed: int = 3) -> dict[str, Array]:
    return ORACLE.inputs(kind, {"N": n}, np.random.default_rng(seed))


def _wrong(kind: str, n: int, group: str) -> dict[str, int]:
    """The number of wrong elements in each answer of ``orders`` or ``coarser``."""
    inputs, shape = _inputs(kind, n), {"N": n}
    values, bound = ORACLE.expected(inputs, shape)["C"]
    answers = getattr(ORACLE, group)(inputs, shape)
    return {name: compare("C", given["C"], values, bound).wrong for name, given in answers}


@pytest.mark.parametrize("kind", ORACLE.kinds)
@pytest.mark.parametrize("n", LENGTHS)
def test_inputs_are_float32_and_repeat_with_the_seed(kind: str, n: int) -> None:
    """A and B have N numbers, the same for the same seed."""
    first, second = _inputs(kind, n), _inputs(kind, n)
    assert {(name, array.dtype.name, array.shape) for name, array in first.items()} == {
        ("A", "float32", (n,)),
        ("B", "float32", (n,)),
    }
    assert all((first[name] == second[name]).all() for name in "AB")


@pytest.mark.parametrize("kind", ORACLE.kinds)
@pytest.mark.parametrize("n", LENGTHS)
def test_a_float32_addition_is_right_in_either_order(kind: str, n: int) -> None:
    """No element of any right answer is beyond the bound."""
    assert set(_wrong(kind, n, "orders").values()) == {0}


@pytest.mark.parametrize("kind", ["random", "cancelling"])
def test_coarser_arithmetic_is_wrong_nearly_everywhere(kind: str) -> None:
    """Half, bfloat16 and TF32 leave the bound in more than nine of ten elements."""
    assert all(wrong > 900 for wrong in _wrong(kind, 1000, "coarser").values())


@pytest.mark.parametrize("kind", ["small-integers", "counting"])
def test_whole_numbers_leave_no_room(kind: str) -> None:
    """Their sums are exact, so the bound is zero."""
    assert not ORACLE.expected(_inputs(kind, 500), {"N": 500})["C"][1].any()


def test_two_units_in_the_last_place_are_already_wrong() -> None:
    """A right answer is within half a unit in the last place, so one two units away is not."""
    inputs, shape = _inputs("random", 1000), {"N": 1000}
    values, bound = ORACLE.expected(inputs, shape)["C"]
    further = inputs["A"] + inputs["B"]
    for _ in range(2):
        further = np.nextafter(further, np.float32(np.inf))
    assert compare("C", further, values, bound).wrong == 1000


def test_the_work_is_one_addition_each() -> None:
    """N floating-point operations."""
    assert ORACLE.work
    assert ORACLE.work({"N": 12})["flops"] == 12
