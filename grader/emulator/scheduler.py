"""Which lanes run next: the group deepest in calls and furthest behind, so that lanes meet again.

Always running the smallest program counter makes lanes that parted at a branch wait for each other
where the paths join. Alone it would starve a lane that a spinning one waits for, so a group that keeps
looping while others wait is put back a turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.barriers import release
from grader.emulator.machine import Frame, Group

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.emulator.machine import Machine
    from grader.emulator.program import Code

PATIENCE = 256
"""Backward jumps that a group may take while others wait; half as many after each time it was put back."""

LEAST_PATIENCE = 16


class BudgetExceededError(Exception):
    """The blocks did more steps than they may; ``groups`` are where they were."""

    def __init__(self, groups: list[Group]) -> None:
        super().__init__()
        self.groups = groups


def run_blocks(m: Machine, entry: Code, parameters: dict[str, dict[int, object]], budget: int) -> None:
    """Run a chunk of blocks to its end; raises BudgetExceededError after ``budget`` vector steps."""
    frame = Frame(entry, [None] * entry.register_count, parameters, 0)
    ready = [Group(frame, 0, None)]
    while not m.stopped:
        if not ready:
            ready = release(m)
            if not ready:
                return
        group = _take_next(ready, m)
        horizon = _horizon(group, ready)
        m.enter(group, everyone=m.count_of(group) == m.alive_count)
        ready.extend(_advance(m, group, horizon, others_wait=bool(ready or m.waiting)))
        if m.steps > budget:
            raise BudgetExceededError(ready)


def _order(group: Group) -> tuple[int, int, int]:
    return (group.turn, -group.frame.depth, group.pc)


def _take_next(ready: list[Group], m: Machine) -> Group:
    """Take the next group out of ``ready``, joined by all that are at the same place."""
    if len(ready) == 1:
        return ready.pop()
    first = min(ready, key=_order)
    together = [g for g in ready if g.pc == first.pc and g.frame is first.frame]
    if len(together) == 1:
        ready.remove(first)
        return first
    ready[:] = [g for g in ready if g.pc != first.pc or g.frame is not first.frame]
    lanes, jumps = _union((g.lanes for g in together), m.size), max(g.jumps for g in together)
    return Group(first.frame, first.pc, lanes, first.turn, jumps)


def _union(parts: Iterable[object], size: int) -> np.ndarray | None:
    lanes = np.sort(np.concatenate([np.arange(size) if part is None else part for part in parts]))
    return None if len(lanes) == size else lanes


def _horizon(group: Group, ready: list[Group]) -> int:
    """How far a group may run before another group might join it."""
    ahead = [g.pc for g in ready if g.frame is group.frame and g.pc > group.pc]
    return min(ahead, default=1 << 30)


def _advance(m: Machine, group: Group, horizon: int, *, others_wait: bool) -> list[Group]:
    """Run a group until it meets, parts, waits or ends; gives the groups that go on."""
    code, pc, count = group.frame.code, group.pc, m.count
    steps, block_end, flops = code.steps, code.block_end, code.flops
    while pc < horizon:
        stop = min(block_end[pc], horizon)
        for step in steps[pc:stop]:
            step(m)
        m.steps += stop - pc + 1
        m.observer.executed((stop - pc) * count, (flops[stop] - flops[pc]) * count)
        pc = stop
        if pc >= horizon:
            break
        group.pc = pc
        more: list[Group] | None = steps[pc](m, group)
        m.observer.executed(count, 0)
        if more is not None:
            for each in more:  # also into a call: a loop around it may spin
                each.jumps = group.jumps
            return more
        if group.pc <= pc:
            group.jumps += 1
            if group.jumps >= max(PATIENCE >> group.turn, LEAST_PATIENCE):
                group.turn += others_wait
                group.jumps = 0
                break
        pc = group.pc
    group.pc = pc if pc >= horizon else group.pc
    return [group]
