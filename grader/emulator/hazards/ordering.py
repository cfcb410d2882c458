"""What orders accesses besides the barrier of a whole block: happens-before with vector clocks.

Whole-block barriers and whole-warp `__syncwarp` are so common that rows carry them as epochs. Everything
else is an `Event`: barriers of some warps of a block, `__syncwarp` of some lanes, fences with flags or
atomics (PTX ISA sections 8.8 "morally strong", 8.9.1 "causality order"), asynchronous copies that landed.
Each lane has a clock: up to when it knows the accesses of each other lane (Lamport 1978, Mattern 1989).
The clocks are built only when accesses were found that race but for these events, and only for the lanes
that take part; so the exact answer costs nothing in the kernels that do not need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grader.emulator.hazards.rows import COPY_ENGINE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from grader.emulator.hazards.rows import Rows

MEET, POST, TAKE, FENCE, PUBLISH, UPDATE, OBSERVE, BARRIER, LANDED = range(9)

MOST_CELLS = 1 << 25
"""Entries of clocks that are held at once, 4 bytes each; beyond, the columns are done in turns."""


class Event(NamedTuple):
    """Lanes synchronise. ``lanes`` count over the whole launch, each once and in increasing order.

    - MEET: the lanes with one key (a part of a warp) wait for each other;
    - POST, TAKE: lanes leave what they know at a named barrier ``key``; lanes learn what was left there;
    - FENCE: what a lane did before may be published by its later writes;
    - PUBLISH, UPDATE, OBSERVE: a strong write, atomic update or strong read of location ``key``, which may
      be an acquire or a release by itself, without a fence;
    - BARRIER: the whole block of each lane waits; ``lanes`` are the first lanes of the blocks;
    - LANDED: the asynchronous copies that a lane began up to ``key`` are complete.

    ``wide``: it also orders accesses of different blocks.
    """

    when: int
    what: int
    lanes: NDArray[np.int64]
    key: NDArray[np.int64]
    acquires: bool = False
    releases: bool = False
    wide: bool = True


class Scope(NamedTuple):
    """How far the lanes in question may be apart: ``threads`` lanes are a block.

    ``domain`` is how many consecutive lanes can know of each other at all: those of a block for shared
    memory, all for accesses of different blocks.
    """

    threads: int
    domain: int


def unordered(
    rows: Rows, earlier: NDArray[np.intp], later: NDArray[np.intp], events: Sequence[Event], scope: Scope
) -> NDArray[np.bool_]:
    """For each pair of rows whether no chain of events leads from the earlier to the later one.

    ``earlier`` and ``later`` are indices into ``rows``; the result has their shape.
    """
    racing = np.ones(len(earlier), np.bool_)
    before = rows.lane[earlier]
    column_of = _columns(np.unique(before), scope)
    widest = max(column_of.values(), default=0) + 1
    lanes = _lanes_of_interest(rows.lane[np.concatenate((earlier, later))], events)
    at_once = max(1, MOST_CELLS // max(1, len(lanes)))
    columns = np.array([column_of[lane] for lane in before.tolist()], np.int64)
    for first in range(0, widest, at_once):
        chosen = np.flatnonzero((columns >= first) & (columns < first + at_once))
        known = {lane: place - first for lane, place in column_of.items() if 0 <= place - first < at_once}
        clocks = _Clocks(lanes, known, min(at_once, widest - first), scope)
        racing[chosen] = _sweep(clocks, rows, earlier[chosen], later[chosen], columns[chosen] - first, events)
    return racing


def _columns(lanes: NDArray[np.int64], scope: Scope) -> dict[int, int]:
    """A column for each lane (or copy engine): lanes of different domains share columns."""
    domain = lanes % COPY_ENGINE // scope.domain
    order = np.argsort(domain, kind="stable")
    counts = np.bincount(domain)
    place = np.arange(len(lanes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return dict(zip(lanes[order].tolist(), place.tolist(), strict=True))


def _lanes_of_interest(lanes: NDArray[np.int64], events: Sequence[Event]) -> NDArray[np.int64]:
    """The lanes whose accesses are in question, and those that pass on what they know."""
    taking_part = [event.lanes for event in events if event.what != BARRIER]
    return np.unique(np.concatenate([lanes % COPY_ENGINE, *taking_part]))


def _sweep(
    clocks: _Clocks,
    rows: Rows,
    earlier: NDArray[np.intp],
    later: NDArray[np.intp],
    column: NDArray[np.int64],
    events: Sequence[Event],
) -> NDArray[np.bool_]:
    """Go through time: each later access asks its lane's clock as it is then."""
    racing = np.ones(len(earlier), np.bool_)
    when = rows.when[later]
    order = np.argsort(when, kind="stable")
    bounds = np.searchsorted(when[order], [event.when for event in events])
    start = 0
    for event, end in zip([*events, None], [*bounds.tolist(), len(order)], strict=True):
        if end > start:
            part = order[start:end]
            known = clocks.of(rows.lane[later[part]], column[part])
            same_domain = clocks.together(rows.lane[earlier[part]], rows.lane[later[part]])
            racing[part] = ~((known >= rows.when[earlier[part]]) & same_domain)
            start = end
        if event is not None and start < len(order):
            clocks.apply(event)
    return racing


