"""Programs that draw random numbers with cuRAND, on the emulator: what right and wrong ones get."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.kinds.test_kernel_output import PRODUCT, PRODUCT_YAML

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.model import Grade

    Graded = Callable[[str, str], Grade]

PI_YAML = """
id: pi
title: Pi by random points
submission: {kind: program, seconds: 5, emulator_seconds: 10}
cases:
  - {id: plain, arguments: ["2000"]}
rubric:
  - {id: pi, points: 10, check: text, numbers: [{name: pi, after: "pi is", is: 3.14159, within: 0.1}]}
  - {id: races, points: 5, check: races}
  - {id: memory, points: 5, check: memory}
  - {id: host, points: 5, check: host}
"""
PI = r"""#include <cstdio>
#include <cstdlib>
#include <curand.h>
#define CHECK(call, good) if ((call) != good) { std::printf("line %d\n", __LINE__); return 1; }
__global__ void count(const float *x, const float *y, unsigned *inside, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] * x[i] + y[i] * y[i] <= 1.0f) atomicAdd(inside, 1u);
}
int main(int, char **argv) {
    int n = std::atoi(argv[1]);
    float *points;
    unsigned *inside, result;
    curandGenerator_t gen;
    CHECK(cudaMalloc(&points, 2 * n * sizeof(float)), cudaSuccess);
    CHECK(cudaMalloc(&inside, sizeof(unsigned)), cudaSuccess);
    CHECK(cudaMemset(inside, 0, sizeof(unsigned)), cudaSuccess);
    CHECK(curandCreateGenerator(&gen, CURAND_RNG_PSEUDO_DEFAULT), CURAND_STATUS_SUCCESS);
    CHECK(curandSetPseudoRandomGeneratorSeed(gen, 1234ULL), CURAND_STATUS_SUCCESS);
    CHECK(curandGenerateUniform(gen, points, 2 * n), CURAND_STATUS_SUCCESS);
    count<<<(n + 255) / 256, 256>>>(points, points + n, inside, n);
    CHECK(cudaGetLastError(), cudaSuccess);
    CHECK(cudaMemcpy(&result, inside, sizeof(unsigned), cudaMemcpyDeviceToHost), cudaSuccess);
    std::printf("pi is %f\n", 4.0 * result / n);
    CHECK(curandDestroyGenerator(gen), CURAND_STATUS_SUCCESS);
    cudaFree(points), cudaFree(inside);
}
"""


@pytest.fixture
def graded(tmp_path: Path) -> Graded:
    """The grade of a program by an assignment."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())

    def grade(assignment: str, source: str) -> Grade:
        (tmp_path / "assignment.yaml").write_text(assignment)
        plan = pipeline.make_plan(load_assignment(tmp_path / "assignment.yaml"), 1, tools, visible_only=False)
        return pipeline.grade(plan, Submission("ada", "program.cu", source.encode(), "0" * 8), tools)

    return grade


def _verdicts(grade: Grade) -> dict[str, Verdict]:
    return {item.result.item.id: item.result.verdict for item in grade.items}


def test_pi_by_points_of_the_device_keeps_everything(graded: Graded) -> None:
    """The numbers are written, none of the kernel's reads is of nothing, and all is freed."""
    assert {*_verdicts(graded(PI_YAML, PI)).values()} == {Verdict.PASS}


def test_a_call_for_bytes_instead_of_numbers_is_reported_with_its_line(graded: Graded) -> None:
    """It would write beyond the array."""
    grade = graded(PI_YAML, PI.replace("points, 2 * n)", "points, 2 * n * sizeof(float))"))
    assert _verdicts(grade)["host"] is Verdict.FAIL
    (finding,) = next(item.result.findings for item in grade.items if item.result.item.id == "host")
    assert (finding.file, finding.line) == ("program.cu", 19)
    assert finding.message.startswith("gives cuRAND points as outputPtr, which takes 64,000 bytes")


FILLED = """
    curandGenerator_t gen;
    curandCreateGenerator(&gen, CURAND_RNG_PSEUDO_MT19937);
    curandGenerateUniform(gen, A, M * K), curandGenerateUniform(gen, B, K * N);
    curandDestroyGenerator(gen);
    multiply<<<"""
LAUNCH = "    multiply<<<dim3(2, 2), dim3(16, 16)>>>(A, B, C, M, K, N);"


@pytest.mark.slow
def test_a_kernel_is_judged_on_inputs_that_curand_has_drawn(graded: Graded) -> None:
    """The oracle takes what was in device memory."""
    source = "#include <curand.h>\n" + PRODUCT.replace("    multiply<<<", FILLED)
    assert {*_verdicts(graded(PRODUCT_YAML, source)).values()} == {Verdict.PASS}
    wrong = _verdicts(graded(PRODUCT_YAML, source.replace("k < K;", "k < K - 1;")))
    assert wrong == {"says": Verdict.PASS, "product": Verdict.FAIL}


def test_numbers_of_curand_are_no_kernels(graded: Graded) -> None:
    """A product of matrices of zeros is known before; nothing was launched that computes it."""
    drawn = """    cudaMemset(A, 0, M * K * 4);
    curandGenerator_t gen;
    curandCreateGenerator(&gen, CURAND_RNG_PSEUDO_DEFAULT);
    curandGenerateNormal(gen, C, M * N, 0, 0);"""
    source = "#include <curand.h>\n" + PRODUCT.replace(LAUNCH, drawn)
    assert _verdicts(graded(PRODUCT_YAML, source)) == {"says": Verdict.PASS, "product": Verdict.FAIL}
