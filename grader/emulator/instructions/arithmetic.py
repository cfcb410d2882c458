"""Arithmetic (PTX ISA sections 9.7.1 integer, 9.7.3 floating point).

Integer operations wrap. `div.rn`, `sqrt.rn`, `rcp.rn` and `fma.rn` round once, as IEEE 754 asks.
The `.approx` and `.full` forms are computed as well as the type allows, which lies within the error
that the ISA documents for them; a device may give other last bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.values import DTYPES, Value
from grader.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.emulator.program import Link, Step
    from grader.ptx import Instruction

_FLOATS = ("f16", "f32", "f64")
_SMALLEST_NORMAL = np.float32(2.0**-126)


def _kind(ins: Instruction, link: Link, *, accepts: tuple[str, ...] = ()) -> str:
    """The type of an instruction; refuses modifiers that its function does not know."""
    known = {"rn", "ftz", "sat", "approx", "full", "lo", "hi", "wide", "nan", *DTYPES, *accepts}
    if not set(ins.modifiers) <= known or ins.modifiers[-1] not in DTYPES:
        raise link.unsupported()
    return ins.modifiers[-1]


def _finish(ins: Instruction, function: Callable[..., Value]) -> Callable[..., Value]:
    """``function`` followed by what ``.ftz`` and ``.sat`` ask for."""
    flush, saturate = "ftz" in ins.modifiers, "sat" in ins.modifiers
    if not (flush or saturate):
        return function

    def finished(*operands: Value) -> Value:
        if flush:
            operands = tuple(flushed(operand) for operand in operands)
        result = function(*operands)
        if saturate:  # NaN becomes +0 (section 9.7.3)
            result = np.where(np.isnan(result), result.dtype.type(0), np.clip(result, 0, 1))[()]
        return flushed(result) if flush else result

    return finished


def flushed(value: Value) -> Value:
    """Subnormal float32 numbers as zeros of the same sign (``.ftz``)."""
    if value.dtype != np.float32:
        return value
    return np.where(np.abs(value) < _SMALLEST_NORMAL, np.copysign(np.float32(0), value), value)[()]


def _elementwise(function: Callable[..., Value], arity: int) -> Callable[[Instruction, Link], Step]:
    """An opcode whose every form is one NumPy function on operands of its own type."""

    def build(ins: Instruction, link: Link) -> Step:
        kind = _kind(ins, link)
        if "sat" in ins.modifiers and kind not in _FLOATS:
            raise link.unsupported()
        return link.pure(_finish(ins, function), *[kind] * arity)

    return build


add = _elementwise(np.add, 2)
sub = _elementwise(np.subtract, 2)
neg = _elementwise(np.negative, 1)
abs_ = _elementwise(np.abs, 1)
sqrt = _elementwise(np.sqrt, 1)


def _minimum(ins: Instruction, link: Link) -> Step:
    """`min`: of a number and a NaN the number (section 9.7.3.11), unless ``.NaN``."""
    return _extreme(ins, link, np.fmin, np.minimum)


def _maximum(ins: Instruction, link: Link) -> Step:
    """`max`, likewise."""
    return _extreme(ins, link, np.fmax, np.maximum)


def _extreme(
    ins: Instruction,
    link: Link,
    of_numbers: Callable[..., Value],
    with_nan: Callable[..., Value],
) -> Step:
    kind = _kind(ins, link, accepts=("NaN",))
    return link.pure(_finish(ins, with_nan if "NaN" in ins.modifiers else of_numbers), kind, kind)


def mul(ins: Instruction, link: Link) -> Step:
    """`mul`: floats, and integers ``.lo``, ``.hi`` and ``.wide`` (section 9.7.1.3)."""
    kind = _kind(ins, link)
    return link.pure(_finish(ins, _product(ins, kind)), kind, kind)


def mad(ins: Instruction, link: Link) -> Step:
    """`mad`: for integers a product and a sum; for floats the same as `fma` (section 9.7.3.7)."""
    kind = _kind(ins, link)
    if kind in _FLOATS:
        return fma(ins, link)
    product = _product(ins, kind)
    wide = kind[0] + str(2 * int(kind[1:])) if "wide" in ins.modifiers else kind
    return link.pure(lambda a, b, c: product(a, b) + c, kind, kind, wide)


def _product(ins: Instruction, kind: str) -> Callable[[Value, Value], Value]:
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
        high = high - np.where(a < 0, y, zero) - np.where(b < 0, x, zero)
    return high.view(a.dtype)


def fma(ins: Instruction, link: Link) -> Step:
    """`fma`: a*b+c rounded once (section 9.7.3.6)."""
    kind = _kind(ins, link)
    if kind == "f16":
        return link.pure(_finish(ins, lambda a, b, c: _through_double(a, b, c, np.float16)), kind, kind, kind)
    return link.pure(_finish(ins, fma32 if kind == "f32" else fma64), kind, kind, kind)


def fma32(a: Value, b: Value, c: Value) -> Value:
    """float32 fma. The product is exact in float64; only a sum that lands on the midpoint of two float32
    numbers, or below the normal ones, could be rounded twice, and then it is rounded to odd first.
    """
    total = a.astype(np.float64) * b + c
    result = total.astype(np.float32)
    midpoint = (total.view(np.uint64) & np.uint64(0x1FFFFFFF)) == np.uint64(0x10000000)
    if np.any(midpoint) or np.any((np.abs(result) < _SMALLEST_NORMAL) & (total != 0)):
        return _through_double(a, b, c, np.float32)
    return result


def _through_double(a: Value, b: Value, c: Value, dtype: type[np.floating]) -> Value:
    product = a.astype(np.float64) * b.astype(np.float64)
    return _sum_to_odd(product, c.astype(np.float64)).astype(dtype)


def fma64(a: Value, b: Value, c: Value) -> Value:
    """float64 fma by error-free transformations (Boldo and Melquiond, *Emulation of FMA and correctly
    rounded sums: proved algorithms using rounding to odd*, 2008); exact barring over- and underflow.
    """
    product, product_error = _two_product(a, b)
    low, low_error = _two_sum(c, product_error)
    high, high_error = _two_sum(product, low)
    result = high + _sum_to_odd(low_error, high_error)
    plain = a * b + c
    return np.where(np.isfinite(result), result, plain)[()]


def _two_sum(a: Value, b: Value) -> tuple[Value, Value]:
    total = a + b
    virtual = total - a
    return total, (a - (total - virtual)) + (b - virtual)


def _two_product(a: Value, b: Value) -> tuple[Value, Value]:
    """Dekker's product: a*b and its rounding error, both float64."""
    factor = np.float64(2**27 + 1)
    split_a, split_b = factor * a, factor * b
    high_a, high_b = split_a - (split_a - a), split_b - (split_b - b)
    low_a, low_b = a - high_a, b - high_b
    product = a * b
    return product, low_a * low_b - (((product - high_a * high_b) - low_a * high_b) - high_a * low_b)


