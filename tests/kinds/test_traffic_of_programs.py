"""The traffic of launches of programs and functions: counted kernel by kernel, beside the staff's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError, UsageError
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.reports import record_json
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import CheckResult

FUNCTION = """
id: scale
title: Scale
reference: scaling
submission: {kind: function, function: scale, pointers: device, seconds: 2, emulator_seconds: 5,
  parameters: {x: 'in float32[N]', y: 'out float32[N]', N: int32}}
cases:
  - {id: odd, shape: {N: 55}}
  - {id: hidden, shape: {N: 7}, visibility: hidden}
rubric:
"""
BESIDE_NAIVE = (
    "  - {id: reuse, points: 10, check: traffic, metric: global_load_bytes, baseline: naive, at_most: 0.5}\n"
)
ABSOLUTE = """
  - {id: once, points: 10, check: traffic, cases: odd, metric: global_load_bytes, kernel: product, of: 4 * N,
     at_most: 1}
"""
ORACLE = """
import numpy as np
KINDS = ("random",)
def inputs(kind, shape, rng):
    return {"x": rng.integers(-99, 99, shape["N"]).astype(np.float32)}
def expected(inputs, shape):
    return {"y": (3.0 * inputs["x"].astype(np.float64), np.zeros(shape["N"]))}
"""
SOURCE = """
__global__ void product(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 3 * x[i];
}
extern "C" void scale(const float *x, float *y, int n) {
    product<<<(n + 31) / 32, 32>>>(x, y, n);
}
"""
NAIVE = SOURCE.replace(
    "y[i] = 3 * x[i];", "for (int k = 0; k < 3; ++k) y[i] += ((volatile const float *)x)[i];"
)
NAIVE = NAIVE.replace("if (i < n)", "if (i < n) y[i] = 0;\n    if (i < n)").replace("product", "sum")


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox; the stand-in is compiled once for this file's tests."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


def _graded(
    tools: Tools, folder: Path, items: str, source: str, naive: str = NAIVE
) -> dict[str, CheckResult]:
    (folder / "assignments/scale").mkdir(parents=True)
    (folder / "reference/scaling/scale").mkdir(parents=True)
    (folder / "reference/scaling/oracle.py").write_text(ORACLE)
    (folder / "reference/scaling/scale/naive.cu").write_text(naive)
    (folder / "assignments/scale/assignment.yaml").write_text(FUNCTION + items)
    assignment = load_assignment(folder / "assignments/scale")
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=False)
    grade = pipeline.grade(plan, Submission("ada", "scale.cu", source.encode(), "0" * 8), tools)
    assert grade.error == ""
    assert record_json.load(record_json.dump(grade)).evidence == grade.evidence
    return {item.result.item.id: item.result for item in grade.items}


def test_a_function_is_compared_with_the_staffs_and_with_an_expression(tools: Tools, tmp_path: Path) -> None:
    """The staff's reads every element three times."""
    results = _graded(tools, tmp_path, BESIDE_NAIVE + ABSOLUTE, SOURCE)
    assert [result.verdict for result in results.values()] == [Verdict.PASS, Verdict.PASS]
    assert results["once"].message == (
        "`product` reads 220 bytes of global memory; `4 * N` is 220: 100.0 %, at most 100 % asked"
    )
    assert (
        "reads 220 bytes of global memory in the visible cases; the naive kernel reads 6"
        in results["reuse"].message
    )


def test_too_much_traffic_names_the_lines_and_the_arrays(tools: Tools, tmp_path: Path) -> None:
    """In the student's file, by the student's names, in the largest visible case."""
    source = SOURCE.replace(
        "3 * x[i]", "3 * ((volatile const float *)x)[i] + 0 * ((volatile const float *)x)[0]"
    )
    result = _graded(tools, tmp_path, ABSOLUTE, source)["once"]
    assert result.verdict is Verdict.FAIL
    assert [(f.file, f.line, f.message) for f in result.findings[1:]] == [
        ("scale.cu", 4, "`product` reads all 440 bytes of global memory from `x` in case `odd`")
    ]


@pytest.mark.parametrize(
    ("naive", "reason"),
    [
        ("int scale;", "naive.cu does not build"),
        ('extern "C" void scale(const float *, float *, int) { }', "naive.cu does not run in case odd"),
    ],
)
def test_a_baseline_that_cannot_be_run_is_no_mistake_of_the_student(
    tools: Tools, tmp_path: Path, naive: str, reason: str
) -> None:
    """The error comes before any submission is graded."""
    with pytest.raises(OurError, match=reason):
        _graded(tools, tmp_path, BESIDE_NAIVE, SOURCE, naive)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("of: 4 * Q", "`Q` is no size of case `odd`"),
        ("of: 4 +", "in `4 \\+`"),
        ("metric: global_load_bytes", "expected a key `baseline` or `of`"),
        ("of: N, baseline: naive", "expected only one of `baseline` and `of`"),
    ],
)
def test_an_item_that_cannot_be_judged_is_refused(tmp_path: Path, key: str, message: str) -> None:
    """With what it lacks."""
    (tmp_path / "assignments/scale").mkdir(parents=True)
    (tmp_path / "reference/scaling").mkdir(parents=True)
    (tmp_path / "reference/scaling/oracle.py").write_text(ORACLE)
    (tmp_path / "reference/scaling/naive.cu").write_text(NAIVE)
    metric = "" if "metric" in key else "metric: flops, "
    item = f"  - {{id: once, points: 10, check: traffic, {metric}at_most: 1, {key}}}\n"
    (tmp_path / "assignments/scale/assignment.yaml").write_text(FUNCTION + item)
    with pytest.raises(UsageError, match=message):
        load_assignment(tmp_path / "assignments/scale")


PROGRAM = """
id: twice
title: Twice
submission: {kind: program, seconds: 2, emulator_seconds: 5}
cases:
  - {id: plain}
rubric:
  - {id: ends, points: 5, check: exit, status: 0}
  - {id: sectors, points: 5, check: traffic, metric: global_store_sectors, kernel: fill, of: 8, at_most: 1}
"""
FILLS = """
#include <cstdio>
template <typename T> __global__ void fill(T *p, int stride) { p[threadIdx.x * stride] = 1; }
int main() {
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    fill<<<1, 32>>>(p, 1);
    fill<<<1, 32>>>((float *)p, 1);
    cudaDeviceSynchronize();
    cudaFree(p);
}
"""


@pytest.mark.parametrize(("stride", "verdict"), [("1", Verdict.PASS), ("2", Verdict.FAIL)])
def test_all_launches_of_all_instances_of_a_kernel_count(
    tools: Tools, tmp_path: Path, stride: str, verdict: Verdict
) -> None:
    """Two launches store four sectors each, and eight each where neighbours are two elements apart."""
    (tmp_path / "assignment.yaml").write_text(PROGRAM)
    plan = pipeline.make_plan(load_assignment(tmp_path), 1, tools, visible_only=False)
    source = FILLS.replace(", 1);\n    fill", f", {stride});\n    fill")
    grade = pipeline.grade(plan, Submission("ada", "fill.cu", source.encode(), "0" * 8), tools)
    assert grade.items[1].result.verdict is verdict
    assert grade.cases[0].counters.global_store_sectors == (8 if stride == "1" else 12)
