"""Finding races: which accesses nothing orders.

Two accesses to one cell of memory by different threads race if at least one writes, they are not both
atomic, and nothing orders them (CUDA C++ Programming Guide, memory consistency; PTX ISA chapter 8).
What orders: the block's barrier within a block, `__syncwarp` within a warp. Blocks always count as
running at once.

Most intervals between barriers hold only reads, or writes that nobody else touches; then nothing but a
list append happens. What is left goes through `grader.emulator.conflicts`, which is exact: it compares
accesses, not their effects, so that a race is found in any schedule and however lucky the values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.emulator.conflicts import ATOMIC, READ, WRITE, Conflict, Rows, candidates, find_conflicts
from grader.emulator.values import spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.emulator.access import Place
    from grader.emulator.machine import Machine
    from grader.emulator.values import Lanes, Value


MOST_ROWS = 1 << 24
"""Accesses that may wait for a barrier at once, over all lanes of a chunk; judging them takes seconds."""


class LogFullError(Exception):
    """So many accesses without a barrier that the kernel cannot be meant to end."""


class TrackThisToo(Exception):  # noqa: N818 - a request, not an error
    """An array was written that had been read before anybody kept its reads: run again and keep them."""

    def __init__(self, array: str) -> None:
        super().__init__(array)
        self.array = array


class _Access(NamedTuple):
    """One instruction's accesses, as cheap to keep as can be: most are never looked at again.

    ``byte`` is where each of ``lanes`` reads or writes; ``when`` counts all accesses.
    """

    site: int
    kind: int
    lanes: Lanes
    byte: Value
    when: int
    value: Value | None
    epoch: Value
    """Barrier interval of each lane's block, where accesses of several are kept together."""
    warp_epoch: Value


