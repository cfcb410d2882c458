"""Numbers as PTX defines them, on plain Python integers: registers are bits, floats are exact fractions.

Each floating-point result is computed exactly and rounded once (IEEE 754-2019, section 4.3.1; PTX ISA
section 9.7.3). A NaN result is the quiet NaN with a positive sign: PTX leaves its payload open.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.simulation.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


class Format(NamedTuple):
    """A binary floating-point format: bits of precision, and the least exponent of its normal numbers."""

    bits: int
    precision: int
    least: int


FORMATS = {"f16": Format(16, 11, -14), "f32": Format(32, 24, -126), "f64": Format(64, 53, -1022)}
_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a < b or a > b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_ALIASES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
LOGIC: dict[str, Callable[[int, int], int]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
_CODES = {"f16": "e", "f32": "f", "f64": "d"}


def width(kind: str) -> int:
    """Bits of a type."""
    return 1 if kind == "pred" else 8 * TYPE_BYTES[kind]


def wrapped(value: int, kind: str) -> int:
    """An integer as the bits of a register of its type: modulo a power of two."""
    return value & ((1 << width(kind)) - 1)


def number(bits: int, kind: str) -> int:
    """The integer that some bits stand for."""
    bits = wrapped(bits, kind)
    return bits - (1 << width(kind)) if kind[0] == "s" and bits >> (width(kind) - 1) else bits


def to_float(bits: int, kind: str) -> float:
    """The number (exactly: every format fits a Python float) that some bits stand for."""
    value: float = struct.unpack(
        f"<{_CODES[kind]}", wrapped(bits, kind).to_bytes(width(kind) // 8, "little")
    )[0]
    return value


def from_float(value: float, kind: str) -> int:
    """The bits of an infinity, a zero, a NaN, or a number that the format holds exactly."""
    if math.isnan(value):
        value = math.nan
    return int.from_bytes(struct.pack(f"<{_CODES[kind]}", value), "little")


def rounded(exact: Fraction, kind: str, *, negative_zero: bool = False) -> int:
    """The bits of the nearest number of a format, ties to even; ``negative_zero`` is the sign of 0."""
    form = FORMATS[kind]
    sign = 1 << (form.bits - 1) if exact < 0 or (not exact and negative_zero) else 0
    exact = abs(exact)
    if not exact:
        return sign
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if Fraction(2) ** exponent > exact:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, form.least) - form.precision + 1)
    units = round(exact / unit)  # Python rounds a Fraction half to even
    biased = max(exponent, form.least) - form.least
    # Carried into the exponent field where rounding gave the next power of two; infinity lies just above.
    bits = (biased << (form.precision - 1)) + units
    infinity = ((1 << (form.bits - form.precision)) - 1) << (form.precision - 1)
    return sign | min(bits, infinity)


def flushed(bits: int, kind: str) -> int:
    """``.ftz``: a subnormal float32 as a zero of its sign."""
    return bits & 0x80000000 if kind == "f32" and not bits & 0x7F800000 else bits


def multiply_add(a: float, b: float, c: float, kind: str) -> int:
    """The bits of a*b+c rounded once."""
    if not all(map(math.isfinite, (a, b, c))):
        return from_float(c if all(map(math.isfinite, (a, b))) else a * b + c, kind)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    negative = math.copysign(1, a) * math.copysign(1, b) < 0 and math.copysign(1, c) < 0
    return rounded(exact, kind, negative_zero=negative)


def product(a: float, b: float, kind: str) -> int:
    """The bits of a*b."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return from_float(a * b, kind)
    return rounded(
        Fraction(a) * Fraction(b), kind, negative_zero=math.copysign(1, a) * math.copysign(1, b) < 0
    )


def quotient(a: float, b: float, kind: str) -> int:
    """The bits of a/b: x/0 is an infinity, 0/0 and inf/inf are NaN."""
    sign = math.copysign(1, a) * math.copysign(1, b)
    if math.isnan(a) or math.isnan(b) or (a == b == 0) or (math.isinf(a) and math.isinf(b)):
        return from_float(math.nan, kind)
    if math.isinf(a) or b == 0:
        return from_float(sign * math.inf, kind)
    if math.isinf(b):
        return from_float(sign * 0.0, kind)
    return rounded(Fraction(a) / Fraction(b), kind, negative_zero=sign < 0)


