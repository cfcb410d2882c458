"""Programs that capture a stream and launch its graph, on the emulator: each launch is seen as any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.model import Grade

SUM_YAML = """
id: sum
title: A sum, step by step
reference: matmul
submission: {kind: program, seconds: 5, emulator_seconds: 10}
cases:
  - {id: plain}
rubric:
  - {id: sum, points: 10, check: text, numbers: [{name: last, after: "last", is: 21}]}
  - id: stores
    points: 5
    check: traffic
    metric: global_store_bytes
    kernel: add
    of: 1200
    at_most: 1
  - {id: races, points: 5, check: races}
  - {id: memory, points: 5, check: memory}
  - {id: host, points: 5, check: host}
"""
SUM = r"""#include <cstdio>
__global__ void add(float *x, const float *y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += factor * y[i];
}
int main() {
    const int n = 100, bytes = n * sizeof(float);
    float *x, *y, *h;
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaMallocHost(&h, bytes), cudaMalloc(&x, bytes), cudaMalloc(&y, bytes), cudaStreamCreate(&s);
    for (int i = 0; i < n; ++i) h[i] = 2;
    cudaMemset(x, 0, bytes);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(y, h, bytes, cudaMemcpyHostToDevice, s);
    add<<<1, 128, 0, s>>>(x, y, 3.5f, n);
    if (cudaStreamEndCapture(s, &graph) != cudaSuccess) std::puts("not captured");
    cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
    for (int step = 0; step < 3; ++step) cudaGraphLaunch(exec, s);
    cudaStreamSynchronize(s);
    cudaMemcpy(h, x, bytes, cudaMemcpyDeviceToHost);
    std::printf("last %g\n", h[n - 1]);
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph), cudaStreamDestroy(s);
    cudaFree(x), cudaFree(y), cudaFreeHost(h);
}
"""


@pytest.fixture
def graded(tmp_path: Path) -> Callable[[str], Grade]:
    """The grade of a program."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    (tmp_path / "assignment.yaml").write_text(SUM_YAML)
    plan = pipeline.make_plan(load_assignment(tmp_path), 1, tools, visible_only=False)

    def grade(source: str) -> Grade:
        return pipeline.grade(plan, Submission("ada", "sum.cu", source.encode(), "0" * 8), tools)

    return grade


def _failed(grade: Grade) -> dict[str, set[int | None]]:
    """The items that failed, with the lines of their findings."""
    results = [item.result for item in grade.items if item.result.verdict is not Verdict.PASS]
    assert all(result.verdict is Verdict.FAIL for result in results)
    return {result.item.id: {finding.line for finding in result.findings} for result in results}


def test_a_graph_that_is_launched_three_times_is_three_launches(graded: Callable[[str], Grade]) -> None:
    """Their stores are counted, and none in the capture."""
    assert _failed(graded(SUM)) == {}
    assert "stores" in _failed(graded(SUM.replace("step < 3", "step < 4")))


@pytest.mark.parametrize(
    ("right", "wrong", "failed"),
    [
        ("if (i < n) x[i]", "x[i]", {"memory": {4}}),
        ("if (i < n) x[i] +=", "if (i < n) x[0] +=", {"races": {4}}),
        ("cudaMemset(x, 0, bytes);", "", {"memory": {4}}),
        ("(y, h, bytes,", "(y, h, 2 * bytes,", {"host": {16}}),
    ],
)
def test_a_kernel_of_a_graph_is_judged_as_any_other(
    right: str, wrong: str, failed: dict[str, set[int]], graded: Callable[[str], Grade]
) -> None:
    """With its own lines."""
    lines_of = _failed(graded(SUM.replace(right, wrong)))
    assert {item: lines for item, lines in lines_of.items() if item in failed} == failed


def test_a_launch_outside_the_captured_stream_is_reported_with_its_line(
    graded: Callable[[str], Grade],
) -> None:
    """Though the program asks for no error, and ends well."""
    grade = graded(SUM.replace("<<<1, 128, 0, s>>>", "<<<1, 128>>>"))
    assert grade.cause is not None
    assert (grade.cause.code, grade.cause.line) == ("call-failed", 17)
    assert "a capturing blocking stream" in grade.cause.message
