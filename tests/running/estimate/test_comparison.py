"""The figures that show how good estimates are, on rows made by hand."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.bench.estimate.comparison import Compared, agreement, compare, rank_correlation, worst
from tests.bench.estimate.corpus import ROOT
from tests.bench.estimate.estimates import Estimated

if TYPE_CHECKING:
    from pathlib import Path

SHAPE = {"n": 1}


def row(kernel: str, measured: float, estimated: float, *, naive: bool = False) -> Compared:
    """A launch beside a naive kernel that takes 10 ms, and is estimated to."""
    return Compared(kernel, "family", SHAPE, measured, estimated, 10.0, 10.0, is_naive=naive)


NAIVE = row("naive", 10.0, 10.0, naive=True)


def test_an_estimate_that_is_right_has_no_error() -> None:
    """A naive kernel's own ratio does not count."""
    figures = agreement([NAIVE, row("a", 5.0, 5.0), row("b", 2.0, 2.0)])
    assert (figures.ratio_median, figures.holds) == (0, 1)
    assert figures.rank_correlation == pytest.approx(1)
    assert (figures.launches, figures.pairs, figures.pairs_right) == (3, 3, 1)
    assert math.isnan(agreement([NAIVE]).ratio_median)


def test_errors_are_those_of_ratios() -> None:
    """Twice the time is half the speed; times that are all off by the same leave ratios as they are."""
    figures = agreement([NAIVE, row("a", 5.0, 10.0)])
    assert (figures.ratio_median, figures.time_median, figures.holds) == (0.5, 0.5, 0)
    scaled = Compared("a", "family", SHAPE, 5.0, 10.0, 10.0, 20.0, is_naive=False)
    assert (scaled.error, scaled.ratio_error, scaled.holds) == (1.0, 0.0, True)


def test_only_pairs_that_clearly_differ_must_be_in_order() -> None:
    """Of one family, at one shape."""
    near, far = row("a", 5.0, 5.2), row("b", 5.2, 5.0)
    assert agreement([near, far]).pairs == 0
    slower = row("c", 6.0, 4.0)
    assert (agreement([near, slower]).pairs, agreement([near, slower]).pairs_right) == (1, 0)
    elsewhere = Compared("d", "family", {"n": 2}, 60.0, 4.0, 10.0, 10.0, is_naive=False)
    assert agreement([near, elsewhere]).pairs == 0


def test_the_worst_are_off_by_most_in_either_direction() -> None:
    """Half as fast is as bad as twice as fast."""
    rows = [row("a", 5.0, 4.9), row("b", 5.0, 20.0), row("c", 5.0, 2.0)]
    assert [one.kernel for one in worst(rows, 2)] == ["b", "c"]


def test_ranks_are_correlated_and_not_values() -> None:
    """Any order that is kept counts as kept."""
    assert rank_correlation([1, 2, 3], [1, 10, 1000]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)


def test_what_has_no_estimate_or_no_naive_kernel_beside_it_is_left_out() -> None:
    """The rest is put side by side by kernel and shape."""
    key = json.dumps(SHAPE)
    names = ("saxpy_naive", "saxpy_vector", "reduction_shared_atomic")
    times = {(name, key): 1.0 for name in names}
    made = [Estimated(name, SHAPE, 2.0) for name in names]
    assert {one.kernel for one in compare(made, times, "corpus")} == {"saxpy_naive", "saxpy_vector"}
    broken = [Estimated("saxpy_naive", SHAPE, problem="too-much-work"), *made[1:]]
    assert compare(broken, times, "corpus") == []


@pytest.mark.slow
def test_the_bench_prints_tables_and_writes_what_is_asked_for(tmp_path: Path) -> None:
    """For a family of few kernels."""
    file = tmp_path / "estimates.json"
    command = [sys.executable, "-m", "tests.bench.estimate", "--quick", "--only", "spmv", "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "| ratio to naive, median error | ≤ 10 % |" in done.stdout
    assert "| spmv | 3 |" in done.stdout
    assert {one["kernel"].split("_")[0] for one in json.loads(file.read_text())} == {"spmv"}
