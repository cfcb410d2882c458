"""Lanes that wait: for the others of their warp (BSYNC), for their block at a barrier (BAR), for their turn.

Warps take turns in loops that repeat an exchange in shared memory until nobody came between. ptxas makes such
a loop of an atomic sum of real numbers in shared memory: load, add, `ATOMS.CAST.SPIN`, and again where
somebody else has changed the word. If all warps of a block ran it in step, all but one would fail each time,
and each would go round as often as all lanes together; so one warp of a block goes through before the next
begins. Its own lanes that want one word still repeat it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from grader.sass.listing import Label
from grader.sass.machine import WARP, Group, TooMuchWorkError
from grader.sass.operands import Link, is_predicate
from grader.sass.warps import acting, waiting

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
        """The lanes that go on where no others do; raises TooMuchWorkError where none ever will."""
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


EXCHANGES = frozenset(("CAS", "CAST"))

_PATIENCE = 1000
"""After so many runs in which no warp that is held got its turn a loop is as any other: its warps may wait
for each other."""


def retry_loops(code: Sequence[Instruction]) -> dict[int, int]:
    """The innermost loops around an exchange in shared memory: where each begins and where it jumps back."""
    jumps = [
        (operand.target, at)
        for at, instruction in enumerate(code)
        if instruction.opcode == "BRA"
        for operand in instruction.operands
        if isinstance(operand, Label) and operand.target < at
    ]
    loops = {}
    for at, instruction in enumerate(code):
        if instruction.opcode == "ATOMS" and not EXCHANGES.isdisjoint(instruction.modifiers):
            around = [(first, last) for first, last in jumps if first <= at <= last]
            if around:
                first, last = min(around, key=lambda loop: loop[1] - loop[0])
                loops[first] = last
    return loops


@dataclass(slots=True)
class Turns:
    """The warps that are held at the beginning of a retry loop, until those before them are through."""

    loops: dict[int, int]
    held: dict[int, NDArray[np.bool_]] = field(default_factory=dict)
    _waited: int = 0

    def next_stop(self, pc: int, end: int) -> int:
        """Where lanes that are at ``pc`` come to a retry loop, if that is before ``end``."""
        return min((first for first in self.loops if pc < first < end), default=end)

    def admit(self, m: Machine, group: Group, ready: Sequence[Group]) -> Group | None:
        """The lanes of a group that may begin or go on with the loop it is at; the others are held."""
        if group.pc not in self.loops:
            return group
        lanes, last = _array(m, group.lanes), self.loops[group.pc]
        within = np.zeros(m.lanes, np.bool_)
        for other in ready:
            if group.pc < other.pc <= last:
                within |= _array(m, other.lanes)
        goes = lanes & _first_warps(m, lanes, within)
        stays = lanes & ~goes
        if stays.any():
            self.held[group.pc] = stays
        return Group(group.pc, goes) if goes.any() else None

    def release(self, ready: list[Group]) -> list[Group]:
        """The groups that are ready, with those that are held where nobody is in their loop."""
        if not self.held:
            return ready
        self._waited += 1
        if self._waited == _PATIENCE:
            for first in self.held:
                del self.loops[first]
        through = [first for first in self.held if not self._has_somebody(first, ready)]
        if through:
            self._waited = 0
        return merged(ready + [Group(first, self.held.pop(first)) for first in through])

    def _has_somebody(self, first: int, ready: Sequence[Group]) -> bool:
        """Whether anybody is in the loop that begins there."""
        return any(first <= group.pc <= self.loops.get(first, -1) for group in ready)


def _array(m: Machine, lanes: Mask) -> NDArray[np.bool_]:
    if lanes is not None:
        return lanes
    return np.ones(m.lanes, np.bool_) if m.threads is None else m.threads


def _first_warps(m: Machine, lanes: NDArray[np.bool_], within: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The lanes of one warp of each block: of that which is within the loop, or else of the first."""
    blocks = len(m.shape.blocks)
    inside = within.reshape(-1, WARP).any(axis=1).reshape(blocks, -1)
    present = lanes.reshape(-1, WARP).any(axis=1).reshape(blocks, -1)
    candidates = np.where(inside.any(axis=1, keepdims=True), inside, present)
    chosen = np.zeros_like(candidates)
    chosen[np.arange(blocks), candidates.argmax(axis=1)] = candidates.any(axis=1)
    return np.repeat(chosen.ravel(), WARP)
