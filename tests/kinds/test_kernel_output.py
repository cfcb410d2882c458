"""`kernel-output` of programs: what a kernel computes is judged, whatever the program prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.base.errors import UsageError
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.kinds.attempts.other_inputs import InputTrial
from grader.model import Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
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
    """Return a function that gives the result of the item about the kernel for a program."""
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
    """The message states that no launch was there to judge."""
    start, end = PRODUCT.index("    multiply<<<"), PRODUCT.index("    cudaMemcpy(c.data()")
    result = product(PRODUCT[:start] + PRODUCT[end:])
    assert result.verdict is Verdict.FAIL
    assert "no launch of `multiply` came to its end" in result.message


def test_a_kernel_under_another_name_is_reported_with_its_name(product: Callable[[str], CheckResult]) -> None:
    """It ran, and it is not the one that was asked for."""
    result = product(PRODUCT.replace("multiply", "times"))
    assert result.verdict is Verdict.FAIL
    assert "no kernel `multiply` ran; the program launched `times`" in result.message


def test_an_output_is_a_question_where_there_is_no_memory_to_ask_who_computes_it(
    product: Callable[[str], CheckResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that takes all memory is not acquitted by that; the points stay in the maximum."""

    def lacking(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(InputTrial, "outcome", lacking)
    result = product(PRODUCT)
    assert (result.verdict, result.is_question) == (Verdict.ERROR, True)
    assert "staff should look at the file" in result.message


BY_CUBLAS = """float one = 1, zero = 0;
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, B, N, A, K, &zero, TARGET, N);
    cublasDestroy(handle);
    """
COMPARED = """
    float *D;
    std::vector<float> d(M * N);
    cudaMalloc(&D, d.size() * 4);
    BY_CUBLAS
    cublasGetMatrix(N, M, 4, D, N, d.data(), N);
    cudaFree(D);
    for (int i = 0; i < M * N; ++i)
        if (c[i] != d[i]) return 1;
    std::puts("PASSED");"""


def with_cublas(source: str, target: str) -> str:
    """A program with a product by cuBLAS in place of BY_CUBLAS."""
    return "#include <cublas_v2.h>\n" + source.replace("BY_CUBLAS", BY_CUBLAS.replace("TARGET", target))


def test_a_kernel_that_is_compared_with_cublas_keeps_everything(
    product: Callable[[str], CheckResult],
) -> None:
    """Row by row, the product of row-major matrices is that of their transposes."""
    compared = PRODUCT.replace('\n    std::puts("PASSED");', COMPARED)
    assert product(with_cublas(compared, "D")).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [(None, None), ("", "C"), ("    int i = ID;\n    if (i < M * N) C[i] = C[i];\n", "C")],
    ids=["no kernel", "a kernel for show", "a kernel that stores it again"],
)
def test_what_cublas_computes_is_no_kernels(
    kernel: str | None, arguments: str | None, product: Callable[[str], CheckResult]
) -> None:
    """Whatever kernel is launched beside it; the program prints the right result."""
    source = PRODUCT.replace(LAUNCH, "BY_CUBLAS" + (LAUNCH if arguments else ""))
    if kernel is not None:
        source = source.replace(
            KERNEL,
            kernel.replace("ID", "threadIdx.x + 16 * (threadIdx.y + 16 * (blockIdx.x + 2 * blockIdx.y))"),
        )
    assert product(with_cublas(source, "C")).verdict is Verdict.FAIL


ON_HOST = """for (int i = 0; i < M * N; ++i)
        for (int k = 0; k < K; ++k) c[i] += a[i / N * K + k] * b[k * N + i % N];
    """
KERNEL = PRODUCT[PRODUCT.index("    int row") : PRODUCT.index("}\nint main")]
LAUNCH = "multiply<<<dim3(2, 2), dim3(16, 16)>>>(A, B, C, M, K, N);"
INTO_C = "cudaMemcpy(C, c.data(), c.size() * 4, cudaMemcpyHostToDevice);"
INTO_VARIABLE = "cudaMemcpyToSymbol(answer, c.data(), c.size() * 4);"
COPIES = """    int i = threadIdx.x + 16 * (threadIdx.y + 16 * (blockIdx.x + 2 * blockIdx.y));
    if (i < M * N) C[i] = """


