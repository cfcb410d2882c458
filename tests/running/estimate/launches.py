"""Launches of small kernels, as the model runs them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.model import Argument, Build, Launch
from grader.running.estimate.devices import H100
from grader.running.estimate.machine_code_launch import machine_code_launch
from grader.running.estimate.sampling import sample
from grader.toolchain.nvcc import Tools, find_toolchain, machine_code
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.simulation.emulator.nvcc import ptx as compile_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.model import Dim3
    from grader.running.estimate.devices import GpuModel
    from grader.running.estimate.sampling import MachineCodeLaunch, SampledBlocks

    Value: TypeAlias = NDArray[Any] | int

SOURCE = """
extern "C" __global__ void copy(const float* from, float* to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

extern "C" __global__ void chain(float* values, int rounds) {
    float x = values[threadIdx.x];
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < 16; ++i) x = x * x + 1.0f;
    }
    values[threadIdx.x] = x;
}

extern "C" __global__ void rolled(float* values, int rounds) {
    float x = values[blockIdx.x * blockDim.x + threadIdx.x];
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) x = x * 0.5f + 1.0f;
    values[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

extern "C" __global__ void uneven(float* values, int blocks) {
    if (blockIdx.x < blocks / 2) return;
    values[blockIdx.x * blockDim.x + threadIdx.x] += 1.0f;
}

extern "C" __global__ void conflicts(float* to, int rounds) {
    __shared__ volatile float tile[32 * 32];
    float sum = 0;
    for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) tile[i] = i;
    __syncthreads();
    for (int round = 0; round < rounds; ++round) sum += tile[threadIdx.x % 32 * 32];
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void phases(float* to, int rounds) {
    __shared__ volatile float tile[32 * 32];
    float x = threadIdx.x, y = 0;
    for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) tile[i] = i;
    for (int round = 0; round < rounds; ++round) x = x * x + 1.0f;
    __syncthreads();
    for (int round = 0; round < rounds; ++round) y += tile[threadIdx.x % 32 * 32];
    to[blockIdx.x * blockDim.x + threadIdx.x] = y + x;
}

extern "C" __global__ void scattered(const float* from, float* to, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i * stride];
}

extern "C" __global__ void gather(const float* from, const int* index, float* to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[index[i]];
}

extern "C" __global__ void scatter(const float* from, const int* index, float* to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[index[i]] = from[i];
}

// Threads that are neighbours go through rows of 32 elements, one column after the other.
extern "C" __global__ void columns(const float* x, float* y, int rows) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = t % rows * 32 + t / rows;
    y[i] = x[i];
}

// Each block goes to the end of the array: the first has the most to do.
extern "C" __global__ void to_the_end(float* values, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) values[i] *= 2.0f;
}

// The threads of a block add to a sum of their own, or of all blocks where the distance is 0.
extern "C" __global__ void sums(const float* x, float* sum, int distance) {
    atomicAdd(&sum[blockIdx.x * distance], x[blockIdx.x * blockDim.x + threadIdx.x]);
}

// Each lane accesses a line of its own in global memory, but the first few, which go to other memory.
#define PARTED(NAME, OTHER, STATEMENT)                                                     \\
extern "C" __global__ void NAME(int* values, int rounds, int few) {                        \\
    OTHER int other[32];                                                                   \\
    other[threadIdx.x % 32] = 0;                                                           \\
    bool is_other = threadIdx.x % 32 < few;                                                \\
    int* own = values + (blockIdx.x * blockDim.x + threadIdx.x) * 32;                      \\
    volatile int* place = is_other ? other : own;                                          \\
    int sum = 0, step = is_other ? 0 : gridDim.x * blockDim.x * 32;                        \\
    for (int round = 0; round < rounds; ++round, place += step) STATEMENT;                 \\
    if (sum == 1) values[0] = other[threadIdx.x % 7];                                      \\
}
PARTED(loads_beside_shared, __shared__, sum += *place)
PARTED(stores_beside_shared, __shared__, *place = round)
PARTED(updates_beside_shared, __shared__, atomicAdd((int*)place, 1))
PARTED(loads_beside_local, , sum += *place)
PARTED(stores_beside_local, , *place = round)

// A lane of each warp copies one element of an array, and the others neighbours of another.
extern "C" __global__ void copy_beside_one(const float* one, const float* from, float* to, int lane) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = *(threadIdx.x % 32 == lane ? one : from + i);
}

// The loads are two instructions, whose predicate does not hold in the first turns.
extern "C" __global__ void loads_from(const float* x, float* y, int rounds, int first) {
    float sum = 0, v = 0, w = 0;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        asm volatile("{ .reg .pred p; setp.ge.s32 p, %3, %4;"
                     " @p ld.global.f32 %0, [%2]; @p ld.global.f32 %1, [%2 + 2048]; }"
                     : "+f"(v), "+f"(w) : "l"(x + threadIdx.x + 1024 * round), "r"(round), "r"(first));
        sum += v * w;
    }
    y[threadIdx.x] = sum;
}

