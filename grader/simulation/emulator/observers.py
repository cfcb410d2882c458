"""Observers of a launch: `Counting` counts its traffic, `Detecting` records its hazards.

The -O0 build runs under `Detecting`, the default build, which is graded, under both (`ObserverGroup`);
kernels of the staff run under `Counting` alone.

A request to global memory moves whole sectors of 32 bytes. Shared memory has 32 banks of 4 bytes; in one
pass each bank serves one 4-byte word to any number of lanes. Wider accesses go in phases of as many
lanes as need 128 bytes (CUDA C++ Programming Guide, compute capability 5.x and later, shared memory).
"""

from __future__ import annotations

from dataclasses import field, fields
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import mutable
from grader.model import Counters
from grader.simulation.emulator.machine.geometry import WARP
from grader.simulation.emulator.machine.machine import Observer
from grader.simulation.emulator.machine.state import Request
from grader.simulation.emulator.machine.values import FOLDED, scalar, unfold
from grader.simulation.emulator.memory.memory import parts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.machine import Machine, Parties
    from grader.simulation.emulator.machine.state import Group
    from grader.simulation.emulator.machine.values import Value
    from grader.simulation.emulator.memory.memory import StrayAccess, Target
    from grader.simulation.emulator.races import AccessLog
    from grader.simulation.ptx import Instruction

SECTOR_SHIFT = 5

_BANKS = 32

_WORD = 4
"""Bytes that a bank gives at once."""

_KEY = np.int64(1 << 40)


@mutable
class Counting(Observer):
    """Counts the `Counters` of a launch."""

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
        return Counters(**{item.name: getattr(self, item.name) for item in fields(Counters)})

    def executed(self, instructions: int, flops: int) -> None:
        self.instructions += instructions
        self.flops += flops

    def count_flops(self, flops: int) -> None:
        self.flops += flops

    def arrived(self, _m: Machine, _site: int, lanes: int) -> None:
        self.barriers += lanes

    def loaded(self, m: Machine, _site: int, target: Target, size: int) -> None:
        """Count a load; constant memory has a cache of its own, and is no traffic of global memory."""
        lanes = m.size if target.lanes is None else len(target.lanes)
        if target.space == "global":
            if m.memory.holds_constants(target.bytes, size):
                return
            self.global_load_bytes += lanes * size
            self.global_load_sectors += sectors(m, target, target.request) if target.request else 0
        elif target.space == "shared":
            self.shared_load_bytes += lanes * size
            self.shared_bank_conflicts += bank_conflicts(m, target, target.request) if target.request else 0

    def stored(self, m: Machine, _site: int, target: Target, value: Value) -> None:
        self.count_store(m, target, value.dtype.itemsize)

    def count_store(self, m: Machine, target: Target, size: int) -> None:
        """Count ``size`` bytes that each lane writes."""
        lanes = m.size if target.lanes is None else len(target.lanes)
        if target.space == "global":
            self.global_store_bytes += lanes * size
            self.global_store_sectors += sectors(m, target, target.request) if target.request else 0
        elif target.space == "shared":
            self.shared_store_bytes += lanes * size
            self.shared_bank_conflicts += bank_conflicts(m, target, target.request) if target.request else 0

    def atomic(self, m: Machine, site: int, target: Target, size: int) -> None:
        """An atomic reads and writes."""
        self.loaded(m, site, target, size)
        self.count_store(m, target, size)

    def copied(self, m: Machine, source: Target | None, destination: Target, size: int, read: int) -> int:
        """A load from global and a store to shared memory."""
        if source is not None:
            self.loaded(m, source.site, source, read)
        lanes = m.size if destination.lanes is None else len(destination.lanes)
        self.shared_store_bytes += lanes * size
        self.shared_bank_conflicts += bank_conflicts(m, destination, size) if lanes else 0
        return 0


