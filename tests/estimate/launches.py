"""Launches of small kernels, as the model runs them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.estimate.coded import coded_launch
from grader.estimate.devices import H100
from grader.estimate.sampling import sample
from grader.model import Argument, Build, Launch
from grader.nvcc import Tools, find_toolchain, machine_code
from grader.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.emulator.nvcc import ptx as compile_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.estimate.devices import Device
    from grader.estimate.sampling import CodedLaunch, SampledBlocks
    from grader.model import Dim3

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
    entry: str, grid: Dim3, block: Dim3, *arguments: Value, device: Device = H100, shared: int = 0
) -> CodedLaunch:
    """A launch; arrays are read and written, numbers are passed as int."""
    code = machine_code(tools(), ptx(), device.architecture)
    return coded_launch(
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
    entry: str, grid: Dim3, block: Dim3, *arguments: Value, device: Device = H100, shared: int = 0
) -> SampledBlocks:
    """The blocks of one multiprocessor, run."""
    return sample(coded(entry, grid, block, *arguments, device=device, shared=shared), device)
