"""Happens-before with vector clocks: orders accesses by other means than the barrier of a whole block.

Whole-block barriers and whole-warp `__syncwarp` are so common that rows carry them as epochs. Everything else
is an `Event`: barriers of some warps of a block, `__syncwarp` of some lanes, fences with flags or atomics,
asynchronous copies that landed. Each class of lanes (`grader.simulation.emulator.races.events`) has a clock:
the time up to which it knows the accesses of each other class (Lamport 1978, Mattern 1989), and the number of
the strong writes to each location in question (`grader.simulation.emulator.races.locations`). Clocks are
built only where there are accesses that race but for these events, so the exact answer costs nothing where it
is not needed.

PTX ISA section 8.9.5 (causality order), rule by rule:

- program order: a lane knows its own accesses; pairs of one lane are never asked about;
- a barrier synchronises with the barriers it completes with: MEET, POST with TAKE or AWAIT, BARRIER;
- a release pattern synchronises with an acquire pattern that observes it: FENCE then PUBLISH or UPDATE, with
  OBSERVE or UPDATE then FENCE, if the scope of each end holds the other; what a lane has learnt, it hands on;
- a strong write precedes what comes after a strong read that observes it, without any fence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grader.simulation.emulator.machine.machine import FEW_LANES
from grader.simulation.emulator.races.events import (
    AT_LOCATION,
    AWAIT,
    BARRIER,
    COPIED,
    FENCE,
    LANDED,
    MEET,
    OBSERVE,
    POST,
    PUBLISH,
    TAKE,
    UPDATE,
    lane_classes,
)
from grader.simulation.emulator.races.locations import Locations
from grader.simulation.emulator.races.rows import COPY_ENGINE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.state import Allowance
    from grader.simulation.emulator.races.events import Event, LaneClasses, Scope
    from grader.simulation.emulator.races.rows import Rows

    VectorClock = NDArray[np.int32]

MOST_CELLS = 1 << 25
"""Entries of clocks that are held at once, 4 bytes each; beyond, the columns are done in turns."""

_SLICE = 1 << 20
"""Entries of clocks with which a chain of updates of one location is computed at once."""


def unordered(
    rows: Rows,
    earlier: NDArray[np.intp],
    later: NDArray[np.intp],
    events: Sequence[Event],
    scope: Scope,
    allowance: Allowance,
) -> NDArray[np.bool_]:
    """For each pair of rows whether no chain of events leads from the earlier to the later one.

    ``earlier`` and ``later`` are indices into ``rows``; the result has their shape.
    """
    racing = np.ones(len(earlier), np.bool_)
    if not len(earlier) or not events:
        return racing
    classes = lane_classes(rows.lane[np.concatenate((earlier, later))], events, scope.threads)
    columns = _columns(rows.lane[earlier], classes, scope)
    locations = Locations(rows, earlier, events, scope, columns.total)
    asked = classes.of(rows.lane[later])
    within = (
        rows.lane[earlier] % COPY_ENGINE // scope.domain == rows.lane[later] % COPY_ENGINE // scope.domain
    )
    width = columns.total + locations.count
    at_once = max(1, MOST_CELLS // len(classes.first))
    lanes = sum(min(len(event.lanes), len(classes.first)) for event in events)
    for first in range(0, width, at_once):
        shown = range(first, min(first + at_once, width))
        allowance.spend(len(events) + lanes * len(shown) // FEW_LANES)
        clocks = _Clocks(classes, columns, locations, shown, scope)
        for part in _moments(rows.when[later], events, clocks, allowance):
            ordered = clocks.have_passed(asked[part], columns.of_pair[part], rows.when[earlier[part]])
            ordered |= clocks.have_passed(asked[part], locations.column[part], locations.rank[part])
            racing[part] &= ~(ordered & within[part])
    return racing


class _Columns(NamedTuple):
    """Columns of the clocks: ``lane`` and ``engine`` of each class (-1: none), ``of_pair`` a pair's."""

    lane: NDArray[np.intp]
    engine: NDArray[np.intp]
    of_pair: NDArray[np.intp]
    total: int


