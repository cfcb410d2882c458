"""Who looks on while instructions run: one observer counts traffic, the other records hazards.

The default build runs under `Counting`, the -O0 build under `Detecting`: neither pays for the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from grader.emulator import traffic
from grader.model import Counters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.access import Place
    from grader.emulator.hazards import AccessLog
    from grader.emulator.machine import Machine
    from grader.emulator.values import Value


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

    def warp_synchronised(self, m: Machine) -> None:
        """The active lanes passed a `__syncwarp`."""

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
        """See `Observer`."""
        lanes = m.size if place.lanes is None else len(place.lanes)
        if place.space == "global":
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

    def warp_synchronised(self, m: Machine) -> None:
        """See `Observer`."""

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        """See `Observer`."""


@dataclass(eq=False, slots=True)
class Detecting:
    """Records accesses for the hazard analysis, and reads of what nobody wrote."""

    log: AccessLog
    tracks_initialisation: bool = True
    _unsettled: bool = field(default=True)

    def executed(self, instructions: int, flops: int) -> None:
        """See `Observer`."""

    def count_flops(self, flops: int) -> None:
        """See `Observer`."""

    def arrived(self, lanes: int) -> None:
        """See `Observer`."""

    def loaded(self, m: Machine, site: int, place: Place, size: int) -> None:
        """See `Observer`."""
        missing = place.region.uninitialised(place.index, size)
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

    def warp_synchronised(self, m: Machine) -> None:
        """See `Observer`."""
        self.log.warp_synchronised(m)

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        """See `Observer`."""
        m.shared.settle()
        self.log.interval_ended(m, blocks)
