"""Accesses that should not be: each is a finding that names line, element and thread, never an exception."""

from __future__ import annotations

import numpy as np
import pytest

from grader.model import FindingKind
from grader.simulation.emulator.races import events, log
from tests.simulation.emulator.launching import Compiled, hazard_build, only, zeros

SOURCE = r"""
#include <assert.h>
extern "C" __global__ void reads_past_end(const float* A, float* B, int n) {
    int i = threadIdx.x;
    if (i <= n) B[i] = A[i];  // reads past end
}
extern "C" __global__ void writes_past_end(float* A, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    A[i] = 1.0f;  // writes past end
}
extern "C" __global__ void reads_before_start(const float* A, float* B) {
    int i = threadIdx.x;
    B[i] = A[i - 2];  // reads before start
}
extern "C" __global__ void far_away(float* A) {
    A[(1ll << 40) + threadIdx.x] = 1.0f;  // far away
}
extern "C" __global__ void null_pointer(float* A) {
    float* nowhere = nullptr;
    if (threadIdx.x == 5) nowhere[3] = A[0];  // null
}
extern "C" __global__ void shared_past_end(float* A) {
    __shared__ float tile[32];
    tile[threadIdx.x + 1] = 1.0f;  // shared past end
    A[threadIdx.x] = tile[threadIdx.x + 1];
}
extern "C" __global__ void local_past_end(float* A, int n) {
    float mine[4];
    for (int k = 0; k < n; ++k) mine[k * 1000] = A[k];  // local past end
    A[0] = mine[0];
}
extern "C" __global__ void unused_local(float* A) {
    asm volatile("{ .local .align 4 .b8 unused[1073741824]; }");
    A[threadIdx.x] = 1.0f;
}
extern "C" __global__ void misaligned(char* A) {
    *(int*)(A + 2 * threadIdx.x) = 7;  // misaligned int
}
extern "C" __global__ void misaligned_vector(float* A, float* B) {
    float4 four = *(float4*)(A + threadIdx.x);  // misaligned vector
    B[threadIdx.x] = four.x;
}
extern "C" __global__ void reads_poison(float* A, float* B) {
    B[threadIdx.x] = A[threadIdx.x] + 1.0f;  // reads poison
}
extern "C" __global__ void reads_unset_shared(float* A) {
    __shared__ float tile[32];
    if (threadIdx.x != 3) tile[threadIdx.x] = 1.0f;
    A[threadIdx.x] = tile[threadIdx.x];  // reads unset shared
}
extern "C" __global__ void reads_unset_byte(unsigned char* A) {
    __shared__ unsigned char tile[64];
    tile[2 * threadIdx.x] = 1;
    A[threadIdx.x] = tile[2 * threadIdx.x + (threadIdx.x == 4)];  // reads unset byte
}
extern "C" __global__ void reads_unset_local(float* A) {
    float mine[4];
    mine[threadIdx.x % 4] = 1.0f;
    A[threadIdx.x] = mine[(threadIdx.x + (threadIdx.x == 7)) % 4];  // reads unset local
}
extern "C" __global__ void sums_into_unset(float* A) {
    float sum;
    for (int k = 0; k < 3; ++k) sum += A[k];
    A[threadIdx.x] = sum;
}
extern "C" __global__ void never_ends(float* A, int n) {
    int k = 0;
    while (A[0] < 1.0f) {  // never ends
        k += n;
    }
    A[threadIdx.x] = k;
}
extern "C" __global__ void waits_with_fences(int* flag) {
    while (atomicAdd(flag, 0) == 0) __threadfence();  // waits with fences
}
extern "C" __global__ void sums_in_place(float* A, int rounds) {
    for (int k = 0; k < rounds; ++k) A[threadIdx.x] += 1.0f;
    A[threadIdx.x ^ 1] = 0.0f;  // overwrites a neighbour's sum
}
extern "C" __global__ void traps(float* A) {
    if (threadIdx.x == 9) __trap();  // traps
    A[threadIdx.x] = 1.0f;
}
extern "C" __global__ void asserts(float* A, int n) {
    assert(threadIdx.x < n);  // asserts
    A[threadIdx.x] = 1.0f;
}
__device__ __noinline__ int depth(int n) {
    volatile int frame[32];
    frame[n % 32] = n;
    return n == 0 ? 0 : frame[n % 32] + depth(n - 1);  // recursion
}
extern "C" __global__ void recurses(int* A, int n) {
    A[threadIdx.x] = depth(n);
}
extern "C" __global__ void hangs(float* A) {
    if (threadIdx.x < 40) {
        asm volatile("bar.sync 1, 64;");  // hangs
    }
    A[threadIdx.x] = 1.0f;
}
extern "C" __global__ void returns_early(float* A) {
    if (threadIdx.x >= 50) return;
    __syncthreads();  // returns early
    A[threadIdx.x] = 1.0f;
}
"""


