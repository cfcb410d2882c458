"""Traces of kernels that go wrong, have no barriers, or are no matrix products."""

from __future__ import annotations

import numpy as np
import pytest

from grader.model import Clause, FindingKind
from grader.reports.trace_text import title_of
from grader.simulation.emulator.trace import recorder
from grader.simulation.emulator.trace.arrays import MOST_SHOWN, window_of
from tests.mistakes import mistake
from tests.simulation.trace.tracing import MATMUL, Given, events, product, sums, tiles, traced

REDUCE = """
extern "C" __global__ void total(const float* values, float* result, int n) {
    __shared__ float part[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? values[i] : 0.0f;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(result, part[0]);
}
"""


def _mistake(name: str) -> str:
    return mistake(MATMUL / "mistakes" / f"{name}.cu").decode()


def test_a_race_is_shown_in_its_interval_at_all_its_elements() -> None:
    """Without the second barrier the tiles are overwritten while they are read: both lines, all elements."""
    source = _mistake("no_second_barrier")
    trace = product(source, tiles(8, 4), tiles(8, 4), 4)
    races = [number for number, each in enumerate(trace.findings) if each.kind is FindingKind.RACE]
    assert races
    for interval in trace.intervals:
        here = {hazard.finding: hazard for hazard in interval.hazards}
        lines = {step.line for step in interval.steps}
        assert set(here) == {
            n for n in races if {trace.findings[n].line, trace.findings[n].other_line} <= lines
        }
        for hazard in here.values():
            assert hazard.elements == tuple(range(16))
            assert trace.arrays[hazard.array].name == trace.findings[hazard.finding].address.split("[")[0]


def test_what_lies_outside_is_named_thread_by_thread() -> None:
    """Without guards on its loads the last tile reads past A and B, and the trace goes on."""
    trace = product(_mistake("no_load_guard"), tiles(6, 4), tiles(6, 4), 4, at=(1, 1, 0))
    (interval,) = [each for each in trace.intervals if each.hazards]
    outside = [event for step in interval.steps for event in step.events if event.kind == "outside"]
    assert {trace.arrays[event.target].name for event in outside} == {"A", "B"}
    assert "A[36] read" in outside[0].words
    assert len(outside[0].words) == len(outside[0].threads) == 10
    assert all(hazard.threads == outside[0].threads for hazard in interval.hazards)
    assert trace.completed


@pytest.mark.slow
def test_missing_threads_are_named_at_the_barrier() -> None:
    """A barrier inside the guard: in a block at the edge half of the threads do not come."""
    trace = product(_mistake("barrier_inside_bounds_if"), tiles(6, 4), tiles(6, 4), 4, at=(1, 0, 0))
    kinds = {trace.findings[each.finding].kind for each in trace.intervals[0].hazards}
    assert kinds == {FindingKind.BARRIER_DIVERGENCE}
    assert trace.intervals[0].hazards[0].threads == (2, 3, 6, 7, 10, 11, 14, 15)
    inside = product(_mistake("barrier_inside_bounds_if"), tiles(6, 4), tiles(6, 4), 4)
    assert not any(interval.hazards for interval in inside.intervals)


@pytest.mark.slow
def test_a_kernel_that_never_ends_is_followed_until_that_is_certain() -> None:
    """The trace shows some rounds of the loop, and notes that the launch did not come to its end."""
    trace = product(_mistake("infinite_loop"), tiles(8, 4), tiles(8, 4), 4, steps=50_000)
    assert 10 < len(trace.intervals) < recorder.MOST_INTERVALS
    assert not trace.completed
    (note,) = trace.notes
    assert note.name == "trace-note-cut"
    assert trace.findings[dict(note.values)["finding"]].kind is FindingKind.TIMEOUT  # type: ignore[index]


@pytest.mark.slow
def test_a_trace_has_a_limit_and_notes_it() -> None:
    """Each of the 250 tiles has two barriers, and 400 intervals are held."""
    left, right = np.ones((4, 1000), np.float32), np.ones((1000, 4), np.float32)
    trace = product((MATMUL / "solution.cu").read_text(), left, right, 4)
    assert len(trace.intervals) == recorder.MOST_INTERVALS
    assert trace.completed
    (note,) = trace.notes
    assert note.name == "trace-note-full"
    assert dict(note.values)["most"] == recorder.MOST_INTERVALS == 400


