"""Device memory: what launches see of it, and what is kept of what they wrote."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from grader.running.device.memory import RED_ZONE, DeviceMemory, MemoryCopy
from grader.running.device.requests import Sharing


def _taken() -> tuple[int, int]:
    """The open files of this process, and its address space in GiB."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    return len(list(Path("/proc/self/fd").iterdir())), pages * os.sysconf("SC_PAGESIZE") >> 30


def test_a_device_that_is_closed_leaves_nothing() -> None:
    """Each case of each submission has a device of its own; open files and memory must not add up."""
    before, kept = _taken(), []
    for _ in range(5):
        memory = DeviceMemory(1 << 30)
        memory.allocate(1 << 20, Sharing.DEVICE, 0)
        memory.close()
        kept.append(memory)
    assert _taken() == before


def test_launches_run_on_a_copy_and_what_any_attempt_wrote_counts_as_written() -> None:
    """An attempt finds memory as it was before the launch, and the next launch nothing of this one."""
    memory, copy = DeviceMemory(1 << 22), MemoryCopy()
    first = memory.allocate(64, Sharing.DEVICE, 0)
    memory.bytes[first.start : first.end] = 1
    copy.begin()
    for byte in (0, 5):
        content, written = copy.attempt_copy(memory, 1 << 12)
        assert content[first.start : first.end].tolist() == [1] * 64
        assert not written.any()
        assert len(content) == len(written) == memory.end + (1 << 12)
        content[first.start + byte], written[first.start + byte] = 7, 1
    copy.keep_written(memory)
    assert np.flatnonzero(memory.written[first.start : first.end]).tolist() == [0, 5]
    assert memory.bytes[first.start : first.end].tolist() == [1] * 64

    second = memory.allocate(1 << 21, Sharing.DEVICE, 0)
    copy.begin()
    _, written = copy.attempt_copy(memory, 0)
    written[second.start + 9] = 1
    copy.attempt_copy(memory, 1 << 22)
    copy.keep_written(memory)
    assert np.flatnonzero(memory.written[first.start : first.end]).tolist() == [0, 5]
    assert np.flatnonzero(memory.written[second.start : second.end]).tolist() == [9]
    memory.close()


def test_freed_memory_is_used_again_where_many_small_allocations_took_all_room() -> None:
    """A program may allocate and free a byte any number of times, and then allocate a large array."""
    memory = DeviceMemory(1 << 20)
    kept = memory.allocate(1, Sharing.DEVICE, 0)
    for _ in range(25_000):
        memory.free(memory.allocate(1, Sharing.DEVICE, 0))
    large = memory.allocate(1 << 19, Sharing.DEVICE, 0)
    other = memory.allocate(1 << 18, Sharing.DEVICE, 0)
    apart = (kept.end + RED_ZONE <= large.start, large.end + RED_ZONE <= other.start)
    assert apart == (True, True)
    assert memory.once_holding(large.address) is None
