"""Barriers and fences (PTX ISA section 9.7.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.machine.geometry import BARRIERS
from grader.emulator.machine.state import WarpOperation
from grader.emulator.machine.warp_sync import arrive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.linking.link import ControlStep, Link, Step
    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.state import Group
    from grader.emulator.machine.values import Value
    from grader.ptx import Instruction


def bar(ins: Instruction, link: Link) -> ControlStep:
    """`bar.sync a[, b]` and `barrier.sync`: wait until all threads of the block (or b of them) are there.

    `bar.arrive a, b` is counted and goes on. `bar.warp.sync` orders the memory accesses of the lanes of a
    warp (section 9.7.13.2).
    """
    if "warp" in ins.modifiers:
        operation = WarpOperation(link.site(), ins.name, link.fetch(ins.operands[0], "u32"), orders=True)
        return lambda m, group: arrive(m, group, operation)
    if "red" in ins.modifiers:
        return _reducing(ins, link)
    arrives = "arrive" in ins.modifiers
    if not arrives and "sync" not in ins.modifiers:
        raise link.unsupported()
    number = link.fetch(ins.operands[0], "u32")
    expected = link.fetch(ins.operands[1], "u32") if len(ins.operands) > 1 else None
    site, after = link.site(), link.pc + 1

    def step(m: Machine, group: Group) -> list[Group]:
        group.pc = after
        count = expected(m, m.active) if expected else np.uint32(0)
        which = number(m, m.active)
        if arrives:
            m.observer.announced(m, (m.lanes(), _keys(m, which)))
        m.wait(group, site, which, count, goes_on=arrives)
        return []

    return step


def fence(ins: Instruction, _link: Link) -> Step:
    """`membar` and `fence`: what a lane did before may be published by what it does next (9.7.13.4).

    A `fence.proxy` or the like orders memory that this machine does not have.
    """
    if "proxy" in ins.name:
        return lambda _m: None
    wide = "cta" not in ins.modifiers
    return lambda m: m.observer.fenced(m, wide=wide)


def _reducing(ins: Instruction, link: Link) -> ControlStep:
    """`bar.red.popc|and|or d, a[, b], [!]c`: a barrier that also counts votes.

    Lanes come here twice: first they wait, then, let go together, they count.
    """
    way = next((word for word in ins.modifiers if word in ("popc", "and", "or")), "")
    if not way:
        raise link.unsupported()
    register, number = link.register(ins.operands[0]), link.fetch(ins.operands[1], "u32")
    expected = link.fetch(ins.operands[2], "u32") if len(ins.operands) > 3 else None  # noqa: PLR2004
    vote, site, after = link.fetch(ins.operands[-1], "pred"), link.site(), link.pc + 1

    def step(m: Machine, group: Group) -> list[Group] | None:
        counting, arriving = m.split(group, m.voted[m.lanes()])
        if arriving is not None:
            m.active = arriving.lanes
            m.voted[m.lanes()] = True
            count = expected(m, m.active) if expected else np.uint32(0)
            m.wait(arriving, site, number(m, m.active), count)
        if counting is None:
            return []
        m.active = counting.lanes
        m.voted[m.lanes()] = False
        m.write_active(register, _count(m, way, vote(m, m.active), number(m, m.active)))
        counting.pc = after
        return [counting]

    return step


def _keys(m: Machine, number: Value) -> NDArray[np.intp]:
    """The barrier of each active lane, counted over all blocks."""
    which: NDArray[np.intp] = m.block_of[m.lanes()] * BARRIERS + number.astype(np.intp) % BARRIERS
    return which


def _count(m: Machine, way: str, vote: Value, number: Value) -> Value:
    """The votes of the lanes that passed a barrier of a block together, for each of the active lanes."""
    which = _keys(m, number)
    votes = np.broadcast_to(vote, which.shape)
    yes = np.bincount(which, weights=votes)[which]
    if way == "popc":
        return yes.astype(np.uint32)
    return yes > 0 if way == "or" else yes == np.bincount(which)[which]


TABLE = {"bar": bar, "barrier": bar, "membar": fence, "fence": fence}
