"""What a program asks of its device: a record for each message, and their numbers on the wire.

Each record's ``LAYOUT`` says how its plain numbers lie in the payload, as `struct` writes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, TypeAlias

from grader.device.library_requests import CombineVectors, DrawNumbers, DrawOnHost, MultiplyMatrices


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


STAGED = 2
"""An asynchronous copy of memory that is not pinned, which goes through a buffer of the driver's."""


@dataclass(frozen=True, slots=True)
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
class SharedExtent:
    """Bytes of shared memory, from the start of an allocation."""

    LAYOUT: ClassVar = "QQ"
    address: int
    size: int


class Push(SharedExtent):
    """What the host has written; the bytes follow."""


class Pull(SharedExtent):
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


@dataclass(frozen=True, slots=True)
class NameSymbol:
    """On the host the name of a variable stands for ``size`` bytes at an address; the program passed that."""

    LAYOUT: ClassVar = "IIQQt"
    module: int
    constant: int
    address: int
    size: int
    name: str


@dataclass(frozen=True, slots=True)
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
)
"""By their numbers on the wire, from 1 (``enum class Operation``)."""
