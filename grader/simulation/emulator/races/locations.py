"""Strong writes that a thread has observed: itself, before a barrier, or by way of other threads.

PTX ISA section 8.9.5: a strong write X precedes every operation after a strong read Z that observes it, that
is, reads the value that X wrote or that atomic updates made of it (section 8.9.2). No fence is needed for it.
So the block that takes the last ticket may reset the counter with a plain store. A strong store that is no
update ends the chain: a read that observes it says nothing of earlier values.

Observations of a lane itself, or of its block before a barrier, are settled without clocks (`observed`).
Observations that a lane learns of by fences and flags need them: each location in question has a column for
each *generation*, that is, from one strong store that is no update to the next, in which clocks show how many
of the generation's writes a class has observed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.emulator.races.conflicts import numbered
from grader.simulation.emulator.races.events import AT_LOCATION, OBSERVE, PUBLISH, UPDATE, Event
from grader.simulation.emulator.races.rows import COPY_ENGINE, UPDATES, is_strong, writes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from grader.simulation.emulator.races.events import Scope
    from grader.simulation.emulator.races.rows import Rows

MOST_LOCATIONS = 256
"""Maximum number of locations that are examined, the lowest ones: each costs time for every event."""

_LANE_BITS = 24
"""Bits that distinguish the lanes of one instruction in a stamp."""

_FOR_EVER = np.iinfo(np.int64).max


def touched(event: Event, scope: Scope) -> Iterator[NDArray[np.int64]]:
    """The cells that each lane of an event accesses, as columns; none in another state space."""
    if event.kind in AT_LOCATION and event.space == scope.space:
        for offset in range(0, max(event.size, scope.grain), scope.grain):
            yield (event.byte + offset) // scope.grain


class Locations:
    """The locations whose strong writes are the earlier accesses of some pairs.

    ``column`` is the column for each pair, from ``first_column`` on, or -1; ``rank`` the number of the
    column's writes that a lane must have observed to be ordered after the earlier access of the pair.
    """

    def __init__(
        self,
        rows: Rows,
        earlier: NDArray[np.intp],
        events: Sequence[Event],
        scope: Scope,
        first_column: int,
    ) -> None:
        self.scope, self.first_column = scope, first_column
        self.column = np.full(len(earlier), -1, np.intp)
        self.rank = np.zeros(len(earlier), np.int64)
        kind = rows.kind[earlier]
        asked = np.flatnonzero(is_strong(kind) & writes(kind))
        first = earlier[asked]
        self.cells = np.unique(rows.cell[first])[:MOST_LOCATIONS]
        self._stores = self._strong_stores(events)
        """The stamps of the strong stores to each cell."""
        self._writes: dict[tuple[int, int], NDArray[np.int64]] = {}
        """The stamps of the writes in question, by cell and generation."""
        self._columns: dict[tuple[int, int], int] = {}
        stamp = stamps(rows.when[first], rows.lane[first], scope)
        for number, cell in enumerate(self.cells.tolist()):
            members = np.flatnonzero(rows.cell[first] == cell)
            generation = np.searchsorted(self._stores[number], stamp[members], side="right")
            for which in np.unique(generation).tolist():
                part = members[generation == which]
                column = len(self._columns)
                self._columns[number, which] = column
                self._writes[number, which] = np.unique(stamp[part])
                self.column[asked[part]] = first_column + column
                self.rank[asked[part]] = 1 + np.searchsorted(self._writes[number, which], stamp[part])

    @property
    def count(self) -> int:
        """Number of columns."""
        return len(self._columns)

    def _strong_stores(self, events: Sequence[Event]) -> list[NDArray[np.int64]]:
        stamps_of: list[list[NDArray[np.int64]]] = [[] for _ in self.cells]
        for event in events:
            if event.kind == PUBLISH and len(self.cells):
                stamp = stamps(event.when - 1, event.lanes, self.scope)
                for cells in touched(event, self.scope):
                    for number, members in self._among(cells):
                        stamps_of[number].append(stamp[members])
        return [np.sort(np.concatenate([np.zeros(0, np.int64), *several])) for several in stamps_of]

    def _among(self, cells: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Locations in question among ``cells``: the number of each location, and its positions."""
        for number in np.flatnonzero(np.isin(self.cells, cells)).tolist():
            yield number, np.flatnonzero(cells == self.cells[number])

    def sightings(self) -> Sightings:
        """Observations of lanes, from the beginning of time."""
        return Sightings(self)

    def write_counts(self, number: int, generation: int, until: NDArray[np.int64]) -> NDArray[np.intp]:
        """Number of writes of a generation that happened up to each of some stamps."""
        return np.searchsorted(self._writes[number, generation], until, side="right")

    def column_of(self, number: int, generation: int) -> int:
        """The column of a generation of a location; -1 if it is not in question."""
        column = self._columns.get((number, generation), -1)
        return column if column < 0 else column + self.first_column


