"""The order of work in streams, and what two streams do to the same bytes at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.running.device.streams import (
    DEFAULT,
    LEGACY,
    NON_BLOCKING,
    PER_THREAD,
    StreamOrder,
    Use,
    Work,
    WorkKind,
    common_byte,
    marked,
    rows,
    span,
)

FIRST, SECOND, EVENT = 0x20, 0x30, 0x40


def _writes(start: int = 0, size: int = 8) -> Work:
    return Work(WorkKind.KERNEL, 1, ((Use.WRITES, span(start, size)),))


def _reads(start: int = 0, size: int = 8) -> Work:
    return Work(WorkKind.KERNEL, 2, ((Use.READS, span(start, size)),))


@pytest.fixture
def order() -> StreamOrder:
    """Two streams without any work."""
    order = StreamOrder()
    order.create(FIRST, 0)
    order.create(SECOND, 0)
    return order


def test_work_of_two_streams_on_the_same_bytes_is_a_conflict(order: StreamOrder) -> None:
    """It names both pieces of work, what they do, and a byte."""
    writes, reads = _writes(0, 8), _reads(4, 8)
    assert order.add(FIRST, writes) is None
    conflict = order.add(SECOND, reads)
    assert conflict is not None
    assert (conflict.earlier, conflict.later, conflict.byte) == (writes, reads, 4)
    assert (conflict.earlier_use, conflict.later_use) == (Use.WRITES, Use.READS)


def test_work_of_one_stream_runs_in_order(order: StreamOrder) -> None:
    """Whatever it does."""
    assert order.add(FIRST, _writes()) is None
    assert order.add(FIRST, _writes()) is None


@pytest.mark.parametrize("use", [Use.READS, Use.UPDATES])
def test_reads_go_with_reads_and_atomics_with_atomics(order: StreamOrder, use: Use) -> None:
    """Neither needs an order among its like."""
    work = Work(WorkKind.KERNEL, 1, ((use, span(0, 8)),))
    assert order.add(FIRST, work) is order.add(SECOND, work) is None
    assert order.add(SECOND, _writes()) is not None


def test_other_bytes_are_no_conflict(order: StreamOrder) -> None:
    """Even right behind."""
    assert order.add(FIRST, _writes(0, 8)) is order.add(SECOND, _writes(8, 8)) is None


def test_who_waits_for_an_event_waits_for_what_was_before_it(order: StreamOrder) -> None:
    """And not for what its stream was given later."""
    order.add(FIRST, _writes(0))
    order.record(EVENT, FIRST)
    order.add(FIRST, _writes(100))
    order.wait(SECOND, EVENT)
    assert order.add(SECOND, _reads(0)) is None
    assert order.add(SECOND, _reads(100)) is not None


def test_waiting_passes_on(order: StreamOrder) -> None:
    """A stream that waits for one that waited has both behind it."""
    third = 0x50
    order.create(third, NON_BLOCKING)
    order.add(FIRST, _writes())
    order.record(EVENT, FIRST)
    order.wait(SECOND, EVENT)
    order.record(EVENT, SECOND)
    order.wait(third, EVENT)
    assert order.add(third, _reads()) is None


def test_an_event_that_was_never_recorded_is_no_wait(order: StreamOrder) -> None:
    """As on a device."""
    order.add(FIRST, _writes())
    order.wait(SECOND, EVENT)
    assert order.add(SECOND, _reads()) is not None


@pytest.mark.parametrize("how", ["device", "stream", "event"])
def test_what_the_host_has_waited_for_is_over(order: StreamOrder, how: str) -> None:
    """For all streams that it gives work afterwards."""
    order.add(FIRST, _writes())
    order.record(EVENT, FIRST)
    order.host_waits(stream=FIRST if how == "stream" else None, event=EVENT if how == "event" else None)
    assert order.add(SECOND, _writes()) is None


def test_the_host_that_waits_for_one_stream_has_not_waited_for_another(order: StreamOrder) -> None:
    """Only for what that stream itself waits for."""
    order.add(FIRST, _writes())
    order.host_waits(stream=SECOND)
    assert order.add(SECOND, _reads()) is not None


@pytest.mark.parametrize("default", [DEFAULT, LEGACY])
def test_the_default_stream_waits_and_is_waited_for(order: StreamOrder, default: int) -> None:
    """By streams that block, in both directions."""
    order.add(FIRST, _writes())
    assert order.add(default, _writes()) is None
    assert order.add(SECOND, _writes()) is None


def test_a_stream_that_does_not_block_is_not_ordered_by_the_default_stream(order: StreamOrder) -> None:
    """In neither direction."""
    third = 0x50
    order.create(third, NON_BLOCKING)
    order.add(third, _writes(0))
    assert order.add(DEFAULT, _reads(0)) is not None
    order.add(DEFAULT, _writes(100))
    assert order.add(third, _reads(100)) is not None


def test_the_stream_of_a_thread_blocks(order: StreamOrder) -> None:
    """``cudaStreamPerThread`` is not the default stream, and waits for it."""
    order.add(PER_THREAD, _writes())
    assert order.add(FIRST, _reads()) is not None
    assert order.add(DEFAULT, _reads()) is None


def test_a_stream_overlaps_that_has_copies_and_kernels(order: StreamOrder) -> None:
    """The default stream does not count."""
    copy, kernel = Work(WorkKind.COPY, 1, ()), Work(WorkKind.KERNEL, 1, ())
    for stream in (FIRST, DEFAULT):
        order.add(stream, copy)
        order.add(stream, kernel)
    order.add(SECOND, kernel)
    assert order.overlapping == 1
    order.add(SECOND, copy)
    assert order.overlapping == 2


def test_copies_of_memory_that_is_not_pinned_overlap_with_nothing(order: StreamOrder) -> None:
    """A stream that has no other copies is counted by itself."""
    staged, kernel = Work(WorkKind.STAGED_COPY, 1, ()), Work(WorkKind.KERNEL, 1, ())
    order.add(FIRST, staged)
    assert (order.overlapping, order.staged) == (0, 0)
    order.add(FIRST, kernel)
    assert (order.overlapping, order.staged) == (0, 1)
    order.add(FIRST, Work(WorkKind.COPY, 1, ()))
    assert (order.overlapping, order.staged) == (1, 0)


@pytest.mark.parametrize(("pinned", "overlapping"), [(4, 0), (499, 0), (500, 1), (1000, 1)])
def test_a_few_pinned_bytes_do_not_stand_for_all_that_a_stream_copies(
    order: StreamOrder, pinned: int, overlapping: int
) -> None:
    """The bytes that overlap must be a fifth of all: one array of several may be pageable."""
    order.add(FIRST, Work(WorkKind.KERNEL, 1, ()))
    order.add(FIRST, Work(WorkKind.STAGED_COPY, 1, ((Use.WRITES, span(0, 2000)),)))
    order.add(FIRST, Work(WorkKind.COPY, 1, ((Use.WRITES, span(2000, pinned)),)))
    assert (order.overlapping, order.staged) == (overlapping, 1 - overlapping)


@pytest.mark.parametrize(("copied", "overlapping"), [(4, 0), (100, 2)])
def test_streams_that_copy_next_to_nothing_of_all_do_not_count(
    order: StreamOrder, copied: int, overlapping: int
) -> None:
    """The work itself went to the default stream."""
    order.add(DEFAULT, Work(WorkKind.COPY, 1, ((Use.WRITES, span(0, 2000)),)))
    for stream in (FIRST, SECOND):
        order.add(stream, Work(WorkKind.KERNEL, 1, ()))
        order.add(stream, Work(WorkKind.COPY, 1, ((Use.WRITES, span(4000, copied)),)))
    assert order.overlapping == overlapping


def test_rows_leave_what_lies_between_them() -> None:
    """Columns of one matrix may be copied by different streams."""
    left, right = rows(0, 16, 8, 4), rows(8, 16, 8, 4)
    assert common_byte(left, right) is None
    assert common_byte(left, span(40, 16)) == 48


@given(st.lists(st.booleans(), max_size=40), st.lists(st.booleans(), max_size=40))
def test_a_common_byte_is_marked_in_both(one: list[bool], other: list[bool]) -> None:
    """And there is one exactly where both have a mark."""
    size = max(len(one), len(other))
    marks = [np.array(marks + [False] * (size - len(marks)), np.bool_) for marks in (one, other)]
    byte = common_byte(*(marked(mark, [(0, size)]) for mark in marks))
    both = marks[0] & marks[1]
    assert (byte is not None) == both.any()
    assert byte is None or both[byte]
