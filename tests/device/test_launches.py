"""Launches of whole programs: the heap of kernels, and what the emulator leaves to other devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.device.service import channel, serve
from grader.kinds.program.on_emulator import EmulatedDevice
from grader.model import ProgramInterface, Submission
from grader.nvcc import build_program
from grader.sandbox import Job, Limits, LocalSandbox, Stage

if TYPE_CHECKING:
    from grader.nvcc import Tools

_LIMITS = Limits(wall_seconds=60.0, cpu_seconds=60)

_SHARES_A_BLOCK = """
#include <cstdio>
__global__ void squares(int *out) {
    __shared__ int *taken;
    if (threadIdx.x == 0) taken = (int *)malloc(blockDim.x * sizeof(int));
    __syncthreads();
    taken[threadIdx.x] = threadIdx.x * threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = taken[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) free(taken);
}
int main() {
    int *d, h[4]; cudaMalloc(&d, sizeof h);
    for (int i = 0; i < 2; ++i) squares<<<1, 4>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    std::printf("%d %d %d %d\\n", h[0], h[1], h[2], h[3]); cudaFree(d);
}
"""

_KEEPS_A_BLOCK = """
__device__ int *kept;
__global__ void take() { kept = (int *)malloc(4); *kept = 7; }
__global__ void use() { *kept += 1; free(kept); }
int main() { take<<<1, 1>>>(); use<<<1, 1>>>(); cudaDeviceSynchronize(); }
"""

_WAITS_FOR_THE_GRID = """
#include <cooperative_groups.h>
__global__ void both(int *p) {
    p[blockIdx.x] = 1; cooperative_groups::this_grid().sync(); p[2 + blockIdx.x] = p[1 - blockIdx.x];
}
int main() {
    int *d; cudaMalloc(&d, 16); void *arguments[] = {&d};
    cudaLaunchCooperativeKernel((void *)both, 2, 32, arguments); cudaDeviceSynchronize(); cudaFree(d);
}
"""


def _run(tools: Tools, source: str) -> tuple[str, EmulatedDevice]:
    """What a program prints, and the device that it ran on."""
    built = build_program(tools, Submission("any", "any.cu", source.encode(), "0" * 8), ProgramInterface())
    assert built.ok, built.log
    device = EmulatedDevice(built, "any.cu", source, 2**29, 10**6)
    with (
        channel() as folder,
        LocalSandbox().stage(Stage(_LIMITS, channel=str(folder))) as sandbox,
        serve(device.device, folder, 60.0) as served,
    ):
        files = (("program", built.program),)
        result = sandbox.run(Job(("./program",), files, (), _LIMITS, environment=served.environment))
    return result.outcome.stdout.decode(), device


def _kernel_findings(device: EmulatedDevice) -> list[str]:
    return [str(finding) for run in device._launches.runs for finding in run.run.findings]


def test_a_kernel_takes_memory_from_the_heap(own_tools: Tools) -> None:
    """A program whose kernel shares a block from malloc runs as on a device, launch after launch."""
    printed, device = _run(own_tools, _SHARES_A_BLOCK)
    assert (printed, device.unsupported, _kernel_findings(device)) == ("9 4 1 0\n", "", [])


@pytest.mark.parametrize(
    ("source", "reason"),
    [(_KEEPS_A_BLOCK, "outlives its launch"), (_WAITS_FOR_THE_GRID, "cooperative launch")],
)
def test_what_the_emulator_cannot_do_is_no_mistake_of_the_program(
    own_tools: Tools, source: str, reason: str
) -> None:
    """A correct program is accused of nothing; what is missing here is named."""
    _, device = _run(own_tools, source)
    assert reason in device.unsupported
    assert _kernel_findings(device) == []
