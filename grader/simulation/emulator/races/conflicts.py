"""The exact part of race detection: finds the conflicting pairs among accesses that may conflict.

An access is a row. Rows under one key (a cell of memory within an interval that orders accesses to it)
conflict if their agents (blocks, warps or lanes) differ, at least one writes, and they are not both strong.
Sorting brings rows of one key together; a run of rows with one key, site and kind needs no more than its
lowest and highest agent to decide if some pair of agents differs. So the cost is that of a sort.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.base.records import mutable
from grader.simulation.emulator.machine.geometry import WARP
from grader.simulation.emulator.machine.values import FOLDED, unfold
from grader.simulation.emulator.races.rows import (
    COPY_ENGINE,
    MAY_BE_FLAG,
    NARROW,
    STRONG,
    WRITES,
    Rows,
    conflicting,
    is_strong,
    number_of,
    touched_by_several,
    writes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.geometry import Geometry
    from grader.simulation.emulator.machine.state import Allowance
    from grader.simulation.emulator.machine.values import Shape, Value
    from grader.simulation.emulator.races.rows import LoggedAccess


class Conflict(NamedTuple):
    """A pair of sites that race, on ``elements`` cells; lanes, cell and block are the first example's.

    ``level`` is ``block``, ``warp`` or ``lane``: the level at which the two threads differ; ``copy`` where
    one side is an asynchronous copy. ``silent``: both write the same value.
    """

    site: int
    other_site: int
    hazard: str
    level: str
    lane: int
    other_lane: int
    cell: int
    elements: int
    silent: bool


MOST_PAIRS = 256
"""Pairs of sites that a launch is told of; a kernel with more has them reported nonetheless."""

NEAREST_RUNS = 64
"""Runs under one key that each is compared with in any case; with further ones only while nothing races."""

NEXT_RUNS = 2
"""The same once no more pairs of sites are described: hundreds of lines that race would take minutes."""


@mutable
class DescribedPairs:
    """Pairs of sites that race in a launch, as far as they are described."""

    pairs: set[tuple[int, int]] = field(default_factory=set)

    def takes(self, site: int, other_site: int) -> bool:
        """True if a pair is described: it was before, or there is room for another."""
        pair = (min(site, other_site), max(site, other_site))
        if len(self.pairs) < MOST_PAIRS:
            self.pairs.add(pair)
        return pair in self.pairs

    def nearest_runs(self) -> int:
        """Runs under one key that each is compared with in any case."""
        return NEXT_RUNS if len(self.pairs) >= MOST_PAIRS else NEAREST_RUNS


def find_conflicts(rows: Rows, described: DescribedPairs, allowance: Allowance) -> list[Conflict]:
    """Pairs of sites with accesses that race, each at the widest level at which it does.

    ``described`` are pairs of the same launch, which it adds to: of very many lines that all race with each
    other only some pairs are given. Raises TooMuchHeldError where looking for a first pair takes more than
    the ``allowance``.
    """
    if not len(rows.cell):
        return []
    nothing = np.zeros_like(rows.cell)
    levels = (
        ("block", (rows.cell, nothing, nothing, nothing), rows.block),
        ("warp", (rows.cell, rows.block, rows.epoch, nothing), rows.warp),
        ("lane", (rows.cell, rows.warp, rows.epoch, rows.warp_epoch), rows.lane),
    )
    conflicts: dict[tuple[int, int, str], Conflict] = {}
    cells: dict[tuple[int, int, str], list[NDArray[np.int64]]] = {}
    for level, key, agent in levels:
        for conflict, racing in _conflicts_between(rows, level, key, agent, (described, allowance)):
            sites = (conflict.site, conflict.other_site, conflict.hazard)
            conflicts.setdefault(sites, conflict)
            cells.setdefault(sites, []).append(racing)
    return [
        conflict._replace(elements=number_of(np.concatenate(cells[sites])))
        for sites, conflict in conflicts.items()
    ]


class _RowRuns(NamedTuple):
    """Rows sorted by (key, site, kind, agent) and cut into runs of equal (key, site, kind)."""

    first: NDArray[np.intp]
    """Row with the lowest agent of each run."""
    last: NDArray[np.intp]
    """Row with the highest."""
    key: NDArray[np.intp]
    """Number of the key of each run."""
    earliest: NDArray[np.int64]
    latest: NDArray[np.int64]


def _runs(rows: Rows, key: tuple[NDArray[np.int64], ...], agent: NDArray[np.int64]) -> _RowRuns:
    order = _sorted_by((*key, rows.site, rows.kind, agent))
    columns = [column[order] for column in (*key, rows.site, rows.kind)]

    starts = np.flatnonzero(_starts(columns))
    ends = np.append(starts[1:], len(order)) - 1
    key_number = np.cumsum(_starts(columns[: len(key)]), dtype=np.intp)
    when = rows.when[order]
    return _RowRuns(
        order[starts],
        order[ends],
        key_number[starts],
        np.minimum.reduceat(when, starts),
        np.maximum.reduceat(when, starts),
    )


def _of_several_agents(runs: _RowRuns, agent: NDArray[np.int64]) -> _RowRuns:
    """The runs under keys that more than one agent has: only these may race."""
    starts = np.flatnonzero(_starts([runs.key]))
    lowest = np.minimum.reduceat(agent[runs.first], starts)
    highest = np.maximum.reduceat(agent[runs.last], starts)
    several = np.repeat(lowest != highest, np.diff(np.append(starts, len(runs.key))))
    return _RowRuns(*(column[several] for column in runs))


def _starts(columns: list[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """Mask of the first row of each group of equal rows, among rows that are sorted by these columns."""
    new = np.zeros(len(columns[0]), np.bool_)
    new[0] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


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
    return np.argsort(packed, kind="stable")


def _conflicts_between(
    rows: Rows,
    level: str,
    key: tuple[NDArray[np.int64], ...],
    agent: NDArray[np.int64],
    limits: tuple[DescribedPairs, Allowance],
) -> Iterator[tuple[Conflict, NDArray[np.int64]]]:
    """Conflicts of runs under one key with different agents, each with its cells."""
    described, allowance = limits
    runs = _of_several_agents(_runs(rows, key, agent), agent)
    total = len(runs.first)
    alike: NDArray[np.bool_] | None = None
    for apart in range(total):
        if apart > described.nearest_runs():
            if described.pairs:
                return
            allowance.spend(total // 1000 + 1)
        a = np.arange(total - apart)
        b = a + apart
        same = runs.key[a] == runs.key[b]
        if not same.any():
            return
        a, b = a[same], b[same]
        kind_a, kind_b = rows.kind[runs.first[a]], rows.kind[runs.first[b]]
        racy = conflicting(kind_a, kind_b, same_block=np.asarray(level != "block"))
        ends = [agent[part[index]] for part in (runs.first, runs.last) for index in (a, b)]
        differ = (ends[0] != ends[1]) | (ends[0] != ends[2]) | (ends[0] != ends[3])
        racing = racy & differ
        if racing.any():
            if alike is None:
                alike = written_alike(rows, through_barriers=level == "block")
            for pair in _pairs_of_sites(rows, runs, (a[racing], b[racing]), described):
                yield from _describe(rows, level, runs, agent, pair, alike)


def _pairs_of_sites(
    rows: Rows, runs: _RowRuns, pairs: tuple[NDArray[np.intp], NDArray[np.intp]], described: DescribedPairs
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Racing runs by their pair of sites, for each pair that is described."""
    a, b = pairs
    site_a, site_b = rows.site[runs.first[a]], rows.site[runs.first[b]]
    order = _sorted_by((site_a, site_b))
    starts = np.flatnonzero(_starts([site_a[order], site_b[order]]))
    ends = [*starts[1:].tolist(), len(order)]
    for start, end in zip(starts.tolist(), ends, strict=True):
        if described.takes(int(site_a[order[start]]), int(site_b[order[start]])):
            yield a[order[start:end]], b[order[start:end]]