@mutable
class Detecting(Observer):
    """Records accesses for the hazard analysis, and reads of memory that no thread wrote.

    ``barriers`` and ``stored_bytes`` count arrivals at barriers and bytes stored to global memory.
    """

    log: AccessLog
    tracks_initialisation: bool = True
    barriers: int = 0
    stored_bytes: int = 0

    def began(self, m: Machine) -> None:
        self.log.begin(m)

    def arrived(self, _m: Machine, _site: int, lanes: int) -> None:
        self.barriers += lanes

    def loaded(self, m: Machine, site: int, target: Target, size: int) -> None:
        missing = target.uninitialised(size)
        if missing is not None:
            m.reporter.uninitialised(m, site, target, missing, size)
        if target.space != "local" and not self._is_of_headers(m, site, target):
            self.log.read(m, site, target, size)

    def stored(self, m: Machine, site: int, target: Target, value: Value) -> None:
        if target.space == "global":
            lanes = m.size if target.lanes is None else len(target.lanes)
            self.stored_bytes += lanes * value.dtype.itemsize
        if target.space != "local" and not self._is_of_headers(m, site, target):
            self.log.write(m, site, target, value)

    def _is_of_headers(self, m: Machine, site: int, target: Target) -> bool:
        """True if a header plainly reads or writes the memory reserved for it: never a race of the student.

        The headers of cooperative groups take a shuffle for order there. Their atomic operations count, for
        these order the student's own accesses.
        """
        if not m.reserved_bytes or target.space != "shared" or not target.bytes.size:
            return False
        in_reserved = int((target.bytes % m.shared_stride).min()) >= m.reserved_start
        names = m.reporter.names
        return (
            in_reserved
            and not self.log.events.strengths[site].strong
            and not names.is_own(names.program.sites[site])
        )

    def atomic(self, m: Machine, site: int, target: Target, size: int) -> None:
        missing = target.region.uninitialised(target.index, size)
        if missing is not None:
            m.reporter.uninitialised(m, site, target, missing, size)
        if target.space == "global":
            self.stored_bytes += size * (m.size if target.lanes is None else len(target.lanes))
        self.log.atomic(m, site, target, size)

    def copied(self, m: Machine, source: Target | None, destination: Target, size: int, read: int) -> int:
        if source is not None:
            for part, bytes_ in parts_of(source, read):
                self.loaded(m, source.site, part, bytes_)
        return self.log.write_async(m, destination.site, destination, size)

    def copies_landed(self, m: Machine, lanes: NDArray[np.intp], began: int) -> None:
        self.log.copies_landed(m, lanes, scalar(np.int64(began)))

    def warp_synchronised(self, m: Machine, party: Value) -> None:
        self.log.warp_synchronised(m, party)

    def fenced(self, m: Machine, *, wide: bool) -> None:
        self.log.fenced(m, wide=wide)

    def announced(self, m: Machine, parties: Parties) -> None:
        self.log.announced(m, parties)

    def passed_barrier(self, m: Machine, parties: Parties) -> None:
        self.log.passed_barrier(m, parties)

    def at_phase(
        self,
        m: Machine,
        kind: int,
        lanes: NDArray[np.intp],
        byte: NDArray[np.int64],
        phase: NDArray[np.uint64],
    ) -> None:
        self.log.at_phase(m, kind, lanes, byte, phase)

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        m.shared.settle()
        self.log.interval_ended(m, blocks)