@dataclass(eq=False, slots=True)
class AccessLog:
    """The accesses that may still turn out to race.

    ``grain`` is the size of a cell: 4 bytes, or 1 where the kernel has narrower accesses. ``tracked`` are
    the global arrays whose reads are kept: those that the kernel writes and reads.
    """

    grain: int = 4
    tracked: frozenset[str] = frozenset()
    shared: list[_Access] = field(default_factory=list)
    arrays: list[_Access] = field(default_factory=list)
    conflicts: list[tuple[str, Conflict, Machine]] = field(default_factory=list)
    kept: list[Rows] = field(default_factory=list)
    _seen_reads: set[str] = field(default_factory=set)
    _clock: int = 0
    _rows: int = 0
    _epoch: NDArray[np.int64] | None = None
    _warp_epoch: NDArray[np.int64] | None = None
    _written: set[str] = field(default_factory=set)
    _again: dict[tuple[str, int, int], list[int]] = field(default_factory=dict)
    """Where in its list the first and the latest of a site's accesses to the same places stand."""

    def begin(self, m: Machine) -> None:
        """A new chunk of blocks starts."""
        self._epoch = np.zeros(m.geometry.blocks, np.int64)
        self._warp_epoch = None
        self._rows = 0
        self._again.clear()

    def read(self, m: Machine, site: int, place: Place, size: int) -> None:
        """Lanes read."""
        if place.space == "shared":
            self._keep(m, site, READ, place, size, None)
            return
        arrays = self._arrays(m, place)
        if arrays & (self.tracked | self._written):
            self._keep(m, site, READ, place, size, None)
        self._seen_reads |= arrays - self._written

    def write(self, m: Machine, site: int, place: Place, value: Value) -> None:
        """Lanes write."""
        self._must_track(m, place)
        self._keep(m, site, WRITE, place, value.dtype.itemsize, value)

    def atomic(self, m: Machine, site: int, place: Place, size: int) -> None:
        """Lanes read and write as one."""
        self._must_track(m, place)
        self._keep(m, site, ATOMIC, place, size, None)

    def warp_synchronised(self, m: Machine) -> None:
        """`__syncwarp`: what the lanes of a warp did before is ordered before what they do next."""
        if self._warp_epoch is None:
            self._warp_epoch = np.zeros(m.geometry.blocks * m.geometry.warps_per_block, np.int64)
        self._warp_epoch[np.unique(m.warp_of[m.lanes()])] += 1

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        """A barrier is complete: judge the shared accesses of these blocks since the one before."""
        self._again.clear()
        if self._epoch is not None:
            self._epoch[slice(None) if blocks is None else blocks] += 1
        if blocks is None:
            self._judge_shared(m, self.shared)
            self.shared.clear()
            self._rows = 0
            return
        ended = [part for each in self.shared if (part := _of_blocks(m, each, blocks))]
        self.shared[:] = [part for each in self.shared if (part := _of_blocks(m, each, ~blocks))]
        self._judge_shared(m, ended)

    def finish_chunk(self, m: Machine) -> None:
        """The chunk's blocks have ended: judge what is left of shared memory, keep the global accesses."""
        self._judge_shared(m, self.shared)
        self.shared.clear()
        if self.arrays:
            offset = m.geometry.first_block * m.geometry.threads
            rows = _rows(m, self.arrays, self.grain)
            blocks = rows.block + m.geometry.first_block
            warps = rows.warp + m.geometry.first_block * m.geometry.warps_per_block
            self.kept.append(rows._replace(lane=rows.lane + offset, block=blocks, warp=warps))
            self.arrays.clear()

    def finish(self, m: Machine) -> None:
        """The launch has ended: judge global memory, over all its blocks."""
        if not self.kept:
            return
        columns = zip(*self.kept, strict=True)
        rows = candidates(Rows._make(np.concatenate(column) for column in columns))
        self.conflicts.extend(("global", conflict, m) for conflict in find_conflicts(rows))

    def _judge_shared(self, m: Machine, accesses: list[_Access]) -> None:
        if not any(each.kind != READ for each in accesses):
            return
        cells = [each.byte // self.grain for each in accesses]
        suspects = _suspect_cells(m, accesses, cells, m.shared.bytes.size // self.grain)
        if suspects is None:
            return
        chosen = []
        outermost = _Outermost(len(suspects))
        for each, cell in zip(accesses, cells, strict=True):
            here = suspects[cell]
            if each.kind == READ and here.any():
                here &= outermost.of(cell)
            if here.any():
                chosen.append(_filter(m, each, here))
        rows = _rows(m, chosen, self.grain)
        self.conflicts.extend(("shared", conflict, m) for conflict in find_conflicts(rows))

    def _arrays(self, m: Machine, place: Place) -> set[str]:
        """The global arrays that an access may go to: usually one, more where lanes choose between them."""
        index = place.index
        low, high = (int(index),) * 2 if index.ndim == 0 else (int(index.min()), int(index.max()))
        holder = m.memory.holding(low, high + 1)
        return {holder.name} if holder else {each.name for each in m.memory.touching(low, high + 1)}

    def _must_track(self, m: Machine, place: Place) -> None:
        """Before a write: the reads of these arrays must have been kept, and are from now on."""
        if place.space == "shared":
            return
        arrays = self._arrays(m, place)
        for array in sorted(arrays & self._seen_reads - self.tracked):
            raise TrackThisToo(array)
        self._written |= arrays

    def _keep(self, m: Machine, site: int, kind: int, place: Place, size: int, value: Value | None) -> None:
        self._clock += 1
        log = self.shared if place.space == "shared" else self.arrays
        lanes = place.lanes
        warp_epoch: Value = np.int64(0)
        if self._warp_epoch is not None:
            warp_epoch = self._warp_epoch[m.warp_of if lanes is None else m.warp_of[lanes]]
        epoch: Value = np.int64(0)
        if place.space != "shared" and self._epoch is not None:
            epoch = self._epoch[m.block_of if lanes is None else m.block_of[lanes]]
        first = spread(place.index, m.size if lanes is None else len(lanes))
        for offset in range(0, max(size, self.grain), self.grain):
            byte = first + offset if offset else first
            access = _Access(site, kind, lanes, byte, self._clock, value, epoch, warp_epoch)
            self._append(log, (place.space, site, offset), access)

    def _append(self, log: list[_Access], key: tuple[str, int, int], access: _Access) -> None:
        """Of a loop over the same places the first and the latest round say all: keep those two."""
        known = self._again.get(key)
        if known is None or not _same_places(log[known[0]], access):
            self._again[key] = [len(log)]
        elif len(known) == 1:
            known.append(len(log))
        else:
            latest = log[known[1]]
            first = log[known[0]].value
            back = first is not None and np.array_equal(first, access.value)  # type: ignore[arg-type]
            log[known[1]] = access._replace(value=latest.value) if back else access
            return
        self._rows += len(access.byte)
        if self._rows > MOST_ROWS:
            raise LogFullError
        log.append(access)


def _same_places(one: _Access, other: _Access) -> bool:
    """Whether the same lanes access the same cells, with nothing in between that orders them."""
    if len(one.byte) != len(other.byte) or one.byte[0] != other.byte[0]:
        return False
    if (one.lanes is None) != (other.lanes is None):
        return False
    pairs = ((one.byte, other.byte), (one.epoch, other.epoch), (one.warp_epoch, other.warp_epoch))
    if not all(mine is yours or np.array_equal(mine, yours) for mine, yours in pairs):
        return False
    return one.lanes is other.lanes or np.array_equal(one.lanes, other.lanes)  # type: ignore[arg-type]


def _of_blocks(m: Machine, access: _Access, blocks: NDArray[np.bool_]) -> _Access | None:
    lanes = np.arange(m.size) if access.lanes is None else access.lanes
    chosen = blocks[m.block_of[lanes]]
    return _filter(m, access, chosen) if chosen.any() else None


def _filter(m: Machine, access: _Access, mask: NDArray[np.bool_]) -> _Access:
    lanes = np.arange(m.size) if access.lanes is None else access.lanes

    def part(value: Value) -> Value:
        return value if value is None or value.ndim == 0 else value[mask]

    return access._replace(
        lanes=lanes[mask],
        byte=access.byte[mask],
        value=part(access.value),
        epoch=part(access.epoch),
        warp_epoch=part(access.warp_epoch),
    )


def _suspect_cells(
    m: Machine,
    accesses: list[_Access],
    cells: list[NDArray[np.int64]],
    count: int,
) -> NDArray[np.bool_] | None:
    """The cells that are written and that more than one thread touches; None if there are none."""
    written = np.zeros(count, np.bool_)
    for each, cell in zip(accesses, cells, strict=True):
        if each.kind != READ:
            written[cell] = True
    touching = [
        (cell, np.arange(m.size) if each.lanes is None else each.lanes)
        for each, cell in zip(accesses, cells, strict=True)
        if each.kind != READ or written[cell].any()
    ]
    owner = np.full(count, -1, np.int64)
    for cell, lanes in touching:
        owner[cell] = lanes
    shared = np.zeros(count, np.bool_)
    for cell, lanes in touching:
        different = owner[cell] != lanes
        if different.any():
            shared[cell[different]] = True
    shared &= written
    return shared if shared.any() else None


class _Outermost:
    """Picks, of the lanes that read a cell in one instruction, the lowest and the highest.

    Nothing is lost: whether some reader's thread, warp or block differs from a writer's shows at the ends,
    for lanes are numbered warp by warp and block by block. Of writers all are kept: their values matter.
    """

    def __init__(self, cells: int) -> None:
        self._first = np.empty(cells, np.intp)
        self._last = np.empty(cells, np.intp)

    def of(self, cell: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A mask over the lanes of an access, in increasing order; of equal places the last one stays."""
        place = np.arange(len(cell))
        self._last[cell] = place
        self._first[cell[::-1]] = place[::-1]
        ends: NDArray[np.bool_] = (self._first[cell] == place) | (self._last[cell] == place)
        return ends


def _rows(m: Machine, accesses: list[_Access], grain: int) -> Rows:
    def column(values: Iterator[Value]) -> NDArray[np.int64]:
        return np.concatenate([np.asarray(value, np.int64) for value in values])

    lanes = [np.arange(m.size) if each.lanes is None else each.lanes for each in accesses]
    counts = [len(part) for part in lanes]

    def each_lane(values: Iterator[Value]) -> NDArray[np.int64]:
        return column(np.broadcast_to(value, count) for value, count in zip(values, counts, strict=True))

    lane = column(iter(lanes))
    return Rows(
        cell=column(each.byte // grain for each in accesses),
        lane=lane,
        block=m.block_of[lane].astype(np.int64),
        warp=m.warp_of[lane].astype(np.int64),
        site=each_lane(np.int64(each.site) for each in accesses),
        kind=each_lane(np.int64(each.kind) for each in accesses),
        when=each_lane(np.int64(each.when) for each in accesses),
        epoch=each_lane(each.epoch for each in accesses),
        warp_epoch=each_lane(each.warp_epoch for each in accesses),
        value=np.concatenate([_bits(each, count) for each, count in zip(accesses, counts, strict=True)]),
    )


def _bits(access: _Access, count: int) -> NDArray[np.uint64]:
    if access.value is None:
        return np.zeros(count, np.uint64)
    return np.broadcast_to(access.value.view(f"u{access.value.dtype.itemsize}"), count).astype(np.uint64)
