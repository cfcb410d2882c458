"""Who looks on while instructions run: one observer counts traffic, another records hazards.

The -O0 build runs under `Detecting`, the default build, which is graded, under both (`Several`); kernels of
the staff run under `Counting` alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from grader.emulator.counters import traffic
from grader.model import Counters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.values import Value
    from grader.emulator.memory.access import Place
    from grader.emulator.races import AccessLog

Parties: TypeAlias = "tuple[NDArray[np.intp], NDArray[np.intp]]"
"""Lanes, and the barrier of each: block * 16 + number."""


class Observer:
    """What the machine tells; an observer that need not know something leaves its method as it is here."""

    __slots__ = ()
    tracks_initialisation: bool = False

    def executed(self, instructions: int, flops: int) -> None:
        """So many lane-instructions ran."""

    def count_flops(self, flops: int) -> None:
        """So many more floating-point operations (of predicated instructions)."""

    def arrived(self, lanes: int) -> None:
        """So many lanes arrived at a barrier."""

    def loaded(self, m: Machine, site: int, place: Place, size: int) -> None:
        """Lanes are about to read ``size`` bytes each."""

    def stored(self, m: Machine, site: int, place: Place, value: Value) -> None:
        """Lanes are about to write ``value``."""

    def atomic(self, m: Machine, site: int, place: Place, size: int) -> None:
        """Lanes are about to read and write ``size`` bytes each as one."""

    def copied(self, _m: Machine, _source: Place | None, _destination: Place, _size: int, _read: int) -> int:
        """Lanes issue asynchronous copies of so many bytes, of which some (``read``) come from the source.

        The sites are those of the places; no source: zeros. Gives the moment, see `copies_landed`.
        """
        return 0

    def copies_landed(self, m: Machine, lanes: NDArray[np.intp], began: int) -> None:
        """The waits of lanes completed copies that they issued at a moment."""

    def warp_synchronised(self, m: Machine, party: Value) -> None:
        """The active lanes passed a `__syncwarp`, each with the lanes of a mask over its warp."""

    def fenced(self, m: Machine, *, wide: bool) -> None:
        """The active lanes passed a `__threadfence`, or (not wide) a `__threadfence_block`."""

    def announced(self, m: Machine, parties: Parties) -> None:
        """Lanes arrived at a barrier without waiting for it (`bar.arrive`)."""

    def passed_barrier(self, m: Machine, parties: Parties) -> None:
        """A named barrier of some warps of a block is complete, and these lanes go on."""

    def at_phase(
        self,
        m: Machine,
        what: int,
        lanes: NDArray[np.intp],
        byte: NDArray[np.int64],
        phase: NDArray[np.uint64],
    ) -> None:
        """Lanes arrive in a phase of a barrier in shared memory, or find it complete: `Events.at_phase`."""

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        """The barrier of these blocks (None: all) is complete."""


@dataclass(eq=False, slots=True)
class Counting(Observer):
    """Counts what `Counters` holds."""

    tracks_initialisation: bool = False
    global_load_bytes: int = 0
    global_store_bytes: int = 0
    global_load_sectors: int = 0
    global_store_sectors: int = 0
    shared_load_bytes: int = 0
    shared_store_bytes: int = 0
    shared_bank_conflicts: int = 0
    flops: int = 0
    instructions: int = 0
    barriers: int = 0

    def counters(self) -> Counters:
        """The totals as a record."""
        return Counters(**{name: getattr(self, name) for name in Counters.__slots__})

    def executed(self, instructions: int, flops: int) -> None:
        """See `Observer`."""
        self.instructions += instructions
        self.flops += flops

    def count_flops(self, flops: int) -> None:
        """See `Observer`."""
        self.flops += flops

    def arrived(self, lanes: int) -> None:
        """See `Observer`."""
        self.barriers += lanes

    def loaded(self, m: Machine, _site: int, place: Place, size: int) -> None:
        """See `Observer`; constant memory has a cache of its own, and is no traffic of global memory."""
        lanes = m.size if place.lanes is None else len(place.lanes)
        if place.space == "global":
            if m.memory.holds_constants(place.bytes, size):
                return
            self.global_load_bytes += lanes * size
            self.global_load_sectors += traffic.sectors(m, place, place.request) if place.request else 0
        elif place.space == "shared":
            self.shared_load_bytes += lanes * size
            self.shared_bank_conflicts += (
                traffic.bank_conflicts(m, place, place.request) if place.request else 0
            )

    def stored(self, m: Machine, _site: int, place: Place, value: Value) -> None:
        """See `Observer`."""
        lanes = m.size if place.lanes is None else len(place.lanes)
        size = value.dtype.itemsize
        if place.space == "global":
            self.global_store_bytes += lanes * size
            self.global_store_sectors += traffic.sectors(m, place, place.request) if place.request else 0
        elif place.space == "shared":
            self.shared_store_bytes += lanes * size
            self.shared_bank_conflicts += (
                traffic.bank_conflicts(m, place, place.request) if place.request else 0
            )

    def atomic(self, m: Machine, site: int, place: Place, size: int) -> None:
        """An atomic reads and writes."""
        self.loaded(m, site, place, size)
        self.stored(m, site, place, np.zeros(1, f"u{size}")[0])

    def copied(self, m: Machine, source: Place | None, destination: Place, size: int, read: int) -> int:
        """A load from global and a store to shared memory."""
        if source is not None:
            self.loaded(m, source.site, source, read)
        lanes = m.size if destination.lanes is None else len(destination.lanes)
        self.shared_store_bytes += lanes * size
        self.shared_bank_conflicts += traffic.bank_conflicts(m, destination, size) if lanes else 0
        return 0


@dataclass(eq=False, slots=True)
class Detecting(Observer):
    """Records accesses for the hazard analysis, and reads of what nobody wrote.

    ``barriers`` and ``stored_bytes`` count arrivals at barriers and bytes stored to global memory.
    """

    log: AccessLog
    tracks_initialisation: bool = True
    barriers: int = 0
    stored_bytes: int = 0

    def arrived(self, lanes: int) -> None:
        """See `Observer`."""
        self.barriers += lanes

    def loaded(self, m: Machine, site: int, place: Place, size: int) -> None:
        """See `Observer`."""
        missing = place.uninitialised(size)
        if missing is not None:
            m.reporter.uninitialised(m, site, place, missing, size)
        if place.space != "local":
            self.log.read(m, site, place, size)

    def stored(self, m: Machine, site: int, place: Place, value: Value) -> None:
        """See `Observer`."""
        if place.space == "global":
            lanes = m.size if place.lanes is None else len(place.lanes)
            self.stored_bytes += lanes * value.dtype.itemsize
        if place.space != "local":
            self.log.write(m, site, place, value)

    def atomic(self, m: Machine, site: int, place: Place, size: int) -> None:
        """See `Observer`."""
        missing = place.region.uninitialised(place.index, size)
        if missing is not None:
            m.reporter.uninitialised(m, site, place, missing, size)
        if place.space == "global":
            self.stored_bytes += size * (m.size if place.lanes is None else len(place.lanes))
        self.log.atomic(m, site, place, size)

    def copied(self, m: Machine, source: Place | None, destination: Place, size: int, read: int) -> int:
        """See `Observer`."""
        if source is not None:
            part = 4 if read % 4 == 0 else 1
            for offset in range(0, read, part):
                self.loaded(m, source.site, source._replace(bytes=source.bytes + offset), part)
        return self.log.write_async(m, destination.site, destination, size)

    def copies_landed(self, m: Machine, lanes: NDArray[np.intp], began: int) -> None:
        """See `Observer`."""
        self.log.copies_landed(m, lanes, began)

    def warp_synchronised(self, m: Machine, party: Value) -> None:
        """See `Observer`."""
        self.log.warp_synchronised(m, party)

    def fenced(self, m: Machine, *, wide: bool) -> None:
        """See `Observer`."""
        self.log.fenced(m, wide=wide)

    def announced(self, m: Machine, parties: Parties) -> None:
        """See `Observer`."""
        self.log.announced(m, parties)

    def passed_barrier(self, m: Machine, parties: Parties) -> None:
        """See `Observer`."""
        self.log.passed_barrier(m, parties)

    def at_phase(
        self,
        m: Machine,
        what: int,
        lanes: NDArray[np.intp],
        byte: NDArray[np.int64],
        phase: NDArray[np.uint64],
    ) -> None:
        """See `Observer`."""
        self.log.at_phase(m, what, lanes, byte, phase)

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        """See `Observer`."""
        m.shared.settle()
        self.log.interval_ended(m, blocks)


@dataclass(eq=False, slots=True)
class Several(Observer):
    """Several observers as one; each is told of everything, in order."""

    observers: tuple[Observer, ...]
    tracks_initialisation: bool = False

    def executed(self, instructions: int, flops: int) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.executed(instructions, flops)

    def count_flops(self, flops: int) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.count_flops(flops)

    def arrived(self, lanes: int) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.arrived(lanes)

    def loaded(self, m: Machine, site: int, place: Place, size: int) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.loaded(m, site, place, size)

    def stored(self, m: Machine, site: int, place: Place, value: Value) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.stored(m, site, place, value)

    def atomic(self, m: Machine, site: int, place: Place, size: int) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.atomic(m, site, place, size)

    def copied(self, m: Machine, source: Place | None, destination: Place, size: int, read: int) -> int:
        """See `Observer`; the moment is that of the observer that keeps moments."""
        return max(observer.copied(m, source, destination, size, read) for observer in self.observers)

    def copies_landed(self, m: Machine, lanes: NDArray[np.intp], began: int) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.copies_landed(m, lanes, began)

    def warp_synchronised(self, m: Machine, party: Value) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.warp_synchronised(m, party)

    def fenced(self, m: Machine, *, wide: bool) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.fenced(m, wide=wide)

    def announced(self, m: Machine, parties: Parties) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.announced(m, parties)

    def passed_barrier(self, m: Machine, parties: Parties) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.passed_barrier(m, parties)

    def at_phase(
        self,
        m: Machine,
        what: int,
        lanes: NDArray[np.intp],
        byte: NDArray[np.int64],
        phase: NDArray[np.uint64],
    ) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.at_phase(m, what, lanes, byte, phase)

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.interval_ended(m, blocks)
