"""The histogram oracle: exact counts, the rule for bins, and inputs that show mistakes at the edges."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from grader.grading.oracle import load_oracle

Array: TypeAlias = NDArray[Any]

ORACLE = load_oracle(Path(__file__).parents[2] / "reference" / "histogram")
SHAPES = ((1, 1), (1, 256), (7, 10), (1000, 10), (500, 200), (2048, 16))


def _inputs(kind: str, n: int, bins: int) -> dict[str, Array]:
    return ORACLE.inputs(kind, {"N": n, "B": bins}, np.random.default_rng(5))


@pytest.mark.parametrize("kind", ORACLE.kinds)
@pytest.mark.parametrize(("n", "bins"), SHAPES)
def test_every_value_is_counted_once_and_exactly(kind: str, n: int, bins: int) -> None:
    """N bytes in, B counts out that start from zero, add up to N and have no room for error."""
    inputs = _inputs(kind, n, bins)
    assert [(a.dtype.name, a.shape) for a in inputs.values()] == [("uint8", (n,)), ("int32", (bins,))]
    assert not inputs["counts"].any()
    counts, bound = ORACLE.expected(inputs, {"N": n, "B": bins})["counts"]
    assert (counts.shape, counts.sum()) == ((bins,), n)
    assert not bound.any()


@pytest.mark.parametrize("bins", [1, 3, 10, 16, 129, 200, 256])
def test_a_value_belongs_to_the_bin_that_the_hand_out_defines(bins: int) -> None:
    """⌊v · B / 256⌋, counted here by hand."""
    inputs = {"values": np.arange(256, dtype=np.uint8)}
    by_hand = [0.0] * bins
    for value in range(256):
        by_hand[value * bins // 256] += 1
    assert ORACLE.expected(inputs, {"N": 256, "B": bins})["counts"][0].tolist() == by_hand


@pytest.mark.parametrize("bins", [1, 3, 10, 16, 129, 200, 256])
def test_edges_are_the_first_and_last_value_of_each_bin(bins: int) -> None:
    """All bins are hit, each by exactly its two ends (or its only value)."""
    values = _inputs("edges", 2 * bins, bins)["values"].astype(int)
    for number in range(bins):
        belonging = [value for value in range(256) if value * bins // 256 == number]
        assert set(values[values * bins // 256 == number]) == {belonging[0], belonging[-1]}


def test_one_value_goes_into_one_bin() -> None:
    """All threads want the same one."""
    counts = ORACLE.expected(_inputs("one-value", 400, 64), {"N": 400, "B": 64})["counts"][0]
    assert sorted(counts)[-2:] == [0, 400]


def test_skewed_values_fill_the_first_bins_and_reach_the_last() -> None:
    """Half of them lie in the first sixteenth of the range, and 255 is among them."""
    values = _inputs("skewed", 2000, 16)["values"]
    assert (values < 16).mean() > 0.5
    assert (values == 255).any()


def test_the_work_has_no_floating_point() -> None:
    """Counting is integer arithmetic."""
    assert ORACLE.work
    assert ORACLE.work({"N": 12, "B": 3})["flops"] == 0
