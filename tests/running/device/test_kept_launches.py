"""Launches that are recorded to be made again: with other inputs, where memory comes and goes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from grader.model import Argument, Build, Counters, Launch
from grader.running.device.memory import DeviceAllocation, DeviceMemory
from grader.running.device.observation import MemoryImage
from grader.running.device.relaunches import Exchange, Relauncher
from grader.running.device.requests import Allocate, CopyKind, CopyWithin, Fill, Sharing
from grader.running.device.watched_launches import LaunchLog, RecordedLaunch, WatchedLaunch
from grader.simulation.emulator.memory.memory import Allocation

if TYPE_CHECKING:
    import pytest

ADDS_SEVEN = """.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 add_param_0)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [add_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.u32 %r1, [%rd2];
    add.u32 %r2, %r1, 7;
    st.global.u32 [%rd2], %r2;
    ret;
}
"""


def _write(memory: DeviceMemory, at: DeviceAllocation, value: int) -> None:
    memory.bytes[at.start : at.end] = np.array([value], np.int32).view(np.uint8)


def _launch(
    log: LaunchLog, memory: DeviceMemory, at: DeviceAllocation, ptx: str = ADDS_SEVEN
) -> WatchedLaunch:
    """A launch that adds seven to a number, as the device makes it."""
    arrays = tuple(Allocation("out", a.start, a.end, 4, (1,), "inout") for a in memory.in_order())
    used = slice(0, memory.end)
    pointed = tuple(array for array in arrays if array.start == at.start)
    image = MemoryImage(memory.bytes[used], memory.written[used], arrays, pointed, {})
    log.host_wrote()
    before = memory.bytes[at.start : at.end].tobytes()
    _write(memory, at, int.from_bytes(before, "little") + 7)
    build = Build(ok=True, ptx=ptx, entry="add")
    argument = Argument("parameter 1", "value", np.uint64(at.address))
    launch = Launch((1, 1, 1), (1, 1, 1))
    recorded = RecordedLaunch(
        "add", build, "add.cu", launch, (argument,), 10, Counters(), image, log.differences()
    )
    after = memory.bytes[at.start : at.end].tobytes()
    return WatchedLaunch({0: (before, after)}, *log.launched(recorded))


def _number_after(watched: WatchedLaunch, start: int, at: DeviceAllocation, other: int) -> int | None:
    """The number that the launches from an event on leave if it was another one; None if they do not end."""
    exchange = Exchange(at.start, bytes(4), np.array([other], np.int32).tobytes())
    result = Relauncher(watched, 10**6).result_from((exchange,), start, others=False)
    return int(result.after[at.start : at.end].view(np.int32)[0]) if result.ended else None


def test_launches_are_made_again_one_after_the_other() -> None:
    """The last one alone, or all of them, each on what the one before it has left."""
    memory = DeviceMemory(1 << 20)
    log = LaunchLog(memory)
    number = memory.allocate(4, Sharing.DEVICE, 0)
    _write(memory, number, 1)
    for _ in range(3):
        watched = _launch(log, memory, number)
    assert [start for start, _ in watched.starts()] == [3, 2, 1]
    assert [_number_after(watched, start, number, 100) for start, _ in watched.starts()] == [107, 114, 121]


def test_what_the_host_writes_in_between_comes_again_except_the_inputs() -> None:
    """An input stays exchanged, whatever is copied there; all else is as it was."""
    memory = DeviceMemory(1 << 20)
    log = LaunchLog(memory)
    number, beside = (memory.allocate(4, Sharing.DEVICE, 0) for _ in range(2))
    _write(memory, number, 1)
    _launch(log, memory, number)
    _write(memory, number, 5)
    _write(memory, beside, 6)
    memory.bytes[number.start : number.end] = memory.bytes[beside.start : beside.end]
    log.note(CopyWithin(number.address, 4, beside.address, 4, 4, 1, CopyKind.DEVICE_TO_DEVICE, 0, 0))
    watched = _launch(log, memory, number)
    assert _number_after(watched, 1, number, 100) == 114
    assert int(watched.recording.memory_before(watched.position, memory.end)[beside.start]) == 6


def test_launches_on_memory_that_is_allocated_each_time_are_made_again() -> None:
    """The first one left nothing in the array of the second, which was not there yet."""
    memory = DeviceMemory(1 << 20)
    log = LaunchLog(memory)
    for _ in range(2):
        number = memory.allocate(4, Sharing.DEVICE, 0)
        _write(memory, number, 1)
        watched = _launch(log, memory, number)
        memory.free(number)
    assert _number_after(watched, 1, number, 2) == 9


def test_a_launch_that_stops_for_other_inputs_has_not_ended() -> None:
    """Nor one of an instruction that is not interpreted."""
    for end in ("trap;", "brkpt;"):
        memory = DeviceMemory(1 << 20)
        number = memory.allocate(4, Sharing.DEVICE, 0)
        _write(memory, number, 1)
        watched = _launch(LaunchLog(memory), memory, number, ADDS_SEVEN.replace("ret;", end))
        assert _number_after(watched, 1, number, 2) is None


def test_a_recording_takes_no_memory_for_what_was_freed() -> None:
    """Device memory is not used again while there is room, so that it grows with each allocation."""
    memory = DeviceMemory(1 << 20)
    log = LaunchLog(memory)
    for _ in range(10):
        memory.free(memory.allocate(1 << 19, Sharing.DEVICE, 0))
    number = memory.allocate(4, Sharing.DEVICE, 0)
    _write(memory, number, 1)
    assert _launch(log, memory, number).recording.size <= 4 * 4


def test_a_recording_that_is_full_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """With memory as it is then, so that no launch is lost."""
    monkeypatch.setattr("grader.running.device.watched_launches.MOST_BYTES", 4)
    memory = DeviceMemory(1 << 20)
    log = LaunchLog(memory)
    number = memory.allocate(4, Sharing.DEVICE, 0)
    _write(memory, number, 1)
    for _ in range(4):
        watched = _launch(log, memory, number)
    assert len(watched.recording.events) < 4
    assert _number_after(watched, watched.position, number, 100) == 107


def test_what_a_fill_leaves_is_restored_and_takes_no_room() -> None:
    """A program may clear a large array before each of many launches."""
    memory = DeviceMemory(1 << 22)
    large = memory.allocate(1 << 21, Sharing.DEVICE, 0)
    log = LaunchLog(memory)
    for value in (3, 4):
        memory.bytes[large.start : large.end] = value
        log.note(Fill(large.address, 0, value, 1 << 21, 1, 0, 0))
    assert log.recording.size < 1 << 12
    first, second = (log.recording.memory_before(position, memory.end) for position in (1, 2))
    assert set(first[large.start : large.end]) == {3}
    assert set(second[large.start : large.end]) == {4}


def test_what_lies_between_allocations_takes_no_memory_when_launches_are_made_again() -> None:
    """Thousands of small allocations with red zones between them are a few megabytes, not gigabytes."""
    memory = DeviceMemory(1 << 20)
    log = LaunchLog(memory)
    for _ in range(2_000):
        memory.allocate(1, Sharing.DEVICE, 0)
        log.note(Allocate(1, 0, 0))
    number = memory.allocate(4, Sharing.DEVICE, 0)
    _write(memory, number, 1)
    watched = _launch(log, memory, number)
    before = _resident()
    exchange = Exchange(number.start, bytes(4), np.array([100], np.int32).tobytes())
    result = Relauncher(watched, 10**6).result_from((exchange,), 0, others=False)
    assert int(result.after[number.start : number.end].view(np.int32)[0]) == 107
    assert _resident() - before < 1 << 27 < memory.end


def test_a_new_allocation_is_restored_and_takes_no_room() -> None:
    """It holds the same poison when launches are made again, and a part that the host has written."""
    memory = DeviceMemory(1 << 22)
    log = LaunchLog(memory)
    large = memory.allocate(1 << 21, Sharing.DEVICE, 0)
    log.note(Allocate(1 << 21, 0, 0))
    memory.bytes[large.start : large.start + 4] = 1
    log.host_wrote()
    assert log.recording.size <= 16
    held = log.recording.memory_before(len(log.recording.events), memory.end)[large.start : large.end]
    assert (set(held[:4]), set(held[4:])) == ({1}, {0xFF})


def _resident() -> int:
    """Bytes of this machine's memory that this process takes."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGESIZE")