@pytest.mark.parametrize(
    ("kernel", "copied", "launches"),
    [
        ("", INTO_C, 1),
        (COPIES + "C[i];\n", INTO_C, 1),
        (COPIES + "answer[i];\n", INTO_VARIABLE, 1),
        (COPIES + "answer[i];\n", INTO_VARIABLE, 12),
    ],
)
def test_a_kernel_that_stores_what_the_host_has_computed_fails(
    product: Callable[[str], CheckResult], kernel: str, copied: str, launches: int
) -> None:
    """Wherever the host has put it, and however often it is stored: for other inputs it is not right."""
    source = PRODUCT.replace(KERNEL, kernel).replace(LAUNCH, ON_HOST + copied + LAUNCH * launches)
    result = product("__device__ float answer[20 * 18];\n" + source)
    assert result.verdict is Verdict.FAIL
    assert "does not compute it from its arguments" in result.message


def test_a_kernel_that_is_precise_enough_for_its_inputs_is_right(
    product: Callable[[str], CheckResult],
) -> None:
    """Halves hold the program's whole numbers; of other inputs it is only asked whether they decide."""
    halves = "__half2float(__float2half(A[row * K + k])) * __half2float(__float2half(B[k * N + column]))"
    source = PRODUCT.replace("A[row * K + k] * B[k * N + column]", halves)
    assert product("#include <cuda_fp16.h>\n" + source).verdict is Verdict.PASS


@pytest.mark.parametrize("parts", [1, 3, 12])
def test_launches_that_compute_together_are_right(product: Callable[[str], CheckResult], parts: int) -> None:
    """Each adds the products of some of the terms to what the one before it has left."""
    source = PRODUCT.replace("int M, int K, int N) {", "int M, int K, int N, int from, int to) {")
    source = source.replace("k = 0; k < K", "k = from; k < to").replace("] = sum", "] += sum")
    loop = f"cudaMemset(C, 0, c.size() * 4);\n    for (int k = 0; k < K; k += K / {parts})\n        "
    assert product(
        source.replace(LAUNCH, loop + LAUNCH.replace("N);", f"N, k, k + K / {parts});"))
    ).verdict is (Verdict.PASS)


def test_launches_that_compute_rows_each_are_right(product: Callable[[str], CheckResult]) -> None:
    """The last one stores no more than a part of the output."""
    source = PRODUCT.replace("int M, int K, int N) {", "int M, int K, int N, int first) {")
    source = source.replace("int row = blockIdx.y", "int row = first + blockIdx.y")
    calls = LAUNCH.replace("dim3(2, 2)", "dim3(2, 1)").replace("N);", "N, 0);")
    assert product(source.replace(LAUNCH, calls + calls.replace(", 0);", ", 16);"))).verdict is Verdict.PASS


def test_a_kernel_that_is_given_one_array_twice_is_right(product: Callable[[str], CheckResult]) -> None:
    """Other inputs cannot differ from each other there: what is right follows from what memory holds."""
    assert product(PRODUCT.replace(LAUNCH, LAUNCH.replace("A, B", "A, A"))).verdict is Verdict.PASS


def test_a_kernel_that_reads_an_argument_from_constant_memory_is_right(
    product: Callable[[str], CheckResult],
) -> None:
    """The copy there is as good an input as the argument, and holds other numbers, too."""
    source = PRODUCT.replace("* B[k", "* constant[k").replace(
        LAUNCH, "cudaMemcpyToSymbol(constant, b.data(), b.size() * 4);\n    " + LAUNCH
    )
    assert product("__constant__ float constant[512];\n" + source).verdict is Verdict.PASS


def test_a_kernel_that_reads_what_the_host_made_of_one_argument_is_right(
    product: Callable[[str], CheckResult],
) -> None:
    """The host may turn a matrix over: the kernel follows the other one, as no result of the host does."""
    source = PRODUCT.replace("int M, int K, int N) {", "int M, int K, int N, const float *turned) {")
    source = source.replace("* B[k * N + column]", "* turned[column * K + k]")
    prepared = """std::vector<float> t(K * N);
    for (int i = 0; i < K * N; ++i) t[i % N * K + i / N] = b[i];
    float *T;
    cudaMalloc(&T, t.size() * 4);
    cudaMemcpy(T, t.data(), t.size() * 4, cudaMemcpyHostToDevice);
    """
    launched = LAUNCH.replace("N);", "N, T);")
    assert product(source.replace(LAUNCH, prepared + launched)).verdict is Verdict.PASS


def test_an_array_that_is_too_small_is_reported(product: Callable[[str], CheckResult]) -> None:
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
