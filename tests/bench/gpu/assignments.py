"""The tiled product with less around it: assignments for experiments that are about its timing alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from tests.bench.gpu.grading import ASSIGNMENT, ROOT

if TYPE_CHECKING:
    from pathlib import Path

POINTS = 80
"""Of the speedup, beside 10 each for compiling and for one small case."""


def timing_only(
    folder: Path, *, size: int = 1024, none_below: float = 1.0, full_at: float = 1.25, budget: float = 0.6
) -> str:
    """Write an assignment with one small case that times products of ``size`` cubed; gives its path.

    With ``none_below`` equal to ``full_at`` there is one threshold, which decides about all or nothing.
    """
    original = ROOT / "assignments" / ASSIGNMENT / "assignment.yaml"
    wanted: dict[str, Any] = yaml.safe_load(original.read_text("utf-8"))
    items = {item["id"]: item for item in wanted["rubric"]}
    speedup = items["speedup"] | {"points": POINTS, "none_below": none_below, "full_at": full_at}
    small = {"points": 10}
    wanted |= {
        "id": f"timing-{size}",
        "cases": [{"id": "square-32", "shape": {"M": 32, "K": 32, "N": 32}, "tags": ["aligned"]}],
        "timing": wanted["timing"] | {"shape": dict.fromkeys("MKN", size), "budget": budget},
        "rubric": [items["compiles"] | small, items["aligned"] | small, speedup],
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "assignment.yaml").write_text(yaml.safe_dump(wanted, sort_keys=False), "utf-8")
    return str(folder)
