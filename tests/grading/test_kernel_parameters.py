"""Parameters of a kernel beside plain pointers and numbers, graded from the file to the points."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.base.data_files import data_root
from grader.grading.assignment import find_assignment, load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.running.backends.gpu import GpuBackend
from grader.toolchain.gpu.pool import GpuPool
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.toolchain.gpu.pretend import GPU, PretendGpu

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler, with a cache for this module."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


GRID_CONSTANTS = """
__global__ void vectorAdd(const float* const __grid_constant__ A, const float* const __grid_constant__ B,
                          float* const __grid_constant__ C, const __grid_constant__ int N) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}
"""


def test_grid_constant_parameters_lose_nothing(tools: Tools) -> None:
    """A right kernel has full marks with each of its parameters constant for the grid."""
    grade = _graded(find_assignment("vector-add"), tools, GRID_CONSTANTS)
    assert (grade.score, grade.error) == (grade.max_score, "")


def _graded(folder: Path, tools: Tools, source: str) -> Grade:
    plan = pipeline.make_plan(load_assignment(folder), 1, tools, visible_only=False)
    return pipeline.grade(plan, Submission("s", "s.cu", source.encode(), "d"), tools)


MATRICES = """\
id: matrices
title: A product of structs
reference: matmul
submission:
  kind: kernel
  kernel: multiply
  parameters:
    A: {struct: Matrix, fields: {width: int32 = K, height: int32 = M, elements: "in float32[M, K]"}}
    B: {struct: Matrix, fields: {width: int32 = N, height: int32 = K, elements: "in float32[K, N]"}}
    C: {struct: Matrix, fields: {width: int32 = N, height: int32 = M, elements: "out float32[M, N]"}}
    outside: float32 = 0.5
    extent: dim3 = N, M
  constants: {BLOCK_SIZE: 16}
  launch: {block: [BLOCK_SIZE, BLOCK_SIZE], grid: [ceil(N / BLOCK_SIZE), ceil(M / BLOCK_SIZE)]}
cases:
  - {id: whole, shape: {M: 32, K: 16, N: 48}}
  - {id: odd, shape: {M: 19, K: 33, N: 21}}
rubric:
  - {id: compiles, points: 1, check: compile}
  - {id: right, points: 1, check: output}
  - {id: barriers, points: 1, check: races}
  - {id: memory, points: 1, check: memory}
"""
MULTIPLY = """
#define BLOCK_SIZE 16
struct Matrix { int width; int height; float* elements; };

__device__ float at(const Matrix m, int row, int col) {
    return row < m.height && col < m.width ? m.elements[row * m.width + col] : 0.0f;
}

__global__ void multiply(Matrix A, Matrix B, Matrix C, float outside, dim3 extent) {
    __shared__ float left[BLOCK_SIZE][BLOCK_SIZE], right[BLOCK_SIZE][BLOCK_SIZE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * BLOCK_SIZE + y, col = blockIdx.x * BLOCK_SIZE + x;
    float sum = outside;
    for (int tile = 0; tile < A.width; tile += BLOCK_SIZE) {
        left[y][x] = at(A, row, tile + x);
        right[y][x] = at(B, tile + y, col);
        __syncthreads();
        for (int k = 0; k < BLOCK_SIZE; ++k) sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    if (row < extent.y && col < extent.x) C.elements[row * C.width + col] = sum - 0.5f;
}
"""


FIELDS = "a struct of 16 bytes (int width; int height; float* elements)"
OTHER = (
    "a struct of 24 bytes; the assignment passes (Matrix A, Matrix B, Matrix C, float outside, dim3 extent)"
)


@pytest.fixture(scope="module")
def matrices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An assignment whose kernel takes structs by value."""
    folder = tmp_path_factory.mktemp("matrices")
    (folder / "assignment.yaml").write_text(MATRICES)
    return folder


def _verdicts(grade: Grade) -> list[Verdict]:
    return [item.result.verdict for item in grade.items]


def test_structs_by_value_are_passed(matrices: Path, tools: Tools) -> None:
    """A tiled product of `Matrix` structs, of a fraction and of a `dim3`, has full marks."""
    grade = _graded(matrices, tools, MULTIPLY)
    assert _verdicts(grade) == [Verdict.PASS] * 4, [item.result.message for item in grade.items]


@pytest.mark.parametrize(
    ("right", "wrong", "item", "words"),
    [
        ("        __syncthreads();\n        for", "        for", 2, "which thread (0, 0) writes on line 16"),
        (
            "right[y][x] = at(B, tile + y, col)",
            "right[x][y] = at(B, tile + y, col)",
            1,
            "`C` is what you get when tiles (one or both) are read with rows and columns exchanged",
        ),
        (" && col < m.width ? ", " ? ", 1, "only elements at the border of `C` are wrong"),
        ("row < extent.y && col < extent.x", "true", 3, "C has 19 x 21 elements"),
        ("tile < A.width", "tile < A.width - BLOCK_SIZE", 1, "`C` lacks the last tile of the sum"),
    ],
)
def test_mistakes_with_structs_are_reported_by_the_array(
    right: str, wrong: str, item: int, words: str, matrices: Path, tools: Tools
) -> None:
    """A race, a wrong product and an access out of bounds, each under the name of the struct."""
    assert MULTIPLY.count(right) == 1
    grade = _graded(matrices, tools, MULTIPLY.replace(right, wrong))
    assert _verdicts(grade)[item] is Verdict.FAIL
    result = grade.items[item].result
    assert words in result.message + "".join(finding.message for finding in result.findings)


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        (
            "int height; float*",
            "int height; int stride; int more; float*",
            f"the kernel `multiply` should be `Matrix A`, {FIELDS}, but it is `Matrix`, {OTHER}",
        ),
        (
            "dim3 extent",
            "int2 extent",
            "the kernel `multiply` should be `dim3 extent`, but it is `int2`, a struct of 8 bytes",
        ),
        (
            "Matrix C, float",
            "Matrix &C, float",
            f"the kernel `multiply` should be `Matrix C`, {FIELDS}, but it is `Matrix&`; ",
        ),
    ],
)
def test_another_struct_is_reported_with_what_was_expected(
    right: str, wrong: str, message: str, matrices: Path, tools: Tools
) -> None:
    """The size that PTX has, and the fields of the assignment."""
    grade = _graded(matrices, tools, MULTIPLY.replace(right, wrong))
    assert message in grade.items[0].result.message + grade.items[0].result.findings[0].message


