"""Messages to a device that is in use: allocations, a stream, an event, and kernels that have run.

Whatever well-formed messages with whatever numbers follow, and whatever bytes after them, the session ends by
itself or with a reason, and what the device then holds can be judged.
"""

from __future__ import annotations

import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.kinds.host_runs.on_emulator import EmulatedDevice
from grader.model import Build, Case, Visibility
from grader.model.messages import clause
from grader.running.device import protocol, requests
from grader.running.device.memory import BASE
from grader.running.device.protocol import MAY_BE_POSTED
from grader.running.device.requests import OPERATIONS, Hello, Sharing
from grader.running.device.service import Session

if TYPE_CHECKING:
    from collections.abc import Iterable

PTX = """
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 table[16];
.visible .entry fill(.param .u64 p, .param .u32 value)
{
    .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [value];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r3, [%rd3];
    add.u32 %r4, %r3, %r1;
    st.global.u32 [%rd3], %r4;
    ret;
}
.visible .entry nothing() { ret; }
"""
BUILD = Build(ok=True, ptx=PTX, hazard_ptx=PTX, source_name="any.cu")
CASE = Case("any", (), (), Visibility.VISIBLE, "random", 0)
WORK = 500
"""Steps that all launches of an example may take."""

SIZES = (64, 4096, 12)
_HELLO = Hello(protocol.VERSION, 0)


def _launch(
    kernel: int, parameters: bytes, grid: int = 1, block: int = 32, stream: int = 0
) -> requests.Message:
    return requests.LaunchKernel(kernel, grid, 1, 1, block, 1, 1, 0, stream, 0, parameters)


def _allocations() -> list[requests.Message]:
    return [requests.Allocate(size, sharing, 0) for size, sharing in zip(SIZES, Sharing, strict=True)]


def _device() -> EmulatedDevice:
    return EmulatedDevice(BUILD, "any.cu", "", 1 << 20, WORK)


def _served(device: EmulatedDevice, content: bytes) -> str:
    """Return why the session with a program that sends these bytes, and reads all answers, was cut off."""
    ours, theirs = socket.socketpair()
    threads = [
        threading.Thread(target=_send, args=(theirs, content)),
        threading.Thread(target=_read, args=(theirs,)),
    ]
    with theirs:
        for thread in threads:
            thread.start()
        cut = Session(device.device, ours, time.monotonic() + 20).run()
        for thread in threads:
            thread.join()
    return cut


def _send(theirs: socket.socket, content: bytes) -> None:
    try:
        theirs.sendall(content)
        theirs.shutdown(socket.SHUT_WR)
    except OSError:
        return


def _read(theirs: socket.socket) -> None:
    try:
        while theirs.recv(1 << 16):
            pass
    except OSError:
        return


def _begun() -> tuple[list[requests.Message], list[int]]:
    """Messages after which a device is in use, and the numbers of what is live then."""
    device = _device()
    assert _served(device, b"".join(map(protocol.write, (_HELLO, *_allocations())))) == ""
    live = [allocation.address for allocation in device.device.memory.live.values()]
    device.device.memory.close()
    handles = [0x20, 0x30]
    messages = [
        _HELLO,
        *_allocations(),
        requests.CreateStream(0),
        requests.CreateEvent(0),
        requests.FindKernel(0, "fill"),
        requests.Fill(live[-3], 64, 1, 64, 1, 0, 0),
        _launch(0, live[-3].to_bytes(8, "little") + b"\1\0\0\0", block=16, stream=handles[0]),
        requests.RecordEvent(handles[1], handles[0]),
    ]
    return messages, [*live, *handles]


BEGUN, LIVE = _begun()
_NUMBERS = st.one_of(
    st.sampled_from([*LIVE, *(live + size for live in LIVE[:4] for size in (1, 12, 64, 4096))]),
    st.sampled_from([0, 1, 2, 3, 4, 8, 32, 64, 1024, 1 << 16, 1 << 20, BASE, BASE - (1 << 32), 1 << 63]),
    st.integers(0, 8),
    st.integers(0, 2**64 - 1),
)
_NAMES = st.one_of(st.sampled_from(["fill", "nothing", "table", "_Z3fooPf"]), st.text("abc_Z1", max_size=12))


_GRIDS = st.sampled_from([1, 1, 1, 2, 3, 0, 1 << 16, 65535, 1 << 20, 2**31 - 1, 2**32 - 1])
_BLOCKS = st.sampled_from([1, 1, 1, 2, 32, 0, 64, 1024, 1025, 2**32 - 1])
_SHARED = st.sampled_from([0, 0, 16, 48 << 10, 1 << 20, 2**32 - 1, 2**63])
_STREAMS = st.sampled_from([0, 0, 1, 2, 0x20, 0x30, 7])


