"""The heap of kernels: what ``malloc`` and ``new`` hand out stays until it is freed, from launch to launch.

CUDA C++ guide, "Dynamic Global Memory Allocation": the heap belongs to the context, and a block that one
kernel takes may be used and freed by another. The host reaches none of it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.emulator.memory.memory import HEAP, HEAP_GRAIN, HEAP_RED_ZONE, Allocation, Heap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.emulator.memory.memory import GlobalMemory


@dataclass(frozen=True, slots=True)
class KernelHeap:
    """Bytes ``start`` up to ``end`` of device memory, of which nobody has had those from ``next`` on.

    ``blocks`` are those that are taken, by where they start: where each starts and ends.
    """

    start: int
    end: int
    next: int
    blocks: tuple[tuple[int, int], ...] = ()

    def arrays(self) -> tuple[Allocation, ...]:
        """The blocks as the emulator knows arrays."""
        return tuple(Allocation(HEAP, start, end, 1, (end - start,)) for start, end in self.blocks)

    def laid_in(self, memory: GlobalMemory) -> Heap:
        """The heap of one attempt at a launch, in whose ``memory`` its arrays are already."""
        taken = {array.start: array for array in self.arrays()}
        return Heap(memory, self.next, self.end, taken, self._freed())

    def _freed(self) -> dict[int, deque[int]]:
        """Where there is room between blocks, by how large it is."""
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
        """What a launch leaves; ``heaps`` are those of all attempts at it."""
        left = tuple(sorted(blocks))
        used = max((heap.next for heap in heaps), default=self.next)
        return replace(self, blocks=left, next=used if left else self.start)
