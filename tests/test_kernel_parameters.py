"""What a kernel may be given beside plain pointers and numbers, graded from the file to the points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader import pipeline
from grader.build import Tools, find_toolchain
from grader.model import Submission
from grader.sandbox import LocalSandbox
from grader.spec import find_assignment, load_assignment

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    """The compiler, with a cache for this module."""
    return Tools(find_toolchain(), LocalSandbox(), tmp_path_factory.mktemp("builds"))


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