@st.composite
def _launches(draw: st.DrawFn) -> bytes:
    """A launch that may be right: of grids and blocks that devices take, and of others."""
    pointer = draw(_NUMBERS).to_bytes(8, "little") + b"\1\0\0\0"
    kernel, parameters = draw(st.sampled_from([(0, pointer), (0, pointer), (1, b""), (0, b""), (2, b"")]))
    one, any_grid, any_block = st.just(1), (_GRIDS, _GRIDS, _GRIDS), (_BLOCKS, _BLOCKS, _BLOCKS)
    grid = draw(st.tuples(_GRIDS, one, one) | st.tuples(*any_grid))
    block = draw(st.tuples(_BLOCKS, one, one) | st.tuples(*any_block))
    shared_bytes, stream, cooperative = draw(st.tuples(_SHARED, _STREAMS, st.integers(0, 1)))
    launch = requests.LaunchKernel(kernel, *grid, *block, shared_bytes, stream, cooperative, parameters)
    return protocol.write(launch, draw(_NUMBERS))


@st.composite
def _messages(draw: st.DrawFn) -> bytes:
    """A message of any kind, with any numbers, posted where that may be."""
    kind = draw(st.sampled_from(OPERATIONS[1:]))
    values: list[object] = [
        draw(_NUMBERS) & (2**64 - 1 if letter == "Q" else 2**32 - 1) for letter in kind.LAYOUT.rstrip("tbc")
    ]
    last = kind.LAYOUT[len(values) :]
    if kind is requests.LaunchKernel:
        values[0] = draw(st.integers(0, 2))
    if last == "t":
        values.append(draw(_NAMES))
    elif last == "b":
        pointer = draw(_NUMBERS).to_bytes(8, "little")
        values.append(draw(st.sampled_from([b"", pointer + b"\1\0\0\0", pointer])))
    elif last == "c":
        values.append(tuple(draw(st.lists(st.integers(0, 2**64 - 1), max_size=4))))
    message = kind(*values)  # type: ignore[arg-type]  # the layout defines which types they are
    data = draw(st.binary(max_size=80)) if kind in (requests.CopyIn, requests.Push) else b""
    return (
        protocol.write(message, draw(_NUMBERS), posted=kind in MAY_BE_POSTED and draw(st.booleans())) + data
    )


def _judged(device: EmulatedDevice) -> None:
    """All that is asked of a device when its program is over."""
    for succeeded in (True, False):
        assert all(finding.code for finding in device.findings(CASE, succeeded=succeeded))
    assert isinstance(device.unsupported, str)
    assert bool(device.too_much_work(0, 0, in_time=True)) == bool(device._launches.gave_up)
    device.device.memory.close()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_messages() | _launches(), max_size=12), st.binary(max_size=40))
def test_a_device_in_use_refuses_or_serves_whatever_comes(messages: Iterable[bytes], rest: bytes) -> None:
    """Any messages, and any bytes behind them."""
    device = _device()
    content = b"".join((*map(protocol.write, BEGUN), *messages, rest))
    assert isinstance(_served(device, content), str)
    _judged(device)


@pytest.mark.parametrize("kernel", [0, 1])
@pytest.mark.parametrize(("grid", "block"), [(2**31 - 1, 1024), (2**31 - 1, 1), (1 << 20, 1024)])
def test_a_launch_of_more_threads_than_there_is_memory_for_is_too_much_work(
    grid: int, block: int, kernel: int
) -> None:
    """A launch that a device would take its time for is given up here, and fills no memory before."""
    device, parameters = _device(), LIVE[1].to_bytes(8, "little") + b"\1\0\0\0"
    launch = _launch(kernel, b"" if kernel else parameters, grid, block)
    assert _served(device, b"".join(map(protocol.write, (*BEGUN, launch)))) == ""
    assert "too much work" in clause(device.too_much_work(0, 0, in_time=True))
    _judged(device)


def test_the_device_of_these_examples_is_in_use() -> None:
    """Each of the messages has its effect: the examples would be about nothing otherwise."""
    device = _device()
    assert _served(device, b"".join(map(protocol.write, BEGUN))) == ""
    assert (device.device.launched, device.device.mistakes, len(device.device.events)) == (1, [], 1)
    assert set(LIVE[1:4]) <= {allocation.address for allocation in device.device.memory.live.values()}
    first = device.device.memory.holding(LIVE[1])
    assert first is not None
    assert device.device.memory.bytes[first.start] == 2
    _judged(device)
