"""Who looks on while instructions run: one observer counts traffic, another records hazards.

The -O0 build runs under `Detecting`, the default build, which is graded, under both (`Several`); kernels of
the staff run under `Counting` alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.emulator.counters import traffic
from grader.emulator.machine.machine import Observer
from grader.emulator.memory.place import parts_of
from grader.model import Counters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine, Parties
    from grader.emulator.machine.state import Group
    from grader.emulator.machine.values import Value
    from grader.emulator.memory.place import Place, StrayAccess
    from grader.emulator.races import AccessLog
    from grader.ptx import Instruction


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

    def arrived(self, _m: Machine, _site: int, lanes: int) -> None:
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
        self.count_store(m, place, value.dtype.itemsize)

    def count_store(self, m: Machine, place: Place, size: int) -> None:
        """Count ``size`` bytes that each lane writes."""
        lanes = m.size if place.lanes is None else len(place.lanes)
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
        self.count_store(m, place, size)

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

    def began(self, m: Machine) -> None:
        """See `Observer`."""
        self.log.begin(m)

    def arrived(self, _m: Machine, _site: int, lanes: int) -> None:
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
            for part, bytes_ in parts_of(source, read):
                self.loaded(m, source.site, part, bytes_)
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
    tracks_initialisation: bool = field(init=False)

    def __post_init__(self) -> None:
        """Memory keeps count of what was written if any observer asks for it."""
        self.tracks_initialisation = any(observer.tracks_initialisation for observer in self.observers)

    def executed(self, instructions: int, flops: int) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.executed(instructions, flops)

    def count_flops(self, flops: int) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.count_flops(flops)

    def began(self, m: Machine) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.began(m)

    def arrived(self, m: Machine, site: int, lanes: int) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.arrived(m, site, lanes)

    def branched(
        self, m: Machine, branch: Instruction, group: Group, yes: Group | None, no: Group | None
    ) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.branched(m, branch, group, yes, no)

    def computed(self, m: Machine, instruction: Instruction, line: int, value: Value) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.computed(m, instruction, line, value)

    def out_of_bounds(
        self, m: Machine, site: int, access: StrayAccess, address: Value, bad: NDArray[np.bool_]
    ) -> None:
        """See `Observer`."""
        for observer in self.observers:
            observer.out_of_bounds(m, site, access, address, bad)

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
