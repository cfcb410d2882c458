"""Lanes of a warp: exchange of values, and convergence after divergence.

Convergence barriers make lanes that diverged wait for each other. BSSY notes the lanes that will meet in one
of 16 barriers, BSYNC waits for them, BREAK takes lanes out, and BMOV moves a barrier's lanes from and to
registers. NVIDIA documents no more than their names; their behaviour follows from the code that ptxas makes,
and from "Independent Thread Scheduling" in its paper on Volta (2017).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.sass.listing import Integer, SassRegister
from grader.simulation.sass.machine import WARP, whole_warps
from grader.simulation.sass.operands import MASK, SassLink, is_predicate, predicate_index, register_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.sass.listing import Operand, SassInstruction
    from grader.simulation.sass.machine import SassMachine, Step


def _shuffle(link: SassLink) -> Step:
    """SHFL: the value of another lane, as `shfl.sync` defines it (PTX ISA, section 9.7.9.6)."""
    link.only("UP", "DOWN", "BFLY", "IDX")
    operands = list(link.operands)
    in_range = predicate_index(operands.pop(0)) if is_predicate(operands[0]) else -1
    to, value, by, clamp = register_index(operands[0]), *map(link.word, operands[1:4])
    mode = link.instruction.modifiers[0]

    def step(m: SassMachine) -> None:
        control, offset = clamp(m).astype(np.int64), by(m).astype(np.int64) & (WARP - 1)
        source, valid = _source(mode, m.lane, offset, control)
        words = np.broadcast_to(value(m), (m.lanes,))
        m.write(to, words[m.number - m.lane + np.where(valid, source, m.lane)])
        m.decide(in_range, valid)

    return step


def _source(
    mode: str, lane: NDArray[np.int64], offset: NDArray[np.int64], control: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The lane that each one reads, and whether that is one of its segment."""
    segment, clamp = control >> 8 & (WARP - 1), control & (WARP - 1)
    first = lane & segment
    last = first | clamp & ~segment
    if mode == "UP":
        return lane - offset, lane - offset >= last
    if mode == "DOWN":
        source = lane + offset
    elif mode == "BFLY":
        source = lane ^ offset
    else:
        source = first | offset & ~segment
    return source, source <= last


def _vote(link: SassLink) -> Step:
    """VOTE: whether any or all lanes of a warp say so, and which."""
    operands = list(link.operands)
    to = -1 if is_predicate(operands[0]) else register_index(operands.pop(0))
    *decided, source = operands
    predicate, value = predicate_index(decided[0]) if decided else -1, link.truth(source)
    link.only("ALL", "ANY", "EQ")
    every, equal = link.has("ALL"), link.has("EQ")

    def step(m: SassMachine) -> None:
        voting = acting(m).reshape(-1, WARP)
        votes = np.broadcast_to(value(m), (m.lanes,)).reshape(-1, WARP) & voting
        every_lane, any_lane = (votes | ~voting).all(axis=1), votes.any(axis=1)
        agreed = every_lane if every else every_lane | ~any_lane if equal else any_lane
        m.write(to, np.repeat(ballot(votes), WARP))
        m.decide(predicate, np.repeat(agreed, WARP))

    return step


def acting(m: SassMachine) -> NDArray[np.bool_]:
    """The lanes of the instruction that have a thread."""
    return m.active if m.threads is None else m.active & m.threads


