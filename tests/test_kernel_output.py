"""`kernel-output` of programs: what a kernel computes is judged, whatever the program prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader import pipeline
from grader.assignment import load_assignment
from grader.errors import UsageError
from grader.model import Submission, Verdict
from grader.nvcc import Tools, find_toolchain
from grader.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.model import CheckResult

PRODUCT_YAML = """
id: multiply
title: Multiply
reference: matmul
submission: {kind: program, seconds: 2, emulator_seconds: 5}
cases:
  - {id: plain}
rubric:
  - {id: says, points: 5, check: text, lines: PASSED}
  - id: product
    points: 20
    check: kernel-output
    kernel: multiply
    arguments: [A, B, C]
    output: C
    dtype: float32
    shape: {M: 20, K: 24, N: 18}
    inputs: random
"""
PRODUCT = r"""#include <cstdio>
#include <vector>
__global__ void multiply(const float *A, const float *B, float *C, int M, int K, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
int main() {
    const int M = 20, K = 24, N = 18;
    std::vector<float> a(M * K), b(K * N), c(M * N);
    for (int i = 0; i < M * K; ++i) a[i] = i % 7 - 3;
    for (int i = 0; i < K * N; ++i) b[i] = i % 5 - 2;
    float *A, *B, *C;
    cudaMalloc(&A, a.size() * 4); cudaMalloc(&B, b.size() * 4); cudaMalloc(&C, c.size() * 4);
    cudaMemcpy(A, a.data(), a.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(B, b.data(), b.size() * 4, cudaMemcpyHostToDevice);
    multiply<<<dim3(2, 2), dim3(16, 16)>>>(A, B, C, M, K, N);
    cudaMemcpy(c.data(), C, c.size() * 4, cudaMemcpyDeviceToHost);
    std::puts("PASSED");
    cudaFree(A); cudaFree(B); cudaFree(C);
}
"""


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


@pytest.fixture
def product(tools: Tools, tmp_path: Path) -> Callable[[str], CheckResult]:
    """What the item about the kernel says of a program."""
    folder = tmp_path / "assignments" / "multiply"
    folder.mkdir(parents=True)
    (folder / "assignment.yaml").write_text(PRODUCT_YAML)
    plan = pipeline.make_plan(load_assignment(folder), 1, tools, visible_only=False)

    def judge(source: str) -> CheckResult:
        grade = pipeline.grade(plan, Submission("ada", "multiply.cu", source.encode(), "0" * 8), tools)
        results = {item.result.item.id: item.result for item in grade.items}
        assert results["says"].verdict is Verdict.PASS
        return results["product"]

    return judge


def test_what_a_kernel_computes_is_judged_whatever_its_inputs(product: Callable[[str], CheckResult]) -> None:
    """The oracle takes what was in device memory."""
    assert product(PRODUCT).verdict is Verdict.PASS


def test_a_program_that_prints_passed_and_computes_wrongly_fails(
    product: Callable[[str], CheckResult],
) -> None:
    """The first wrong element is named."""
    result = product(PRODUCT.replace("k < K;", "k < K - 1;"))
    assert result.verdict is Verdict.FAIL
    assert "multiply.C[0][" in result.message


def test_a_program_that_prints_passed_and_launches_nothing_fails(
    product: Callable[[str], CheckResult],
) -> None:
    """It is told that no launch was there to judge."""
    start, end = PRODUCT.index("    multiply<<<"), PRODUCT.index("    cudaMemcpy(c.data()")
    result = product(PRODUCT[:start] + PRODUCT[end:])
    assert result.verdict is Verdict.FAIL
    assert "no launch of `multiply` came to its end" in result.message


def test_a_kernel_under_another_name_is_told_with_its_name(product: Callable[[str], CheckResult]) -> None:
    """It ran, and it is not the one that was asked for."""
    result = product(PRODUCT.replace("multiply", "times"))
    assert result.verdict is Verdict.FAIL
    assert "no kernel `multiply` ran; the program launched `times`" in result.message


def test_an_array_that_is_too_small_is_told(product: Callable[[str], CheckResult]) -> None:
    """The kernel was given half of an input."""
    result = product(PRODUCT.replace("cudaMalloc(&B, b.size() * 4)", "cudaMalloc(&B, b.size())"))
    assert result.verdict is Verdict.FAIL
    assert "argument 2 of `multiply`, `B`, has" in result.message


def test_an_oracle_that_needs_more_than_the_arguments_is_refused(tools: Tools, tmp_path: Path) -> None:
    """Before anything is graded."""
    folder = tmp_path / "assignments" / "multiply"
    folder.mkdir(parents=True)
    (folder / "assignment.yaml").write_text(PRODUCT_YAML.replace("[A, B, C]", "[A, C]"))
    with pytest.raises(UsageError, match="the oracle needs `B`, none of `arguments`"):
        pipeline.make_plan(load_assignment(folder), 1, tools, visible_only=False)
