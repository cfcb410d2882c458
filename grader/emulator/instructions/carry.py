"""Extended precision: sums and products that take and give a carry (PTX ISA section 9.7.2).

Devices subtract by adding the complement and one, so that CC.CF after `sub.cc` is set where there was *no*
borrow, and `subc` borrows where it is clear. The ISA does not say so, but nvcc's 128-bit division relies on
it: it reads the borrow of a `subc.cc` with an `addc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.emulator.linking.link import Link, Step
    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.values import Value
    from grader.ptx import Instruction

_TYPES = ("u32", "s32", "u64", "s64")


def sum_with_carry(ins: Instruction, link: Link, *, minus: bool, takes: bool) -> Step:
    """`add.cc`, `addc`, `sub.cc`, `subc`: extended precision through CC.CF (section 9.7.2)."""
    if not set(ins.modifiers[:-1]) <= {"cc"} or ins.modifiers[-1] not in _TYPES:
        raise link.unsupported()
    kind = "u" + ins.modifiers[-1][1:]
    register = link.register(ins.operands[0])
    first, second = (link.fetch(operand, kind) for operand in ins.operands[1:3])
    combine = _difference if minus else _total
    gives = "cc" in ins.modifiers

    def step(m: Machine) -> None:
        carry: Value = m.carry_in() if takes else np.bool_(minus)
        result, out = combine(first(m, m.computing), second(m, m.computing), carry)
        if gives:
            m.carry_out(out)
        m.write(register, result)

    return step


def _total(a: Value, b: Value, carry: Value) -> tuple[Value, Value]:
    """A + b + carry and the carry out."""
    partial = a + b
    result = partial + carry.astype(a.dtype)
    return result, (partial < a) | (result < partial)


def _difference(a: Value, b: Value, carry: Value) -> tuple[Value, Value]:
    """A - b, less one where there is no carry, and the carry out: that nothing was borrowed."""
    partial, borrow = a - b, np.logical_not(carry)
    return partial - borrow.astype(a.dtype), ~((a < b) | ((partial == 0) & borrow))


def mad_with_carry(
    ins: Instruction, link: Link, product: Callable[[Value, Value], Value], *, takes: bool
) -> Step:
    """`mad.lo|hi.cc`, `madc.lo|hi[.cc]` (sections 9.7.2.5 and 9.7.2.6)."""
    kind = ins.modifiers[-1]
    if kind not in _TYPES:
        raise link.unsupported()
    register = link.register(ins.operands[0])
    fetches = [link.fetch(operand, kind) for operand in ins.operands[1:]]
    unsigned, gives = np.dtype(f"u{TYPE_BYTES[kind]}"), "cc" in ins.modifiers

    def step(m: Machine) -> None:
        a, b, c = (fetch(m, m.computing) for fetch in fetches)
        carry: Value = m.carry_in() if takes else np.False_
        result, out = _total(product(a, b).view(unsigned), c.view(unsigned), carry)
        if gives:
            m.carry_out(out)
        m.write(register, result)

    return step
