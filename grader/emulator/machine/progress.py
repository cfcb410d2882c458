"""Progress: whether a launch hangs, or has much work and will end.

A thread that goes round in a loop never leaves it if all that decides over leaving is the same each round (a
*settled* loop). If memory is among that, somebody else must change it: where all that run go round so, and
nothing has changed since each of them last looked, nobody ever will. What is left are loops that count: of
those the numbers that are compared tell. They come closer to each other, stay as far apart, or move away.
"""

from __future__ import annotations

from enum import Enum, auto
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.emulator.spin_waits import rounds_of
from grader.ptx import Immediate, Register

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.state import Group
    from grader.emulator.spin_waits import Round
    from grader.ptx import Instruction, Operand

_LOOKS = 16
"""How often the numbers of a loop are looked at: a loop that is begun anew seldom climbs so often."""

_BETWEEN = 768
"""Steps between two looks, and `_BETWEEN_GROUPS` more for each group, so that each goes round."""

_BETWEEN_GROUPS = 96

_LONGER = 37
"""Steps that each look comes later than the one before, so that looks do not fall into step with a loop."""

_MOST_GROUPS = 8
"""Groups that are looked at."""


class Going(Enum):
    """How a group goes on."""

    ENDLESS = auto()
    """It never leaves its loop."""
    WAITS = auto()
    """It leaves its loop only if somebody else changes memory."""
    ADVANCES = auto()
    """It comes closer to its end, or nobody can tell."""


def is_endless(group: Group) -> bool:
    """Whether a group that has just jumped backwards never leaves its loop, whatever anybody does."""
    endless = group.frame.code.endless
    if group.pc not in endless:
        loop = next((r for r in rounds_of(group) if r.header == group.pc and r.frame is group.frame), None)
        endless[group.pc] = loop is not None and loop.settled and not loop.watched
    return endless[group.pc]


def going(group: Group) -> Going:
    """How a group goes on that was put back behind a jump backwards, as far as its code tells."""
    if group.seen < 0:
        return Going.ADVANCES
    for round_ in rounds_of(group):
        if round_.header == group.pc and round_.frame is group.frame and round_.settled:
            return Going.WAITS if round_.watched else Going.ENDLESS
    return Going.ADVANCES


def hangs(m: Machine, ready: Sequence[Group]) -> Going | None:
    """ENDLESS or WAITS where no group can ever come to its end; None where some may."""
    kinds = set()
    for group in ready:
        kind = going(group)
        if kind is Going.ADVANCES or (kind is Going.WAITS and group.seen < m.changes):
            return None
        kinds.add(kind)
    return Going.WAITS if Going.WAITS in kinds else Going.ENDLESS


class _Compared(NamedTuple):
    """A comparison of a loop, with the two numbers that a lane compared at each look."""

    instruction: Instruction
    numbers: list[tuple[float, float] | None]


class _Looked(NamedTuple):
    """A loop around a lane, with what decides over it."""

    round_: Round
    compared: list[_Compared]


class Watch:
    """Looks several times at groups that have taken long, to see where they are going.

    Of each all loops count that it is in: where one comes closer to its end, those inside it are begun anew,
    and what they compare tells nothing. ``groups`` gives all that have not ended, as they are now.
    """

    def __init__(self, groups: Callable[[], Sequence[Group]]) -> None:
        self._groups = groups
        first = groups()
        self.between = _BETWEEN + _BETWEEN_GROUPS * len(first)
        self._watched: list[tuple[int, list[_Looked]]] = []
        for group in first[:_MOST_GROUPS]:
            rounds = [
                _Looked(round_, [_Compared(instruction, []) for instruction in round_.compares])
                for round_ in rounds_of(group)
            ]
            if rounds:
                self._watched.append((group.first_lane, rounds))

    def never_ends(self, m: Machine, go_on: Callable[[int], bool]) -> bool:
        """Whether some thread never ends; ``go_on`` runs for some steps, and tells if anybody still runs."""
        for look in range(_LOOKS):
            if look and not go_on(self.between + look * _LONGER):
                return False
            for lane, rounds in self._watched:
                for round_, compared in rounds:
                    for instruction, numbers in compared:
                        numbers.append(_numbers(m, round_, instruction, lane))
        return any(
            self._is_still_in(lane, rounds[0].round_) and all(map(_never_ends, rounds))
            for lane, rounds in self._watched
        )

    def _is_still_in(self, lane: int, round_: Round) -> bool:
        """Whether a lane is in a loop."""
        for group in self._groups():
            if group.lanes is None or lane in group.lanes:
                return any(r.frame is round_.frame and r.header == round_.header for r in rounds_of(group))
        return False


def _numbers(m: Machine, round_: Round, ins: Instruction, lane: int) -> tuple[float, float] | None:
    """The two numbers that a lane compared last; None where nobody can tell."""
    kind = ins.modifiers[-1]
    if kind[0] == "u" and ins.operands[2] == Immediate(0) and {"ge", "lt", "hs", "lo"} & set(ins.modifiers):
        return 0.0, 0.0  # no number without a sign is below zero: this never decides otherwise
    values = [_number(m, round_, operand, kind, lane) for operand in ins.operands[1:3]]
    return None if None in values else (values[0], values[1])  # type: ignore[return-value]


def _number(m: Machine, round_: Round, operand: Operand, kind: str, lane: int) -> float | None:
    dtype = _dtype(kind)
    if dtype is None:
        return None
    if isinstance(operand, Immediate):
        bits = np.array(operand.value % 2 ** (8 * dtype.itemsize), f"u{dtype.itemsize}")
        return float(bits.view(dtype)[()])
    if not isinstance(operand, Register):
        return None
    registers = [name for name, _ in round_.frame.code.function.registers]
    if operand.name not in registers:
        return None
    value = round_.frame.registers[registers.index(operand.name)]
    if value is None or value.dtype.itemsize != dtype.itemsize:
        return None
    value = m.memo.unfold(value)
    return float((value if value.ndim == 0 else value[lane]).view(dtype))


def _dtype(kind: str) -> np.dtype[np.generic] | None:
    """NumPy's type for the operands of a comparison."""
    letter, bits = kind[:1], kind[1:]
    if letter not in "sufb" or not bits.isdigit():
        return None
    return np.dtype({"s": "i", "u": "u", "f": "f", "b": "u"}[letter] + str(int(bits) // 8))


def _never_ends(looked: _Looked) -> bool:
    """Whether no comparison of a loop comes any closer to deciding otherwise."""
    if looked.round_.settled:
        return True
    return bool(looked.compared) and not any(_comes_closer(numbers) for _, numbers in looked.compared)


def _comes_closer(numbers: Sequence[tuple[float, float] | None]) -> bool:
    """Whether two numbers approach each other, or nobody can tell."""
    if None in numbers:
        return True
    distances = [abs(a - b) for a, b in numbers]  # type: ignore[misc]
    if any(np.isnan(distance) for distance in distances):
        return False
    return not all(before <= after for before, after in pairwise(distances))
