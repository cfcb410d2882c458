"""The order of lanes: lanes that part meet again, lanes that wait are not starved, nothing hangs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.model import FindingKind
from tests.simulation.emulator.launching import Compiled, default_build, hazard_build, zeros

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = r"""
extern "C" __global__ void own_trip_count(int* A) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    for (unsigned n = i + 1; n != 1; n = n % 2 ? 3 * n + 1 : n / 2) ++steps;
    A[i] = steps;
}
extern "C" __global__ void nested_branches(int* A) {
    int t = threadIdx.x, x = 0;
    for (int k = 0; k < t % 5; ++k) {
        if (k % 2) { if (t % 3 == 0) continue; x += 10; }
        else if (t % 7 == 3) break;
        x += k;
    }
    switch (t % 4) {
        case 0: x += 100; break;
        case 1: x += 200;
        case 2: x += 300; break;
        default: x = -x;
    }
    A[t] = x;
}
extern "C" __global__ void waits_for_a_later_lane(volatile int* A) {
    if (threadIdx.x == 0) { while (A[0] == 0) { } A[1] = 7; }
    else if (threadIdx.x == 31) A[0] = 1;
}
extern "C" __global__ void waits_for_another_block(volatile int* A) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) { while (A[0] == 0) { } A[1] = 7; }
    else A[0] = 1;
}
extern "C" __global__ void lock_by_every_thread(int* A) {
    bool done = false;
    while (!done) {
        if (atomicCAS(&A[0], 0, 1) == 0) {
            int seen = *(volatile int*)&A[1];
            *(volatile int*)&A[1] = seen + 1;
            __threadfence();
            atomicExch(&A[0], 0);
            done = true;
        }
    }
}
extern "C" __global__ void naive_lock(int* A) {
    while (atomicCAS(&A[0], 0, 1) != 0) { }
    *(volatile int*)&A[1] += 1;
    __threadfence();
    atomicExch(&A[0], 0);
}
extern "C" __global__ void takes_turns(int* A, int rounds) {
    for (int k = 0; k < rounds; ++k) {
        while (atomicAdd(&A[0], 0) != 2 * k + (int)blockIdx.x) { }
        __threadfence();
        A[1] += k;
        __threadfence();
        atomicAdd(&A[0], 1);
    }
}
extern "C" __global__ void waits_for_nobody(volatile int* A) {
    while (A[0] == 0) { }  // forever
    A[1] = 7;
}
extern "C" __global__ void half_wait_for_nobody(volatile int* A) {
    if (threadIdx.x < 16) { while (A[0] == 0) { } }  // half
    __syncthreads();
    A[1] = 7;
}
extern "C" __global__ void barriers_in_a_divergent_loop(int* A) {
    __shared__ int turn;
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    for (int k = 0; k < 64; ++k) {
        if (threadIdx.x == k) turn += k;
        __syncthreads();
    }
    A[threadIdx.x] = turn;
}
extern "C" __global__ void named_barriers(int* A) {
    __shared__ int box[64];
    int t = threadIdx.x;
    if (t < 64) {
        box[t] = t;
        asm volatile("bar.sync 1, 64;");
        A[t] = box[63 - t];
    } else {
        asm volatile("bar.sync 2, 64;");
        A[t] = t;
    }
}
__device__ __noinline__ int twice(int x) { return x % 3 ? 2 * x : -x; }
extern "C" __global__ void divergent_calls(int* A) {
    int t = threadIdx.x, x = t;
    if (t % 2) x = twice(t) + 1; else if (t % 5 == 0) x = twice(twice(t));
    A[t] = x;
}
extern "C" __global__ void exits_anywhere(int* A) {
    int t = threadIdx.x;
    for (int k = 0; k < 10; ++k) {
        A[t] = k;
        if (k == t % 13) asm volatile("exit;");
    }
    A[t] = 99;
}
extern "C" __global__ void where_am_i(int* A) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int size = blockDim.x * blockDim.y * blockDim.z;
    A[block * size + thread] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z + 1000 * threadIdx.x
        + 10000 * threadIdx.y + 100000 * threadIdx.z;
}
"""


@pytest.fixture(scope="module", params=["default", "O0"])
def kernels(request: pytest.FixtureRequest) -> Compiled:
    """All kernels of this file, from both builds."""
    return default_build(SOURCE) if request.param == "default" else hazard_build(SOURCE)


def result_of(kernels: Compiled, kernel: str, threads: int, size: int, blocks: int = 1) -> np.ndarray:
    """The int array that a kernel leaves; it must come to its end."""
    result = kernels.run(kernel, (blocks, 1, 1), (threads, 1, 1), zeros(size, dtype="int32"))
    assert result.completed, result.findings
    return dict(result.outputs)["A"]


def collatz(n: int) -> int:
    """Steps from n to 1."""
    steps = 0
    while n != 1:
        n, steps = 3 * n + 1 if n % 2 else n // 2, steps + 1
    return steps


def test_every_lane_takes_its_own_trip_count(kernels: Compiled) -> None:
    """Loops of 0 to more than 100 turns side by side, also where the last warp is partial."""
    got = result_of(kernels, "own_trip_count", 50, 100, blocks=2)
    np.testing.assert_array_equal(got, [collatz(n) for n in range(1, 101)])


def test_nested_branches_loops_and_switches_meet_again(kernels: Compiled) -> None:
    """``continue``, ``break`` and falling through, each taken by some lanes."""
    expected = []
    for t in range(64):
        x = 0
        for k in range(t % 5):
            if k % 2:
                if t % 3 == 0:
                    continue
                x += 10
            elif t % 7 == 3:
                break
            x += k
        expected.append((x + 100, x + 500, x + 300, -x)[t % 4])
    np.testing.assert_array_equal(result_of(kernels, "nested_branches", 64, 64), expected)


@pytest.mark.parametrize(
    ("kernel", "blocks"), [("waits_for_a_later_lane", 1), ("waits_for_another_block", 2)]
)
def test_a_lane_that_spins_does_not_starve_the_one_that_frees_it(
    kernels: Compiled, kernel: str, blocks: int
) -> None:
    """The spinning lane has the smaller program counter, and the other still gets its turn."""
    np.testing.assert_array_equal(result_of(kernels, kernel, 32, 2, blocks), [1, 7])


@pytest.mark.parametrize("build", [hazard_build, default_build])
def test_a_hand_over_between_blocks_takes_a_few_rounds_of_waiting(
    build: Callable[[str], Compiled],
) -> None:
    """Whoever waits for another thread's store is put back soon, however often they take turns."""
    few, many = (
        build(SOURCE).run("takes_turns", (2, 1, 1), (1, 1, 1), zeros(2, dtype="int32"), np.int32(rounds))
        for rounds in (8, 32)
    )
    assert not many.findings
    assert dict(many.outputs)["A"].tolist() == [64, 2 * sum(range(32))]
    assert many.steps - few.steps < (32 - 8) * 600