PAIR = """\
id: pair
title: Two vectors in one struct
reference: vector-add
submission:
  kind: kernel
  kernel: add
  parameters:
    v:
      struct: Vectors
      fields: {count: int16 = N, A: "in float32[N]", B: "in float32[N]", scale: float64 = 1 / 4}
    C: out float32[N]
  launch: {block: [64], grid: [ceil(N / 64)]}
cases:
  - {id: odd, shape: {N: 85}}
rubric:
  - {id: right, points: 1, check: output}
  - {id: memory, points: 1, check: memory}
"""
PAIRS = """
struct Vectors { short count; const float* A; const float* B; double scale; };
__global__ void add(const __grid_constant__ Vectors v, float* C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < v.count) C[i] = (v.A[i] + v.B[i + OFF]) * (v.scale * 4);
}
"""


def test_arrays_of_one_struct_are_called_by_its_fields(tmp_path: Path, tools: Tools) -> None:
    """`v.A` and `v.B` are what the oracle is asked for, and what a finding names."""
    root = tmp_path / "assignments/pair"
    root.mkdir(parents=True)
    (root / "assignment.yaml").write_text(PAIR.replace("reference: vector-add", "reference: pair"))
    oracle = data_root() / "reference/vector-add/oracle.py"
    (tmp_path / "reference/pair").mkdir(parents=True)
    text = oracle.read_text(encoding="utf-8")
    for name in "AB":
        text = text.replace(f'types, "{name}"', f'types, "v.{name}"').replace(
            f'inputs["{name}"]', f'inputs["v.{name}"]'
        )
        text = text.replace(f'"{name}": precision', f'"v.{name}": precision')
    (tmp_path / "reference/pair/oracle.py").write_text(text, encoding="utf-8")
    assert _verdicts(_graded(root, tools, PAIRS.replace("OFF", "0"))) == [Verdict.PASS] * 2
    beyond = _graded(root, tools, PAIRS.replace("OFF", "1"))
    assert _verdicts(beyond) == [Verdict.FAIL] * 2
    assert "reads v.B[85], 1 past its end" in beyond.items[1].result.message