def _describe(
    rows: Rows,
    level: str,
    runs: _RowRuns,
    agent: NDArray[np.int64],
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
    alike: NDArray[np.bool_],
) -> Iterator[tuple[Conflict, NDArray[np.int64]]]:
    """One conflict for each kind of hazard among racing runs of two sites, with its cells."""
    silent = bool(alike[runs.first[pairs[0]]].all())
    for earlier, later, hazard in _hazards(rows, runs, *pairs):
        cells = rows.cell[runs.first[earlier]]
        example = int(np.argmin(cells))
        second, first = _two_agents(runs, agent, int(later[example]), int(earlier[example]))
        sites, lanes = ((int(column[second]), int(column[first])) for column in (rows.site, rows.lane))
        conflict = Conflict(*sites, hazard, level, *lanes, int(cells[example]), len(cells), silent)
        yield conflict, cells


def _two_agents(runs: _RowRuns, agent: NDArray[np.int64], one: int, other: int) -> tuple[int, int]:
    """A row of each of two runs, by different agents."""
    row, other_row = int(runs.first[one]), int(runs.last[other])
    if agent[row] == agent[other_row]:
        return int(runs.last[one]), int(runs.first[other])
    return row, other_row


def _hazards(
    rows: Rows,
    runs: _RowRuns,
    a: NDArray[np.intp],
    b: NDArray[np.intp],
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], str]]:
    """Hazards of pairs of runs of two sites: (earlier runs, later runs, RAW, WAR or WAW), none empty."""
    kind_a, kind_b = rows.kind[runs.first[a[0]]], rows.kind[runs.first[b[0]]]
    if writes(kind_a & kind_b):
        lowest = int(np.argmin(rows.cell[runs.first[a]]))
        in_order = runs.earliest[a[lowest]] <= runs.earliest[b[lowest]]
        yield (a, b, "WAW") if in_order else (b, a, "WAW")
        return
    write, read = (a, b) if writes(kind_a) else (b, a)
    for earlier, later, hazard in ((write, read, "RAW"), (read, write, "WAR")):
        so = runs.earliest[earlier] < runs.latest[later]
        if so.any():
            yield earlier[so], later[so], hazard


