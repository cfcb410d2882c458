"""Finding races: which accesses nothing orders.

Two accesses to one cell of memory by different threads race if at least one writes, they are not both
atomic, and nothing orders them (CUDA C++ Programming Guide, memory consistency; PTX ISA chapter 8).
What orders: the block's barrier within a block, `__syncwarp` within a warp. Blocks always count as
running at once.

Most intervals between barriers hold only reads, or writes that nobody else touches; then nothing but a
list append happens. What is left goes through `conflicts`, which is exact: it compares accesses, not
their effects, so that a race is found in any schedule and however lucky the values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.emulator.values import spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.emulator.access import Place
    from grader.emulator.machine import Machine
    from grader.emulator.values import Lanes, Value

_READ, _WRITE, _ATOMIC = 0, 1, 2


class TrackThisToo(Exception):  # noqa: N818 - a request, not an error
    """An array was written that had been read before anybody kept its reads: run again and keep them."""

    def __init__(self, array: str) -> None:
        super().__init__(array)
        self.array = array


class _Access(NamedTuple):
    """One instruction's accesses: ``cell`` for each of ``lanes``; ``when`` counts all accesses."""

    site: int
    kind: int
    lanes: Lanes
    cell: Value
    when: int
    value: Value | None
    epoch: Value
    """Barrier interval of each lane's block, where accesses of several are kept together."""
    warp_epoch: Value


class Rows(NamedTuple):
    """Accesses spelt out, one row each, all arrays of one length."""

    cell: NDArray[np.int64]
    lane: NDArray[np.int64]
    block: NDArray[np.int64]
    warp: NDArray[np.int64]
    site: NDArray[np.int64]
    kind: NDArray[np.int64]
    when: NDArray[np.int64]
    epoch: NDArray[np.int64]
    warp_epoch: NDArray[np.int64]
    value: NDArray[np.uint64]

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Rows:
        """Some of the rows."""
        return Rows(*(column[rows] for column in self))


