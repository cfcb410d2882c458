"""Releasing barriers (PTX ISA section 9.7.13.1), once every lane that can run waits.

All blocks of a chunk pass a barrier together where they can, so that they stay in step. A barrier is
complete when as many threads of the block arrived as it expects; threads that have exited are not
waited for, as on a device, but that is reported: nothing guarantees it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.machine import Group
from grader.emulator.values import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.machine import Machine, Waiting

_BARRIERS = 16
"""Named barriers per block."""


def release(m: Machine) -> list[Group]:
    """The groups that complete barriers let go; none if nothing waits any more.

    Blocks whose lanes wait for each other for ever end here, and a finding says so.
    """
    if not m.waiting:
        return []
    if _everyone_is_here(m):
        m.observer.interval_ended(m, None)
        return [_let_go(m)]
    arrivals = [_Arrival(m, waiting) for waiting in m.waiting]
    counts = sum(arrival.counts for arrival in arrivals)
    expected = np.maximum.reduce([arrival.expected for arrival in arrivals])
    alive = np.bincount(m.block_of[m.alive], minlength=m.geometry.blocks)
    whole_block = np.repeat(alive, _BARRIERS)
    complete = (counts > 0) & (counts >= np.where(expected > 0, expected, whole_block))
    if not complete.any():
        m.reporter.deadlocked(m)
        for waiting in m.waiting:
            m.exit(waiting.group)
        m.waiting.clear()
        return []
    _report_missing_threads(m, arrivals, complete & (expected == 0), alive)
    return _release_complete(m, arrivals, complete)


class _Arrival:
    """The lanes of one waiting group, by barrier: ``key`` = block * 16 + barrier number."""

    def __init__(self, m: Machine, waiting: Waiting) -> None:
        self.waiting = waiting
        group = waiting.group
        self.lanes = np.arange(m.size) if group.lanes is None else group.lanes
        number = spread(waiting.number, len(self.lanes)).astype(np.intp) % _BARRIERS
        self.key: NDArray[np.intp] = m.block_of[self.lanes] * _BARRIERS + number
        self.counts = np.bincount(self.key, minlength=m.geometry.blocks * _BARRIERS)
        self.expected = np.zeros(len(self.counts), np.int64)
        self.expected[self.key] = waiting.expected


def _everyone_is_here(m: Machine) -> bool:
    """The usual case: one group, all lanes of the chunk, the whole block expected."""
    only = m.waiting[0]
    return (
        len(m.waiting) == 1
        and only.group.lanes is None
        and only.number.ndim == 0
        and not np.any(only.expected)
    )


def _let_go(m: Machine) -> Group:
    return m.waiting.pop().group


def _report_missing_threads(
    m: Machine,
    arrivals: list[_Arrival],
    complete: NDArray[np.bool_],
    alive: NDArray[np.intp],
) -> None:
    """Report a barrier that completes although threads of its block have exited."""
    short = np.repeat(alive < m.geometry.threads, _BARRIERS) & complete
    if not short.any():
        return
    for arrival in arrivals:
        here = np.flatnonzero(short[arrival.key])
        if here.size:
            block = int(m.block_of[arrival.lanes[here[0]]])
            blocks = len(np.unique(m.block_of[arrival.lanes[here]]))
            gone = block * m.geometry.threads + np.flatnonzero(
                ~m.alive[block * m.geometry.threads : (block + 1) * m.geometry.threads],
            )
            m.reporter.threads_missing(m, arrival.waiting.site, int(arrival.lanes[here[0]]), gone, blocks)


def _release_complete(m: Machine, arrivals: list[_Arrival], complete: NDArray[np.bool_]) -> list[Group]:
    released, m.waiting = [], []
    ended = np.zeros(m.geometry.blocks, np.bool_)
    for arrival in arrivals:
        going = complete[arrival.key]
        group = arrival.waiting.group
        ended[m.block_of[arrival.lanes[going]]] = True
        if going.all():
            released.append(group)
            continue
        m.waiting.append(
            type(arrival.waiting)(
                Group(group.frame, group.pc, arrival.lanes[~going], group.turn),
                arrival.waiting.site,
                _part(arrival.waiting.number, ~going),
                _part(arrival.waiting.expected, ~going),
            ),
        )
        if going.any():
            released.append(Group(group.frame, group.pc, arrival.lanes[going], group.turn))
    m.observer.interval_ended(m, None if ended.all() else ended)
    return released


def _part(value: np.generic | NDArray[np.generic], mask: NDArray[np.bool_]) -> object:
    return value if value.ndim == 0 else value[mask]  # type: ignore[index]
