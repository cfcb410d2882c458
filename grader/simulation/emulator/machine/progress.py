"""Progress: distinguishes a launch that hangs from one that has much work and will end.

A thread in a loop never leaves it if all values that decide over leaving are the same in each iteration (a
*settled* loop). If memory is among them, another thread must change it: where all running threads are in such
loops, and nothing has changed since each of them last read memory, no thread ever will. The remaining cases
are examined when the work is spent: a loop that counts away from its end never reaches it, and threads that
are twice in the same state while no memory changes loop for ever. Any other long launch counts as much work:
it is not proved that it hangs.
"""

from __future__ import annotations

from functools import partial
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.emulator.machine.state import Going
from grader.simulation.emulator.spin_waits import rounds_of
from grader.simulation.ptx import Immediate, Register

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.state import Frame, Group
    from grader.simulation.emulator.machine.values import Value
    from grader.simulation.emulator.spin_waits import Counter, Round
    from grader.simulation.ptx import Operand

_LOOKS = 16
"""Number of times that the threads that have taken long are examined."""

_BETWEEN = 768
"""Steps between two checks, and `_BETWEEN_GROUPS` more for each group, so that each loops once."""

_BETWEEN_GROUPS = 96

_LONGER = 37
"""Steps by which each interval between checks is longer, so that checks do not fall into step with a loop."""

_MOST_GROUPS = 8
"""Maximum number of groups that are checked."""


def is_endless(group: Group) -> bool:
    """True if a group that has just jumped backwards never leaves its loop, whatever other threads do."""
    return _going_round(group) is Going.ENDLESS


def only_waits(group: Group) -> bool:
    """True if a group that has just jumped backwards leaves its loop only once others change memory."""
    return _going_round(group) is Going.WAITS


def _going_round(group: Group) -> Going:
    """Progress of the loop that begins where a group has jumped backwards; computed once for each loop."""
    loops = group.frame.code.loops
    if group.pc not in loops:
        loop = next((r for r in rounds_of(group) if r.header == group.pc and r.frame is group.frame), None)
        if loop is None or not loop.settled:
            loops[group.pc] = Going.ADVANCES
        else:
            loops[group.pc] = Going.WAITS if loop.watched else Going.ENDLESS
    return loops[group.pc]


def going(group: Group) -> Going:
    """Progress of a group that was put back behind a jump backwards, as far as its code determines it."""
    if group.changes_at_jump < 0:
        return Going.ADVANCES
    for round_ in rounds_of(group):
        if round_.header == group.pc and round_.frame is group.frame and round_.settled:
            return Going.WAITS if round_.watched else Going.ENDLESS
    return Going.ADVANCES


def hangs(m: Machine, ready: Sequence[Group]) -> Going | None:
    """ENDLESS or WAITS where no group can ever end; None where some may."""
    kinds = set()
    for group in ready:
        kind = going(group)
        if kind is Going.ADVANCES or (kind is Going.WAITS and group.changes_at_jump < m.changes):
            return None
        kinds.add(kind)
    return Going.WAITS if Going.WAITS in kinds else Going.ENDLESS


class Watch:
    """Examines groups that have taken long several times, to detect if one of them never ends.

    ``groups`` gives all that have not ended, as they are now.
    """

    def __init__(self, groups: Callable[[], Sequence[Group]]) -> None:
        self._groups = groups
        self.between = _BETWEEN + _BETWEEN_GROUPS * len(groups())

    def never_ends(self, m: Machine, go_on: Callable[[int], bool]) -> bool:
        """True if some thread never ends; ``go_on`` runs for some steps, returns true if any still runs."""
        states: set[tuple[object, ...]] = set()
        m.compares_stores = True
        changes = m.changes_of_state
        for look in range(_LOOKS):
            if look and not go_on(self.between + look * _LONGER):
                return False
            if any(map(partial(_counts_away, m), self._groups()[:_MOST_GROUPS])):
                return True
            if m.counted or m.changes_of_state != changes:
                states.clear()
                changes = m.changes_of_state
            state = tuple(_state(m, group) for group in self._groups()[: _MOST_GROUPS + 1])
            if state in states and len(state) <= _MOST_GROUPS:
                return True
            states.add(state)
        return False


