"""Who looks on while instructions run: one observer counts traffic, the other records hazards.

The default build runs under `Counting`, the -O0 build under `Detecting`: neither pays for the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from grader.emulator import traffic
from grader.model import Counters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.access import Place
    from grader.emulator.hazards import AccessLog
    from grader.emulator.machine import Machine
    from grader.emulator.values import Value

Parties: TypeAlias = "tuple[NDArray[np.intp], NDArray[np.intp]]"
"""Lanes, and the barrier of each: block * 16 + number."""


class Observer(Protocol):
    """What the machine tells."""

    tracks_initialisation: bool

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

    def copied(self, m: Machine, source: Place | None, destination: Place, size: int, read: int) -> int:
        """Lanes issue asynchronous copies of ``size`` bytes, of which ``read`` come from the source.

        The sites are those of the places; no source: zeros. Gives the moment, see `copies_landed`.
        """

    def copies_landed(self, m: Machine, lanes: NDArray[np.intp], began: int) -> None:
        """The waits of lanes completed copies that they issued at a moment."""

    def warp_synchronised(self, m: Machine, party: Value) -> None:
        """The active lanes passed a `__syncwarp`, each with the lanes of a mask over its warp."""

    def fenced(self, m: Machine, *, wide: bool) -> None:
        """The active lanes passed a `__threadfence`, or (not wide) a `__threadfence_block`."""

    def passed_barrier(self, m: Machine, arrived: Parties, released: Parties) -> None:
        """A named barrier of some warps of a block is complete."""

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        """The barrier of these blocks (None: all) is complete."""


@dataclass(eq=False, slots=True)
class Counting:
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

    def copies_landed(self, m: Machine, lanes: NDArray[np.intp], began: int) -> None:
        """See `Observer`."""

    def warp_synchronised(self, m: Machine, party: Value) -> None:
        """See `Observer`."""

    def fenced(self, m: Machine, *, wide: bool) -> None:
        """See `Observer`."""

    def passed_barrier(self, m: Machine, arrived: Parties, released: Parties) -> None:
        """See `Observer`."""

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        """See `Observer`."""


@dataclass(eq=False, slots=True)
class Detecting:
    """Records accesses for the hazard analysis, and reads of what nobody wrote."""

    log: AccessLog
    tracks_initialisation: bool = True

    def executed(self, instructions: int, flops: int) -> None:
        """See `Observer`."""

    def count_flops(self, flops: int) -> None:
        """See `Observer`."""

    def arrived(self, lanes: int) -> None:
        """See `Observer`."""

    def loaded(self, m: Machine, site: int, place: Place, size: int) -> None:
        """See `Observer`."""
        missing = place.uninitialised(size)
        if missing is not None:
            m.reporter.uninitialised(m, site, place, missing, size)
        if place.space != "local":
            self.log.read(m, site, place, size)

    def stored(self, m: Machine, site: int, place: Place, value: Value) -> None:
        """See `Observer`."""
        if place.space != "local":
            self.log.write(m, site, place, value)

    def atomic(self, m: Machine, site: int, place: Place, size: int) -> None:
        """See `Observer`."""
        missing = place.region.uninitialised(place.index, size)
        if missing is not None:
            m.reporter.uninitialised(m, site, place, missing, size)
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

    def passed_barrier(self, m: Machine, arrived: Parties, released: Parties) -> None:
        """See `Observer`."""
        self.log.passed_barrier(m, arrived, released)

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        """See `Observer`."""
        m.shared.settle()
        self.log.interval_ended(m, blocks)
