"""Demands of each run of instructions that was executed, roughly: to see which runs are unlike others.

What is simulated is the beginning of long blocks. A turn of a loop that comes later may execute the same
instructions and ask for more: its lanes go to more lines, to what was not fetched before, or to one bank.
These are sums of cycles that units take, and latencies, without the waits of warps for each other.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import mutable
from grader.running.estimate.multiprocessor import PARTITIONS
from grader.running.estimate.requests import (
    ATOMIC_SECTOR,
    BANKS,
    LINE_SHIFT,
    LINES_A_CYCLE,
    SECTOR_BYTES,
    SECTOR_SHIFT,
    distinct,
    rows_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from grader.running.estimate.multiprocessor import PipeOperation
    from grader.running.estimate.sampling import SampledBlocks
    from grader.simulation.sass.machine import Mask, MemoryAccess

UNITS = ("issue", "shared", "l1", "l2", "dram", "latency")
"""Units of which each run's cycles are counted."""

_PATTERNS = 4
"""Number of patterns of each instruction that are remembered; the same elsewhere is seen at once."""

_NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0)


@mutable
class _Sectors:
    """Sectors that a pattern touches, relative to the first one, and the cycles of their units."""

    places: NDArray[np.int64]
    l1: float
    l2: float
    alike: float = 0.0
    """Most lanes of each warp that want one address, where each has a turn."""


@mutable
class _Pattern:
    """Addresses of acting lanes that an instruction had once, and will have again some bytes further on.

    ``lanes`` are those that act (None: all); ``sectors`` is by how far the first of them is in its sector.
    """

    mask: Mask
    lanes: NDArray[np.intp] | None
    addresses: NDArray[np.int64]
    given: NDArray[np.int64]
    """The addresses of the access that had it first, with those of other lanes."""
    shared: float = 0.0
    sectors: dict[int, _Sectors] = field(default_factory=dict)

    def shift(self, access: MemoryAccess) -> int | None:
        """Distance in bytes at which the same lanes access the same now; None where it is not the same."""
        mask, mine = access.mask, self.mask
        if mask is not mine and (mask is None or mine is None or not np.array_equal(mask, mine)):
            return None
        addresses = access.addresses
        if addresses is self.given:
            return 0
        if len(addresses) > 1 and self.lanes is not None:
            addresses = addresses[self.lanes]
        if len(addresses) != len(self.addresses):
            return None
        shift = int(addresses[0] - self.addresses[0])
        if addresses[-1] - self.addresses[-1] != shift or (addresses - self.addresses != shift).any():
            return None
        return shift