def _sum_to_odd(a: Value, b: Value) -> Value:
    """a+b rounded to odd: an inexact sum whose last bit is even steps to its odd neighbour."""
    total, error = _two_sum(a, b)
    bits = total.view(np.uint64)
    step = (error != 0) & np.isfinite(error) & ((bits & np.uint64(1)) == 0)
    away = (error > 0) == (total > 0)
    moved = np.where(away, bits + np.uint64(1), bits - np.uint64(1))
    return np.where(step, moved, bits).view(np.float64)[()]


def div(ins: Instruction, link: Link) -> Step:
    """`div`: integers truncate; a division by zero gives all ones, as devices do (section 9.7.1.7)."""
    kind = _kind(ins, link)
    if kind in _FLOATS:
        return link.pure(_finish(ins, np.divide), kind, kind)
    return link.pure(quotient, kind, kind)


def rem(ins: Instruction, link: Link) -> Step:
    """`rem`: a - (a/b)*b; the dividend where b is 0 (section 9.7.1.8)."""
    kind = _kind(ins, link)
    return link.pure(lambda a, b: np.where(b == 0, a, a - quotient(a, b) * b)[()], kind, kind)


def quotient(a: Value, b: Value) -> Value:
    """Integer division that rounds towards zero."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    floor = a // safe
    if a.dtype.kind == "i":  # NumPy rounds down: one too low where the signs differ and there is a rest
        floor = floor + ((floor * safe != a) & ((a < 0) != (safe < 0)))
    return np.where(b == 0, ~a.dtype.type(0), floor).astype(a.dtype)[()]


def rcp(ins: Instruction, link: Link) -> Step:
    """`rcp`: 1/x (section 9.7.3.13)."""
    kind = _kind(ins, link)
    one = DTYPES[kind].type(1)
    return link.pure(_finish(ins, lambda x: one / x), kind)


def _in_double(function: Callable[[Value], Value]) -> Callable[[Instruction, Link], Step]:
    """An approximate function: computed in float64 and rounded to its type."""

    def build(ins: Instruction, link: Link) -> Step:
        kind = _kind(ins, link)
        dtype = DTYPES[kind]
        return link.pure(_finish(ins, lambda x: function(x.astype(np.float64)).astype(dtype)), kind)

    return build


def copysign(ins: Instruction, link: Link) -> Step:
    """`copysign a, b`: b with the sign of a (section 9.7.3.3)."""
    kind = _kind(ins, link)
    return link.pure(lambda a, b: np.copysign(b, a), kind, kind)


def _with_carry(opcode: str) -> Callable[[Instruction, Link], Step]:
    """`add.cc`, `addc`, `sub.cc`, `subc`: extended precision through CC.CF (section 9.7.2)."""

    def build(ins: Instruction, link: Link) -> Step:
        kind = f"u{8 * TYPE_BYTES[ins.modifiers[-1]]}"
        register = link.register(ins.operands[0])
        first, second = (link.fetch(operand, kind) for operand in ins.operands[1:3])
        takes, gives, minus = opcode.endswith("c"), "cc" in ins.modifiers, opcode.startswith("sub")

        def step(m: Machine) -> None:
            a, b = first(m, m.computing), second(m, m.computing)
            carry = m.carry_in() if takes else np.False_
            combined = a - b if minus else a + b
            result = combined - carry if minus else combined + carry
            if gives:
                out = (a < b) | ((combined == 0) & carry) if minus else (combined < a) | (result < combined)
                m.carry_out(out)
            m.write(register, result.astype(a.dtype))

        return step

    return build


if TYPE_CHECKING:
    from grader.emulator.machine import Machine


def add_or_carry(ins: Instruction, link: Link) -> Step:
    """`add`, with or without a carry out."""
    return _with_carry("add")(ins, link) if "cc" in ins.modifiers else add(ins, link)


def sub_or_borrow(ins: Instruction, link: Link) -> Step:
    """`sub`, with or without a borrow out."""
    return _with_carry("sub")(ins, link) if "cc" in ins.modifiers else sub(ins, link)


TABLE = {
    "add": add_or_carry,
    "sub": sub_or_borrow,
    "addc": _with_carry("addc"),
    "subc": _with_carry("subc"),
    "mul": mul,
    "mad": mad,
    "fma": fma,
    "div": div,
    "rem": rem,
    "neg": neg,
    "abs": abs_,
    "min": _minimum,
    "max": _maximum,
    "sqrt": sqrt,
    "rcp": rcp,
    "rsqrt": _in_double(lambda x: 1 / np.sqrt(x)),
    "sin": _in_double(np.sin),
    "cos": _in_double(np.cos),
    "ex2": _in_double(np.exp2),
    "lg2": _in_double(np.log2),
    "tanh": _in_double(np.tanh),
    "copysign": copysign,
}
