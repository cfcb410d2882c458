"""Device memory that outlives a launch: allocations, their bytes, and which bytes were written.

Allocations lie one after another with red zones between them, from `BASE` on, and are not used again while
there is room, so that an access to freed memory meets bytes of no allocation. Pages take memory of this
machine once they are touched. Launches run on a `MemoryCopy`.

The heap of kernels (`KernelHeap`) belongs to the context: what ``malloc`` and ``new`` hand out stays until it
is freed, from launch to launch, and a block that one kernel takes may be used and freed by another (CUDA C++
guide, "Dynamic Global Memory Allocation"). The host reaches none of it.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from dataclasses import field, replace
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import frozen, mutable
from grader.base.sparse_memory import untouched
from grader.simulation.emulator.memory.memory import (
    HEAP,
    HEAP_BYTES,
    HEAP_GRAIN,
    HEAP_RED_ZONE,
    Allocation,
    Heap,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from grader.running.device.requests import Sharing
    from grader.simulation.emulator.memory.memory import GlobalMemory

BASE = 1 << 36
"""Base address of global memory in a program (``device_base`` in ``wire.hpp``)."""

MOST_ALLOCATIONS = 10_000
"""Allocations at once; what is looked up for each access stays small."""

ALIGNMENT, PAGE = 256, 4096

LARGEST_PAGE = 1 << 16
"""Largest page of operating systems (on arm64), the unit by which shared memory is protected on its own."""

RED_ZONE = 1 << 18
POISON, POISONED = 0xFF, 1 << 26
"""Byte that a new allocation is filled with, a part of a NaN or of -1, and the most bytes that are filled;
which were written is known of all."""


class OutOfMemoryError(Exception):
    """Error for a lack of room for an allocation."""


class Owner(Enum):
    """Owner of an allocation."""

    PROGRAM = "program"
    VARIABLE = "variable"
    """Variable of the program's files, which is there from the start to the end."""
    ARGUMENT = "argument"
    """Argument with which a function is called: it was there before the program."""


@frozen
class DeviceAllocation:
    """Bytes ``start`` up to ``end`` of device memory; ``caller`` is where the program asked for them."""

    start: int
    end: int
    sharing: Sharing
    caller: int
    number: int
    owner: Owner = Owner.PROGRAM

    @property
    def size(self) -> int:
        """Bytes."""
        return self.end - self.start

    @property
    def address(self) -> int:
        """Address of the allocation in the program."""
        return BASE + self.start


@frozen
class HostCopy:
    """A copy between host and device, from ``offset`` of an allocation on."""

    bytes: int
    caller: int
    offset: int


_MOST_COPIES = 4
"""Different copies to the host that are kept of an allocation: one of them says nothing any more."""


