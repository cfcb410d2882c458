"""Memory: flat byte arrays behind 64-bit generic addresses (PTX ISA sections 5.1 and 6.4.1.1).

All global arrays live in one buffer, apart from each other by red zones that belong to no array. Shared and
local memory have a window each in the generic address space; an address inside the window means the own
block's, or the own thread's, memory.

A `Target` is the destination of one access of many lanes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grader.base.records import frozen, mutable
from grader.model import HeapBlock
from grader.simulation.emulator.machine.values import FOLDED, Lanes, Shape, Value, extremes, unfold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

WINDOW = 1 << 32
"""Bytes of generic addresses that each window spans."""

_LOWEST, _PAGE, _PLACES = 0x7E00_0000_0000, 2 << 20, 1 << 19
"""Drivers give memory by pages of 2 MiB, in the upper part of the address space of a process."""

RED_ZONE = 1 << 18
"""Minimum number of bytes that belong to no array on either side of every global array: enough that an index
computed with the wrong row length ends there, and not in the neighbour, on the shapes of a course."""

_SHIFT = {1: 0, 2: 1, 4: 2, 8: 3}

_ONES = {size: np.dtype(f"u{size}").type(int("01" * size, 16)) for size in (1, 2, 4, 8)}

HEAP_BYTES = 8 << 20
"""Bytes that a device sets aside for the heap unless the host asks for more."""

HEAP = "heap"
"""Name of memory from the heap in findings."""

HEAP_GRAIN = 16

HEAP_RED_ZONE = 48

_MOST_BLOCKS = 1 << 16
"""Allocations at once; a device's own book-keeping would have filled its heap before."""