@pytest.fixture(scope="module")
def kernels() -> Compiled:
    """All kernels of this file."""
    return hazard_build(SOURCE)


def test_a_read_past_the_end_names_array_index_and_by_how_much(kernels: Compiled) -> None:
    """One element too far, by one thread."""
    found = only(kernels.run("reads_past_end", (1, 1, 1), (32, 1, 1), zeros(10), zeros(20), np.int32(10)))
    assert found.kind is FindingKind.OUT_OF_BOUNDS
    assert found.line == kernels.line("// reads past end")
    assert (found.block, found.thread, found.address, found.count) == ((0, 0, 0), (10, 0, 0), "A[10]", 1)
    assert "1 past its end" in found.message
    assert "10 elements" in found.message


def test_a_write_past_the_end_names_the_block_and_counts_threads(kernels: Compiled) -> None:
    """The last of three blocks of 32 overruns 80 elements by 16."""
    result = kernels.run("writes_past_end", (3, 1, 1), (32, 1, 1), zeros(80), np.int32(80))
    found = only(result)
    assert found.kind is FindingKind.OUT_OF_BOUNDS
    assert found.line == kernels.line("// writes past end")
    assert (found.block, found.thread, found.address, found.count) == ((2, 0, 0), (16, 0, 0), "A[80]", 16)
    np.testing.assert_array_equal(dict(result.outputs)["A"], 1)


def test_a_read_before_the_start_has_a_negative_index(kernels: Compiled) -> None:
    """Two elements before the start."""
    found = only(kernels.run("reads_before_start", (1, 1, 1), (32, 1, 1), zeros(32), zeros(32)))
    assert found.line == kernels.line("// reads before start")
    assert (found.thread, found.address, found.count) == ((0, 0, 0), "A[-2]", 2)
    assert "2 before its start" in found.message


def test_an_address_near_no_array_is_named_as_it_is(kernels: Compiled) -> None:
    """A null pointer: no array to blame."""
    found = only(kernels.run("null_pointer", (1, 1, 1), (32, 1, 1), zeros(8)))
    assert found.kind is FindingKind.OUT_OF_BOUNDS
    assert (found.line, found.thread) == (kernels.line("// null"), (5, 0, 0))
    assert "belongs to no array" in found.message


def test_an_index_that_is_far_too_large_is_blamed_on_its_array(kernels: Compiled) -> None:
    """However far it leads: the address was computed from where A begins."""
    found = only(kernels.run("far_away", (1, 1, 1), (32, 1, 1), zeros(8)))
    assert found.kind is FindingKind.OUT_OF_BOUNDS
    assert (found.line, found.address) == (kernels.line("// far away"), f"A[{1 << 40}]")


def test_shared_memory_past_the_end_is_out_of_bounds(kernels: Compiled) -> None:
    """The last thread writes and then reads the element after the last one."""
    result = kernels.run("shared_past_end", (1, 1, 1), (32, 1, 1), zeros(32))
    assert {(f.kind, f.line) for f in result.findings} == {
        (FindingKind.OUT_OF_BOUNDS, kernels.line("// shared past end")),
        (FindingKind.OUT_OF_BOUNDS, kernels.line("// shared past end") + 1),
    }
    assert all(f.thread == (31, 0, 0) and f.count == 1 for f in result.findings)


