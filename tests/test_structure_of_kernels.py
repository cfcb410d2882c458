"""What nvcc makes of kernels, and whether the `structure` check sees what they use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.build import Tools, build_with, find_toolchain
from grader.emulator.backend import Emulated
from grader.model import KernelInterface, Parameter, Structure, Submission
from grader.sandbox import LocalSandbox

if TYPE_CHECKING:
    from pathlib import Path

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


def structure_of(name: str, folder: Path) -> Structure:
    """Compile a kernel and look at it."""
    tools = Tools(find_toolchain(), LocalSandbox(), folder)
    built = build_with(tools, Submission(name, "k.cu", BODIES[name].encode(), ""), INTERFACE)
    assert built.ok, built.findings
    return Emulated(built, built.source_name, "k.cu").structure()


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
def test_a_kernel_uses_what_its_instructions_say(name: str, used: set[str], tmp_path: Path) -> None:
    """Not what its text says: what the compiler left of it, however far from the kernel itself."""
    found = structure_of(name, tmp_path)
    sorts = ("shared_loads", "shared_stores", "barriers", "atomics", "shuffles", "constant_loads")
    seen = {sort for sort in sorts if getattr(found, sort).count} | ({"library"} if found.library else set())
    assert seen == used


@pytest.mark.slow
def test_lines_are_those_of_the_students_file(tmp_path: Path) -> None:
    """And a library is named by the header that its code is from."""
    assert [name for name, _ in structure_of("CUB", tmp_path).library] == ["CUB"]
    assert structure_of("tile", tmp_path).barriers.lines == (4,)
