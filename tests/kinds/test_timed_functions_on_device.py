"""Functions timed on a real GPU: what is recorded of them runs there, is right, and compares like kernels."""

from __future__ import annotations

import logging
import shutil
from typing import TYPE_CHECKING

import pytest

from grader.base.data_files import data_root
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.running.backends import prepare
from grader.toolchain.gpu import devices
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade, Timing

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(900)]

LOG = logging.getLogger(__name__)
"""Log of the measurements: `pytest -o log_cli=true --log-cli-level=INFO`."""

YAML = """
id: product
title: Product
reference: matmul
submission: {kind: function, function: solve, pointers: device, outputs: poison,
  device_memory: 64, emulator_seconds: 20,
  parameters: {A: 'in float32[M, K]', B: 'in float32[K, N]', C: 'out float32[M, N]',
    M: int32, N: int32, K: int32}}
timing: {shape: {M: 1024, K: 1024, N: 1024}, baseline: naive}
cases:
  - {id: small, shape: {M: 33, K: 17, N: 40}}
rubric:
  - {id: right, points: 50, check: output}
  - {id: fast, points: 50, check: speedup, baseline: naive, none_below: 1.0, full_at: 1.2}
"""
NAIVE = """
__global__ void naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
extern "C" void solve(const float *A, const float *B, float *C, int M, int N, int K) {
    naive<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K);
}
"""
TILED = """
#define T 16
__global__ void tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, column = blockIdx.x * T + x;
    float sum = 0;
    for (int t = 0; t < (K + T - 1) / T; t++) {
        a[y][x] = row < M && t * T + x < K ? A[row * K + t * T + x] : 0;
        b[y][x] = t * T + y < K && column < N ? B[(t * T + y) * N + column] : 0;
        __syncthreads();
        for (int k = 0; k < T; k++) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = sum;
}
"""
SOLUTION = (
    TILED
    + """
extern "C" void solve(const float *A, const float *B, float *C, int M, int N, int K) {
    tiled<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T)>>>(A, B, C, M, N, K);
}
"""
)
IN_HALVES = (
    TILED
    + """
__constant__ float one[1];
__global__ void add(const float *from, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += one[0] * from[i];
}
extern "C" void solve(const float *A, const float *B, float *C, int M, int N, int K) {
    float *mine, value = 1;
    cudaMalloc(&mine, sizeof(float) * M * N);
    cudaMemcpyToSymbol(one, &value, sizeof value);
    cudaMemset(C, 0, sizeof(float) * M * N);
    tiled<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T)>>>(A, B, mine, M, N, K);
    add<<<(M * N + 255) / 256, 256>>>(mine, C, M * N);
    cudaFree(mine);
}
"""
)
ONLY_SMALL = (
    TILED
    + """
extern "C" void solve(const float *A, const float *B, float *C, int M, int N, int K) {
    if (M < 1000) tiled<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T)>>>(A, B, C, M, N, K);
}
"""
)

IN_PARTS = """
__device__ int more;
__global__ void part(const float *A, const float *B, float *C, int M, int N, int K, int from) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row == 0 && column == 0) more = from + 64 < K;
    if (row >= M || column >= N) return;
    float sum = from ? C[row * N + column] : 0;
    for (int k = from; k < K && k < from + 64; k++) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
extern "C" void solve(const float *A, const float *B, float *C, int M, int N, int K) {
    int again = 1;
    for (int from = 0; again; from += 64) {
        part<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K, from);
        cudaMemcpyFromSymbol(&again, more, sizeof again);
    }
}
"""
"""It asks the device whether to go on."""


def on_host(source: str) -> str:
    """The same function with pointers to memory of the host."""
    return (
        source.replace("void solve(", "static void inside(").replace('extern "C" static', "static")
        + """
extern "C" void solve(const float *A, const float *B, float *C, int M, int N, int K) {
    float *a, *b, *c;
    cudaMalloc(&a, sizeof(float) * M * K);
    cudaMalloc(&b, sizeof(float) * K * N);
    cudaMalloc(&c, sizeof(float) * M * N);
    cudaMemcpy(a, A, sizeof(float) * M * K, cudaMemcpyHostToDevice);
    cudaMemcpy(b, B, sizeof(float) * K * N, cudaMemcpyHostToDevice);
    inside(a, b, c, M, N, K);
    cudaMemcpy(C, c, sizeof(float) * M * N, cudaMemcpyDeviceToHost);
    cudaFree(a), cudaFree(b), cudaFree(c);
}
"""
    )


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


