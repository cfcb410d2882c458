"""Scheduling: the group deepest in calls and furthest behind runs next, so that lanes reconverge.

Always running the smallest program counter makes lanes that diverged at a branch wait for each other where
the paths join. Alone it would starve a lane that a spinning one waits for, so a group that keeps looping
while others wait is put back a turn; then barriers that are complete let their lanes go, too, so that a
spin-wait starves no thread that may end it.

A kernel whose atomic operations let it observe the order is run in other orders as well: `other_orders` and
`warp_priorities` give them.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.emulator.machine import synchronisation
from grader.simulation.emulator.machine.geometry import WARP
from grader.simulation.emulator.machine.progress import Watch, hangs, is_endless, only_waits
from grader.simulation.emulator.machine.state import Frame, Going, Group
from grader.simulation.emulator.machine.synchronisation import release
from grader.simulation.ptx import Register
from grader.simulation.ptx.nodes import registers_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from grader.model import Launch
    from grader.simulation.emulator.linking.link import Step
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.state import Code
    from grader.simulation.emulator.machine.values import Lanes, Value
    from grader.simulation.ptx import Function, Instruction

PATIENCE = 256
"""Backward jumps that a group may take while others wait; half as many after each time it was put back."""

LEAST_PATIENCE = 16

ROUNDS_OF_A_WAIT = 4
"""Rounds of a loop that only waits, after which a group is put back while others wait."""

_LOOK_EVERY = 4096
"""Steps after which the scheduler checks whether any thread can still end."""

_STRONG = {"volatile", "relaxed", "acquire"}


class HangError(Exception):
    """No lane that runs can ever end; ``groups`` are their last positions."""

    def __init__(self, groups: list[Group]) -> None:
        super().__init__()
        self.groups = groups


class TooMuchWorkError(Exception):
    """The blocks take more work than their budget allows; ``groups`` are their last positions."""

    def __init__(self, groups: list[Group]) -> None:
        super().__init__()
        self.groups = groups


class LaterBlocksNeededError(Exception):
    """All threads wait for a change that only blocks can make that have not been started."""


class Scheduler:
    """Runs a chunk of blocks, with at most ``budget`` of work.

    ``later_blocks``: there are blocks that a device could have started beside these. Once ``time_is_up``
    returns true, the blocks are given up, too: no caller waits for them any more. After ``suspect_after``
    steps it is looked, once, whether some thread never ends.
    """

    def __init__(
        self,
        m: Machine,
        entry: Code,
        parameters: dict[str, dict[int, Value]],
        budget: int,
        *,
        later_blocks: bool,
        suspect_after: int | None = None,
        time_is_up: Callable[[], bool] = lambda: False,
    ) -> None:
        self.m, self.budget, self.later_blocks, self.time_is_up = m, budget, later_blocks, time_is_up
        self.suspect_after = suspect_after
        frame = Frame(entry, [None] * entry.register_count, parameters, 0)
        _execute_hoisted(m, frame)
        self.ready = [Group(frame, 0, None)]
        self._look_at = _LOOK_EVERY
        self._most_work = budget

    def run(self) -> None:
        """Run the blocks to their end.

        Raises HangError, TooMuchWorkError or LaterBlocksNeededError where they do not reach it.
        """
        while self._round():
            if self.m.steps >= self._look_at and any(group.changes_at_jump >= 0 for group in self.ready):
                self._look_for_hangs()
            if self.suspect_after is not None and self.m.steps > self.suspect_after:
                self.suspect_after = None
                if self._never_ends():
                    raise HangError(self.ready)
            if self.m.work > self.budget:
                # Of warps one after another nothing is reported but the outputs of those that all end.
                never_ends = not self.m.apart and self._never_ends()
                raise HangError(self.ready) if never_ends else TooMuchWorkError(self.ready)
            if self.time_is_up():
                raise TooMuchWorkError(self.ready)

    def _round(self) -> bool:
        """Let one group run for a while; False if no group runs any more."""
        m, ready = self.m, self.ready
        if not ready:
            ready += _released(m)
            if not ready:
                return False
        group = _take_next(ready, m)
        horizon, alive, turn, changes = _horizon(group, ready), m.alive_count, group.turn, m.changes
        m.enter(group, everyone=m.count_of(group) == alive)
        going_on = _advance(m, group, horizon, self._most_work, others_wait=bool(ready or m.waiting))
        if m.priority is not None and m.changes > changes:  # the lane of highest priority reads again at once
            for other in ready:
                other.turn = min(other.turn, turn)
        ready += going_on
        if m.parked and m.alive_count < alive:
            ready += synchronisation.complete(m)
        if m.waiting and any(group.turn > turn for group in going_on):
            ready += release(m, only_complete=True)
        return not m.stopped

    def _look_for_hangs(self) -> None:
        self._look_at = self.m.steps + _LOOK_EVERY
        kind = hangs(self.m, self.ready)
        if kind is Going.WAITS and self.later_blocks:
            raise LaterBlocksNeededError
        if kind is not None:
            raise HangError(self.ready)

    def _never_ends(self) -> bool:
        """True if some thread is seen never to end; run some more steps for it."""
        most = self._most_work
        try:
            return Watch(self._groups).never_ends(self.m, self._go_on)
        finally:
            self._most_work = most

    def _go_on(self, steps: int) -> bool:
        """Run for ``steps`` more steps, or some more work; False if all came to their end."""
        until, self._most_work = self.m.steps + steps, self.m.work + max(steps, self.budget // 8)
        while self.m.steps < until and self.m.work < self._most_work:
            if not self._round():
                return False
        return True

    def _groups(self) -> list[Group]:
        """Groups of the lanes that have not ended, the ones put back behind a jump backwards first."""
        waiting = [waiting.group for waiting in self.m.waiting]
        parked = [Group(parked.frame, parked.pc, parked.lanes) for parked in self.m.parked]
        return sorted((*self.ready, *waiting, *parked), key=lambda group: group.changes_at_jump < 0)


def _released(m: Machine) -> list[Group]:
    """Groups that go on where none can run: first the ones that wait for no lane; none if all have ended."""
    return (
        synchronisation.complete(m)
        or release(m, only_complete=True)
        or synchronisation.give_up(m)
        or release(m)
    )


def _order(group: Group) -> tuple[int, int, int]:
    return (group.turn, -group.frame.depth, group.pc)


def _order_by(priority: NDArray[np.int64], group: Group) -> tuple[int, ...]:
    highest = int((priority if group.lanes is None else priority[group.lanes]).max())
    return (group.turn, -highest, *_order(group)[1:])


def _take_next(ready: list[Group], m: Machine) -> Group:
    """Take the next group out of ``ready``, joined by all that are at the same instruction."""
    if m.apart and m.priority is not None:
        return _take_highest(ready, m.priority)
    if len(ready) == 1:
        return ready.pop()
    first = min(ready, key=_order if m.priority is None else partial(_order_by, m.priority))
    together = [g for g in ready if g.pc == first.pc and g.frame is first.frame]
    if len(together) == 1:
        ready.remove(first)
        return first
    ready[:] = [g for g in ready if g.pc != first.pc or g.frame is not first.frame]
    lanes, jumps = _union((g.lanes for g in together), m.size), max(g.jumps for g in together)
    return Group(first.frame, first.pc, lanes, first.turn, jumps)


def _take_highest(ready: list[Group], priority: NDArray[np.int64]) -> Group:
    """Take the lanes of highest priority out of the next group, and others of theirs at its instruction."""
    first = min(ready, key=partial(_order_by, priority))
    ready.remove(first)
    lanes = np.arange(len(priority)) if first.lanes is None else first.lanes
    highest = priority[lanes].max()
    of_highest = priority[lanes] == highest
    if not of_highest.all():
        ready.append(replace(first, lanes=lanes[~of_highest]))
    parts, jumps = [lanes[of_highest]], first.jumps
    for group in [g for g in ready if g.pc == first.pc and g.frame is first.frame and g.lanes is not None]:
        if (priority[group.lanes] == highest).all():
            ready.remove(group)
            parts.append(group.lanes)
            jumps = max(jumps, group.jumps)
    return replace(first, lanes=_union(parts, len(priority)), jumps=jumps)


def _execute_hoisted(m: Machine, frame: Frame) -> None:
    """Execute, for all lanes, the instructions that were hoisted to the beginning of a kernel."""
    m.frame, m.registers = frame, frame.registers
    m.active = m.compute_mask = None
    for index in sorted(frame.code.hoisted):
        frame.code.steps[index](m)


def _until_a_change(m: Machine, steps: Sequence[Step], pc: int, stop: int, horizon: int) -> int:
    """Run up to ``stop`` or until something changes that others may wait for; gives the new horizon."""
    changes = m.changes
    for at in range(pc, stop):
        steps[at](m)
        if m.changes > changes:
            return at + 1
    return horizon


def _union(parts: Iterable[Lanes], size: int) -> Lanes:
    """The lanes of groups that meet; no lane is in two of them."""
    taking_part = [part for part in parts if part is not None]
    if sum(map(len, taking_part)) in (0, size):  # one of them has all lanes, or all together
        return None
    is_in_part = np.zeros(size, np.bool_)
    for part in taking_part:
        is_in_part[part] = True
    return np.flatnonzero(is_in_part)


def _horizon(group: Group, ready: list[Group]) -> int:
    """The instruction up to which a group may run before another group might join it."""
    ahead = [g.pc for g in ready if g.frame is group.frame and g.pc > group.pc]
    return min(ahead, default=1 << 30)


def _is_put_back(group: Group, *, others_wait: bool) -> bool:
    """True if a group that has just jumped backwards has had its share of rounds."""
    if group.jumps >= max(PATIENCE >> group.turn, LEAST_PATIENCE):
        return True
    return others_wait and group.jumps >= ROUNDS_OF_A_WAIT and only_waits(group)


def _advance(m: Machine, group: Group, horizon: int, most_work: int, *, others_wait: bool) -> list[Group]:
    """Run a group until it meets, parts, waits, ends or has worked enough; gives the groups that go on."""
    code, pc, count = group.frame.code, group.pc, m.count
    group.changes_at_jump = -1
    steps, block_end, flops = code.steps, code.block_end, code.flops
    while pc < horizon:
        stop = min(block_end[pc], horizon)
        if m.priority is None:
            for step in code.run(pc, stop):
                step(m)
        else:
            horizon = _until_a_change(m, steps, pc, stop, horizon)
            stop = min(stop, horizon)
        m.steps += stop - pc + 1
        m.charge(stop - pc + 1, count)
        m.observer.executed((stop - pc) * count, (flops[stop] - flops[pc]) * count)
        pc = stop
        if pc >= horizon:
            break
        group.pc = pc
        more: list[Group] | None = steps[pc](m, group)
        m.observer.executed(count, 0)
        if more is not None:
            for continuing in more:  # also into a call: a loop around it may spin
                continuing.jumps = group.jumps
            return more
        if group.pc <= pc:
            group.jumps += 1
            if group.jumps % LEAST_PATIENCE == 0 and is_endless(group):
                raise HangError([group])
            if _is_put_back(group, others_wait=others_wait) or m.work > most_work:
                group.turn += others_wait
                group.jumps = 0
                group.changes_at_jump = m.changes
                break
        pc = group.pc
    group.pc = pc if pc >= horizon else group.pc
    return [group]


def other_orders(first_updates: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Priorities of lanes for two more orders, by when each lane came to its first atomic operation.

    In the first order the lane that came last comes first, in the second the lane in the middle comes last.
    """
    rank = np.zeros(len(first_updates), np.int64)
    taking_part = np.flatnonzero(first_updates)
    rank[taking_part] = np.unique(first_updates[taking_part], return_inverse=True)[1] + 1
    middle = (int(rank.max()) + 1) // 2
    outside = np.where(rank > 0, 1 + np.abs(rank - middle), 0)
    return (rank,) if rank.max() <= 2 else (rank, outside)  # noqa: PLR2004 - of two lanes none is in the middle