def written_alike(rows: Rows, *, through_barriers: bool) -> NDArray[np.bool_]:
    """For each row true if its cell is only written, with one value.

    Between blocks all rows of a cell count; within one (not ``through_barriers``) the rows from one barrier
    to the next: later rows have an order.
    """
    columns = (rows.cell,) if through_barriers else (rows.cell, rows.block, rows.epoch)
    group = numbered(list(columns))
    expected = np.zeros(len(rows.cell), np.uint64)
    expected[group] = rows.value
    differs = is_strong(rows.kind) | ~writes(rows.kind) | (expected[group] != rows.value)
    alike = np.ones(len(rows.cell), np.bool_)
    alike[group[differs]] = False
    return alike[group]


def numbered(columns: list[NDArray[np.int64]]) -> NDArray[np.intp]:
    """For each row the number of its group: the rows that are equal in all columns."""
    order = _sorted_by(tuple(columns))
    number = np.empty(len(order), np.intp)
    number[order] = np.cumsum(_starts([column[order] for column in columns])) - 1
    return number


MOST_PLACES = 1 << 24
"""Cells between the lowest and the highest that tables are made for; beyond, only for accessed cells."""

MOST_JUDGED = 1 << 21
"""Maximum number of accesses compared: of more suspicious ones, those to the lowest cells suffice."""


class Chunk(NamedTuple):
    """The accesses of a chunk of blocks to global memory."""

    geometry: Geometry
    accesses: list[LoggedAccess]


class _Spread(NamedTuple):
    """An access with the data to compute the cell and the thread of each of its lanes."""

    geometry: Geometry
    access: LoggedAccess
    grain: int

    def cell(self) -> NDArray[np.int64]:
        """The cell of each lane; computed each time, for all of them together may take much memory."""
        return _flat(self.access.byte, self.geometry.shape) // self.grain

    def lanes(self) -> NDArray[np.int64]:
        """Threads by their number in the launch; copy engines far beyond."""
        access, shape = self.access, self.geometry
        lanes = np.arange(shape.size) if access.lanes is None else access.lanes
        return lanes + (shape.first_block * shape.threads + (COPY_ENGINE if access.engine else 0))


