"""Whole programs on the emulator: what calls, launches and copies take beside the program itself.

All figures are seconds of processor time, of the judge and of the program together, the shortest of some
runs; what repeats inside a program is the difference to a program that repeats it less often.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from grader.kinds.host_runs.on_emulator import EmulatedDevice
from grader.model import Argument, Build, Launch, ProgramInterface, Submission
from grader.running.backends.emulated_kernel import EmulatedKernel
from grader.running.device.observation import Observation
from grader.running.device.service import run_beside
from grader.simulation.ptx import parse
from grader.toolchain.nvcc import Tools, build_program, find_toolchain
from grader.toolchain.sandbox import Job, Limits, LocalSandbox, Stage
from grader.toolchain.sandbox.channel import channel

REPEATS = 3
HEAD = """#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void nothing() {}
__global__ void product(const float *A, const float *B, float *C, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + column];
    C[row * n + column] = sum;
}
int main(int count, char **words) {
    long n = std::atol(words[1]);
"""
PRODUCT = """
    std::vector<float> a(n * n, 1), c(n * n);
    float *A, *B, *C;
    size_t bytes = n * n * sizeof(float);
    cudaMalloc(&A, bytes); cudaMalloc(&B, bytes); cudaMalloc(&C, bytes);
    cudaMemcpy(A, a.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(B, a.data(), bytes, cudaMemcpyHostToDevice);
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    product<<<grid, block>>>(A, B, C, n);
    cudaMemcpy(c.data(), C, bytes, cudaMemcpyDeviceToHost);
    cudaFree(A); cudaFree(B); cudaFree(C);
    return c[n * n - 1] != n;
"""
EVENTS = "cudaEvent_t e; cudaEventCreate(&e); for (long i = 0; i < n; ++i) cudaEventRecord(e);"
QUERIES = "cudaEvent_t e; cudaEventCreate(&e); for (long i = 0; i < n; ++i) cudaEventQuery(e);"
ATTRIBUTES = "int v; for (long i = 0; i < n; ++i) cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0);"
LAUNCHES = "for (long i = 0; i < n; ++i) nothing<<<1, 32>>>(); cudaDeviceSynchronize();"
COPIES = """std::vector<char> h(64 << 20, 1); char *d; cudaMalloc(&d, h.size());
for (long i = 0; i < n; ++i) cudaMemcpy(d, h.data(), h.size(), cudaMemcpyHostToDevice);"""
BACK = COPIES.replace(
    "(d, h.data(), h.size(), cudaMemcpyHostToDevice)", "(h.data(), d, h.size(), cudaMemcpyDeviceToHost)"
)


@dataclass(frozen=True)
class Program:
    """A program that was built."""

    build: Build

    def seconds(self, count: int, observation: Observation | None = None) -> float:
        """The shortest of some runs with this argument."""
        return min(self._once(count, observation) for _ in range(REPEATS))

    def _once(self, count: int, observation: Observation | None) -> float:
        limits = Limits(wall_seconds=600.0, cpu_seconds=600)
        device = EmulatedDevice(self.build, "program.cu", "", 512 * 2**20, 10**8, observation)
        before = _used()
        with channel() as folder, LocalSandbox().stage(Stage(limits, channel=str(folder))) as sandbox:
            files = (("program", self.build.program),)
            job = Job(("./program", str(count)), files, (), limits)
            result = run_beside(device.device, folder, sandbox, job)
            if not result.outcome.ok:
                raise SystemExit(
                    f"the program failed: {result.outcome} {device.too_much_work(0, 0, in_time=True)}"
                )
        return _used() - before


def alone(build: Build, size: int) -> float:
    """The product as a kernel that is handed in alone, on the same grid: the shortest of some launches."""
    entry = next(f.name for f in parse(build.ptx).functions if f.is_entry and "product" in f.name)
    kernel = EmulatedKernel(replace(build, entry=entry), build.source_name, "program.cu")
    blocks = -(-size // 16)
    launch = Launch((blocks, blocks, 1), (16, 16, 1))
    ones = np.ones((size, size), np.float32)
    arrays = (Argument("A", "in", ones), Argument("B", "in", ones), Argument("C", "out", ones))
    shortest = float("inf")
    for _ in range(REPEATS):
        before = time.process_time()
        kernel.launch(launch, (*arrays, Argument("n", "in", np.int32(size))))
        shortest = min(shortest, time.process_time() - before)
    return shortest


def _used() -> float:
    """Processor time of this process and of those that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def built(body: str, tools: Tools) -> Program:
    """A program with this body of ``main``."""
    source = f"{HEAD}{body}\n}}\n".encode()
    build = build_program(tools, Submission("bench", "program.cu", source, "0" * 8), ProgramInterface())
    if not build.ok:
        raise SystemExit(f"{build.error}{build.log}")
    return Program(build)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as cache:
        tools = Tools(find_toolchain(), LocalSandbox(), Path(cache))
        product = built(PRODUCT, tools)
        rows = [("a program of 32² with hazards", f"{product.seconds(32):.3f} s")]
        count = 20_000
        for name, body in (("an event", EVENTS), ("a query", QUERIES), ("an attribute", ATTRIBUTES)):
            program = built(body, tools)
            rows.append((name, f"{(program.seconds(count + 1) - program.seconds(1)) / count * 1e6:.1f} µs"))
        launches = built(LAUNCHES, tools)
        rows.append(
            ("an empty launch", f"{(launches.seconds(301) - launches.seconds(1)) / 300 * 1e3:.2f} ms")
        )
        for name, body in (("copies to the device", COPIES), ("copies back", BACK)):
            program = built(body, tools)
            gigabytes = 20 * (64 << 20) / 1e9
            rows.append((name, f"{gigabytes / (program.seconds(21) - program.seconds(1)):.1f} GB/s"))
        whole, kernel = product.seconds(256), alone(product.build, 256)
        rows.append(("product of 256² with hazards", f"{whole:.2f} s"))
        rows.append(("its kernel alone", f"{kernel:.2f} s, the program takes {whole / kernel:.2f} × as long"))
        default_build_alone = Observation(count_only=True)
        rows.append(("product of 1024² without", f"{product.seconds(1024, default_build_alone):.1f} s"))
    sys.stdout.writelines(f"{name:32} {figure}\n" for name, figure in rows)


if __name__ == "__main__":
    main()
