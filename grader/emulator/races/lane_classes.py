"""Lanes that take part in the very same events: their clocks are equal, so one clock serves all of them.

Clocks cost a row and a column for each class instead of each lane. In a software barrier one thread of a
block signals and the others only fence and wait: two classes a block, however large it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.emulator.races.event import BARRIER, LANDED, PUBLISH, UPDATE
from grader.emulator.races.rows import COPY_ENGINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from grader.emulator.races.event import Event

_ALONE = (PUBLISH, UPDATE, LANDED)
"""Events in which each lane acts by itself, and passes on what this one lane knows."""

_ODD = np.uint64(0x9E3779B97F4A7C15)


class LaneClasses(NamedTuple):
    """Classes of lanes, each within one block, numbered in the order of their first lanes."""

    lanes: NDArray[np.int64]
    """The lanes, increasing."""
    number: NDArray[np.intp]
    """The class of each."""
    first: NDArray[np.int64]
    """The lowest lane of each class."""

    def of(self, lanes: NDArray[np.int64]) -> NDArray[np.intp]:
        """The classes of lanes, or of the lanes whose copy engines they are."""
        return self.number[np.searchsorted(self.lanes, lanes % COPY_ENGINE)]


def lane_classes(lanes: NDArray[np.int64], events: Sequence[Event], threads: int) -> LaneClasses:
    """The classes of ``lanes`` and of all that take part in events, in blocks of ``threads``."""
    taking_part = [event.lanes for event in events if event.what != BARRIER]
    lanes = np.unique(np.concatenate([lanes % COPY_ENGINE, *taking_part]))
    history = _mixed((lanes // threads).astype(np.uint64))
    for number, event in enumerate(events, 1):
        if event.what == BARRIER:
            continue
        here = np.searchsorted(lanes, event.lanes)
        what = event.lanes if event.what in _ALONE else event.key
        mark = _mixed(what.astype(np.uint64) + np.uint64(number * int(_ODD) % 2**64))
        history[here] = _mixed(history[here] * _ODD + mark)
    _, first, number_of = np.unique(history, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return LaneClasses(lanes, rank[number_of], lanes[first[order]])


def _mixed(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A bijection that spreads each bit over all (the finaliser of SplitMix64, Steele et al. 2014)."""
    value = (value ^ value >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ value >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return value ^ value >> np.uint64(31)
