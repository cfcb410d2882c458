"""The cost of hazard detection, by kernel: the watched run of the -O0 build against the plain run."""

from __future__ import annotations

import sys

import numpy as np

from grader.model import Argument, Launch
from tests.bench.measuring import Benchmark, compiled, matmul_launch, tiled_matmul

REPEATS = 5
LANES = 1 << 18
BLOCK = 256
SOURCE = r"""
extern "C" __global__ void saxpy(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * in[i] + out[i];
}
extern "C" __global__ void reduce(float* out, const float* in, int n) {
    __shared__ float part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
extern "C" __global__ void stencil(float* out, const float* in, int n) {
    __shared__ float tile[258];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + 1;
    tile[t] = i < n ? in[i] : 0.0f;
    if (threadIdx.x == 0) tile[0] = i > 0 ? in[i - 1] : 0.0f;
    if (threadIdx.x == blockDim.x - 1) tile[t + 1] = i + 1 < n ? in[i + 1] : 0.0f;
    __syncthreads();
    if (i < n) out[i] = 0.25f * tile[t - 1] + 0.5f * tile[t] + 0.25f * tile[t + 1];
}
extern "C" __global__ void histogram(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[(int)(in[i] * 64.0f) & 63], 1.0f);
}
"""


def main() -> None:
    """Print a row per kernel."""
    row = "{:>13}{:>14}{:>12}{:>12}{:>14}\n"
    sys.stdout.write(row.format("kernel", "instructions", "plain ms", "detect ms", "detect/plain"))
    arrays = (
        Argument("out", "inout", np.zeros(LANES, np.float32)),
        Argument("in", "in", np.random.default_rng(1).random(LANES, np.float32)),
        Argument("n", "value", np.int32(LANES)),
    )
    flat = Launch((LANES // BLOCK, 1, 1), (BLOCK, 1, 1))
    jobs: list[tuple[str, Benchmark, Launch, tuple[Argument, ...]]] = [
        (name, compiled(SOURCE, name), flat, arrays) for name in ("saxpy", "stencil", "reduce", "histogram")
    ]
    jobs.append(("tiled matmul", tiled_matmul(), *matmul_launch(128, 128, 128)))
    for name, kernel, launch, arguments in jobs:
        plain = kernel.measure(launch, arguments, detect=False, repeats=REPEATS)
        detect = kernel.measure(launch, arguments, detect=True, repeats=REPEATS)
        figures = (f"{plain.seconds * 1e3:.1f}", f"{detect.seconds * 1e3:.1f}")
        ratio = f"{detect.seconds / plain.seconds:.2f}"
        sys.stdout.write(row.format(name, f"{plain.run.counters.instructions:,}", *figures, ratio))


if __name__ == "__main__":
    main()
