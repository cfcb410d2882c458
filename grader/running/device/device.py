"""The state of one device while a program runs: memory, kernels, streams, events, errors that wait."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from grader.base.records import frozen, mutable
from grader.model import MOST_THREADS
from grader.running.device.errors import ERRORS_OF_CALLS, CudaError, FailedCall, HostCode, HostMistake
from grader.running.device.memory import BASE
from grader.running.device.streams import (
    DEFAULT,
    LEGACY,
    PER_THREAD,
    Clock,
    StreamOrder,
    Use,
    Work,
    common_byte,
    span,
)
from grader.simulation.ptx.parser import symbol_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from grader.running.device.memory import DeviceAllocation, DeviceMemory
    from grader.running.device.requests import CopyOut, LaunchKernel, Message, NameSymbol, Pull
    from grader.running.device.streams import Spans

MOST_MISTAKES = 200
"""Limit of the mistakes that are kept: of a mistake made in a loop the first ones are reported."""

PRINTED_BYTES, MOST_PRINTED = 1 << 20, 1 << 26
"""Bytes of device text that are held until they are asked for: the buffer of ``printf`` on a device, and what
a program may make of it."""

_OWN_STREAMS = (DEFAULT, LEGACY, PER_THREAD)
"""Streams that exist without being created."""

MOST_HANDLES = 10_000
"""Streams and events at once."""


@frozen
class LoadedKernel:
    """A kernel that the grader compiled: its name, and its parameters (offset, bytes)."""

    name: str
    module: int
    parameters: tuple[tuple[int, int], ...]
    registers: int
    static_shared: int
    local: int
    constants: int
    most_threads: int

    def resident_blocks(self, threads: int, shared_bytes: int) -> int:
        """Blocks that a multiprocessor holds at once (CUDA C++ guide, compute capability 8.0).

        Each block has ``threads`` threads and ``shared_bytes`` of dynamic shared memory.
        """
        warps = -(-threads // 32)
        by_threads = min(2048 // (32 * warps), 32) if 0 < threads <= MOST_THREADS else 0
        by_registers = 65536 // max(1, -(-self.registers * 32 // 256) * 256 * warps)
        shared = self.static_shared + shared_bytes + (1 << 10)
        return max(0, min(by_threads, by_registers, (164 << 10) // shared))


@frozen
class LaunchOutcome:
    """Outcome of a launch: the error that the next synchronisation returns, and what the device did."""

    code: CudaError
    """Error returned at once, by a launch that never ran."""
    later: CudaError = CudaError.SUCCESS
    dram_bytes: int = 0
    lane_instructions: int = 0
    printed: bytes = b""
    complaints: bytes = b""
    changed: tuple[int, ...] = ()
    """The numbers of the shared allocations whose bytes it changed."""
    uses: tuple[tuple[Use, Spans], ...] = ()
    """Uses of bytes by the launch, if they were asked for."""


class Notes(ABC):
    """Takes down what a device does."""

    __slots__ = ()

    @property
    def is_done(self) -> bool:
        """True if the program need not go on."""
        return False

    @abstractmethod
    def note(self, message: Message) -> None:
        """Take a request down that was granted, after the bytes that it moves were moved."""

    def outgoing(self, message: CopyOut | Pull, rows: NDArray[np.uint8]) -> NDArray[np.uint8]:  # noqa: ARG002
        """Give the bytes that the host gets of those that it has asked for."""
        return rows


class Launches(Protocol):
    """Runs kernels on the memory of a device."""

    @property
    def kernels(self) -> tuple[LoadedKernel, ...]:
        """All kernels of all files, by their numbers."""

    @property
    def variables(self) -> Mapping[tuple[int, str], DeviceAllocation]:
        """The variables in device memory, by file and name."""

    def launch(
        self, request: LaunchKernel, caller: int, shared_limit: int, *, watch: bool = False
    ) -> LaunchOutcome:
        """Run a kernel, and ``watch`` which bytes it uses; never raises for what a program asks."""

    def reset(self) -> None:
        """Put variables back to what they hold at the start."""


@mutable
class CudaEvent:
    """An event: when it was recorded last, None if never; ``timed`` unless it was made without timing.

    ``waits`` counts how often the host had waited for the device by then.
    """

    seconds: float | None = None
    timed: bool = True
    waits: int = 0


@mutable
class Device:
    """The device, and what was seen of the program so far."""

    memory: DeviceMemory
    launches: Launches
    clock: Clock = field(default_factory=Clock)
    streams: set[int] = field(default_factory=set)
    order: StreamOrder = field(default_factory=StreamOrder)
    events: dict[int, CudaEvent] = field(default_factory=dict)
    shared_limits: dict[int, int] = field(default_factory=dict)
    """Bytes of dynamic shared memory that a kernel was allowed beyond the usual."""
    pending: CudaError = CudaError.SUCCESS
    """An error of a launch that the program is given when it waits."""
    broken: CudaError = CudaError.SUCCESS
    printed: bytearray = field(default_factory=bytearray)
    times_asked: int = 0
    """Elapsed times that the host was given."""
    complaints: bytearray = field(default_factory=bytearray)
    most_printed: int = PRINTED_BYTES
    mistakes: list[HostMistake] = field(default_factory=list)
    errors_asked: bool = False
    deadline: float = math.inf
    """Time after which no process waits for the device (`time.monotonic`)."""
    host_took_too_long: bool = False
    """True if the program has taken by itself, without its device, more time than it may."""
    lacks_memory: bool = False
    """True if this machine had too little memory for what the program asked, and served it no longer."""
    first_failure: FailedCall | None = None
    """The first call that gave an error of its own, none of a launch that stopped."""
    last_caller: int = 0
    """Address from which the program called the device last; 0 if it never did."""
    handles: int = 0x10
    launched: int = 0
    waits: int = 0
    """Number of times that the host has waited for something."""
    symbols: list[NameSymbol] = field(default_factory=list)
    """Variables whose names the program has taken for pointers."""
    recorders: list[Notes] = field(default_factory=list)
    """Recorders of what it does; each sees every request."""
    unread: tuple[int, str] | None = None
    """Call site and name of the last kernel launched, while nothing has come back from the device since."""
    read_before: bool = False
    """True if something has come back from the device after an earlier kernel."""
    has_libraries: bool = True
    """True if cuBLAS and cuRAND are available; they are not where a function is to compute by itself."""
    library_work: int = 0
    library_seconds: float = 0.0
    """Cost of the calls of libraries: multiplications, and wall time that is not the program's doing."""

    def has_stream(self, stream: int) -> bool:
        """True if there is such a stream."""
        return stream in _OWN_STREAMS or stream in self.streams

    def came_back(self) -> None:
        """Note that something has come back from the device, of what kernels left there."""
        self.read_before |= self.unread is not None
        self.unread = None

    def note(self, mistake: HostMistake) -> None:
        """Keep a mistake, once for each place in the program."""
        same = any(_where(other) == _where(mistake) for other in self.mistakes)
        if not same and len(self.mistakes) < MOST_MISTAKES:
            self.mistakes.append(mistake)

    def note_outcome(self, code: int, caller: int) -> None:
        """Keep the first call that failed by itself."""
        if code in ERRORS_OF_CALLS and self.first_failure is None:
            self.first_failure = FailedCall(code, caller)

    def symbol_mistake(self, caller: int, *addresses: int) -> HostMistake | None:
        """The mistake of a call that is given the name of a variable for a pointer; None if it is not."""
        for symbol in self.symbols:
            if any(symbol.address <= address < symbol.address + symbol.size for address in addresses):
                space = "__constant__" if symbol.constant else "__device__"
                details = (("symbol", symbol_name(symbol.name)), ("space", space))
                return HostMistake(HostCode.SYMBOL_AS_POINTER, caller, details=details)
        return None

    def give(self, stream: int, work: Work) -> None:
        """Give a stream work; a conflict with what other streams may be doing is noted."""
        conflict = self.order.add(stream, work, keep=self.memory.is_shared)
        if conflict is None:
            return
        allocation = self.memory.holding(BASE + conflict.byte)
        earlier, later = conflict.earlier, conflict.later
        details = (
            ("earlier", earlier.kernel),
            ("earlier_use", conflict.earlier_use.value),
            ("later", later.kernel),
            ("later_use", conflict.later_use.value),
        )
        number = allocation.number if allocation else 0
        self.note(HostMistake(HostCode.STREAM_RACE, later.caller, number, details, other=earlier.caller))

    def work_on(
        self, allocation: DeviceAllocation, address: int, size: int, *, host_writes: bool
    ) -> Work | None:
        """Work that may be under way on bytes of a shared allocation, so that the host may not touch them."""
        touched = span(address - BASE, min(size, allocation.address + allocation.size - address))
        for work in self.order.pending:
            if allocation.number in work.changed:
                return work
            for use, spans in work.uses:
                if (host_writes or use is not Use.READS) and common_byte(spans, touched) is not None:
                    return work
        return None

    def settle(self) -> CudaError:
        """Result of a call that waits for the device: an error of a launch breaks the device for good."""
        self.waits += 1
        if self.pending is not CudaError.SUCCESS:
            self.broken, self.pending = self.pending, CudaError.SUCCESS
        return self.broken

    def take_text(self) -> tuple[bytes, bytes]:
        """Text of kernels (``printf``) and of assertions since the last call."""
        printed, complaints = bytes(self.printed), bytes(self.complaints)
        self.printed.clear()
        self.complaints.clear()
        return printed, complaints

    def print(self, text: bytes) -> None:
        """Hold text; a full buffer loses the oldest, as a device's does."""
        self.printed += text
        if len(self.printed) > self.most_printed:
            del self.printed[: len(self.printed) - self.most_printed]


def _where(mistake: HostMistake) -> tuple[object, ...]:
    """Key that is equal for two mistakes that are the same."""
    return mistake.code, mistake.caller, mistake.allocation