def warp_priorities(launch: Launch) -> NDArray[np.int64]:
    """A priority for each warp of a block, higher in later warps, and higher still in later blocks."""
    blocks, threads = math.prod(launch.grid), math.prod(launch.block)
    warp, warps = np.arange(threads) // WARP, -(-threads // WARP)
    later = np.arange(blocks) >= blocks // 2
    return np.asarray(later[:, None] * warps + warp[None, :], np.int64).reshape(-1)


def may_depend_on_order(functions: Iterable[Function]) -> bool:
    """True if a kernel of these functions reads memory that other threads change without a data race.

    Atomic and volatile accesses need not race with each other (PTX ISA section 8.7.1), but the values that
    they read depend on the order of the threads. An atomic operation whose result is unused reads nothing.
    """
    return any(_reads_what_others_change(function) for function in functions)


def _reads_what_others_change(function: Function) -> bool:
    if any(
        instruction.opcode == "ld" and not _STRONG.isdisjoint(instruction.modifiers)
        for instruction in function.body
    ):
        return True
    results = [name for instruction in function.body if (name := _atomic_result(instruction))]
    if not results:
        return False
    mentions = Counter(
        name
        for instruction in function.body
        for operand in instruction.operands
        for name in registers_in(operand)
    )
    return any(mentions[name] > results.count(name) for name in results)


def _atomic_result(instruction: Instruction) -> str:
    """The register that an atomic operation gives its location's old value to; empty where it does not."""
    if instruction.opcode != "atom" or not isinstance(instruction.operands[0], Register):
        return ""
    return instruction.operands[0].name
