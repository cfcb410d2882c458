"""Which bytes of global memory a launch reads, writes and updates: what other work must not use meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.machine.machine import Observer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.values import Value
    from grader.emulator.memory.memory import Target


@dataclass(eq=False, slots=True)
class TouchedBytes(Observer):
    """Marks the first ``size`` bytes of global memory as they are used."""

    size: int
    read: NDArray[np.bool_] = field(init=False)
    written: NDArray[np.bool_] = field(init=False)
    updated: NDArray[np.bool_] = field(init=False)
    """By atomic operations."""

    def __post_init__(self) -> None:
        """Nothing is used yet."""
        self.read, self.written, self.updated = np.zeros((3, self.size), np.bool_)

    def loaded(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Mark what is read."""
        del m, site
        _mark(self.read, target, size)

    def stored(self, m: Machine, site: int, target: Target, value: Value) -> None:
        """Mark what is written."""
        del m, site
        _mark(self.written, target, value.dtype.itemsize)

    def atomic(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Mark what is updated."""
        del m, site
        _mark(self.updated, target, size)

    def copied(self, m: Machine, source: Target | None, destination: Target, size: int, read: int) -> int:
        """Mark what an asynchronous copy to shared memory reads."""
        del m, destination, size
        if source is not None:
            _mark(self.read, source, read)
        return 0


def _mark(marks: NDArray[np.bool_], target: Target, size: int) -> None:
    if target.space != "global":
        return
    first = np.atleast_1d(np.asarray(target.index))
    inside = first[first <= len(marks) - size]  # behind the end there is no array
    for offset in range(size):
        marks[inside + offset] = True
