"""An output of a single number, or a few wrong ones, is explained where that is no accident."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.explaining import NO_HYPOTHESES, WrongOutput, fitting
from grader.model import Launch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Array = NDArray[Any]

DRAWN = np.random.default_rng(7)
THREADS, BLOCKS, LENGTH = 64, 4, 700
INPUTS: dict[str, Array] = {
    "A": DRAWN.integers(1, 60_000, LENGTH),
    "B": DRAWN.integers(1, 60_000, LENGTH),
    "R": np.array([1_000_000]),
}
TERMS = (INPUTS["A"] * INPUTS["B"]).astype(np.int64)
INDEX = np.arange(LENGTH)
BLOCK, THREAD = INDEX // THREADS % BLOCKS, INDEX % THREADS


def product(inputs: Mapping[str, Array]) -> Array:
    """Return R with the sum of products added."""
    added: Array = inputs["R"] + (inputs["A"].astype(np.float64) * inputs["B"]).sum()
    return added


def first(got: float, bound: float = 0.0, dtype: type = np.int64) -> str:
    """The mistake that is named first for a wrong result."""
    launch = Launch((BLOCKS, 1, 1), (THREADS, 1, 1))
    output = WrongOutput(
        "R",
        np.array([got], dtype),
        product(INPUTS),
        bound,
        np.zeros(1, np.bool_),
        inputs=tuple(INPUTS.items()),
        launch=launch,
        answer=product,
        store_bytes=8,
    )
    return next(fitting(NO_HYPOTHESES, output), "")


@pytest.mark.parametrize(
    ("mistake", "added"),
    [
        ("first-block-of-sum", TERMS[BLOCK == 0].sum()),
        ("one-block-of-sum", TERMS[BLOCK == BLOCKS - 1].sum() - 1_000_000),
        ("end-of-sum-left-out", TERMS[1:].sum()),
        ("end-of-sum-left-out", TERMS[:-1].sum()),
        ("tail-not-counted", TERMS[: LENGTH // THREADS * THREADS].sum()),
        ("first-round-only", TERMS[: BLOCKS * THREADS].sum()),
        ("stride-of-one-block", (TERMS * np.minimum(INDEX // THREADS + 1, BLOCKS)).sum()),
        ("last-step-missing", TERMS[THREAD % 2 == 0].sum()),
        ("counted-more-than-once", 2 * TERMS.sum()),
        ("counted-more-than-once", (TERMS * (1 + np.bitwise_count(THREAD))).sum()),
        ("operand-twice", (INPUTS["A"] ** 2).sum()),
        ("input-not-used", TERMS.sum() - 1_000_000),
        ("integer-overflow", TERMS.sum() - 3 * 2**32),
        ("start-of-formula", TERMS.sum() + BLOCKS * THREADS),
        ("added-in-float", TERMS.sum() + TERMS.sum() // 2**24),
    ],
)
def test_one_whole_number_tells_its_mistake(mistake: str, added: int) -> None:
    """Large numbers do not come out by accident."""
    assert first(1_000_000 + int(added)) == mistake


def test_one_number_with_a_wide_bound_tells_nothing() -> None:
    """Any mistake comes close to it."""
    lacking = 1_000_000 + float(TERMS[:-1].sum())
    assert first(lacking, float(TERMS[-1]) / 100, np.float64) == ""
    assert first(lacking, float(TERMS[-1]) / 1e6, np.float64) == "end-of-sum-left-out"


def test_a_number_that_no_mistake_gives_has_no_name() -> None:
    """An arbitrary number gets no explanation."""
    assert first(int(TERMS.sum()) // 3 + 12_345) == ""
