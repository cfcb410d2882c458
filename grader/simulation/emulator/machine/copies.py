"""Asynchronous copies that are under way (PTX ISA section 9.7.9.25.2, completion by groups).

Each thread counts the groups of copies that it has committed. A copy belongs to the group that its thread
commits next, and lands in shared memory no sooner than the thread waits for that group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.model import Clause
from grader.simulation.emulator.machine.state import AsyncCopy, TooMuchHeldError
from grader.simulation.emulator.machine.values import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.memory.memory import Target

_WORD = 4
"""Bytes: copies are of 4, 8 or 16, and aligned."""

MOST_UNDER_WAY = 1 << 24
"""Copies that may be under way, over all lanes: some 40 bytes each."""

_WORK = 4
"""Cost of beginning a copy, or landing it, in steps."""


def begin(m: Machine, destination: Target, content: NDArray[np.uint8], began: int) -> None:
    """Lanes begin to copy ``content``, shape (lanes, bytes), which the source holds now."""
    lanes = np.arange(m.size) if destination.lanes is None else destination.lanes
    if len(lanes):
        byte = spread(destination.index, len(lanes))
        group = _groups(m)[lanes]
        m.copies.under_way.append(AsyncCopy(lanes, group, byte, content.view(np.uint32), began))
        m.charge(_WORK, len(lanes))
        m.copies.held += len(lanes)
        if m.copies.held > MOST_UNDER_WAY:
            raise TooMuchHeldError(Clause("too-many-copies"))


def commit(m: Machine) -> None:
    """The active lanes close the group of the copies that they began since the last one."""
    _groups(m)[m.lanes()] += 1


def wait(m: Machine, pending: int) -> None:
    """The active lanes wait until at most ``pending`` of their latest groups are under way."""
    if not m.copies.under_way:
        return
    _look(m)
    finished = np.full(m.size, -1)
    finished[m.lanes()] = _groups(m)[m.lanes()] - pending
    left: list[AsyncCopy] = []
    for copy in m.copies.under_way:
        done = copy.group < finished[copy.lanes]
        if done.any():
            _land(m, copy.part(done))
        if not done.all():
            left.append(copy.part(~done))
    m.copies.keep(left)


def leave_to(m: Machine, lanes: NDArray[np.intp], phases: NDArray[np.int64]) -> None:
    """Lanes leave it to a phase of a barrier to say when their copies are complete: see `AsyncCopy`.

    ``lanes`` are in increasing order, ``phases`` has a row for each. The bytes are there from now on.
    """
    _look(m)
    left: list[AsyncCopy] = []
    for copy in m.copies.under_way:
        of_lanes = np.isin(copy.lanes, lanes) if copy.phase is None else np.zeros(len(copy.lanes), np.bool_)
        if of_lanes.any():
            part = copy.part(of_lanes)
            _write(m, part)
            rows = phases[np.searchsorted(lanes, part.lanes)]
            left.append(part._replace(words=part.words[:, :0], phase=rows))
        if not of_lanes.all():
            left.append(copy.part(~of_lanes))
    m.copies.keep(left)


def complete(m: Machine, phases: NDArray[np.int64]) -> None:
    """A wait has seen these phases complete, and with them the copies that were left to them."""
    _look(m)
    left: list[AsyncCopy] = []
    for copy in m.copies.under_way:
        done = np.zeros(len(copy.lanes), np.bool_)
        if copy.phase is not None:
            done = (copy.phase[:, None] == phases[None]).all(axis=2).any(axis=1)
        if done.any():
            _land(m, copy.part(done))
        if not done.all():
            left.append(copy.part(~done))
    m.copies.keep(left)


def _look(m: Machine) -> None:
    """Charge the work of examining each copy that is under way."""
    m.charge(len(m.copies.under_way), 0)
    m.charge(1, m.copies.held)


def _groups(m: Machine) -> NDArray[np.int64]:
    if m.copies.committed is None:
        m.copies.committed = np.zeros(m.size, np.int64)
    return m.copies.committed


def _write(m: Machine, copy: AsyncCopy) -> None:
    for word in range(copy.words.shape[1]):
        m.shared.write(copy.byte + _WORD * word, copy.words[:, word])


def _land(m: Machine, copy: AsyncCopy) -> None:
    m.charge(_WORK, len(copy.lanes))
    _write(m, copy)
    m.observer.copies_landed(m, copy.lanes, copy.began)
