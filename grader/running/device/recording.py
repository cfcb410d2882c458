"""Recording of the requests of one call of a function to its device, so that a GPU can repeat them.

    requests of the program ─CallRecorder▶ Recording (launches, fills, copies, in the program's order)

Launches need not be computed for that (`RecordedLaunches`), unless the function looks at results: then it is
recorded with launches that are. Streams are recorded as one: what overlaps is replayed one after the other.

The addresses of the host's arrays that the function is called with are known, so a copy that begins at such
an address is one from or to the array, as far as its bytes say so, too: what the function's own code has
written there is no copy's doing.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import mutable
from grader.model import Clause
from grader.running.device.device import LaunchOutcome, Notes
from grader.running.device.errors import CudaError
from grader.running.device.launches import EmulatedLaunches
from grader.running.device.limits import launch_of, refused
from grader.running.device.requests import (
    CopyIn,
    CopyOut,
    CopyWithin,
    Fill,
    LaunchKernel,
    Pull,
    Push,
    Sharing,
)
from grader.toolchain.gpu.replay import HOST, ArrayLocation, CopyStep, FillStep, LaunchStep, Recording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from grader.running.device.memory import DeviceAllocation, DeviceMemory
    from grader.running.device.requests import Message
    from grader.toolchain.gpu.replay import Step


@mutable
class HostArrays:
    """The arrays by where they start: their names, and what they hold if copies alone change them."""

    _arrays: dict[int, tuple[str, NDArray[np.uint8]]] = field(default_factory=dict)

    def add(self, name: str, start: int, content: bytes) -> None:
        """An array that is there when the function is called."""
        self._arrays[start] = name, np.frombuffer(content, np.uint8).copy()

    @property
    def size(self) -> int:
        """The bytes of all of them."""
        return sum(content.size for _, content in self._arrays.values())

    def source(self, address: int, row: NDArray[np.uint8]) -> ArrayLocation | None:
        """Position in an array of bytes that came from an address; None where the array holds other bytes."""
        location, content = self._part(address, row.size)
        return location if content is not None and np.array_equal(content, row) else None

    def target(self, address: int, row: NDArray[np.uint8]) -> ArrayLocation | None:
        """Position in an array of bytes that are copied to an address; None where no array has them all."""
        location, content = self._part(address, row.size)
        if content is not None:
            content[:] = row
        return location

    def _part(self, address: int, size: int) -> tuple[ArrayLocation | None, NDArray[np.uint8] | None]:
        for start, (name, content) in self._arrays.items():
            offset = address - start
            if 0 <= offset <= content.size - size:
                return ArrayLocation(name, offset), content[offset : offset + size]
        return None, None

    def content_of(self, name: str) -> bytes:
        """Content of an array if copies alone have changed it."""
        return next(content.tobytes() for array, content in self._arrays.values() if array == name)


MOST_STEPS, MOST_CONTENT, MOST_SCRATCH = 2_000, 16 << 20, 256 << 20
"""Steps that a replayed function may have, bytes that it may copy from memory of its own on the host, and
bytes that it may allocate, beside as many as its arguments on the host have."""

_ADDRESS = struct.Struct("<Q")


@mutable
class RecordedLaunches(EmulatedLaunches):
    """Launches that compute nothing: those that a device would refuse are refused, all others succeed.

    Arrays that a launch is given hold ``results`` of their size afterwards. Anything that the host
    does with what it takes for results changes it, and that shows.
    """

    results: Callable[[int], bytes] = bytes
    _filled: set[int] = field(default_factory=set)

    def launch(
        self,
        request: LaunchKernel,
        caller: int,  # noqa: ARG002 - no mistake is reported
        shared_limit: int,
        *,
        watch: bool = False,  # noqa: ARG002 - no byte is used
    ) -> LaunchOutcome:
        """Report success without running the launch, unless a device would refuse it."""
        refusal = refused(self.kernels[request.kernel], request, shared_limit)
        if refusal is not None:
            return LaunchOutcome(refusal.code)
        for _, allocation in _pointers(self.memory, request.parameters):
            if allocation.number not in self._filled:
                self._filled.add(allocation.number)
                self.memory.bytes[allocation.start : allocation.end] = np.frombuffer(
                    self.results(allocation.size), np.uint8
                )
        return LaunchOutcome(CudaError.SUCCESS)


@mutable
class CallRecorder(Notes):
    """Notes requests that the device has granted; ``arguments`` are the arrays of the call by their starts.

    ``problem`` is the reason why the recording is of no use, once it is.
    """

    memory: DeviceMemory
    launches: EmulatedLaunches
    arguments: Mapping[int, str]
    on_host: HostArrays = field(default_factory=HostArrays)
    problem: Clause | None = None
    needs_results: bool = False
    """True if the function has read bytes that were not computed, and may depend on them."""
    has_read: bool = False
    """True if something has come back from the device."""
    _steps: list[Step] = field(default_factory=list)
    _scratch: dict[str, int] = field(default_factory=dict)
    _variables: dict[str, None] = field(default_factory=dict)
    _contents: dict[str, bytes] = field(default_factory=dict)
    _host_bytes: int = 0

    @property
    def is_done(self) -> bool:
        """True if there is nothing to learn any more."""
        return self.problem is not None or self.needs_results

    def recording(self) -> Recording:
        """Recording of all that was noted."""
        return Recording(
            tuple(self._steps),
            tuple(self._scratch.items()),
            tuple(self._variables),
            tuple(self._contents.items()),
            self._host_bytes,
        )

    def note(self, message: Message) -> None:
        """Take a request down that was granted, with the bytes that it has moved."""
        if self.is_done:
            return
        if isinstance(message, LaunchKernel | Fill | CopyIn | CopyWithin):
            self.needs_results = self.has_read and isinstance(self.launches, RecordedLaunches)
        if isinstance(message, Pull | Push):
            self.problem = Clause("uses-host-memory")
        self.has_read |= isinstance(message, CopyOut)
        self._steps += self._steps_of(message)
        self._check_size()

    def _steps_of(self, message: Message) -> Iterator[Step]:
        if isinstance(message, LaunchKernel):
            yield from self._launch(message)
        elif isinstance(message, Fill):
            for row in range(message.height):
                to = self._location(message.address + row * message.pitch)
                yield FillStep(to, message.value & 0xFF, message.width)
        elif isinstance(message, CopyIn):
            yield from self._from_host(message)
        elif isinstance(message, CopyOut):
            yield from self._to_host(message)
        elif isinstance(message, CopyWithin):
            for row in range(message.height):
                to = self._location(message.to + row * message.to_pitch)
                source = self._location(message.source + row * message.source_pitch)
                yield CopyStep(to, source, message.width)

    def _launch(self, message: LaunchKernel) -> Iterator[LaunchStep]:
        if message.cooperative:
            self.problem = Clause("launches-cooperatively")
            return
        kernel = self.launches.kernels[message.kernel]
        contents = [message.parameters[start : start + size] for start, size in kernel.parameters]
        parameters = tuple(
            (content, tuple((at, self._location(address)) for at, address in self._addresses(content)))
            for content in contents
        )
        yield LaunchStep(kernel.name, launch_of(message), parameters)

    def _addresses(self, content: bytes) -> Iterator[tuple[int, int]]:
        """The addresses in device memory that a parameter holds: it may be a struct."""
        for at, _ in _pointers(self.memory, content):
            yield at, _ADDRESS.unpack_from(content, at)[0]

    def _from_host(self, message: CopyIn) -> Iterator[CopyStep]:
        rows = self._rows(message.to, message.to_pitch, message)
        addresses = [message.source + row * message.source_pitch for row in range(message.height)]
        sources = [self.on_host.source(*pair) for pair in zip(addresses, rows, strict=True)]
        content = rows.tobytes()
        name = f"content-{hashlib.sha256(content).hexdigest()[:16]}"
        if None in sources:
            self._contents[name] = content
        for row, source in enumerate(sources):
            to = self._location(message.to + row * message.to_pitch)
            yield CopyStep(to, source or ArrayLocation(name, row * message.width), message.width)

    def _to_host(self, message: CopyOut) -> Iterator[CopyStep]:
        for number, row in enumerate(self._rows(message.source, message.source_pitch, message)):
            source = self._location(message.source + number * message.source_pitch)
            to = self.on_host.target(message.to + number * message.to_pitch, row)
            if to is None:
                self.needs_results = isinstance(self.launches, RecordedLaunches)
                to = ArrayLocation(HOST, number * message.width)
                self._host_bytes = max(self._host_bytes, (number + 1) * message.width)
            yield CopyStep(to, source, message.width)

    def _rows(self, address: int, pitch: int, message: CopyIn | CopyOut) -> NDArray[np.uint8]:
        rows = self.memory.rows(address, pitch, message.width, message.height)
        if rows is None:
            raise ValueError("a granted request names what is not there")
        return rows

    def _location(self, address: int) -> ArrayLocation:
        allocation = _holding(self.memory, address)
        if allocation is None:
            raise ValueError("a granted request names what is not there")
        if allocation.sharing is not Sharing.DEVICE:
            self.problem = self.problem or Clause("uses-host-memory")
        return ArrayLocation(self._name(allocation), address - allocation.address)

    def _name(self, allocation: DeviceAllocation) -> str:
        argument = self.arguments.get(allocation.start)
        if argument is not None:
            return argument
        for (_, variable), variable_memory in self.launches.variables.items():
            if variable_memory is allocation:
                self._variables[variable] = None
                return variable
        name = f"scratch-{allocation.number}"
        self._scratch[name] = allocation.size
        return name

    def _check_size(self) -> None:
        most_scratch = MOST_SCRATCH + self.on_host.size
        if len(self._steps) > MOST_STEPS:
            self.problem = Clause("asks-for-too-much", (("most", MOST_STEPS),))
        if sum(map(len, self._contents.values())) > MOST_CONTENT:
            self.problem = Clause("copies-too-much", (("mebibytes", MOST_CONTENT >> 20),))
        if sum(self._scratch.values()) > most_scratch:
            self.problem = Clause("allocates-too-much", (("mebibytes", most_scratch >> 20),))


def _holding(memory: DeviceMemory, address: int) -> DeviceAllocation | None:
    """The allocation that an address belongs to, or that ends there: an end is passed, too."""
    return memory.holding(address) or memory.holding(address - 1)


def _pointers(memory: DeviceMemory, content: bytes) -> Iterator[tuple[int, DeviceAllocation]]:
    """Positions of addresses in device memory among bytes, and the allocations that they point to."""
    for at in range(0, len(content) - _ADDRESS.size + 1, _ADDRESS.size):
        (address,) = _ADDRESS.unpack_from(content, at)
        allocation = _holding(memory, address)
        if allocation is not None:
            yield at, allocation
