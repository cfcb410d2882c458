"""Copies and fills of device memory: what a device refuses, what is noted, and which rows are moved.

Data of copies are moved by `session`, which asks here for the rows first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from grader.running.device.errors import CudaError, HostCode, HostMistake
from grader.running.device.memory import BASE
from grader.running.device.protocol import ProtocolError
from grader.running.device.requests import (
    STAGED,
    Copy,
    CopyIn,
    CopyKind,
    CopyOut,
    CopyWithin,
    Fill,
    Pull,
    Push,
    Sharing,
)
from grader.running.device.streams import DEFAULT, Use, Work, WorkKind, rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.running.device.device import Device
    from grader.running.device.memory import DeviceAllocation
    from grader.running.device.requests import CopyOnHost, SharedExtent

Reply: TypeAlias = "tuple[CudaError, bytes]"
"""Result of a call: the error code, and the answer's payload."""

DONE: Reply = (CudaError.SUCCESS, b"")
REFUSED: Reply = (CudaError.INVALID_VALUE, b"")

_POINTER_BYTES, _LARGEST_BYTE = 8, 0xFF
_EACH_BYTE = 0x01010101
"""Factor from a byte to four such bytes: ``cudaMemset`` of that number gives what was asked for."""


def rows_to_receive(
    device: Device, message: CopyIn | Push, caller: int
) -> tuple[Reply, NDArray[np.uint8] | None]:
    """Rows that a copy to the device writes, beside the reply; None where the copy is refused."""
    if isinstance(message, Push):
        allocation = _shared_whole(device, message, "writes")
        device.memory.written[allocation.start : allocation.end] = 1
        return DONE, device.memory.rows(message.address, 0, message.size, 1)
    code = _checked(device, message, caller)
    if code is not CudaError.SUCCESS:
        return (code, b""), None
    device.memory.rows_written(message.to, message.to_pitch, message.width, message.height)[:] = 1
    device.memory.note_copy(message.to, message.width * message.height, caller, back=False)
    _copied(device, message, caller)
    return DONE, device.memory.rows(message.to, message.to_pitch, message.width, message.height)


def rows_to_send(
    device: Device, message: CopyOut | Pull, caller: int
) -> tuple[Reply, NDArray[np.uint8] | None]:
    """Rows that a copy to the host takes, beside the reply; None where the copy is refused."""
    if isinstance(message, Pull):
        _shared_whole(device, message, "reads")
        device.came_back()
        return DONE, device.memory.rows(message.address, 0, message.size, 1)
    code = _checked(device, message, caller)
    if code is not CudaError.SUCCESS:
        return (code, b""), None
    written = device.memory.rows_written(message.source, message.source_pitch, message.width, message.height)
    if not written.all():
        device.note(_never_written(device, message.source, written, caller))
    device.came_back()
    device.memory.note_copy(message.source, message.width * message.height, caller, back=True)
    _copied(device, message, caller)
    return DONE, device.memory.rows(message.source, message.source_pitch, message.width, message.height)


def _copied(device: Device, message: Copy, caller: int) -> None:
    """Time passes, and a stream has more behind it; a copy that waits is the default stream's."""
    device.clock.copy(message.width * message.height)
    shape = (message.width, message.height)
    uses = []
    if isinstance(message, CopyIn | CopyWithin):
        uses.append((Use.WRITES, rows(message.to - BASE, message.to_pitch, *shape)))
    if isinstance(message, CopyOut | CopyWithin):
        uses.append((Use.READS, rows(message.source - BASE, message.source_pitch, *shape)))
    stream = message.stream if message.asynchronous else DEFAULT
    kind = WorkKind.STAGED_COPY if message.asynchronous == STAGED else WorkKind.COPY
    device.give(stream, Work(kind, caller, tuple(uses)))
    to_pageable = isinstance(message, CopyOut)  # the host has it when the call returns
    if to_pageable or not message.asynchronous:
        device.order.host_waits(stream=stream)


def _shared_whole(device: Device, message: SharedExtent, verb: str) -> DeviceAllocation:
    """The shared allocation that a message names, whole; raises ProtocolError."""
    allocation = device.memory.starting_at(message.address)
    if allocation is None or allocation.sharing is Sharing.DEVICE or message.size != allocation.size:
        raise ProtocolError(f"the host {verb} what it does not share")
    return allocation


def _never_written(device: Device, address: int, written: NDArray[np.uint8], caller: int) -> HostMistake:
    """Mistake for a copy to the host of bytes of which a part was never written."""
    allocation = device.memory.holding(address)
    missing = int(written.size - np.count_nonzero(written))
    first = int(np.argmin(written.reshape(-1)))
    details = (("missing", missing), ("bytes", int(written.size)), ("first", first))
    return HostMistake(HostCode.NEVER_WRITTEN, caller, allocation.number if allocation else 0, details)


