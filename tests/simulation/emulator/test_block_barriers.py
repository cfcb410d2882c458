"""`cuda::barrier` in both builds: right kernels end as they should without findings, wrong ones are named."""

from __future__ import annotations

import numpy as np
import pytest

from grader.model import FindingKind
from tests.simulation.emulator import nvcc
from tests.simulation.emulator.launching import Compiled, default_build, hazard_build, only, zeros

SOURCE = r"""
#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init
using Barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void exchange(int *A) {
    __shared__ Barrier all;
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t == 0) init(&all, blockDim.x);
    __syncthreads();
    tile[t] = t;
    all.arrive_and_wait();
    A[t] = tile[63 - t];
    all.wait(all.arrive());
    tile[t] = A[t];
}

extern "C" __global__ void pipeline(int *A) {
    __shared__ Barrier empty, full;
    __shared__ int tile[32];
    int t = threadIdx.x;
    if (t == 0) { init(&empty, 64); init(&full, 64); }
    __syncthreads();
    if (t < 32) {
        for (int i = 0; i < 4; ++i) {
            empty.arrive_and_wait();
            tile[t] = i * t;
            (void)full.arrive();
        }
    } else {
        (void)empty.arrive();
        for (int i = 0; i < 4; ++i) {
            full.arrive_and_wait();
            A[t - 32] += tile[63 - t];
            (void)empty.arrive();
        }
    }
}

extern "C" __global__ void nobody_waits(int *A) {
    __shared__ Barrier all;
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t == 0) init(&all, blockDim.x);
    __syncthreads();
    tile[t] = t;  // set by all
    (void)all.arrive();
    A[t] = tile[63 - t];  // read without a wait
}

extern "C" __global__ void refills_too_soon(int *A) {
    __shared__ Barrier full;
    __shared__ int tile[32];
    int t = threadIdx.x;
    if (t == 0) init(&full, 64);
    __syncthreads();
    for (int i = 0; i < 2; ++i) {
        if (t < 32) tile[t] = i * t;  // refill
        full.arrive_and_wait();
        if (t >= 32) A[t - 32] += tile[63 - t];  // read of what may be refilled
    }
}

extern "C" __global__ void not_yet_set_up(int *A) {
    __shared__ Barrier all;
    if (threadIdx.x == 0) init(&all, blockDim.x);  // set up
    all.arrive_and_wait();  // before it is set up
    A[threadIdx.x] = 1;
}

extern "C" __global__ void one_too_many(int *A) {
    __shared__ Barrier all;
    if (threadIdx.x == 0) init(&all, blockDim.x + 1);
    __syncthreads();
    all.arrive_and_wait();  // for one who never comes
    A[threadIdx.x] = 1;
}

extern "C" __global__ void copies(int *A, const int *B) {
    __shared__ Barrier all;
    __shared__ alignas(16) int tile[64];
    int t = threadIdx.x;
    if (t == 0) init(&all, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&tile[t], &B[t], sizeof(int), all);
    all.arrive_and_wait();
    A[t] = tile[63 - t];
    __syncthreads();
    A[t] += tile[t ^ 1];
}

extern "C" __global__ void copies_unwaited(int *A, const int *B) {
    __shared__ Barrier all;
    __shared__ alignas(16) int tile[64];
    int t = threadIdx.x;
    if (t == 0) init(&all, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&tile[t], &B[t], sizeof(int), all);  // copy
    __syncthreads();
    A[t] = tile[63 - t];  // before the copies are complete
}
"""
BLOCK, THREADS = (64, 1, 1), np.arange(64, dtype=np.int32)


@pytest.fixture(scope="module")
def hazards() -> Compiled:
    """The build in which hazards are looked for."""
    return hazard_build(SOURCE)


@pytest.fixture(scope="module")
def default() -> Compiled:
    """The build that is optimised."""
    return default_build(SOURCE)


EXPECTED = {
    "exchange": (63 - THREADS, False),
    "pipeline": (np.where(THREADS < 32, 6 * (31 - THREADS), 0), False),
    "copies": ((63 - THREADS) + (THREADS ^ 1), True),
}


@pytest.mark.parametrize("kernel", EXPECTED)
def test_right_kernels_have_right_values_and_no_finding(
    hazards: Compiled, default: Compiled, kernel: str
) -> None:
    """In two blocks at once, whose barriers are their own."""
    expected, reads = EXPECTED[kernel]
    given = (THREADS,) if reads else ()
    for build in (hazards, default):
        result = build.run(kernel, (1, 1, 1), BLOCK, zeros(64, dtype="int32"), *given, directions="bi")
        assert result.completed
        assert result.findings == ()
        assert dict(result.outputs)["A"].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("kernel", "lines"),
    [
        ("nobody_waits", {"// set by all", "// read without a wait"}),
        ("refills_too_soon", {"// refill", "// read of what may be refilled"}),
    ],
)
def test_a_race_is_named_with_both_lines(hazards: Compiled, kernel: str, lines: set[str]) -> None:
    """An arrival without a wait, and a buffer that is filled again before it was read."""
    found = only(hazards.run(kernel, (1, 1, 1), BLOCK, zeros(64, dtype="int32")))
    assert found.kind is FindingKind.RACE
    assert {found.line, found.other_line} == {nvcc.line_of(SOURCE, text) for text in lines}


def test_who_arrives_before_the_barrier_is_set_up_races_with_that(hazards: Compiled) -> None:
    """`init` by one thread has to be followed by `__syncthreads()`."""
    result = hazards.run("not_yet_set_up", (1, 1, 1), BLOCK, zeros(64, dtype="int32"))
    places = {(found.kind, found.line, found.other_line) for found in result.findings}
    arrives, sets = (nvcc.line_of(SOURCE, text) for text in ("// before it is set up", "// set up"))
    assert places == {(FindingKind.RACE, arrives, sets)}


def test_threads_that_wait_for_too_many_arrivals_are_reported_with_the_place(default: Compiled) -> None:
    """The phase never ends, and no thread is left that could arrive."""
    result = default.run("one_too_many", (1, 1, 1), BLOCK, zeros(64, dtype="int32"))
    assert not result.completed
    assert only(result).kind is FindingKind.TIMEOUT
    assert "64 threads go round, waiting for all[0]" in only(result).message


def test_copies_that_no_thread_waited_for_race(hazards: Compiled) -> None:
    """`cuda::memcpy_async` is complete for the threads that wait at its barrier, and for no others."""
    result = hazards.run(
        "copies_unwaited", (1, 1, 1), BLOCK, zeros(64, dtype="int32"), THREADS, directions="bi"
    )
    assert {found.kind for found in result.findings} == {FindingKind.RACE}
    assert nvcc.line_of(SOURCE, "// before the copies are complete") in {
        line for found in result.findings for line in (found.line, found.other_line)
    }