class _Clocks:
    """The clock of each lane of interest, a row each, and what is left at fences, locations, barriers."""

    def __init__(self, lanes: NDArray[np.int64], column_of: dict[int, int], width: int, scope: Scope) -> None:
        self.lanes, self.scope = lanes, scope
        self.clock = np.zeros((len(lanes), width), np.int32)
        self._own = np.array([column_of.get(lane, -1) for lane in lanes.tolist()])
        self._engine = np.array([column_of.get(lane + COPY_ENGINE, -1) for lane in lanes.tolist()])
        self._fence: NDArray[np.int32] | None = None
        self._pending: NDArray[np.int32] | None = None
        self._left: dict[tuple[int, int], NDArray[np.int32]] = {}
        self._apply: dict[int, Callable[[Event, NDArray[np.intp]], None]] = {
            MEET: self._meet,
            POST: self._post,
            TAKE: self._take,
            FENCE: self._pass_fence,
            PUBLISH: self._touch,
            UPDATE: self._touch,
            OBSERVE: self._touch,
            LANDED: self._landed,
        }

    def of(self, lanes: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int32]:
        """What each of ``lanes`` knows of the lane in each of ``columns``."""
        found: NDArray[np.int32] = self.clock[self._rows(lanes % COPY_ENGINE), columns]
        return found

    def together(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether pairs of lanes are in one domain."""
        same: NDArray[np.bool_] = one % COPY_ENGINE // self.scope.domain == (
            other % COPY_ENGINE // self.scope.domain
        )
        return same

    def apply(self, event: Event) -> None:
        """Let the event happen."""
        if event.what == BARRIER:
            self._whole_blocks(event)
            return
        rows = self._rows(event.lanes)
        self._tick(rows, event.when)
        self._apply[event.what](event, rows)

    def _rows(self, lanes: NDArray[np.int64]) -> NDArray[np.intp]:
        return np.searchsorted(self.lanes, lanes)

    def _tick(self, rows: NDArray[np.intp], when: int) -> None:
        """Each lane knows its own accesses up to now."""
        mine = rows[self._own[rows] >= 0]
        self.clock[mine, self._own[mine]] = when

    def _meet(self, event: Event, rows: NDArray[np.intp]) -> None:
        order = np.argsort(event.key, kind="stable")
        self.clock[rows[order]] = _highest_of_each(event.key[order], self.clock[rows[order]])

    def _post(self, event: Event, rows: NDArray[np.intp]) -> None:
        for row, key in zip(rows.tolist(), event.key.tolist(), strict=True):
            self._leave((POST, key), self.clock[row])

    def _take(self, event: Event, rows: NDArray[np.intp]) -> None:
        for row, key in zip(rows.tolist(), event.key.tolist(), strict=True):
            np.maximum(self.clock[row], self._left[POST, key], out=self.clock[row])
        for key in np.unique(event.key).tolist():
            del self._left[POST, key]

    def _leave(self, where: tuple[int, int], known: NDArray[np.int32]) -> None:
        before = self._left.get(where)
        self._left[where] = known.copy() if before is None else np.maximum(before, known)

    def _pass_fence(self, _event: Event, rows: NDArray[np.intp]) -> None:
        if self._pending is not None:
            self.clock[rows] = np.maximum(self.clock[rows], self._pending[rows])
        if self._fence is None:
            self._fence = np.zeros_like(self.clock)
        self._fence[rows] = self.clock[rows]

    def _touch(self, event: Event, rows: NDArray[np.intp]) -> None:
        """Strong accesses to locations, lane by lane: a later one sees what an earlier one left."""
        for lane, row, key in zip(event.lanes.tolist(), rows.tolist(), event.key.tolist(), strict=True):
            where = (PUBLISH, key if self.scope.domain > self.scope.threads else self._within(lane, key))
            left = self._left.get(where)
            if event.what != PUBLISH and left is not None:
                self._learn(row, left, at_once=event.acquires)
            if event.what == OBSERVE:
                continue
            if event.what == PUBLISH:  # a plain write ends what earlier ones released (section 8.8)
                self._left.pop(where, None)
            if event.releases:
                self._leave(where, self.clock[row])
            elif self._fence is not None:
                self._leave(where, self._fence[row])

    def _within(self, lane: int, key: int) -> int:
        """A location as seen by one block, which has columns of its own."""
        return key * (1 << 24) + lane // self.scope.threads

    def _learn(self, row: int, known: NDArray[np.int32], *, at_once: bool) -> None:
        if self._pending is None:
            self._pending = np.zeros_like(self.clock)
        np.maximum(self._pending[row], known, out=self._pending[row])
        if at_once:
            np.maximum(self.clock[row], known, out=self.clock[row])

    def _landed(self, event: Event, rows: NDArray[np.intp]) -> None:
        mine = self._engine[rows] >= 0
        self.clock[rows[mine], self._engine[rows[mine]]] = event.key[mine]

    def _whole_blocks(self, event: Event) -> None:
        """A barrier also ends what was observed before it and hands on what was fenced before it."""
        block = self.lanes // self.scope.threads
        rows = np.flatnonzero(np.isin(block, event.lanes // self.scope.threads))
        if not rows.size:
            return
        self._tick(rows, event.when)
        if self._pending is not None:
            self.clock[rows] = np.maximum(self.clock[rows], self._pending[rows])
        self.clock[rows] = _highest_of_each(block[rows], self.clock[rows])
        if self._fence is not None:
            self._fence[rows] = _highest_of_each(block[rows], self._fence[rows])


def _highest_of_each(key: NDArray[Any], table: NDArray[np.int32]) -> NDArray[np.int32]:
    """Each row replaced by the maximum over the neighbouring rows with its key."""
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    highest = np.maximum.reduceat(table, starts, axis=0)
    return np.repeat(highest, np.diff(np.append(starts, len(key))), axis=0)