@pytest.mark.parametrize("kernel", ["lock_by_every_thread", "naive_lock"])
def test_a_lock_is_taken_by_every_thread_in_turn(kernels: Compiled, kernel: str) -> None:
    """Independent thread scheduling: even the lock that hung warps before Volta makes progress."""
    np.testing.assert_array_equal(result_of(kernels, kernel, 8, 2), [0, 8])


@pytest.mark.parametrize("kernel", ["waits_for_nobody", "half_wait_for_nobody"])
def test_a_wait_that_no_thread_ends_is_a_timeout(kernels: Compiled, kernel: str) -> None:
    """Also where the others wait at a barrier meanwhile."""
    result = kernels.run(kernel, (1, 1, 1), (32, 1, 1), zeros(2, dtype="int32"), steps=20_000)
    assert FindingKind.TIMEOUT in {finding.kind for finding in result.findings}
    assert not result.completed
    if kernels.detect:
        (found,) = (finding for finding in result.findings if finding.kind is FindingKind.TIMEOUT)
        assert found.line == kernels.line("// half" if "half" in kernel else "// forever")


def test_a_barrier_gathers_lanes_that_parted(kernels: Compiled) -> None:
    """One lane a turn goes another way, and all see what it did."""
    np.testing.assert_array_equal(result_of(kernels, "barriers_in_a_divergent_loop", 64, 64), sum(range(64)))


def test_named_barriers_gather_part_of_a_block(kernels: Compiled) -> None:
    """Two halves of a block, each with a barrier of its own."""
    expected = [*range(63, -1, -1), *range(64, 128)]
    np.testing.assert_array_equal(result_of(kernels, "named_barriers", 128, 128), expected)


def test_lanes_may_call_from_different_places(kernels: Compiled) -> None:
    """A function called under divergence, and its result used again."""

    def twice(x: int) -> int:
        return 2 * x if x % 3 else -x

    def expected(t: int) -> int:
        if t % 2:
            return twice(t) + 1
        # C takes the sign of the dividend: -x % 3 is 0 exactly where x % 3 is
        return twice(twice(t)) if t % 5 == 0 else t

    np.testing.assert_array_equal(
        result_of(kernels, "divergent_calls", 64, 64), [expected(t) for t in range(64)]
    )


def test_lanes_may_exit_anywhere(kernels: Compiled) -> None:
    """Inside a loop, a few at a time; the rest goes on."""
    expected = [t % 13 if t % 13 < 10 else 99 for t in range(64)]
    np.testing.assert_array_equal(result_of(kernels, "exits_anywhere", 64, 64), expected)


def test_three_dimensional_indices_count_x_first(kernels: Compiled) -> None:
    """Blocks and threads alike."""
    result = kernels.run("where_am_i", (2, 3, 2), (3, 2, 2), zeros(12 * 12, dtype="int32"))
    got = dict(result.outputs)["A"].reshape(2, 3, 2, 2, 2, 3)
    for (bz, by, bx, tz, ty, tx), value in np.ndenumerate(got):
        assert value == bx + 10 * by + 100 * bz + 1000 * tx + 10000 * ty + 100000 * tz


def test_more_blocks_than_run_side_by_side_give_the_same_result(kernels: Compiled) -> None:
    """Blocks go in chunks; the result does not show where one ends."""
    got = result_of(kernels, "own_trip_count", 1000, 40_000, blocks=40)
    np.testing.assert_array_equal(got[::997], [collatz(n) for n in range(1, 40_001, 997)])