def test_on_a_gpu_structs_are_passed_as_the_same_bytes(matrices: Path, tools: Tools) -> None:
    """With a place for each pointer, which the harness fills in."""
    cases: list[dict[str, Any]] = []

    def product(case: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
        cases.append(case)
        arrays["C"][...] = arrays["A"].astype(np.float64) @ arrays["B"].astype(np.float64)
        return {"state": "done", "seconds": 1e-5}

    device = PretendGpu(product)
    on_device = Tools(tools.toolchain, device, tools.cache)
    pool = GpuPool((GPU,), "python3", (("sm_90", b"helpers"),))
    plan = pipeline.make_plan(
        load_assignment(matrices), 1, on_device, visible_only=False, backend=GpuBackend(pool)
    )
    grade = pipeline.grade(plan, Submission("s", "s.cu", MULTIPLY.encode(), "d"), on_device)
    assert _verdicts(grade) == [Verdict.PASS] * 4
    (a, _, *_), extent = cases[1]["arguments"][:2], cases[1]["arguments"][-1]
    assert (a["bytes"], a["pointers"]) == (struct.pack("<iiQ", 33, 19, 0).hex(), {"A": 8})
    assert (extent["bytes"], extent["pointers"]) == (struct.pack("<III", 21, 19, 1).hex(), {})


SUB_MATRICES = """
#define BLOCK_SIZE 8
typedef struct { int width; int height; int stride; float* elements; } Matrix;

__device__ Matrix tile_of(Matrix m, int row, int col) {
    Matrix part = {BLOCK_SIZE, BLOCK_SIZE, m.stride, nullptr};
    part.elements = &m.elements[m.stride * BLOCK_SIZE * row + BLOCK_SIZE * col];
    return part;
}
__device__ float get(const Matrix m, int row, int col) { return m.elements[row * m.stride + col]; }
__device__ void put(Matrix m, int row, int col, float value) { m.elements[row * m.stride + col] = value; }

__global__ void multiply(const Matrix A, const Matrix B, Matrix C) {
    int row = threadIdx.y, col = threadIdx.x;
    Matrix own = tile_of(C, blockIdx.y, blockIdx.x);
    float sum = 0;
    for (int step = 0; step < A.width / BLOCK_SIZE; ++step) {
        Matrix left = tile_of(A, blockIdx.y, step), right = tile_of(B, step, blockIdx.x);
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE], Bs[BLOCK_SIZE][BLOCK_SIZE];
        As[row][col] = get(left, row, col);
        Bs[row][col] = get(right, row, col);
        __syncthreads();
        for (int k = 0; k < BLOCK_SIZE; ++k) sum += As[row][k] * Bs[k][col];
        __syncthreads();
    }
    put(own, row, col, sum);
}
"""


@pytest.fixture(scope="module")
def sub_matrices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shared-memory product of the CUDA C++ Programming Guide: structs with a stride, whole tiles."""
    text = MATRICES.replace("    outside: float32 = 0.5\n    extent: dim3 = N, M\n", "")
    for width in ("K", "N"):
        text = text.replace(f"width: int32 = {width}, ", f"width: int32 = {width}, stride: int32 = {width}, ")
    for height in ("M", "K"):  # the stride comes after the height
        for width in ("K", "N"):
            old = f"stride: int32 = {width}, height: int32 = {height}"
            text = text.replace(old, f"height: int32 = {height}, stride: int32 = {width}")
    folder = tmp_path_factory.mktemp("sub-matrices")
    (folder / "assignment.yaml").write_text(text.replace("{M: 19, K: 33, N: 21}", "{M: 16, K: 48, N: 64}"))
    return folder


def test_the_product_of_the_programming_guide_has_full_marks(sub_matrices: Path, tools: Tools) -> None:
    """Device functions take and return structs, by value, with pointers into the arrays."""
    grade = _graded(sub_matrices, tools, SUB_MATRICES)
    assert _verdicts(grade) == [Verdict.PASS] * 4, [item.result.message for item in grade.items]


@pytest.mark.parametrize(
    ("right", "wrong", "item", "words"),
    [
        ("        __syncthreads();\n    }", "    }", 2, "Bs[0][0]"),
        ("step < A.width / BLOCK_SIZE", "step < A.width / BLOCK_SIZE - 1", 1, "`C`"),
        ("m.stride * BLOCK_SIZE * row", "m.height * BLOCK_SIZE * row", 1, "`C[0][0]` should be"),
        ("tile_of(B, step, blockIdx.x)", "tile_of(B, blockIdx.x, step)", 1, "`C[0][0]` should be"),
        ("row * m.stride + col] = value", "row * m.stride + col + 1] = value", 3, "past its end: C has"),
    ],
)
def test_mistakes_in_the_product_of_the_programming_guide_are_reported(
    right: str, wrong: str, item: int, words: str, sub_matrices: Path, tools: Tools
) -> None:
    """A race, a tile too few, wrong tiles, and an element beside the matrix."""
    assert SUB_MATRICES.count(right) == 1
    result = _graded(sub_matrices, tools, SUB_MATRICES.replace(right, wrong)).items[item].result
    assert result.verdict is Verdict.FAIL
    assert words in result.message