@frozen
class AddressSpace:
    """Layout of the generic addresses of a launch: global memory, and the two windows.

    ``windows`` are the windows of shared and local memory, by name. ``uptime`` is the time since the device
    was switched on, in ticks of its clock, when the launch begins.
    """

    base: int
    windows: dict[str, int] = field(default_factory=dict)
    uptime: int = 0

    @classmethod
    def from_number(cls, number: int) -> AddressSpace:
        """The space that a number stands for: another one for (nearly) every number.

        Nothing is at an address that is always the same, on a device as little as here.
        """
        base = _LOWEST + number % _PLACES * _PAGE
        shared = base - (4 + number // _PLACES % 64) * WINDOW & -WINDOW
        return cls(base, {"shared": shared, "local": shared - 4 * WINDOW}, (1 << 40) + number % (1 << 44))


@frozen
class Allocation:
    """A global array: bytes ``start`` to ``end`` of the buffer; ``shape`` and ``itemsize`` name elements."""

    name: str
    start: int
    end: int
    itemsize: int = 1
    shape: tuple[int, ...] = ()
    direction: str = ""
    """Direction: of a parameter ``in``, ``out`` or ``inout``; of a variable ``const``, or empty."""

    @property
    def constant(self) -> bool:
        """True if only the host may write it."""
        return self.direction == "const"


class Region:
    """Bytes, a mask of the bytes that were ever written, and typed access to them.

    ``initialised`` holds a byte 1 for every byte that holds a value; None where this is not tracked. Bytes
    that no thread wrote are 0xFF, a NaN or -1, in a region made by `blank`.
    """

    def __init__(self, content: NDArray[np.uint8], initialised: NDArray[np.uint8] | None) -> None:
        self.bytes, self.initialised = content, initialised
        self._settled = initialised is None
        self._views: dict[np.dtype[Any], NDArray[Any]] = {}
        self._marks: dict[int, NDArray[Any]] = {}

    @classmethod
    def blank(cls, size: int, *, track: bool) -> Region:
        """A region of ``size`` bytes, and up to 15 more, that no thread has written."""
        size = -(-size // 16) * 16
        return cls(np.full(size, 0xFF, np.uint8), np.zeros(size, np.uint8) if track else None)

    def read(self, index: Value, dtype: np.dtype[Any]) -> Value:
        """The elements at byte ``index``, each aligned to its size, in the index's own shape."""
        return self._of_type(dtype)[index >> _SHIFT[dtype.itemsize]]

    def _of_type(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """The bytes as elements of a type; made once, for there are many short accesses."""
        if dtype not in self._views:
            self._views[dtype] = self.bytes.view(dtype)
        return self._views[dtype]

    def _marked(self, size: int) -> NDArray[Any]:
        """Mask of the bytes that were ever written, by elements of ``size`` bytes."""
        if size not in self._marks and self.initialised is not None:
            self._marks[size] = self.initialised.view(f"u{size}")
        return self._marks[size]

    def write(self, index: Value, value: Value) -> None:
        """Store; where two lanes name one address the later lane wins, as good an order as any."""
        size = value.dtype.itemsize
        shifted = index >> _SHIFT[size]
        one_place = shifted.ndim == 0 and value.ndim
        self._of_type(value.dtype)[shifted] = value[-1] if one_place else value
        if not self._settled:
            self._marked(size)[shifted] = _ONES[size]

    def uninitialised(self, index: Value, size: int) -> NDArray[np.bool_] | None:
        """Mask of the elements that hold a byte that no thread wrote; None if none does."""
        if self._settled:
            return None
        missing = self._marked(size)[index >> _SHIFT[size]] != _ONES[size]
        return np.atleast_1d(missing) if np.count_nonzero(missing) else None

    def written(self, start: int, end: int) -> NDArray[np.bool_]:
        """Mask of the bytes from ``start`` up to ``end`` that hold a value; all where this is not tracked."""
        if self.initialised is None:
            return np.ones(end - start, np.bool_)
        held: NDArray[np.bool_] = self.initialised[start:end] != 0
        return held

    def settle(self) -> None:
        """Stop keeping count once every byte holds a value: nothing can become uninitialised again."""
        if not self._settled and self.initialised is not None and self.initialised.all():
            self._settled = True


class MemoryPlan:
    """Plan for the arrays of a launch: one after another, with red zones between them.

    As ``cudaMalloc`` gives them, arrays begin at a multiple of 256 bytes, unless one is wanted elsewhere.
    """

    def __init__(self) -> None:
        self.allocations: list[Allocation] = []
        self.end = RED_ZONE

    def allocate(
        self,
        name: str,
        size: int,
        itemsize: int,
        shape: tuple[int, ...] = (),
        direction: str = "",
        *,
        lead: int = 0,
    ) -> Allocation:
        """Room for one more array of ``size`` bytes, which begins ``lead`` bytes after a multiple of 256."""
        start = self.end + lead
        allocation = Allocation(name, start, start + size, itemsize, shape, direction)
        taken = -(-(lead + size) // 256) * 256
        self.end += taken + max(RED_ZONE, taken)
        self.allocations.append(allocation)
        return allocation


class GlobalMemory(Region):
    """All arrays of a launch in one buffer; bytes that no array holds are never read."""

    def __init__(
        self,
        space: AddressSpace,
        allocations: Iterable[Allocation],
        content: NDArray[np.uint8],
        initialised: NDArray[np.uint8] | None,
    ) -> None:
        self.space, self.base = space, space.base
        self.allocations = list(allocations)
        super().__init__(content, initialised)
        self._starts = [allocation.start for allocation in self.allocations]
        self._filled: set[int] = set()
        self._has_constants = any(allocation.constant for allocation in self.allocations)
        self._table: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]] | None = None
        self.heap: Heap | None = None
        self.workspace = 0
        """The address of the workspace that the blocks of a cooperative launch share, two words; else 0."""

    @classmethod
    def planned(cls, plan: MemoryPlan, space: AddressSpace, *, track: bool) -> GlobalMemory:
        """New memory for a plan: zeros, which take memory only once they are touched."""
        size = -(-plan.end // 16) * 16
        initialised = np.zeros(size, np.uint8) if track else None
        return cls(space, plan.allocations, np.zeros(size, np.uint8), initialised)

    def fill(self, allocation: Allocation, content: NDArray[Any] | None, *, initialised: bool) -> None:
        """Put an array's bytes in place before the launch; None are zeros, which are there already."""
        if content is not None:
            self.bytes[allocation.start : allocation.end] = (
                np.ascontiguousarray(content).reshape(-1).view(np.uint8)
            )
        if initialised:
            self._filled.add(allocation.start)

    def is_filled(self, allocation: Allocation) -> bool:
        """True if every byte of an array held a value before the launch."""
        return allocation.start in self._filled

    def uninitialised(self, index: Value, size: int) -> NDArray[np.bool_] | None:
        """Look for bytes that no thread wrote; an array that was filled before the launch has none."""
        low, high = extremes(index)
        holder = self.holding(low, high + size)
        if holder is not None and holder.start in self._filled:
            return None
        missing = super().uninitialised(index, size)
        if missing is None or holder is not None:
            return missing
        which = np.searchsorted(self._starts, np.atleast_1d(index), side="right") - 1
        filled = np.array([start in self._filled for start in self._starts])
        missing = missing & ~filled[which]
        return missing if missing.any() else None

    def written(self, start: int, end: int) -> NDArray[np.bool_]:
        """Mask of the bytes that were written; all bytes of an array that was filled before the launch."""
        holder = self.holding(start, end)
        if holder is not None and holder.start in self._filled:
            return np.ones(end - start, np.bool_)
        return super().written(start, end)

    def content(self, allocation: Allocation, like: NDArray[Any]) -> NDArray[Any]:
        """A copy of an array, with the type and shape of ``like``."""
        return self.bytes[allocation.start : allocation.end].copy().view(like.dtype).reshape(like.shape)

    def add(self, allocation: Allocation) -> None:
        """Make an array of bytes that belonged to no array; nothing was written there."""
        position = bisect_left(self._starts, allocation.start)
        self.allocations.insert(position, allocation)
        self._starts.insert(position, allocation.start)
        self._table = None
        self.bytes[allocation.start : allocation.end] = 0xFF
        if self.initialised is not None:
            self.initialised[allocation.start : allocation.end] = 0

    def remove(self, allocation: Allocation) -> None:
        """Make the bytes of an array belong to no array."""
        position = bisect_left(self._starts, allocation.start)
        del self.allocations[position], self._starts[position]
        self._table = None

    def holding(self, lowest: int, end: int) -> Allocation | None:
        """The array that holds bytes ``lowest`` up to ``end``; None if no single one does."""
        number = bisect_right(self._starts, lowest) - 1
        if number < 0 or end > self.allocations[number].end:
            return None
        return self.allocations[number]

    def holds_constants(self, index: Value, size: int) -> bool:
        """True if the elements at these bytes all lie in one array that only the host may write."""
        if not self._has_constants or not index.size:
            return False
        low, high = extremes(index)
        holder = self.holding(low, high + size)
        return holder is not None and holder.constant

    def touching(self, lowest: int, end: int) -> list[Allocation]:
        """The arrays that lie, in part at least, between bytes ``lowest`` and ``end``."""
        return [
            allocation
            for allocation in self.allocations
            if allocation.start < end and lowest < allocation.end
        ]

    def inside(self, index: NDArray[np.int64], size: int, *, written: bool = False) -> NDArray[np.bool_]:
        """For each byte index, whether all of its ``size`` bytes lie in one array that may be ``written``."""
        if not self.allocations:
            return np.zeros(index.shape, np.bool_)
        starts, ends, constant = self._arrays()
        which = np.searchsorted(starts, index, side="right") - 1
        good: NDArray[np.bool_] = (which >= 0) & (index + size <= ends[which])
        return good & ~constant[which] if written and self._has_constants else good

    def _arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Start and end of each array, and a mask of the arrays that only the host may write."""
        if self._table is None:
            self._table = (
                np.array(self._starts),
                np.array([allocation.end for allocation in self.allocations]),
                np.array([allocation.constant for allocation in self.allocations]),
            )
        return self._table

    def nearest(self, index: int) -> Allocation | None:
        """The array that an address outside all of them was most likely meant for."""
        if not self.allocations:
            return None
        return min(
            self.allocations,
            key=lambda allocation: max(allocation.start - index, index - allocation.end + 1, 0),
        )


@mutable
class Heap:
    """The heap of a launch (CUDA C++ guide, "Dynamic Global Memory Allocation").

    Blocks are taken one after another, with a red zone behind each, and freed blocks are taken again only
    when the rest is used up, so that an access to freed memory meets bytes of no other block for as long as
    possible. Bytes ``next`` to ``end`` of the memory have never been given out.
    """

    memory: GlobalMemory
    next: int
    end: int
    taken: dict[int, Allocation] = field(default_factory=dict)
    """Allocations by their start."""
    freed: dict[int, deque[int]] = field(default_factory=dict)
    """Starts of freed blocks by the size of the block, the longest free first."""

    def take(self, size: int, align: int = HEAP_GRAIN) -> int | None:
        """Start of a new block of ``size`` bytes; None if there is none left."""
        room = -(-max(size, 1) // HEAP_GRAIN) * HEAP_GRAIN
        start = self._fresh(room, align)
        if start is None:
            start = self._used(room, align)
        if start is None:
            return None
        self.taken[start] = Allocation(HEAP, start, start + size, 1, (size,))
        self.memory.add(self.taken[start])
        return start

    def _fresh(self, room: int, align: int) -> int | None:
        start = -(-self.next // max(align, HEAP_GRAIN)) * max(align, HEAP_GRAIN)
        if start + room + HEAP_RED_ZONE > self.end or len(self.taken) >= _MOST_BLOCKS:
            return None
        self.next = start + room + HEAP_RED_ZONE
        return start

    def _used(self, room: int, align: int) -> int | None:
        """The smallest room that was freed and is large enough."""
        for size in sorted(self.freed):
            starts = self.freed[size]
            reused = next((start for start in starts if size >= room and start % align == 0), None)
            if reused is not None:
                starts.remove(reused)
                return reused
        return None

    def live_blocks(self) -> tuple[HeapBlock, ...]:
        """The blocks that are taken, and their content."""
        memory, spans = self.memory, ((block.start, block.end) for block in self.taken.values())
        return tuple(HeapBlock(s, e, memory.bytes[s:e].copy(), memory.written(s, e)) for s, e in spans)

    def was_freed(self, byte: int) -> bool:
        """True if a byte lies in a block that was freed, and not taken again."""
        return any(start <= byte < start + room for room, starts in self.freed.items() for start in starts)

    def give_back(self, start: int) -> bool:
        """Free the block that starts there; False if there is none, or it was freed before."""
        block = self.taken.pop(start, None)
        if block is None:
            return False
        self.memory.remove(block)
        room = -(-max(block.end - block.start, 1) // HEAP_GRAIN) * HEAP_GRAIN
        self.freed.setdefault(room, deque()).append(start)
        return True


class Target(NamedTuple):
    """Destination of an access: ``bytes`` is the byte in ``region`` for each of ``lanes``; it may be folded.

    ``good`` says which of the active lanes those are; None if none was left out. ``request`` is the number of
    bytes of a lane that travel together: the bytes of the whole vector with its first element, 0 with the
    others.
    """

    space: str
    region: Region
    bytes: Value
    lanes: Lanes
    good: NDArray[np.bool_] | None
    request: int
    shape: Shape = (1, 1, 1)
    site: int = -1
    base: Value | None = None
    """The address that an instruction's own offset was added to; the same object for the same address."""
    pattern: Value | None = None
    """An address that differs from ``base`` by as much for all lanes: the same object where that is known."""

    @property
    def index(self) -> Value:  # type: ignore[override]  # no code searches a target
        """The byte with an element for each lane, or a scalar."""
        return unfold(self.bytes, self.shape) if self.bytes.ndim == FOLDED else self.bytes

    def uninitialised(self, size: int) -> NDArray[np.bool_] | None:
        """Mask of the lanes that read a byte that no thread wrote; None if none does."""
        missing = self.region.uninitialised(self.bytes, size)
        return unfold(missing, self.shape) if missing is not None and missing.ndim == FOLDED else missing


class Resolved(NamedTuple):
    """A target, with the lowest and the highest of its addresses within its state space."""

    target: Target
    low: int
    high: int


def parts_of(target: Target, size: int) -> Iterator[tuple[Target, int]]:
    """The words (bytes, where ``size`` is no multiple of 4) of an access by ``size`` bytes a lane."""
    part = 4 if size % 4 == 0 else 1
    for offset in range(0, size, part):
        yield target._replace(bytes=target.bytes + offset), part


class StrayAccess(NamedTuple):
    """Accesses of lanes out of bounds: state space, verb and bytes a lane."""

    space: str
    verb: str
    size: int


class AccessRequest(NamedTuple):
    """Request of an instruction at an address: see `Target` for ``request``; empty ``space`` is generic.

    ``offset`` is a number of bytes to add to the address.
    """

    dtype: np.dtype[Any]
    space: str
    verb: str
    request: int
    offset: int = 0
