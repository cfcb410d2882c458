"""Pairs of racing accesses, where more than whole blocks and whole warps synchronise.

Where every lane may be ordered with others than its neighbours are, a run of accesses can no longer be
judged by its outermost lanes. So each cell's accesses are paired, and each pair is asked for a chain of
events (`grader.simulation.emulator.races.ordering`). Of the like accesses of a block between two events a few
stand for all, and of a lane's before another access the latest does; so the cost grows with the accesses to a
cell times the lanes there, for strong writes with the square of their number, and has a bound
(`state.Allowance`). Whole barriers, the usual case, go through `grader.simulation.emulator.races.conflicts`
instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.simulation.emulator.races.conflicts import Conflict, numbered, written_alike
from grader.simulation.emulator.races.events import lane_classes
from grader.simulation.emulator.races.locations import observed, strong_accesses
from grader.simulation.emulator.races.ordering import unordered
from grader.simulation.emulator.races.rows import COPY_ENGINE, Rows, conflicting, is_strong, number_of, writes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.state import Allowance
    from grader.simulation.emulator.races.events import Event, Scope

    Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

MOST_PAIRS = 1 << 21
"""Pairs that are judged at once, to bound memory."""

_PAIRS_A_STEP = 64
"""Pairs that are judged in the time of a step."""

_LEVELS = ("lane", "warp", "copy", "block")
_HAZARDS = ("RAW", "WAR", "WAW")
_WAW = 2


def find_unordered(
    rows: Rows, events: Sequence[Event], scope: Scope, allowance: Allowance, *, noted: bool
) -> list[Conflict]:
    """Every pair of sites with accesses that nothing orders, each at the widest level at which it races.

    ``noted``: the events have all strong accesses among them; otherwise these are taken from the rows.
    """
    if events and not noted:
        events = sorted((*events, *strong_accesses(rows, scope)), key=lambda event: event.when)
    few = rows.take(_representatives(rows, events, scope))
    conflicts: dict[tuple[int, int, str], Conflict] = {}
    cells: dict[tuple[int, int, str], list[NDArray[np.int64]]] = {}
    for earlier, later in compared_pairs(few, allowance):
        racing = unordered(few, earlier, later, events, scope, allowance)
        racing[racing] = ~_observed(rows, few, earlier[racing], later[racing], scope)
        for conflict, where in _described(few, earlier[racing], later[racing]):
            _keep_widest(conflicts, cells, conflict, where)
    return [
        conflict._replace(elements=number_of(np.concatenate(cells[key])))
        for key, conflict in conflicts.items()
    ]


def _observed(
    rows: Rows, few: Rows, earlier: NDArray[np.intp], later: NDArray[np.intp], scope: Scope
) -> NDArray[np.bool_]:
    """Like `observed`, where the pairs are of ``few`` rows, and all ``rows`` may be observations."""
    if not len(earlier):
        return np.zeros(0, np.bool_)
    both = Rows._make(np.concatenate(columns) for columns in zip(few, rows, strict=True))
    return observed(both, earlier, later, scope)


def _representatives(rows: Rows, events: Sequence[Event], scope: Scope) -> NDArray[np.intp]:
    """Rows that stand for all, in the order of cells and of time.

    Among like accesses to one cell of lanes that no event distinguishes, between two events, it is enough to
    look at the first and the last in time, the accesses of the lowest and the highest lane, and one that
    writes another value than the first: an order of these with a row, or with each other, orders all.
    """
    classes = lane_classes(rows.lane, events, scope.threads)
    span = np.searchsorted([event.when for event in events], rows.when)
    engine = (rows.lane >= COPY_ENGINE).astype(np.int64)
    same = [rows.cell, classes.of(rows.lane), engine, rows.site, rows.kind, span, rows.epoch, rows.warp_epoch]
    group = numbered([np.asarray(column, np.int64) for column in same])
    chosen = np.zeros(len(group), np.bool_)
    for keys in ((rows.lane, rows.when), (rows.when, rows.lane)):
        order = np.lexsort((*keys, group))
        starts = np.ones(len(order) + 1, np.bool_)
        starts[1:-1] = group[order][1:] != group[order][:-1]
        chosen[order[starts[:-1] | starts[1:]]] = True
    first = np.zeros(int(group.max()) + 1, np.uint64)
    first[group[order][starts[:-1]]] = rows.value[order[starts[:-1]]]
    other = np.flatnonzero(rows.value != first[group])
    chosen[other[np.unique(group[other], return_index=True)[1]]] = True
    kept = np.flatnonzero(chosen)
    order = np.lexsort((rows.lane[kept], rows.when[kept], rows.cell[kept]))
    return kept[order]


class _Alike(NamedTuple):
    """Rows in groups: a lane's like accesses to one cell, of which the latest before a moment stands for all.

    An event that orders an access before another one orders all that its lane did before it, too. But a
    strong write may be observed without the accesses that follow it, and a copy waited for: each of these is
    a group of its own. Groups lie in sections, two for each cell: the accesses that write, then the accesses
    that read.
    """

    rows: int
    firsts: NDArray[np.int64]
    """Of each group its section times ``rows``, plus its first row, in increasing order."""
    members: NDArray[np.int64]
    """Of each row its group times ``rows``, plus the row, in increasing order."""

    def before(self, section: NDArray[np.int64], row: NDArray[np.intp]) -> Pairs:
        """The first group of sections, and how many groups of each begin before some rows."""
        start = np.searchsorted(self.firsts, section * self.rows)
        return start, np.searchsorted(self.firsts, section * self.rows + row) - start

    def latest(self, group: NDArray[np.intp], row: NDArray[np.intp]) -> NDArray[np.intp]:
        """The latest row of groups before some rows, where there is one."""
        key = group * self.rows
        latest: NDArray[np.intp] = self.members[np.searchsorted(self.members, key + row) - 1] - key
        return latest


def _alike(rows: Rows, section: NDArray[np.int64]) -> _Alike:
    count = len(section)
    position = np.arange(count)
    alone = (is_strong(rows.kind) & writes(rows.kind)) | (rows.lane >= COPY_ENGINE)
    number = numbered([rows.cell, rows.lane, rows.site, rows.kind, np.where(alone, position + 1, 0)])
    first = np.unique(number, return_index=True)[1]
    key = section[first] * count + first
    order = np.argsort(key)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return _Alike(count, key[order], np.sort(rank[number] * count + position))


def compared_pairs(rows: Rows, allowance: Allowance) -> Iterator[Pairs]:
    """Pairs in order of time, of one cell, by different agents, that conflict; many at a time.

    Of an earlier lane's like accesses the latest is enough, see `_Alike`.
    """
    changes = rows.cell[1:] != rows.cell[:-1]
    section = 2 * np.concatenate(([0], np.cumsum(changes)))
    alike = _alike(rows, section + ~writes(rows.kind))
    everyone, writing = np.arange(len(section)), np.flatnonzero(writes(rows.kind))
    after_writes = alike.before(section, everyone)
    after_reads = alike.before(section[writing] + 1, writing)
    late = np.concatenate((everyone, writing))
    start, sizes = (np.concatenate(columns) for columns in zip(after_writes, after_reads, strict=True))
    order = np.argsort(late, kind="stable")
    late, start, sizes = late[order], start[order], sizes[order]
    total = np.cumsum(sizes)
    begin = 0
    while begin < len(late):
        before = int(total[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, before + MOST_PAIRS)))
        part = sizes[begin:end]
        allowance.spend(int(part.sum()) // _PAIRS_A_STEP)
        later = np.repeat(late[begin:end], part)
        group = np.arange(len(later)) + np.repeat(start[begin:end] - (total[begin:end] - part - before), part)
        yield _chosen(rows, alike.latest(group, later), later)
        begin = end


def _chosen(rows: Rows, earlier: NDArray[np.intp], later: NDArray[np.intp]) -> Pairs:
    """The pairs that conflict."""
    same_block = rows.block[earlier] == rows.block[later]
    chosen = rows.lane[earlier] != rows.lane[later]
    chosen &= conflicting(rows.kind[earlier], rows.kind[later], same_block=same_block)
    chosen &= ~_in_other_epochs(rows, earlier, later) & ~_issued_after(rows, earlier, later)
    return earlier[chosen], later[chosen]


def _in_other_epochs(rows: Rows, earlier: NDArray[np.intp], later: NDArray[np.intp]) -> NDArray[np.bool_]:
    """True if a whole barrier of their block, or `__syncwarp` of their warp, lies between two accesses."""

    def same(column: NDArray[np.int64]) -> NDArray[np.bool_]:
        equal: NDArray[np.bool_] = column[earlier] == column[later]
        return equal

    between = ~same(rows.epoch) | (same(rows.warp) & ~same(rows.warp_epoch))
    return same(rows.block) & between & (rows.lane[earlier] < COPY_ENGINE)


def _issued_after(rows: Rows, earlier: NDArray[np.intp], later: NDArray[np.intp]) -> NDArray[np.bool_]:
    """True if the later access is a copy that the lane of the earlier one began: it did so in its order."""
    issued: NDArray[np.bool_] = rows.lane[later] == rows.lane[earlier] + COPY_ENGINE
    return issued


def _described(
    rows: Rows, earlier: NDArray[np.intp], later: NDArray[np.intp]
) -> Iterator[tuple[Conflict, NDArray[np.int64]]]:
    """One conflict, with its cells, for each pair of sites, kind of hazard and level among racing pairs."""
    both = writes(rows.kind[earlier]) & writes(rows.kind[later])
    hazard = np.where(both, 2, np.where(writes(rows.kind[earlier]), 0, 1))
    apart = rows.block[earlier] != rows.block[later]
    engine = (rows.lane[earlier] >= COPY_ENGINE) | (rows.lane[later] >= COPY_ENGINE)
    warps = rows.warp[earlier] != rows.warp[later]
    level = np.where(apart, 3, np.where(engine, 2, np.where(warps, 1, 0)))
    sites = int(rows.site.max()) + 1
    number = ((rows.site[later] * sites + rows.site[earlier]) * 3 + hazard) * len(_LEVELS) + level
    alike: dict[bool, NDArray[np.bool_]] = {}
    for group in np.unique(number).tolist():
        members = np.flatnonzero(number == group)
        site, other_site = divmod(group // len(_LEVELS) // 3, sites)
        kind, how_far = group // len(_LEVELS) % 3, group % len(_LEVELS)
        cells = rows.cell[earlier[members]]
        example = members[int(np.argmin(cells))]
        first, second = earlier[example], later[example]
        through_barriers = _LEVELS[how_far] == "block"
        if kind == _WAW and through_barriers not in alike:
            alike[through_barriers] = written_alike(rows, through_barriers=through_barriers)
        silent = kind == _WAW and bool(alike[through_barriers][earlier[members]].all())
        conflict = Conflict(
            site,
            other_site,
            _HAZARDS[kind],
            _LEVELS[how_far],
            int(rows.lane[second] % COPY_ENGINE),
            int(rows.lane[first] % COPY_ENGINE),
            int(rows.cell[first]),
            number_of(cells),
            silent,
        )
        yield conflict, cells


def _keep_widest(
    conflicts: dict[tuple[int, int, str], Conflict],
    cells: dict[tuple[int, int, str], list[NDArray[np.int64]]],
    conflict: Conflict,
    where: NDArray[np.int64],
) -> None:
    key = (conflict.site, conflict.other_site, conflict.hazard)
    turned = (conflict.other_site, conflict.site, conflict.hazard)
    if conflict.hazard == "WAW" and turned in conflicts:  # in turns: one finding for both orders
        key = turned
    already = conflicts.get(key)
    cells.setdefault(key, []).append(where)
    if already is None or _LEVELS.index(conflict.level) > _LEVELS.index(already.level):
        conflicts[key] = conflict
