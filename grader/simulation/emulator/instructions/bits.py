"""Bits: logic and shifts (PTX ISA section 9.7.8); counting, finding, moving (9.7.1.14 to 22, `prmt`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.emulator.machine.values import DTYPES, Value, scalar
from grader.simulation.ptx import Immediate
from grader.simulation.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.emulator.linking.link import Link, Step
    from grader.simulation.ptx import Instruction

_NONE = np.uint32(0xFFFFFFFF)
"""Result of `bfind` and `fns` where there is no such bit."""

_PICKS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}
"""The selector that each mode of `prmt` means, by the two low bits of its third operand."""


def prmt(ins: Instruction, link: Link) -> Step:
    """`prmt.b32[.mode] d, a, b, selector`: four bytes picked out of b:a (section 9.7.9.7)."""
    if ins.modifiers == ("b32",):
        return link.pure(_permuted, "b32", "b32", "b32")
    kind, mode = ins.modifiers
    if kind != "b32" or mode not in _PICKS:
        raise link.unsupported()
    picks = np.array(_PICKS[mode], np.uint32)
    return link.pure(lambda a, b, c: _permuted(a, b, picks[c & np.uint32(3)]), "b32", "b32", "b32")


def _permuted(low: Value, high: Value, selector: Value) -> Value:
    both = high.astype(np.uint64) << np.uint64(32) | low
    result = scalar(np.uint32(0))
    for digit in range(4):
        nibble = selector >> np.uint32(4 * digit) & np.uint32(15)
        byte = (both >> ((nibble & np.uint32(7)) * np.uint32(8)).astype(np.uint64)).astype(np.uint32)
        byte = byte & np.uint32(255)
        sign = (byte >> np.uint32(7)) * np.uint32(255)
        picked = np.where(nibble & np.uint32(8), sign, byte)[()].astype(np.uint32)
        result = result | picked << np.uint32(8 * digit)
    return result


def popc(ins: Instruction, link: Link) -> Step:
    """`popc`: the number of bits that are set, as a 32-bit number (section 9.7.1.14)."""
    return link.pure(lambda a: np.bitwise_count(a).astype(np.uint32), ins.modifiers[-1])


def clz(ins: Instruction, link: Link) -> Step:
    """`clz`: leading zeros; the width for 0 (section 9.7.1.15)."""
    width = 8 * TYPE_BYTES[ins.modifiers[-1]]
    return link.pure(lambda a: np.uint32(width) - _bit_length(a), ins.modifiers[-1])


def _bit_length(value: Value) -> Value:
    for by in (1, 2, 4, 8, 16, 32):
        if by < 8 * value.dtype.itemsize:
            value = value | value >> value.dtype.type(by)
    return np.bitwise_count(value).astype(np.uint32)


def bfind(ins: Instruction, link: Link) -> Step:
    """`bfind[.shiftamt]`: the highest bit that is not a sign bit; 0xffffffff if none (9.7.1.16)."""
    kind = ins.modifiers[-1]
    width, as_shift = 8 * TYPE_BYTES[kind], "shiftamt" in ins.modifiers

    def find(a: Value) -> Value:
        bits = np.where(a < 0, ~a, a)[()].astype(a.dtype) if kind[0] == "s" else a
        highest = _bit_length(bits.view(f"u{width // 8}")) - np.uint32(1)
        if not as_shift:
            return highest
        return np.where(highest == _NONE, highest, np.uint32(width - 1) - highest)[()]

    return link.pure(find, kind)


def brev(ins: Instruction, link: Link) -> Step:
    """`brev`: the bits in reverse order (section 9.7.1.18)."""
    kind = ins.modifiers[-1]
    dtype, width = DTYPES[kind], 8 * TYPE_BYTES[kind]

    def reverse(a: Value) -> Value:
        by = width // 2
        mask = 2**width - 1
        while by:
            mask ^= (mask << by) & (2**width - 1)
            low = dtype.type(mask)
            a = (a >> dtype.type(by)) & low | (a & low) << dtype.type(by)
            by //= 2
        return a

    return link.pure(reverse, kind)


def bfe(ins: Instruction, link: Link) -> Step:
    """`bfe d, a, start, length`: a bit field, sign-extended for signed types (section 9.7.1.19)."""
    kind = ins.modifiers[-1]
    dtype, width = DTYPES[kind], 8 * TYPE_BYTES[kind]

    def extract(a: Value, start: Value, length: Value) -> Value:
        start, length = (start & np.uint32(255)).astype(np.int64), (length & np.uint32(255)).astype(np.int64)
        top = np.minimum(start + length, width)
        left = dtype.type(0) + (width - top).astype(dtype)
        kept = (top - np.minimum(start, width)).astype(dtype)
        empty = (length == 0) | ((start >= width) & (kind[0] == "u"))
        sign_only = (start >= width) & (kind[0] == "s")
        right = np.clip(dtype.type(width) - kept, 0, width - 1).astype(dtype)
        field = (a << np.minimum(left, dtype.type(width - 1))) >> right
        field = np.where(sign_only, a >> dtype.type(width - 1), field)
        return np.where(empty, dtype.type(0), field).astype(dtype)[()]

    return link.pure(extract, kind, "u32", "u32")


def bfi(ins: Instruction, link: Link) -> Step:
    """`bfi f, a, b, start, length`: b with the low bits of a put in (section 9.7.1.20)."""
    kind = ins.modifiers[-1]
    dtype, width = DTYPES[kind], 8 * TYPE_BYTES[kind]

    def insert(a: Value, b: Value, start: Value, length: Value) -> Value:
        start, length = start & np.uint32(255), length & np.uint32(255)
        ones = np.where(
            length >= width, ~dtype.type(0), (dtype.type(1) << _below(length, width, dtype)) - dtype.type(1)
        )
        mask = np.where(start >= width, dtype.type(0), ones << _below(start, width, dtype)).astype(dtype)[()]
        return (b & ~mask) | (a << _below(start, width, dtype) & mask)

    return link.pure(insert, kind, kind, "u32", "u32")


def _below(amount: Value, width: int, dtype: np.dtype[np.integer]) -> Value:
    """A shift amount that NumPy can take: at most the width less one."""
    return np.minimum(amount, width - 1).astype(dtype)


def fns(ins: Instruction, link: Link) -> Step:
    """`fns.b32 d, mask, base, offset`: the offset-th set bit from a place on (section 9.7.1.17).

    Upwards for a positive offset, downwards for a negative one; 0 asks for the bit at that place itself.
    """
    if ins.modifiers != ("b32",):
        raise link.unsupported()

    def find(mask: Value, base: Value, offset: Value) -> Value:
        bits = (mask[..., None] >> np.arange(32, dtype=np.uint32) & np.uint32(1)).astype(np.bool_)
        position, start, by = (
            np.arange(32),
            base.astype(np.int64)[..., None],
            offset.astype(np.int64)[..., None],
        )
        ahead = bits & np.where(by > 0, position >= start, position <= start)
        rank = np.where(by > 0, ahead.cumsum(-1), ahead[..., ::-1].cumsum(-1)[..., ::-1])
        matches = np.where(by == 0, bits & (position == start), ahead & (rank == np.abs(by)))
        return np.where(matches.any(-1), matches.argmax(-1), _NONE).astype(np.uint32)[()]

    return link.pure(find, "b32", "u32", "s32")


def bmsk(ins: Instruction, link: Link) -> Step:
    """`bmsk.clamp|wrap.b32 d, a, b`: b bits set from place a on (section 9.7.1.22)."""
    limited = _limited(ins, link)

    def mask(start: Value, width: Value) -> Value:
        ones = (np.uint64(1) << limited(width)) - np.uint64(1)
        return (ones << limited(start)).astype(np.uint32)

    return link.pure(mask, "b32", "b32")


def szext(ins: Instruction, link: Link) -> Step:
    """`szext.clamp|wrap.type d, a, b`: the low b bits, sign- or zero-extended (section 9.7.1.21)."""
    kind = ins.modifiers[-1]
    limited = _limited(ins, link)
    wide = np.dtype(np.int64 if kind == "s32" else np.uint64)

    def extend(a: Value, width: Value) -> Value:
        unused = np.uint64(64) - limited(width)
        kept = a.astype(np.int64).view(np.uint64) << np.minimum(unused, np.uint64(63))
        extended = kept.view(wide) >> np.minimum(unused, np.uint64(63)).astype(wide)
        return np.where(unused > np.uint64(63), wide.type(0), extended).astype(DTYPES[kind])[()]

    return link.pure(extend, kind, "u32")


def _limited(ins: Instruction, link: Link) -> Callable[[Value], Value]:
    """A number of bits as ``.clamp`` or ``.wrap`` understands it, ready to shift 64-bit words by."""
    mode, kind = ins.modifiers
    if mode not in ("clamp", "wrap") or kind not in ("u32", "s32", "b32"):
        raise link.unsupported()
    if mode == "wrap":
        return lambda bits: (bits & np.uint32(31)).astype(np.uint64)
    return lambda bits: np.minimum(bits, np.uint32(32)).astype(np.uint64)


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
        result = scalar(np.uint32(0))
        for row in range(8):
            if table >> row & 1:
                term = scalar(np.uint32(0xFFFFFFFF))
                for weight, value in zip((4, 2, 1), bits, strict=True):
                    term = term & (value if row & weight else ~value)
                result = result | term
        return result

    return lambda m: m.write(register, combine(*(fetch(m, m.compute_mask) for fetch in fetches)))


TABLE = {
    "prmt": prmt,
    "popc": popc,
    "clz": clz,
    "bfind": bfind,
    "brev": brev,
    "bfe": bfe,
    "bfi": bfi,
    "fns": fns,
    "bmsk": bmsk,
    "szext": szext,
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
