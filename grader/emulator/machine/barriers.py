"""Releasing barriers (PTX ISA section 9.7.13.1), once every lane that can run waits.

All blocks of a chunk pass a barrier together where they can, so that they stay in step. A barrier is
complete when as many threads of the block arrived as it expects; threads that have exited are not
waited for, as on a device, but that is reported: nothing guarantees it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.machine.geometry import BARRIERS
from grader.emulator.machine.state import Group
from grader.emulator.machine.values import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.state import Waiting


def release(m: Machine, *, only_complete: bool = False) -> list[Group]:
    """The groups that complete barriers let go; none if nothing waits any more.

    Blocks whose lanes wait for each other for ever end here, and a finding says so, unless ``only_complete``
    asks for the barriers that are complete while other lanes still run.
    """
    if not m.waiting:
        return []
    if _everyone_is_here(m):
        m.observer.interval_ended(m, None)
        m.changes += 1
        return [m.waiting.pop().group]
    arrivals = [_Arrival(m, waiting) for waiting in (*m.counted, *m.waiting)]
    expected = np.maximum.reduce([arrival.expected for arrival in arrivals])
    alive = np.bincount(m.block_of[m.alive], minlength=m.geometry.blocks)
    whole_block = np.repeat(alive, BARRIERS)
    counts = sum(arrival.counts for arrival in arrivals)
    complete = (counts > 0) & (counts >= np.where(expected > 0, expected, whole_block))
    passing = [waiting.group for waiting in m.waiting if waiting.goes_on]
    if not complete.any() and not passing:
        if only_complete:
            return []
        m.reporter.deadlocked(m)
        for waiting in m.waiting:
            m.exit(waiting.group)
        m.waiting.clear()
        return []
    _report_missing_threads(m, arrivals, complete & (expected == 0), alive)
    return _release_complete(m, arrivals, complete, whole_block) + passing


class _Arrival:
    """The lanes of one waiting group, by barrier: ``key`` = block * 16 + barrier number."""

    def __init__(self, m: Machine, waiting: Waiting) -> None:
        self.waiting = waiting
        group = waiting.group
        self.lanes = np.arange(m.size) if group.lanes is None else group.lanes
        number = spread(waiting.number, len(self.lanes)).astype(np.intp) % BARRIERS
        self.key: NDArray[np.intp] = m.block_of[self.lanes] * BARRIERS + number
        self.counts = np.bincount(self.key, minlength=m.geometry.blocks * BARRIERS)
        self.expected = np.zeros(len(self.counts), np.int64)
        self.expected[self.key] = waiting.expected


def _everyone_is_here(m: Machine) -> bool:
    """The usual case: one group, all lanes of the chunk, the whole block expected."""
    only = m.waiting[0]
    return (
        len(m.waiting) == 1
        and not m.counted
        and not only.goes_on
        and only.group.lanes is None
        and only.number.ndim == 0
        and not np.any(only.expected)
    )


def _report_missing_threads(
    m: Machine,
    arrivals: list[_Arrival],
    complete: NDArray[np.bool_],
    alive: NDArray[np.intp],
) -> None:
    """Report a barrier that completes although threads of its block have exited."""
    short = np.repeat(alive < m.geometry.threads, BARRIERS) & complete
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


def _release_complete(
    m: Machine,
    arrivals: list[_Arrival],
    complete: NDArray[np.bool_],
    whole_block: NDArray[np.intp],
) -> list[Group]:
    _tell_what_is_ordered(m, arrivals, complete, whole_block)
    m.changes += 1
    released, m.waiting, m.counted = list[Group](), [], []
    for arrival in arrivals:
        waiting, group = arrival.waiting, arrival.waiting.group
        going = complete[arrival.key]
        if not going.all():
            rest = _rest(arrival, ~going)
            (m.counted if waiting.goes_on else m.waiting).append(rest)
        if waiting.goes_on or not going.any():
            continue
        released.append(
            group if going.all() else Group(group.frame, group.pc, arrival.lanes[going], group.turn)
        )
    return released


def _tell_what_is_ordered(
    m: Machine,
    arrivals: list[_Arrival],
    complete: NDArray[np.bool_],
    whole_block: NDArray[np.intp],
) -> None:
    """A barrier that holds every thread of its block ends an interval; another orders those that came."""
    holding = [arrival for arrival in arrivals if not arrival.waiting.goes_on]
    held = sum((arrival.counts for arrival in holding), np.zeros(len(complete), np.intp))
    whole = complete & (held >= whole_block)
    ended = np.asarray(whole.reshape(-1, BARRIERS).any(axis=1))
    partial = complete & ~whole
    if partial.any():
        m.observer.passed_barrier(m, _at(partial, holding))
    if ended.any():
        m.observer.interval_ended(m, None if ended.all() else ended)


def _at(barriers: NDArray[np.bool_], arrivals: list[_Arrival]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The lanes at some barriers, and the barrier of each."""
    lanes = np.concatenate([np.zeros(0, np.intp), *(arrival.lanes for arrival in arrivals)])
    keys = np.concatenate([np.zeros(0, np.intp), *(arrival.key for arrival in arrivals)])
    here = barriers[keys]
    return lanes[here], keys[here]


def _rest(arrival: _Arrival, staying: NDArray[np.bool_]) -> Waiting:
    """The part of a waiting group whose barrier is not complete."""
    waiting, group = arrival.waiting, arrival.waiting.group
    return replace(
        waiting,
        group=Group(group.frame, group.pc, arrival.lanes[staying], group.turn),
        number=_part(waiting.number, staying),
        expected=_part(waiting.expected, staying),
    )


def _part(value: np.generic | NDArray[np.generic], mask: NDArray[np.bool_]) -> object:
    return value if value.ndim == 0 else value[mask]  # type: ignore[index]
