"""Launches of a program and the writes of its host between them, recorded so that they can be made again.

    device memory around each launch ─LaunchLog▶ LaunchRecording ─relaunches▶ what others leave

A kernel that stores what the host has computed leaves right numbers, too. What it leaves where device memory
holds other inputs, and all else is as it was, distinguishes it from one that computes.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from grader.base.records import frozen, mutable
from grader.base.sparse_memory import untouched
from grader.running.device.device import Notes
from grader.running.device.memory import BASE, POISON, POISONED
from grader.running.device.requests import Allocate, CopyIn, CopyWithin, Fill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from grader.model import Argument, Build, Counters, Launch
    from grader.running.device.memory import DeviceMemory
    from grader.running.device.observation import MemoryImage
    from grader.running.device.requests import Message

MOST_BYTES = 1 << 28
"""Bytes of changes that one recording holds; what comes afterwards begins another one."""

_NUMBER_BYTES = (4, 8)
"""Sizes of parameters that may be whole numbers."""


@frozen(eq=False)
class MemoryChange:
    """Bytes of device memory that changed: ``content`` from ``start`` on, where ``mask`` is set, or all."""

    start: int
    content: NDArray[np.uint8]
    mask: NDArray[np.bool_] | None = None

    @property
    def bytes_kept(self) -> int:
        """The bytes that it takes: what is filled with one value has none of its own."""
        own = self.content.size if self.content.strides[0] else 0
        return own + (0 if self.mask is None else self.mask.size)

    def apply(self, memory: NDArray[np.uint8]) -> None:
        """Make the change in a copy of device memory."""
        part = memory[self.start : self.start + self.content.size]
        if self.mask is None:
            part[:] = self.content
        else:
            part[self.mask] = self.content[self.mask]


@frozen(eq=False)
class HostWrite:
    """Writes of the host since the event before: copies, fills, shared memory, libraries' results."""

    changes: tuple[MemoryChange, ...]


@frozen(eq=False)
class DeviceCopy:
    """A copy from device memory to device memory, and the ``changes`` that it made."""

    message: CopyWithin
    changes: tuple[MemoryChange, ...]


@frozen(eq=False)
class RecordedLaunch:
    """A launch of the kernel ``name`` of a ``build`` that came to its end, and the ``changes`` that it made.

    It took ``work`` units of work, and ``counters`` count what its threads did. The bytes of its ``image``
    are those of the device, and change with them.
    """

    name: str
    build: Build
    file: str
    launch: Launch
    arguments: tuple[Argument, ...]
    work: int
    counters: Counters
    image: MemoryImage
    changes: tuple[MemoryChange, ...]

    def address(self, position: int) -> int:
        """The pointer at a position among the parameters."""
        return int.from_bytes(np.asarray(self.arguments[position].value).tobytes(), "little")

    def numbers(self) -> tuple[int, ...]:
        """The whole numbers among the parameters, without those that are no extents: 0 and pointers."""
        return numbers_in(np.asarray(argument.value).tobytes() for argument in self.arguments)


def numbers_in(parameters: Iterable[bytes]) -> tuple[int, ...]:
    """The whole numbers among parameters, without those that are no extents: 0 and pointers."""
    numbers = (int.from_bytes(content, "little") for content in parameters if len(content) in _NUMBER_BYTES)
    return tuple(dict.fromkeys(number for number in numbers if 0 < number < BASE))


Event: TypeAlias = HostWrite | DeviceCopy | RecordedLaunch


@mutable
class LaunchRecording:
    """Device memory as it was when the recording began, as changes of empty memory, and all events since."""

    base: tuple[MemoryChange, ...] = ()
    events: list[Event] = field(default_factory=list)
    size: int = 0
    """Bytes of all changes."""

    def add(self, event: Event) -> None:
        """Take one more event down."""
        self.events.append(event)
        self.size += sum(change.bytes_kept for change in event.changes)

    def memory_before(self, position: int, size: int) -> NDArray[np.uint8]:
        """Copy of device memory, ``size`` bytes of it, before the event at a position.

        Bytes that never belonged to an allocation, such as red zones, take no memory of this machine.
        """
        memory = untouched(size)
        for changes in (self.base, *(event.changes for event in self.events[:position])):
            for change in changes:
                change.apply(memory)
        return memory