@mutable
class DeviceMemory:
    """All memory of one device; ``limit`` bytes may be allocated at once."""

    limit: int
    heap_bytes: int = HEAP_BYTES
    """Most bytes that ``malloc`` of kernels hands out."""
    heap: KernelHeap | None = None
    """Heap that it hands out memory of; None until a kernel that calls it is launched."""
    bytes: NDArray[np.uint8] = field(init=False)
    written: NDArray[np.uint8] = field(init=False)
    """A 1 for each byte that holds a value."""
    live: dict[int, DeviceAllocation] = field(default_factory=dict)
    """Allocations in use, by where they start."""
    freed: dict[int, DeviceAllocation] = field(default_factory=dict)
    """Freed allocations whose bytes no other has taken, by where they started."""
    taken: int = 0
    sent: dict[int, HostCopy] = field(default_factory=dict)
    """The last copy from the host to each allocation, by its number."""
    filled: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The byte of the last fill of each allocation, and its caller, by the number; no copy came since."""
    sent_back: dict[int, set[HostCopy]] = field(default_factory=dict)
    """Copies to the host from each allocation."""
    _starts: list[int] = field(default_factory=list)
    _next: int = RED_ZONE
    _count: int = 0

    def __post_init__(self) -> None:
        span = 2 * self.limit + MOST_ALLOCATIONS * RED_ZONE
        self.bytes, self.written = untouched(span), untouched(span)

    def allocate(
        self, size: int, sharing: Sharing, caller: int, owner: Owner = Owner.PROGRAM
    ) -> DeviceAllocation:
        """Allocate bytes that are not yet written; raises OutOfMemoryError."""
        if size > self.limit - self.taken or len(self.live) >= MOST_ALLOCATIONS:
            raise OutOfMemoryError
        step = LARGEST_PAGE if sharing else ALIGNMENT
        start = self._room(size, step)
        self._count += 1
        allocation = DeviceAllocation(start, start + size, sharing, caller, self._count, owner)
        self.live[start] = allocation
        insort(self._starts, start)
        self.taken += size
        self.bytes[start : start + min(size, POISONED)] = POISON
        self.written[start : start + size] = 0
        return allocation

    def lay_out_heap(self) -> None:
        """Set bytes aside for ``malloc`` of kernels; where there is no room it has none."""
        if self.heap is None:
            start = -(-self._next // PAGE) * PAGE
            end = min(start + self.heap_bytes, len(self.bytes) - RED_ZONE)
            self._next = end + RED_ZONE
            self.heap = KernelHeap(start, end, start)

    @property
    def in_use(self) -> Iterator[slice]:
        """The bytes of all allocations, and of what kernels have taken from the heap."""
        yield from (slice(allocation.start, allocation.end) for allocation in self.live.values())
        yield from (slice(*block) for block in (self.heap.blocks if self.heap else ()))

    def _room(self, size: int, step: int) -> int:
        """Start of an allocation: behind all others, or else where some were freed, one beside the other."""
        start = -(-self._next // step) * step
        if start + size + RED_ZONE <= len(self.bytes):
            self._next = -(-(start + size) // PAGE) * PAGE + RED_ZONE
            return start
        for old in self.freed.values():
            if old.size >= size and old.start % step == 0:
                del self.freed[old.start]
                return old.start
        for first, end in self._gaps():
            start = -(-first // step) * step
            if start + size <= end:
                covered = [old for old in self.freed.values() if old.start < start + size and start < old.end]
                for old in covered:
                    del self.freed[old.start]
                return start
        raise OutOfMemoryError

    def _gaps(self) -> Iterator[tuple[int, int]]:
        """Start and end of the room between allocations in use, without the red zones around them."""
        heap = [(self.heap.start, self.heap.end)] if self.heap else []
        taken = sorted([(a.start, a.end) for a in self.live.values()] + heap)
        for (_, before), (after, _) in pairwise([(0, 0), *taken, (self._next, self._next)]):
            yield -(-before // PAGE) * PAGE + RED_ZONE, after - RED_ZONE

    def free(self, allocation: DeviceAllocation) -> None:
        """Give an allocation back."""
        del self.live[allocation.start]
        del self._starts[bisect_right(self._starts, allocation.start) - 1]
        self.freed[allocation.start] = allocation
        self.taken -= allocation.size

    def note_copy(self, address: int, size: int, caller: int, *, back: bool) -> None:
        """Keep a copy between the host and an allocation."""
        allocation = self.holding(address)
        if allocation is None:
            return
        copy = HostCopy(size, caller, address - allocation.address)
        if not back:
            self.sent[allocation.number] = copy
            self.filled.pop(allocation.number, None)
        elif len(copies := self.sent_back.setdefault(allocation.number, set())) < _MOST_COPIES:
            copies.add(copy)

    def note_fill(self, address: int, value: int, caller: int) -> None:
        """Keep the byte that an allocation is filled with."""
        allocation = self.holding(address)
        if allocation is not None:
            self.filled[allocation.number] = value, caller

    def all_ever(self) -> tuple[DeviceAllocation, ...]:
        """All allocations, those that were freed behind the others."""
        return (*self.live.values(), *self.freed.values())

    @property
    def is_shared(self) -> bool:
        """True if the host reaches any of it by its address."""
        return any(allocation.sharing for allocation in self.live.values())

    def starting_at(self, address: int) -> DeviceAllocation | None:
        """The allocation that begins there."""
        return self.live.get(address - BASE)

    def holding(self, address: int) -> DeviceAllocation | None:
        """The allocation that the byte at an address belongs to."""
        index = address - BASE
        position = bisect_right(self._starts, index) - 1
        if position < 0:
            return None
        allocation = self.live[self._starts[position]]
        return allocation if index < allocation.end else None

    def once_holding(self, address: int) -> DeviceAllocation | None:
        """The allocation, freed since, that the byte at an address belonged to."""
        index = address - BASE
        return next((old for old in self.freed.values() if old.start <= index < old.end), None)

    def nearest(self, address: int) -> DeviceAllocation | None:
        """An allocation, live or freed, that an address in device memory may be meant for; None elsewhere."""
        if not BASE <= address < BASE + len(self.bytes):
            return None
        return self.holding(address) or self.once_holding(address) or next(iter(self.live.values()), None)

    def in_order(self) -> list[DeviceAllocation]:
        """Allocations, ordered by their start."""
        return [self.live[start] for start in self._starts]

    @property
    def end(self) -> int:
        """Bytes up to which memory was ever given out, and a red zone behind them."""
        return self._next

    def rows(self, address: int, pitch: int, width: int, height: int) -> NDArray[np.uint8] | None:
        """``height`` rows of ``width`` bytes (``[height, width]``); None unless all are in one allocation."""
        allocation = self.holding(address)
        extent = pitch * (height - 1) + width
        if allocation is None or (height > 1 and pitch < width) or address - BASE + extent > allocation.end:
            return None
        return rows_in(self.bytes, address - BASE, pitch, width, height)

    def rows_written(self, address: int, pitch: int, width: int, height: int) -> NDArray[np.uint8]:
        """Mask of the bytes of such rows that hold a value, in the same shape."""
        return rows_in(self.written, address - BASE, pitch, width, height)

    def close(self) -> None:
        """Give the memory back to this machine: a device is part of cycles, which are collected late."""
        self.bytes = self.written = np.empty(0, np.uint8)


@mutable
class MemoryCopy:
    """Copy in which launches run: device memory stays as it is until it is known what they did.

    The buffers are used again by the next launch: new pages would take longer than a small one.
    """

    _bytes: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    _written: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    _union: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    """Bytes that any attempt at the launch has written, except the last."""
    _attempts: int = 0

    def begin(self) -> None:
        """Forget the launch before."""
        self._attempts = 0

    def attempt_copy(self, memory: DeviceMemory, behind: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """All allocations as they are, and the mask of bytes that hold a value, for one attempt at a launch.

        Both have ``behind`` more bytes than device memory. The arrays of the attempt before are gone.
        """
        size = memory.end + behind
        if len(self._bytes) < size:
            before = self._written, self._union
            self._bytes, self._written, self._union = (untouched(2 * size) for _ in range(3))
            if self._attempts:
                self._written[: len(before[0])], self._union[: len(before[1])] = before
        for part in memory.in_use:
            if self._attempts:
                self._union[part] |= self._written[part]
            else:
                self._union[part] = 0
            self._bytes[part], self._written[part] = memory.bytes[part], memory.written[part]
        self._attempts += 1
        return self._bytes[:size], self._written[:size]

    def keep_written(self, memory: DeviceMemory) -> None:
        """Let the bytes that any attempt has written count as written."""
        for allocation in memory.live.values() if self._attempts else ():
            part = slice(allocation.start, allocation.end)
            memory.written[part] |= self._written[part]
            memory.written[part] |= self._union[part]


def rows_in(array: NDArray[np.uint8], start: int, pitch: int, width: int, height: int) -> NDArray[np.uint8]:
    """View of rows of ``width`` bytes, each ``pitch`` behind the one before, without a copy."""
    if height == 1:
        return array[start : start + width].reshape(1, width)
    return np.lib.stride_tricks.as_strided(array[start:], (height, width), (pitch, 1))


@frozen
class KernelHeap:
    """Bytes ``start`` up to ``end`` of device memory, of which those from ``next`` on were never handed out.

    ``blocks`` are the start and the end of each block in use, ordered by start.
    """

    start: int
    end: int
    next: int
    blocks: tuple[tuple[int, int], ...] = ()

    def arrays(self) -> tuple[Allocation, ...]:
        """The blocks as the emulator knows arrays."""
        return tuple(Allocation(HEAP, start, end, 1, (end - start,)) for start, end in self.blocks)

    def for_attempt(self, memory: GlobalMemory) -> Heap:
        """The heap of one attempt at a launch, in whose ``memory`` its arrays are already."""
        taken = {array.start: array for array in self.arrays()}
        return Heap(memory, self.next, self.end, taken, self._freed())

    def _freed(self) -> dict[int, deque[int]]:
        """Starts of the gaps between blocks, by the size of the gap."""
        freed: dict[int, deque[int]] = {}
        if not self.blocks:
            return freed
        at = self.start
        for start, end in (*self.blocks, (self.next, self.next)):
            room = start - at - HEAP_RED_ZONE
            if room > 0:
                freed.setdefault(room, deque()).append(at)
            at = -(-end // HEAP_GRAIN) * HEAP_GRAIN + HEAP_RED_ZONE
        return freed

    def after(self, blocks: Iterable[tuple[int, int]], heaps: Iterable[Heap]) -> KernelHeap:
        """Heap that a launch leaves; ``heaps`` are the heaps of all attempts at it."""
        left = tuple(sorted(blocks))
        used = max((heap.next for heap in heaps), default=self.next)
        return replace(self, blocks=left, next=used if left else self.start)
