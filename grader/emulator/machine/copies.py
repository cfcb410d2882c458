"""Asynchronous copies that are under way (PTX ISA section 9.7.9.25.2, completion by groups).

Each thread counts the groups of copies that it has committed. A copy belongs to the group that its thread
commits next, and lands in shared memory no sooner than the thread waits for that group.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.emulator.machine.held import TooMuchHeldError
from grader.emulator.machine.values import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine
    from grader.emulator.memory.access import Place

_WORD = 4
"""Bytes: copies are of 4, 8 or 16, and aligned."""

MOST_UNDER_WAY = 1 << 24
"""Copies that may be under way, over all lanes: some 40 bytes each."""

_WORK = 4
"""Steps that beginning a copy, or landing it, takes as long as."""


class Copy(NamedTuple):
    """One instruction's copies: an element of each array, a row of ``words``, for each lane.

    ``byte`` is where in shared memory the lane's bytes go; ``began`` the moment it was told to observers.
    ``phase`` is a row (byte of a barrier in shared memory, number of its phase) for each lane that has left
    it to that phase to say when the copy is complete; such copies have no words left.
    """

    lanes: NDArray[np.intp]
    group: NDArray[np.int64]
    byte: NDArray[np.int64]
    words: NDArray[np.uint32]
    began: int
    phase: NDArray[np.int64] | None = None

    def part(self, mask: NDArray[np.bool_]) -> Copy:
        """The copies of some of the lanes."""
        phase = None if self.phase is None else self.phase[mask]
        return Copy(self.lanes[mask], self.group[mask], self.byte[mask], self.words[mask], self.began, phase)


@dataclass(eq=False, slots=True)
class PendingCopies:
    """The copies of a chunk of blocks that have not landed, in the order in which they began."""

    under_way: list[Copy] = field(default_factory=list)
    _committed: NDArray[np.int64] | None = None
    """How many groups each lane has committed."""
    _held: int = 0
    """At most so many copies are under way, over all lanes."""

    def begin(self, m: Machine, destination: Place, content: NDArray[np.uint8], began: int) -> None:
        """Lanes begin to copy ``content``, shape (lanes, bytes), which is what the source holds now."""
        lanes = np.arange(m.size) if destination.lanes is None else destination.lanes
        if len(lanes):
            byte = spread(destination.index, len(lanes))
            group = self._groups(m)[lanes]
            self.under_way.append(Copy(lanes, group, byte, content.view(np.uint32), began))
            m.charge(_WORK, len(lanes))
            self._held += len(lanes)
            if self._held > MOST_UNDER_WAY:
                raise TooMuchHeldError("it begins too many asynchronous copies before it waits for them")

    def commit(self, m: Machine) -> None:
        """The active lanes close the group of what they began since the last one."""
        self._groups(m)[m.lanes()] += 1

    def wait(self, m: Machine, pending: int) -> None:
        """The active lanes wait until at most so many of their latest groups are under way."""
        if not self.under_way:
            return
        self._look(m)
        finished = np.full(m.size, -1)
        finished[m.lanes()] = self._groups(m)[m.lanes()] - pending
        left: list[Copy] = []
        for copy in self.under_way:
            done = copy.group < finished[copy.lanes]
            if done.any():
                _land(m, copy.part(done))
            if not done.all():
                left.append(copy.part(~done))
        self._keep(left)

    def leave_to(self, m: Machine, lanes: NDArray[np.intp], phases: NDArray[np.int64]) -> None:
        """Lanes leave it to a phase of a barrier to say when their copies are complete: see `Copy`.

        ``lanes`` are in increasing order, ``phases`` has a row for each. The bytes are there from now on.
        """
        self._look(m)
        left: list[Copy] = []
        for copy in self.under_way:
            here = np.isin(copy.lanes, lanes) if copy.phase is None else np.zeros(len(copy.lanes), np.bool_)
            if here.any():
                part = copy.part(here)
                _write(m, part)
                rows = phases[np.searchsorted(lanes, part.lanes)]
                left.append(part._replace(words=part.words[:, :0], phase=rows))
            if not here.all():
                left.append(copy.part(~here))
        self._keep(left)

    def complete(self, m: Machine, phases: NDArray[np.int64]) -> None:
        """Somebody has found these phases complete, and with them the copies that were left to them."""
        self._look(m)
        left: list[Copy] = []
        for copy in self.under_way:
            done = np.zeros(len(copy.lanes), np.bool_)
            if copy.phase is not None:
                done = (copy.phase[:, None] == phases[None]).all(axis=2).any(axis=1)
            if done.any():
                _land(m, copy.part(done))
            if not done.all():
                left.append(copy.part(~done))
        self._keep(left)

    def _look(self, m: Machine) -> None:
        """Charge for a look at each copy that is under way."""
        m.charge(len(self.under_way), 0)
        m.charge(1, self._held)

    def _keep(self, left: list[Copy]) -> None:
        self.under_way = left
        self._held = sum(len(copy.lanes) for copy in left)

    def _groups(self, m: Machine) -> NDArray[np.int64]:
        if self._committed is None:
            self._committed = np.zeros(m.size, np.int64)
        return self._committed


def _write(m: Machine, copy: Copy) -> None:
    for word in range(copy.words.shape[1]):
        m.shared.write(copy.byte + _WORD * word, copy.words[:, word])


def _land(m: Machine, copy: Copy) -> None:
    m.charge(_WORK, len(copy.lanes))
    _write(m, copy)
    m.observer.copies_landed(m, copy.lanes, copy.began)
