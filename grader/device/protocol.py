"""Messages of a program to its device: bytes in, checked records out, and nothing else reads them.

A request is a head (operation, bytes of the payload, where the program called the runtime) and a payload of
plain numbers. An answer is a head (error code, bytes), device text, and a payload; data
of copies follow it. The program's side is
``sandbox/runtime/wire.hpp``. Every number here is only known to have the right size: what it means is checked
by whoever acts on it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import ClassVar, TypeAlias

VERSION = 1
REQUEST = struct.Struct("<IIQ")
ANSWER = struct.Struct("<iIII")

MOST_BYTES = 1 << 16
"""Bytes that a payload may have: parameters of a kernel (4 KiB) and names fit by far."""

MOST_CALLERS = 16


class ProtocolError(Exception):
    """What a program sent is no message; the argument says why."""


class Sharing(IntEnum):
    """Who reaches an allocation by its address."""

    DEVICE = 0
    MANAGED = 1
    PINNED = 2


class CopyKind(IntEnum):
    """``cudaMemcpyKind``."""

    HOST_TO_HOST = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 3
    DEFAULT = 4


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message; ``anchor`` is the address of a function of the stand-in."""

    LAYOUT: ClassVar = "IQ"
    version: int
    anchor: int


@dataclass(frozen=True, slots=True)
class Allocate:
    """``cudaMalloc`` and its kin: ``size`` bytes."""

    LAYOUT: ClassVar = "QIQ"
    size: int
    sharing: int
    stream: int


@dataclass(frozen=True, slots=True)
class Free:
    """``cudaFree`` and its kin."""

    LAYOUT: ClassVar = "QIQ"
    address: int
    sharing: int
    stream: int


@dataclass(frozen=True, slots=True)
class Copy:
    """``height`` rows of ``width`` bytes; a pitch is the bytes from one row to the next."""

    LAYOUT: ClassVar = "QQQQQQIQI"
    to: int
    to_pitch: int
    source: int
    source_pitch: int
    width: int
    height: int
    kind: int
    stream: int
    asynchronous: int


class CopyIn(Copy):
    """From the host to the device: the rows follow the answer, if its code is success."""


class CopyOut(Copy):
    """From the device to the host: the rows come with the answer, if its code is success."""


class CopyWithin(Copy):
    """From the device to the device."""


class CopyOnHost(Copy):
    """The program does it itself; it is told for what it says of its kind."""


@dataclass(frozen=True, slots=True)
class Fill:
    """``cudaMemset``: bytes of one value."""

    LAYOUT: ClassVar = "QQIQQQI"
    address: int
    pitch: int
    value: int
    width: int
    height: int
    stream: int
    asynchronous: int


@dataclass(frozen=True, slots=True)
class FindKernel:
    """A kernel by its file and its name in the PTX; answered by its number and parameters."""

    LAYOUT: ClassVar = "It"
    module: int
    name: str


@dataclass(frozen=True, slots=True)
class LaunchKernel:
    """A launch; ``parameters`` are the bytes that the kernel's parameters take."""

    LAYOUT: ClassVar = "IIIIIIIQQIb"
    kernel: int
    grid_x: int
    grid_y: int
    grid_z: int
    block_x: int
    block_y: int
    block_z: int
    shared_bytes: int
    stream: int
    cooperative: int
    parameters: bytes


@dataclass(frozen=True, slots=True)
class FindVariable:
    """A variable in device memory by its name in the PTX; answered by its address and size."""

    LAYOUT: ClassVar = "It"
    module: int
    name: str


@dataclass(frozen=True, slots=True)
class Synchronise:
    """Wait for the device (0), a stream (1) or an event (2)."""

    LAYOUT: ClassVar = "IQ"
    what: int
    handle: int


@dataclass(frozen=True, slots=True)
class Create:
    """A new stream or event."""

    LAYOUT: ClassVar = "I"
    flags: int


class CreateStream(Create):
    """``cudaStreamCreate`` and its kin."""


