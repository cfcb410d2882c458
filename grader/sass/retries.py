"""Loops that repeat an exchange in shared memory until nobody came between: warps take turns.

ptxas makes such a loop of an atomic sum of real numbers in shared memory: load, add, `ATOMS.CAST.SPIN`, and
again where somebody else has changed the word. If all warps of a block ran it in step, all but one would fail
each time, and each would go round as often as all lanes together; so one warp of a block goes through before
the next begins. Its own lanes that want one word still repeat it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from grader.sass.listing import Label
from grader.sass.machine import WARP, Group
from grader.sass.waiting import merged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from grader.sass.listing import Instruction
    from grader.sass.machine import Machine, Mask

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
