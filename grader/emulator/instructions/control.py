"""Where lanes go on (PTX ISA section 9.7.12): branches, calls, returns, the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.emulator.machine import Frame, Group
from grader.errors import UnsupportedPtx
from grader.ptx import Symbol, Tuple

if TYPE_CHECKING:
    from grader.emulator.machine import Machine
    from grader.emulator.program import ControlStep, Link
    from grader.ptx import Instruction

MAX_DEPTH = 64
"""Calls inside calls; deeper recursion overflows a device's stack as well (1 KiB a thread by default)."""


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


def call(ins: Instruction, link: Link) -> ControlStep:
    """`call (results), function, (arguments)`: a new frame for the lanes that call together."""
    results = [o for o in ins.operands[:1] if isinstance(o, Tuple)] if len(ins.operands) > 1 else []
    callee = ins.operands[1 if results else 0]
    arguments = ins.operands[2 if results else 1 :][:1]
    if not isinstance(callee, Symbol):
        raise link.unsupported()
    passed = _names(arguments[0]) if arguments else []
    returned = _names(results[0]) if results else []
    program, after = link.program, link.pc + 1

    def step(m: Machine, group: Group) -> list[Group]:
        try:
            code = program.link(callee.name)
        except UnsupportedPtx:
            raise UnsupportedPtx(f"call {callee.name}", ins.ptx_line, program.source(ins)) from None
        caller = group.frame
        if (
            caller.depth >= MAX_DEPTH
            or caller.local + caller.code.local_bytes + code.local_bytes > m.local_bytes
        ):
            m.reporter.stack_overflow(m, ins)
            m.exit(group)
            return []
        frame = Frame(
            code,
            [None] * code.register_count,
            {
                formal.name: caller.parameters.get(actual, {})
                for formal, actual in zip(code.function.parameters, passed, strict=True)
            },
            caller.local + caller.code.local_bytes,
            caller.depth + 1,
            caller,
            after,
            tuple(zip((result.name for result in code.function.results), returned, strict=True)),
        )
        return [Group(frame, 0, group.lanes, group.turn)]

    return step


def _names(operand: object) -> list[str]:
    elements = operand.elements if isinstance(operand, Tuple) else ()
    return [element.name for element in elements if isinstance(element, Symbol)]


TABLE = {"bra": bra, "ret": ret, "exit": exit_, "trap": trap, "call": call}
