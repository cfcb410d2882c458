"""Threads that store one and the same value at once: no one can see it, whatever comes after a barrier."""

from __future__ import annotations

import pytest

from grader.model import FindingKind, Severity
from tests.simulation.emulator.launching import hazard_build, zeros

SOURCE = """
extern "C" __global__ void emptied_by_all(float* y) {
    y[blockIdx.x] = 0.0f;
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = 7.0f;
}
extern "C" __global__ void emptied_then_added(float* y) {
    y[blockIdx.x] = 0.0f;
    __syncthreads();
    atomicAdd(&y[blockIdx.x], 1.0f);
}
extern "C" __global__ void twice_by_all(float* y) {
    y[blockIdx.x] = 1.0f;
    __syncthreads();
    y[blockIdx.x] = 2.0f;
}
extern "C" __global__ void without_the_barrier(float* y) {
    y[blockIdx.x] = 0.0f;
    if (threadIdx.x == 0) y[blockIdx.x] = 7.0f;
}
extern "C" __global__ void own_values(float* y) {
    y[blockIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = 7.0f;
}
extern "C" __global__ void by_blocks_with_other_values(float* y) {
    y[0] = blockIdx.x;
}
"""


@pytest.mark.parametrize(
    ("kernel", "costs"),
    [
        ("emptied_by_all", False),
        ("emptied_then_added", False),
        ("twice_by_all", False),
        ("without_the_barrier", True),
        ("own_values", True),
        ("by_blocks_with_other_values", True),
    ],
)
@pytest.mark.parametrize("threads", [32, 64])
def test_only_what_may_come_out_differently_costs_anything(kernel: str, costs: bool, threads: int) -> None:  # noqa: FBT001
    """In global memory as in shared memory, where a barrier ends what is compared."""
    run = hazard_build(SOURCE).run(kernel, (2, 1, 1), (threads, 1, 1), zeros(64))
    races = [each for each in run.findings if each.kind is FindingKind.RACE]
    assert races
    assert any(each.severity is not Severity.INFO for each in races) is costs
