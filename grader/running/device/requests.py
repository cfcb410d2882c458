"""Requests of a program to its device: a record for each message, and their numbers on the wire.

Each record's ``LAYOUT`` is the layout of its plain numbers in the payload, as `struct` writes them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar, TypeAlias

from grader.base.records import frozen
from grader.running.device.library_requests import (
    CombineVectors,
    DrawNumbers,
    DrawOnHost,
    MultiplyMatrices,
    SolveTriangle,
)


class Sharing(IntEnum):
    """Sides that reach an allocation by its address."""

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


@frozen
class Hello:
    """The first message; ``anchor`` is the address of a function of the stand-in."""

    LAYOUT: ClassVar = "IQ"
    version: int
    anchor: int


@frozen
class Allocate:
    """``cudaMalloc`` and its kin: ``size`` bytes."""

    LAYOUT: ClassVar = "QIQ"
    size: int
    sharing: int
    stream: int


@frozen
class Free:
    """``cudaFree`` and its kin."""

    LAYOUT: ClassVar = "QIQ"
    address: int
    sharing: int
    stream: int


STAGED = 2
"""An asynchronous copy of memory that is not pinned, which goes through a buffer of the driver's."""


@frozen
class Copy:
    """``height`` rows of ``width`` bytes; a pitch is the bytes from one row to the next.

    ``asynchronous`` is 0 where the host waits, and `STAGED` where it does not, but its memory is not pinned.
    """

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
    """Copy from the host to the device: the rows follow the answer, if its code is success."""


class CopyOut(Copy):
    """Copy from the device to the host: the rows come with the answer, if its code is success."""


class CopyWithin(Copy):
    """Copy from the device to the device."""


class CopyOnHost(Copy):
    """Copy that the program does itself; the message carries the kind that the program gives it."""


@frozen
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


@frozen
class FindKernel:
    """A kernel by its file and its name in the PTX; answered by its number and parameters."""

    LAYOUT: ClassVar = "It"
    module: int
    name: str


@frozen
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


@frozen
class FindVariable:
    """A variable in device memory by its name in the PTX; answered by its address and size."""

    LAYOUT: ClassVar = "It"
    module: int
    name: str


@frozen
class Synchronise:
    """Wait for the device (0), a stream (1) or an event (2)."""

    LAYOUT: ClassVar = "IQ"
    what: int
    handle: int


@frozen
class Create:
    """A new stream or event."""

    LAYOUT: ClassVar = "I"
    flags: int


class CreateStream(Create):
    """``cudaStreamCreate`` and its kin."""


class CreateEvent(Create):
    """``cudaEventCreate`` and its kin."""


@frozen
class OfStream:
    """Request about one stream."""

    LAYOUT: ClassVar = "Q"
    stream: int


class DestroyStream(OfStream):
    """``cudaStreamDestroy``."""


class QueryStream(OfStream):
    """``cudaStreamQuery``."""


@frozen
class WaitForEvent:
    """``cudaStreamWaitEvent``."""

    LAYOUT: ClassVar = "QQ"
    stream: int
    event: int


@frozen
class OfEvent:
    """Request about one event."""

    LAYOUT: ClassVar = "Q"
    event: int


class DestroyEvent(OfEvent):
    """``cudaEventDestroy``."""


class QueryEvent(OfEvent):
    """``cudaEventQuery``."""


@frozen
class RecordEvent:
    """``cudaEventRecord``."""

    LAYOUT: ClassVar = "QQ"
    event: int
    stream: int


@frozen
class ElapsedTime:
    """``cudaEventElapsedTime``; answered in milliseconds."""

    LAYOUT: ClassVar = "QQ"
    start: int
    end: int


@frozen
class SharedExtent:
    """Bytes of shared memory, from the start of an allocation."""

    LAYOUT: ClassVar = "QQ"
    address: int
    size: int


class Push(SharedExtent):
    """Bytes that the host has written; they follow the message."""


class Pull(SharedExtent):
    """Bytes that the host is about to read; they come with the answer."""


@frozen
class FindPointer:
    """``cudaPointerGetAttributes``."""

    LAYOUT: ClassVar = "Q"
    address: int


@frozen
class MemoryInfo:
    """``cudaMemGetInfo``; answered in free bytes and in all."""

    LAYOUT: ClassVar = ""


@frozen
class Occupancy:
    """Request for the occupancy of a kernel, given its threads per block and its dynamic shared memory."""

    LAYOUT: ClassVar = "IIQ"
    kernel: int
    threads: int
    shared_bytes: int


@frozen
class SetLimit:
    """A limit of the device, or, with the top bit, of the dynamic shared memory of a kernel."""

    LAYOUT: ClassVar = "IQ"
    which: int
    value: int


@frozen
class Reset:
    """``cudaDeviceReset``."""

    LAYOUT: ClassVar = ""


@frozen
class ErrorsAsked:
    """The program has asked for its last error, for the first time."""

    LAYOUT: ClassVar = ""


@frozen
class Unsupported:
    """A function of the runtime that the stand-in does not have; the program ends with it."""

    LAYOUT: ClassVar = "t"
    name: str


@frozen
class Interruption:
    """An access of the host that is held up, to ``size`` bytes; ``callers`` begin with the instruction."""

    LAYOUT: ClassVar = "QQIc"
    address: int
    size: int
    writes: int
    callers: tuple[int, ...]


class Touched(Interruption):
    """Shared memory is touched while the device may be at work; the program goes on.

    The answer is ``NOT_READY`` where the device is at work on other bytes of that allocation.
    """


class Fault(Interruption):
    """The program ends with it."""


@frozen
class NameSymbol:
    """Name of a variable that the program passed: on the host it stands for ``size`` bytes at an address."""

    LAYOUT: ClassVar = "IIQQt"
    module: int
    constant: int
    address: int
    size: int
    name: str


@frozen
class CallFailed:
    """A call of the program gave this error, for the first time; the device need not have been asked."""

    LAYOUT: ClassVar = "I"
    code: int


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
    | SharedExtent
    | FindPointer
    | MemoryInfo
    | Occupancy
    | SetLimit
    | Reset
    | ErrorsAsked
    | Unsupported
    | Interruption
    | NameSymbol
    | CallFailed
    | MultiplyMatrices
    | CombineVectors
    | DrawNumbers
    | SolveTriangle
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
    NameSymbol,
    CallFailed,
    MultiplyMatrices,
    CombineVectors,
    DrawNumbers,
    DrawOnHost,
    SolveTriangle,
)
"""Types of messages by their numbers on the wire, from 1 (``enum class Operation``)."""
