"""Kernels whose threads wait for each other end: locks, turns, chains, software barriers, parted warps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.simulation.emulator.launching import Compiled, default_build, hazard_build, zeros

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = r"""
__device__ int lock_word, turn, done;
__device__ volatile int flags[64];
__device__ int sums[64];
__device__ unsigned arrivals;
__device__ volatile unsigned phase_word;

extern "C" __global__ void block_lock(int* A) {
    if (threadIdx.x == 0) { while (atomicCAS(&lock_word, 0, 1) != 0); __threadfence(); }
    __syncthreads();
    A[threadIdx.x] += 1;
    __syncthreads();
    if (threadIdx.x == 0) { __threadfence(); atomicExch(&lock_word, 0); }
}
extern "C" __global__ void warp_lock(int* A) {
    int lane = threadIdx.x % 32;
    if (lane == 0) while (atomicCAS(&lock_word, 0, 1) != 0);
    __threadfence();
    __syncwarp();
    A[lane] += 1;
    __syncwarp();
    if (lane == 0) { __threadfence(); atomicExch(&lock_word, 0); }
}
extern "C" __global__ void warp_lock_and_shuffle(int* A) {
    int lane = threadIdx.x % 32;
    if (lane == 0) while (atomicCAS(&lock_word, 0, 1) != 0);
    __threadfence();
    int one = __shfl_sync(~0u, lane - 2, 3);
    __syncwarp();
    A[lane] += one;
    __syncwarp();
    if (lane == 0) { __threadfence(); atomicExch(&lock_word, 0); }
}
extern "C" __global__ void blocks_in_turn(int* A) {
    if (threadIdx.x == 0) { while (atomicAdd(&turn, 0) != blockIdx.x) __nanosleep(20); __threadfence(); }
    __syncthreads();
    A[threadIdx.x] = A[threadIdx.x] * 3 + blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) { __threadfence(); atomicAdd(&turn, 1); }
}
extern "C" __global__ void chained_scan(int* A) {
    __shared__ int before;
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        before = 0;
        if (b) { while (flags[b - 1] == 0); __threadfence(); before = sums[b - 1]; }
    }
    __syncthreads();
    if (threadIdx.x == 0) { sums[b] = before + b; __threadfence(); flags[b] = 1; }
    A[b * blockDim.x + threadIdx.x] = before;
}
extern "C" __global__ void one_block_collects(int* A) {
    int b = blockIdx.x;
    if (b) {
        A[b * blockDim.x + threadIdx.x] = b;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicAdd(&done, 1);
    } else {
        if (threadIdx.x == 0) { while (atomicAdd(&done, 0) != gridDim.x - 1); __threadfence(); }
        __syncthreads();
        int sum = 0;
        for (int k = 1; k < gridDim.x; ++k) sum += A[k * blockDim.x + threadIdx.x];
        A[threadIdx.x] = sum;
    }
}
extern "C" __global__ void named_barrier_beside_a_spinner(int* A) {
    __shared__ volatile int flag;
    __shared__ int box[64];
    int t = threadIdx.x;
    if (t == 0) flag = 0;
    __syncthreads();
    if (t < 64) {
        box[t] = t;
        __threadfence_block();
        asm volatile("bar.sync 1, 64;");
        if (t == 0) { __threadfence_block(); flag = 1; }
        A[t] = box[63 - t];
    } else {
        while (flag == 0);
        __threadfence_block();
        A[t] = box[t - 64];
    }
}
__device__ void whole_grid(unsigned phase) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(&arrivals, 1) == gridDim.x * phase - 1) { __threadfence(); phase_word = phase; }
        else while (phase_word < phase);
        __threadfence();
    }
    __syncthreads();
}
extern "C" __global__ void software_barrier(int* A) {
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    A[i] = i;
    whole_grid(1);
    int next = A[(i + blockDim.x) % n];
    whole_grid(2);
    A[i] = next;
}
extern "C" __global__ void syncwarp_in_both_branches(int* A) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t & 1) { s[t] = 1; __syncwarp(); } else { s[t] = 2; __syncwarp(); }
    A[t] = s[t ^ 1];
}
extern "C" __global__ void shuffle_in_both_branches(int* A) {
    int t = threadIdx.x, got;
    if (t & 1) got = __shfl_sync(~0u, 10 * t, 4); else got = __shfl_sync(~0u, 100 * t, 3);
    A[t] = got;
}
extern "C" __global__ void vote_in_both_branches(int* A) {
    int t = threadIdx.x;
    if (t % 32 < 5) A[t] = __ballot_sync(~0u, t & 1); else A[t] = __ballot_sync(~0u, t % 32 == 30);
}
__device__ __noinline__ int summed(int x) { return __reduce_add_sync(~0u, x); }
extern "C" __global__ void sum_inside_and_outside_a_call(int* A) {
    int t = threadIdx.x;
    A[t] = t & 1 ? summed(1) : __reduce_add_sync(~0u, 100);
}
"""


@pytest.fixture(scope="module", params=["default", "O0"])
def kernels(request: pytest.FixtureRequest) -> Compiled:
    """All kernels of this file, from both builds."""
    return default_build(SOURCE) if request.param == "default" else hazard_build(SOURCE)


def in_turn(blocks: int) -> int:
    """The value of each element after ``blocks`` blocks have had their turn."""
    value = 0
    for block in range(blocks):
        value = value * 3 + block
    return value


CASES: dict[str, tuple[int, int, Callable[[np.ndarray], object]]] = {
    "block_lock": (3, 64, lambda i: np.where(i < 64, 3, 0)),
    "warp_lock": (2, 64, lambda i: np.where(i < 32, 4, 0)),
    "warp_lock_and_shuffle": (2, 64, lambda i: np.where(i < 32, 4, 0)),
    "blocks_in_turn": (5, 64, lambda i: np.where(i < 64, in_turn(5), 0)),
    "chained_scan": (8, 64, lambda i: (i // 64) * (i // 64 - 1) // 2),
    "one_block_collects": (5, 64, lambda i: np.where(i < 64, 10, i // 64)),
    "named_barrier_beside_a_spinner": (1, 128, lambda i: np.where(i < 64, 63 - i, i - 64)),
    "software_barrier": (12, 64, lambda i: (i + 64) % 768),
    "syncwarp_in_both_branches": (1, 64, lambda i: np.where(i % 2, 2, 1)),
    "shuffle_in_both_branches": (
        1,
        64,
        lambda i: np.where(i % 2, 100 * (i // 32 * 32 + 4), 10 * (i // 32 * 32 + 3)),
    ),
    "vote_in_both_branches": (1, 64, lambda _: (1 << 30) + 0b01010),
    "sum_inside_and_outside_a_call": (1, 32, lambda _: 16 * 101),
}


@pytest.mark.parametrize("kernel", CASES)
def test_a_kernel_whose_threads_wait_comes_to_its_end(kernels: Compiled, kernel: str) -> None:
    """The result is right and nothing is found, wherever threads wait while others spin."""
    blocks, threads, expected = CASES[kernel]
    size = blocks * threads
    result = kernels.run(kernel, (blocks, 1, 1), (threads, 1, 1), zeros(size, dtype="int32"))
    assert result.completed
    assert not result.findings, "\n".join(finding.message for finding in result.findings)
    np.testing.assert_array_equal(dict(result.outputs)["A"], expected(np.arange(size)))
