"""What each call of the runtime does to the device: one function per message, and a line in `TABLE`.

A function gets the device, the message and where the program called from; it gives an error code, as a device
would, and the answer's payload. Data of copies are moved by `session`, which asks here for the rows first.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.device.device import MOST_HANDLES, Event
from grader.device.errors import CudaError
from grader.device.memory import MOST_ALLOCATIONS, OutOfMemoryError, Owner
from grader.device.mistakes import HostCode, HostMistake
from grader.device.protocol import (
    VERSION,
    Allocate,
    Copy,
    CopyIn,
    CopyKind,
    CopyOnHost,
    CopyOut,
    CopyWithin,
    CreateEvent,
    CreateStream,
    DestroyEvent,
    DestroyStream,
    ElapsedTime,
    ErrorsAsked,
    Extent,
    Fault,
    Fill,
    FindKernel,
    FindPointer,
    FindVariable,
    Free,
    Hello,
    Interruption,
    LaunchKernel,
    MemoryInfo,
    Occupancy,
    ProtocolError,
    Pull,
    Push,
    QueryEvent,
    QueryStream,
    RecordEvent,
    Reset,
    SetLimit,
    Sharing,
    Synchronise,
    Touched,
    Unsupported,
    WaitForEvent,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from grader.device.device import Device
    from grader.device.memory import Allocation
    from grader.device.protocol import Message

Reply: TypeAlias = "tuple[CudaError, bytes]"

_DONE: Reply = (CudaError.SUCCESS, b"")
_REFUSED: Reply = (CudaError.INVALID_VALUE, b"")
_OWN_STREAMS = (0, 1, 2)
"""The default stream, ``cudaStreamLegacy`` and ``cudaStreamPerThread``."""

_KERNEL_LIMIT = 0x8000_0000
_POINTER_BYTES = 8
MOST_DYNAMIC_SHARED, MOST_DYNAMIC_SHARED_OPT_IN = 48 << 10, 163 << 10

_DISABLE_TIMING = 2
"""``cudaEventDisableTiming``."""

_UNREGISTERED, _HOST, _DEVICE, _MANAGED = 0, 1, 2, 3
"""``cudaMemoryType``."""


def _hello(device: Device, message: Hello, caller: int) -> Reply:
    del device, caller
    return _DONE if message.version == VERSION else _REFUSED


# --- memory --------------------------------------------------------------------------------------------


def _allocate(device: Device, message: Allocate, caller: int) -> Reply:
    if message.sharing not in set(Sharing):
        raise ProtocolError(f"memory of kind {message.sharing}")
    if not message.size:
        return CudaError.SUCCESS, struct.pack("<Q", 0)
    try:
        allocation = device.memory.allocate(message.size, Sharing(message.sharing), caller)
    except OutOfMemoryError:
        details = (
            ("bytes", message.size),
            ("limit", device.memory.limit),
            ("most", MOST_ALLOCATIONS),
        )
        device.note(HostMistake(HostCode.OUT_OF_MEMORY, caller, details=details))
        return CudaError.MEMORY_ALLOCATION, b""
    return CudaError.SUCCESS, struct.pack("<Q", allocation.address)


def _free(device: Device, message: Free, caller: int) -> Reply:
    """``cudaFree`` waits for the device, as a device's does."""
    allocation = device.memory.starting_at(message.address)
    pinned = Sharing(message.sharing) is Sharing.PINNED if message.sharing in set(Sharing) else False
    ours = allocation is not None and allocation.owner is Owner.PROGRAM
    if allocation is None or not ours or (allocation.sharing is Sharing.PINNED) != pinned:
        device.note(_bad_free(device, message.address, caller))
        return _REFUSED
    device.memory.free(allocation)
    return device.settle(), b""


def _bad_free(device: Device, address: int, caller: int) -> HostMistake:
    """Why an address cannot be freed."""
    old, live = device.memory.once_holding(address), device.memory.holding(address)
    if live is not None:
        return HostMistake(HostCode.FREE_INSIDE, caller, live.number)
    if old is not None:
        return HostMistake(HostCode.FREED_TWICE, caller, old.number)
    return HostMistake(HostCode.FREE_OF_HOST, caller)