class CreateEvent(Create):
    """``cudaEventCreate`` and its kin."""


@dataclass(frozen=True, slots=True)
class OfStream:
    """Something about one stream."""

    LAYOUT: ClassVar = "Q"
    stream: int


class DestroyStream(OfStream):
    """``cudaStreamDestroy``."""


class QueryStream(OfStream):
    """``cudaStreamQuery``."""


@dataclass(frozen=True, slots=True)
class WaitForEvent:
    """``cudaStreamWaitEvent``."""

    LAYOUT: ClassVar = "QQ"
    stream: int
    event: int


@dataclass(frozen=True, slots=True)
class OfEvent:
    """Something about one event."""

    LAYOUT: ClassVar = "Q"
    event: int


class DestroyEvent(OfEvent):
    """``cudaEventDestroy``."""


class QueryEvent(OfEvent):
    """``cudaEventQuery``."""


@dataclass(frozen=True, slots=True)
class RecordEvent:
    """``cudaEventRecord``."""

    LAYOUT: ClassVar = "QQ"
    event: int
    stream: int


@dataclass(frozen=True, slots=True)
class ElapsedTime:
    """``cudaEventElapsedTime``; answered in milliseconds."""

    LAYOUT: ClassVar = "QQ"
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Extent:
    """Bytes of shared memory, from the start of an allocation."""

    LAYOUT: ClassVar = "QQ"
    address: int
    size: int


class Push(Extent):
    """What the host has written; the bytes follow."""


class Pull(Extent):
    """What the host is about to read; the bytes come with the answer."""


@dataclass(frozen=True, slots=True)
class FindPointer:
    """``cudaPointerGetAttributes``."""

    LAYOUT: ClassVar = "Q"
    address: int


@dataclass(frozen=True, slots=True)
class MemoryInfo:
    """``cudaMemGetInfo``; answered in free bytes and in all."""

    LAYOUT: ClassVar = ""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """What is to be known of a kernel whose blocks have so many threads and so much dynamic shared memory."""

    LAYOUT: ClassVar = "IIQ"
    kernel: int
    threads: int
    shared_bytes: int


@dataclass(frozen=True, slots=True)
class SetLimit:
    """A limit of the device, or, with the top bit, of the dynamic shared memory of a kernel."""

    LAYOUT: ClassVar = "IQ"
    which: int
    value: int


@dataclass(frozen=True, slots=True)
class Reset:
    """``cudaDeviceReset``."""

    LAYOUT: ClassVar = ""


