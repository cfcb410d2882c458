"""Strong writes that a thread knows of by way of others: columns of the clocks for locations.

What a lane itself, or its block before a barrier, observes is settled without clocks
(`grader.emulator.races.observation`). What it is told by fences and flags needs them: each location in
question has a column for each *generation*, that is, from one strong store that is no update to the next, in
which clocks show how many of the generation's writes a class has observed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.races.event import AT_LOCATION, OBSERVE, PUBLISH, UPDATE, Event
from grader.emulator.races.observation import stamps
from grader.emulator.races.rows import UPDATES, is_strong, writes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from grader.emulator.races.event import Scope
    from grader.emulator.races.rows import Rows

MOST_LOCATIONS = 256
"""Locations that are looked at, the lowest ones: each costs time for every event."""


def touched(event: Event, scope: Scope) -> Iterator[NDArray[np.int64]]:
    """The cells that each lane of an event accesses, as columns; none in another state space."""
    if event.what in AT_LOCATION and event.space == scope.space:
        for offset in range(0, max(event.size, scope.grain), scope.grain):
            yield (event.byte + offset) // scope.grain


class Locations:
    """The locations whose strong writes are the earlier accesses of some pairs.

    ``column`` is the column for each pair, from ``first_column`` on, or -1; ``rank`` how many of the column's
    writes a lane must have observed to be ordered after the earlier access of the pair.
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
            here = np.flatnonzero(rows.cell[first] == cell)
            generation = np.searchsorted(self._stores[number], stamp[here], side="right")
            for which in np.unique(generation).tolist():
                part = here[generation == which]
                column = len(self._columns)
                self._columns[number, which] = column
                self._writes[number, which] = np.unique(stamp[part])
                self.column[asked[part]] = first_column + column
                self.rank[asked[part]] = 1 + np.searchsorted(self._writes[number, which], stamp[part])

    @property
    def count(self) -> int:
        """How many columns there are."""
        return len(self._columns)

    def _strong_stores(self, events: Sequence[Event]) -> list[NDArray[np.int64]]:
        found: list[list[NDArray[np.int64]]] = [[] for _ in self.cells]
        for event in events:
            if event.what == PUBLISH and len(self.cells):
                stamp = stamps(event.when - 1, event.lanes, self.scope)
                for cells in touched(event, self.scope):
                    for number, here in self._among(cells):
                        found[number].append(stamp[here])
        return [np.sort(np.concatenate([np.zeros(0, np.int64), *several])) for several in found]

    def _among(self, cells: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Which of ``cells`` are locations in question: the number of each location, and where it occurs."""
        for number in np.flatnonzero(np.isin(self.cells, cells)).tolist():
            yield number, np.flatnonzero(cells == self.cells[number])

    def sightings(self) -> Sightings:
        """What lanes observe, from the beginning of time."""
        return Sightings(self)

    def writes_seen(self, number: int, generation: int, until: NDArray[np.int64]) -> NDArray[np.intp]:
        """How many writes of a generation happened up to each of some stamps."""
        return np.searchsorted(self._writes[number, generation], until, side="right")

    def column_of(self, number: int, generation: int) -> int:
        """The column of a generation of a location; -1 if nobody asks for it."""
        column = self._columns.get((number, generation), -1)
        return column if column < 0 else column + self.first_column


class Sightings:
    """The latest write to each location, as time goes by."""

    def __init__(self, locations: Locations) -> None:
        self._locations = locations
        self._generation = [0] * len(locations.cells)
        self._latest = [np.int64(-1)] * len(locations.cells)

    def of(self, event: Event) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.intp]]]:
        """The column, the places in ``event.lanes``, and how many writes each of these lanes observes."""
        if not self._generation:
            return
        locations = self._locations
        for cells in touched(event, locations.scope):
            for number, here in locations._among(cells):  # noqa: SLF001 - two halves of one thing
                stamp = stamps(event.when - 1, event.lanes[here], locations.scope)
                order = np.argsort(stamp)
                places, stamp = here[order], stamp[order]
                column = locations.column_of(number, self._generation[number])
                if event.what != PUBLISH and column >= 0:
                    before = np.concatenate(([self._latest[number]], stamp[:-1]))
                    if event.what == OBSERVE:
                        before[:] = self._latest[number]
                    yield column, places, locations.writes_seen(number, self._generation[number], before)
                if event.what == PUBLISH:
                    self._generation[number] += len(here)
                if event.what != OBSERVE:
                    self._latest[number] = stamp[-1]


def strong_accesses(rows: Rows, scope: Scope) -> list[Event]:
    """The events that rows tell of, for modules whose strong accesses are not noted as they happen.

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
        here = np.flatnonzero((strong.when == when) & (part == number))
        kind = strong.kind[here[:1]]
        what = UPDATE if (kind & UPDATES).any() else PUBLISH if writes(kind).any() else OBSERVE
        byte = strong.cell[here] * scope.grain
        lanes = strong.lane[here]
        events.append(Event(when + 1, what, lanes, byte, space=scope.space, byte=byte, size=scope.grain))
    return events