@mutable
class ObserverGroup(Observer):
    """Several observers as one; each receives every event, in order."""

    observers: tuple[Observer, ...]
    tracks_initialisation: bool = field(init=False)

    def __post_init__(self) -> None:
        """Memory tracks the bytes that were written if any observer asks for it."""
        self.tracks_initialisation = any(observer.tracks_initialisation for observer in self.observers)

    def executed(self, instructions: int, flops: int) -> None:
        for observer in self.observers:
            observer.executed(instructions, flops)

    def count_flops(self, flops: int) -> None:
        for observer in self.observers:
            observer.count_flops(flops)

    def began(self, m: Machine) -> None:
        for observer in self.observers:
            observer.began(m)

    def arrived(self, m: Machine, site: int, lanes: int) -> None:
        for observer in self.observers:
            observer.arrived(m, site, lanes)

    def branched(
        self, m: Machine, branch: Instruction, group: Group, yes: Group | None, no: Group | None
    ) -> None:
        for observer in self.observers:
            observer.branched(m, branch, group, yes, no)

    def computed(self, m: Machine, instruction: Instruction, line: int, value: Value) -> None:
        for observer in self.observers:
            observer.computed(m, instruction, line, value)

    def out_of_bounds(
        self, m: Machine, site: int, access: StrayAccess, address: Value, bad: NDArray[np.bool_]
    ) -> None:
        for observer in self.observers:
            observer.out_of_bounds(m, site, access, address, bad)

    def loaded(self, m: Machine, site: int, target: Target, size: int) -> None:
        for observer in self.observers:
            observer.loaded(m, site, target, size)

    def stored(self, m: Machine, site: int, target: Target, value: Value) -> None:
        for observer in self.observers:
            observer.stored(m, site, target, value)

    def atomic(self, m: Machine, site: int, target: Target, size: int) -> None:
        for observer in self.observers:
            observer.atomic(m, site, target, size)

    def copied(self, m: Machine, source: Target | None, destination: Target, size: int, read: int) -> int:
        """Give the moment of the observer that keeps moments; all others give 0."""
        return max(observer.copied(m, source, destination, size, read) for observer in self.observers)

    def copies_landed(self, m: Machine, lanes: NDArray[np.intp], began: int) -> None:
        for observer in self.observers:
            observer.copies_landed(m, lanes, began)

    def warp_synchronised(self, m: Machine, party: Value) -> None:
        for observer in self.observers:
            observer.warp_synchronised(m, party)

    def fenced(self, m: Machine, *, wide: bool) -> None:
        for observer in self.observers:
            observer.fenced(m, wide=wide)

    def announced(self, m: Machine, parties: Parties) -> None:
        for observer in self.observers:
            observer.announced(m, parties)

    def passed_barrier(self, m: Machine, parties: Parties) -> None:
        for observer in self.observers:
            observer.passed_barrier(m, parties)

    def at_phase(
        self,
        m: Machine,
        kind: int,
        lanes: NDArray[np.intp],
        byte: NDArray[np.int64],
        phase: NDArray[np.uint64],
    ) -> None:
        for observer in self.observers:
            observer.at_phase(m, kind, lanes, byte, phase)

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        for observer in self.observers:
            observer.interval_ended(m, blocks)


def warps_of(m: Machine, target: Target) -> NDArray[np.intp]:
    """The warp of each lane that takes part."""
    return m.warp_of if target.lanes is None else m.warp_of[target.lanes]


def sectors(m: Machine, target: Target, size: int) -> int:
    """Distinct sectors, summed over the warps' requests (elements are aligned, so none straddles two)."""
    return _as_before(m, target, size, 1 << SECTOR_SHIFT, _sectors)


def bank_conflicts(m: Machine, target: Target, size: int) -> int:
    """Passes beyond those that a conflict-free request would take."""
    if target.bytes.ndim == 0:
        return 0
    return _as_before(m, target, size, _WORD, _bank_conflicts)


def _as_before(
    m: Machine, target: Target, size: int, grain: int, count: Callable[[Machine, Target, int], int]
) -> int:
    """The result of ``count``, looked up where the request before differs by whole grains only, if at all.

    A loop that walks through an array asks for the same pattern again and again, and so do the instructions
    of an unrolled one. Values do not change, so an address that is the same object is the same address.
    """
    where, pattern, key = target.bytes, target.pattern, (target.site, grain)
    alike = None if pattern is None else m.memo.patterns.get((id(pattern), grain))
    for before in (alike, m.memo.requests.get(key)):
        if (
            before is not None
            and before.lanes is target.lanes
            and before.size == size
            and before.bytes.shape == where.shape
            and (shift := where.item(0) - before.bytes.item(0)) % grain == 0
        ):
            same = before.pattern is pattern and pattern is not None
            if same or (where - np.int64(shift)).tobytes() == before.bytes.tobytes():
                return before.total
    amount = count(m, target, size)
    if target.site >= 0:
        m.memo.requests[key] = request = Request(pattern, where, target.lanes, size, amount)
        m.memo.keep_pattern(request, grain)
    return amount


