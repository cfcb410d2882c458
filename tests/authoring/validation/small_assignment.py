"""A whole assignment in a folder of a test's own: y = 2 x, as small as one can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SPEC = """\
id: double
title: Twice a vector
reference: double
submission:
  kind: kernel
  kernel: twice
  parameters:
    x: in float32[N]
    y: out float32[N]
    N: int32
  launch:
    block: [32]
    grid: [ceil(N / 32)]
cases:
  - {id: whole, shape: {N: 64}, tags: [aligned]}
  - {id: odd, shape: {N: 45}}
  - {id: one, shape: {N: 1}, visibility: hidden}
rubric:
  - {id: compiles, points: 10, check: compile}
  - {id: right, points: 60, check: output, needs: [compiles]}
  - {id: memory, points: 30, check: memory, needs: [compiles, right]}
"""

ORACLE = """\
import numpy as np

KINDS = ("random",)


def inputs(kind, shape, rng):
    return {"x": rng.uniform(0.5, 2.0, shape["N"]).astype(np.float32)}


def expected(inputs, shape):
    twice = 2 * inputs["x"].astype(np.float64)
    return {"y": (twice, np.zeros_like(twice))}


def orders(inputs, shape):
    yield "doubled", {"y": inputs["x"] + inputs["x"]}


def coarser(inputs, shape):
    yield "in half precision", {"y": 2 * inputs["x"].astype(np.float16)}
"""

SOLUTION = """\
__global__ void twice(const float* x, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        y[i] = x[i] + x[i];
    }
}
"""

TABLE = """\
no_guard.cu:
  title: no guard
  wrong: Threads beyond the end store behind the vector.
  loses: [memory]
"""


def write(folder: Path, *, solution: str = SOLUTION, table: str = TABLE) -> Path:
    """Write it; gives the folder of the assignment."""
    home, staff = folder / "assignments/double", folder / "reference/double"
    home.mkdir(parents=True)
    (staff / "mistakes").mkdir(parents=True)
    (home / "assignment.yaml").write_text(SPEC)
    (home / "skeleton.cu").write_text("__global__ void twice(const float* x, float* y, int N) {\n}\n")
    (staff / "oracle.py").write_text(ORACLE)
    (staff / "solution.cu").write_text(solution)
    (staff / "mistakes/mistakes.yaml").write_text(table)
    (staff / "mistakes/no_guard.cu").write_text(SOLUTION.replace("if (i < N) ", ""))
    return home
