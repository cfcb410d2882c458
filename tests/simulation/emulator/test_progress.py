"""A hang is distinguished from much work: by what ends a loop, and by whether it comes closer to its end."""

from __future__ import annotations

import numpy as np
import pytest

from grader.model import Argument, FindingKind, Launch
from grader.model.messages import clause
from grader.simulation.emulator.launch import Kernel
from grader.simulation.emulator.machine import copies
from grader.simulation.emulator.machine.progress import Watch
from grader.simulation.emulator.stalled import worked_so_far
from tests.simulation.emulator.launching import Compiled, default_build, hazard_build, zeros

SOURCE = r"""
extern "C" __global__ void forgets_to_count(float* A, int n) {
    float sum = 0;
    int i = 0;
    while (i < n) { sum += A[i]; }
    A[0] = sum;
}
extern "C" __global__ void stores_for_ever(float* A, int n) {
    while (n) { A[threadIdx.x] += 1; }
}
extern "C" __global__ void barriers_for_ever(float* A, int n) {
    int i = 0;
    while (i < n) { __syncthreads(); A[threadIdx.x] += 1; __syncthreads(); }
}
extern "C" __global__ void counts_past_its_end(float* A, int n) {
    for (unsigned i = 1; i != n; i += 2) A[threadIdx.x] += A[(threadIdx.x + i) % 32] > 2 ? 1 : 2;
}
extern "C" __global__ void unsigned_down_to_zero(float* A, int n) {
    float sum = 0;
    for (unsigned i = n; i >= 0; --i) sum += A[i % 32];
    A[threadIdx.x] = sum;
}
extern "C" __global__ void local_that_stays(float* A, int n) {
    volatile int i = 0;
    while (i == 0) A[0] = i;
}
extern "C" __global__ void counts_elsewhere(float* A, int n) {
    volatile int i = 0;
    while (i < n) A[threadIdx.x] += 1;
}
extern "C" __global__ void says_the_same_for_ever(float* A, int n) {
    __shared__ float s[32];
    s[threadIdx.x] = 0;
    __syncthreads();
    do A[threadIdx.x] = 3; while (((volatile float*)s)[threadIdx.x ^ 1] < n);
}
extern "C" __global__ void steps_by_four(float* A, int n) {
    float sum = 0;
    int k = 0;
    for (; k + 3 < 40 * n; k += 4) sum += A[k % 32] + A[(k + 1) % 32] + A[(k + 2) % 32] + A[(k + 3) % 32];
    for (; k < 40 * n; ++k) sum += A[k % 32];
    A[threadIdx.x] = sum;
}
extern "C" __global__ void local_that_counts(float* A, int n) {
    volatile int i = 0;
    int* alias = (int*)&i;
    while (i < 1000 * n) { A[threadIdx.x] += 1; *alias = *alias + 1; }
}
extern "C" __global__ void long_sum(float* A, int n) {
    float sum = 0;
    for (int i = 0; i < 2000 * n; ++i) for (int j = 0; j < n; ++j) sum += A[i * j % 32];
    A[threadIdx.x] = sum;
}
extern "C" __global__ void one_thread_for_all(float* A, int n) {
    if (threadIdx.x) return;
    float sum = 0;
    for (int i = 0; i < 100000 * n; ++i) sum += A[i % 32];
    A[0] = sum;
}
extern "C" __global__ void halves_until_small(float* A, int n) {
    for (int k = 0; k < 100000; ++k) for (double x = n; x > 1e-30; x /= 2) A[threadIdx.x] += x > 1;
}
__device__ unsigned arrivals;
__device__ volatile unsigned open;
extern "C" __global__ void software_barrier(int* A, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, size = gridDim.x * blockDim.x;
    A[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(&arrivals, 1) == gridDim.x - 1) { __threadfence(); open = 1; } else while (!open);
        __threadfence();
    }
    __syncthreads();
    if (A[(i + n) % size] != (i + n) % size) A[i] = -1;
}
__device__ void copy_in(float* to, float* from) {
    unsigned place = (unsigned)__cvta_generic_to_shared(to + threadIdx.x);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(place), "l"(from + threadIdx.x));
}
extern "C" __global__ void copies_nobody_waits_for(float* A, int n) {
    __shared__ float s[256];
    for (int i = 0; i < n; ++i) copy_in(s, A);
}
extern "C" __global__ void waits_that_let_all_go_on(float* A, int n) {
    __shared__ float s[256];
    for (int i = 0; i < n; ++i) {
        copy_in(s, A);
        asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 100000;");
    }
}
extern "C" __global__ void fences_for_each(float* A, int n) {
    for (int i = 0; i < n; ++i) __threadfence();
    A[threadIdx.x] = n;
}
__device__ int rounds;
extern "C" __global__ void rounds_between_fences(int* A, int n) {
    for (int i = 0; i < n; ++i) { __threadfence(); atomicAdd(&rounds, 1); A[threadIdx.x] += 1; }
}
extern "C" __global__ void updates_of_each_block(int* A, int n) {
    for (int i = 0; i < n; ++i) { __threadfence(); atomicAdd_block(&A[threadIdx.x], 1); }
}
extern "C" __global__ void flags_in_shared_memory(int* A, int n) {
    __shared__ int s[32];
    volatile int* flag = s;
    if (threadIdx.x < 32) s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < n; ++i) {
        __threadfence_block();
        atomicAdd_block(&s[threadIdx.x % 32], 1);
        s[threadIdx.x % 32] += 1;
        while (!flag[threadIdx.x % 32]);
    }
    __syncthreads();
    A[threadIdx.x] = s[threadIdx.x % 32];
}
"""

