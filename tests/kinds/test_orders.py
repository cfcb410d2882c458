"""A kernel without a data race is judged by what it computes when its warps run one after another, too.

Atomic accesses never race with each other, and side by side all threads take each step together: so a kernel
that only replaces its barriers by atomic accesses is right by chance.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import staff_folder
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled

if TYPE_CHECKING:
    from grader.model import Grade

MATMUL = staff_folder(bundled("tiled-matmul")) / "solution.cu"

REFERENCE = "cuda::atomic_ref<float, cuda::thread_scope_block>"

HEAD = """
#define BLOCK_SIZE 128
__device__ float part[64];
__device__ unsigned int arrived, turn;
__global__ void sumReduce(const float* values, float* total, int N) {
    __shared__ float s[BLOCK_SIZE / 32];
    int t = threadIdx.x;
    float x = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < N; i += gridDim.x * blockDim.x) x += values[i];
    for (int d = 16; d; d >>= 1) x += __shfl_down_sync(~0u, x, d);
    if (t % 32 == 0) s[t / 32] = x;
    __syncthreads();
    if (t) return;
    x = s[0] + s[1] + s[2] + s[3];
"""

WAITING = {
    "the last block to arrive": """
    *(volatile float*)&part[blockIdx.x] = x; __threadfence();
    if (atomicAdd(&arrived, 1) % gridDim.x == gridDim.x - 1) {
        __threadfence();
        for (int b = 0; b < gridDim.x; ++b) *total += *(volatile float*)&part[b];
    } }""",
    "a barrier of the grid": """
    part[blockIdx.x] = x; __threadfence(); atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) % gridDim.x != 0) ;
    __threadfence();
    if (blockIdx.x == 0) for (int b = 0; b < gridDim.x; ++b) *total += part[b]; }""",
    "blocks in turn": """
    while (*(volatile unsigned*)&turn % gridDim.x != blockIdx.x) ;
    __threadfence(); *total += x; __threadfence(); atomicAdd(&turn, 1); }""",
}


def graded(assignment: str, source: str) -> Grade:
    """The grade of a source on the visible cases."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(bundled(assignment), 1, tools, visible_only=True)
    return pipeline.grade(plan, Submission("mine", "mine.cu", source.encode(), ""), tools)


def verdict(grade: Grade, item: str) -> Verdict:
    """The verdict of one item."""
    return next(each.result.verdict for each in grade.items if each.result.item.id == item)


def with_atomic_tiles(source: str) -> str:
    """The model solution with an atomic access wherever a tile is accessed."""
    own = r"(tile[AB]\[threadIdx\.y\]\[threadIdx\.x\])"
    stores = re.sub(rf"{own} = (.*);", rf"{REFERENCE}(\1).store(\2);", source)
    read = r"(tileA\[threadIdx\.y\]\[k\]|tileB\[k\]\[threadIdx\.x\])"
    return "#include <cuda/atomic>\n" + re.sub(
        read, rf"{REFERENCE}(\1).load(cuda::memory_order_relaxed)", stores
    )


def test_atomic_accesses_are_no_barriers() -> None:
    """The values that threads read depend on their order; with barriers the same accesses are right."""
    source = with_atomic_tiles(MATMUL.read_text("utf-8"))
    grade = graded("tiled-matmul", source.replace("__syncthreads();", ""))
    assert verdict(grade, "aligned") is Verdict.PASS
    assert verdict(grade, "barriers") is Verdict.FAIL


def test_atomic_accesses_between_barriers_are_right() -> None:
    """The barriers make every order the same."""
    grade = graded("tiled-matmul", with_atomic_tiles(MATMUL.read_text("utf-8")))
    assert grade.score == grade.max_score


@pytest.mark.parametrize("name", WAITING)
def test_threads_that_wait_for_each_other_are_right_in_every_order(name: str) -> None:
    """However they wait."""
    grade = graded("reduction", HEAD + WAITING[name])
    assert [verdict(grade, item) for item in ("whole-blocks", "any-length", "barriers")] == [Verdict.PASS] * 3
