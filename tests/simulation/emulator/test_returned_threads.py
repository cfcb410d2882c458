"""Threads that do not come to a barrier: a remark where they returned, an error where they passed it by.

The CUDA C++ Programming Guide states for compute capability 7.0 and later that `__syncthreads()` waits for
all non-exited threads of the block.
"""

from __future__ import annotations

import numpy as np
import pytest

from grader.model import FindingCode, FindingKind, Severity
from tests.simulation.emulator.launching import Compiled, default_build, hazard_build, zeros

SOURCE = r"""
extern "C" __global__ void persistent(int *o, int n) {
    __shared__ int s[64];
    int k = 0;
    while (true) {
        if (k > threadIdx.x / 32)
            return;
        s[threadIdx.x] = k;
        __syncthreads();
        o[threadIdx.x] = s[threadIdx.x ^ 1];
        k++;
        __syncthreads();
    }
}
__device__ void meet() { __syncthreads(); }
extern "C" __global__ void helper(int *o, int n) {
    if (threadIdx.x >= n) { o[threadIdx.x] = -1; return; }
    for (int k = 0; k < 2; k++) meet();
    o[threadIdx.x] = 1;
}
extern "C" __global__ void returns_in_loop(int *o, int n) {
    for (int k = threadIdx.x; k < 300; k += 64) {
        if (k >= n)
            return;
        __syncthreads();
        o[threadIdx.x] = k;
    }
}
extern "C" __global__ void skip(int *o, int n) {
    if (threadIdx.x < n)
        __syncthreads();
    o[threadIdx.x] = 1;
}
extern "C" __global__ void both(int *o, int n) {
    if (threadIdx.x >= n)
        return;
    if (threadIdx.x % 2)
        __syncthreads();
    o[threadIdx.x] = 1;
}
extern "C" __global__ void off_the_end(int *o, int n) {
    if (threadIdx.x < n) {
        __syncthreads();
        o[threadIdx.x] = 1;
    }
}
extern "C" __global__ void uneven(int *o, int n) {
    for (int k = threadIdx.x; k < 100; k += 64) {
        o[threadIdx.x] = k;
        __syncthreads();
    }
}
extern "C" __global__ void waits_elsewhere(int *o, int n) {
    if (threadIdx.x == 40) return;
    if (threadIdx.x < 32)
        __syncthreads();
    else
        while (atomicAdd(o, 0) == 0) { }
}
extern "C" __global__ void named(int *o, int n) {
    if (threadIdx.x >= 48) return;
    asm volatile("bar.sync 1, 64;");
    o[threadIdx.x] = 1;
}
extern "C" __global__ void exits(int *o, int n) {
    if (threadIdx.x >= n)
        asm volatile("exit;");
    __syncthreads();
    o[threadIdx.x] = 1;
}
"""

RETURNED = ["persistent", "helper", "returns_in_loop", "exits"]
PASSED_BY = ["skip", "both", "off_the_end", "uneven"]
HANGS = {"waits_elsewhere": FindingKind.TIMEOUT, "named": FindingKind.BARRIER_DIVERGENCE}


@pytest.fixture(scope="module")
def hazards() -> Compiled:
    """All kernels, as the build for hazards."""
    return hazard_build(SOURCE)


def findings_of(build: Compiled, kernel: str) -> set[tuple[FindingKind, str, Severity]]:
    """The findings of a launch of 64 threads in which the kernel is given the number 40."""
    run = build.run(kernel, (1, 1, 1), (64, 1, 1), zeros(64, dtype="int32"), np.int32(40), steps=20_000)
    return {(finding.kind, str(finding.code), finding.severity) for finding in run.findings}


@pytest.mark.parametrize("kernel", RETURNED)
def test_threads_that_returned_before_a_barrier_are_a_remark(hazards: Compiled, kernel: str) -> None:
    """Nothing that costs anything, in a loop, before a function, by `exit`, with no end of the text."""
    assert findings_of(hazards, kernel) == {
        (FindingKind.BARRIER_DIVERGENCE, FindingCode.THREADS_RETURNED, Severity.INFO)
    }


@pytest.mark.parametrize("kernel", PASSED_BY)
def test_threads_that_pass_a_barrier_by_are_an_error(hazards: Compiled, kernel: str) -> None:
    """Also beside threads that returned."""
    missing = (FindingKind.BARRIER_DIVERGENCE, FindingCode.THREADS_MISSING, Severity.ERROR)
    assert missing in findings_of(hazards, kernel)


@pytest.mark.parametrize("kernel", HANGS)
def test_a_block_that_waits_for_living_threads_or_for_a_number_hangs(hazards: Compiled, kernel: str) -> None:
    """The end of a thread does not lower the number that a named barrier waits for."""
    assert (HANGS[kernel], Severity.ERROR) in {
        (kind, grave) for kind, _, grave in findings_of(hazards, kernel)
    }


@pytest.mark.parametrize("kernel", [*RETURNED, *PASSED_BY])
def test_the_default_build_reports_nothing_that_costs(kernel: str) -> None:
    """There a `return` cannot be distinguished from the end of the text, and a device goes on."""
    assert {grave for _, _, grave in findings_of(default_build(SOURCE), kernel)} == {Severity.INFO}
