"""The speed of the model solution against the naive kernel at 512, 1024, 2048 and 4096, and against cuBLAS.

`python -m tests.bench.gpu.speedups FOLDER [--quick]`
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tests.bench.gpu import grading
from tests.bench.gpu.assignments import timing_only
from tests.bench.gpu.grading import MATMUL, errors, stored, table
from tests.bench.gpu.options import parse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.bench.gpu.grading import Grade

DESIGNED = {512: 1.33, 1024: 1.51, 2048: 1.49, 4096: 1.53}
"""Measured on an H100 when this was designed: 16 × 16 tiles against the naive kernel."""

BUDGETS = {512: 0.6, 1024: 0.6, 2048: 2.0, 4096: 10.0}
"""Seconds of timed launches: a round of the largest takes a tenth of a second."""

HEADERS = (
    "size",
    "naive ms",
    "solution ms",
    "speedup",
    "interval",
    "designed",
    "difference",
    "A/A",
    "rounds",
    "GFLOP/s",
    "% of roofline",
    "library ms",
    "solution ÷ library",
)


def row(size: int, graded: Grade) -> list[object]:
    """One size: times are medians of the timed launches, in ms; the library call is cuBLAS's."""
    timing = graded["timing"]
    if not timing or not timing.get("speedup"):
        return [size, "; ".join(errors(graded)) or "not timed", *[None] * (len(HEADERS) - 2)]
    speedup, took = timing["speedup"], timing["milliseconds"]
    share, library = timing.get("roofline_share"), took.get("library")
    control = timing.get("control")
    return [
        size,
        took[timing["baseline"]],
        took["student"],
        speedup["median"],
        f"{speedup['low']:.3f} to {speedup['high']:.3f}",
        DESIGNED[size],
        f"{100 * (speedup['median'] / DESIGNED[size] - 1):+.1f} %",
        control["median"] if control else None,
        timing["rounds"],
        timing["gflops"].get("student"),
        None if share is None else 100 * share,
        library,
        took["student"] / library if library else None,
    ]


def speedup_table(grades: Mapping[int, Grade]) -> str:
    """All sizes, and what they were measured on."""
    devices = dict.fromkeys(graded["backend"]["device"] for graded in grades.values())
    rows = [row(size, graded) for size, graded in grades.items()]
    return f"## Model solution against naive\n\non {', '.join(devices)}\n\n{table(HEADERS, rows)}\n"


def measure(folder: Path, size: int) -> dict[str, Any]:
    """Grade the model solution where products of ``size`` cubed are timed."""
    assignment = timing_only(folder / f"timing-{size}", size=size, budget=BUDGETS[size])
    source = (MATMUL / "solution.cu").read_bytes()
    given = grading.put(folder / f"solution-{size}", {"solution.cu": source})
    batch = grading.grade(assignment, given, folder / f"out-{size}", cache=folder / "cache")
    return batch.grades["solution"]


def main() -> None:
    """One size after the other, then the table."""
    options = parse(__doc__)
    sizes = (512, 1024) if options.quick else tuple(DESIGNED)
    grades = {
        size: stored(options.folder / f"{size}.json", partial(measure, options.folder, size))
        for size in sizes
    }
    grading.report(options.folder, "speedups", speedup_table(grades))


if __name__ == "__main__":
    main()
