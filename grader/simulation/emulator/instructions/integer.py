"""Integer arithmetic (PTX ISA sections 9.7.1 and 9.7.2). It wraps unless ``.sat`` is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.emulator.machine.values import DTYPES, FALSE, TRUE, Value
from grader.simulation.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.emulator.linking.link import Link, Step
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.ptx import Instruction


_TYPES = ("u32", "s32", "u64", "s64")
_INTEGERS = frozenset(kind for kind in DTYPES if kind[0] in "sub")


def sum_with_carry(ins: Instruction, link: Link, *, minus: bool, takes: bool) -> Step:
    """`add.cc`, `addc`, `sub.cc`, `subc`: extended precision through CC.CF (section 9.7.2)."""
    kind = "u" + link.form(_TYPES, ("cc",)).kind[1:]
    register = link.register(ins.operands[0])
    first, second = (link.fetch(operand, kind) for operand in ins.operands[1:3])
    combine = _difference if minus else _total
    gives, without = "cc" in ins.modifiers, TRUE if minus else FALSE

    def step(m: Machine) -> None:
        carry = m.carry_in() if takes else without
        result, out = combine(first(m, m.compute_mask), second(m, m.compute_mask), carry)
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
        a, b, c = (fetch(m, m.compute_mask) for fetch in fetches)
        carry = m.carry_in() if takes else FALSE
        result, out = _total(product(a, b).view(unsigned), c.view(unsigned), carry)
        if gives:
            m.carry_out(out)
        m.write(register, result)

    return step


def kind_of(link: Link, *accepts: str) -> str:
    """The type of an integer instruction; refuses any modifier that its function does not know."""
    return link.form(_INTEGERS, accepts).kind


def _elementwise(function: Callable[..., Value], arity: int) -> Callable[[Instruction, Link], Step]:
    """An opcode that is one NumPy function on operands of its own type."""

    def build(_ins: Instruction, link: Link) -> Step:
        return link.pure(function, *[kind_of(link)] * arity)

    return build


def _integer_sum(minus: bool) -> Callable[[Instruction, Link], Step]:  # noqa: FBT001 - add or sub
    function = np.subtract if minus else np.add

    def build(ins: Instruction, link: Link) -> Step:
        if "cc" in ins.modifiers:
            return sum_with_carry(ins, link, minus=minus, takes=False)
        kind = kind_of(link, "sat")
        if "sat" not in ins.modifiers:
            return link.pure(function, kind, kind)
        if kind != "s32":
            raise link.unsupported()
        return link.pure(lambda a, b: _clamped(function(a.astype(np.int64), b.astype(np.int64))), kind, kind)

    return build


def _clamped(value: Value) -> Value:
    """64-bit numbers to the nearest 32-bit ones (``.sat``)."""
    limits = np.iinfo(np.int32)
    return np.clip(value, limits.min, limits.max).astype(np.int32)


def mul(ins: Instruction, link: Link) -> Step:
    """`mul.lo|hi|wide` (section 9.7.1.3)."""
    kind = kind_of(link, "lo", "hi", "wide")
    _refuse_widest(ins, link, kind)
    return link.pure(product_of(ins, kind), kind, kind)


def mad(ins: Instruction, link: Link) -> Step:
    """`mad.lo|hi|wide`: a product and a sum (section 9.7.1.4)."""
    if "cc" in ins.modifiers:
        return mad_with_carry(ins, link, product_of(ins, ins.modifiers[-1]), takes=False)
    kind = kind_of(link, "lo", "hi", "wide", "sat")
    _refuse_widest(ins, link, kind)
    product = product_of(ins, kind)
    if "sat" in ins.modifiers:
        if kind != "s32" or "hi" not in ins.modifiers:
            raise link.unsupported()
        return link.pure(lambda a, b, c: _clamped(product(a, b).astype(np.int64) + c), kind, kind, kind)
    wide = kind[0] + str(2 * int(kind[1:])) if "wide" in ins.modifiers else kind
    return link.pure(lambda a, b, c: product(a, b) + c, kind, kind, wide)


def madc(ins: Instruction, link: Link) -> Step:
    """`madc.lo|hi[.cc]`: a product, a sum and the carry (section 9.7.2.6)."""
    return mad_with_carry(ins, link, product_of(ins, kind_of(link, "lo", "hi", "cc")), takes=True)


def _refuse_widest(ins: Instruction, link: Link, kind: str) -> None:
    """Refuse a product of 128 bits."""
    if "wide" in ins.modifiers and DTYPES[kind].itemsize == 8:  # noqa: PLR2004 - bytes
        raise link.unsupported()


def product_of(ins: Instruction, kind: str) -> Callable[[Value, Value], Value]:
    """Function that computes the ``.lo``, ``.hi`` or ``.wide`` product of two operands."""
    dtype = DTYPES[kind]
    if "wide" in ins.modifiers:
        wide = np.dtype(f"{dtype.kind}{2 * dtype.itemsize}")
        return lambda a, b: a.astype(wide) * b.astype(wide)
    if "hi" in ins.modifiers:
        if dtype.itemsize == 8:  # noqa: PLR2004 - bytes
            return _high_half_of_64
        wide, bits = np.dtype(f"{dtype.kind}{2 * dtype.itemsize}"), 8 * dtype.itemsize
        return lambda a, b: (a.astype(wide) * b.astype(wide) >> wide.type(bits)).astype(dtype)
    return np.multiply


def _high_half_of_64(a: Value, b: Value) -> Value:
    """The upper 64 bits of a 128-bit product, from four products of 32-bit halves."""
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    x, y = a.view(np.uint64), b.view(np.uint64)
    low = (x & mask) * (y & mask)
    middle = (x >> half) * (y & mask) + (low >> half)
    other = (x & mask) * (y >> half) + (middle & mask)
    high = (x >> half) * (y >> half) + (middle >> half) + (other >> half)
    if a.dtype.kind == "i":
        zero = np.uint64(0)
        high = (high - np.where(a < 0, y, zero) - np.where(b < 0, x, zero))[()]
    return high.view(a.dtype)


def _product_of_24(ins: Instruction, link: Link) -> tuple[str, Callable[[Value, Value], Value]]:
    """The lower, or the upper, 32 of the 48 bits of a product of the operands' low 24."""
    kind = kind_of(link, "lo", "hi")
    shift = np.int64(16 if "hi" in ins.modifiers else 0)
    unused = np.int64(40)

    def product(a: Value, b: Value) -> Value:
        x, y = ((value.astype(np.int64) << unused) >> unused for value in (a, b))
        if kind == "u32":
            x, y = x & np.int64(0xFFFFFF), y & np.int64(0xFFFFFF)
        return (x * y >> shift).astype(DTYPES[kind])

    return kind, product


