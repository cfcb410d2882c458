"""What becomes of values that nobody set: whether they ever matter.

After Stepanov and Serebryany, "MemorySanitizer: fast detector of uninitialized memory use in C++" (CGO 2015).
Each register has a shadow that tells, lane by lane, from which read an undefined value stems (0: it is
defined); memory that holds such a value counts as not written. An undefined value matters where it reaches a
store to global memory, a branch, an address or an atomic operation. All else may be thrown away.

It takes a run of its own, and only launches in which something undefined was read are run so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.machine.machine import Observer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.state import Frame
    from grader.emulator.machine.values import Lanes, Value
    from grader.emulator.memory.memory import Region
    from grader.emulator.memory.place import Place

    Origins = NDArray[np.int32]


@dataclass(eq=False, slots=True)
class FrameShadow:
    """The shadows of a frame's registers, by name, and of the parameters that it was given or gives."""

    registers: dict[str, Origins] = field(default_factory=dict)
    parameters: dict[str, dict[int, Origins]] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Definedness:
    """The shadows of a launch, and which undefined reads turned out to matter.

    A read is told by its line and by what is read: an array, or a local variable.
    """

    reads: list[tuple[int, str]] = field(default_factory=list)
    """The undefined reads; their numbers in shadows count from 1."""
    mattering: set[tuple[int, str]] = field(default_factory=set)
    _frames: dict[int, tuple[Frame, FrameShadow]] = field(default_factory=dict)
    _memory: dict[int, Origins] = field(default_factory=dict)
    loaded: list[tuple[NDArray[np.intp], Origins | None]] = field(default_factory=list)
    """Of the instruction under way: lanes that read, and where that stems from if some of it is undefined."""
    stored: list[tuple[Place, int]] = field(default_factory=list)
    """Of the instruction under way: where lanes store, and how many bytes."""
    exchanges: bool = False
    """Whether the instruction under way is an `exch`, which does not compute with what was there."""

    def of(self, frame: Frame) -> FrameShadow:
        """The shadow of a frame, which is kept so that no other one takes its identity."""
        if id(frame) not in self._frames:
            self._frames[id(frame)] = (frame, FrameShadow())
        return self._frames[id(frame)][1]

    def number(self, line: int, what: str) -> int:
        """The number of a read."""
        if (line, what) not in self.reads:
            self.reads.append((line, what))
        return self.reads.index((line, what)) + 1

    def matters(self, origins: Origins | None, lanes: Lanes) -> None:
        """Values of some lanes decide something."""
        if origins is not None:
            numbers = np.unique(origins if lanes is None else origins[lanes])
            self.mattering.update(self.reads[number - 1] for number in numbers.tolist() if number)

    def undefined(
        self, m: Machine, site: int, place: Place, missing: NDArray[np.bool_], size: int
    ) -> Origins:
        """Where undefined values that lanes read from memory stem from; 0 where they are defined."""
        here = self.number(*m.reporter.read_of(m, site, place, int(np.flatnonzero(missing)[0]), size))
        memory = self._memory.get(id(place.region))
        before = np.zeros(len(missing), np.int32) if memory is None else memory[place.index]
        return np.where(missing, np.where(before > 0, before, here), 0).astype(np.int32)

    def keep(self, region: Region, index: NDArray[np.int64], size: int, origins: Origins) -> None:
        """Undefined values were stored: the bytes count as not written."""
        if region.initialised is None:
            return
        memory = self._memory.setdefault(id(region), np.zeros(region.bytes.size, np.int32))
        for byte in range(size):
            region.initialised[index + byte] = 0
            memory[index + byte] = origins


@dataclass(eq=False, slots=True)
class Undefined(Observer):
    """The observer that tells `Definedness` what instructions read and write."""

    shadows: Definedness
    tracks_initialisation: bool = True

    def loaded(self, m: Machine, site: int, place: Place, size: int) -> None:
        """See `Observer`."""
        lanes = np.arange(m.size) if place.lanes is None else place.lanes
        self.shadows.loaded.append((lanes, self._origins(m, site, place, size, len(lanes))))

    def stored(self, _m: Machine, _site: int, place: Place, value: Value) -> None:
        """See `Observer`."""
        self.shadows.stored.append((place, value.dtype.itemsize))

    def atomic(self, m: Machine, site: int, place: Place, size: int) -> None:
        """See `Observer`; what an atomic operation reads matters, unless it only gives it away (`exch`)."""
        lanes = np.arange(m.size) if place.lanes is None else place.lanes
        origins = self._origins(m, site, place, size, len(lanes))
        if self.shadows.exchanges:
            self.shadows.loaded.append((lanes, origins))
        else:
            self.shadows.matters(origins, None)

    def _origins(self, m: Machine, site: int, place: Place, size: int, count: int) -> Origins | None:
        """Where what lanes read stems from; None where all of it is defined."""
        missing = place.region.uninitialised(place.index, size)
        if missing is None:
            return None
        missing = m.reporter.undefined_uses(site, place, np.broadcast_to(missing, count), size)
        return self.shadows.undefined(m, site, place, missing, size) if missing.any() else None
