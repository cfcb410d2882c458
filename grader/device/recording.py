"""What one call of a function asks of its device, recorded and not computed: so that a GPU can do it again.

    requests of the program ─Recorder▶ Recording (launches, fills, copies, in the program's order)

Streams are recorded as one: whatever overlaps is replayed one after the other. What depends on a result that
the host reads cannot be recorded, for there is none.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.device.configuration import launch_of, refused
from grader.device.device import LaunchOutcome
from grader.device.errors import CudaError
from grader.device.launches import EmulatedLaunches
from grader.device.requests import CopyIn, CopyOut, CopyWithin, Fill, LaunchKernel, Pull, Push, Sharing
from grader.gpu.replay import CopyStep, FillStep, LaunchStep, Place, Recording

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.device.memory import Allocation, DeviceMemory
    from grader.device.requests import Message
    from grader.gpu.replay import Step

MOST_STEPS, MOST_CONTENT, MOST_SCRATCH = 2_000, 16 << 20, 256 << 20
"""Steps, bytes that are copied from the host, and bytes of its own that a replayed function may have."""

_ADDRESS = struct.Struct("<Q")


@dataclass(eq=False, slots=True)
class RecordedLaunches(EmulatedLaunches):
    """Launches that compute nothing: those that a device would refuse are refused, all others succeed."""

    def launch(
        self,
        request: LaunchKernel,
        caller: int,  # noqa: ARG002 - nobody is told of anything
        shared_limit: int,
        *,
        watch: bool = False,  # noqa: ARG002 - no byte is used
    ) -> LaunchOutcome:
        """Say that it ran."""
        refusal = refused(self.kernels[request.kernel], request, shared_limit)
        return LaunchOutcome(refusal.code if refusal else CudaError.SUCCESS)


@dataclass(eq=False, slots=True)
class Recorder:
    """Notes requests that the device has granted; ``arguments`` are the arrays of the call by their starts.

    ``problem`` says why the recording is of no use, once it is; a clause about the function.
    """

    memory: DeviceMemory
    launches: RecordedLaunches
    arguments: Mapping[int, str]
    problem: str = ""
    _steps: list[Step] = field(default_factory=list)
    _scratch: dict[str, int] = field(default_factory=dict)
    _variables: dict[str, None] = field(default_factory=dict)
    _contents: dict[str, bytes] = field(default_factory=dict)

    def recording(self) -> Recording:
        """All that was noted."""
        return Recording(
            tuple(self._steps),
            tuple(self._scratch.items()),
            tuple(self._variables),
            tuple(self._contents.items()),
        )

    def note(self, message: Message) -> None:
        """Take a request down that was granted, with the bytes that it has moved."""
        if isinstance(message, CopyOut | Pull | Push):
            self.problem = self.problem or "it reads on the host what is in device memory"
        if self.problem:
            return
        if isinstance(message, LaunchKernel):
            self._note_launch(message)
        elif isinstance(message, Fill):
            for row in range(message.height):
                to = self._place(message.address + row * message.pitch)
                self._steps.append(FillStep(to, message.value & 0xFF, message.width))
        elif isinstance(message, CopyIn):
            self._steps += self._from_host(message)
        elif isinstance(message, CopyWithin):
            for row in range(message.height):
                to = self._place(message.to + row * message.to_pitch)
                source = self._place(message.source + row * message.source_pitch)
                self._steps.append(CopyStep(to, source, message.width))
        self._check_size()

    def _note_launch(self, message: LaunchKernel) -> None:
        if message.cooperative:
            self.problem = "it launches a cooperative grid"
            return
        kernel = self.launches.kernels[message.kernel]
        contents = [message.parameters[start : start + size] for start, size in kernel.parameters]
        parameters = tuple((content, tuple(self._pointers(content))) for content in contents)
        self._steps.append(LaunchStep(kernel.name, launch_of(message), parameters))

    def _pointers(self, content: bytes) -> Iterator[tuple[int, Place]]:
        """The addresses in device memory that a parameter holds: it may be a struct."""
        for start in range(0, len(content) - _ADDRESS.size + 1, _ADDRESS.size):
            (address,) = _ADDRESS.unpack_from(content, start)
            if self._holding(address) is not None:
                yield start, self._place(address)

    def _from_host(self, message: CopyIn) -> Iterator[CopyStep]:
        rows = self.memory.rows(message.to, message.to_pitch, message.width, message.height)
        name = f"content-{len(self._contents) + 1}"
        self._contents[name] = b"" if rows is None else rows.tobytes()
        for row in range(message.height):
            to = self._place(message.to + row * message.to_pitch)
            yield CopyStep(to, Place(name, row * message.width), message.width)

    def _holding(self, address: int) -> Allocation | None:
        """The allocation that an address belongs to, or that ends there: an end is passed, too."""
        return self.memory.holding(address) or self.memory.holding(address - 1)

    def _place(self, address: int) -> Place:
        allocation = self._holding(address)
        if allocation is None:
            raise ValueError("a granted request names what is not there")
        if allocation.sharing is not Sharing.DEVICE:
            self.problem = self.problem or "it uses managed or pinned memory"
        return Place(self._name(allocation), address - allocation.address)

    def _name(self, allocation: Allocation) -> str:
        argument = self.arguments.get(allocation.start)
        if argument is not None:
            return argument
        for (_, variable), place in self.launches.variables.items():
            if place is allocation:
                self._variables[variable] = None
                return variable
        name = f"scratch-{allocation.number}"
        self._scratch[name] = allocation.size
        return name

    def _check_size(self) -> None:
        if len(self._steps) > MOST_STEPS:
            self.problem = f"it asks for more than {MOST_STEPS} launches, copies and fills"
        if sum(map(len, self._contents.values())) > MOST_CONTENT:
            self.problem = f"it copies more than {MOST_CONTENT >> 20} MiB from the host"
        if sum(self._scratch.values()) > MOST_SCRATCH:
            self.problem = f"it allocates more than {MOST_SCRATCH >> 20} MiB"
