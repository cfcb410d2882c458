"""Compare the native core with the interpreter in NumPy, for launches with nothing wrong with them.

    .venv/bin/python -m tests.bench.engines

Both run in turn in one process; a figure is the shortest of several runs in processor time. Hazards are
looked for in the unoptimised build. A launch of many rounds is only given to the core: the interpreter would
take minutes.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from grader.model import Argument, Launch
from grader.simulation.emulator.launch import Kernel
from tests.bench.measuring import matmul_launch, tiled_matmul
from tests.simulation.emulator.nvcc import HAZARDS, compile_one

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.simulation.ptx import Module

REPEATS = 3
SOURCE = r"""
extern "C" __global__ void naive(const float* A, const float* B, float* C, int M, int K, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
extern "C" __global__ void part(int* C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i;
    for (int j = 0; j < i * 7919 % 97; ++j) x = (x ^ j) & 1 ? x * 3 + 1 : x / 2 + j;
    C[i] = x + n;
}
extern "C" __global__ void rounds(int* C, int n) {
    int x = 1;
    for (int i = 0; i < n; ++i) { x = x * 1664525 + 1013904223; if (x == 7) x += i; }
    C[threadIdx.x] = x;
}
extern "C" __global__ void add(const float* A, const float* B, float* C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) C[i] = A[i] + B[i];
}
"""

Values = tuple[Argument, ...]


def _works() -> Iterator[tuple[str, str, Launch, Values, bool]]:
    """Name, kernel, launch, arguments, and whether the interpreter runs it, too."""
    yield "tiled 16", "", *matmul_launch(16, 16, 16), True
    yield "tiled 256", "", *matmul_launch(256, 256, 256), True
    yield "naive 256", "naive", *matmul_launch(256, 256, 256), True
    numbers = Argument("C", "out", np.zeros(1 << 18, np.int32))
    yield (
        "lanes part",
        "part",
        Launch((1024, 1, 1), (256, 1, 1)),
        (numbers, Argument("n", "value", np.int32(1))),
        True,
    )
    million = (Argument("C", "out", np.zeros(32, np.int32)), Argument("n", "value", np.int32(1_000_000)))
    yield "one thread, 10^6 rounds", "rounds", Launch((1, 1, 1), (1, 1, 1)), million, False
    ones = np.ones(1 << 22, np.float32)
    arrays = (Argument("A", "in", ones), Argument("B", "in", ones), Argument("C", "out", ones * 0))
    size = Argument("n", "value", np.int32(len(ones)))
    yield "4 M additions", "add", Launch((len(ones) // 256, 1, 1), (256, 1, 1)), (*arrays, size), True


def _milliseconds(kernel: Kernel, launch: Launch, values: Values, *, detect: bool) -> float:
    """The shortest of some launches, after one that does not count."""
    shortest = float("inf")
    for repeat in range(REPEATS + 1):
        began = time.process_time()
        run = kernel.run(launch, values, detect=detect)
        seconds = time.process_time() - began
        shortest = min(shortest, seconds) if repeat else shortest
        assert run.completed
        assert not run.findings
    return 1000 * shortest


def _row(name: str, module: Module, work: tuple[str, Launch, Values], *, detect: bool, both: bool) -> str:
    kernel, launch, values = work
    core = _milliseconds(Kernel(module, kernel), launch, values, detect=detect)
    build = "hazards" if detect else "plain"
    if not both:
        return f"{name:24} {build:8} {core:10.2f} {'':>10} {'':>7}"
    interpreter = _milliseconds(Kernel(module, kernel, interpreted=True), launch, values, detect=detect)
    return f"{name:24} {build:8} {core:10.2f} {interpreter:10.2f} {interpreter / core:6.1f}x"


def main() -> int:
    """Print the table."""
    plain, hazard = (compile_one(SOURCE, options) for options in ((), HAZARDS))
    tiled = tiled_matmul()
    sys.stdout.write(f"{'launch':24} {'build':8} {'core ms':>10} {'NumPy ms':>10} {'ratio':>7}\n")
    for name, kernel, launch, values, both in _works():
        for detect in (False, True):
            module = hazard if detect else plain
            if not kernel:
                module = (tiled.hazard if detect else tiled.plain).module
            entry = kernel or tiled.plain.entry
            sys.stdout.write(_row(name, module, (entry, launch, values), detect=detect, both=both) + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
