"""The agreement of estimated times with measured ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from grader.running.estimate import ERROR_BOUND
from tests.bench.estimate import measured
from tests.bench.estimate.corpus import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tests.bench.estimate.estimates import Estimated
    from tests.bench.estimate.records import Shape

APART = 0.15
"""Two kernels whose measured times differ by more than this share must come in the right order."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A launch, its times in milliseconds, and those of the family's naive kernel at the same shape."""

    kernel: str
    family: str
    shape: Shape
    measured: float
    estimated: float
    naive_measured: float
    naive_estimated: float
    is_naive: bool
    limits: tuple[tuple[str, float], ...] = ()

    @property
    def error(self) -> float:
        """By how much of the measured time the estimate is longer."""
        return self.estimated / self.measured - 1

    @property
    def ratio(self) -> float:
        """The measured speedup over the naive kernel."""
        return self.naive_measured / self.measured

    @property
    def estimated_ratio(self) -> float:
        """The estimated speedup over the naive kernel."""
        return self.naive_estimated / self.estimated

    @property
    def ratio_error(self) -> float:
        """By how much of the measured ratio the estimated one is larger."""
        return self.estimated_ratio / self.ratio - 1

    @property
    def holds(self) -> bool:
        """Return whether the measured ratio lies in the interval that a report shows."""
        return 1 / (1 + ERROR_BOUND) <= self.ratio / self.estimated_ratio <= 1 + ERROR_BOUND


@dataclass(frozen=True, slots=True)
class Agreement:
    """The figures of `docs/estimate.md`. Those of ratios leave naive kernels out, whose ratio is 1."""

    launches: int
    ratio_median: float
    ratio_ninetieth: float
    rank_correlation: float
    pairs: int
    pairs_right: float
    holds: float
    time_median: float


def read_times(file: Path, part: str) -> dict[tuple[str, str], float]:
    """Measured milliseconds by kernel and shape."""
    rows = measured.read(file)[part]
    return {(kernel, _key(row["shape"])): row["ms"] for kernel, launches in rows.items() for row in launches}


def compare(estimates: Iterable[Estimated], times: dict[tuple[str, str], float], part: str) -> list[Compared]:
    """Put both side by side; left out is what was not measured, and what no naive kernel is there for."""
    kernels = {kernel.name: kernel for kernel in PARTS[part]}
    estimated = {(each.kernel, _key(each.shape)): each for each in estimates if not each.problem}
    rows = []
    for (name, shape), one in estimated.items():
        naive = (kernels[name].naive, shape) if name in kernels else None
        if naive in estimated and naive in times and (name, shape) in times:
            rows.append(
                Compared(
                    name,
                    kernels[name].family,
                    one.shape,
                    times[name, shape],
                    one.milliseconds,
                    times[naive],
                    estimated[naive].milliseconds,
                    is_naive=naive[0] == name,
                    limits=one.limits,
                )
            )
    return rows


def agreement(rows: Sequence[Compared]) -> Agreement:
    """The figures of some launches; those of an empty list are nan."""
    others = [row for row in rows if not row.is_naive]
    errors = [abs(row.ratio_error) for row in others]
    pairs = [in_order(*pair) for pair in combinations(rows, 2) if _are_apart(*pair)]
    return Agreement(
        launches=len(rows),
        ratio_median=_quantile(errors, 0.5),
        ratio_ninetieth=_quantile(errors, 0.9),
        rank_correlation=rank_correlation(
            [row.ratio for row in others], [row.estimated_ratio for row in others]
        ),
        pairs=len(pairs),
        pairs_right=_share(pairs),
        holds=_share([row.holds for row in others]),
        time_median=_quantile([abs(row.error) for row in rows], 0.5),
    )


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's: the correlation of ranks, where no two values are the same."""
    if len(first) < 2:
        return float("nan")
    ranks, others = (np.argsort(np.argsort(values)).astype(np.float64) for values in (first, second))
    return float(np.corrcoef(ranks, others)[0, 1])


def in_order(one: Compared, other: Compared) -> bool:
    """Return whether the faster of two launches is also estimated to be the faster one."""
    return (one.measured < other.measured) == (one.estimated < other.estimated)


def _are_apart(one: Compared, other: Compared) -> bool:
    """Return whether two launches do the same task at the same shape, in clearly different times."""
    low, high = sorted((one.measured, other.measured))
    return one.family == other.family and one.shape == other.shape and high > (1 + APART) * low


def by_family(rows: Sequence[Compared]) -> dict[str, list[Compared]]:
    """The launches of each family, in the order of the corpus."""
    families: dict[str, list[Compared]] = {}
    for row in rows:
        families.setdefault(row.family, []).append(row)
    return families


def worst(rows: Sequence[Compared], count: int) -> list[Compared]:
    """The launches whose ratios are off by most, whether they are too large or too small."""
    return sorted(rows, key=lambda row: -abs(np.log1p(row.ratio_error)))[:count]


def _quantile(values: Sequence[float], share: float) -> float:
    return float(np.quantile(values, share)) if values else float("nan")


def _share(truths: Sequence[bool]) -> float:
    return sum(truths) / len(truths) if truths else float("nan")


def _key(shape: Shape) -> str:
    return json.dumps(dict(shape), sort_keys=True)
