"""A whole program that reverses eight numbers, and its grading on the emulator: what files of tests share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Grade, Submission

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import CheckResult
    from grader.toolchain.nvcc import Tools

Graded: TypeAlias = Callable[[str], Grade]

YAML = """
id: shift
title: Shift
submission: {kind: program, seconds: 2, emulator_seconds: 5}
cases:
  - {id: plain}
rubric:
  - {id: ends, points: 5, check: exit, status: 0}
  - {id: says, points: 5, check: text, exact: "8 7 6 5 4 3 2 1\\n"}
  - {id: races, points: 10, check: races}
  - {id: memory, points: 10, check: memory}
  - {id: host, points: 10, check: host}
"""
RIGHT = r"""#include <cstdio>
__global__ void reverse(int *p) {
    __shared__ int s[8];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[7 - threadIdx.x];
}
int main() {
    int host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *device;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    reverse<<<1, 8>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 8; ++i) std::printf("%d%c", host[i], i < 7 ? ' ' : '\n');
    cudaFree(device);
}
"""


def grading(tools: Tools, folder: Path) -> Graded:
    """Function that grades a program on the emulator; the assignment is written into the folder."""
    (folder / "assignment.yaml").write_text(YAML)
    plan = pipeline.make_plan(load_assignment(folder), 1, tools, visible_only=False)

    def grade(source: str) -> Grade:
        return pipeline.grade(plan, Submission("ada", "shift.cu", source.encode(), "0" * 8), tools)

    return grade


def results_of(grade: Grade) -> dict[str, CheckResult]:
    """The results of the items by their ids."""
    return {item.result.item.id: item.result for item in grade.items}