def _sectors(m: Machine, target: Target, _size: int) -> int:
    if target.bytes.ndim == 0 and target.lanes is None:
        return m.geometry.blocks * m.geometry.warps_per_block
    warps = warps_of(m, target)
    index = target.index
    if index.ndim == 0:
        return _changes(warps)
    key = warps * _KEY + (index >> SECTOR_SHIFT)
    if (key[1:] >= key[:-1]).all():
        return _changes(key)
    return _changes(np.sort(key))


def _changes(key: NDArray[np.int64]) -> int:
    """Number of different values in a sorted array."""
    return int(np.count_nonzero(key[1:] != key[:-1])) + 1 if len(key) else 0


def _bank_conflicts(m: Machine, target: Target, size: int) -> int:
    base = target.base
    if base is not None and base.ndim == FOLDED and len(base) == 1 and target.lanes is None:
        offset = unfold(base, (1, *m.shape[1:]))
        return m.geometry.blocks * _of_threads((offset - _whole_words(offset[0])).tobytes(), size)
    warps = warps_of(m, target)
    index: Value = np.broadcast_to(target.index, warps.shape)
    if target.lanes is None and len(index) % WARP == 0 and m.geometry.threads % WARP == 0:
        rows = index.reshape(-1, WARP)
        pattern = rows - _whole_words(rows[:, :1])  # a shift of a warp turns the banks, and changes nothing
        if (pattern == pattern[0]).all():
            return len(rows) * _of_threads(pattern[0].tobytes(), size)
    if not len(index):
        return 0
    return _of_lanes((index - _whole_words(index[0]) + (warps - warps[0]) * _KEY).tobytes(), size)


def _whole_words(offset: Value) -> Value:
    """Bytes rounded down to words."""
    return offset & ~np.int64(_WORD - 1)


@lru_cache(maxsize=1024)
def _of_threads(pattern: bytes, size: int) -> int:
    """The conflicts of threads from the first of a warp on that access these bytes (int64)."""
    offset = np.frombuffer(pattern, np.int64)
    offset = offset - _whole_words(offset.min())
    return _of_warps(offset, np.arange(len(offset)) // WARP, size)


@lru_cache(maxsize=128)
def _of_lanes(pattern: bytes, size: int) -> int:
    """The conflicts of any lanes: a loop comes back to few patterns, though not always at once."""
    packed = np.frombuffer(pattern, np.int64)
    warps = (packed + _KEY // 2) // _KEY
    index = packed - warps * _KEY
    return _of_warps(index - _whole_words(index.min()), warps, size)


def _of_warps(index: NDArray[np.int64], warps: NDArray[np.intp], size: int) -> int:
    """Extra passes, summed over warps: ``index`` is the byte of each lane, ``warps`` its warp, in order.

    Lanes of a warp that go in one phase take as many passes as the busiest bank serves different words.
    """
    first = np.flatnonzero(np.diff(warps, prepend=-1))
    warp = np.repeat(np.arange(len(first)), np.diff(first, append=len(warps)))
    together = WARP * _WORD // max(size, _WORD)
    phases = WARP // together
    phase = warp * phases + (np.arange(len(warps)) - first[warp]) // together
    words = (index[:, None] + np.arange(0, max(size, _WORD), _WORD)) >> 2
    served = np.sort((phase[:, None] * _KEY + words).reshape(-1))
    served = served[np.diff(served, prepend=-1) != 0]
    banks = np.bincount(served // _KEY * _BANKS + served % _BANKS, minlength=len(first) * phases * _BANKS)
    busiest = banks.reshape(-1, _BANKS).max(axis=1)
    return int(np.maximum(busiest - 1, 0).sum())
