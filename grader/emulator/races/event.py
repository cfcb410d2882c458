"""Events that order accesses: one record for all lanes that take part in an event at once.

Lanes that take part in the very same events have equal clocks, so one clock serves each class of lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.emulator.races.rows import COPY_ENGINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MEET, POST, TAKE, FENCE, PUBLISH, UPDATE, OBSERVE, BARRIER, LANDED, AWAIT, COPIED = range(11)

AT_LOCATION = (PUBLISH, UPDATE, OBSERVE)
"""Events that are strong accesses."""

_NO_BYTES = np.zeros(0, np.int64)

_ALONE = (PUBLISH, UPDATE, LANDED)
"""Events in which each lane acts by itself, and passes on what this one lane knows."""

_ODD = np.uint64(0x9E3779B97F4A7C15)


class Event(NamedTuple):
    """Lanes synchronise. ``lanes`` count over the whole launch, each once and in increasing order.

    - MEET: the lanes with one key (a part of a warp) wait for each other;
    - POST, TAKE: lanes leave what they know at a named barrier ``key``; lanes learn what was left there;
    - AWAIT: lanes learn what was left at a phase ``key`` of a barrier in shared memory, as others may again;
    - COPIED: the asynchronous copies that lanes began so far are complete with the phase ``key``;
    - FENCE: what a lane did before may be published by its later writes;
    - PUBLISH, UPDATE, OBSERVE: a strong write, atomic update or strong read of location ``key``, which may
      be an acquire or a release by itself, without a fence; just before it the access happened, of ``size``
      bytes at ``byte`` of its state space;
    - BARRIER: the whole block of each lane waits; ``lanes`` are the first lanes of the blocks;
    - LANDED: the asynchronous copies that a lane began up to ``key`` are complete.

    ``wide``: its scope holds lanes of other blocks, too.
    """

    when: int
    kind: int
    lanes: NDArray[np.int64]
    key: NDArray[np.int64]
    acquires: bool = False
    releases: bool = False
    wide: bool = True
    space: str = ""
    byte: NDArray[np.int64] = _NO_BYTES
    size: int = 0


class Scope(NamedTuple):
    """How far lanes may be apart whose accesses are asked about: ``threads`` lanes are a block.

    ``domain`` is how many consecutive lanes can know of each other at all: those of a block for shared
    memory, all for accesses of different blocks. Cells have ``grain`` bytes of the state space ``space``.
    ``backwards``: of lanes that update one location in one instruction the highest comes first.
    """

    threads: int
    domain: int
    space: str = "global"
    grain: int = 4
    backwards: bool = False

    @property
    def across_blocks(self) -> bool:
        """Whether lanes of different blocks can know of each other."""
        return self.domain > self.threads


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
    taking_part = [event.lanes for event in events if event.kind != BARRIER]
    lanes = np.unique(np.concatenate([lanes % COPY_ENGINE, *taking_part]))
    history = _mixed((lanes // threads).astype(np.uint64))
    for number, event in enumerate(events, 1):
        if event.kind == BARRIER:
            continue
        here = np.searchsorted(lanes, event.lanes)
        keys = event.lanes if event.kind in _ALONE else event.key
        mark = _mixed(keys.astype(np.uint64) + np.uint64(number * int(_ODD) % 2**64))
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