def test_a_local_array_past_its_end_is_out_of_bounds(kernels: Compiled) -> None:
    """The stack of the thread has an end too."""
    result = kernels.run("local_past_end", (1, 1, 1), (2, 1, 1), zeros(8), np.int32(8))
    first = result.findings[0]
    assert first.kind is FindingKind.OUT_OF_BOUNDS
    assert first.line == kernels.line("// local past end")
    assert first.thread == (0, 0, 0)


def test_a_misaligned_access_names_the_size_it_must_be_a_multiple_of(kernels: Compiled) -> None:
    """Every other thread stores an int at an address that is no multiple of 4."""
    result = kernels.run("misaligned", (1, 1, 1), (8, 1, 1), zeros(64, dtype="int8"))
    found = next(f for f in result.findings if f.kind is FindingKind.MISALIGNED)
    assert found.line == kernels.line("// misaligned int")
    assert (found.thread, found.count) == ((1, 0, 0), 4)
    assert "not a multiple of 4" in found.message


def test_a_misaligned_vector_access_is_found(kernels: Compiled) -> None:
    """A float4 must lie at a multiple of 16, though each of its elements lies at a multiple of 4."""
    found = only(kernels.run("misaligned_vector", (1, 1, 1), (8, 1, 1), zeros(64), zeros(64)))
    assert found.kind is FindingKind.MISALIGNED
    assert found.line == kernels.line("// misaligned vector")
    assert (found.thread, found.count) == ((1, 0, 0), 6)
    assert "not a multiple of 16" in found.message


def test_reading_an_output_before_writing_it_is_uninitialised(kernels: Compiled) -> None:
    """An ``out`` array holds nothing that a kernel may read."""
    result = kernels.run("reads_poison", (1, 1, 1), (8, 1, 1), zeros(8), zeros(8), directions="oo")
    found = only(result)
    assert found.kind is FindingKind.UNINITIALISED
    assert (found.line, found.thread) == (kernels.line("// reads poison"), (0, 0, 0))
    assert (found.address, found.count) == ("A[0]", 8)


def test_an_element_of_shared_memory_that_no_thread_wrote_is_uninitialised(kernels: Compiled) -> None:
    """Only the one element that was left out."""
    found = only(kernels.run("reads_unset_shared", (1, 1, 1), (32, 1, 1), zeros(32)))
    assert found.kind is FindingKind.UNINITIALISED
    assert (found.line, found.thread) == (kernels.line("// reads unset shared"), (3, 0, 0))
    assert (found.address, found.count) == ("tile[3]", 1)


def test_initialisation_is_known_byte_by_byte(kernels: Compiled) -> None:
    """The neighbouring byte was written, this one was not."""
    found = only(kernels.run("reads_unset_byte", (1, 1, 1), (32, 1, 1), zeros(32, dtype="uint8")))
    assert found.kind is FindingKind.UNINITIALISED
    assert (found.thread, found.address, found.count) == ((4, 0, 0), "tile[9]", 1)


def test_a_local_array_that_nothing_uses_takes_no_memory(kernels: Compiled) -> None:
    """Neither on a device, where 512 KiB are the limit of a thread."""
    result = kernels.run("unused_local", (1, 1, 1), (32, 1, 1), zeros(32))
    assert result.completed
    assert result.findings == ()


def test_an_element_of_a_local_array_that_was_not_set_is_uninitialised(kernels: Compiled) -> None:
    """The one thread that reads another element than it set."""
    found = only(kernels.run("reads_unset_local", (1, 1, 1), (32, 1, 1), zeros(32)))
    assert found.kind is FindingKind.UNINITIALISED
    assert (found.line, found.thread, found.count) == (kernels.line("// reads unset local"), (7, 0, 0), 1)


def test_a_sum_that_was_never_set_is_uninitialised(kernels: Compiled) -> None:
    """A register that nothing wrote."""
    result = kernels.run("sums_into_unset", (1, 1, 1), (1, 1, 1), zeros(8))
    assert [f.kind for f in result.findings] == [FindingKind.UNINITIALISED]


