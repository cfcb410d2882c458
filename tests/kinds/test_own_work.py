"""Too much work is the submission's own if the model solution comes to its end: a question to staff."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import load_assignment
from grader.kinds import own_work, pipeline
from grader.model import Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade

SPINNING = """__global__ void vectorAdd(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float kept = 0;
    if (N CONDITION) for (int k = 0; k < 2000000000; ++k) kept += A[k % 7];
    if (i < N) C[i] = A[i] + B[i] + 0 * kept;
}
"""

STEPS = 20_000


def _graded(source: str) -> Grade:
    """The grade of a kernel by its visible and hidden cases, with little work for each."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    drawn = pipeline.make_plan(bundled("vector-add"), 1, tools, visible_only=False)
    plan = replace(drawn, steps=STEPS, feedback=False)
    return pipeline.grade(plan, Submission("ada", "ada.cu", source.encode(), "0" * 8), tools)


@pytest.mark.parametrize("condition", ["> 0", "> 1000"])
def test_a_kernel_that_counts_where_the_solution_ends_is_a_question_with_its_points(condition: str) -> None:
    """The maximum of points is everyone's, whether it counts in all cases or in some."""
    grade = _graded(SPINNING.replace("CONDITION", condition))
    whole = _graded(SPINNING.replace("CONDITION", "< 0"))
    assert (whole.verdict, whole.score) == (Verdict.PASS, whole.max_score)
    assert (grade.verdict, grade.is_question) == (Verdict.ERROR, True)
    assert grade.max_score == whole.max_score
    assert grade.score < grade.max_score
    messages = [item.result.message for item in grade.items if item.result.verdict is Verdict.ERROR]
    assert "too much work for the emulator" in messages[0]
    assert "the model solution comes to its end here" in messages[0]


def test_without_a_model_solution_it_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A student who checks at home has none: nothing there says whose doing it is."""
    monkeypatch.setattr(own_work, "SOLUTION", "no-such-file")
    grade = _graded(SPINNING.replace("CONDITION", "> 0"))
    assert not grade.has_question
    assert grade.skipped_points > 0


def _filling(blocks: int) -> bytes:
    """A program that fills an array with one block, and launches others that do nothing."""
    return f"""#include <cuda_runtime.h>
__global__ void fill(float* p) {{ if (blockIdx.x == 0) p[threadIdx.x] = 1; }}
int main() {{
    float* p;
    cudaMalloc(&p, 128);
    fill<<<{blocks}, 32>>>(p);
    cudaDeviceSynchronize();
    cudaFree(p);
    return 0;
}}
""".encode()


SPEC = """id: fill
title: Fill an array
submission: {kind: program, emulator_seconds: 1}
cases: [{id: only}]
rubric:
  - {id: races, points: 6, check: races}
  - {id: ends, points: 4, check: exit}
"""


def _graded_program(folder: Path, *, blocks: int, of_solution: int) -> Grade:
    """The grade of the program in an assignment whose model solution is the same with another grid."""
    home, staff = folder / "assignments" / "fill", folder / "reference" / "fill"
    home.mkdir(parents=True)
    staff.mkdir(parents=True)
    (home / "assignment.yaml").write_text(SPEC)
    (staff / "solution.cu").write_bytes(_filling(of_solution))
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(load_assignment(home), 1, tools, visible_only=False)
    return pipeline.grade(plan, Submission("ada", "ada.cu", _filling(blocks), "0" * 8), tools)


def test_a_huge_grid_in_a_program_is_a_question_where_the_solution_launches_a_small_one(
    tmp_path: Path,
) -> None:
    """The program's end after it still costs nothing."""
    grade = _graded_program(tmp_path, blocks=2_000_000_000, of_solution=1)
    verdicts = {item.result.item.id: item.result.verdict for item in grade.items}
    assert verdicts == {"races": Verdict.ERROR, "ends": Verdict.PASS}
    assert (grade.score, grade.max_score) == (Fraction(4), Fraction(10))
    assert grade.is_question


def test_what_is_too_much_work_for_the_solution_is_not_judged(tmp_path: Path) -> None:
    """The assignment asks too much: its points are set apart for everyone."""
    grade = _graded_program(tmp_path, blocks=2_000_000_000, of_solution=1_900_000_000)
    assert (grade.verdict, grade.has_question) == (Verdict.PASS, False)
    assert (grade.score, grade.max_score, grade.skipped_points) == (Fraction(4), Fraction(4), Fraction(6))
