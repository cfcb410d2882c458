"""Arrays that do not begin where `cudaMalloc` would put them: a case's `offset`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from grader.grading.assignment import find_assignment, load_assignment
from grader.kinds import pipeline
from grader.model import FindingKind, Grade, Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = """
__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int k = 0; k < K; k += 4) {
    float4 four = *(const float4*)(A + row * K + k);
    sum += four.x * B[k * N + col] + four.y * B[(k + 1) * N + col];
    sum += four.z * B[(k + 2) * N + col] + four.w * B[(k + 3) * N + col];
  }
  C[row * N + col] = sum;
}
"""


def _graded(folder: Path, offset: str) -> Grade:
    """The grade of a kernel that reads four numbers at once, on one case."""
    source = find_assignment("tiled-matmul")
    shutil.copytree(source, folder)
    text = (folder / "assignment.yaml").read_text(encoding="utf-8")
    tags = "tags: [aligned, non-aligned, rectangular]"
    case = f"  - {{id: only, shape: {{M: 32, K: 32, N: 32}}, {tags}{offset}}}\n"
    begin, end = text.index("cases:\n") + len("cases:\n"), text.index("timing:")
    (folder / "assignment.yaml").write_text(text[:begin] + case + text[end:], encoding="utf-8")
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(load_assignment(folder), 7, tools, visible_only=False)
    return pipeline.grade(plan, Submission("mine", "mine.cu", KERNEL.encode(), ""), tools)


def test_a_kernel_that_relies_on_the_start_of_an_array_is_found_where_a_case_moves_it(tmp_path: Path) -> None:
    """It passes on arrays of their own, and is misaligned on views that begin one element later."""
    fine, moved = _graded(tmp_path / "fine", ""), _graded(tmp_path / "moved", ", offset: 1")
    verdicts = [{item.result.item.id: item.result.verdict for item in grade.items} for grade in (fine, moved)]
    assert [each["memory"] for each in verdicts] == [Verdict.PASS, Verdict.FAIL]
    kinds = {f.kind for item in moved.items for f in item.result.findings if item.result.item.id == "memory"}
    assert kinds == {FindingKind.MISALIGNED}
