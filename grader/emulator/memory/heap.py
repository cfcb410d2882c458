"""The heap of a launch: what kernels take from it with `malloc` and `new`, and give back.

CUDA C++ guide, "Dynamic Global Memory Allocation".

Blocks are taken one after another, with a red zone behind each, and what is freed is taken again only when
the rest is used up, so that an access to freed memory meets nobody's bytes for as long as possible.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.emulator.memory.memory import Allocation

if TYPE_CHECKING:
    from grader.emulator.memory.memory import GlobalMemory

HEAP_BYTES = 8 << 20
"""What a device sets aside for the heap unless the host asks for more."""

NAME = "heap"
"""What findings call memory from the heap."""

_GRAIN = 16
_RED_ZONE = 48
_MOST_BLOCKS = 1 << 16
"""Allocations at once; a device's own book-keeping would have filled its heap before."""


@dataclass(eq=False, slots=True)
class Heap:
    """Bytes ``next`` to ``end`` of a memory have never been given out."""

    memory: GlobalMemory
    next: int
    end: int
    taken: dict[int, Allocation] = field(default_factory=dict)
    """By where they start."""
    freed: dict[int, deque[int]] = field(default_factory=dict)
    """By how large they are: where they start, the longest free first."""

    def take(self, size: int, align: int = _GRAIN) -> int | None:
        """Where a new block of ``size`` bytes starts; None if there is none left."""
        room = -(-max(size, 1) // _GRAIN) * _GRAIN
        start = self._fresh(room, align)
        if start is None:
            start = self._used(room, align)
        if start is None:
            return None
        self.taken[start] = Allocation(NAME, start, start + size, 1, (size,))
        self.memory.add(self.taken[start])
        return start

    def _fresh(self, room: int, align: int) -> int | None:
        start = -(-self.next // max(align, _GRAIN)) * max(align, _GRAIN)
        if start + room + _RED_ZONE > self.end or len(self.taken) >= _MOST_BLOCKS:
            return None
        self.next = start + room + _RED_ZONE
        return start

    def _used(self, room: int, align: int) -> int | None:
        """The smallest room that was freed and is large enough."""
        for size in sorted(self.freed):
            starts = self.freed[size]
            found = next((start for start in starts if size >= room and start % align == 0), None)
            if found is not None:
                starts.remove(found)
                return found
        return None

    def was_freed(self, place: int) -> bool:
        """Whether a byte lies in a block that was freed, and not taken again."""
        return any(start <= place < start + room for room, starts in self.freed.items() for start in starts)

    def give_back(self, start: int) -> bool:
        """Free the block that starts there; False if there is none, or it was freed before."""
        block = self.taken.pop(start, None)
        if block is None:
            return False
        self.memory.remove(block)
        room = -(-max(block.end - block.start, 1) // _GRAIN) * _GRAIN
        self.freed.setdefault(room, deque()).append(start)
        return True
