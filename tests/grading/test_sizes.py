"""Assignments whose files write their size down as a macro: each case is a build of that size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.base.errors import SpecError
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import KernelInterface, Submission, Verdict
from grader.toolchain.nvcc import Tools, build_kernels, find_toolchain
from grader.toolchain.nvcc.source import with_values
from grader.toolchain.sandbox import LocalSandbox

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Assignment, Grade

SPEC = """\
id: square
title: A product of squares
reference: matmul
submission:
  kind: kernel
  kernel: multiply
  parameters:
    A: in float32[M, K]
    B: in float32[K, N]
    C: out float32[M, N]
  sizes: {M: [ROWS], K: [INNER, DEPTH], N: WIDTH}
  launch: {block: [8, 8], grid: [ceil(N / 8), ceil(M / 8)]}
cases:
  - {id: small, shape: {M: 5, K: 3, N: 9}}
  - {id: whole, shape: {M: 8, K: 8, N: 16}, visibility: hidden}
rubric:
  - {id: compiles, points: 1, check: compile}
  - {id: right, points: 2, check: output, needs: [compiles], partial: per-case}
"""
KERNEL = """\
#define ROWS 1024  // rows of A
#  define DEPTH (1 << 10) /* both */
constexpr unsigned int N = 2048;
__global__ void multiply(const float* A, const float* B, float* C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < DEPTH; ++k) sum += A[row * DEPTH + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    """Three sizes, each by another sort of name."""
    (tmp_path / "assignment.yaml").write_text(SPEC)
    return load_assignment(tmp_path)


def graded(assignment: Assignment, source: str) -> Grade:
    """A submission's grade on the emulator."""
    tools = Tools(find_toolchain(), LocalSandbox(), None)
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=False)
    return pipeline.grade(plan, Submission("ada", "ada.cu", source.encode(), ""), tools)


def test_each_case_is_a_build_of_its_size(assignment: Assignment) -> None:
    """A right file is right at sizes that it never was written for."""
    grade = graded(assignment, KERNEL)
    assert grade.verdict is Verdict.PASS
    assert grade.score == grade.max_score == 3


def test_a_size_that_does_not_compile_is_a_case_that_fails(assignment: Assignment) -> None:
    """The reason is given for a visible one; the size of a hidden one is not."""
    grade = graded(assignment, KERNEL + "static_assert(N % 16 == 0 && N != 16);\n")
    assert [case.verdict for case in grade.cases] == [Verdict.FAIL, Verdict.FAIL]
    message = grade.items[1].result.message
    assert "with the sizes of this case the file does not compile: static assertion failed" in message


def test_a_file_without_the_size_is_refused_with_its_names(assignment: Assignment) -> None:
    """They are what the hand-out asks for."""
    tools = Tools(find_toolchain(), LocalSandbox(), None)
    source = KERNEL.replace("DEPTH", "STEPS").encode()
    built = build_kernels(tools, Submission("ada", "ada.cu", source, ""), assignment.kernel)
    assert [finding.message for finding in built.findings] == [
        "this file defines no `K`, `INNER` or `DEPTH`, by which the assignment changes its size"
    ]


def test_only_values_change() -> None:
    """Comments, other names, functions and uses stay as they are, and so do lines."""
    text = b"#define N 8 // N\n#define NN 8\n#define N(x) 3\nconst int N = 4, a = N;\nint b = N;\n#define N\n"
    interface = KernelInterface("k", (), (), (), (), sizes=(("N", ()),), given=(("N", 5),))
    changed = (
        b"#define N 5 // N\n#define NN 8\n#define N(x) 3\nconst int N = 5, a = N;\nint b = N;\n#define N\n"
    )
    assert with_values(dict(interface.built_with), {"a.cu": text}) == {"a.cu": changed}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("N: WIDTH", "W: WIDTH", "expected a dimension of every case; `W` is none"),
        ("  launch:", "  constants: {INNER: 8}\n  launch:", "`INNER` is a constant's already"),
        ("rubric:", "timing: {shape: {M: 8, K: 8, N: 8}}\nrubric:", "expected no `timing` beside `sizes`"),
    ],
)
def test_what_cannot_be_sized_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    """With its place, as every flaw."""
    (tmp_path / "assignment.yaml").write_text(SPEC.replace(old, new))
    with pytest.raises(SpecError) as refused:
        load_assignment(tmp_path)
    assert message in str(refused.value)