class Conflict(NamedTuple):
    """A pair of sites that race, on ``count`` cells; lanes, cell and block are the first example's.

    ``level`` is ``block``, ``warp`` or ``lane``: what the two threads differ in. ``silent``: both write
    the same value.
    """

    site: int
    other_site: int
    hazard: str
    level: str
    lane: int
    other_lane: int
    cell: int
    count: int
    silent: bool


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
    _epoch: NDArray[np.int64] | None = None
    _warp_epoch: NDArray[np.int64] | None = None
    _written: bool = False

    def begin(self, m: Machine) -> None:
        """A new chunk of blocks starts."""
        self._epoch = np.zeros(m.geometry.blocks, np.int64)
        self._warp_epoch = None

    def read(self, m: Machine, site: int, place: Place, size: int) -> None:
        """Lanes read."""
        if place.space == "shared":
            self._keep(m, site, _READ, place, size, None)
            return
        array = self._array(m, place)
        if array in self.tracked or array is None:
            self._keep(m, site, _READ, place, size, None)
        else:
            self._seen_reads.add(array)

    def write(self, m: Machine, site: int, place: Place, value: Value) -> None:
        """Lanes write."""
        self._must_track(m, place)
        self._written = True
        self._keep(m, site, _WRITE, place, value.dtype.itemsize, value)

    def atomic(self, m: Machine, site: int, place: Place, size: int) -> None:
        """Lanes read and write as one."""
        self._must_track(m, place)
        self._written = True
        self._keep(m, site, _ATOMIC, place, size, None)

    def warp_synchronised(self, m: Machine) -> None:
        """`__syncwarp`: what the lanes of a warp did before is ordered before what they do next."""
        if self._warp_epoch is None:
            self._warp_epoch = np.zeros(m.geometry.blocks * m.geometry.warps_per_block, np.int64)
        self._warp_epoch[np.unique(m.warp_of[m.lanes()])] += 1

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        """A barrier is complete: judge the shared accesses of these blocks since the one before."""
        if self._epoch is not None:
            self._epoch[slice(None) if blocks is None else blocks] += 1
        if blocks is None:
            self._judge_shared(m, self.shared)
            self.shared.clear()
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
            rows = _rows(m, self.arrays)
            blocks = rows.block + m.geometry.first_block
            warps = rows.warp + m.geometry.first_block * m.geometry.warps_per_block
            self.kept.append(rows._replace(lane=rows.lane + offset, block=blocks, warp=warps))
            self.arrays.clear()

    def finish(self, m: Machine) -> None:
        """The launch has ended: judge global memory, over all its blocks."""
        if not self.kept:
            return
        columns = zip(*self.kept, strict=True)
        rows = _candidates(Rows(*(np.concatenate(column) for column in columns)))
        self.conflicts.extend(("global", conflict, m) for conflict in find_conflicts(rows))

    def _judge_shared(self, m: Machine, accesses: list[_Access]) -> None:
        if not any(each.kind != _READ for each in accesses):
            return
        suspects = _suspect_cells(m, accesses, m.shared.bytes.size // self.grain)
        if suspects is None:
            return
        chosen = []
        for each in accesses:
            here = suspects[each.cell]
            if here.any():
                chosen.append(_filter(m, each, here))
        self.conflicts.extend(("shared", conflict, m) for conflict in find_conflicts(_rows(m, chosen)))

    def _array(self, m: Machine, place: Place) -> str | None:
        low, high = (
            (int(place.index),) * 2
            if place.index.ndim == 0
            else (int(place.index.min()), int(place.index.max()))
        )
        holder = m.memory.holding(low, high + 1)
        return holder.name if holder else None

    def _must_track(self, m: Machine, place: Place) -> None:
        if place.space == "shared":
            return
        array = self._array(m, place)
        if array in self._seen_reads and array not in self.tracked and array is not None:
            raise TrackThisToo(array)

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
        count = m.size if lanes is None else len(lanes)
        first = spread(place.index, count) // self.grain
        for step in range(max(1, size // self.grain)):
            log.append(_Access(site, kind, lanes, first + step, self._clock, value, epoch, warp_epoch))


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
        cell=access.cell[mask],
        value=part(access.value),
        epoch=part(access.epoch),
        warp_epoch=part(access.warp_epoch),
    )


def _suspect_cells(m: Machine, accesses: list[_Access], cells: int) -> NDArray[np.bool_] | None:
    """The cells that are written and that more than one thread touches; None if there are none."""
    written = np.zeros(cells, np.bool_)
    for each in accesses:
        if each.kind != _READ:
            written[each.cell] = True
    owner = np.full(cells, -1, np.int64)
    touching = [each for each in accesses if each.kind != _READ or written[each.cell].any()]
    for each in touching:
        owner[each.cell] = np.arange(m.size) if each.lanes is None else each.lanes
    shared = np.zeros(cells, np.bool_)
    for each in touching:
        lanes = np.arange(m.size) if each.lanes is None else each.lanes
        different = owner[each.cell] != lanes
        if different.any():
            shared[each.cell[different]] = True
    shared &= written
    return shared if shared.any() else None


def _rows(m: Machine, accesses: list[_Access]) -> Rows:
    def column(values: Iterator[Value]) -> NDArray[np.int64]:
        return np.concatenate([np.asarray(value, np.int64) for value in values])

    lanes = [np.arange(m.size) if each.lanes is None else each.lanes for each in accesses]
    counts = [len(part) for part in lanes]

    def each_lane(values: Iterator[Value]) -> NDArray[np.int64]:
        return column(np.broadcast_to(value, count) for value, count in zip(values, counts, strict=True))

    lane = column(iter(lanes))
    return Rows(
        cell=column(each.cell for each in accesses),
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


def _candidates(rows: Rows) -> Rows:
    """The rows of cells that are written and that more than one thread touches."""
    _, number = np.unique(rows.cell, return_inverse=True)
    cells = int(number.max()) + 1
    written = np.zeros(cells, np.bool_)
    written[number[rows.kind != _READ]] = True
    owner = np.empty(cells, np.int64)
    owner[number] = rows.lane
    shared = np.zeros(cells, np.bool_)
    shared[number[owner[number] != rows.lane]] = True
    return rows.take((written & shared)[number])


def find_conflicts(rows: Rows) -> list[Conflict]:
    """Every pair of sites with accesses that race, each at the widest level at which it does."""
    if not len(rows.cell):
        return []
    nothing = np.zeros_like(rows.cell)
    levels = (
        ("block", (rows.cell, nothing, nothing, nothing), rows.block),
        ("warp", (rows.cell, rows.block, rows.epoch, nothing), rows.warp),
        ("lane", (rows.cell, rows.warp, rows.epoch, rows.warp_epoch), rows.lane),
    )
    found: dict[tuple[int, int, str], Conflict] = {}
    for level, key, agent in levels:
        for conflict in _conflicts_between(rows, level, key, agent):
            found.setdefault((conflict.site, conflict.other_site, conflict.hazard), conflict)
    return list(found.values())


class _Runs(NamedTuple):
    """Rows sorted by (key, site, kind, agent) and cut into runs of equal (key, site, kind)."""

    first: NDArray[np.intp]
    """Row with the lowest agent of each run."""
    last: NDArray[np.intp]
    """Row with the highest."""
    key: NDArray[np.intp]
    """Number of the key of each run."""
    earliest: NDArray[np.int64]
    latest: NDArray[np.int64]


def _runs(rows: Rows, key: tuple[NDArray[np.int64], ...], agent: NDArray[np.int64]) -> _Runs:
    order = _sorted_by((*key, rows.site, rows.kind, agent))
    columns = [column[order] for column in (*key, rows.site, rows.kind)]

    def starts_of(some: list[NDArray[np.int64]]) -> NDArray[np.bool_]:
        new = np.zeros(len(order), np.bool_)
        new[0] = True
        for column in some:
            new[1:] |= column[1:] != column[:-1]
        return new

    starts = np.flatnonzero(starts_of(columns))
    ends = np.append(starts[1:], len(order)) - 1
    key_number = np.cumsum(starts_of(columns[: len(key)]))
    when = rows.when[order]
    return _Runs(
        order[starts],
        order[ends],
        key_number[starts],
        np.minimum.reduceat(when, starts),
        np.maximum.reduceat(when, starts),
    )


def _sorted_by(columns: tuple[NDArray[np.int64], ...]) -> NDArray[np.intp]:
    """The order that sorts by the columns, the first one first. All are non-negative.

    One sort of the columns packed into 63 bits is several times faster than `lexsort`; they nearly
    always fit.
    """
    widths = [int(column.max()).bit_length() for column in columns]
    if sum(widths) > 63:  # noqa: PLR2004 - bits of a non-negative int64
        return np.lexsort(columns[::-1])
    packed = np.zeros(len(columns[0]), np.int64)
    for column, width in zip(columns, widths, strict=True):
        packed = packed << np.int64(width) | column
    return np.argsort(packed)


def _conflicts_between(
    rows: Rows,
    level: str,
    key: tuple[NDArray[np.int64], ...],
    agent: NDArray[np.int64],
) -> Iterator[Conflict]:
    """Pairs of runs under one key whose agents differ, at least one writing, not both atomic."""
    runs = _runs(rows, key, agent)
    total = len(runs.first)
    for apart in range(total):
        a = np.arange(total - apart)
        b = a + apart
        same = runs.key[a] == runs.key[b]
        if not same.any():
            return
        a, b = a[same], b[same]
        kind_a, kind_b = rows.kind[runs.first[a]], rows.kind[runs.first[b]]
        writes = (kind_a != _READ) | (kind_b != _READ)
        plain = (kind_a != _ATOMIC) | (kind_b != _ATOMIC)
        ends = [agent[part[each]] for part in (runs.first, runs.last) for each in (a, b)]
        differ = (ends[0] != ends[1]) | (ends[0] != ends[2]) | (ends[0] != ends[3])
        racing = writes & plain & differ
        if racing.any():
            yield from _describe(rows, level, runs, agent, (a[racing], b[racing]))


def _describe(
    rows: Rows,
    level: str,
    runs: _Runs,
    agent: NDArray[np.int64],
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
) -> Iterator[Conflict]:
    """One conflict for each pair of sites and kind of hazard among racing runs."""
    a, b = pairs
    site_a, site_b = rows.site[runs.first[a]], rows.site[runs.first[b]]
    for one, other in sorted(set(zip(site_a.tolist(), site_b.tolist(), strict=True))):
        chosen = np.flatnonzero((site_a == one) & (site_b == other))
        example = chosen[np.argmin(rows.cell[runs.first[a[chosen]]])]
        run_a, run_b = int(a[example]), int(b[example])
        row_a, row_b = int(runs.first[run_a]), int(runs.last[run_b])
        if agent[row_a] == agent[row_b]:
            row_a, row_b = int(runs.last[run_a]), int(runs.first[run_b])
        count = len(np.unique(rows.cell[runs.first[a[chosen]]]))
        silent = _all_write_one_value(rows, runs, a[chosen], b[chosen])
        for first, second, hazard in _hazards(rows, runs, (run_a, run_b), (row_a, row_b)):
            lanes = (int(rows.lane[second]), int(rows.lane[first]))
            sites = (int(rows.site[second]), int(rows.site[first]))
            cell = int(rows.cell[first])
            yield Conflict(*sites, hazard, level, *lanes, cell, count, silent)


def _hazards(
    rows: Rows,
    runs: _Runs,
    pair: tuple[int, int],
    example: tuple[int, int],
) -> Iterator[tuple[int, int, str]]:
    """What a pair of accesses is: (row of the earlier, row of the later, RAW, WAR or WAW)."""
    (run_a, run_b), (row_a, row_b) = pair, example
    kind_a, kind_b = rows.kind[row_a], rows.kind[row_b]
    if kind_a != _READ and kind_b != _READ:
        in_order = runs.earliest[run_a] <= runs.earliest[run_b]
        yield (row_a, row_b, "WAW") if in_order else (row_b, row_a, "WAW")
        return
    (write, row_w), (read, row_r) = (run_a, row_a), (run_b, row_b)
    if kind_a == _READ:
        (write, row_w), (read, row_r) = (read, row_r), (write, row_w)
    if runs.earliest[write] < runs.latest[read]:
        yield row_w, row_r, "RAW"
    if runs.earliest[read] < runs.latest[write]:
        yield row_r, row_w, "WAR"


def _all_write_one_value(rows: Rows, runs: _Runs, a: NDArray[np.intp], b: NDArray[np.intp]) -> bool:
    """Whether in each pair both sides write, and all write the same value to the cell."""
    both = (rows.kind[runs.first[a]] == _WRITE) & (rows.kind[runs.first[b]] == _WRITE)
    if not both.all():
        return False
    cells = np.isin(rows.cell, rows.cell[runs.first[a]]) & (rows.kind != _READ)
    values = rows.value[cells]
    _, number = np.unique(rows.cell[cells], return_inverse=True)
    expected = np.zeros(int(number.max()) + 1, np.uint64)
    expected[number] = values
    return bool((expected[number] == values).all())
