"""A folder as Gradescope lays one out in its container, with an assignment small enough for a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.mistakes import mistake

REFERENCE = Path(__file__).parents[3] / "reference" / "matmul"
SOLUTION = (REFERENCE / "solution.cu").read_bytes()
RACE = mistake(REFERENCE / "mistakes" / "no_first_barrier.cu")

ASSIGNMENT = """\
id: small
title: A small product
reference: matmul
submission:
  kind: kernel
  kernel: tiledMatMul
  parameters:
    A: in float32[M, K]
    B: in float32[K, N]
    C: out float32[M, N]
    M: int32
    K: int32
    N: int32
  constants: {TILE_SIZE: 16}
  launch:
    block: [TILE_SIZE, TILE_SIZE]
    grid: [ceil(N / TILE_SIZE), ceil(M / TILE_SIZE)]
cases:
  - {id: square, shape: {M: 32, K: 32, N: 32}, tags: [aligned]}
  - {id: edge, shape: {M: 17, K: 18, N: 19}, tags: [non-aligned], visibility: hidden}
rubric:
  - {id: compiles, title: Compiles, points: 10, check: compile}
  - {id: right, title: Right for whole tiles, points: 50, check: output, cases: aligned, needs: [compiles]}
  - {id: edges, title: Right for others, points: 20, check: output, cases: non-aligned, needs: [compiles],
     visibility: after_due_date}
  - {id: barriers, title: Threads wait for each other, points: 20, check: races, needs: [compiles]}
"""

METADATA: dict[str, Any] = {
    "id": 123456,
    "created_at": "2026-11-02T10:30:00.365935-07:00",
    "assignment": {
        "due_date": "2026-11-02T23:00:00.000000-07:00",
        "group_size": 2,
        "group_submission": True,
        "id": 25828,
        "course_id": 1234,
        "late_due_date": None,
        "release_date": "2026-10-01T00:00:00.000000-07:00",
        "title": "A small product",
        "total_points": "100.0",
    },
    "submission_method": "upload",
    "users": [{"email": "ada@example.edu", "id": 1, "name": "Ada Lovelace"}],
    "previous_submissions": [],
}
LATE = METADATA | {
    "created_at": "2026-11-03T06:30:00.000000+00:00"
}  # half past eleven where it was due at eleven
GROUP = METADATA | {
    "users": [*METADATA["users"], {"email": "grace@example.edu", "id": 2, "name": "Grace Hopper"}],
    "previous_submissions": [
        {"submission_time": "2026-11-01T09:00:00.000000-07:00", "score": 60.0, "results": {"tests": []}},
        {"submission_time": "2026-11-01T08:00:00.000000-07:00", "score": "85.0"},
    ],
}


def lay_out(root: Path, files: dict[str, bytes], metadata: object = None, seconds: float = 60.0) -> Path:
    """The folder ``/autograder``, where set-up is done, with what a student handed in."""
    for name in ("source", "submission", "results"):
        (root / name).mkdir(parents=True)
    folder = root / "source" / "assignments" / "small"
    folder.mkdir(parents=True)
    (folder / "assignment.yaml").write_text(ASSIGNMENT, encoding="utf-8")
    about = {"assignment": "small", "seed": 7, "seconds": seconds}
    (root / "source" / "harness.json").write_text(json.dumps(about), encoding="utf-8")
    for name, content in files.items():
        (root / "submission" / name).write_bytes(content)
    written = METADATA if metadata is None else metadata
    (root / "submission_metadata.json").write_text(json.dumps(written), encoding="utf-8")
    return root


def results_of(root: Path) -> dict[str, Any]:
    """The results that were written."""
    results: dict[str, Any] = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
    return results
