"""Logic and shifts (PTX ISA section 9.7.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.machine.values import DTYPES, Value
from grader.ptx import Immediate
from grader.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.emulator.linking.link import Link, Step
    from grader.ptx import Instruction


def _bitwise(function: Callable[..., Value], arity: int) -> Callable[[Instruction, Link], Step]:
    def build(ins: Instruction, link: Link) -> Step:
        return link.pure(function, *[ins.modifiers[-1]] * arity)

    return build


def cnot(ins: Instruction, link: Link) -> Step:
    """`cnot`: 1 where the operand is 0, else 0 (section 9.7.8.5)."""
    kind = ins.modifiers[-1]
    return link.pure(lambda a: (a == 0).astype(DTYPES[kind]), kind)


def shl(ins: Instruction, link: Link) -> Step:
    """`shl`: amounts beyond the width give 0 (section 9.7.8.8)."""
    kind = ins.modifiers[-1]
    dtype, width = DTYPES[kind], 8 * TYPE_BYTES[kind]
    constant = ins.operands[2]
    if isinstance(constant, Immediate) and 0 <= constant.value < width:
        return link.pure(np.left_shift, kind, kind)

    def shift(a: Value, by: Value) -> Value:
        return np.where(by < width, a << np.minimum(by, width - 1).astype(dtype), dtype.type(0))[()]

    return link.pure(shift, kind, "u32")


def shr(ins: Instruction, link: Link) -> Step:
    """`shr`: signed types fill with the sign, amounts beyond the width count as the width (9.7.8.9)."""
    kind = ins.modifiers[-1]
    dtype, width = DTYPES[kind], 8 * TYPE_BYTES[kind]
    constant = ins.operands[2]
    if isinstance(constant, Immediate) and 0 <= constant.value < width:
        return link.pure(np.right_shift, kind, kind)

    def shift(a: Value, by: Value) -> Value:
        shifted = a >> np.minimum(by, width - 1).astype(dtype)
        return shifted if dtype.kind == "i" else np.where(by < width, shifted, dtype.type(0))[()]

    return link.pure(shift, kind, "u32")


def shf(ins: Instruction, link: Link) -> Step:
    """`shf.l|r.clamp|wrap.b32 d, a, b, c`: a funnel shift of b:a (section 9.7.8.7)."""
    left, wrap = "l" in ins.modifiers, "wrap" in ins.modifiers
    thirty_two = np.uint64(32)

    def shift(low: Value, high: Value, by: Value) -> Value:
        amount = (by & np.uint32(31) if wrap else np.minimum(by, np.uint32(32))).astype(np.uint64)
        both = high.astype(np.uint64) << thirty_two | low
        shifted = (both << amount) >> thirty_two if left else both >> amount
        return shifted.astype(np.uint32)

    return link.pure(shift, "b32", "b32", "u32")


def lop3(ins: Instruction, link: Link) -> Step:
    """`lop3.b32 d, a, b, c, table`: any function of three bits, given by its truth table (9.7.8.6)."""
    if ins.modifiers != ("b32",) or not isinstance(ins.operands[4], Immediate):
        raise link.unsupported()
    table = ins.operands[4].value
    register = link.register(ins.operands[0])
    fetches = [link.fetch(operand, "b32") for operand in ins.operands[1:4]]

    def combine(*bits: Value) -> Value:
        result = np.uint32(0)
        for row in range(8):
            if table >> row & 1:
                term = np.uint32(0xFFFFFFFF)
                for place, value in zip((4, 2, 1), bits, strict=True):
                    term = term & (value if row & place else ~value)
                result = result | term
        return result

    return lambda m: m.write(register, combine(*(fetch(m, m.computing) for fetch in fetches)))


TABLE = {
    "and": _bitwise(np.bitwise_and, 2),
    "or": _bitwise(np.bitwise_or, 2),
    "xor": _bitwise(np.bitwise_xor, 2),
    "not": _bitwise(np.invert, 1),
    "cnot": cnot,
    "shl": shl,
    "shr": shr,
    "shf": shf,
    "lop3": lop3,
}