def mul24(ins: Instruction, link: Link) -> Step:
    """`mul24.lo|hi` (section 9.7.1.5)."""
    kind, product = _product_of_24(ins, link)
    return link.pure(product, kind, kind)


def mad24(ins: Instruction, link: Link) -> Step:
    """`mad24.lo|hi` (section 9.7.1.6)."""
    kind, product = _product_of_24(ins, link)
    return link.pure(lambda a, b, c: product(a, b) + c, kind, kind, kind)


def sad(_ins: Instruction, link: Link) -> Step:
    """`sad`: c + |a - b| (section 9.7.1.7)."""
    kind = kind_of(link)
    return link.pure(lambda a, b, c: c + np.where(a < b, b - a, a - b)[()], kind, kind, kind)


def dp4a(ins: Instruction, link: Link) -> Step:
    """`dp4a.atype.btype d, a, b, c`: c plus the products of four bytes (section 9.7.1.23)."""
    types = ins.modifiers
    if len(types) != 2 or not set(types) <= {"s32", "u32"}:  # noqa: PLR2004
        raise link.unsupported()

    def dot(a: Value, b: Value, c: Value) -> Value:
        total = c.astype(np.int64)
        for shift in range(0, 32, 8):
            total = total + _piece(a, shift, 8, types[0]) * _piece(b, shift, 8, types[1])
        return total.astype(np.uint32)

    return link.pure(dot, "u32", "u32", "s32")


def dp2a(ins: Instruction, link: Link) -> Step:
    """`dp2a.lo|hi.atype.btype`: c plus the products of two 16-bit halves of a and two bytes of b."""
    *half, first, second = ins.modifiers
    if half not in (["lo"], ["hi"]) or not {first, second} <= {"s32", "u32"}:
        raise link.unsupported()
    start = 16 if half == ["hi"] else 0

    def dot(a: Value, b: Value, c: Value) -> Value:
        total = c.astype(np.int64)
        for part in range(2):
            total = total + _piece(a, 16 * part, 16, first) * _piece(b, start + 8 * part, 8, second)
        return total.astype(np.uint32)

    return link.pure(dot, "u32", "u32", "s32")


def _piece(value: Value, start: int, bits: int, kind: str) -> Value:
    """Bits ``start`` … of 32-bit words as signed or unsigned numbers."""
    part = (value >> np.uint32(start)).astype(f"{'i' if kind == 's32' else 'u'}{bits // 8}")
    return part.astype(np.int64)


def div(_ins: Instruction, link: Link) -> Step:
    """`div`: truncates; a division by zero gives all ones, as devices do (section 9.7.1.8)."""
    kind = kind_of(link)
    return link.pure(quotient, kind, kind)


def rem(_ins: Instruction, link: Link) -> Step:
    """`rem`: a - (a/b)*b; of a division by zero all ones, as devices give (section 9.7.1.9)."""
    kind = kind_of(link)

    def rest(a: Value, b: Value) -> Value:
        return np.where(b == 0, ~a.dtype.type(0), a - quotient(a, b) * b)[()]

    return link.pure(rest, kind, kind)


def quotient(a: Value, b: Value) -> Value:
    """Integer division that rounds towards zero."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    floor = a // safe
    if a.dtype.kind == "i":  # NumPy rounds down: one too low where the signs differ and there is a rest
        floor = floor + ((floor * safe != a) & ((a < 0) != (safe < 0)))
    return np.where(b == 0, ~a.dtype.type(0), floor).astype(a.dtype)[()]


def _extreme(function: Callable[[Value, Value], Value]) -> Callable[[Instruction, Link], Step]:
    """`min` and `max`; with ``.relu`` never less than 0 (section 9.7.1.12)."""

    def build(ins: Instruction, link: Link) -> Step:
        kind = kind_of(link, "relu")
        if "relu" not in ins.modifiers:
            return link.pure(function, kind, kind)
        return link.pure(lambda a, b: np.maximum(function(a, b), a.dtype.type(0)), kind, kind)

    return build


TABLE = {
    "add": _integer_sum(minus=False),
    "sub": _integer_sum(minus=True),
    "addc": lambda ins, link: sum_with_carry(ins, link, minus=False, takes=True),
    "subc": lambda ins, link: sum_with_carry(ins, link, minus=True, takes=True),
    "mul": mul,
    "mad": mad,
    "madc": madc,
    "mul24": mul24,
    "mad24": mad24,
    "sad": sad,
    "dp4a": dp4a,
    "dp2a": dp2a,
    "div": div,
    "rem": rem,
    "neg": _elementwise(np.negative, 1),
    "abs": _elementwise(np.abs, 1),
    "min": _extreme(np.minimum),
    "max": _extreme(np.maximum),
}
