"""A submission whose numbers fit no formula is not asked about all of them again for each case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.explaining import other_answers
from grader.explaining.formulas.mutants import mutants
from grader.kinds import pipeline
from grader.model import Submission
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    import pytest

    from grader.grading.oracle import Oracle

SOURCE = b"""#define TILE_SIZE 16
__global__ void tiledMatMul(float *A, float *B, float *C, int M, int K, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += sinf(A[row * K + k]) * B[k * N + col] + 3.0f * (k % 7);
    C[row * N + col] = sum + 1.5f * (row % 3);
}
"""


def test_all_formulas_are_tried_once_for_each_item(monkeypatch: pytest.MonkeyPatch) -> None:
    """A formula that a clear output of an item rules out is not tried for its other outputs."""
    asked: list[Container[str] | None] = []

    def counted(oracle: Oracle, only: Container[str] | None) -> Iterator[tuple[str, Oracle]]:
        asked.append(only)
        return mutants(oracle, only)

    monkeypatch.setattr(other_answers, "mutants", counted)
    assignment = bundled("tiled-matmul")
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=True)
    grade = pipeline.grade(plan, Submission("s", "s.cu", SOURCE, ""), tools)
    assert grade.evidence is not None
    wrong = [case for case in grade.evidence.cases if case.comparisons[0].wrong]
    assert len(wrong) > 5
    outputs = [item for item in assignment.rubric if item.check == "output"]
    deciding = {next((item.id for item in outputs if item.looks_at(case.case)), "") for case in wrong}
    unclear = sum(not case.comparisons[0].telling for case in wrong)
    assert len(deciding) <= asked.count(None) <= len(deciding) + unclear < len(wrong)
