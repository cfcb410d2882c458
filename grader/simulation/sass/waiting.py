"""Lanes that wait: for the others of their warp (BSYNC), for their block at a barrier (BAR), for their turn.

Warps take turns in loops that repeat an exchange in shared memory until no other lane came between. ptxas
makes such a loop of an atomic sum of real numbers in shared memory: load, add, `ATOMS.CAST.SPIN`, and again
where another lane has changed the word. If all warps of a block ran it in step, all but one would fail each
time, and each would repeat as often as all lanes together; so one warp of a block goes through before the
next begins. Its own lanes that want one word still repeat it.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import frozen, mutable
from grader.simulation.sass.listing import Label
from grader.simulation.sass.machine import WARP, LaneGroup, StepLimitError, truths_of, words_of
from grader.simulation.sass.operands import SassLink, is_predicate
from grader.simulation.sass.warps import acting, waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from grader.simulation.sass.listing import Operand, SassInstruction
    from grader.simulation.sass.machine import Mask, SassMachine

_REDUCTIONS = ("POPC", "AND", "OR")


@frozen
class _Arrival:
    """Lanes that arrived at a barrier; ``threads`` of a block are expected (None: all that have not ended).

    ``goal`` is the index at which they go on; it is negative for lanes that do not wait. ``votes`` are their
    operands of a reduction.
    """

    goal: int
    lanes: NDArray[np.bool_]
    barrier: int
    threads: int | None
    reduction: str = ""
    votes: NDArray[np.bool_] | np.bool_ = np.False_


@mutable
class WaitingLanes:
    """All waiting lanes."""

    converging: list[LaneGroup] = field(default_factory=list)
    """Lanes at a BSYNC or WARPSYNC."""
    barred: list[_Arrival] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True if any lane waits: an arrival with `.ARV` does not."""
        return bool(self.converging) or any(arrival.goal >= 0 for arrival in self.barred)

    def converge(self, m: SassMachine, pc: int, instruction: SassInstruction, lanes: Mask) -> list[LaneGroup]:
        """Lanes that came to a BSYNC or WARPSYNC: they go on where all of their warps have come, or wait."""
        arrived = acting(m) if lanes is None else lanes
        if not waiting(m, instruction, arrived).any():
            return [LaneGroup(pc + 1, lanes)]
        self.converging.append(LaneGroup(pc, lanes))
        return []

    def arrive(self, m: SassMachine, pc: int, instruction: SassInstruction) -> list[LaneGroup]:
        """The active lanes arrived at a BAR, and wait there but for `.ARV`; gives the lanes that go on."""
        link, modifiers = SassLink(instruction, {}), instruction.modifiers
        link.only("SYNC", "ARV", "RED", "DEFER_BLOCKING", *_REDUCTIONS)
        reduction = next((name for name in modifiers if name in _REDUCTIONS), "")
        numbers = [operand for operand in instruction.operands if not is_predicate(operand)]
        voters = [operand for operand in instruction.operands if is_predicate(operand)]
        if not numbers or bool(voters) != bool(reduction):
            raise link.unknown()
        barrier, *threads = (_agreed(m, link, operand) for operand in numbers)
        votes = np.broadcast_to(truths_of(m, link.truth(voters[0])), m.lanes) if voters else np.False_
        waits = "ARV" not in modifiers
        expects = threads[0] if threads else None
        self.barred.append(_Arrival(pc + 1 if waits else -1, acting(m), barrier, expects, reduction, votes))
        return [] if waits else [LaneGroup(pc + 1, m.mask)]

    def released(self, m: SassMachine, code: Sequence[SassInstruction]) -> list[LaneGroup]:
        """The lanes that go on where no others do; raises TooMuchWorkError where none ever will."""
        groups = self._converged(m, code) or self._past_barriers(m)
        if not groups:
            # No more lanes arrive for which a warp waits: its lanes go on apart.
            groups, self.converging = [LaneGroup(g.pc + 1, g.lanes) for g in self.converging], []
        if not groups:
            raise StepLimitError("threads wait for others that never come")
        return merged(groups)

    def _converged(self, m: SassMachine, code: Sequence[SassInstruction]) -> list[LaneGroup]:
        groups, rest = [], []
        for group in merged(self.converging):
            lanes = np.ones(m.lanes, np.bool_) if group.lanes is None else group.lanes
            m.mask = lanes
            stay = waiting(m, code[group.pc], lanes)
            go = lanes & ~stay
            groups += [LaneGroup(group.pc + 1, go)] if go.any() else []
            rest += [LaneGroup(group.pc, stay)] if stay.any() else []
        self.converging = rest
        return groups

    def _past_barriers(self, m: SassMachine) -> list[LaneGroup]:
        """The lanes of blocks in which the expected number arrived at a barrier."""
        groups: list[LaneGroup] = []
        for barrier in {arrival.barrier for arrival in self.barred}:
            mine = [arrival for arrival in self.barred if arrival.barrier == barrier]
            complete = _complete_blocks(m, mine)
            if not complete.any():
                continue
            released = np.repeat(complete, m.lanes // len(complete))
            _reduce(m, mine, released)
            others = [arrival for arrival in self.barred if arrival.barrier != barrier]
            if complete.all():  # as almost always: there is nothing to keep of any arrival
                groups += [LaneGroup(a.goal, a.lanes) for a in mine if a.goal >= 0 and a.lanes.any()]
                self.barred = others
                continue
            groups += [
                LaneGroup(a.goal, a.lanes & released)
                for a in mine
                if a.goal >= 0 and (a.lanes & released).any()
            ]
            rest = [_without(arrival, released) for arrival in mine]
            self.barred = others + [arrival for arrival in rest if arrival.lanes.any()]
        return groups


def _agreed(m: SassMachine, link: SassLink, operand: Operand) -> int:
    """The value of an operand, which must be the same for all active lanes."""
    source = link.word(operand)
    if source.number < 0:
        return source.value
    value = words_of(m, source)[acting(m)]
    if not value.size or not (value == value[0]).all():
        raise link.unknown()
    return int(value[0])


def _complete_blocks(m: SassMachine, arrivals: list[_Arrival]) -> NDArray[np.bool_]:
    """The blocks in which all came that an arrival expects."""
    blocks = len(m.shape.blocks)
    present = _joined(arrival.lanes for arrival in arrivals)
    threads = next((arrival.threads for arrival in arrivals if arrival.threads is not None), None)
    if threads is not None:
        # Whole warps count, whichever of their threads there are (PTX ISA, section 9.7.13.1).
        warps = sum(_warps_of(arrival.lanes, blocks) for arrival in arrivals)
        return np.asarray(warps * WARP >= threads)
    if present.all():
        return np.ones(blocks, np.bool_)
    everybody = np.ones(m.lanes, np.bool_) if m.threads is None else m.threads
    alive = everybody if m.ended is None else everybody & ~m.ended
    everybody_came = (present | ~alive).reshape(blocks, -1).all(axis=1)
    return np.asarray(everybody_came & present.reshape(blocks, -1).any(axis=1))


def _joined(masks: Iterable[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """The lanes of any of some masks; of few arrays faster than `np.logical_or.reduce`."""
    first, *others = masks
    joined = first.copy()
    for mask in others:
        joined |= mask
    return joined


def _warps_of(lanes: NDArray[np.bool_], blocks: int) -> NDArray[np.int64]:
    """Number of warps of each block in which there are any of these lanes."""
    return lanes.reshape(-1, WARP).any(axis=1).reshape(blocks, -1).sum(axis=1)


def _reduce(m: SassMachine, arrivals: list[_Arrival], released: NDArray[np.bool_]) -> None:
    """Compute the reduction of the votes of each block."""
    voters = [arrival for arrival in arrivals if arrival.reduction]
    if not voters:
        return
    blocks = len(m.shape.blocks)
    came = _joined(arrival.lanes for arrival in voters).reshape(blocks, -1)
    yes = _joined(np.asarray(arrival.lanes & arrival.votes) for arrival in voters).reshape(blocks, -1)
    results: dict[str, Callable[[], Any]] = {
        "POPC": lambda: yes.sum(axis=1),
        "AND": lambda: (yes | ~came).all(axis=1),
        "OR": lambda: yes.any(axis=1),
    }
    values = np.repeat(results[voters[0].reduction]().astype(np.uint32), m.lanes // blocks)
    m.votes[released] = values[released]


def _without(arrival: _Arrival, lanes: NDArray[np.bool_]) -> _Arrival:
    rest = arrival.lanes & ~lanes
    return _Arrival(arrival.goal, rest, arrival.barrier, arrival.threads, arrival.reduction, arrival.votes)


def merged(groups: list[LaneGroup]) -> list[LaneGroup]:
    """Groups at one instruction as one."""
    by_pc: dict[int, Mask] = {}
    for group in groups:
        if group.pc in by_pc:
            other = by_pc[group.pc]
            by_pc[group.pc] = None if other is None or group.lanes is None else other | group.lanes
        else:
            by_pc[group.pc] = group.lanes
    return [
        LaneGroup(pc, None if lanes is not None and lanes.all() else lanes) for pc, lanes in by_pc.items()
    ]


EXCHANGES = frozenset(("CAS", "CAST"))

_PATIENCE = 1000
"""Number of runs in which no held warp got its turn, after which a loop counts as ordinary: its warps may
wait for each other."""


def retry_loops(code: Sequence[SassInstruction]) -> dict[int, int]:
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


@mutable
class RetryTurns:
    """The warps that are held at the beginning of a retry loop, until the warps before them are through."""

    loops: dict[int, int]
    held: dict[int, NDArray[np.bool_]] = field(default_factory=dict)
    _waited: int = 0

    def next_stop(self, pc: int, end: int) -> int:
        """Position at which lanes at ``pc`` reach a retry loop, if that is before ``end``."""
        return min((first for first in self.loops if pc < first < end), default=end)

    def admit(self, m: SassMachine, group: LaneGroup, ready: Sequence[LaneGroup]) -> LaneGroup | None:
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
        return LaneGroup(group.pc, goes) if goes.any() else None

    def release(self, ready: list[LaneGroup]) -> list[LaneGroup]:
        """The groups that are ready, with the held groups whose loop holds no other lanes."""
        if not self.held:
            return ready
        self._waited += 1
        if self._waited == _PATIENCE:
            for first in self.held:
                del self.loops[first]
        through = [first for first in self.held if not self._has_lanes(first, ready)]
        if through:
            self._waited = 0
        return merged(ready + [LaneGroup(first, self.held.pop(first)) for first in through])

    def _has_lanes(self, first: int, ready: Sequence[LaneGroup]) -> bool:
        """True if any lane is in the loop that begins at ``first``."""
        return any(first <= group.pc <= self.loops.get(first, -1) for group in ready)


def _array(m: SassMachine, lanes: Mask) -> NDArray[np.bool_]:
    if lanes is not None:
        return lanes
    return np.ones(m.lanes, np.bool_) if m.threads is None else m.threads


def _first_warps(m: SassMachine, lanes: NDArray[np.bool_], within: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The lanes of one warp of each block: of that which is within the loop, or else of the first."""
    blocks = len(m.shape.blocks)
    inside = within.reshape(-1, WARP).any(axis=1).reshape(blocks, -1)
    present = lanes.reshape(-1, WARP).any(axis=1).reshape(blocks, -1)
    candidates = np.where(inside.any(axis=1, keepdims=True), inside, present)
    chosen = np.zeros_like(candidates)
    chosen[np.arange(blocks), candidates.argmax(axis=1)] = candidates.any(axis=1)
    return np.repeat(chosen.ravel(), WARP)