class Sightings:
    """The latest write to each location, as time goes by."""

    def __init__(self, locations: Locations) -> None:
        self._locations = locations
        self._generation = [0] * len(locations.cells)
        self._latest = [np.int64(-1)] * len(locations.cells)

    def of(self, event: Event) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.intp]]]:
        """The column, the positions in ``event.lanes``, and how many writes each of these lanes observes."""
        if not self._generation:
            return
        locations = self._locations
        for cells in touched(event, locations.scope):
            for number, members in locations._among(cells):  # noqa: SLF001 - two halves of one thing
                stamp = stamps(event.when - 1, event.lanes[members], locations.scope)
                order = np.argsort(stamp)
                positions, stamp = members[order], stamp[order]
                column = locations.column_of(number, self._generation[number])
                if event.kind != PUBLISH and column >= 0:
                    before = np.concatenate(([self._latest[number]], stamp[:-1]))
                    if event.kind == OBSERVE:
                        before[:] = self._latest[number]
                    yield column, positions, locations.write_counts(number, self._generation[number], before)
                if event.kind == PUBLISH:
                    self._generation[number] += len(members)
                if event.kind != OBSERVE:
                    self._latest[number] = stamp[-1]


def strong_accesses(rows: Rows, scope: Scope) -> list[Event]:
    """The events that rows describe, for modules whose strong accesses are not noted as they happen.

    There is one for each instruction, and several where a lane accesses several cells at once.
    """
    strong = rows.take(is_strong(rows.kind))
    order = np.lexsort((strong.cell, strong.lane, strong.when))
    strong = strong.take(order)
    count = len(order)
    new = np.ones(count, np.bool_)
    new[1:] = (strong.lane[1:] != strong.lane[:-1]) | (strong.when[1:] != strong.when[:-1])
    starts = np.flatnonzero(new)
    part = np.arange(count) - np.repeat(starts, np.diff(np.append(starts, count)))
    events = []
    for when, number in np.unique(np.stack((strong.when, part)), axis=1).T.tolist():
        members = np.flatnonzero((strong.when == when) & (part == number))
        kind = strong.kind[members[:1]]
        event_kind = UPDATE if (kind & UPDATES).any() else PUBLISH if writes(kind).any() else OBSERVE
        byte = strong.cell[members] * scope.grain
        lanes = strong.lane[members]
        events.append(
            Event(when + 1, event_kind, lanes, byte, space=scope.space, byte=byte, size=scope.grain)
        )
    return events


def stamps(when: NDArray[np.int64] | int, lane: NDArray[np.int64], scope: Scope) -> NDArray[np.int64]:
    """The order in which accesses to one location happened: by instruction, in one of them lane by lane."""
    turn = lane % COPY_ENGINE
    if scope.backwards:
        turn = (1 << _LANE_BITS) - 1 - turn
    stamp: NDArray[np.int64] = np.asarray(when, np.int64) << np.int64(_LANE_BITS) | turn
    return stamp