class Demands:
    """Makes what each run of the sampled blocks asks for, from the first to the last, once."""

    def __init__(
        self,
        sampled: SampledBlocks,
        operations: Sequence[PipeOperation],
        array_of: NDArray[np.int32],
        dram: NDArray[np.float64],
        update_cycles: Callable[[int], float],
        l1_sectors: int,
    ) -> None:
        """``dram`` is the share of each array's sectors from DRAM, times the factor of their slowness.

        ``update_cycles`` are those between two updates of one address, by the number of an atomic access.
        """
        self._sampled, self._operations = sampled, operations
        self._array_of, self._dram, self._update_cycles = array_of, dram, update_cycles
        self._room = l1_sectors
        sectors = (len(sampled.launch.memory) >> SECTOR_SHIFT) + 1
        self._brought = np.zeros(sectors, np.int64)
        """Order of the last load of each sector: the number brought before, counted from 1; 0 for never."""
        self._written = np.zeros(sectors, np.bool_)
        self._clock = l1_sectors + 1  # a line that was never loaded counts as replaced
        self._patterns: dict[tuple[int, str], list[_Pattern]] = {}

    def of_runs(self, issues: Sequence[int]) -> NDArray[np.float64]:
        """A row for each run, with the cycles of each of `UNITS`."""
        trace = self._sampled.trace
        asked = np.array([self._demand(*item) for item in enumerate(trace.accesses)])
        asked = asked.reshape(-1, len(_NOTHING))
        sums = np.concatenate((np.zeros((1, len(_NOTHING))), np.cumsum(asked, axis=0)))
        ends = np.array(trace.ends)
        of_memory = sums[ends] - sums[np.concatenate(([0], ends[:-1]))]
        return np.column_stack((np.array(issues) / PARTITIONS, of_memory))

    def _demand(self, number: int, access: MemoryAccess) -> tuple[float, float, float, float, float]:
        """The cycles of shared memory, L1, L2 and DRAM, and the latency."""
        pattern, shift = self._pattern(access)
        if pattern is None:
            return _NOTHING
        if access.space != "global":
            return pattern.shared, 0.0, 0.0, 0.0, 0.0
        first = int(pattern.addresses[0]) + shift
        sectors = pattern.sectors.get(first % SECTOR_BYTES)
        if sectors is None:
            sectors = pattern.sectors[first % SECTOR_BYTES] = self._sectors(access, first)
        places = sectors.places + (first >> SECTOR_SHIFT)
        kind = self._operations[access.instruction].kind
        if kind == "load":
            return self._loaded(places, sectors)
        hot = sectors.alike * self._update_cycles(number) if kind == "atomic" else 0.0
        return self._stored(places, sectors, kind, hot)

    def _loaded(
        self, places: NDArray[np.int64], sectors: _Sectors
    ) -> tuple[float, float, float, float, float]:
        device, before = self._sampled.device, self._brought[places]
        absent = int(np.count_nonzero(before < self._clock - self._room))
        self._brought[places] = self._clock
        if not absent:
            return 0.0, sectors.l1, 0.0, 0.0, 0.0
        self._clock += absent
        from_dram = self._from_dram(places[before == 0])
        later = device.l2_latency * absent + (device.dram_latency - device.l2_latency) * min(
            absent, from_dram
        )
        return (
            0.0,
            sectors.l1,
            absent * SECTOR_BYTES / device.l2_bandwidth,
            from_dram * SECTOR_BYTES / device.dram_bandwidth,
            later / len(places),
        )

    def _stored(
        self, places: NDArray[np.int64], sectors: _Sectors, kind: str, hot: float
    ) -> tuple[float, float, float, float, float]:
        device = self._sampled.device
        anew = places[~self._written[places]]
        self._written[places] = True
        dram = self._from_dram(anew) * device.dram_write * SECTOR_BYTES / device.dram_bandwidth
        return 0.0, sectors.l1, max(sectors.l2, hot), dram, device.l2_latency if kind == "atomic" else 0.0

    def _from_dram(self, places: NDArray[np.int64]) -> float:
        """Number of sectors that DRAM moves, where those that take longer count accordingly."""
        if not len(places):
            return 0.0
        lines = np.clip(places >> LINE_SHIFT - SECTOR_SHIFT, 0, len(self._array_of) - 1)
        return float(self._dram[self._array_of[lines]].sum())

    def _pattern(self, access: MemoryAccess) -> tuple[_Pattern | None, int]:
        """Pattern that an access has, and its distance in bytes from it; None where no lane acts."""
        patterns = self._patterns.setdefault((access.instruction, access.space), [])
        for pattern in patterns:
            shift = pattern.shift(access)
            if shift is not None:
                return pattern, shift
        lanes = None
        threads = self._sampled.threads
        if access.mask is not None or not threads.all():
            lanes = np.flatnonzero(threads if access.mask is None else threads & access.mask)
            if not len(lanes):
                return None, 0
        addresses = access.addresses
        if len(addresses) > 1 and lanes is not None:
            addresses = addresses[lanes]
        pattern = _Pattern(access.mask, lanes, addresses, access.addresses)
        if access.space != "global":
            pattern.shared = self._shared(access)
        patterns.insert(0, pattern)
        del patterns[_PATTERNS:]
        return pattern, 0

    def _shared(self, access: MemoryAccess) -> float:
        """The passes that all warps take through shared or local memory."""
        acting, rows = rows_of(access, self._sampled.threads)
        opcode = self._sampled.launch.listing.instructions[access.instruction].opcode
        return float(_passes(rows >> 2, acting, every_lane=opcode.startswith("ATOM")).sum())

    def _sectors(self, access: MemoryAccess, first: int) -> _Sectors:
        """The sectors of an access, and what they take; ``first`` is the address of the first acting lane."""
        device, at = self._sampled.device, access.instruction
        acting, rows = rows_of(access, self._sampled.threads)
        places = distinct((rows >> SECTOR_SHIFT)[acting]) - (first >> SECTOR_SHIFT)
        if self._operations[at].kind == "load":
            lines = _changes(rows >> LINE_SHIFT, acting)
            looked_up = np.maximum(lines / LINES_A_CYCLE, device.tag_cycles * lines)
            return _Sectors(places, float(np.maximum(_passes(rows >> 2, acting), looked_up).sum()), 0.0)
        sectors = float(_changes(rows >> SECTOR_SHIFT, acting).sum())
        if self._operations[at].kind == "store":
            return _Sectors(places, device.store_sector * sectors, device.written_sector * sectors)
        return _Sectors(places, sectors, ATOMIC_SECTOR * sectors, float(_most_alike(rows, acting).sum()))


def _in_order(
    values: NDArray[np.int64], acting: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The values of each row in order, and which of them are the first of those that are equal."""
    ordered = np.where(acting, values, -1)
    ordered.sort(axis=1)
    first = ordered >= 0
    first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return ordered, first


def _changes(values: NDArray[np.int64], acting: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Number of different values in each row."""
    return np.asarray(np.count_nonzero(_in_order(values, acting)[1], axis=1))


def _passes(
    words: NDArray[np.int64], acting: NDArray[np.bool_], *, every_lane: bool = False
) -> NDArray[np.intp]:
    """Most words in one bank, for each row; with ``every_lane`` every lane counts, else different words."""
    ordered, first = _in_order(words, acting)
    counted = ordered >= 0 if every_lane else first
    row, _ = np.nonzero(counted)
    banks = np.bincount(row * BANKS + ordered[counted] % BANKS, minlength=BANKS * len(words))
    return np.asarray(banks.reshape(-1, BANKS).max(axis=1))


def _most_alike(values: NDArray[np.int64], acting: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Number of times that each row has its most frequent value."""
    ordered, first = _in_order(values, acting)
    group = np.cumsum(first.ravel()) - 1
    counts = np.bincount(group[(ordered >= 0).ravel()], minlength=1)
    most = np.zeros(len(values), np.intp)
    row, _ = np.nonzero(first)
    np.maximum.at(most, row, counts[: len(row)])
    return most