// Loops whose turns before the `first` do as little as they can with the instructions of all later ones.
#define TURNS(NAME, BEFORE, TURN)                                                          \\
extern "C" __global__ void NAME(float* x, float* few, int rounds, int first) {             \\
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, all = gridDim.x * blockDim.x;    \\
    float sum = 0, v = 0, w = 0;                                                           \\
    BEFORE                                                                                 \\
    _Pragma("unroll 1") for (int round = 0; round < rounds; ++round) {                     \\
        bool late = round >= first;                                                        \\
        int turn = late ? round - first : 0;                                               \\
        TURN                                                                               \\
        sum += v * w;                                                                      \\
    }                                                                                      \\
    few[i] = sum;                                                                          \\
}
#define LOADS_IF(PLACE, CONDITION)                                                         \\
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %3, 0;"                                   \\
                 " @p ld.global.f32 %0, [%2]; @p ld.global.f32 %1, [%2 + 128]; }"          \\
                 : "+f"(v), "+f"(w) : "l"(PLACE), "r"((int)(CONDITION)));
TURNS(one_lane_first, , LOADS_IF(x + (late ? i * 2 + turn * all * 2 : 0), late || t % 32 == 0))
TURNS(one_place_first, , LOADS_IF(x + i * 2 + turn * all * 2, true))
TURNS(one_array_first, , LOADS_IF(late ? x + i * 2 + turn * all * 2 : few + t + round * 256, true))
TURNS(one_line_first, , LOADS_IF(x + (late ? (t % 32 * 256 + t / 32) * 32 : t % 32) + turn % 2, true))
TURNS(one_warp_first, , if (late || t < 32) { LOADS_IF(x + t % 32, true) sum = sqrtf(sum); })
TURNS(no_conflicts_first, __shared__ volatile float tile[1024 + 32]; tile[t] = t; ,
      v = tile[t % 32 * (late ? 32 : 1)]; w = tile[t % 32 * (late ? 32 : 1) + 1];)
TURNS(own_words_first, , atomicAdd((int*)x + (late ? t % 2 : i * 32), 1);)

// A loop that takes little, long code without any, and a loop that takes much.
extern "C" __global__ void dear_at_the_end(const float* x, float* y, int rounds, int few) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float sum = i;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) sum = sum * sum + 1.0f;
#pragma unroll
    for (int step = 0; step < 512; ++step) sum = sum * sum + 0.5f;
#pragma unroll 1
    for (int round = 0; round < few; ++round) sum += x[round * all * 2 + i * 2];
    y[i] = sum;
}

extern "C" __global__ void endless(volatile float* values) {
    while (values[0] == 0.0f) values[1] += 1.0f;
}

extern "C" __global__ void stray(float* values) { values[threadIdx.x + (1 << 28)] = 1.0f; }

extern "C" __global__ void clocks(long long* values) {
    values[0] = clock64();
    asm volatile("nanosleep.u32 20;");
}
"""


@cache
def tools() -> Tools:
    """The compiler and what disassembles."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


@cache
def ptx() -> str:
    """The kernels as PTX."""
    return compile_text(SOURCE, ("-lineinfo",))


def build(entry: str) -> Build:
    """The build of one of them."""
    return Build(ok=True, ptx=ptx(), entry=entry)


def floats(*shape: int) -> NDArray[np.float32]:
    """Small numbers, the same each time."""
    return np.random.default_rng(1).random(shape, np.float32)


def coded(
    entry: str, grid: Dim3, block: Dim3, *arguments: Value, device: GpuModel = H100, shared: int = 0
) -> MachineCodeLaunch:
    """A launch; arrays are read and written, numbers are passed as int."""
    code = machine_code(tools(), ptx(), device.architecture)
    return machine_code_launch(
        code, build(entry), Launch(grid, block, shared), named(*arguments), device.architecture
    )


def named(*arguments: Value) -> tuple[Argument, ...]:
    """Arguments with names in their order."""
    return tuple(
        Argument(f"a{place}", "inout", value)
        if isinstance(value, np.ndarray)
        else Argument(f"a{place}", "value", np.int32(value))
        for place, value in enumerate(arguments)
    )


def sampled(
    entry: str, grid: Dim3, block: Dim3, *arguments: Value, device: GpuModel = H100, shared: int = 0
) -> SampledBlocks:
    """The blocks of one multiprocessor, run."""
    return sample(coded(entry, grid, block, *arguments, device=device, shared=shared), device)