@mutable
class LaunchLog(Notes):
    """Takes down what launches and the host do to device memory, by what differs from when it last looked."""

    memory: DeviceMemory
    recording: LaunchRecording = field(default_factory=LaunchRecording)
    _mirror: NDArray[np.uint8] = field(init=False)

    def __post_init__(self) -> None:
        """Make room for all that may ever be allocated; only what is takes memory of this machine."""
        self._mirror = untouched(len(self.memory.bytes))

    def note(self, message: Message) -> None:
        """A request that was granted: what a copy or a fill leaves as it was is written, too."""
        if isinstance(message, Allocate):
            self._allocated(message)
            return
        if isinstance(message, CopyIn | CopyWithin):
            change = self._rows(message.to, message.to_pitch, message.width, message.height)
        elif isinstance(message, Fill):
            change = self._rows(message.address, message.pitch, message.width, message.height)
        else:
            return
        if change is None:
            return
        self._begin()
        change.apply(self._mirror)  # so that all else that differs was written otherwise
        self.host_wrote()
        changes = (change,)
        if isinstance(message, CopyWithin):
            self.recording.add(DeviceCopy(message, changes))
        else:
            self.recording.add(HostWrite(changes))

    def _allocated(self, message: Allocate) -> None:
        """Take down what a new allocation holds, which is one value, and takes no room."""
        if not message.size:
            return
        newest = next(reversed(self.memory.live.values()))
        content = np.broadcast_to(np.uint8(POISON), min(newest.size, POISONED))
        change = MemoryChange(newest.start, content)
        self._begin()
        change.apply(self._mirror)
        self.recording.add(HostWrite((change,)))

    def _rows(self, address: int, pitch: int, width: int, height: int) -> MemoryChange | None:
        """The bytes of some rows as they are; None where there are no such rows."""
        if self.memory.rows(address, pitch, width, height) is None:
            return None
        start, pitch = address - BASE, pitch if height > 1 else width
        if pitch == width:
            return MemoryChange(start, self._content(start, width * height))
        mask = np.zeros((height, pitch), bool)
        mask[:, :width] = True
        mask = mask.reshape(-1)[: pitch * (height - 1) + width]
        return MemoryChange(start, self._content(start, mask.size), mask)

    def _content(self, start: int, size: int) -> NDArray[np.uint8]:
        """A copy of some bytes, which takes no room where all are the same."""
        content = self.memory.bytes[start : start + size]
        if size and (content == content[0]).all():
            return np.broadcast_to(content[:1].copy(), size)
        return content.copy()

    def host_wrote(self) -> None:
        """Take down what has changed by the host before a launch."""
        self._begin()
        changes = self.differences()
        if changes:
            self.recording.add(HostWrite(changes))

    def launched(self, launch: RecordedLaunch) -> tuple[LaunchRecording, int]:
        """Take a launch down that came to its end; gives the recording, and its position there."""
        self.recording.add(launch)
        return self.recording, len(self.recording.events) - 1

    def differences(self) -> tuple[MemoryChange, ...]:
        """Changes of device memory since the last call."""
        changes = []
        for part in self.memory.in_use:
            new, old = self.memory.bytes[part], self._mirror[part]
            if np.array_equal(new, old):
                continue
            differs = new != old
            first, last = int(np.argmax(differs)), differs.size - int(np.argmax(differs[::-1]))
            changes.append(MemoryChange(int(part.start) + first, new[first:last].copy(), differs[first:last]))
            old[:] = new
        return tuple(changes)

    def _begin(self) -> None:
        """Begin another recording where one is full."""
        if self.recording.size > MOST_BYTES:
            parts = self.memory.in_use
            self.recording = LaunchRecording(
                tuple(MemoryChange(int(part.start), self._mirror[part].copy()) for part in parts)
            )


@frozen
class WatchedLaunch:
    """Device memory before and after a launch, by the position of each pointer.

    A pair holds the bytes from where the pointer points to the end of its allocation, before and after. It is
    the event ``position`` of a ``recording``.
    """

    pointers: Mapping[int, tuple[bytes, bytes]]
    recording: LaunchRecording
    position: int

    @property
    def recorded(self) -> RecordedLaunch:
        """The launch itself."""
        event = self.recording.events[self.position]
        if not isinstance(event, RecordedLaunch):
            raise TypeError(f"event {self.position} is no launch")
        return event

    def starts(self) -> Iterator[tuple[int, bool]]:
        """Events from which launches may be made again, each with True if other kernels are launched, too.

        The last launch alone, the last two of its kernel, the last four, and so on: several may compute an
        output together. Then all events: other kernels may prepare what this one reads, as long as they do
        no more than it does.
        """
        events, name = self.recording.events[: self.position + 1], self.recorded.name
        own = [n for n, e in enumerate(events) if isinstance(e, RecordedLaunch) and e.name == name]
        count = 1
        while count < len(own):
            yield own[-count], False
            count *= 2
        yield own[0], False
        launches = [event for event in events if isinstance(event, RecordedLaunch)]
        others = sum(launch.counters.instructions for launch in launches if launch.name != name)
        if 0 < others <= sum(launch.counters.instructions for launch in launches if launch.name == name):
            yield 0, True