def _columns(lanes: NDArray[np.int64], classes: LaneClasses, scope: Scope) -> _Columns:
    """A column for each class that ``lanes`` are of, and for its copy engines; domains share columns."""
    total = len(classes.first)
    agent = classes.of(lanes) + np.where(lanes >= COPY_ENGINE, total, 0)
    present = np.unique(agent)
    domain = classes.first[present % total] // scope.domain
    order = np.argsort(domain, kind="stable")
    counts = np.bincount(domain)
    number = np.arange(len(present)) - np.repeat(np.cumsum(counts) - counts, counts)
    column = np.full(2 * total, -1, np.intp)
    column[present[order]] = number
    return _Columns(column[:total], column[total:], column[agent], int(number.max()) + 1)


def _moments(
    when: NDArray[np.int64], events: Sequence[Event], clocks: _Clocks, allowance: Allowance
) -> Iterator[NDArray[np.intp]]:
    """Go through time: the pairs whose later access happens before the next event, which then happens."""
    order = np.argsort(when, kind="stable")
    bounds = np.searchsorted(when[order], [event.when for event in events])
    start = 0
    for event, end in zip(events, bounds.tolist(), strict=True):
        if end > start:
            yield order[start:end]
            start = end
        if start == len(order):
            return
        allowance.spend(0)
        clocks.apply(event)
    yield order[start:]


