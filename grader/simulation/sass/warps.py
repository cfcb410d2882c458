"""Lanes of a warp: exchange of values, and convergence after divergence.

Convergence barriers make lanes that diverged wait for each other. BSSY notes the lanes that will meet in one
of 16 barriers, BSYNC waits for them, BREAK takes lanes out, and BMOV moves a barrier's lanes from and to
registers. NVIDIA documents no more than their names; their behaviour follows from the code that ptxas makes,
and from "Independent Thread Scheduling" in its paper on Volta (2017).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.sass.listing import Integer, SassRegister
from grader.simulation.sass.machine import WARP, whole_warps, words_of
from grader.simulation.sass.native_code import BARRIERS, Flag, MachineOperation
from grader.simulation.sass.operands import MASK, SassLink, is_predicate, predicate_index, register_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.sass.listing import Operand, SassInstruction
    from grader.simulation.sass.machine import SassMachine

_SHUFFLES = ("UP", "DOWN", "BFLY", "IDX")
_REDUCTIONS = ("SUM", "MIN", "MAX", "AND", "OR", "XOR")
"""In the order of `Shuffle` and `Reduction` in C++."""


def _shuffle(link: SassLink) -> MachineOperation:
    """SHFL: the value of another lane, as `shfl.sync` defines it (PTX ISA, section 9.7.9.6)."""
    link.only(*_SHUFFLES)
    operands = list(link.operands)
    in_range = predicate_index(operands.pop(0)) if is_predicate(operands[0]) else -1
    value, by, clamp = (link.word(operand) for operand in operands[1:4])
    mode = _SHUFFLES.index(link.instruction.modifiers[0])
    return MachineOperation(
        "shuffle", register_index(operands[0]), (value, by, clamp), decided=(in_range,), mode=mode
    )


def _vote(link: SassLink) -> MachineOperation:
    """VOTE: whether any or all lanes of a warp say so, and which."""
    operands = list(link.operands)
    to = -1 if is_predicate(operands[0]) else register_index(operands.pop(0))
    *decided, source = operands
    predicate = predicate_index(decided[0]) if decided else -1
    link.only("ALL", "ANY", "EQ")
    every, equal = link.has("ALL"), link.has("EQ")
    flags = Flag.EXTENDED * (equal and not every) | Flag.ANY * (not every and not equal)
    return MachineOperation("vote", to, truths=(link.truth(source),), decided=(predicate,), flags=flags)


def _match(link: SassLink) -> MachineOperation:
    """MATCH: the lanes of a warp with the same value (`.ANY`), or all where all have it (`.ALL`)."""
    link.only("ANY", "ALL", "U32", "U64")
    operands = list(link.operands)
    agreed = predicate_index(operands.pop(0)) if is_predicate(operands[0]) else -1
    read = link.pair if link.has("U64") else link.word
    flags = Flag.ANY * link.has("ANY") | Flag.WIDE * link.has("U64")
    return MachineOperation(
        "match", register_index(operands[0]), (read(operands[1]),), decided=(agreed,), flags=flags
    )


def _reduce(link: SassLink) -> MachineOperation:
    """REDUX: the sum, the extreme or the joined bits of a warp's values, joined by AND without a name."""
    link.only(*_REDUCTIONS, "S32", "U32")
    named, to = link.named(_REDUCTIONS), register_index(link.operands[0])
    mode = named if named >= 0 else _REDUCTIONS.index("AND")
    flags = Flag.SIGNED * link.has("S32")
    return MachineOperation("reduce", to, (link.word(link.operands[1]),), mode=mode, flags=flags)


def barrier_number(operand: Operand) -> int:
    """Number of the convergence barrier that an operand is; -1 for another operand."""
    return operand.index if isinstance(operand, SassRegister) and operand.file == "B" else -1


def _enter(link: SassLink) -> MachineOperation:
    """BSSY: the active lanes are the ones that will meet."""
    return MachineOperation("enter", immediate=_barrier(link, link.operands[0]))


def _leave(link: SassLink) -> MachineOperation:
    """BREAK: the active lanes will not come; the others of their barrier do not wait for them."""
    number = next((n for n in map(barrier_number, link.operands) if n >= 0), -1)
    if not 0 <= number < BARRIERS:
        raise link.unknown()
    return MachineOperation("leave", immediate=number)


def _move(link: SassLink) -> MachineOperation:
    """BMOV: a barrier to a register, or the other way."""
    link.only("32", "CLEAR")
    to, source = link.operands
    number = barrier_number(to)
    if number < 0:
        return MachineOperation("barrier_to_register", register_index(to), immediate=_barrier(link, source))
    return MachineOperation("register_to_barrier", sources=(link.word(source),), immediate=_barrier(link, to))


def _barrier(link: SassLink, operand: Operand) -> int:
    number = barrier_number(operand)
    if not 0 <= number < BARRIERS:
        raise link.unknown()
    return number


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


def waiting(m: SassMachine, instruction: SassInstruction, lanes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mask of the lanes at a BSYNC or a WARPSYNC that wait for others there that have not ended."""
    if instruction.opcode == "BSYNC":
        number = next((n for n in map(barrier_number, instruction.operands) if n >= 0), -1)
        masks = m.convergence[number]
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
    link = SassLink(instruction, {})
    link.only("ALL", "COLLECTIVE", "EXCLUSIVE")
    operands = [operand for operand in instruction.operands if isinstance(operand, SassRegister | Integer)]
    if not operands:
        return np.full(m.lanes, MASK, np.uint32)
    masks = words_of(m, link.word(operands[0]))
    if link.has("EXCLUSIVE") and (lanes & (masks != np.repeat(of_first(m, masks), WARP))).any():
        raise link.unknown()  # lanes with one mask after lanes with another
    return masks


def is_parted(m: SassMachine, instruction: SassInstruction, lanes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The lanes whose warp lacks any lane that the operand of a BRA.DIV names."""
    masks = [o for o in instruction.operands if isinstance(o, SassRegister) and o.file in ("R", "UR")]
    if not masks:
        return lanes & whole_warps(whole_warps(lanes) & ~lanes)
    words = words_of(m, SassLink(instruction, {}).word(masks[0])).reshape(-1, WARP)
    joined = np.bitwise_or.reduce(np.where(lanes.reshape(-1, WARP), words, np.uint32(0)), axis=1)
    return lanes & whole_warps(unpacked(joined) & ~lanes)


TABLE: dict[str, Callable[[SassLink], MachineOperation]] = {
    "SHFL": _shuffle,
    "MATCH": _match,
    "REDUX": _reduce,
    **dict.fromkeys(("VOTE", "VOTEU"), _vote),
    "BSSY": _enter,
    "BREAK": _leave,
    "BMOV": _move,
}
"""Link functions by opcode."""
