"""The instructions that nvcc makes of kernels, as the `structure` check sees them."""

from __future__ import annotations

import pytest

from grader.grading.assignment import staff_folder
from grader.kinds import pipeline
from grader.model import KernelInterface, Parameter, Structure, Submission, Verdict
from grader.running.backends.emulated_kernel import EmulatedKernel
from grader.toolchain.nvcc import Tools, build_kernels, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled

INTERFACE = KernelInterface("k", (Parameter("x", "inout", "float32"),), (), (), ())

BODIES = {
    "tile": """__global__ void k(float* x) {
        __shared__ float tile[64];
        tile[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        x[threadIdx.x] = tile[63 - threadIdx.x];
    }""",
    "tile that is passed on": """__device__ __noinline__ float other(float* t, int i) { return t[63 - i]; }
    __global__ void k(float* x) {
        __shared__ float tile[64];
        tile[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        x[threadIdx.x] = other(tile, threadIdx.x);
    }""",
    "tile that is not needed": """__global__ void k(float* x) {
        __shared__ float tile[64];
        tile[threadIdx.x] = 1;
        x[threadIdx.x] *= 2;
    }""",
    "words alone": """// __shared__ __syncthreads() atomicAdd __shfl_down_sync
    __global__ void k(float* x) { const char* said = "atomicAdd(__shared__)"; x[0] = said[0]; }""",
    "sum": """#include <cstdio>
    __constant__ float factor;
    __device__ __noinline__ void add(float* x, float v) { atomicAdd(x, v); }
    __global__ void k(float* x) {
        float v = x[threadIdx.x] * factor;
        v += __shfl_down_sync(0xffffffff, v, 16);
        if (threadIdx.x == 0) { add(x, v); printf("%f", v); }
    }""",
    "CUB": """#include <cub/block/block_reduce.cuh>
    __global__ void k(float* x) {
        using Reduce = cub::BlockReduce<float, 64>;
        __shared__ typename Reduce::TempStorage storage;
        float sum = Reduce(storage).Sum(x[threadIdx.x]);
        if (threadIdx.x == 0) x[0] = sum;
    }""",
}


def structure_of(name: str) -> Structure:
    """Compile a kernel and look at it."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    built = build_kernels(tools, Submission(name, "k.cu", BODIES[name].encode(), ""), INTERFACE)
    assert built.ok, built.findings
    return EmulatedKernel(built, built.source_name, "k.cu").structure()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("tile", {"shared_loads", "shared_stores", "barriers"}),
        ("tile that is passed on", {"shared_loads", "shared_stores", "barriers"}),
        ("tile that is not needed", set()),
        ("words alone", set()),
        ("sum", {"atomics", "shuffles", "constant_loads"}),
        ("CUB", {"shared_loads", "shared_stores", "barriers", "shuffles", "library"}),
    ],
)
def test_a_kernel_uses_what_its_instructions_use(name: str, used: set[str]) -> None:
    """Its source does not count, but what the compiler left of it, however far from the kernel itself."""
    found = structure_of(name)
    sorts = ("shared_loads", "shared_stores", "barriers", "atomics", "shuffles", "constant_loads")
    seen = {sort for sort in sorts if getattr(found, sort).count} | ({"library"} if found.library else set())
    assert seen == used


@pytest.mark.slow
def test_lines_are_those_of_the_students_file() -> None:
    """And a library is named by the header that its code is from."""
    assert [name for name, _ in structure_of("CUB").library] == ["CUB"]
    assert structure_of("tile").barriers.lines == (4,)


SERIAL_SUM = """#define BLOCK_SIZE 256
__global__ void sumReduce(const float* values, float* total, int N) {
    __shared__ float sums[BLOCK_SIZE];
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = blockIdx.x * BLOCK_SIZE; i < N; i += gridDim.x * BLOCK_SIZE)
            for (int k = i; k < N && k < i + BLOCK_SIZE; ++k) sum += values[k];
        atomicAdd(total, sum);
    }
    if (N < 0) {
        sums[threadIdx.x] = values[0];
        __syncthreads();
        total[0] = __shfl_down_sync(~0u, sums[threadIdx.x ^ 1], 1);
    }
}
"""


def test_what_no_thread_runs_earns_nothing() -> None:
    """One thread adds up all numbers; shuffles and shared memory stand where no thread comes to."""
    assignment = bundled("reduction")
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(assignment, 11, tools, visible_only=True)
    solution = (staff_folder(assignment) / "solution.cu").read_bytes()
    lost = {}
    for name, source in (("serial", SERIAL_SUM.encode()), ("solution", solution)):
        grade = pipeline.grade(plan, Submission(name, "k.cu", source, ""), tools)
        failed = (each.result for each in grade.items if each.result.verdict is Verdict.FAIL)
        lost[name] = {result.item.id: result.message for result in failed}
    assert lost["solution"] == {}
    assert set(lost["serial"]) == {"shuffles", "shared"}
    assert "has warp shuffles on line 13, but no case executes them" in lost["serial"]["shuffles"]
