"""Launches of whole programs: the heap of kernels, and what the emulator leaves to other devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
#include <cstdio>
__global__ void both(int *p, int n) {
    int own = blockIdx.x * blockDim.x + threadIdx.x, other = n - 1 - own;
    for (int round = 1; round <= 3; ++round) {
        p[own] = 10 * round + blockIdx.x;
        BARRIER;
        int seen = p[other];
        BARRIER;
        p[n + own] = seen;
    }
}
int main(int count, char **) {
    int block = 64, grid = count > 1 ? 200000 : 40, n = grid * block;
    int *d, h[2]; cudaMalloc(&d, 8 * n); void *arguments[] = {&d, &n};
    for (int i = 0; i < 2; ++i) {
        std::puts(cudaGetErrorName(cudaLaunchCooperativeKernel((void *)both, grid, block, arguments)));
        std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    }
    std::puts(cudaGetErrorName(cudaGetLastError()));
    cudaMemcpy(h, d + n, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(h + 1, d + 2 * n - 1, 4, cudaMemcpyDeviceToHost);
    if (count == 1) std::printf("%d %d\\n", h[0], h[1]);
    cudaFree(d);
}
"""
_GRID_BARRIER = "cooperative_groups::this_grid().sync()"


def _run(tools: Tools, source: str, *words: str) -> tuple[str, EmulatedDevice]:
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
        result = sandbox.run(Job(("./program", *words), files, (), _LIMITS, environment=served.environment))
    return result.outcome.stdout.decode(), device


def _kernel_findings(device: EmulatedDevice) -> list[str]:
    return [str(finding) for run in device._launches.runs for finding in run.run.findings]


def test_a_kernel_takes_memory_from_the_heap(own_tools: Tools) -> None:
    """A program whose kernel shares a block from malloc runs as on a device, launch after launch."""
    printed, device = _run(own_tools, _SHARES_A_BLOCK)
    assert (printed, device.unsupported, _kernel_findings(device)) == ("9 4 1 0\n", "", [])


def test_what_the_emulator_cannot_do_is_no_mistake_of_the_program(own_tools: Tools) -> None:
    """A correct program is accused of nothing; what is missing here is named."""
    _, device = _run(own_tools, _KEEPS_A_BLOCK)
    assert "outlives its launch" in device.unsupported
    assert _kernel_findings(device) == []


def test_the_blocks_of_a_cooperative_launch_wait_for_each_other(own_tools: Tools) -> None:
    """All run side by side, and each sees what the others wrote; nothing races, launch after launch."""
    printed, device = _run(own_tools, _WAITS_FOR_THE_GRID.replace("BARRIER", _GRID_BARRIER))
    assert printed == 5 * "cudaSuccess\n" + "69 30\n"
    assert (device.unsupported, _kernel_findings(device)) == ("", [])


def test_blocks_of_a_cooperative_launch_that_do_not_wait_race(own_tools: Tools) -> None:
    """A barrier of the block is none of the grid."""
    _, device = _run(own_tools, _WAITS_FOR_THE_GRID.replace("BARRIER", "__syncthreads()"))
    assert any("race" in finding for finding in _kernel_findings(device))


def test_a_cooperative_launch_of_more_blocks_than_a_device_holds_is_refused(own_tools: Tools) -> None:
    """With CUDA's own code, and the host is told why."""
    source = _WAITS_FOR_THE_GRID.replace("BARRIER", _GRID_BARRIER)
    printed, device = _run(own_tools, source, "large")
    too_large, success = "cudaErrorCooperativeLaunchTooLarge\n", "cudaSuccess\n"
    assert printed == 2 * (too_large + success) + too_large
    mistakes = [
        (str(mistake.code), dict(mistake.details)["reason"]) for mistake in device.device.mistakes[:1]
    ]
    assert mistakes == [("launch-refused", "cooperative")]
