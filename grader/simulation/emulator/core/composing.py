"""Lowering of instructions that are several operations: carries, fields, tables (PTX ISA chapter 9.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.simulation.emulator.core.forms import WIDTH
from grader.simulation.emulator.core.lowering import NotLoweredError, copy_of
from grader.simulation.ptx import Immediate
from grader.simulation.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.emulator.core.lowering import Lowering
    from grader.simulation.ptx import Instruction


def has_carry(ins: Instruction) -> bool:
    """True if an instruction takes or gives the carry (PTX ISA section 9.7.2)."""
    return ins.opcode in ("addc", "subc", "madc") or "cc" in ins.modifiers


def extended(low: Lowering, ins: Instruction) -> None:
    """`add.cc`, `addc`, `sub.cc`, `subc`, `mad.lo|hi.cc` and `madc` (PTX ISA sections 9.7.2.1 to 9.7.2.6).

    A difference is a sum with the complement: its carry says that nothing was borrowed.
    """
    *words, kind = ins.modifiers
    half = next((word for word in words if word in ("lo", "hi")), "")
    is_product, minus, takes = ins.opcode in ("mad", "madc"), "sub" in ins.opcode, ins.opcode.endswith("c")
    if (
        not set(words) <= {"cc", half}
        or WIDTH.get(kind, 0) < 4  # noqa: PLR2004 - bytes
        or kind[0] not in "us"
        or is_product != bool(half)
    ):
        raise NotLoweredError(ins.name)
    bits = int(kind[1:])
    first, second, *third = (low.read(operand, kind) for operand in ins.operands[1:])
    if is_product:
        name = f"mul_lo_{bits}" if half == "lo" else f"mul_hi_{kind}"
        first, second = low.helper(name, f"b{bits}", first, second), third[0]
    if minus:
        second = low.helper(f"not_{bits}", f"b{bits}", second)
    carry = low.carry() if takes else low.constant(bytes([minus]))
    to = low.destination(ins.operands[0], bits // 8)
    reads = first, second, carry
    if "cc" not in words:
        low.emit(f"sum_{bits}", dst=to, reads=reads)
        return
    result = low.helper(f"sum_{bits}", f"b{bits}", *reads)
    low.emit(f"carry_{bits}", dst=low.carry(), reads=reads)
    low.emit(copy_of(bits), dst=to, reads=(result,))


def _insert_field(low: Lowering, ins: Instruction) -> None:
    """`bfi f, a, b, start, length`: b with the low bits of a put in (PTX ISA section 9.7.1.20)."""
    (kind,) = ins.modifiers
    if kind not in ("b32", "b64"):
        raise NotLoweredError(ins.name)
    bits = kind[1:]
    a, b = (low.read(operand, kind) for operand in ins.operands[1:3])
    start, length = (low.read(operand, "u32") for operand in ins.operands[3:])
    mask = low.helper(f"mask_of_field_{bits}", kind, start, length)
    shifted = low.helper(f"moved_to_{bits}", kind, a, start)
    low.emit(f"merged_{bits}", dst=low.destination(ins.operands[0], WIDTH[kind]), reads=(b, shifted, mask))


def _by_table(low: Lowering, ins: Instruction) -> None:
    """`lop3.b32 d, a, b, c, table`: where a has ones the upper half of the table holds (section 9.7.8.6)."""
    to, *sources, table = ins.operands
    if ins.modifiers != ("b32",) or not isinstance(table, Immediate):
        raise NotLoweredError(ins.name)
    a, b, c = (low.read(source, "b32") for source in sources)
    zeros, ones = (
        low.helper(
            "of_two_bits", "b32", b, c, low.constant((table.value >> shift & 15).to_bytes(4, "little"))
        )
        for shift in (0, 4)
    )
    low.emit("merged_32", dst=low.destination(to, 4), reads=(zeros, ones, a))


def _dot_of_halves(low: Lowering, ins: Instruction) -> None:
    """`dp2a.lo|hi.atype.btype d, a, b, c` (PTX ISA section 9.7.1.24)."""
    half, first, second = ins.modifiers
    if half not in ("lo", "hi"):
        raise NotLoweredError(ins.name)
    a, b, c = (low.read(operand, "u32") for operand in ins.operands[1:])
    if half == "hi":
        b = low.helper("high_32_16", "b32", b)
    low.emit(f"dp2a_{first}_{second}", dst=low.destination(ins.operands[0], 4), reads=(a, b, c))


def _choose_by_sign(low: Lowering, ins: Instruction) -> None:
    """`slct.dtype.s32|f32 d, a, b, c`: a where c >= 0, else b (PTX ISA section 9.7.6.4)."""
    kind, test = ins.modifiers
    if WIDTH.get(kind, 0) < 2 or test not in ("s32", "f32"):  # noqa: PLR2004 - bytes
        raise NotLoweredError(ins.name)
    a, b = (low.read(operand, kind) for operand in ins.operands[1:3])
    holds = low.helper(f"setp_ge_{test}", "pred", low.read(ins.operands[3], test), low.constant(bytes(4)))
    name = "selp_b64" if WIDTH[kind] == 8 else "selp_b32"  # noqa: PLR2004 - bytes
    low.emit(name, dst=low.destination(ins.operands[0], WIDTH[kind]), reads=(a, b, holds))


COMPOSED: dict[str, Callable[[Lowering, Instruction], None]] = {
    "bfi": _insert_field,
    "lop3": _by_table,
    "dp2a": _dot_of_halves,
    "slct": _choose_by_sign,
}
"""By opcode the function that lowers an instruction to several operations."""


def saturated(low: Lowering, ins: Instruction) -> None:
    """`cvt.sat` between integers of up to 32 bits: the nearest number of the type (section 9.7.9.21)."""
    _, to, kind = ins.modifiers
    value = widened(low, low.read(ins.operands[1], "b32"), kind)
    _limit(low, ins, value, to, kind)


def to_narrow(low: Lowering, ins: Instruction, way: str, to: str, value: int) -> None:
    """A number of type f32 as an integer of 8 or 16 bits (PTX ISA section 9.7.9.21)."""
    whole = low.helper(f"cvt_{way}_f32_f32", "b32", value)
    _limit(low, ins, low.helper("cvt_rzi_s32_f32", "b32", whole), to, "s32")


def widened(low: Lowering, value: int, kind: str) -> int:
    """An integer of up to 32 bits as one of 32 bits."""
    return low.helper(_WIDENED[kind], "b32", value) if kind in _WIDENED else value


_WIDENED = {"s8": "sext_8_32", "s16": "sext_16_32", "u8": "trunc_32_8", "u16": "trunc_32_16"}


def _limits(kind: str) -> tuple[int, int]:
    bits = 8 * TYPE_BYTES[kind]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)


def _limit(low: Lowering, ins: Instruction, value: int, to: str, kind: str) -> None:
    """Clamp a number of 32 bits to the limits of a type, and extend it to its register."""
    sign = "s32" if kind[0] == "s" else "u32"
    lowest, highest = (
        choose(pair)
        for choose, pair in zip((max, min), zip(_limits(to), _limits(kind), strict=True), strict=True)
    )
    for name, limit in ((f"max_{sign}", lowest), (f"min_{sign}", highest)):
        number = low.constant((limit & 0xFFFFFFFF).to_bytes(4, "little"))
        value = low.helper(name, "b32", value, number)
    own = low.own_width(ins.operands[0])
    if own == 8:  # noqa: PLR2004 - bytes
        raise NotLoweredError(ins.name)
    copy = "trunc_32_16" if own == 2 else "mov_b32"  # noqa: PLR2004 - bytes
    low.emit(copy, dst=low.destination(ins.operands[0], own), reads=(value,))