def _pointer(device: Device, message: FindPointer, caller: int) -> Reply:
    del caller
    allocation = device.memory.holding(message.address)
    kinds = {Sharing.DEVICE: _DEVICE, Sharing.MANAGED: _MANAGED, Sharing.PINNED: _HOST}
    kind = _UNREGISTERED if allocation is None else kinds[allocation.sharing]
    return CudaError.SUCCESS, struct.pack("<I", kind)


def _memory_info(device: Device, message: MemoryInfo, caller: int) -> Reply:
    del message, caller
    return CudaError.SUCCESS, struct.pack(
        "<QQ", device.memory.limit - device.memory.taken, device.memory.limit
    )


# --- copies and fills ----------------------------------------------------------------------------------


def rows_to_receive(
    device: Device, message: CopyIn | Push, caller: int
) -> tuple[Reply, NDArray[np.uint8] | None]:
    """Where the rows of a copy to the device go; None where the code refuses them."""
    if isinstance(message, Push):
        allocation = device.memory.starting_at(message.address)
        if allocation is None or allocation.sharing is Sharing.DEVICE or message.size != allocation.size:
            raise ProtocolError("the host writes what it does not share")
        device.memory.written[allocation.start : allocation.end] = 1
        return _DONE, device.memory.rows(message.address, 0, message.size, 1)
    code = _checked(device, message, caller)
    if code is not CudaError.SUCCESS:
        return (code, b""), None
    device.memory.rows_written(message.to, message.to_pitch, message.width, message.height)[:] = 1
    device.clock.copy(message.width * message.height)
    return _DONE, device.memory.rows(message.to, message.to_pitch, message.width, message.height)


def rows_to_send(
    device: Device, message: CopyOut | Pull, caller: int
) -> tuple[Reply, NDArray[np.uint8] | None]:
    """The rows that a copy to the host takes; None where the code says why there are none."""
    if isinstance(message, Pull):
        allocation = device.memory.starting_at(message.address)
        if allocation is None or allocation.sharing is Sharing.DEVICE or message.size != allocation.size:
            raise ProtocolError("the host reads what it does not share")
        return _DONE, device.memory.rows(message.address, 0, message.size, 1)
    code = _checked(device, message, caller)
    if code is not CudaError.SUCCESS:
        return (code, b""), None
    written = device.memory.rows_written(message.source, message.source_pitch, message.width, message.height)
    if not written.all():
        device.note(_never_written(device, message.source, written, caller))
    device.clock.copy(message.width * message.height)
    return _DONE, device.memory.rows(message.source, message.source_pitch, message.width, message.height)


def _never_written(device: Device, address: int, written: NDArray[np.uint8], caller: int) -> HostMistake:
    """What is copied back of which nobody has written a part."""
    allocation = device.memory.holding(address)
    missing = int(written.size - np.count_nonzero(written))
    first = int(np.argmin(written.reshape(-1)))
    details = (("missing", missing), ("bytes", int(written.size)), ("first", first))
    return HostMistake(HostCode.NEVER_WRITTEN, caller, allocation.number if allocation else 0, details)


def _copy_within(device: Device, message: CopyWithin, caller: int) -> Reply:
    code = _checked(device, message, caller)
    if code is not CudaError.SUCCESS:
        return code, b""
    shape = (message.width, message.height)
    source = (message.source, message.source_pitch, *shape)
    target = (message.to, message.to_pitch, *shape)
    content, target_rows = device.memory.rows(*source), device.memory.rows(*target)
    if content is not None and target_rows is not None:
        target_rows[:] = content.copy()  # the two may overlap
        device.memory.rows_written(*target)[:] = device.memory.rows_written(*source).copy()
    device.clock.copy(message.width * message.height)
    return _DONE


def _copy_on_host(device: Device, message: CopyOnHost, caller: int) -> Reply:
    if message.kind not in (CopyKind.HOST_TO_HOST, CopyKind.DEFAULT):
        device.note(_wrong_direction(device, message, caller))
        return _REFUSED
    return device.settle() if not message.asynchronous else CudaError.SUCCESS, b""


