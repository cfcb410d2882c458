"""On a GPU (`pytest -m gpu`): limits that a program sets and asks for, beside what is emulated."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission
from grader.running.backends import prepare
from grader.toolchain.gpu import devices
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(900)]

LOG = logging.getLogger(__name__)
"""Log of what both answered: `pytest -o log_cli=true --log-cli-level=INFO`."""

YAML = """
id: limits
title: Limits
submission: {kind: program, seconds: 10, emulator_seconds: 5}
cases: [{id: plain}]
rubric:
  - {id: ends, points: 1, check: exit, status: 0}
"""
PROGRAM = r"""#include <cstdio>
__global__ void takes_heap() { free(malloc(16)); }
void set(const char *name, cudaLimit which, size_t value) {
    std::printf("%s %zu: %s\n", name, value, cudaGetErrorName(cudaDeviceSetLimit(which, value)));
    cudaGetLastError();
}
void get(const char *name, cudaLimit which) {
    size_t value = 0;
    cudaError_t code = cudaDeviceGetLimit(&value, which);
    std::printf("%s is %zu: %s\n", name, value, cudaGetErrorName(code));
    cudaGetLastError();
}
int main() {
    get("heap", cudaLimitMallocHeapSize), get("stack", cudaLimitStackSize);
    // How much text a device keeps at first is its own affair: 8650752 bytes on an H100, 1 MiB by the guide.
    set("heap", cudaLimitMallocHeapSize, 32 << 20), get("heap", cudaLimitMallocHeapSize);
    set("heap", cudaLimitMallocHeapSize, 1000), get("heap", cudaLimitMallocHeapSize);
    set("heap", cudaLimitMallocHeapSize, size_t{1} << 50);
    set("stack", cudaLimitStackSize, 4096), get("stack", cudaLimitStackSize);
    set("stack", cudaLimitStackSize, 1000), get("stack", cudaLimitStackSize);
    set("stack", cudaLimitStackSize, size_t{1} << 32);
    set("text", cudaLimitPrintfFifoSize, 2 << 20), get("text", cudaLimitPrintfFifoSize);
    set("text", cudaLimitPrintfFifoSize, size_t{1} << 50);
    set("no such limit", (cudaLimit)99, 1), get("no such limit", (cudaLimit)99);
    takes_heap<<<1, 1>>>();
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    set("heap in use", cudaLimitMallocHeapSize, 64 << 20);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceReset()));
    get("heap", cudaLimitMallocHeapSize);
}
"""


def test_limits_equal_those_of_a_device(tmp_path: Path) -> None:
    """Call by call: codes and values."""
    (tmp_path / "assignment.yaml").write_text(YAML)
    assignment = load_assignment(tmp_path)
    tools = Tools(find_toolchain(), LocalSandbox(), tmp_path / "builds")
    on_gpu = prepare("gpu", tools, devices.visible(devices.find_gpus()))
    answers = []
    for plan in (
        pipeline.make_plan(assignment, 1, tools, visible_only=False, backend=on_gpu),
        pipeline.make_plan(assignment, 1, tools, visible_only=False),
    ):
        grade = pipeline.grade(plan, Submission("ada", "limits.cu", PROGRAM.encode(), "0" * 8), tools)
        assert grade.evidence is not None
        (case,) = grade.evidence.cases
        assert case.program is not None
        answers.append(case.program.stdout.decode().splitlines())
        LOG.info("%s\n%s", grade.device, "\n".join(answers[-1]))
    assert answers[0] == answers[1]
