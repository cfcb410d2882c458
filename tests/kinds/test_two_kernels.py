"""An assignment that asks for two kernels in one file: cases say which one they launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.base.arithmetic import Number
from grader.base.errors import SpecError
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import KernelInterface, Submission, Verdict
from grader.reports import grade_json, record_json
from grader.running.backends.gpu import GpuBackend
from grader.toolchain.gpu.pool import GpuPool
from grader.toolchain.nvcc import Tools, build_kernels, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.toolchain.gpu.pretend import GPU, PretendGpu

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Assignment, Grade

SPEC = """\
id: both
title: Twice the same
reference: matmul
submission:
  kind: kernel
  kernel: second
  parameters:
    A: in float32[M, K]
    B: in float32[K, N]
    C: out float32[M, N]
    M: int32
    K: int32
    N: int32
  launch: {block: [8, 8], grid: [ceil(N / 8), ceil(M / 8)]}
cases:
  - {id: one, shape: {M: 5, K: 3, N: 9}, tags: [first], kernel: first}
  - {id: two, shape: {M: 5, K: 3, N: 9}, tags: [second]}
rubric:
  - {id: compiles, points: 1, check: compile}
  - {id: first, points: 1, check: output, cases: first}
  - {id: second, points: 1, check: output, cases: second}
"""
KERNEL = """
__global__ void %s(const float* A, const float* B, float* C, int M, int K, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < %s; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""


@pytest.fixture(scope="module")
def assignment(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    """One case for each of two kernels."""
    folder = tmp_path_factory.mktemp("both")
    (folder / "assignment.yaml").write_text(SPEC)
    return load_assignment(folder)


@pytest.fixture(scope="module")
def cache() -> Path:
    """Builds of this module's tests."""
    return shared_builds()


def _graded(assignment: Assignment, cache: Path, source: str) -> Grade:
    tools = Tools(find_toolchain(), LocalSandbox(), cache)
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=False)
    return pipeline.grade(plan, Submission("s", "s.cu", source.encode(), "d"), tools)


def _verdicts(grade: Grade) -> list[Verdict]:
    return [item.result.verdict for item in grade.items]


def test_each_case_is_judged_by_the_kernel_that_it_names(assignment: Assignment, cache: Path) -> None:
    """A mistake in the one costs nothing of the other, and the message names the kernel."""
    grade = _graded(assignment, cache, KERNEL % ("first", "K - 1") + KERNEL % ("second", "K"))
    assert _verdicts(grade) == [Verdict.PASS, Verdict.FAIL, Verdict.PASS]
    assert "In case `one` (M=5, K=3, N=9) `first` is wrong:" in grade.items[1].result.message


def test_a_kernel_that_is_not_there_is_reported_by_name(assignment: Assignment, cache: Path) -> None:
    """Both have to be in the file."""
    grade = _graded(assignment, cache, KERNEL % ("second", "K"))
    assert set(_verdicts(grade)) == {Verdict.FAIL}
    assert "first" in grade.items[0].result.message


def test_a_kernel_that_is_asked_for_itself_is_not_to_be_renamed(cache: Path) -> None:
    """Whichever of the two is missing, and however much the names are alike."""
    names = ("naiveMatMul", "tiledMatMul")
    tools = Tools(find_toolchain(), LocalSandbox(), cache)
    for missing, there in (names, names[::-1]):
        for main in names:
            (other,) = set(names) - {main}
            interface = KernelInterface(main, (), (), (Number(8),), (Number(1),), others=(other,))
            source = f"__global__ void {there}() {{}}".encode()
            built = build_kernels(tools, Submission("s", "s.cu", source, "d"), interface)
            assert [finding.message for finding in built.findings] == [
                f"no kernel named `{missing}`; this file has: `{there}`; `{there}` is asked for, too"
            ]


def test_a_stored_grade_keeps_which_kernel_a_case_launched(assignment: Assignment, cache: Path) -> None:
    """The usual kernel is not stored."""
    grade = _graded(assignment, cache, KERNEL % ("first", "K") + KERNEL % ("second", "K"))
    stored = record_json.load(record_json.dump(grade))
    assert [case.case.kernel for case in stored.cases] == ["first", ""]
    assert grade_json.dump(grade).count('"kernel"') == 1


def test_on_a_gpu_each_kernel_is_run_by_itself(assignment: Assignment, cache: Path) -> None:
    """With its own cubin, on its own cases."""
    device = PretendGpu()
    tools = Tools(find_toolchain(), device, cache)
    pool = GpuPool((GPU,), "python3", (("sm_90", b"helpers"),))
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=False, backend=GpuBackend(pool))
    source = KERNEL % ("first", "K") + KERNEL % ("second", "K")
    grade = pipeline.grade(plan, Submission("s", "s.cu", source.encode(), "d"), tools)
    assert set(_verdicts(grade)) == {Verdict.PASS}
    assert len(device.jobs) == 2
    assert device.jobs[0].files != device.jobs[1].files


def test_a_kernel_of_a_case_must_be_a_name(tmp_path: Path) -> None:
    """As everywhere, with the place in the file."""
    (tmp_path / "assignment.yaml").write_text(SPEC.replace("kernel: first", "kernel: 1st one"))
    with pytest.raises(SpecError, match=r"cases\[0\].kernel: expected the name of a kernel"):
        load_assignment(tmp_path)