def _checked(device: Device, message: Copy, caller: int) -> CudaError:
    """The code of a copy that has a side on the device; mistakes are noted, and a waiting copy settles."""
    if not message.asynchronous and device.settle() is not CudaError.SUCCESS:
        return device.broken
    if message.width * message.height > device.memory.limit or message.kind not in set(CopyKind):
        return CudaError.INVALID_VALUE
    sides = []
    if isinstance(message, CopyIn | CopyWithin):
        sides.append((message.to, message.to_pitch))
    if isinstance(message, CopyOut | CopyWithin):
        sides.append((message.source, message.source_pitch))
    for address, pitch in sides:
        if device.memory.rows(address, pitch, message.width, message.height) is None:
            device.note(_bad_copy(device, message, address, caller))
            return CudaError.INVALID_VALUE
    if not _direction_fits(device, message):
        device.note(_wrong_direction(device, message, caller))
        if not isinstance(message, CopyWithin):  # between two device pointers drivers go by the pointers
            return CudaError.INVALID_VALUE
    if message.height == 1 and message.width == _POINTER_BYTES:
        _suspect_pointer_size(device, message, sides, caller)
    return CudaError.SUCCESS


def _direction_fits(device: Device, message: Copy) -> bool:
    """Whether the kind of a copy says what its pointers are; shared memory is on both sides."""
    if message.kind == CopyKind.DEFAULT:
        return True
    ends = []
    for address in (message.source, message.to):
        allocation = device.memory.holding(address)
        if allocation is None:
            ends.append({False})
        else:
            ends.append({True} if allocation.sharing is Sharing.DEVICE else {True, False})
    from_device = message.kind in (CopyKind.DEVICE_TO_HOST, CopyKind.DEVICE_TO_DEVICE)
    to_device = message.kind in (CopyKind.HOST_TO_DEVICE, CopyKind.DEVICE_TO_DEVICE)
    return from_device in ends[0] and to_device in ends[1]


def _wrong_direction(device: Device, message: Copy, caller: int) -> HostMistake:
    source, target = device.memory.holding(message.source), device.memory.holding(message.to)
    allocation = source or target
    details = (
        ("kind", message.kind),
        ("source", source.number if source else 0),
        ("target", target.number if target else 0),
    )
    return HostMistake(HostCode.WRONG_DIRECTION, caller, allocation.number if allocation else 0, details)


def _bad_copy(device: Device, message: Copy, address: int, caller: int) -> HostMistake:
    """Why there are no such rows in device memory."""
    live, old = device.memory.holding(address), device.memory.once_holding(address)
    if live is not None:
        details = (
            ("bytes", message.width * message.height),
            ("has", live.end - (address - live.address + live.start)),
            ("size", live.size),
        )
        return HostMistake(HostCode.COPY_TOO_LARGE, caller, live.number, details)
    if old is not None:
        return HostMistake(HostCode.COPY_OF_FREED, caller, old.number)
    return HostMistake(HostCode.COPY_OF_NOTHING, caller, details=(("address", address),))


def _suspect_pointer_size(device: Device, message: Copy, sides: list[tuple[int, int]], caller: int) -> None:
    """Note a copy of as many bytes as a pointer has from or to the start of a larger array."""
    for address, _ in sides:
        allocation: Allocation | None = device.memory.starting_at(address)
        if allocation is not None and allocation.size > message.width:
            details = (("size", allocation.size),)
            device.note(HostMistake(HostCode.POINTER_SIZED_COPY, caller, allocation.number, details))
            return


def _fill(device: Device, message: Fill, caller: int) -> Reply:
    if message.width * message.height > device.memory.limit:
        return _REFUSED
    place = (message.address, message.pitch, message.width, message.height)
    rows = device.memory.rows(*place)
    if rows is None:
        as_copy = CopyIn(message.address, message.pitch, 0, 0, message.width, message.height, 1, 0, 0)
        device.note(_bad_copy(device, as_copy, message.address, caller))
        return _REFUSED
    rows[:] = message.value
    device.memory.rows_written(*place)[:] = 1
    device.clock.copy(0)
    return _DONE


# --- kernels -------------------------------------------------------------------------------------------


def _find_kernel(device: Device, message: FindKernel, caller: int) -> Reply:
    del caller
    for number, kernel in enumerate(device.launches.kernels):
        if (kernel.module, kernel.name) == (message.module, message.name):
            pairs = (value for pair in kernel.parameters for value in pair)
            layout = struct.pack(f"<{2 * len(kernel.parameters)}I", *pairs)
            return CudaError.SUCCESS, struct.pack("<II", number, len(kernel.parameters)) + layout
    return CudaError.INVALID_DEVICE_FUNCTION, b""


