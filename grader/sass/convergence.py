"""Convergence barriers: where lanes of a warp that went different ways wait for each other.

BSSY notes the lanes that will meet in one of 16 barriers, BSYNC waits for them, BREAK takes lanes out, and
BMOV moves a barrier's lanes from and to registers. NVIDIA documents no more than their names; what they do
follows from the code that ptxas makes, and from "Independent Thread Scheduling" in its paper on Volta (2017).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.sass.listing import Register
from grader.sass.machine import WARP, whole_warps
from grader.sass.operands import register_index
from grader.sass.warps import acting, ballot

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.sass.listing import Instruction, Operand
    from grader.sass.machine import Machine, Step
    from grader.sass.operands import Link


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

    def step(m: Machine) -> None:
        words = np.broadcast_to(bits(m), (m.lanes,))
        # The bits are those of the lanes that are active, which all have the same.
        _set(m, number, (words >> m.lane.astype(np.uint32) & np.uint32(1)).astype(np.bool_))

    return step


def _barrier(link: Link, operand: Operand) -> int:
    number = barrier_number(operand)
    if number < 0:
        raise link.unknown()
    return number


def _lanes(m: Machine, number: int) -> NDArray[np.bool_]:
    return m.convergence.get(number, np.zeros(m.lanes, np.bool_))


def expected(m: Machine, instruction: Instruction) -> NDArray[np.bool_]:
    """The lanes that a BSYNC waits for, as far as they have not ended."""
    number = next((n for n in map(barrier_number, instruction.operands) if n >= 0), -1)
    lanes = _lanes(m, number)
    return lanes if m.ended is None else lanes & ~m.ended


TABLE: dict[str, Callable[[Link], Step]] = {"BSSY": _enter, "BREAK": _leave, "BMOV": _move}
"""How each instruction is linked."""