def observed(
    rows: Rows, earlier: NDArray[np.intp], later: NDArray[np.intp], scope: Scope
) -> NDArray[np.bool_]:
    """For each pair of rows of one cell whether the later one comes after an observation of the earlier one.

    The observation is by the later one's own lane, or before a barrier of its whole block or warp.
    """
    result = np.zeros(len(earlier), np.bool_)
    asked = np.flatnonzero(is_strong(rows.kind[earlier]) & writes(rows.kind[earlier]))
    if not asked.size:
        return result
    stamp = stamps(rows.when, rows.lane, scope)
    observing = np.flatnonzero(is_strong(rows.kind) & (~writes(rows.kind) | (rows.kind & UPDATES != 0)))
    first, second = earlier[asked], later[asked]
    end = _next_store(rows, stamp, first)
    for agent, epochs in (
        (rows.lane, ()),
        (rows.block, (rows.epoch,)),
        (rows.warp, (rows.epoch, rows.warp_epoch)),
    ):
        until = np.minimum(end, _begins(rows, stamp, second, epochs))
        seen = _latest(rows.cell, agent, stamp, observing, second, until)
        result[asked] |= seen > stamp[first]
    return result


def _next_store(rows: Rows, stamp: NDArray[np.int64], first: NDArray[np.intp]) -> NDArray[np.int64]:
    """End of the chain of updates after each of some writes: the next strong store to its cell."""
    stores = np.flatnonzero(is_strong(rows.kind) & writes(rows.kind) & (rows.kind & UPDATES == 0))
    if not stores.size:
        return np.full(len(first), _FOR_EVER)
    order = np.lexsort((stamp[stores], rows.cell[stores]))
    cell, when = rows.cell[stores][order], stamp[stores][order]
    position = _position(cell, when, rows.cell[first], stamp[first] + 1)
    nearest = np.minimum(position, len(cell) - 1)
    inside = (position < len(cell)) & (cell[nearest] == rows.cell[first])
    return np.where(inside, when[nearest], _FOR_EVER)


def _begins(
    rows: Rows, stamp: NDArray[np.int64], second: NDArray[np.intp], epochs: tuple[NDArray[np.int64], ...]
) -> NDArray[np.int64]:
    """Time until which an observation counts: the access itself, or the barrier before it."""
    if not epochs:
        return stamp[second]
    agent = rows.block if len(epochs) == 1 else rows.warp
    order = np.lexsort((stamp, *epochs[::-1], agent))
    columns = [column[order] for column in (agent, *epochs)]
    new = np.ones(len(order), np.bool_)
    new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    starts = np.flatnonzero(new)
    begin = np.empty(len(order), np.int64)
    begin[order] = np.repeat(stamp[order][starts], np.diff(np.append(starts, len(order))))
    return begin[second]


def _latest(
    cell: NDArray[np.int64],
    agent: NDArray[np.int64],
    stamp: NDArray[np.int64],
    observing: NDArray[np.intp],
    second: NDArray[np.intp],
    until: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The stamp of the latest observation of a cell by an agent before some moment, or -1."""
    order = observing[np.lexsort((stamp[observing], agent[observing], cell[observing]))]
    if not order.size:
        return np.full(len(second), -1, np.int64)
    number = numbered([cell, agent])
    position = _position(number[order], stamp[order], number[second], until) - 1
    nearest = np.maximum(position, 0)
    inside = (position >= 0) & (number[order][nearest] == number[second])
    return np.where(inside, stamp[order][nearest], -1)


def _position(
    group: NDArray[np.int64],
    value: NDArray[np.int64],
    wanted_group: NDArray[np.int64],
    wanted: NDArray[np.int64],
) -> NDArray[np.intp]:
    """Positions of pairs among sorted pairs (group, value): the number of these that are less."""
    both = np.lexsort(
        (
            np.concatenate((np.ones(len(value), np.int8), np.zeros(len(wanted), np.int8))),
            np.concatenate((value, wanted)),
            np.concatenate((group, wanted_group)),
        )
    )
    is_sorted_pair = both < len(value)
    before = np.cumsum(is_sorted_pair)
    result = np.empty(len(wanted), np.intp)
    asked = ~is_sorted_pair
    result[both[asked] - len(value)] = before[asked]
    return result
