"""Lanes that wait: for the others of their warp (BSYNC), or for those of their block at a barrier (BAR)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from grader.sass.convergence import waiting
from grader.sass.machine import WARP, Group, TooMuchWorkError
from grader.sass.operands import Link, is_predicate
from grader.sass.warps import acting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from grader.sass.listing import Instruction, Operand
    from grader.sass.machine import Machine, Mask

_REDUCTIONS = ("POPC", "AND", "OR")


@dataclass(frozen=True, slots=True)
class _Arrival:
    """Lanes that came to a barrier; of a block ``threads`` are expected (None: all that have not ended).

    ``goal`` is where they go on; it is negative for those that do not wait. ``votes`` are what they give to a
    reduction.
    """

    goal: int
    lanes: NDArray[np.bool_]
    barrier: int
    threads: int | None
    reduction: str = ""
    votes: NDArray[np.bool_] | np.bool_ = np.False_


@dataclass(slots=True)
class Waits:
    """All that wait."""

    converging: list[Group] = field(default_factory=list)
    """Lanes at a BSYNC or WARPSYNC."""
    barred: list[_Arrival] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether anybody waits, who does not only tell others that he came."""
        return bool(self.converging) or any(arrival.goal >= 0 for arrival in self.barred)

    def converge(self, m: Machine, pc: int, instruction: Instruction, lanes: Mask) -> list[Group]:
        """Lanes that came to a BSYNC or WARPSYNC: they go on where all of their warps have come, or wait."""
        arrived = acting(m) if lanes is None else lanes
        if not waiting(m, instruction, arrived).any():
            return [Group(pc + 1, lanes)]
        self.converging.append(Group(pc, lanes))
        return []

    def arrive(self, m: Machine, pc: int, instruction: Instruction) -> list[Group]:
        """The active lanes came to a BAR, and wait there but for `.ARV`; gives those that go on."""
        link, modifiers = Link(instruction, pc, {}), instruction.modifiers
        link.only("SYNC", "ARV", "RED", "DEFER_BLOCKING", *_REDUCTIONS)
        reduction = next((name for name in modifiers if name in _REDUCTIONS), "")
        numbers = [operand for operand in instruction.operands if not is_predicate(operand)]
        voters = [operand for operand in instruction.operands if is_predicate(operand)]
        if not numbers or bool(voters) != bool(reduction):
            raise link.unknown()
        barrier, *threads = (_agreed(m, link, operand) for operand in numbers)
        votes = np.broadcast_to(link.truth(voters[0])(m), (m.lanes,)) if voters else np.False_
        waits = "ARV" not in modifiers
        expects = threads[0] if threads else None
        self.barred.append(_Arrival(pc + 1 if waits else -1, acting(m), barrier, expects, reduction, votes))
        return [] if waits else [Group(pc + 1, m.mask)]

    def released(self, m: Machine, code: Sequence[Instruction]) -> list[Group]:
        """Those that go on where nobody else does; raises TooMuchWorkError where nobody ever will."""
        groups = self._converged(m, code) or self._past_barriers(m)
        if not groups:
            # Nobody comes any more for whom a warp waits: its lanes go on apart.
            groups, self.converging = [Group(g.pc + 1, g.lanes) for g in self.converging], []
        if not groups:
            raise TooMuchWorkError("threads wait for others that never come")
        return merged(groups)

    def _converged(self, m: Machine, code: Sequence[Instruction]) -> list[Group]:
        groups, rest = [], []
        for group in merged(self.converging):
            lanes = np.ones(m.lanes, np.bool_) if group.lanes is None else group.lanes
            m.mask = lanes
            stay = waiting(m, code[group.pc], lanes)
            go = lanes & ~stay
            groups += [Group(group.pc + 1, go)] if go.any() else []
            rest += [Group(group.pc, stay)] if stay.any() else []
        self.converging = rest
        return groups

    def _past_barriers(self, m: Machine) -> list[Group]:
        """The lanes of blocks in which as many came to a barrier as are expected."""
        groups: list[Group] = []
        for barrier in {arrival.barrier for arrival in self.barred}:
            mine = [arrival for arrival in self.barred if arrival.barrier == barrier]
            complete = _complete_blocks(m, mine)
            if not complete.any():
                continue
            released = np.repeat(complete, m.lanes // len(complete))
            _reduce(m, mine, released)
            groups += [
                Group(a.goal, a.lanes & released) for a in mine if a.goal >= 0 and (a.lanes & released).any()
            ]
            rest = [_without(arrival, released) for arrival in mine]
            others = [arrival for arrival in self.barred if arrival.barrier != barrier]
            self.barred = others + [arrival for arrival in rest if arrival.lanes.any()]
        return groups


def _agreed(m: Machine, link: Link, operand: Operand) -> int:
    """The value of an operand, which must be the same for all active lanes."""
    value = link.word(operand)(m)
    if value.size > 1:
        value = value[acting(m)]
    if not value.size or not (value == value[0]).all():
        raise link.unknown()
    return int(value[0])


def _complete_blocks(m: Machine, arrivals: list[_Arrival]) -> NDArray[np.bool_]:
    """The blocks in which all came that an arrival expects."""
    blocks = len(m.shape.blocks)
    present = np.logical_or.reduce([arrival.lanes for arrival in arrivals])
    threads = next((arrival.threads for arrival in arrivals if arrival.threads is not None), None)
    if threads is not None:
        # Whole warps count, whichever of their threads there are (PTX ISA, section 9.7.13.1).
        warps = sum(_warps_of(arrival.lanes, blocks) for arrival in arrivals)
        return np.asarray(warps * WARP >= threads)
    everybody = np.ones(m.lanes, np.bool_) if m.threads is None else m.threads
    alive = everybody if m.ended is None else everybody & ~m.ended
    return (present | ~alive).reshape(blocks, -1).all(axis=1) & present.reshape(blocks, -1).any(axis=1)


def _warps_of(lanes: NDArray[np.bool_], blocks: int) -> NDArray[np.int64]:
    """In how many warps of each block there are any of these lanes."""
    return lanes.reshape(-1, WARP).any(axis=1).reshape(blocks, -1).sum(axis=1)


def _reduce(m: Machine, arrivals: list[_Arrival], released: NDArray[np.bool_]) -> None:
    """What the votes of each block come to."""
    voters = [arrival for arrival in arrivals if arrival.reduction]
    if not voters:
        return
    blocks = len(m.shape.blocks)
    came = np.logical_or.reduce([arrival.lanes for arrival in voters]).reshape(blocks, -1)
    yes = np.logical_or.reduce([arrival.lanes & arrival.votes for arrival in voters]).reshape(blocks, -1)
    results: dict[str, Callable[[], NDArray[np.generic]]] = {
        "POPC": lambda: yes.sum(axis=1),
        "AND": lambda: (yes | ~came).all(axis=1),
        "OR": lambda: yes.any(axis=1),
    }
    values = np.repeat(results[voters[0].reduction]().astype(np.uint32), m.lanes // blocks)
    m.votes = np.where(released, values, m.votes)


def _without(arrival: _Arrival, lanes: NDArray[np.bool_]) -> _Arrival:
    rest = arrival.lanes & ~lanes
    return _Arrival(arrival.goal, rest, arrival.barrier, arrival.threads, arrival.reduction, arrival.votes)


def merged(groups: list[Group]) -> list[Group]:
    """Groups at one instruction as one."""
    by_pc: dict[int, Mask] = {}
    for group in groups:
        if group.pc in by_pc:
            other = by_pc[group.pc]
            by_pc[group.pc] = None if other is None or group.lanes is None else other | group.lanes
        else:
            by_pc[group.pc] = group.lanes
    return [Group(pc, None if lanes is not None and lanes.all() else lanes) for pc, lanes in by_pc.items()]