BUDGET = 30_000


@pytest.fixture(scope="module", params=["default", "O0"])
def kernels(request: pytest.FixtureRequest) -> Compiled:
    """All kernels of this file, from both builds."""
    return default_build(SOURCE) if request.param == "default" else hazard_build(SOURCE)


@pytest.mark.parametrize(
    "kernel",
    [
        "forgets_to_count",
        "stores_for_ever",
        "barriers_for_ever",
        "counts_past_its_end",
        "unsigned_down_to_zero",
        "local_that_stays",
        "counts_elsewhere",
        "says_the_same_for_ever",
    ],
)
def test_a_loop_that_never_ends_is_a_timeout(kernels: Compiled, kernel: str) -> None:
    """The loop may store, wait at barriers, or count away from its end."""
    result = kernels.run(kernel, (1, 1, 1), (32, 1, 1), zeros(32), np.int32(10), steps=BUDGET)
    assert not result.completed
    assert not result.too_much_work
    assert [finding.kind for finding in result.findings if finding.kind is not FindingKind.RACE] == [
        FindingKind.TIMEOUT
    ]


def test_a_loop_whose_end_nothing_decides_is_seen_at_once(kernels: Compiled) -> None:
    """Long before the budget is spent."""
    result = kernels.run("forgets_to_count", (1, 1, 1), (32, 1, 1), zeros(32), np.int32(10))
    assert not result.completed
    assert result.steps < BUDGET


def test_a_counter_that_is_compared_with_something_added_to_it_is_followed(kernels: Compiled) -> None:
    """The compared value is no counter itself, but is computed anew from one each round."""
    result = kernels.run("steps_by_four", (1, 1, 1), (1, 1, 1), zeros(32), np.int32(10))
    assert result.completed
    assert not result.findings


