"""Races where more than whole blocks and whole warps synchronise: pair by pair.

Where every lane may be ordered with others than its neighbours are, a run of accesses can no longer be
judged by its outermost lanes. So each cell's accesses are paired, and each pair is asked for a chain of
events (`grader.emulator.hazards.ordering`). The cost grows with the square of the accesses to one cell;
that is why whole barriers, the usual case, go through `grader.emulator.hazards.conflicts` instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.hazards.conflicts import Conflict, one_value
from grader.emulator.hazards.ordering import unordered
from grader.emulator.hazards.rows import ATOMIC, COPY_ENGINE, Rows, writes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from grader.emulator.hazards.ordering import Event, Scope

    Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

MOST_PAIRS = 1 << 21
"""Pairs that are judged at once, to bound memory."""

_LEVELS = ("lane", "warp", "copy", "block")


def find_unordered(
    rows: Rows, events: Sequence[Event], wide: Sequence[Event], scope: Scope
) -> list[Conflict]:
    """Every pair of sites with accesses that nothing orders, each at the widest level at which it races.

    ``events`` count within a block, ``wide`` ones between blocks as well.
    """
    rows = _condensed(rows, events)
    found: dict[tuple[int, int, str], Conflict] = {}
    for earlier, later in _batches(_conflicting(rows)):
        racing = np.zeros(len(earlier), np.bool_)
        apart = rows.block[earlier] != rows.block[later]
        for which, some in ((~apart, events), (apart, wide)):
            chosen = np.flatnonzero(which)
            if chosen.size:
                racing[chosen] = unordered(rows, earlier[chosen], later[chosen], some, scope)
        for conflict in _described(rows, earlier[racing], later[racing]):
            _keep_widest(found, conflict)
    return list(found.values())


def _condensed(rows: Rows, events: Sequence[Event]) -> Rows:
    """Of one lane's like accesses to one cell between two events, the first and the last."""
    span = np.searchsorted([event.when for event in events], rows.when)
    order = np.lexsort((rows.when, span, rows.kind, rows.site, rows.lane, rows.cell))
    columns = (rows.cell, rows.lane, rows.site, rows.kind, span, rows.value)
    new = np.ones(len(order) + 1, np.bool_)
    new[1:-1] = np.logical_or.reduce([column[order][1:] != column[order][:-1] for column in columns])
    kept = rows.take(order[new[:-1] | new[1:]])
    return kept.take(np.lexsort((kept.when, kept.cell)))


def _conflicting(rows: Rows) -> Iterator[Pairs]:
    """Pairs in order of time, of one cell, by different agents, at least one writing, not both strong."""
    total = len(rows.cell)
    for apart in range(1, total):
        earlier = np.flatnonzero(rows.cell[:-apart] == rows.cell[apart:])
        if not earlier.size:
            return
        later = earlier + apart
        kinds = rows.kind[earlier], rows.kind[later]
        chosen = (rows.lane[earlier] != rows.lane[later]) & (writes(kinds[0]) | writes(kinds[1]))
        chosen &= (kinds[0] < ATOMIC) | (kinds[1] < ATOMIC)
        chosen &= ~_in_other_epochs(rows, earlier, later) & ~_issued_after(rows, earlier, later)
        yield earlier[chosen], later[chosen]


def _in_other_epochs(rows: Rows, earlier: NDArray[np.intp], later: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether a whole barrier of their block, or `__syncwarp` of their warp, lies between two accesses."""

    def same(column: NDArray[np.int64]) -> NDArray[np.bool_]:
        equal: NDArray[np.bool_] = column[earlier] == column[later]
        return equal

    between = ~same(rows.epoch) | (same(rows.warp) & ~same(rows.warp_epoch))
    return same(rows.block) & between & (rows.lane[earlier] < COPY_ENGINE)


def _issued_after(rows: Rows, earlier: NDArray[np.intp], later: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether the later access is a copy that the lane of the earlier one began: it did so in its order."""
    issued: NDArray[np.bool_] = rows.lane[later] == rows.lane[earlier] + COPY_ENGINE
    return issued


def _batches(pairs: Iterator[Pairs]) -> Iterator[Pairs]:
    """The same pairs, many at a time."""
    waiting: list[Pairs] = []
    for each in pairs:
        waiting.append(each)
        if sum(len(one) for one, _ in waiting) > MOST_PAIRS:
            yield _joined(waiting)
            waiting = []
    if waiting:
        yield _joined(waiting)


def _joined(pairs: list[Pairs]) -> Pairs:
    return np.concatenate([one for one, _ in pairs]), np.concatenate([other for _, other in pairs])


def _described(rows: Rows, earlier: NDArray[np.intp], later: NDArray[np.intp]) -> Iterator[Conflict]:
    """One conflict for each pair of sites, kind of hazard and level among racing pairs."""
    both = writes(rows.kind[earlier]) & writes(rows.kind[later])
    hazard = np.where(both, 2, np.where(writes(rows.kind[earlier]), 0, 1))
    apart = rows.block[earlier] != rows.block[later]
    engine = (rows.lane[earlier] >= COPY_ENGINE) | (rows.lane[later] >= COPY_ENGINE)
    warps = rows.warp[earlier] != rows.warp[later]
    level = np.where(apart, 3, np.where(engine, 2, np.where(warps, 1, 0)))
    sites = int(rows.site.max()) + 1
    number = ((rows.site[later] * sites + rows.site[earlier]) * 3 + hazard) * len(_LEVELS) + level
    for group in np.unique(number).tolist():
        here = np.flatnonzero(number == group)
        site, other_site = divmod(group // len(_LEVELS) // 3, sites)
        kind, how_far = group // len(_LEVELS) % 3, group % len(_LEVELS)
        cells = rows.cell[earlier[here]]
        example = here[int(np.argmin(cells))]
        first, second = earlier[example], later[example]
        yield Conflict(
            site,
            other_site,
            ("RAW", "WAR", "WAW")[kind],
            _LEVELS[how_far],
            int(rows.lane[second] % COPY_ENGINE),
            int(rows.lane[first] % COPY_ENGINE),
            int(rows.cell[first]),
            len(np.unique(cells)),
            one_value(rows, earlier[here], through_barriers=True) if kind == 2 else False,  # noqa: PLR2004 - WAW
        )


def _keep_widest(found: dict[tuple[int, int, str], Conflict], conflict: Conflict) -> None:
    key = (conflict.site, conflict.other_site, conflict.hazard)
    turned = (conflict.other_site, conflict.site, conflict.hazard)
    if conflict.hazard == "WAW" and turned in found:  # in turns: one finding for both orders
        key = turned
    known = found.get(key)
    if known is None or _LEVELS.index(conflict.level) > _LEVELS.index(known.level):
        found[key] = conflict
    elif known.level == conflict.level:
        found[key] = known._replace(elements=max(known.elements, conflict.elements))