def test_a_trace_ends_where_it_is_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit of accesses nothing more is kept; what was kept stays whole."""
    monkeypatch.setattr(recorder, "MOST_ACCESSES", 100)
    trace = product((MATMUL / "solution.cu").read_text(), tiles(8, 4), tiles(8, 4), 4)
    assert len(trace.intervals) < 5
    assert trace.completed
    assert [note.name for note in trace.notes] == ["trace-note-full"]


def test_a_kernel_without_barriers_is_one_interval() -> None:
    """The naive kernel: its sum by name, a step for each turn, C at the end."""
    source = (MATMUL / "naive.cu").read_text()
    trace = product(source, tiles(6, 4), tiles(6, 4), 4)
    (interval,) = trace.intervals
    assert interval.ends == "exit"
    assert len(interval.steps) == 7
    assert sums(trace, interval)[0][0] == (tiles(6, 4) @ tiles(6, 4))[0][0]
    assert not interval.shared


def test_a_reduction_is_followed_through_shared_memory_and_atomics() -> None:
    """One dimension, a tree in shared memory, zero fill beyond the end, an atomic on one element."""
    values = np.arange(1, 101, dtype=np.float32)
    given: Given = {"values": values, "result": np.zeros(1, np.float32), "n": np.int32(100)}
    trace = traced(
        REDUCE, "total", (2, 1, 1), (64, 1, 1), given, (1, 0, 0), shapes=(("part", (64,)),), out=()
    )
    assert [each.ends for each in trace.intervals] == ["barrier"] * 7 + ["exit"]
    (fill,) = [event for event in events(trace, "store", "part") if event.zero_fill]
    assert fill.zero_fill == tuple(range(36, 64))
    assert trace.intervals[-1].shared[0][1][0] == values[64:].sum()
    (added,) = events(trace, "atomic", "result")
    assert (added.threads, added.elements) == ((0,), (0,))
    assert not trace.accumulators
    assert not trace.findings


@pytest.mark.slow
def test_sums_in_local_arrays_and_across_a_warp_are_found() -> None:
    """`acc[i] += …` element by element; `v += __shfl_down_sync(…)`; a loop's counter is neither."""
    source = """
extern "C" __global__ void sums(const float* values, float* C) {
    float acc[2] = {0.0f, 0.0f};
    for (int i = 0; i < 4; i++) acc[i % 2] += values[4 * threadIdx.x + i];
    float v = acc[0] + acc[1];
    for (int offset = 16; offset > 0; offset /= 2)
        v += __shfl_down_sync(0xffffffff, v, offset);
    if (threadIdx.x == 0) C[0] = v;
}
"""
    given: Given = {"values": np.arange(128, dtype=np.float32), "C": np.full(1, np.nan, np.float32)}
    trace = traced(source, "sums", (1, 1, 1), (32, 1, 1), given)
    assert {title_of(each) for each in trace.accumulators} == {"acc[0]", "acc[1]", "v"}
    (interval,) = trace.intervals
    last = {title_of(trace.accumulators[number]): values[0] for number, values in interval.sums}
    assert last == {"acc[0]": 2.0, "acc[1]": 4.0, "v": float(np.arange(128).sum())}


@pytest.mark.slow
def test_a_block_that_never_began_is_distinguished_from_one_that_did_nothing() -> None:
    """A trap in the first block stops the launch: of a much later block there is nothing to show."""
    source = """
extern "C" __global__ void stops(float* C) {
    if (blockIdx.x == 0) __trap();
    C[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}
"""
    given: Given = {"C": np.zeros(1024 * 64, np.float32)}
    trace = traced(source, "stops", (64, 1, 1), (1024, 1, 1), given, (63, 0, 0))
    assert trace.notes == (Clause("trace-note-not-begun"),)
    assert not trace.completed


def test_large_arrays_are_shown_where_the_block_was() -> None:
    """Small arrays whole, of large ones the box of what was touched, of huge boxes a part that is marked."""
    assert window_of(set(), 100, 10).end_row == 10
    near = window_of({1000 * 3 + 7, 1000 * 5 + 9}, 10**6, 1000)
    assert (near.first_row, near.end_row, near.first_column, near.end_column) == (3, 6, 7, 10)
    assert not near.cropped
    wide = window_of({0, 10**6 - 1}, 10**6, 1000)
    assert (wide.end_row - wide.first_row) * (wide.end_column - wide.first_column) <= MOST_SHOWN
    assert wide.cropped
    vector = window_of({0, 10**6 - 1}, 10**6, 10**6)
    assert (vector.first_column, vector.end_column, vector.cropped) == (0, MOST_SHOWN, True)