def suspicious_rows(chunks: list[Chunk], grain: int) -> Rows:
    """The rows of cells that are written, that more than one thread touches, and not only strongly.

    The tables take some twenty bytes for each cell.
    """
    spread = [_Spread(chunk.geometry, access, grain) for chunk in chunks for access in chunk.accesses]
    table = _table(spread)
    marked = _suspects(spread, table)
    if marked.any():
        marked = _as_many_as_can_be_judged(spread, table, marked)
    parts = [
        _spelt_out(portion, chosen)
        for portion in spread
        if (chosen := np.flatnonzero(marked[table.positions(portion.cell())])).size
    ]
    if not parts:
        return Rows._make(np.zeros(0, np.int64) for _ in Rows._fields)
    return Rows._make(np.concatenate(column) for column in zip(*parts, strict=True))


def _flat(value: Value, shape: Shape) -> NDArray[np.int64]:
    return unfold(value, shape) if value.ndim == FOLDED else value


class _Table(NamedTuple):
    """Positions of cells in tables: counted from the lowest, or, if they lie far apart, among ``cells``."""

    lowest: int
    total: int
    cells: NDArray[np.int64] | None = None

    def positions(self, cell: NDArray[np.int64]) -> NDArray[np.intp]:
        """The position of each cell."""
        return cell - self.lowest if self.cells is None else np.searchsorted(self.cells, cell)


def _table(spread: list[_Spread]) -> _Table:
    lowest = min(int(portion.access.byte.min()) // portion.grain for portion in spread)
    count = max(int(portion.access.byte.max()) // portion.grain for portion in spread) - lowest + 1
    if count <= MOST_PLACES:
        return _Table(lowest, count)
    cells = np.unique(np.concatenate([np.unique(portion.cell()) for portion in spread]))
    return _Table(lowest, len(cells), cells)


def _as_many_as_can_be_judged(
    spread: list[_Spread], table: _Table, marked: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """The lowest of the marked cells, such that at most `MOST_JUDGED` accesses are to be compared."""
    accesses = np.zeros(table.total, np.int64)
    for portion in spread:
        np.add.at(accesses, table.positions(portion.cell()), 1)
    where = np.flatnonzero(marked)
    enough = int(np.searchsorted(np.cumsum(accesses[where]), MOST_JUDGED)) + 1
    if enough >= len(where):
        return marked
    fewer = np.zeros_like(marked)
    fewer[where[:enough]] = True
    return fewer


def _suspects(spread: list[_Spread], table: _Table) -> NDArray[np.bool_]:
    """The cells, by their positions in the table, in which accesses may race."""
    written, plain = np.zeros(table.total, np.bool_), np.zeros(table.total, np.bool_)
    for portion in spread:
        cell = table.positions(portion.cell())
        if portion.access.kind & WRITES:
            written[cell] = True
        if portion.access.kind & (STRONG | NARROW | MAY_BE_FLAG) != STRONG:
            plain[cell] = True
    written &= plain
    if not written.any():
        return written
    return written & touched_by_several(
        lambda: ((table.positions(portion.cell()), portion.lanes()) for portion in spread), table.total
    )


def _spelt_out(portion: _Spread, chosen: NDArray[np.intp]) -> Rows:
    """The rows of some of an access's lanes."""
    access, shape = portion.access, portion.geometry
    lane = portion.lanes()[chosen]
    thread = lane % COPY_ENGINE
    block = thread // shape.threads
    cell = portion.cell()
    columns = {
        "cell": cell,
        "site": access.site,
        "kind": access.kind,
        "when": access.when,
        "epoch": access.epoch,
        "warp_epoch": access.warp_epoch,
    }
    spelt = {
        name: np.broadcast_to(np.asarray(value, np.int64), len(cell))[chosen]
        for name, value in columns.items()
    }
    bits = np.uint64(0) if access.value is None else access.value.view(f"u{access.value.dtype.itemsize}")
    return Rows(
        lane=lane,
        block=block,
        warp=block * shape.warps_per_block + thread % shape.threads // WARP,
        value=np.broadcast_to(bits, len(cell))[chosen].astype(np.uint64),
        **spelt,
    )