def graded(
    source: str, tools: Tools, folder: Path, *, host: bool = False, size: int = 1024
) -> tuple[Grade, Timing]:
    """A function graded on the first GPU; with ``host`` all have pointers to memory of the host."""
    yaml = YAML.replace("pointers: device", "pointers: host") if host else YAML
    yaml = yaml.replace("1024", str(size))
    (folder / "assignments/product").mkdir(parents=True)
    (folder / "reference/matmul").mkdir(parents=True)
    shutil.copy(data_root() / "reference/matmul/oracle.py", folder / "reference/matmul")
    (folder / "reference/matmul/naive.cu").write_text(on_host(NAIVE) if host else NAIVE)
    (folder / "reference/matmul/solution.cu").write_text(on_host(SOLUTION) if host else SOLUTION)
    (folder / "assignments/product/assignment.yaml").write_text(yaml)
    assignment = load_assignment(folder / "assignments/product")
    backend = prepare("gpu", tools, devices.visible(devices.find_gpus()))
    plan = pipeline.make_plan(assignment, 7, tools, visible_only=False, backend=backend)
    grade = pipeline.grade(plan, Submission("ada", "product.cu", source.encode(), "0"), tools)
    assert grade.timing is not None
    return grade, grade.timing


@pytest.mark.parametrize("source", [NAIVE, SOLUTION, IN_HALVES], ids=["naive", "tiled", "in-halves"])
def test_a_right_function_is_timed_and_every_timed_call_is_right(
    tools: Tools, tmp_path: Path, source: str
) -> None:
    """Beside the staff's, which are timed the same way."""
    grade, timing = graded(source, tools, tmp_path)
    LOG.info("%s %s", timing.speedup, timing.milliseconds)
    assert timing.error == ""
    assert timing.findings == ()
    assert timing.verified == timing.launches > 0
    assert timing.control is not None
    assert timing.control.low < 1.02
    assert grade.items[0].result.verdict is Verdict.PASS
    assert grade.items[1].result.verdict is (Verdict.FAIL if source is NAIVE else Verdict.PASS)


def test_a_function_that_launches_nothing_where_it_is_timed_earns_nothing(
    tools: Tools, tmp_path: Path
) -> None:
    """The results that it leaves are not those that must be there."""
    grade, timing = graded(ONLY_SMALL, tools, tmp_path)
    assert "unwritten-while-timed" in [finding.code for finding in timing.findings]
    assert grade.items[1].result.verdict is Verdict.FAIL


@pytest.mark.parametrize("source", [NAIVE, SOLUTION], ids=["naive", "tiled"])
def test_with_host_pointers_the_copies_are_part_of_the_time(
    tools: Tools, tmp_path: Path, source: str
) -> None:
    """Every timed call is right, and takes longer than with arrays that are on the device already."""
    _, timing = graded(on_host(source), tools, tmp_path, host=True)
    LOG.info("%s %s", timing.speedup, timing.milliseconds)
    assert timing.error == ""
    assert timing.findings == ()
    assert timing.verified == timing.launches > 0
    _, on_device = graded(source, tools, tmp_path / "device")
    assert dict(timing.milliseconds)["student"] > dict(on_device.milliseconds)["student"]


def test_a_function_that_asks_the_device_whether_to_go_on_is_timed(tools: Tools, tmp_path: Path) -> None:
    """The values that it read are read again in each replay."""
    _, timing = graded(IN_PARTS, tools, tmp_path, size=256)
    LOG.info("%s %s", timing.speedup, timing.milliseconds)
    assert timing.error == ""
    assert timing.findings == ()
    assert timing.verified == timing.launches > 0
