"""Repairs for hazards in launches of programs and functions: tried, and reported with the finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.kinds.host_runs.builds import MOST_BYTES, MOST_LAUNCHES, Trials
from grader.model import Finding, FindingKind, Launch, Run, Severity, Submission
from grader.running.device.observation import EndedLaunch, KernelRun, MemoryImage
from grader.simulation.emulator.repair import RepairCase
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import CheckResult

YAML = """
id: shift
title: Shift
submission: {kind: program, seconds: 2, emulator_seconds: 5}
cases:
  - {id: plain, arguments: ["64"]}
  - {id: secret, arguments: ["32"], visibility: hidden}
rubric:
  - {id: races, points: 10, check: races}
"""
PROGRAM = r"""#include <cstdlib>
__global__ void reverse(int *p) {
    __shared__ int s[64];
    s[threadIdx.x] = p[threadIdx.x];
    p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
template <int N> __global__ void rotate(const int *from, int *to) {
    __shared__ int s[N];
    s[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = s[(threadIdx.x + 1) % N];
}
int main(int, char **words) {
    int n = std::atoi(words[1]), *device, *other;
    cudaMalloc(&device, n * sizeof(int));
    cudaMalloc(&other, n * sizeof(int));
    cudaMemset(device, 0, n * sizeof(int));
    rotate<32><<<1, 32>>>(device, other);
    reverse<<<1, n>>>(device);
    cudaMemset(device, 1, n * sizeof(int));
    reverse<<<1, n>>>(device);
    rotate<16><<<1, 16>>>(device, other);
    cudaDeviceSynchronize();
    cudaFree(device);
    cudaFree(other);
}
"""
BARRIER = "add `__syncthreads()` between lines 4 and 5: tried, and the race is gone"


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox; the stand-in is compiled once for this file's tests."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


def _races(tools: Tools, folder: Path, source: str) -> CheckResult:
    (folder / "assignment.yaml").write_text(YAML)
    plan = pipeline.make_plan(load_assignment(folder), 1, tools, visible_only=False)
    grade = pipeline.grade(plan, Submission("ada", "shift.cu", source.encode(), "0" * 8), tools)
    return grade.items[0].result


def test_a_barrier_that_is_missing_in_a_launch_is_tried(tools: Tools, tmp_path: Path) -> None:
    """The finding of the visible case shows where it goes; trials begin with the memory of the launch."""
    findings = _races(tools, tmp_path, PROGRAM).findings
    assert {(f.line, f.other_line, f.repair) for f in findings if f.case} == {(5, 4, BARRIER)}


def test_all_instances_of_a_template_share_a_repair(tools: Tools, tmp_path: Path) -> None:
    """A race that two of them have is reported once, with the repair that both were tried with."""
    source = PROGRAM.replace("    __syncthreads();\n", "", 1)
    repairs = {f.line: f.repair for f in _races(tools, tmp_path, source).findings if f.case}
    assert "between lines 9 and 10" in repairs[10]


def _ended(*findings: Finding, size: int = 64, kernel: str = "k") -> EndedLaunch:
    launch = Launch((1, 1, 1), (32, 1, 1))
    memory = np.zeros(size, np.uint8)
    image = MemoryImage(memory, memory, (), (), {})
    return EndedLaunch(KernelRun(kernel, 0, launch, Run()), RepairCase(launch, (), findings, 1), image)


def test_what_is_kept_for_trials_is_bounded() -> None:
    """Launches that show no hazard are not kept; of others up to a number, within a limit of memory."""
    race, remark = Finding(FindingKind.RACE), Finding(FindingKind.RACE, severity=Severity.INFO)
    trials = Trials()
    trials.keep(_ended(remark))
    assert trials.of_kernel == {}
    for _ in range(MOST_LAUNCHES + 1):
        trials.keep(_ended(race))
    assert {name: len(kept) for name, kept in trials.of_kernel.items()} == {"k": MOST_LAUNCHES}
    trials.keep(_ended(race, size=MOST_BYTES, kernel="large"))
    assert trials.of_kernel["large"] == []
    assert trials.bytes <= MOST_BYTES
