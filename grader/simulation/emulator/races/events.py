"""The log of the events that order accesses, kept as they happen."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.base.records import mutable
from grader.model import Clause
from grader.simulation.emulator.machine.geometry import BARRIERS, WARP
from grader.simulation.emulator.machine.state import TooMuchHeldError
from grader.simulation.emulator.machine.values import ZERO, scalar, spread
from grader.simulation.emulator.races.rows import (
    ATOMIC,
    COPY_ENGINE,
    MAY_BE_FLAG,
    NARROW,
    READ,
    STRONG_READ,
    STRONG_WRITE,
    UPDATES,
    WRITE,
    WRITES,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.values import Lanes, Value
    from grader.simulation.emulator.memory.memory import Target
    from grader.simulation.emulator.races.rows import LoggedAccess, Strengths

MOST_NOTED = 1 << 23
"""Lanes in all events of a launch, 24 bytes each: a thread that spins between fences would fill memory."""

_WORK = 2
"""Cost of keeping an event, and judging it later, in steps."""

_LOOK_BACK = 8
"""Events among which a spinning read is recognised as one that was noted already."""


@mutable
class Events:
    """The clock of a launch, and the events that ordered its accesses besides whole barriers.

    ``through_memory``: the module has fences or the like, so that strong accesses are worth noting.
    ``in_parts``: it has barriers of some warps, or asynchronous copies. With either, a chain may lead from
    one warp through another, so that whole-warp `__syncwarp` is an event as well.
    """

    strengths: Strengths
    through_memory: bool
    in_parts: bool
    backwards: bool = False
    all: list[Event] = field(default_factory=list)
    clock: int = 0
    _noted: int = 0
    span: int = 0
    """Number of times all warps of the chunk have synchronised, each as a whole; -1 if not all together."""
    _phases: dict[tuple[int, int, int], int] = field(default_factory=dict)
    """A key for each phase of each barrier in shared memory: by chunk, byte and phase."""
    _since: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    """For each block of the chunk the number of events before its last whole barrier."""
    _warp_epoch: NDArray[np.int64] | None = None
    _landed: NDArray[np.int64] | None = None
    _fenced: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    """Lanes that passed a fence and have not written since: their next volatile write sets a flag."""

    def begin(self, m: Machine) -> None:
        """A new chunk of blocks starts."""
        self._since = np.full(m.geometry.blocks, len(self.all))
        self._warp_epoch = self._landed = None
        self.span = 0
        self._fenced = np.zeros(m.size, np.bool_)

    def tick(self) -> int:
        """The next moment."""
        self.clock += 1
        return self.clock

    def since_barrier(self, m: Machine, blocks: NDArray[np.bool_] | None) -> list[Event]:
        """Events in the blocks' barrier interval, perhaps with earlier ones."""
        since = self._since if blocks is None else self._since[blocks]
        offset = m.geometry.first_block * m.geometry.threads
        return [
            event._replace(lanes=event.lanes - offset)
            for event in self.all[int(since.min(initial=len(self.all))) :]
        ]

    def scope_of_shared(self, m: Machine, grain: int) -> Scope:
        """Accesses to shared memory can be ordered within a block."""
        return Scope(m.geometry.threads, m.geometry.threads, "shared", grain, self.backwards)

    def warp_epoch_of(self, m: Machine, lanes: Lanes) -> Value:
        """Number of times the whole warp of each lane has synchronised."""
        if self._warp_epoch is None:
            return ZERO
        epochs: Value = self._warp_epoch[m.warp_of if lanes is None else m.warp_of[lanes]]
        return epochs

    def landed_until(self, lanes: Lanes) -> Value:
        """Time up to which the copies of lanes have landed."""
        if self._landed is None:
            return scalar(np.int64(-1))
        return self._landed if lanes is None else self._landed[lanes]

    def kind_of_read(self, site: int) -> int:
        """Kind of a read: a volatile one never races with strong writes, for it may read a flag."""
        strength = self.strengths[site]
        if not (strength.strong or strength.volatile):
            return READ
        return STRONG_READ | (0 if strength.wide else NARROW)

    def kind_of_write(self, site: int, target: Target) -> int:
        """Kind of a write: a volatile one may set a flag if it is its lane's first write after a fence."""
        strength = self.strengths[site]
        lanes = slice(None) if target.lanes is None else target.lanes
        after_fence = self.through_memory and strength.volatile and bool(self._fenced[lanes].all())
        if self.through_memory:
            self._fenced[lanes] = False
        if strength.strong:
            return STRONG_WRITE | (0 if strength.wide else NARROW)
        return STRONG_WRITE | MAY_BE_FLAG if after_fence else WRITE

    def kind_of_update(self, site: int) -> int:
        """Kind of an atomic operation."""
        return ATOMIC | (0 if self.strengths[site].wide else NARROW)

    def accessed(self, m: Machine, access: LoggedAccess, target: Target, size: int) -> None:
        """A strong access has happened."""
        if not self.through_memory:
            return
        strength, kind = self.strengths[access.site], access.kind
        event_kind = UPDATE if kind & UPDATES else PUBLISH if kind & WRITES else OBSERVE
        event = self._at_location(m, event_kind, target, size)._replace(
            acquires=strength.acquires and event_kind != PUBLISH,
            releases=strength.releases and event_kind != OBSERVE,
            wide=strength.wide,
        )
        if event_kind != OBSERVE or not self._is_noted(event):
            self._add(m, event)

    def fenced(self, m: Machine, *, wide: bool) -> None:
        """The active lanes pass a fence."""
        self._note(m, FENCE, m.lanes(), np.zeros(1, np.int64), wide=wide)
        self._fenced[m.lanes()] = True

    def warp_met(self, m: Machine, party: Value) -> None:
        """`__syncwarp`: of a whole warp it counts as an epoch, of a part as an event."""
        lanes, warps = m.lanes(), m.warp_of[m.lanes()]
        party = spread(party, len(lanes)).astype(np.int64)
        whole = party == _threads_of_warps(m)[warps]
        uniform = self.span >= 0 and bool(whole.all()) and len(lanes) == m.alive_count
        self.span = self.span + 1 if uniform else -1
        if whole.any():
            if self._warp_epoch is None:
                self._warp_epoch = np.zeros(m.geometry.blocks * m.geometry.warps_per_block, np.int64)
            self._warp_epoch[np.unique(warps[whole])] += 1
        if self.through_memory or self.in_parts:
            self._note(m, MEET, lanes, warps << 32 | party)
        elif not whole.all():
            part = ~whole
            self._note(m, MEET, lanes[part], warps[part] << 32 | party[part])

    def announced(self, m: Machine, parties: tuple[Value, Value]) -> None:
        """Lanes leave their knowledge at named barriers."""
        self._at_barriers(m, POST, parties)

    def passed_barrier(self, m: Machine, parties: tuple[Value, Value]) -> None:
        """Lanes learn the knowledge that was left at named barriers."""
        self._at_barriers(m, TAKE, parties)

    def at_phase(
        self,
        m: Machine,
        kind: int,
        lanes: NDArray[np.intp],
        byte: NDArray[np.int64],
        phase: NDArray[np.uint64],
    ) -> None:
        """Lanes, or their copies, arrive in a phase of a barrier (POST, COPIED), or see it complete (AWAIT).

        Keys are negative, so that they differ from the keys of the numbered barriers.
        """
        pairs, which = np.unique(np.stack((byte, phase.astype(np.int64))), axis=1, return_inverse=True)
        chunk = m.geometry.first_block
        keys = [self._phases.setdefault((chunk, *pair), -1 - len(self._phases)) for pair in pairs.T.tolist()]
        self._note(m, kind, lanes, np.array(keys)[which.reshape(-1)])

    def _at_barriers(self, m: Machine, kind: int, parties: tuple[Value, Value]) -> None:
        lanes, keys = parties
        for number in np.unique(keys % BARRIERS).tolist():
            members = np.flatnonzero(keys % BARRIERS == number)
            order = members[np.argsort(lanes[members])]
            self._note(m, kind, lanes[order], keys[order] + BARRIERS * m.geometry.first_block)

    def landed(self, m: Machine, lanes: NDArray[np.intp], began: Value) -> None:
        """Copies of lanes that began up to a moment are complete."""
        began = np.broadcast_to(np.asarray(began, np.int64), lanes.shape)
        if self._landed is None:
            self._landed = np.full(m.size, -1, np.int64)
        self._landed[lanes] = np.maximum(self._landed[lanes], began)
        self._note(m, LANDED, lanes, self._landed[lanes])

    def barrier(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        """Whole blocks pass a barrier."""
        if self.through_memory:
            which = np.arange(m.geometry.blocks) if blocks is None else np.flatnonzero(blocks)
            self._note(m, BARRIER, which * m.geometry.threads, which)
        self._since[slice(None) if blocks is None else blocks] = len(self.all)
        if blocks is None:
            self.span = 0

    def _note(
        self, m: Machine, kind: int, lanes: NDArray[np.intp], key: NDArray[np.int64], *, wide: bool = True
    ) -> None:
        offset = m.geometry.first_block * m.geometry.threads
        self._add(m, Event(self.tick(), kind, lanes + offset, key, wide=wide))

    def _add(self, m: Machine, event: Event) -> None:
        m.charge(_WORK, len(event.lanes))
        self._noted += len(event.lanes)
        if self._noted > MOST_NOTED:
            raise TooMuchHeldError(Clause("too-many-orderings"))
        self.all.append(event)

    def _at_location(self, m: Machine, kind: int, target: Target, size: int) -> Event:
        """An event at the bytes that lanes access; shared memory of each chunk has keys of its own."""
        lanes = np.arange(m.size) if target.lanes is None else target.lanes
        byte = spread(target.index, len(lanes)).astype(np.int64)
        key = byte << 1
        if target.space == "shared":
            key = key + 1 + (np.int64(m.geometry.first_block) << 36)
        lanes = lanes + m.geometry.first_block * m.geometry.threads
        return Event(self.tick(), kind, lanes, key, space=target.space, byte=byte, size=size)

    def _is_noted(self, event: Event) -> bool:
        """True if the same lanes observed the same before, with only other observations in between."""
        for before in reversed(self.all[-_LOOK_BACK:]):
            if before.kind != OBSERVE:
                return False
            if np.array_equal(before.key, event.key) and np.array_equal(before.lanes, event.lanes):
                return True
        return False


def _threads_of_warps(m: Machine) -> NDArray[np.int64]:
    """The mask of the threads that each warp has: the last one of a block may have fewer than 32."""
    masks = np.full(m.geometry.warps_per_block, 2**WARP - 1, np.int64)
    if m.geometry.threads % WARP:
        masks[-1] = 2 ** (m.geometry.threads % WARP) - 1
    return np.tile(masks, m.geometry.blocks)


MEET, POST, TAKE, FENCE, PUBLISH, UPDATE, OBSERVE, BARRIER, LANDED, AWAIT, COPIED = range(11)

AT_LOCATION = (PUBLISH, UPDATE, OBSERVE)
"""Events that are strong accesses."""

_NO_BYTES = np.zeros(0, np.int64)

_ALONE = (PUBLISH, UPDATE, LANDED)
"""Events in which each lane acts by itself, and passes on only its own knowledge."""

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
    """Distance between lanes whose accesses are compared: ``threads`` lanes are a block.

    ``domain`` is the number of consecutive lanes that can know of each other at all: the lanes of a block for
    shared memory, all for accesses of different blocks. Cells have ``grain`` bytes of the state space
    ``space``. ``backwards``: of lanes that update one location in one instruction the highest comes first.
    """

    threads: int
    domain: int
    space: str = "global"
    grain: int = 4
    backwards: bool = False

    @property
    def across_blocks(self) -> bool:
        """True if lanes of different blocks can know of each other."""
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
        """The classes of lanes, or of the lanes that the copy engines belong to."""
        return self.number[np.searchsorted(self.lanes, lanes % COPY_ENGINE)]


def lane_classes(lanes: NDArray[np.int64], events: Sequence[Event], threads: int) -> LaneClasses:
    """The classes of ``lanes`` and of all that take part in events, in blocks of ``threads``."""
    taking_part = [event.lanes for event in events if event.kind != BARRIER]
    lanes = np.unique(np.concatenate([lanes % COPY_ENGINE, *taking_part]))
    history = _mixed((lanes // threads).astype(np.uint64))
    for number, event in enumerate(events, 1):
        if event.kind == BARRIER:
            continue
        members = np.searchsorted(lanes, event.lanes)
        keys = event.lanes if event.kind in _ALONE else event.key
        mark = _mixed(keys.astype(np.uint64) + np.uint64(number * int(_ODD) % 2**64))
        history[members] = _mixed(history[members] * _ODD + mark)
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
