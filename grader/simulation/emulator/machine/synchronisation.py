"""Lanes that wait for each other: operations of a warp, and barriers of a block.

**Warps.** Lanes wait for each other at a `.sync` operation (PTX ISA sections 9.7.9.6 and 9.7.13.2). An
operation with a member mask completes once every lane that the mask names, and that has not exited, has
executed *an* operation with the same qualifiers; since sm_70 they need not be at the same instruction. Lanes
that come early are parked: they neither hold up the other warps of their group nor are held up by them.

**Barriers** (PTX ISA section 9.7.13.1) are released once every lane that can run waits. All blocks of a chunk
pass a barrier together where they can, so that they stay in step. A barrier is complete when as many threads
of the block arrived as it expects. One that expects the whole block does not wait for threads that have
exited (CUDA C++ Programming Guide, since compute capability 7.0): that is a remark where a `return` ended
them, and an error where they passed the barrier by.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.simulation.emulator.machine.geometry import BARRIERS, WARP
from grader.simulation.emulator.machine.state import Group, Parked
from grader.simulation.emulator.machine.values import TRUE, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.state import Frame, Waiting, WarpOperation
    from grader.simulation.emulator.machine.values import Value

Table: TypeAlias = "NDArray[Any]"
"""Values of lanes, shape (warps of the chunk, 32)."""

Act: TypeAlias = "Callable[[Machine, NDArray[np.uint32], Table], None]"
"""Executes an operation for the active lanes: given the mask of the lanes that take part with each of them,
and the values that the lanes of all warps offer."""

_EVERYBODY = np.uint32(0xFFFFFFFF)


def lane_in_warp(m: Machine, lanes: NDArray[np.intp]) -> NDArray[np.intp]:
    """The position of lanes in their warps."""
    return lanes % m.geometry.threads % WARP


def table_of(m: Machine, values: Value, absent: Any) -> Table:  # noqa: ANN401 - a NumPy scalar
    """Values of the active lanes, with ``absent`` where a lane is not active."""
    cells = np.full((m.warps, WARP), absent, values.dtype)
    lanes = m.lanes()
    cells[m.warp_of[lanes], lane_in_warp(m, lanes)] = values
    return cells


def ballot(m: Machine, holds: Value) -> NDArray[np.uint32]:
    """For each active lane the mask of the active lanes of its warp for which something holds."""
    return masks_of(table_of(m, holds, np.False_))[m.warp_of[m.lanes()]]


def masks_of(table: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """The rows of a table as masks."""
    masks: NDArray[np.uint32] = np.packbits(table, axis=1, bitorder="little").view(np.uint32)[:, 0]
    return masks


def _masks(m: Machine, lanes: NDArray[np.intp]) -> NDArray[np.uint32]:
    """For each warp the mask of its lanes that are among ``lanes``."""
    present = np.zeros((m.warps, WARP), np.bool_)
    present[m.warp_of[lanes], lane_in_warp(m, lanes)] = True
    return masks_of(present)


def arrive(m: Machine, group: Group, operation: WarpOperation) -> list[Group] | None:
    """The active lanes, a group at its instruction, arrive at an operation; the result is that of a step."""
    named, present = operation.mask(m, m.active), ballot(m, TRUE)
    if m.count == m.alive_count or not _names_absent_lane(m, named, present):
        _perform(m, operation, _party(m, operation, named, present), _offered(m, operation))
        group.pc += 1
        return None
    lanes = m.lanes()
    offered = (
        spread(operation.offer(m, m.active), m.count) if operation.offer else np.zeros(m.count, np.uint8)
    )
    named = np.broadcast_to(named, m.count)
    m.parked.append(Parked(operation, group.frame, group.pc, lanes, named, offered, group.turn))
    return complete(m)


def _names_absent_lane(m: Machine, named: Value, present: NDArray[np.uint32]) -> bool:
    """True if a mask names a lane that is neither here nor has exited."""
    absent = named & ~present
    return bool(np.any(absent)) and bool(
        np.any(absent & _masks(m, np.flatnonzero(m.alive))[m.warp_of[m.lanes()]])
    )


def _offered(m: Machine, operation: WarpOperation) -> Table:
    if operation.offer is None:
        return np.zeros((0, WARP), np.uint8)
    return table_of(m, operation.offer(m, m.active), operation.absent)


def complete(m: Machine) -> list[Group]:
    """Let the parked lanes go whose masks name no lane that is still to come."""
    if not m.parked:
        return []
    alive = _masks(m, np.flatnonzero(m.alive))
    released: list[Group] = []
    for kind in dict.fromkeys(parked.operation.kind for parked in m.parked):
        of_kind = [parked for parked in m.parked if parked.operation.kind == kind]
        present = _masks(m, np.concatenate([parked.lanes for parked in of_kind]))
        missing = alive & ~present
        released_parts = []
        for parked in of_kind:
            ready = (parked.named & missing[m.warp_of[parked.lanes]]) == 0
            if ready.any():
                released_parts.append(parked.part(ready))
                m.parked.remove(parked)
                if not ready.all():
                    m.parked.append(parked.part(~ready))
        released += _let_go(m, released_parts, present)
    return released


def give_up(m: Machine) -> list[Group]:
    """Report the lanes that never reach the first operation that lanes are parked at, and let these go."""
    if not m.parked:
        return []
    first = min(m.parked, key=lambda parked: (-parked.frame.depth, parked.pc))
    of_kind = [parked for parked in m.parked if parked.operation.kind == first.operation.kind]
    present = _masks(m, np.concatenate([parked.lanes for parked in of_kind]))
    alive = np.flatnonzero(m.alive)
    named = np.zeros(m.warps, np.uint32)
    np.bitwise_or.at(named, m.warp_of[first.lanes], first.named)
    absent = (named & ~present)[m.warp_of[alive]] >> lane_in_warp(m, alive).astype(np.uint32) & np.uint32(1)
    _enter(m, first.frame, first.lanes)
    m.reporter.lanes_missing(m, first.operation.site, alive[absent.astype(np.bool_)])
    m.parked.remove(first)
    return _let_go(m, [first], present)


def _let_go(m: Machine, parts: Iterable[Parked], present: NDArray[np.uint32]) -> list[Group]:
    """Execute an operation for lanes at one or several instructions; ``present`` is the mask of each warp."""
    joined = _joined_parts(parts)
    if not joined:
        return []
    m.gather()
    operation = joined[0].operation
    table = np.full((m.warps, WARP), operation.absent, joined[0].offered.dtype)
    for part in joined:
        table[m.warp_of[part.lanes], lane_in_warp(m, part.lanes)] = part.offered
    parties = []
    for part in joined:
        _enter(m, part.frame, part.lanes)
        parties.append(_party(m, part.operation, part.named, present[m.warp_of[part.lanes]]))
        if part.operation.act is not None:
            part.operation.act(m, parties[-1], table)
    if operation.orders:
        lanes, party = np.concatenate([part.lanes for part in joined]), np.concatenate(parties)
        order = np.argsort(lanes)
        m.active = lanes[order]
        m.observer.warp_synchronised(m, party[order])
    return [part.group() for part in joined]


def _joined_parts(parts: Iterable[Parked]) -> list[Parked]:
    """The parts, with the parts of one instruction and frame as one."""
    by_place: dict[tuple[int, int], list[Parked]] = {}
    for part in parts:
        by_place.setdefault((id(part.frame), part.pc), []).append(part)
    return [several[0] if len(several) == 1 else _union(several) for several in by_place.values()]


def _union(parts: list[Parked]) -> Parked:
    lanes = np.concatenate([part.lanes for part in parts])
    order = np.argsort(lanes)
    named = np.concatenate([part.named for part in parts])[order]
    offered = np.concatenate([part.offered for part in parts])[order]
    leading = parts[0]
    turn = min(part.turn for part in parts)
    return Parked(leading.operation, leading.frame, leading.pc, lanes[order], named, offered, turn)


def _enter(m: Machine, frame: Frame, lanes: NDArray[np.intp]) -> None:
    m.frame, m.registers = frame, frame.registers
    m.active = m.compute_mask = lanes


def _perform(m: Machine, operation: WarpOperation, party: NDArray[np.uint32], table: Table) -> None:
    if operation.act is not None:
        operation.act(m, party, table)
    if operation.orders:
        m.observer.warp_synchronised(m, party)


def _party(
    m: Machine, operation: WarpOperation, named: Value, present: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """For each active lane the mask of the lanes that take part with it.

    PTX leaves the behaviour of a lane undefined that its own mask does not name (section 9.7.9.6); it is
    reported, and as seen on sm_90 all lanes of its warp that are there take part.
    """
    party: NDArray[np.uint32] = named & present
    outside = _outside(m, named)
    if outside.size:
        m.reporter.lanes_unnamed(m, operation.site, outside)
        party = np.where(np.isin(m.warp_of[m.lanes()], m.warp_of[outside]), present, party)
    return party


def _outside(m: Machine, named: Value) -> NDArray[np.intp]:
    """The active lanes that the mask which they give does not name."""
    if np.all(named == _EVERYBODY):
        return np.zeros(0, np.intp)
    lanes = m.lanes()
    unnamed: NDArray[np.bool_] = (named >> lane_in_warp(m, lanes).astype(np.uint32) & np.uint32(1)) == 0
    return lanes[unnamed]


def release(m: Machine, *, only_complete: bool = False) -> list[Group]:
    """The groups that complete barriers release; none if nothing waits any more.

    Blocks whose lanes wait for each other for ever end here, and a finding says so, unless ``only_complete``
    asks for the barriers that are complete while other lanes still run.
    """
    if not m.waiting:
        return []
    if _whole_chunk_waits(m):
        m.observer.interval_ended(m, None)
        m.gather()
        return [m.waiting.pop().group]
    arrivals = [_BarrierArrival(m, waiting) for waiting in (*m.counted, *m.waiting)]
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


class _BarrierArrival:
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


def _whole_chunk_waits(m: Machine) -> bool:
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
    arrivals: list[_BarrierArrival],
    complete: NDArray[np.bool_],
    alive: NDArray[np.intp],
) -> None:
    """Report a barrier that completes although threads of its block have exited."""
    short = np.repeat(alive < m.geometry.threads, BARRIERS) & complete
    if not short.any():
        return
    for arrival in arrivals:
        positions = np.flatnonzero(short[arrival.key])
        if positions.size:
            block = int(m.block_of[arrival.lanes[positions[0]]])
            blocks = len(np.unique(m.block_of[arrival.lanes[positions]]))
            exited = block * m.geometry.threads + np.flatnonzero(
                ~m.alive[block * m.geometry.threads : (block + 1) * m.geometry.threads],
            )
            returned = arrival.waiting.group.frame.entry.returned
            passed_by = exited if returned is None else exited[~returned[exited]]
            m.reporter.threads_missing(
                m, arrival.waiting.site, int(arrival.lanes[positions[0]]), (exited, passed_by), blocks
            )


def _release_complete(
    m: Machine,
    arrivals: list[_BarrierArrival],
    complete: NDArray[np.bool_],
    whole_block: NDArray[np.intp],
) -> list[Group]:
    _observe_order(m, arrivals, complete, whole_block)
    m.gather()
    released, m.waiting, m.counted = list[Group](), [], []
    for arrival in arrivals:
        waiting, group = arrival.waiting, arrival.waiting.group
        going = complete[arrival.key]
        if not going.all():
            rest = _incomplete_part(arrival, ~going)
            (m.counted if waiting.goes_on else m.waiting).append(rest)
        if waiting.goes_on or not going.any():
            continue
        released.append(
            group if going.all() else Group(group.frame, group.pc, arrival.lanes[going], group.turn)
        )
    return released


def _observe_order(
    m: Machine,
    arrivals: list[_BarrierArrival],
    complete: NDArray[np.bool_],
    whole_block: NDArray[np.intp],
) -> None:
    """A barrier that holds every thread of its block ends an interval; another orders its lanes."""
    holding = [arrival for arrival in arrivals if not arrival.waiting.goes_on]
    held = sum((arrival.counts for arrival in holding), np.zeros(len(complete), np.intp))
    whole = complete & (held >= whole_block)
    ended = np.asarray(whole.reshape(-1, BARRIERS).any(axis=1))
    partial = complete & ~whole
    if partial.any():
        m.observer.passed_barrier(m, _at(partial, holding))
    if ended.any():
        m.observer.interval_ended(m, None if ended.all() else ended)


def _at(
    barriers: NDArray[np.bool_], arrivals: list[_BarrierArrival]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The lanes at some barriers, and the barrier of each."""
    lanes = np.concatenate([np.zeros(0, np.intp), *(arrival.lanes for arrival in arrivals)])
    keys = np.concatenate([np.zeros(0, np.intp), *(arrival.key for arrival in arrivals)])
    selected = barriers[keys]
    return lanes[selected], keys[selected]


def _incomplete_part(arrival: _BarrierArrival, staying: NDArray[np.bool_]) -> Waiting:
    """The part of a waiting group whose barrier is not complete."""
    waiting, group = arrival.waiting, arrival.waiting.group
    return replace(
        waiting,
        group=Group(group.frame, group.pc, arrival.lanes[staying], group.turn),
        number=_part(waiting.number, staying),
        expected=_part(waiting.expected, staying),
    )


def _part(value: Value, mask: NDArray[np.bool_]) -> Value:
    return value if value.ndim == 0 else value[mask]
