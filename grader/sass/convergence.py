"""Convergence barriers: where lanes of a warp that went different ways wait for each other.

BSSY notes the lanes that will meet in one of 16 barriers, BSYNC waits for them, BREAK takes lanes out, and
BMOV moves a barrier's lanes from and to registers. NVIDIA documents no more than their names; what they do
follows from the code that ptxas makes, and from "Independent Thread Scheduling" in its paper on Volta (2017).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.sass.listing import Integer, Register
from grader.sass.machine import WARP, whole_warps
from grader.sass.operands import MASK, Link, register_index
from grader.sass.warps import acting, ballot, of_first, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.sass.listing import Instruction, Operand
    from grader.sass.machine import Machine, Step


def barrier_number(operand: Operand) -> int:
    """Which convergence barrier an operand is; -1 for another operand."""
    return operand.index if isinstance(operand, Register) and operand.file == "B" else -1


def _enter(link: Link) -> Step:
    """BSSY: the active lanes are those that will meet."""
    number = _barrier(link, link.operands[0])
    return lambda m: _set(m, number, np.repeat(ballot(acting(m).reshape(-1, WARP)), WARP))


def _set(m: Machine, number: int, masks: NDArray[np.uint32]) -> None:
    """Give the active lanes a barrier; each lane keeps its own, as a function that saves it expects."""
    m.convergence[number] = masks if m.mask is None else np.where(m.mask, masks, _masks(m, number))


def _masks(m: Machine, number: int) -> NDArray[np.uint32]:
    return m.convergence.get(number, np.zeros(m.lanes, np.uint32))


def _leave(link: Link) -> Step:
    """BREAK: the active lanes will not come; the others of their barrier do not wait for them."""
    number = next((n for n in map(barrier_number, link.operands) if n >= 0), -1)

    def step(m: Machine) -> None:
        masks, lanes = _masks(m, number), acting(m)
        leaving = np.repeat(ballot(lanes.reshape(-1, WARP)), WARP)
        concerned = masks == np.repeat(of_first(m, masks), WARP)
        m.convergence[number] = np.where(concerned, masks & ~leaving, masks)

    return step


def _move(link: Link) -> Step:
    """BMOV: a barrier to a register, or the other way."""
    link.only("32", "CLEAR")
    to, source = link.operands
    number = barrier_number(to)
    if number < 0:
        number, register = _barrier(link, source), register_index(to)
        return lambda m: m.write(register, _masks(m, number))
    bits = link.word(source)
    return lambda m: _set(m, number, np.broadcast_to(bits(m), (m.lanes,)))


def _barrier(link: Link, operand: Operand) -> int:
    number = barrier_number(operand)
    if number < 0:
        raise link.unknown()
    return number


def waiting(m: Machine, instruction: Instruction, lanes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of the lanes at a BSYNC or a WARPSYNC wait for others there that have not ended."""
    if instruction.opcode == "BSYNC":
        number = next((n for n in map(barrier_number, instruction.operands) if n >= 0), -1)
        masks = _masks(m, number)
    else:
        masks = _named(m, instruction, lanes)
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


def _named(m: Machine, instruction: Instruction, lanes: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """The masks that a WARPSYNC gives; without one it waits for the whole warp."""
    link = Link(instruction, 0, {})
    link.only("ALL", "COLLECTIVE", "EXCLUSIVE")
    operands = [operand for operand in instruction.operands if isinstance(operand, Register | Integer)]
    if not operands:
        return np.full(m.lanes, MASK, np.uint32)
    masks = np.broadcast_to(link.word(operands[0])(m), (m.lanes,))
    if link.has("EXCLUSIVE") and (lanes & (masks != np.repeat(of_first(m, masks), WARP))).any():
        raise link.unknown()  # lanes with one mask after those with another
    return masks


def is_parted(m: Machine, instruction: Instruction, lanes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The lanes whose warp lacks any that the operand of a BRA.DIV names."""
    masks = [o for o in instruction.operands if isinstance(o, Register) and o.file in ("R", "UR")]
    if not masks:
        return lanes & whole_warps(whole_warps(lanes) & ~lanes)
    words = np.broadcast_to(Link(instruction, 0, {}).word(masks[0])(m), (m.lanes,)).reshape(-1, WARP)
    joined = np.bitwise_or.reduce(np.where(lanes.reshape(-1, WARP), words, np.uint32(0)), axis=1)
    return lanes & whole_warps(unpacked(joined) & ~lanes)


TABLE: dict[str, Callable[[Link], Step]] = {"BSSY": _enter, "BREAK": _leave, "BMOV": _move}
"""How each instruction is linked."""
