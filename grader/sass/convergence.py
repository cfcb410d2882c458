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
from grader.sass.operands import Link, register_index
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
    return lambda m: _set(m, number, acting(m))


def _set(m: Machine, number: int, lanes: NDArray[np.bool_]) -> None:
    before = m.convergence.get(number)
    if before is not None and m.mask is not None:
        lanes = np.where(whole_warps(m.mask), lanes, before)
    m.convergence[number] = lanes


def _leave(link: Link) -> Step:
    """BREAK: the active lanes will not come."""
    number = next((n for n in map(barrier_number, link.operands) if n >= 0), -1)

    def step(m: Machine) -> None:
        if number in m.convergence:
            m.convergence[number] = m.convergence[number] & ~acting(m)

    return step


def _move(link: Link) -> Step:
    """BMOV: the lanes of a barrier as the bits of a register, or the other way."""
    link.only("32", "CLEAR")
    to, source = link.operands
    number = barrier_number(to)
    if number < 0:
        number, register = _barrier(link, source), register_index(to)
        return lambda m: m.write(register, np.repeat(ballot(_lanes(m, number).reshape(-1, WARP)), WARP))
    bits = link.word(source)

    return lambda m: _set(m, number, unpacked(of_first(m, bits(m))))


def _barrier(link: Link, operand: Operand) -> int:
    number = barrier_number(operand)
    if number < 0:
        raise link.unknown()
    return number


def _lanes(m: Machine, number: int) -> NDArray[np.bool_]:
    return m.convergence.get(number, np.zeros(m.lanes, np.bool_))


def expected(m: Machine, instruction: Instruction, lanes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whom lanes wait for at a BSYNC or a WARPSYNC, as far as they have not ended."""
    if instruction.opcode == "BSYNC":
        number = next((n for n in map(barrier_number, instruction.operands) if n >= 0), -1)
        named = _lanes(m, number)
    else:
        named = _named(m, instruction, lanes)
    present = named if m.threads is None else named & m.threads
    return present if m.ended is None else present & ~m.ended


def _named(m: Machine, instruction: Instruction, lanes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The lanes of the masks that a WARPSYNC gives; without one it waits for the whole warp."""
    link = Link(instruction, 0, {})
    link.only("ALL", "COLLECTIVE", "EXCLUSIVE")
    masks = [operand for operand in instruction.operands if isinstance(operand, Register | Integer)]
    if not masks:
        return whole_warps(lanes)
    words = np.broadcast_to(link.word(masks[0])(m), (m.lanes,)).reshape(-1, WARP)
    active = lanes.reshape(-1, WARP)
    given = np.where(active, words, np.uint32(0))
    joined = np.bitwise_or.reduce(given, axis=1)
    if link.has("EXCLUSIVE") and ((given != joined[:, None]) & active).any():
        raise link.unknown()  # lanes with one mask after those with another
    return unpacked(joined)


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