def of_first(m: SassMachine, words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """For each warp the word of its first active lane."""
    first = acting(m).reshape(-1, WARP).argmax(axis=1)
    return np.broadcast_to(words, (m.lanes,)).reshape(-1, WARP)[np.arange(len(first)), first]


def unpacked(words: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """The bits of a word for each warp as truth values over the lanes."""
    return np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little").astype(np.bool_)


def ballot(votes: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """A bit of a word for each lane, from truth values of (warps, lanes)."""
    return np.packbits(votes, axis=1, bitorder="little").view("<u4")[:, 0]


def _match(link: SassLink) -> Step:
    """MATCH: the lanes of a warp with the same value (`.ANY`), or all where all have it (`.ALL`)."""
    link.only("ANY", "ALL", "U32", "U64")
    operands = list(link.operands)
    agreed = predicate_index(operands.pop(0)) if is_predicate(operands[0]) else -1
    to, read = register_index(operands[0]), link.pair if link.has("U64") else link.word
    value = read(operands[1])

    def step(m: SassMachine) -> None:
        lanes = acting(m).reshape(-1, WARP)
        values = np.broadcast_to(value(m), (m.lanes,)).reshape(-1, WARP)
        same = (values[:, :, None] == values[:, None, :]) & lanes[:, None, :]
        if link.has("ANY"):
            m.write(to, ballot(same.reshape(-1, WARP)))
            return
        everybody = (same | ~lanes[:, None, :]).all(axis=2).reshape(-1)
        m.write(to, np.where(everybody, np.repeat(ballot(lanes), WARP), np.uint32(0)))
        m.decide(agreed, everybody)

    return step


_REDUCTIONS: dict[str, np.ufunc] = {
    "SUM": np.add,
    "MIN": np.minimum,
    "MAX": np.maximum,
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
}


def _reduce(link: SassLink) -> Step:
    """REDUX: the sum, the extreme or the joined bits of a warp's values, joined by AND without a name."""
    link.only(*_REDUCTIONS, "S32", "U32")
    to, value = register_index(link.operands[0]), link.word(link.operands[1])
    name = next((name for name in link.instruction.modifiers if name in _REDUCTIONS), "AND")
    function = _REDUCTIONS[name]
    kind = np.dtype("i4" if link.has("S32") else "u4")
    bounds = np.iinfo(kind)
    neutral = {"MIN": bounds.max, "MAX": bounds.min, "AND": -1 if link.has("S32") else bounds.max}

    def step(m: SassMachine) -> None:
        values = np.broadcast_to(value(m).view(kind), (m.lanes,))
        counted = np.where(acting(m), values, kind.type(neutral.get(name, 0))).reshape(-1, WARP)
        m.write(to, np.repeat(function.reduce(counted, axis=1, dtype=kind).view(np.uint32), WARP))

    return step


def barrier_number(operand: Operand) -> int:
    """Number of the convergence barrier that an operand is; -1 for another operand."""
    return operand.index if isinstance(operand, SassRegister) and operand.file == "B" else -1


def _enter(link: SassLink) -> Step:
    """BSSY: the active lanes are the ones that will meet."""
    number = _barrier(link, link.operands[0])
    return lambda m: _set(m, number, np.repeat(ballot(acting(m).reshape(-1, WARP)), WARP))


def _set(m: SassMachine, number: int, masks: NDArray[np.uint32]) -> None:
    """Give the active lanes a barrier; each lane keeps its own, as a function that saves it expects."""
    m.convergence[number] = masks if m.mask is None else np.where(m.mask, masks, _masks(m, number))


def _masks(m: SassMachine, number: int) -> NDArray[np.uint32]:
    return m.convergence.get(number, np.zeros(m.lanes, np.uint32))


def _leave(link: SassLink) -> Step:
    """BREAK: the active lanes will not come; the others of their barrier do not wait for them."""
    number = next((n for n in map(barrier_number, link.operands) if n >= 0), -1)

    def step(m: SassMachine) -> None:
        masks, lanes = _masks(m, number), acting(m)
        leaving = np.repeat(ballot(lanes.reshape(-1, WARP)), WARP)
        concerned = masks == np.repeat(of_first(m, masks), WARP)
        m.convergence[number] = np.where(concerned, masks & ~leaving, masks)

    return step


def _move(link: SassLink) -> Step:
    """BMOV: a barrier to a register, or the other way."""
    link.only("32", "CLEAR")
    to, source = link.operands
    number = barrier_number(to)
    if number < 0:
        number, register = _barrier(link, source), register_index(to)
        return lambda m: m.write(register, _masks(m, number))
    bits = link.word(source)
    return lambda m: _set(m, number, np.broadcast_to(bits(m), (m.lanes,)))


def _barrier(link: SassLink, operand: Operand) -> int:
    number = barrier_number(operand)
    if number < 0:
        raise link.unknown()
    return number


def waiting(m: SassMachine, instruction: SassInstruction, lanes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mask of the lanes at a BSYNC or a WARPSYNC that wait for others there that have not ended."""
    if instruction.opcode == "BSYNC":
        number = next((n for n in map(barrier_number, instruction.operands) if n >= 0), -1)
        masks = _masks(m, number)
    else:
        masks = _warp_masks(m, instruction, lanes)
    everybody = np.ones(m.lanes, np.bool_) if m.threads is None else m.threads
    alive = everybody if m.ended is None else everybody & ~m.ended
    present, rows = lanes.reshape(-1, WARP), masks.reshape(-1, WARP)
    first = rows[np.arange(len(rows)), present.argmax(axis=1)][:, None]
    if ((rows == first) | ~present).all():
        came = ballot(present)[:, None]
    else:  # a function that calls itself may have lanes at one place for several barriers
        same = (rows[:, :, None] == rows[:, None, :]) & present[:, None, :]
        came = ballot(same.reshape(-1, WARP)).reshape(-1, WARP)
    missing = rows & ballot(alive.reshape(-1, WARP))[:, None] & ~came
    return lanes & (missing != 0).reshape(-1)


def _warp_masks(m: SassMachine, instruction: SassInstruction, lanes: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """The masks that a WARPSYNC gives; without one it waits for the whole warp."""
    link = SassLink(instruction, 0, {})
    link.only("ALL", "COLLECTIVE", "EXCLUSIVE")
    operands = [operand for operand in instruction.operands if isinstance(operand, SassRegister | Integer)]
    if not operands:
        return np.full(m.lanes, MASK, np.uint32)
    masks = np.broadcast_to(link.word(operands[0])(m), (m.lanes,))
    if link.has("EXCLUSIVE") and (lanes & (masks != np.repeat(of_first(m, masks), WARP))).any():
        raise link.unknown()  # lanes with one mask after lanes with another
    return masks


def is_parted(m: SassMachine, instruction: SassInstruction, lanes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The lanes whose warp lacks any lane that the operand of a BRA.DIV names."""
    masks = [o for o in instruction.operands if isinstance(o, SassRegister) and o.file in ("R", "UR")]
    if not masks:
        return lanes & whole_warps(whole_warps(lanes) & ~lanes)
    words = np.broadcast_to(SassLink(instruction, 0, {}).word(masks[0])(m), (m.lanes,)).reshape(-1, WARP)
    joined = np.bitwise_or.reduce(np.where(lanes.reshape(-1, WARP), words, np.uint32(0)), axis=1)
    return lanes & whole_warps(unpacked(joined) & ~lanes)


TABLE: dict[str, Callable[[SassLink], Step]] = {
    "SHFL": _shuffle,
    "MATCH": _match,
    "REDUX": _reduce,
    **dict.fromkeys(("VOTE", "VOTEU"), _vote),
    "BSSY": _enter,
    "BREAK": _leave,
    "BMOV": _move,
}
"""Link functions by opcode."""