def copy_within(device: Device, message: CopyWithin, caller: int) -> Reply:
    """A copy from device memory to device memory."""
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
        if _shared(device, message.to):
            device.came_back()
    _copied(device, message, caller)
    return DONE


def copy_on_host(device: Device, message: CopyOnHost, caller: int) -> Reply:
    """A copy that the program makes by itself, if its direction is right."""
    _require_sound(message)
    if message.kind not in (CopyKind.HOST_TO_HOST, CopyKind.DEFAULT):
        symbol = device.symbol_mistake(caller, message.to, message.source)
        device.note(symbol or _wrong_direction(device, message, caller))
        return REFUSED
    if message.asynchronous:
        return DONE
    device.order.host_waits(stream=DEFAULT)
    return device.settle(), b""


def _require_sound(message: Copy | Fill) -> None:
    """Raise ProtocolError for numbers that the stand-in never sends: it answers such calls by itself."""
    if not message.width or not message.height:
        raise ProtocolError("a copy or fill of nothing")
    if isinstance(message, Copy) and message.kind not in set(CopyKind):
        raise ProtocolError(f"a copy of kind {message.kind}")


def _checked(device: Device, message: Copy, caller: int) -> CudaError:
    """The code of a copy that has a side on the device; mistakes are noted, and a waiting copy settles."""
    _require_sound(message)
    if not message.asynchronous and device.settle() is not CudaError.SUCCESS:
        return device.broken
    if message.width * message.height > device.memory.limit:
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
        symbol = device.symbol_mistake(caller, message.to, message.source)
        device.note(symbol or _wrong_direction(device, message, caller))
        if not isinstance(message, CopyWithin):  # between two device pointers drivers go by the pointers
            return CudaError.INVALID_VALUE
    if message.height == 1 and message.width == _POINTER_BYTES:
        _suspect_pointer_size(device, message, sides, caller)
    return CudaError.SUCCESS


def _direction_fits(device: Device, message: Copy) -> bool:
    """True if the kind of a copy agrees with its pointers; shared memory is on both sides."""
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
        ("source", _is_on_device(source)),
        ("target", _is_on_device(target)),
    )
    return HostMistake(HostCode.WRONG_DIRECTION, caller, allocation.number if allocation else 0, details)


def _is_on_device(allocation: DeviceAllocation | None) -> bool:
    """True if an allocation counts as device memory: pinned memory is the host's."""
    return allocation is not None and allocation.sharing is not Sharing.PINNED


def _bad_copy(device: Device, message: Copy, address: int, caller: int) -> HostMistake:
    """Mistake that describes why there are no such rows in device memory."""
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
    """Note a copy of as many bytes as a pointer has from or to the start of a larger array.

    An array that was written to its end before is changed in its first element: a struct gets a pointer.
    """
    for address, _ in sides:
        allocation: DeviceAllocation | None = device.memory.starting_at(address)
        if allocation is not None and allocation.size > message.width:
            if address == message.to and device.memory.written[allocation.start : allocation.end].all():
                continue
            details = (("size", allocation.size),)
            device.note(HostMistake(HostCode.POINTER_SIZED_COPY, caller, allocation.number, details))
            return


def fill(device: Device, message: Fill, caller: int) -> Reply:
    """``cudaMemset`` and its kin."""
    _require_sound(message)
    if message.width * message.height > device.memory.limit:
        return REFUSED
    rectangle = (message.address, message.pitch, message.width, message.height)
    content = device.memory.rows(*rectangle)
    if content is None:
        as_copy = CopyIn(message.address, message.pitch, 0, 0, message.width, message.height, 1, 0, 0)
        symbol = device.symbol_mistake(caller, message.address)
        device.note(symbol or _bad_copy(device, as_copy, message.address, caller))
        return REFUSED
    value = message.value & _LARGEST_BYTE
    signed = message.value - (1 << 32) if message.value >> 31 else message.value
    is_byte = -(_LARGEST_BYTE + 1) // 2 <= signed <= _LARGEST_BYTE
    if not is_byte and message.value != value * _EACH_BYTE:
        allocation = device.memory.holding(message.address)
        details = (("value", signed), ("byte", value))
        number = allocation.number if allocation else 0
        device.note(HostMistake(HostCode.MEMSET_OF_ELEMENTS, caller, number, details))
    content[:] = value
    device.memory.rows_written(*rectangle)[:] = 1
    device.memory.note_fill(message.address, value, caller)
    device.clock.copy(0)
    spans = rows(message.address - BASE, message.pitch, message.width, message.height)
    device.give(message.stream, Work(WorkKind.FILL, caller, ((Use.WRITES, spans),)))
    if _shared(device, message.address) and not message.asynchronous:
        device.order.host_waits(stream=message.stream)  # "API synchronization behavior"
    return DONE


def _shared(device: Device, address: int) -> DeviceAllocation | None:
    """The allocation at an address, if the host reaches it, too."""
    allocation = device.memory.holding(address)
    return None if allocation is None or allocation.sharing is Sharing.DEVICE else allocation
