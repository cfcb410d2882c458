"""Where lanes go on (PTX ISA section 9.7.12): branches, returns, the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.machine.state import Group

if TYPE_CHECKING:
    from grader.emulator.linking.link import ControlStep, Link
    from grader.emulator.machine.machine import Machine
    from grader.ptx import Instruction


def bra(ins: Instruction, link: Link) -> ControlStep:
    """`bra`, with or without a predicate: lanes that disagree part, to meet again further down."""
    target, after = link.target(ins.operands[0]), link.pc + 1
    if ins.guard is None:

        def jump(_m: Machine, group: Group) -> None:
            group.pc = target

        return jump
    condition = link.guard()

    def branch(m: Machine, group: Group) -> list[Group] | None:
        taken, others = m.split(group, condition(m, m.active))
        m.observer.branched(m, ins, group, taken, others)
        if taken:
            taken.pc = target
        if others:
            others.pc = after
        return [taken, others] if taken and others else None

    return branch


def ret(_ins: Instruction, _link: Link) -> ControlStep:
    """`ret`: back to the caller; from the kernel itself, the end."""

    def step(m: Machine, group: Group) -> list[Group] | None:
        frame = group.frame
        if frame.caller is None:
            m.exit(group)
            return []
        m.hand_back(frame, group)
        return [group]

    return step


def exit_(_ins: Instruction, _link: Link) -> ControlStep:
    """`exit`: the lanes end, wherever they are."""

    def step(m: Machine, group: Group) -> list[Group]:
        m.exit(group)
        return []

    return step


def trap(_ins: Instruction, link: Link) -> ControlStep:
    """`trap`: the whole launch stops with a fault (section 9.7.19.5)."""
    site = link.site()

    def step(m: Machine, _group: Group) -> list[Group]:
        m.reporter.trapped(m, site)
        m.stop()
        return []

    return step


def brx(ins: Instruction, link: Link) -> ControlStep:
    """`brx.idx index, list`: to one of a list of labels, beyond its end the last (9.7.12.3)."""
    targets, index = link.targets(ins.operands[1]), link.fetch(ins.operands[0], "u32")

    def branch(m: Machine, group: Group) -> list[Group] | None:
        chosen = np.minimum(index(m, m.active), np.uint32(len(targets) - 1))
        places = np.unique(chosen).tolist()
        if len(places) == 1:
            group.pc = targets[places[0]]
            return None
        lanes = m.lanes()
        return [Group(group.frame, targets[place], lanes[chosen == place], group.turn) for place in places]

    return branch


TABLE = {"bra": bra, "brx": brx, "ret": ret, "exit": exit_, "trap": trap}