@dataclass(frozen=True, slots=True)
class ErrorsAsked:
    """The program has asked for its last error, for the first time."""

    LAYOUT: ClassVar = ""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A function of the runtime that the stand-in does not have; the program ends with it."""

    LAYOUT: ClassVar = "t"
    name: str


@dataclass(frozen=True, slots=True)
class Interruption:
    """An access of the host that the processor refused; ``callers`` begin with the instruction itself."""

    LAYOUT: ClassVar = "Qc"
    address: int
    callers: tuple[int, ...]


class Touched(Interruption):
    """Shared memory was touched while the device may be at work; the program goes on."""


class Fault(Interruption):
    """The program ends with it."""


Message: TypeAlias = (
    Hello
    | Allocate
    | Free
    | Copy
    | Fill
    | FindKernel
    | LaunchKernel
    | FindVariable
    | Synchronise
    | Create
    | OfStream
    | OfEvent
    | WaitForEvent
    | RecordEvent
    | ElapsedTime
    | Extent
    | FindPointer
    | MemoryInfo
    | Occupancy
    | SetLimit
    | Reset
    | ErrorsAsked
    | Unsupported
    | Interruption
)

OPERATIONS: tuple[type[Message], ...] = (
    Hello,
    Allocate,
    Free,
    CopyIn,
    CopyOut,
    CopyWithin,
    CopyOnHost,
    Fill,
    FindKernel,
    LaunchKernel,
    FindVariable,
    Synchronise,
    CreateStream,
    DestroyStream,
    QueryStream,
    WaitForEvent,
    CreateEvent,
    DestroyEvent,
    RecordEvent,
    QueryEvent,
    ElapsedTime,
    Push,
    Pull,
    FindPointer,
    MemoryInfo,
    Occupancy,
    SetLimit,
    Reset,
    Touched,
    ErrorsAsked,
    Unsupported,
    Fault,
)
"""By their numbers on the wire, from 1 (``enum class Operation``)."""

WITHOUT_ANSWER = (Touched, Fault)

_COUNT = struct.Struct("<I")


def read_head(head: bytes) -> tuple[type[Message], int, int]:
    """What kind of request follows, how many bytes its payload has, and where the program called the runtime.

    Raises ProtocolError.
    """
    number, size, caller = REQUEST.unpack(head)
    if not 1 <= number <= len(OPERATIONS):
        raise ProtocolError(f"there is no operation {number}")
    if size > MOST_BYTES:
        raise ProtocolError(f"a payload of {size} bytes")
    return OPERATIONS[number - 1], size, caller


def read(kind: type[Message], payload: bytes) -> Message:
    """The record in a payload; raises ProtocolError unless it is exactly one."""
    values: list[int | str | bytes | tuple[int, ...]] = []
    numbers = struct.Struct("<" + kind.LAYOUT.rstrip("tbc"))
    if len(payload) < numbers.size:
        raise ProtocolError(f"{kind.__name__} is cut short")
    values += numbers.unpack_from(payload)
    rest = payload[numbers.size :]
    last = kind.LAYOUT[len(kind.LAYOUT.rstrip("tbc")) :]
    if last == "b":
        values.append(rest)
    elif last:
        values.append(_text(rest) if last == "t" else _callers(rest))
    elif rest:
        raise ProtocolError(f"{kind.__name__} has {len(rest)} bytes too many")
    return kind(*values)  # type: ignore[arg-type]  # the layout beside the fields says which types they are


def _text(rest: bytes) -> str:
    """A text after its length."""
    content = _counted(rest, 1)
    try:
        return content.decode("ascii")
    except UnicodeDecodeError:
        raise ProtocolError("a name that is not ASCII") from None


def _callers(rest: bytes) -> tuple[int, ...]:
    """Addresses after their number."""
    content = _counted(rest, 8)
    if len(content) > 8 * MOST_CALLERS:
        raise ProtocolError("too many callers")
    return struct.unpack(f"<{len(content) // 8}Q", content)


def _counted(rest: bytes, width: int) -> bytes:
    if len(rest) < _COUNT.size:
        raise ProtocolError("a count is missing")
    (count,) = _COUNT.unpack_from(rest)
    content = rest[_COUNT.size :]
    if len(content) != count * width:
        raise ProtocolError(f"{len(content)} bytes where {count} items of {width} are announced")
    return content


def answer(code: int, payload: bytes = b"", printed: bytes = b"", complaints: bytes = b"") -> bytes:
    """An answer as it is sent, with what kernels printed and what assertions said since the last one."""
    return ANSWER.pack(code, len(payload), len(printed), len(complaints)) + printed + complaints + payload


def write(message: Message, caller: int = 0) -> bytes:
    """A request as the stand-in would send it, without the data that may follow; for tests and attacks."""
    kind = type(message)
    values = [getattr(message, field.name) for field in fields(message)]
    numbers, last = kind.LAYOUT.rstrip("tbc"), kind.LAYOUT[len(kind.LAYOUT.rstrip("tbc")) :]
    payload = struct.pack("<" + numbers, *values[: len(numbers)])
    if last == "b":
        payload += values[-1]
    elif last == "t":
        payload += _COUNT.pack(len(values[-1])) + values[-1].encode()
    elif last == "c":
        payload += _COUNT.pack(len(values[-1])) + struct.pack(f"<{len(values[-1])}Q", *values[-1])
    return REQUEST.pack(OPERATIONS.index(kind) + 1, len(payload), caller) + payload