def _launch(device: Device, message: LaunchKernel, caller: int) -> Reply:
    if message.kernel >= len(device.launches.kernels):
        raise ProtocolError(f"there is no kernel {message.kernel}")
    kernel = device.launches.kernels[message.kernel]
    wanted = max((offset + size for offset, size in kernel.parameters), default=0)
    if len(message.parameters) != wanted:
        raise ProtocolError(f"{len(message.parameters)} bytes of parameters where a kernel takes {wanted}")
    if not _known_stream(device, message.stream):
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    limit = device.shared_limits.get(message.kernel, MOST_DYNAMIC_SHARED)
    outcome = device.launches.launch(message, caller, limit)
    device.launched += outcome.code is CudaError.SUCCESS
    if outcome.code is CudaError.SUCCESS:
        device.clock.launch(outcome.dram_bytes, outcome.lane_instructions)
        device.print(outcome.printed)
        device.complaints += outcome.complaints
        if device.pending is CudaError.SUCCESS:
            device.pending = outcome.later
    return outcome.code, b""


def _find_variable(device: Device, message: FindVariable, caller: int) -> Reply:
    del caller
    allocation = device.launches.variables.get((message.module, message.name))
    if allocation is None:
        return CudaError.INVALID_SYMBOL, b""
    return CudaError.SUCCESS, struct.pack("<QQ", allocation.address, allocation.size)


def _occupancy(device: Device, message: Occupancy, caller: int) -> Reply:
    del caller
    if message.kernel >= len(device.launches.kernels):
        raise ProtocolError(f"there is no kernel {message.kernel}")
    kernel = device.launches.kernels[message.kernel]
    dynamic = device.shared_limits.get(message.kernel, MOST_DYNAMIC_SHARED)
    facts = (kernel.registers, kernel.static_shared, kernel.local, kernel.constants, kernel.most_threads)
    return CudaError.SUCCESS, struct.pack("<7I", *facts, dynamic, _resident_blocks(message, *facts[:2]))


