"""Barriers and fences (PTX ISA section 9.7.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.instructions.memory import nothing

if TYPE_CHECKING:
    from grader.emulator.machine import Group, Machine
    from grader.emulator.program import ControlStep, Link, Step
    from grader.ptx import Instruction


def bar(ins: Instruction, link: Link) -> Step | ControlStep:
    """`bar.sync a[, b]` and `barrier.sync`: wait until all threads of the block (or b of them) are there.

    `bar.warp.sync` orders the memory accesses of the lanes of a warp (section 9.7.13.2).
    """
    if "warp" in ins.modifiers:
        return _warp_sync
    if "sync" not in ins.modifiers:
        raise link.unsupported()
    number = link.fetch(ins.operands[0], "u32")
    expected = link.fetch(ins.operands[1], "u32") if len(ins.operands) > 1 else None
    site, after = link.site(), link.pc + 1

    def step(m: Machine, group: Group) -> list[Group]:
        group.pc = after
        count = expected(m, m.active) if expected else np.uint32(0)
        m.wait(group, site, number(m, m.active), count)
        return []

    return step


def _warp_sync(m: Machine) -> None:
    m.observer.warp_synchronised(m)


TABLE = {"bar": bar, "barrier": bar, "membar": nothing, "fence": nothing}