def _counts_away(m: Machine, group: Group) -> bool:
    """True if a group that has just jumped backwards counts, in a loop around it, past its end condition."""
    if group.changes_at_jump < 0:
        return False
    loops = (loop for loop in rounds_of(group) if loop.counters and loop.header == group.pc)
    return any(
        loop.frame is group.frame
        and all(_never_decides(m, loop, counter, group.first_lane) for counter in loop.counters)
        for loop in loops
    )


def _never_decides(m: Machine, loop: Round, counter: Counter, lane: int) -> bool:
    """True if the result of a comparison never changes."""
    kind = counter.compare.modifiers[-1]
    a, b = (_number(m, loop, operand, kind, lane) for operand in counter.compare.operands[1:3])
    if a is None or b is None or kind[0] not in "us":
        return False
    if {"eq", "ne"} & set(counter.compare.modifiers):
        return (b - a) % gcd(counter.step, 2 ** int(kind[1:])) != 0
    away = (a - b) * counter.step > 0  # a number with a sign that overflows is beyond the language
    return kind[0] == "s" and away


def _number(m: Machine, round_: Round, operand: Operand, kind: str, lane: int) -> int | None:
    dtype = _dtype(kind)
    if dtype is None:
        return None
    if isinstance(operand, Immediate):
        bits = np.array(operand.value % 2 ** (8 * dtype.itemsize), f"u{dtype.itemsize}")
        return int(bits.view(dtype)[()])
    if not isinstance(operand, Register):
        return None
    registers = [name for name, _ in round_.frame.code.function.registers]
    if operand.name not in registers:
        return None
    value = round_.frame.registers[registers.index(operand.name)]
    if value is None or value.dtype.itemsize != dtype.itemsize:
        return None
    value = m.memo.unfold(value)
    return int((value if value.ndim == 0 else value[lane]).view(dtype))


def _dtype(kind: str) -> np.dtype[np.generic] | None:
    """NumPy's type for the operands of a comparison."""
    letter, bits = kind[:1], kind[1:]
    if letter not in "sub" or not bits.isdigit():
        return None
    return np.dtype({"s": "i", "u": "u", "b": "u"}[letter] + str(int(bits) // 8))


def _state(m: Machine, group: Group) -> tuple[object, ...]:
    """Position of the lanes of a group, and all that they hold of their own."""
    lanes = np.arange(m.size) if group.lanes is None else group.lanes
    frame: Frame | None = group.frame
    state: list[object] = [group.pc, lanes.tobytes(), _waits(m, group)]
    while frame is not None:
        state += [frame.code.function.name, frame.return_pc, frame.local]
        state += [_lane_bytes(m, value, lanes) for value in frame.registers]
        state += [
            _lane_bytes(m, value, lanes) for block in frame.parameters.values() for value in block.values()
        ]
        frame = frame.caller
    own = m.local.bytes.reshape(m.size, -1) if m.local_bytes else m.local.bytes.reshape(1, -1)
    return (*state, own[lanes if m.local_bytes else slice(None)].tobytes())


def _waits(m: Machine, group: Group) -> bool:
    """True if a group waits at a barrier or for other lanes of its warps."""
    return any(waiting.group is group for waiting in m.waiting) or any(
        parked.frame is group.frame and parked.lanes is group.lanes for parked in m.parked
    )


def _lane_bytes(m: Machine, value: Value | None, lanes: NDArray[np.intp]) -> bytes:
    if value is None:
        return b""
    value = m.memo.unfold(value)
    return (value if value.ndim == 0 else value[lanes]).tobytes()
