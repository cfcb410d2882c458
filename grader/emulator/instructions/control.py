"""Where lanes go on (PTX ISA section 9.7.12): branches, calls, returns, the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.machine import Frame, Group
from grader.emulator.memory import GLOBAL_BASE
from grader.emulator.values import select
from grader.errors import UnsupportedPtx
from grader.ptx import Symbol, Tuple

if TYPE_CHECKING:
    from grader.emulator.machine import Machine
    from grader.emulator.program import ControlStep, Link
    from grader.ptx import Instruction

MAX_DEPTH = 64
"""Calls inside calls; deeper recursion overflows a device's stack as well (1 KiB a thread by default)."""

_LONGEST = 200
"""Characters of an assertion that are shown."""


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
    if callee.name in _SYSTEM:
        return _SYSTEM[callee.name](link, passed, returned)

    def step(m: Machine, group: Group) -> list[Group]:
        try:
            code = program.link(callee.name, ins.location)
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


def _printf(link: Link, _passed: list[str], returned: list[str]) -> ControlStep:
    """`vprintf`: nobody reads what a kernel prints; it is told that all went well."""
    after = link.pc + 1

    def step(m: Machine, group: Group) -> None:
        for name in returned:
            m.write_parameter(m.frame.parameters.setdefault(name, {}), 0, np.int32(0))
        group.pc = after

    return step


def _assertion_failed(link: Link, passed: list[str], _returned: list[str]) -> ControlStep:
    """`__assertfail(message, file, line, function, size)`: the launch stops with the assertion's text."""
    site = link.site()

    def step(m: Machine, _group: Group) -> list[Group]:
        pieces = m.frame.parameters.get(passed[0], {}) if passed else {}
        m.reporter.trapped(m, site, _text(m, int(select(pieces[0], m.lanes()[:1]).item())) if pieces else "")
        m.stop()
        return []

    return step


def _text(m: Machine, address: int) -> str:
    """The string at a global address, cut off where it is long; what cannot be shown becomes a `?`."""
    start = address - GLOBAL_BASE
    holder = m.memory.holding(start, start + 1)
    content = m.memory.bytes[start : min(holder.end, start + _LONGEST)].tobytes() if holder else b""
    text = content.split(b"\0")[0].decode("utf-8", "replace")
    return "".join(each if each.isprintable() else "?" for each in text)


_SYSTEM = {"vprintf": _printf, "__assertfail": _assertion_failed}
"""Functions that the device's runtime provides."""

TABLE = {"bra": bra, "ret": ret, "exit": exit_, "trap": trap, "call": call}
