"""Whole assignments in a folder of a test's own: y = 2 x as a kernel, and as a program."""

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


PROGRAM_SPEC = """\
id: double
title: Twice a vector, a program
reference: double
submission: {kind: program, emulator_seconds: 20}
cases:
  - {id: whole, arguments: [64]}
  - {id: odd, arguments: [45]}
rubric:
  - {id: compiles, points: 10, check: compile}
  - {id: right, points: 40, check: text, needs: [compiles], cases: whole, matches: "^sum 4032$"}
  - {id: odd, points: 20, check: text, needs: [compiles], cases: odd, matches: "^sum 1980$"}
  - {id: memory, points: 10, check: memory, needs: [compiles, right]}
  - {id: host, points: 10, check: host, needs: [compiles, right]}
  - {id: tidy, points: 10, check: host, severity: info, needs: [compiles, right]}
"""

PROGRAM = """\
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void twice(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] + x[i];
}

int main(int, char** arguments) {
    int n = std::atoi(arguments[1]);
    std::vector<float> host(n);
    for (int i = 0; i < n; ++i) host[i] = i;
    float* x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    twice<<<(n + 31) / 32, 32>>>(x, n);
    cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(x);
    float sum = 0;
    for (float one : host) sum += one;
    std::printf("sum %g\\n", sum);
}
"""

EQUIVALENT = """\
- {mutant: coarser-arithmetic-29fbd923, why: The numbers are whole and small.}
- {mutant: grid-and-block-exchanged-837ef7b2, why: Many small blocks have as many threads.}
"""


def write_program(folder: Path) -> Path:
    """Write the program's assignment, without known mistakes; gives its folder."""
    home, staff = folder / "assignments/double", folder / "reference/double"
    home.mkdir(parents=True)
    (staff / "mistakes").mkdir(parents=True)
    (home / "assignment.yaml").write_text(PROGRAM_SPEC)
    (staff / "oracle.py").write_text(ORACLE)
    (staff / "solution.cu").write_text(PROGRAM)
    (staff / "mistakes/mistakes.yaml").write_text("{}\n")
    (staff / "mistakes/equivalent.yaml").write_text(EQUIVALENT)
    return home