def _resident_blocks(message: Occupancy, registers: int, static_shared: int) -> int:
    """Blocks that a multiprocessor holds at once (CUDA C++ guide, compute capability 8.0)."""
    warps = -(-message.threads // 32)
    by_threads = min(2048 // (32 * warps), 32) if 0 < message.threads <= 1024 else 0  # noqa: PLR2004
    by_registers = 65536 // max(1, -(-registers * 32 // 256) * 256 * warps)
    shared = static_shared + message.shared_bytes + (1 << 10)
    return max(0, min(by_threads, by_registers, (164 << 10) // shared))


def _set_limit(device: Device, message: SetLimit, caller: int) -> Reply:
    del caller
    if not message.which & _KERNEL_LIMIT:
        return _DONE
    kernel = message.which & ~_KERNEL_LIMIT
    if kernel >= len(device.launches.kernels):
        raise ProtocolError(f"there is no kernel {kernel}")
    if message.value > MOST_DYNAMIC_SHARED_OPT_IN:
        return _REFUSED
    device.shared_limits[kernel] = message.value
    return _DONE


# --- streams, events, waiting --------------------------------------------------------------------------


def _known_stream(device: Device, stream: int) -> bool:
    return stream in _OWN_STREAMS or stream in device.streams


def _new_handle(device: Device) -> int | None:
    """A handle that was never given before; None where there are too many."""
    if len(device.streams) + len(device.events) >= MOST_HANDLES:
        return None
    device.handles += 0x10
    return device.handles


def _create_stream(device: Device, message: CreateStream, caller: int) -> Reply:
    del message, caller
    handle = _new_handle(device)
    if handle is None:
        return CudaError.MEMORY_ALLOCATION, b""
    device.streams.add(handle)
    return CudaError.SUCCESS, struct.pack("<Q", handle)


def _destroy_stream(device: Device, message: DestroyStream, caller: int) -> Reply:
    del caller
    if message.stream not in device.streams:
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    device.streams.remove(message.stream)
    return _DONE


def _query_stream(device: Device, message: QueryStream, caller: int) -> Reply:
    del caller
    if not _known_stream(device, message.stream):
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    return device.settle(), b""


def _wait_for_event(device: Device, message: WaitForEvent, caller: int) -> Reply:
    del caller
    known = _known_stream(device, message.stream) and message.event in device.events
    return (CudaError.SUCCESS if known else CudaError.INVALID_RESOURCE_HANDLE), b""


def _create_event(device: Device, message: CreateEvent, caller: int) -> Reply:
    del caller
    handle = _new_handle(device)
    if handle is None:
        return CudaError.MEMORY_ALLOCATION, b""
    device.events[handle] = Event(timed=not message.flags & _DISABLE_TIMING)
    return CudaError.SUCCESS, struct.pack("<Q", handle)


def _destroy_event(device: Device, message: DestroyEvent, caller: int) -> Reply:
    del caller
    if device.events.pop(message.event, None) is None:
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    return _DONE


def _record_event(device: Device, message: RecordEvent, caller: int) -> Reply:
    del caller
    if message.event not in device.events or not _known_stream(device, message.stream):
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    device.events[message.event].seconds = device.clock.record()
    return _DONE


def _query_event(device: Device, message: QueryEvent, caller: int) -> Reply:
    del caller
    if message.event not in device.events:
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    return device.settle(), b""


def _elapsed(device: Device, message: ElapsedTime, caller: int) -> Reply:
    times = [
        event.seconds if (event := device.events.get(handle)) else None
        for handle in (message.start, message.end)
    ]
    if not all(
        event.timed for handle in (message.start, message.end) if (event := device.events.get(handle))
    ):
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    if times[0] is None or times[1] is None:
        device.note(HostMistake(HostCode.EVENT_NEVER_RECORDED, caller))
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    return CudaError.SUCCESS, struct.pack("<f", 1000 * (times[1] - times[0]))


def _synchronise(device: Device, message: Synchronise, caller: int) -> Reply:
    del caller
    stream, event = 1, 2
    if message.what == stream and not _known_stream(device, message.handle):
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    if message.what == event and message.handle not in device.events:
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    return device.settle(), b""


# --- the rest ------------------------------------------------------------------------------------------


def _reset(device: Device, message: Reset, caller: int) -> Reply:
    del message, caller
    for allocation in list(device.memory.live.values()):
        if allocation.owner is Owner.PROGRAM:
            device.memory.free(allocation)
    device.launches.reset()
    device.streams.clear()
    device.events.clear()
    device.shared_limits.clear()
    device.broken = device.pending = CudaError.SUCCESS
    return _DONE


def _errors_asked(device: Device, message: ErrorsAsked, caller: int) -> Reply:
    del message, caller
    device.errors_asked = True
    return _DONE


def _unsupported(device: Device, message: Unsupported, caller: int) -> Reply:
    device.note(HostMistake(HostCode.UNSUPPORTED, caller, details=(("name", message.name[:100]),)))
    return _DONE


def _interrupted(device: Device, message: Interruption, caller: int) -> Reply:
    """A touch of shared memory that came early, or the fault that ends the program."""
    live, old = device.memory.holding(message.address), device.memory.once_holding(message.address)
    if isinstance(message, Touched):
        code = HostCode.TOUCHED_EARLY
    elif live is not None:
        code = HostCode.DEVICE_POINTER
    else:
        code = HostCode.FREED_POINTER if old is not None else HostCode.FAULT
    allocation = live or old
    offset = message.address - allocation.address if allocation else message.address
    number = allocation.number if allocation else 0
    details = (("offset", offset),)
    device.note(HostMistake(code, caller, number, details, message.callers))
    return _DONE


TABLE: Mapping[type[Message], Callable[[Device, Any, int], Reply]] = {
    Hello: _hello,
    Allocate: _allocate,
    Free: _free,
    CopyWithin: _copy_within,
    CopyOnHost: _copy_on_host,
    Fill: _fill,
    FindKernel: _find_kernel,
    LaunchKernel: _launch,
    FindVariable: _find_variable,
    Synchronise: _synchronise,
    CreateStream: _create_stream,
    DestroyStream: _destroy_stream,
    QueryStream: _query_stream,
    WaitForEvent: _wait_for_event,
    CreateEvent: _create_event,
    DestroyEvent: _destroy_event,
    RecordEvent: _record_event,
    QueryEvent: _query_event,
    ElapsedTime: _elapsed,
    FindPointer: _pointer,
    MemoryInfo: _memory_info,
    Occupancy: _occupancy,
    SetLimit: _set_limit,
    Reset: _reset,
    Touched: _interrupted,
    ErrorsAsked: _errors_asked,
    Unsupported: _unsupported,
    Fault: _interrupted,
}
"""What is done for each message; copies that carry data are in `session`."""

__all__ = ["TABLE", "Extent", "Reply", "rows_to_receive", "rows_to_send"]
