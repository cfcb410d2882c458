"""Calls of functions, by name and through pointers (PTX ISA section 9.7.12.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.emulator.instructions.runtime import SYSTEM
from grader.emulator.machine.state import Frame, Group
from grader.errors import UnsupportedPtx
from grader.model import FindingCode
from grader.ptx import Register, Symbol, Tuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.emulator.linking.link import ControlStep, Link
    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.state import Code
    from grader.emulator.machine.values import Value
    from grader.ptx import Instruction, Operand

MAX_DEPTH = 128
"""Calls inside calls: of each no more than 8 bytes would fit into CUDA's default stack (1 KiB a thread)."""


class _Call(NamedTuple):
    """The parts of a call: whom, with what, and into what; where to go on."""

    callee: Operand
    passed: tuple[str, ...]
    returned: tuple[str, ...]
    after: int


def call(ins: Instruction, link: Link) -> ControlStep:
    """`call (results), function, (arguments)`, or a register and a prototype in place of the function."""
    results = [o for o in ins.operands[:1] if isinstance(o, Tuple)] if len(ins.operands) > 1 else []
    callee = ins.operands[1 if results else 0]
    arguments = ins.operands[2 if results else 1 :][:1]
    parts = _Call(callee, _names(arguments), _names(results), link.pc + 1)
    if isinstance(callee, Symbol):
        if callee.name in SYSTEM and not link.program.defines(callee.name):
            return SYSTEM[callee.name](link, parts.passed, parts.returned)
        return _by_name(ins, link, parts)
    if isinstance(callee, Register):
        return _through_pointer(ins, link, parts)
    raise link.unsupported()


def _names(lists: object) -> tuple[str, ...]:
    """The names in the first of some parenthesised lists."""
    first = lists[0] if isinstance(lists, list | tuple) and lists else None
    elements = first.elements if isinstance(first, Tuple) else ()
    return tuple(element.name for element in elements if isinstance(element, Symbol))


def _by_name(ins: Instruction, link: Link, parts: _Call) -> ControlStep:
    name = parts.callee.name if isinstance(parts.callee, Symbol) else ""

    def step(m: Machine, group: Group) -> list[Group]:
        code = _linked(link, name, ins)
        if not _fits(code, parts):
            raise link.unsupported()
        return _enter(m, group, ins, code, parts)

    return step


def _through_pointer(ins: Instruction, link: Link, parts: _Call) -> ControlStep:
    """Lanes that call different functions part; they meet again behind the call."""
    pointer, site = link.fetch(parts.callee, "u64"), link.site()

    def step(m: Machine, group: Group) -> list[Group]:
        entered: list[Group] = []
        for address, called in _parted(group, pointer(m, m.active), m):
            name = link.program.function_at(address)
            code = _linked(link, name, ins) if name else None
            m.active = called.lanes
            if code is not None and _fits(code, parts):
                entered += _enter(m, called, ins, code, parts)
                continue
            wrong_type = f"calls `{name}` through a pointer to another type"
            reported_code = FindingCode.CALL_OF_OTHER_TYPE if name else FindingCode.CALL_OF_NOTHING
            m.reporter.fault(m, site, reported_code, wrong_type if name else _nowhere(address))
            m.exit(called)
        return entered

    return step


def _nowhere(address: int) -> str:
    return f"calls a function at address {address:#x}, where there is none: was the pointer ever set?"


def _parted(group: Group, pointer: Value, m: Machine) -> Iterator[tuple[int, Group]]:
    """A group as one group for each address that its lanes call."""
    addresses = np.unique(pointer)
    if len(addresses) == 1:
        yield int(addresses[0]), group
        return
    lanes = m.lanes()
    for address in addresses:
        yield int(address), Group(group.frame, group.pc, lanes[pointer == address], group.turn)


def _linked(link: Link, name: str, ins: Instruction) -> Code:
    try:
        return link.program.link(name, ins.location)
    except UnsupportedPtx:
        refusal = UnsupportedPtx(f"call {name}", ins.ptx_line, link.program.sources(ins))
        raise refusal from None


def _fits(code: Code, parts: _Call) -> bool:
    """Whether a function takes as many arguments, and gives as many results."""
    function = code.function
    return len(function.parameters) == len(parts.passed) and len(function.results) == len(parts.returned)


def _enter(m: Machine, group: Group, ins: Instruction, code: Code, parts: _Call) -> list[Group]:
    """A new frame for the lanes that call together; none if their stack is full."""
    caller = group.frame
    local = caller.local + caller.code.local_bytes
    if caller.depth >= MAX_DEPTH or local + code.local_bytes > m.local_bytes:
        m.reporter.stack_overflow(m, ins)
        m.stop()
        return []
    formal = (parameter.name for parameter in code.function.parameters)
    arguments = {
        name: caller.parameters.get(actual, {}) for name, actual in zip(formal, parts.passed, strict=True)
    }
    results = tuple(zip((result.name for result in code.function.results), parts.returned, strict=True))
    frame = Frame(
        code, [None] * code.register_count, arguments, local, caller.depth + 1, caller, parts.after, results
    )
    return [Group(frame, 0, group.lanes, group.turn)]


TABLE = {"call": call}
