"""Grades as the experiments read them, without a GPU."""

from __future__ import annotations

from typing import Any

from tests.bench.gpu import demo_class


def sample_grade(
    *lost: str, ours: str = "", speedup: float | None = 1.5, score: float = 100, **seconds: float
) -> dict[str, Any]:
    """A grade.json with these items lost, or one of ours gone wrong."""
    verdicts = dict.fromkeys(demo_class.ITEMS, "pass") | dict.fromkeys(lost, "fail")
    if ours:
        verdicts[ours] = "error"
    ratio = {"median": speedup, "low": 1.45, "high": 1.55}
    timing = {
        "baseline": "naive",
        "speedup": ratio,
        "control": {"median": 1.001, "low": 0.99, "high": 1.01},
        "settled": True,
        "rounds": 40,
        "dropped": 0,
        "milliseconds": {"naive": 0.42, "student": 0.28, "library": 0.07},
        "gflops": {"student": 7670.0},
        "roofline_share": 0.14,
        "details": {"held_s": 0.4},
    }
    return {
        "verdict": "fail" if lost else "pass",
        "score": score,
        "max_score": 100,
        "error": "",
        "backend": {"name": "gpu", "device": "a GPU"},
        "items": [
            {"id": item, "verdict": verdict, "message": f"{item} says why", "findings": []}
            for item, verdict in verdicts.items()
        ],
        "timing": timing if speedup is not None else {},
        "seconds": {"build": 0.5, "run": 2.0} | seconds,
    }


def run(*, full: bool, speedup: float = 1.25, control: float = 1.0, settled: bool = True) -> dict[str, Any]:
    """Return the record that is kept of one run."""
    return {
        "score": 100 if full else 20,
        "full": full,
        "speedup": speedup,
        "control": control,
        "settled": settled,
        "rounds": 40,
        "dropped": 0,
        "errors": [],
    }
