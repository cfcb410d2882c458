"""Strong writes that a thread has observed, itself or before a barrier of its block or warp.

PTX ISA section 8.9.5: a strong write X precedes whatever comes after a strong read Z that observes it, that
is, reads what X wrote or what atomic updates made of it (section 8.9.2). No fence is needed for it. So the
block that takes the last ticket may reset the counter with a plain store. A strong store that is no update
ends the chain: what observes it says nothing of what was there before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.races.conflicts import numbered
from grader.emulator.races.rows import COPY_ENGINE, UPDATES, is_strong, writes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.races.event import Scope
    from grader.emulator.races.rows import Rows

_LANE_BITS = 24
"""Bits that tell the lanes of one instruction apart in a stamp."""

_FOR_EVER = np.iinfo(np.int64).max


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
    """When the chain of updates after each of some writes ends: at the next strong store to its cell."""
    stores = np.flatnonzero(is_strong(rows.kind) & writes(rows.kind) & (rows.kind & UPDATES == 0))
    if not stores.size:
        return np.full(len(first), _FOR_EVER)
    order = np.lexsort((stamp[stores], rows.cell[stores]))
    cell, when = rows.cell[stores][order], stamp[stores][order]
    place = _position(cell, when, rows.cell[first], stamp[first] + 1)
    found = np.minimum(place, len(cell) - 1)
    inside = (place < len(cell)) & (cell[found] == rows.cell[first])
    return np.where(inside, when[found], _FOR_EVER)


def _begins(
    rows: Rows, stamp: NDArray[np.int64], second: NDArray[np.intp], epochs: tuple[NDArray[np.int64], ...]
) -> NDArray[np.int64]:
    """Until when an observation counts: until the access itself, or until the barrier before it."""
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
    place = _position(number[order], stamp[order], number[second], until) - 1
    found = np.maximum(place, 0)
    inside = (place >= 0) & (number[order][found] == number[second])
    return np.where(inside, stamp[order][found], -1)


def _position(
    group: NDArray[np.int64],
    value: NDArray[np.int64],
    wanted_group: NDArray[np.int64],
    wanted: NDArray[np.int64],
) -> NDArray[np.intp]:
    """Where pairs belong among sorted pairs (group, value): how many of these are less."""
    both = np.lexsort(
        (
            np.concatenate((np.ones(len(value), np.int8), np.zeros(len(wanted), np.int8))),
            np.concatenate((value, wanted)),
            np.concatenate((group, wanted_group)),
        )
    )
    known = both < len(value)
    before = np.cumsum(known)
    result = np.empty(len(wanted), np.intp)
    asked = ~known
    result[both[asked] - len(value)] = before[asked]
    return result
