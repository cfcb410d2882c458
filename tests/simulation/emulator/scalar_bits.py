"""Bits, bytes and carries as PTX defines them, on plain Python integers (sections 9.7.1, 9.7.2 and 9.7.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.emulator import scalar_numbers as numbers
from tests.simulation.emulator.scalar_numbers import number, width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.simulation.ptx import Instruction


def _bfind(value: int, kind: str) -> int:
    """The highest bit that is not like the sign; -1 if there is none."""
    signed = number(value, kind)
    return (~signed if signed < 0 else signed).bit_length() - 1


def _bfe(value: int, start: int, count: int, kind: str) -> int:
    """``count & 255`` bits from ``start & 255`` on; a signed field is extended by its highest bit."""
    start, count, top = start & 255, count & 255, width(kind) - 1
    sign = value >> min(start + count - 1, top) & 1 if kind[0] == "s" and count else 0
    bits = (value >> start + at & 1 if at < count and start + at <= top else sign for at in range(top + 1))
    return sum(bit << at for at, bit in enumerate(bits))


def _bfi(field: int, base: int, start: int, count: int, kind: str) -> int:
    """The lowest bits of the field in place of some of the base's."""
    for at in range(count & 255):
        place = (start & 255) + at
        if place < width(kind):
            base = base & ~(1 << place) | (field >> at & 1) << place
    return base


def _prmt(low: int, high: int, selectors: int, _kind: str) -> int:
    """Any four of eight bytes, or the sign of one in all of its bits."""
    eight, found = low | high << 32, 0
    for place in range(4):
        selector = selectors >> 4 * place & 15
        byte = eight >> 8 * (selector & 7) & 255
        found |= (byte if selector < 8 else 255 * (byte >> 7)) << 8 * place
    return found


def _lop3(a: int, b: int, c: int, table: int, kind: str) -> int:
    """Each bit from a table of eight."""
    rows = ((a >> at & 1) << 2 | (b >> at & 1) << 1 | c >> at & 1 for at in range(width(kind)))
    return sum((table >> row & 1) << at for at, row in enumerate(rows))


def _sad(a: int, b: int, c: int, kind: str) -> int:
    return c + abs(number(a, kind) - number(b, kind))


def _dp4a(a: int, b: int, c: int, kind: str) -> int:
    """Four products of bytes, signed as the instruction's types are (both alike here)."""
    byte = f"{kind[0]}8"
    return c + sum(number(a >> at, byte) * number(b >> at, byte) for at in range(0, 32, 8))


OPERATIONS: dict[str, tuple[Callable[..., int], tuple[str, ...]]] = {
    "popc": (lambda value, _kind: value.bit_count(), ("",)),
    "clz": (lambda value, kind: width(kind) - value.bit_length(), ("",)),
    "brev": (lambda value, kind: int(f"{value:0{width(kind)}b}"[::-1], 2), ("",)),
    "bfind": (_bfind, ("",)),
    "bfe": (_bfe, ("", "u32", "u32")),
    "bfi": (_bfi, ("", "", "u32", "u32")),
    "prmt": (_prmt, ("u32", "u32", "u32")),
    "lop3": (_lop3, ("", "", "", "u32")),
    "sad": (_sad, ("", "", "")),
    "dp4a": (_dp4a, ("u32", "u32", "u32")),
    "slct": (lambda a, b, c, _kind: a if number(c, "s32") >= 0 else b, ("", "", "s32")),
}
"""For each opcode what it does with its operands and the instruction's type, and the operands' types."""


def funnel(ins: Instruction, low: int, high: int, by: int) -> int:
    """``shf``: 32 bits out of the 64 of both (section 9.7.8.10)."""
    by = min(by, 32) if "clamp" in ins.modifiers else by & 31
    both = low | high << 32
    return (both << by) >> 32 if "l" in ins.modifiers else both >> by


def carried(ins: Instruction, values: Sequence[int], carry: int) -> tuple[int, int]:
    """The result of ``add.cc``, ``addc``, ``sub.cc``, ``subc``, ``mad.cc`` or ``madc``, and the carry out."""
    bits = width(ins.modifiers[-1])
    a, b, *c = values
    if ins.opcode in ("sub", "subc"):
        total = a - b - (carry if ins.opcode == "subc" else 0)
        return total, int(total < 0)
    if c:
        product = a * b
        a, b = product >> bits if "hi" in ins.modifiers else product & (1 << bits) - 1, c[0]
    total = a + b + (carry if ins.opcode in ("addc", "madc") else 0)
    return total, total >> bits


def packed(opcode: str, pairs: Sequence[int]) -> int:
    """An operation on two halves at a time, each for itself."""
    found = 0
    for at in (0, 16):
        bits = [pair >> at & 0xFFFF for pair in pairs]
        values = [numbers.to_float(each, "f16") for each in bits]
        if opcode == "mul":
            result = numbers.product(values[0], values[1], "f16")
        elif opcode == "fma":
            result = numbers.multiply_add(values[0], values[1], values[2], "f16")
        else:
            result = numbers.float_result(opcode, values, bits, "f16")
        found |= result << at
    return found


_ATOMIC: dict[str, Callable[[int, int], int]] = {
    "add": lambda old, new: old + new,
    "min": min,
    "max": max,
    "and": lambda old, new: old & new,
    "or": lambda old, new: old | new,
    "xor": lambda old, new: old ^ new,
    "exch": lambda _old, new: new,
    "inc": lambda old, limit: 0 if old >= limit else old + 1,
    "dec": lambda old, limit: limit if old == 0 or old > limit else old - 1,
}


def atomic(ins: Instruction, old: int, operands: Sequence[int]) -> int:
    """The bits that an atomic leaves behind (section 9.7.13.6)."""
    kind = ins.modifiers[-1]
    if "cas" in ins.modifiers:
        return operands[1] if old == operands[0] else old
    if kind[0] == "f":
        flush = kind == "f32" and "global" in ins.modifiers
        pair = [numbers.flushed(bits, kind) if flush else bits for bits in (old, operands[0])]
        a, b = (numbers.to_float(bits, kind) for bits in pair)
        result = numbers.multiply_add(1.0, a, b, kind)
        return numbers.flushed(result, kind) if flush else result
    operation = next(_ATOMIC[word] for word in ins.modifiers if word in _ATOMIC)
    return numbers.wrapped(operation(number(old, kind), number(operands[0], kind)), kind)