def test_a_loop_without_end_is_a_timeout_at_the_loop(kernels: Compiled) -> None:
    """Stopped by the budget of steps; the launch counts as not completed."""
    result = kernels.run("never_ends", (1, 1, 1), (32, 1, 1), zeros(32), np.int32(1), steps=5_000)
    found = next(f for f in result.findings if f.kind is FindingKind.TIMEOUT)
    assert found.line in (kernels.line("// never ends"), kernels.line("// never ends") + 1)
    assert not result.completed


def test_a_long_loop_over_one_place_needs_no_more_room_than_a_short_one(
    kernels: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its accesses fit into a small log, and the race with another thread at the end is still found."""
    monkeypatch.setattr(log, "MOST_ROWS", 1_000)
    result = kernels.run("sums_in_place", (1, 1, 1), (32, 1, 1), zeros(32), np.int32(1_000))
    assert result.completed
    assert {(f.kind, f.line) for f in result.findings} == {
        (FindingKind.RACE, kernels.line("// overwrites a neighbour's sum"))
    }


def test_a_wait_with_fences_that_no_thread_ends_does_not_fill_the_memory(
    kernels: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notes on its order have a limit, and the launch that reaches it is too much work."""
    monkeypatch.setattr(events, "MOST_NOTED", 1_000)
    flag = np.zeros(1, np.int32)
    result = kernels.run("waits_with_fences", (1, 1, 1), (32, 1, 1), flag, steps=20_000)
    assert not result.findings
    assert not result.completed
    assert result.too_much_work
    assert result.steps < 2_000


def test_a_trap_stops_the_launch_and_names_the_thread(kernels: Compiled) -> None:
    """``__trap()`` by one thread."""
    result = kernels.run("traps", (1, 1, 1), (32, 1, 1), zeros(32))
    found = only(result)
    assert found.kind is FindingKind.FAULT
    assert (found.line, found.thread) == (kernels.line("// traps"), (9, 0, 0))
    assert not result.completed


def test_a_failed_assert_is_a_fault_at_its_line(kernels: Compiled) -> None:
    """``assert`` from assert.h: the first thread that it does not hold for."""
    result = kernels.run("asserts", (1, 1, 1), (32, 1, 1), zeros(32), np.int32(20))
    found = only(result)
    assert found.kind is FindingKind.FAULT
    assert (found.line, found.thread) == (kernels.line("// asserts"), (20, 0, 0))
    assert not result.completed


def test_recursion_without_end_overflows_the_stack(kernels: Compiled) -> None:
    """A fault at the call, no hang and no exception."""
    result = kernels.run("recurses", (1, 1, 1), (4, 1, 1), zeros(4, dtype="int32"), np.int32(1_000_000))
    found = result.findings[0]
    assert found.kind is FindingKind.FAULT
    assert found.line == kernels.line("// recursion")


def test_recursion_that_ends_is_computed(kernels: Compiled) -> None:
    """Five calls deep: 5+4+3+2+1."""
    result = kernels.run("recurses", (1, 1, 1), (4, 1, 1), zeros(4, dtype="int32"), np.int32(5))
    assert not result.findings
    np.testing.assert_array_equal(dict(result.outputs)["A"], 15)


def test_a_barrier_that_waits_for_ever_is_barrier_divergence(kernels: Compiled) -> None:
    """64 threads are expected at a barrier that 40 come to."""
    found = only(kernels.run("hangs", (1, 1, 1), (64, 1, 1), zeros(64)))
    assert found.kind is FindingKind.BARRIER_DIVERGENCE
    assert (found.line, found.thread) == (kernels.line("// hangs"), (0, 0, 0))


def test_threads_that_left_before_a_barrier_are_counted_and_one_is_named(kernels: Compiled) -> None:
    """14 of 64 threads return first."""
    found = only(kernels.run("returns_early", (1, 1, 1), (64, 1, 1), zeros(64)))
    assert found.kind is FindingKind.BARRIER_DIVERGENCE
    assert found.line == kernels.line("// returns early")
    assert found.other_thread == (50, 0, 0)
    assert "14 of the block's 64 threads" in found.message