def test_warps_one_after_another_are_given_up_without_looking_why(
    kernels: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only outputs of those that all end are compared; the look took a third of the time of large tiles."""
    looks: list[int] = []
    monkeypatch.setattr(Watch, "never_ends", lambda *_: looks.append(1))
    kernel = Kernel(kernels.module, "long_sum")
    arguments = Argument("A", "inout", zeros(32)), Argument("n", "value", np.int32(10))
    assert kernel.warp_by_warp(Launch((1, 1, 1), (64, 1, 1)), arguments, work=BUDGET, steps=BUDGET) == ()
    assert not looks


@pytest.mark.parametrize(
    "kernel", ["long_sum", "one_thread_for_all", "halves_until_small", "local_that_counts"]
)
def test_much_work_is_no_timeout(kernels: Compiled, kernel: str) -> None:
    """A loop that comes closer to its end is given up without a finding, and with a reason."""
    result = kernels.run(
        kernel, (1, 1, 1), (32, 1, 1), zeros(32), np.int32(10), steps=BUDGET, interpreted=True
    )
    assert not result.completed
    assert "too much work for the emulator" in clause(result.too_much_work)
    assert not result.findings


def test_the_blocks_that_came_to_their_end_are_counted(
    kernels: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the work that they took: what all of a launch would take can be estimated."""
    monkeypatch.setattr("grader.simulation.emulator.launch.CHUNK_LANES", 32)
    one = kernels.run("long_sum", (1, 1, 1), (32, 1, 1), zeros(32), np.int32(1))
    assert (one.ended_blocks, one.ended_work) == (1, one.work)
    steps = one.work * 5 // 2
    result = kernels.run("long_sum", (9, 1, 1), (32, 1, 1), zeros(32), np.int32(1), steps=steps)
    assert not result.completed
    assert (result.ended_blocks, result.ended_work) == (2, 2 * one.work)


def test_copies_that_no_thread_waits_for_are_bounded(
    kernels: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They take memory until they land: the launch is given up, with a reason."""
    monkeypatch.setattr(copies, "MOST_UNDER_WAY", 10_000)
    result = kernels.run("copies_nobody_waits_for", (1, 1, 1), (32, 1, 1), zeros(32), np.int32(1000))
    assert "too many asynchronous copies before it waits" in clause(result.too_much_work)
    assert not result.findings
    assert result.steps < BUDGET


def test_copies_that_land_in_time_are_not(kernels: Compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those under way count."""
    monkeypatch.setattr(copies, "MOST_UNDER_WAY", 64 * 32)
    result = kernels.run("copies_nobody_waits_for", (1, 1, 1), (32, 1, 1), zeros(32), np.int32(64))
    assert result.completed


def test_looking_at_copies_that_are_under_way_is_work(kernels: Compiled) -> None:
    """Each wait looks at all of them: with many, a few steps are as much work as many others."""
    result = kernels.run(
        "waits_that_let_all_go_on", (1, 1, 1), (32, 1, 1), zeros(32), np.int32(1 << 20), steps=BUDGET
    )
    assert "too much work for the emulator" in clause(result.too_much_work)
    assert not result.findings
    assert result.steps < BUDGET * 2 / 3


def test_keeping_what_orders_threads_is_work() -> None:
    """A fence is more work than a step where hazards are looked for."""
    few, many = (
        hazard_build(SOURCE).run(
            "fences_for_each", (1, 1, 1), (32, 1, 1), zeros(32), np.int32(count), interpreted=True
        )
        for count in (10, 110)
    )
    assert many.work - few.work >= (many.steps - few.steps) + 100


@pytest.mark.parametrize("kernel", ["updates_of_each_block", "flags_in_shared_memory"])
def test_comparing_accesses_has_a_bound(kernel: str) -> None:
    """Pairs of strong writes grow with the square of the rounds: the launch is given up, with a reason."""
    result = hazard_build(SOURCE).run(
        kernel, (8, 1, 1), (256, 1, 1), zeros(256, dtype="int32"), np.int32(40), steps=BUDGET
    )
    assert not result.completed
    assert "compare too many accesses to the same elements" in clause(result.too_much_work)
    assert not result.findings
    assert result.work < BUDGET


def test_plain_accesses_of_many_rounds_are_compared() -> None:
    """The latest of a thread's accesses stands for those before it: pairs grow with the rounds alone."""
    result = hazard_build(SOURCE).run(
        "rounds_between_fences", (8, 1, 1), (32, 1, 1), zeros(32, dtype="int32"), np.int32(200), steps=BUDGET
    )
    assert result.completed
    assert FindingKind.RACE in [finding.kind for finding in result.findings]


def test_blocks_may_wait_for_more_blocks_than_run_side_by_side(kernels: Compiled) -> None:
    """A device could hold all of these at once: 150 blocks of 256 threads."""
    result = kernels.run(
        "software_barrier", (150, 1, 1), (256, 1, 1), zeros(150 * 256, dtype="int32"), np.int32(256)
    )
    assert result.completed, result.findings
    assert not result.findings
    np.testing.assert_array_equal(dict(result.outputs)["A"], np.arange(150 * 256))


def test_blocks_that_no_device_holds_at_once_cannot_wait_for_each_other(kernels: Compiled) -> None:
    """The blocks that were not started are named in the finding."""
    result = kernels.run(
        "software_barrier", (120, 1, 1), (1024, 1, 1), zeros(120 * 1024, dtype="int32"), np.int32(1)
    )
    assert result.completed
    result = kernels.run(
        "software_barrier", (250, 1, 1), (1024, 1, 1), zeros(250 * 1024, dtype="int32"), np.int32(1)
    )
    (finding,) = result.findings
    assert finding.kind is FindingKind.TIMEOUT
    assert "had not started" in finding.message


def test_a_launch_of_which_no_thread_is_known_to_be_left_is_not_reported_to_leave_its_work_to_few() -> None:
    """It is large, and each of its threads has its share."""
    assert (
        clause(worked_so_far([], 201, of=1 << 20))
        == "too much work for the emulator: after 201 steps it still runs"
    )