class _Clocks:
    """Some columns of the clocks of all classes, and the clocks left at fences, locations and barriers.

    A clock shows for its own class what a lane knows of the *others* in it: in a column of its own a class
    shows what all of its lanes did only where they all take part in handing it on.
    """

    def __init__(
        self, classes: LaneClasses, columns: _Columns, locations: Locations, shown: range, scope: Scope
    ) -> None:
        self._classes, self._scope, self._shown = classes, scope, shown
        self._clock = np.zeros((len(classes.first), len(shown)), np.int32)
        self._block = classes.first // scope.threads
        self._own, self._engine = (
            np.where((column >= shown.start) & (column < shown.stop), column - shown.start, -1)
            for column in (columns.lane, columns.engine)
        )
        self._sightings = locations.sightings()
        self._fences: dict[bool, VectorClock] = {}
        """Clock of each class at its latest fence: at any (False), at one for all blocks (True)."""
        self._pending: dict[bool, VectorClock] = {}
        """Observations of each class that a fence makes it know: any fence, or one for all blocks."""
        self._posted: dict[int, VectorClock] = {}
        self._released: dict[int, dict[int, VectorClock]] = {}
        """Clocks that are left at a location for the lanes of a block, and (`_FOR_ALL`) for all."""
        self._apply: dict[int, Callable[[Event, NDArray[np.intp], NDArray[np.int64]], None]] = {
            MEET: self._meet,
            POST: self._post,
            TAKE: self._take,
            FENCE: self._pass_fence,
            PUBLISH: self._publish,
            UPDATE: self._update,
            OBSERVE: self._observe,
            LANDED: self._landed,
            AWAIT: self._await,
            COPIED: self._leave_copies,
        }

    def have_passed(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp], needed: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """True if the clocks of classes show the needed time; False in columns that are not shown."""
        result = np.zeros(len(rows), np.bool_)
        positions = np.flatnonzero((columns >= self._shown.start) & (columns < self._shown.stop))
        result[positions] = (
            self._clock[rows[positions], columns[positions] - self._shown.start] >= needed[positions]
        )
        return result

    def apply(self, event: Event) -> None:
        """Let the event happen."""
        if event.kind == BARRIER:
            self._whole_blocks(event)
            return
        rows, keys = self._classes.of(event.lanes), np.broadcast_to(event.key, event.lanes.shape)
        if event.kind in AT_LOCATION:
            for column, positions, count in self._sightings.of(event):
                if column in self._shown:
                    cells = rows[positions], column - self._shown.start
                    self._clock[cells] = np.maximum(self._clock[cells], count)
        rows, first = np.unique(rows, return_index=True)
        self._apply[event.kind](event, rows, keys[first])

    def _handed_on(self, rows: NDArray[np.intp], when: int) -> VectorClock:
        """Clocks that classes hand on: all that they know, and what all of their lanes did."""
        clock = self._clock[rows]
        with_column = np.flatnonzero(self._own[rows] >= 0)
        clock[with_column, self._own[rows[with_column]]] = when
        return clock

    def _meet(self, event: Event, rows: NDArray[np.intp], keys: NDArray[np.int64]) -> None:
        order = np.argsort(keys, kind="stable")
        rows = rows[order]
        self._clock[rows] = _highest_of_each(keys[order], self._handed_on(rows, event.when))

    def _post(self, event: Event, rows: NDArray[np.intp], keys: NDArray[np.int64]) -> None:
        clocks = self._handed_on(rows, event.when)
        for key in np.unique(keys).tolist():
            highest = clocks[keys == key].max(axis=0)
            self._posted[key] = np.maximum(highest, self._posted.get(key, 0))

    def _take(self, _event: Event, rows: NDArray[np.intp], keys: NDArray[np.int64]) -> None:
        for key in np.unique(keys).tolist():
            takers = rows[keys == key]
            self._clock[takers] = np.maximum(self._clock[takers], self._posted.pop(key))

    def _leave_copies(self, event: Event, rows: NDArray[np.intp], keys: NDArray[np.int64]) -> None:
        engine = self._engine[rows]
        for key in np.unique(keys).tolist():
            clock = np.zeros(self._clock.shape[1], np.int32)
            clock[engine[(keys == key) & (engine >= 0)]] = event.when
            self._posted[key] = np.maximum(clock, self._posted.get(key, 0))

    def _await(self, _event: Event, rows: NDArray[np.intp], keys: NDArray[np.int64]) -> None:
        for key in np.unique(keys).tolist():
            waiters = rows[keys == key]
            self._clock[waiters] = np.maximum(self._clock[waiters], self._posted.get(key, 0))

    def _pass_fence(self, event: Event, rows: NDArray[np.intp], _keys: NDArray[np.int64]) -> None:
        for for_all, pending in self._pending.items():
            if event.wide or not for_all:
                self._clock[rows] = np.maximum(self._clock[rows], pending[rows])
        clocks = self._handed_on(rows, event.when)
        for for_all in (False, True) if event.wide else (False,):
            self._fences.setdefault(for_all, np.zeros_like(self._clock))[rows] = clocks

    def _landed(self, _event: Event, rows: NDArray[np.intp], keys: NDArray[np.int64]) -> None:
        with_engine = np.flatnonzero(self._engine[rows] >= 0)
        self._clock[rows[with_engine], self._engine[rows[with_engine]]] = keys[with_engine]

    def _whole_blocks(self, event: Event) -> None:
        """A barrier also ends earlier observations and hands on the accesses that were fenced before it."""
        rows = np.flatnonzero(np.isin(self._block, event.lanes // self._scope.threads))
        if not rows.size:
            return
        clocks = self._handed_on(rows, event.when)
        for pending in self._pending.values():
            np.maximum(clocks, pending[rows], out=clocks)
        self._clock[rows] = _highest_of_each(self._block[rows], clocks)
        for fence in self._fences.values():
            fence[rows] = _highest_of_each(self._block[rows], fence[rows])

    def _observe(self, event: Event, rows: NDArray[np.intp], keys: NDArray[np.int64]) -> None:
        for key in np.unique(keys).tolist():
            readers = rows[keys == key]
            for for_all, block, released in self._released_for(event, key, readers):
                self._learn(
                    readers[self._block[readers] == block] if not for_all else readers,
                    released,
                    event,
                    for_all,
                )

    def _publish(self, event: Event, rows: NDArray[np.intp], keys: NDArray[np.int64]) -> None:
        """A strong store ends what earlier stores released (section 8.9.2: it is no update of theirs)."""
        for key in np.unique(keys).tolist():
            writers = rows[keys == key]
            self._released[key] = {}
            self._release(event, key, writers[0] if self._scope.backwards else writers[-1])

    def _update(self, event: Event, rows: NDArray[np.intp], keys: NDArray[np.int64]) -> None:
        for key in np.unique(keys).tolist():
            chain = rows[keys == key]
            chain = chain[::-1] if self._scope.backwards else chain
            if event.acquires or event.releases:
                for row in chain.tolist():
                    lane_row = np.array([row])
                    for for_all, _, released in self._released_for(event, key, lane_row):
                        self._learn(lane_row, released, event, for_all)
                    self._release(event, key, row)
                continue
            at_once = max(1, _SLICE // len(self._shown))
            for start in range(0, len(chain), at_once):
                self._pass_along(event, key, chain[start : start + at_once])

    def _pass_along(self, event: Event, key: int, chain: NDArray[np.intp]) -> None:
        """Relaxed updates: each observes all before it, and adds what its lane knew at its latest fence."""
        parts = [
            (False, block, chain[self._block[chain] == block]) for block in np.unique(self._block[chain])
        ]
        if event.wide and self._scope.across_blocks:
            parts.append((True, _FOR_ALL, chain))
        for for_all, block, rows in parts:
            before = self._released.get(key, {}).get(int(block))
            fence = self._fences.get(for_all)
            if before is None and fence is None:
                continue
            links = np.zeros((len(rows) + 1, len(self._shown)), np.int32)
            if before is not None:
                links[0] = before
            if fence is not None:
                links[1:] = fence[rows]
            np.maximum.accumulate(links, axis=0, out=links)
            self._learn(rows, links[:-1], event, for_all)
            self._released.setdefault(key, {})[int(block)] = links[-1]

    def _released_for(
        self, event: Event, key: int, rows: NDArray[np.intp]
    ) -> Iterator[tuple[bool, int, VectorClock]]:
        """Clocks left at a location for some lanes: for all blocks or not, the block, and the clock."""
        released = self._released.get(key)
        if not released:
            return
        for block in np.unique(self._block[rows]).tolist():
            if block in released:
                yield False, block, released[block]
        if event.wide and _FOR_ALL in released:
            yield True, _FOR_ALL, released[_FOR_ALL]

    def _learn(self, rows: NDArray[np.intp], released: VectorClock, event: Event, for_all: bool) -> None:  # noqa: FBT001
        """Lanes have observed the clock that was left: they know it at their next fence, or at once."""
        if event.acquires:
            self._clock[rows] = np.maximum(self._clock[rows], released)
            return
        pending = self._pending.setdefault(for_all, np.zeros_like(self._clock))
        pending[rows] = np.maximum(pending[rows], released)

    def _release(self, event: Event, key: int, row: int | np.intp) -> None:
        """A lane leaves at a location its knowledge, now or at its latest fence."""
        released = self._released.setdefault(key, {})
        for_all = event.wide and self._scope.across_blocks
        for wide, reader in ((False, int(self._block[row])), *(((True, _FOR_ALL),) if for_all else ())):
            if event.releases:
                clock = self._handed_on(np.array([row]), event.when)[0]
            elif wide in self._fences:
                clock = self._fences[wide][row]
            else:
                continue
            released[reader] = np.maximum(clock, released.get(reader, 0))


_FOR_ALL = -1
"""Stands for all blocks where otherwise a block does."""


def _highest_of_each(key: NDArray[Any], table: VectorClock) -> VectorClock:
    """Each row replaced by the maximum over the neighbouring rows with its key."""
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    highest: VectorClock = np.maximum.reduceat(table, starts, axis=0)
    return np.repeat(highest, np.diff(np.append(starts, len(key))), axis=0)
