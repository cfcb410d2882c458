"""Results of repeated runs: compact grades, and the tables of scores, flips and the A/A control."""

from __future__ import annotations

from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

from tests.bench.gpu.grading import errors, median_of, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.bench.gpu.grading import Grade

THRESHOLD = 1.25
NEAR_ONE = 0.01


def compact(graded: Grade) -> dict[str, Any]:
    """The part of a grade that the tables need."""
    timing = graded["timing"] or {}
    full = any(item["id"] == "speedup" and item["verdict"] == "pass" for item in graded["items"])
    return {
        "score": graded["score"],
        "full": full,
        "speedup": median_of(graded),
        "control": median_of(graded, "control"),
        "settled": timing.get("settled"),
        "rounds": timing.get("rounds"),
        "dropped": timing.get("dropped"),
        "errors": errors(graded),
    }


def scores_table(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Runs of the same file: the scores that it got, and how far the speedups are apart."""
    headers = (
        "what",
        "runs",
        "scores",
        "speedup, mean",
        "least",
        "most",
        "spread",
        "settled",
        "errors of ours",
    )
    return table(headers, [[name, *_spread(each)] for name, each in runs.items()])


def _spread(runs: Sequence[Mapping[str, Any]]) -> list[object]:
    good = [run for run in runs if not run["errors"]]
    scores = sorted({run["score"] for run in good})
    speedups = [run["speedup"] for run in good if run["speedup"] is not None]
    settled = sum(bool(run["settled"]) for run in good)
    counted = [f"{settled} of {len(good)}", len(runs) - len(good)]
    listed = ", ".join(f"{score:g}" for score in scores)
    if not speedups:
        return [len(runs), listed, None, None, None, None, *counted]
    spread = f"{100 * pstdev(speedups) / fmean(speedups):.2f} %"
    return [len(runs), listed, fmean(speedups), min(speedups), max(speedups), spread, *counted]


def flips(runs: Sequence[Mapping[str, Any]], share: float) -> tuple[int, int]:
    """Count the judged runs that differ from what their true ratio deserves, and all judged runs."""
    judged = [run for run in runs if not run["errors"]]
    return sum(run["full"] != (share >= 1) for run in judged), len(judged)


def ratios_table(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """A row per intended share of the threshold: what it is by the mean over its runs, and the flips.

    A flip is a run that is credited otherwise than that mean deserves: the calibration hits the intended
    share only within a percent or two.
    """
    headers = (
        "intended",
        "measured ÷ threshold",
        "runs",
        "full credit",
        "flips",
        "flip rate",
        "not settled",
        "rounds, mean",
        "errors of ours",
    )
    return table(headers, [_ratio_row(name, each) for name, each in runs.items()])


def _ratio_row(name: str, runs: Sequence[Mapping[str, Any]]) -> list[object]:
    good = [run for run in runs if not run["errors"] and run["speedup"] is not None]
    if not good:
        return [name, None, len(runs), *[None] * 5, len(runs)]
    share = fmean(run["speedup"] for run in good) / THRESHOLD
    flipped, judged = flips(runs, share)
    return [
        name,
        share,
        len(runs),
        sum(run["full"] for run in good),
        flipped,
        f"{100 * flipped / judged:.0f} %",
        sum(not run["settled"] for run in good),
        round(fmean(run["rounds"] for run in good)),
        len(runs) - len(good),
    ]


def control_row(name: str, runs: Sequence[Mapping[str, Any]]) -> list[object]:
    """The baseline against itself: in how many runs it is 1.00 within 1 %."""
    found = [run["control"] for run in runs if run["control"] is not None]
    if not found:
        return [name, 0, None, None, None, None]
    near = sum(abs(value - 1) <= NEAR_ONE for value in found)
    return [name, len(found), f"{100 * near / len(found):.1f} %", fmean(found), min(found), max(found)]


def control_table(parts: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """A row per part of the experiment."""
    headers = ("A/A", "runs", "within 1 %", "mean", "least", "most")
    return table(headers, [control_row(name, runs) for name, runs in parts.items()])
