"""Effect of each call of the runtime on the device: one function per message, and a line in `TABLE`.

A function gets the device, the message and where the program called from; it gives an error code, as a device
would, and the answer's payload.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grader.running.device.blas_matrices import multiply, solve
from grader.running.device.blas_vectors import combine
from grader.running.device.copies import DONE, REFUSED, Reply, copy_on_host, copy_within, fill
from grader.running.device.device import MOST_HANDLES, CudaEvent
from grader.running.device.errors import CudaError, HostCode, HostMistake
from grader.running.device.library_requests import (
    CombineVectors,
    DrawNumbers,
    DrawOnHost,
    MultiplyMatrices,
    SolveTriangle,
)
from grader.running.device.limits import MOST_DYNAMIC_SHARED, reset_limits, set_limit
from grader.running.device.memory import MOST_ALLOCATIONS, OutOfMemoryError, Owner
from grader.running.device.protocol import VERSION, ProtocolError
from grader.running.device.random_numbers import draw, draw_on_host
from grader.running.device.requests import (
    Allocate,
    CallFailed,
    CopyOnHost,
    CopyWithin,
    CreateEvent,
    CreateStream,
    DestroyEvent,
    DestroyStream,
    ElapsedTime,
    ErrorsAsked,
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
    NameSymbol,
    Occupancy,
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
from grader.running.device.streams import StreamOrder, Work, WorkKind
from grader.toolchain.nvcc.signature import read_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.running.device.device import Device
    from grader.running.device.memory import DeviceAllocation
    from grader.running.device.requests import Message

_DISABLE_TIMING = 2
"""``cudaEventDisableTiming``."""

_UNREGISTERED, _HOST, _DEVICE, _MANAGED = 0, 1, 2, 3
"""``cudaMemoryType``."""


def _hello(device: Device, message: Hello, caller: int) -> Reply:
    del device, caller
    return DONE if message.version == VERSION else REFUSED


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
        return REFUSED
    device.memory.free(allocation)
    device.order.host_waits()
    return device.settle(), b""


def _bad_free(device: Device, address: int, caller: int) -> HostMistake:
    """Mistake that describes why an address cannot be freed."""
    old, live = device.memory.once_holding(address), device.memory.holding(address)
    if live is not None and live.owner is Owner.ARGUMENT:
        return HostMistake(HostCode.FREE_OF_ARGUMENT, caller, live.number)
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
    parameter_bytes = max((offset + size for offset, size in kernel.parameters), default=0)
    if len(message.parameters) != parameter_bytes:
        raise ProtocolError(
            f"{len(message.parameters)} bytes of parameters where a kernel takes {parameter_bytes}"
        )
    if not device.has_stream(message.stream):
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    limit = device.shared_limits.get(message.kernel, MOST_DYNAMIC_SHARED)
    watch = device.order.is_needed or device.memory.is_shared
    outcome = device.launches.launch(message, caller, limit, watch=watch)
    device.launched += outcome.code is CudaError.SUCCESS
    if outcome.code is CudaError.SUCCESS:
        device.clock.launch(outcome.dram_bytes, outcome.lane_instructions)
        name = str(read_name(kernel.name))
        changed = () if outcome.uses else outcome.changed
        device.give(message.stream, Work(WorkKind.KERNEL, caller, outcome.uses, name, changed))
        used_already = outcome.changed or outcome.printed or outcome.later is not CudaError.SUCCESS
        device.unread = None if used_already else (caller, name)
        device.read_before |= bool(outcome.changed or outcome.printed)
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
    blocks = kernel.resident_blocks(message.threads, message.shared_bytes)
    return CudaError.SUCCESS, struct.pack("<7I", *facts, dynamic, blocks)


# --- streams, events, waiting --------------------------------------------------------------------------


def _new_handle(device: Device) -> int | None:
    """A handle that was never given before; None where there are too many."""
    if len(device.streams) + len(device.events) >= MOST_HANDLES:
        return None
    device.handles += 0x10
    return device.handles


def _create_stream(device: Device, message: CreateStream, caller: int) -> Reply:
    del caller
    handle = _new_handle(device)
    if handle is None:
        return CudaError.MEMORY_ALLOCATION, b""
    device.streams.add(handle)
    device.order.create(handle, message.flags)
    return CudaError.SUCCESS, struct.pack("<Q", handle)


def _destroy_stream(device: Device, message: DestroyStream, caller: int) -> Reply:
    del caller
    if message.stream not in device.streams:
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    device.streams.remove(message.stream)
    return DONE


def _query_stream(device: Device, message: QueryStream, caller: int) -> Reply:
    del caller
    if not device.has_stream(message.stream):
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    device.order.host_waits(stream=message.stream)
    return device.settle(), b""


def _wait_for_event(device: Device, message: WaitForEvent, caller: int) -> Reply:
    del caller
    if not device.has_stream(message.stream) or message.event not in device.events:
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    device.order.wait(message.stream, message.event)
    return DONE


def _create_event(device: Device, message: CreateEvent, caller: int) -> Reply:
    del caller
    handle = _new_handle(device)
    if handle is None:
        return CudaError.MEMORY_ALLOCATION, b""
    device.events[handle] = CudaEvent(timed=not message.flags & _DISABLE_TIMING)
    return CudaError.SUCCESS, struct.pack("<Q", handle)


def _destroy_event(device: Device, message: DestroyEvent, caller: int) -> Reply:
    del caller
    if device.events.pop(message.event, None) is None:
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    return DONE


def _record_event(device: Device, message: RecordEvent, caller: int) -> Reply:
    del caller
    if message.event not in device.events or not device.has_stream(message.stream):
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    event = device.events[message.event]
    event.seconds, event.waits = device.clock.record(), device.waits
    device.order.record(message.event, message.stream)
    return DONE


def _query_event(device: Device, message: QueryEvent, caller: int) -> Reply:
    del caller
    if message.event not in device.events:
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    device.order.host_waits(event=message.event)
    return device.settle(), b""


def _elapsed(device: Device, message: ElapsedTime, caller: int) -> Reply:
    nothing = CudaEvent()
    start, end = (device.events.get(handle, nothing) for handle in (message.start, message.end))
    if not (start.timed and end.timed):
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    if start.seconds is None or end.seconds is None:
        device.note(HostMistake(HostCode.EVENT_NEVER_RECORDED, caller))
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    if device.waits in (start.waits, end.waits):
        device.note(HostMistake(HostCode.EVENT_NOT_WAITED_FOR, caller))
    device.times_asked += 1
    return CudaError.SUCCESS, struct.pack("<f", 1000 * (end.seconds - start.seconds))


def _synchronise(device: Device, message: Synchronise, caller: int) -> Reply:
    del caller
    stream, event = 1, 2
    if message.what == stream and not device.has_stream(message.handle):
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    if message.what == event and message.handle not in device.events:
        return CudaError.INVALID_RESOURCE_HANDLE, b""
    device.order.host_waits(
        stream=message.handle if message.what == stream else None,
        event=message.handle if message.what == event else None,
    )
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
    reset_limits(device)
    device.symbols.clear()
    device.order = StreamOrder()
    return DONE


def _enable_errors(device: Device, message: ErrorsAsked, caller: int) -> Reply:
    del message, caller
    device.errors_asked = True
    return DONE


def _call_failed(device: Device, message: CallFailed, caller: int) -> Reply:
    device.note_outcome(message.code, caller)
    return DONE


def _name_symbol(device: Device, message: NameSymbol, caller: int) -> Reply:
    """Record the name of a variable as a pointer; a host that reports it is believed: it accuses itself."""
    del caller
    variable = device.launches.variables.get((message.module, message.name))
    if variable is not None and len(device.symbols) < len(device.launches.variables):
        device.symbols.append(replace(message, size=min(message.size, variable.size)))
    return DONE


def _unsupported(device: Device, message: Unsupported, caller: int) -> Reply:
    device.note(HostMistake(HostCode.UNSUPPORTED, caller, details=(("name", message.name[:100]),)))
    return DONE


def _touched(device: Device, message: Touched, caller: int) -> Reply:
    """A touch of shared memory; it comes early where the device may be at work on the same bytes."""
    live = device.memory.holding(message.address)
    if live is None:
        return DONE
    writes = bool(message.writes)
    work = device.work_on(live, message.address, message.size, host_writes=writes)
    if work is not None:
        device.note(replace(_access(HostCode.TOUCHED_EARLY, message, caller, live), other=work.caller))
        return DONE
    beside = device.work_on(live, live.address, live.size, host_writes=writes)
    return DONE if beside is None else (CudaError.NOT_READY, b"")


def _faulted(device: Device, message: Fault, caller: int) -> Reply:
    """The fault that ends the program."""
    live, old = device.memory.holding(message.address), device.memory.once_holding(message.address)
    if live is not None:
        code = HostCode.DEVICE_POINTER
    else:
        code = HostCode.FREED_POINTER if old is not None else HostCode.FAULT
    device.note(_access(code, message, caller, live or old))
    return DONE


def _access(
    code: HostCode, message: Interruption, caller: int, allocation: DeviceAllocation | None
) -> HostMistake:
    """A mistake of the host's own code; its lines are looked up by the byte before an address."""
    details = (("offset", message.address - allocation.address if allocation else message.address),)
    callers = (caller + 1, *message.callers[1:])
    return HostMistake(code, caller + 1, allocation.number if allocation else 0, details, callers)


TABLE: Mapping[type[Message], Callable[[Device, Any, int], Reply]] = {
    Hello: _hello,
    Allocate: _allocate,
    Free: _free,
    CopyWithin: copy_within,
    CopyOnHost: copy_on_host,
    Fill: fill,
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
    SetLimit: set_limit,
    Reset: _reset,
    Touched: _touched,
    ErrorsAsked: _enable_errors,
    Unsupported: _unsupported,
    Fault: _faulted,
    NameSymbol: _name_symbol,
    CallFailed: _call_failed,
    MultiplyMatrices: multiply,
    CombineVectors: combine,
    SolveTriangle: solve,
    DrawNumbers: draw,
    DrawOnHost: draw_on_host,
}
"""Handler of each message; copies that carry data are in `session`."""