def square_root(a: float, kind: str) -> int:
    """The bits of the square root: of an integer scaled so that the root has more bits than any format."""
    if math.isnan(a) or a < 0:
        return from_float(math.nan, kind)
    if a == 0 or math.isinf(a):
        return from_float(a, kind)
    exact, shift = Fraction(a), 1200
    scaled = exact * 4**shift
    floor = math.isqrt(scaled.numerator // scaled.denominator)
    inexact = Fraction(floor) ** 2 != scaled
    # A bit below all that count shows on which side of a midpoint the true root lies.
    return rounded(Fraction(2 * floor + inexact, 2 ** (shift + 1)), kind)


def truncated(value: float, rounding: str) -> int:
    """A finite float as an integer: ``rni`` (ties to even), ``rzi``, ``rmi`` or ``rpi``."""
    if rounding == "rni":
        return round(value)
    return math.floor(value) if rounding == "rmi" or (rounding == "rzi" and value > 0) else math.ceil(value)


def clamped(value: int, kind: str) -> int:
    """The nearest integer that a type holds, as bits."""
    bits = width(kind)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)
    return wrapped(min(max(value, low), high), kind)


def compare(relation: str, a: float, b: float) -> bool:
    """Ordered comparisons are false for NaN, unordered ones (``ltu``…) true (section 9.3.1.2)."""
    relation = _ALIASES.get(relation, relation)
    nan = math.isnan(a) or math.isnan(b)
    if relation in ("num", "nan"):
        return nan == (relation == "nan")
    return _RELATIONS[relation](a, b) if relation in _RELATIONS else nan or _RELATIONS[relation[:-1]](a, b)


def integer_result(opcode: str, values: list[int], kind: str) -> int:
    """Sections 9.7.1 and 9.7.8, before wrapping."""
    a, b = (*values, 0)[:2]
    if opcode in ("div", "rem"):
        magnitude = abs(a) // abs(b)
        toward_zero = magnitude if (a < 0) == (b < 0) else -magnitude
        return toward_zero if opcode == "div" else a - toward_zero * b
    one_line = {
        "add": a + b,
        "sub": a - b,
        "neg": -a,
        "abs": abs(a),
        "min": min(a, b),
        "max": max(a, b),
        "not": ~a,
    }
    if kind == "pred" and opcode == "not":
        return 1 - a
    return LOGIC[opcode](a, b) if opcode in LOGIC else one_line[opcode]


def float_result(opcode: str, values: list[float], bits: list[int], kind: str) -> int:
    """Section 9.7.3: exact, then rounded once."""
    a, b = (*values, 0.0)[:2]
    sign = 1 << (width(kind) - 1)
    if opcode in ("add", "sub"):
        return multiply_add(1.0, a, b if opcode == "add" else -b, kind)
    if opcode in ("div", "rcp"):
        return quotient(*((a, b) if opcode == "div" else (1.0, a)), kind)
    if opcode in ("min", "max"):
        larger = (a, math.copysign(1, a)) > (b, math.copysign(1, b))  # +0 counts as more than -0
        first = math.isnan(b) or (not math.isnan(a) and larger == (opcode == "max"))
        return from_float(a if first else b, kind)
    return {"neg": bits[0] ^ sign, "abs": bits[0] & ~sign, "sqrt": square_root(a, kind)}[opcode]


def finished(modifiers: Collection[str], bits: int, kind: str) -> int:
    """``.sat`` (NaN becomes +0) and ``.ftz``."""
    if "sat" in modifiers:
        value = to_float(bits, kind)
        bits = from_float(0.0 if not value > 0 else min(value, 1.0), kind)
    return flushed(bits, kind) if "ftz" in modifiers else bits


def converted(bits: int, how: list[str], to: str, source: str) -> int:
    """Section 9.7.9.21: out of range goes to the nearest limit; integers wrap unless ``.sat``."""
    rounding = next((word for word in how if word in ("rni", "rzi", "rmi", "rpi")), "")
    if source[0] != "f":
        value = number(bits, source)
        if to[0] == "f":
            return rounded(Fraction(value), to)
        return clamped(value, to) if "sat" in how else wrapped(value, to)
    real = to_float(flushed(bits, source) if "ftz" in how else bits, source)
    if to[0] != "f":
        if math.isnan(real):
            return 1 << (width(to) - 1) if 64 in (width(to), width(source)) else 0
        return (
            clamped(1 << 70 if real > 0 else -(1 << 70), to)
            if math.isinf(real)
            else clamped(truncated(real, rounding), to)
        )
    if not math.isfinite(real):
        return finished(how, from_float(real, to), to)
    exact = Fraction(truncated(real, rounding)) if rounding else Fraction(real)
    return finished(how, rounded(exact, to, negative_zero=math.copysign(1, real) < 0), to)
