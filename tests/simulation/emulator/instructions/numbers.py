"""Reference arithmetic for the tests of the chapters: numbers as Python integers, floats and fractions.

Nothing here shares a line with the emulator: formats are given by their widths, rounding works on
fractions, and the square root is that of an integer.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np


class Format(NamedTuple):
    """A binary floating-point format: bits of precision, least exponent of a normal number, all bits."""

    precision: int
    least: int
    bits: int

    @property
    def greatest(self) -> Fraction:
        """The largest finite number."""
        return _greatest(self.precision, self.least)


@cache
def _greatest(precision: int, least: int) -> Fraction:
    return (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** (1 - least)


FORMATS = {
    "f16": Format(11, -14, 16),
    "bf16": Format(8, -126, 16),
    "f32": Format(24, -126, 32),
    "f64": Format(53, -1022, 64),
}

WIDTHS = {
    **{f"{letter}{bits}": bits for letter in "bus" for bits in (8, 16, 32, 64)},
    **{kind: form.bits for kind, form in FORMATS.items()},
    "f16x2": 32,
    "bf16x2": 32,
    "pred": 8,
}

_INTEGERS = (0, 1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 100, 255, 256, 0x5A5A5A5A5A5A5A5A, 0x123456789ABCDEF)
_FLOATS = (0.0, 0.5, 1.0, 1.5, 3.0, 0.1, 1 / 3, 2.5, 7.75, 100.0, 255.5, 1e4, 65504.0, 65520.0, 2.0**31)
_MORE_FLOATS = (
    2.0**63,
    2.0**64,
    3e38,
    1e-3,
    6e-5,
    1e-7,
    2.0**-126,
    1.1e-38,
    1e-40,
    2.0**-149,
    math.inf,
    math.nan,
)
_DOUBLES = (1e300, 1.7e308, 2.0**-1022, 1e-310, 5e-324, 1 + 2.0**-52, 1e17)


@cache
def edges(kind: str) -> tuple[int, ...]:
    """Bit patterns that are likely to go wrong."""
    width = WIDTHS[kind]
    if kind == "pred":
        return (0, 1)
    if kind.endswith("x2"):
        single = edges(kind[:-2])
        return tuple(a | b << 16 for a, b in zip(single, (*single[5:], *single[:5]), strict=True))
    if kind in FORMATS:
        numbers = [*_FLOATS, *_MORE_FLOATS, *(_DOUBLES if kind == "f64" else ())]
        return tuple(pattern(sign * round_to(number, kind), kind) for number in numbers for sign in (1, -1))
    top, ones = 1 << (width - 1), (1 << width) - 1
    integers = (*_INTEGERS, -1, -2, -7, top, top - 1, top + 1, ~0x5A5A5A5A5A5A5A5A)
    return tuple(sorted({number & ones for number in integers}))


@cache
def combinations(kinds: tuple[str, ...], most: int = 384) -> tuple[np.ndarray, ...]:
    """Arrays of patterns, one per operand: all combinations of edges, or ``most`` of them drawn."""
    everything = [edges(kind) for kind in kinds]
    total = math.prod(len(each) for each in everything)
    if total <= most:
        rows: list[tuple[int, ...]] = list(product(*everything))
    else:
        draw = np.random.default_rng(len(kinds) + total)
        rows = [tuple(each[int(draw.integers(len(each)))] for each in everything) for _ in range(most)]
    return tuple(
        np.array(column, f"u{WIDTHS[kind] // 8}")
        for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)
    )


def value_of(bits: int, kind: str) -> int | float:
    """Return the number that a pattern of bits stands for."""
    if kind in FORMATS:
        return _float_of(bits, FORMATS[kind])
    if kind[0] == "s" and bits >> (WIDTHS[kind] - 1):
        return bits - (1 << WIDTHS[kind])
    return bits


def _float_of(bits: int, form: Format) -> float:
    mantissa_bits = form.precision - 1
    sign = -1.0 if bits >> (form.bits - 1) else 1.0
    mantissa = bits & ((1 << mantissa_bits) - 1)
    exponent = bits >> mantissa_bits & ((1 << (form.bits - form.precision)) - 1)
    if exponent == (1 << (form.bits - form.precision)) - 1:
        return math.nan if mantissa else sign * math.inf
    if exponent:
        mantissa, exponent = mantissa | 1 << mantissa_bits, exponent - 1
    return sign * math.ldexp(mantissa, exponent + form.least - mantissa_bits)


def pattern(number: float, kind: str) -> int:
    """The pattern of a number that the kind can hold; integers wrap."""
    if kind not in FORMATS:
        return int(number) & ((1 << WIDTHS[kind]) - 1)
    form = FORMATS[kind]
    mantissa_bits = form.precision - 1
    sign = (math.copysign(1.0, number) < 0) << (form.bits - 1)
    ones = (1 << (form.bits - form.precision)) - 1
    if math.isnan(number):
        return ones << mantissa_bits | 1 << (mantissa_bits - 1)
    if math.isinf(number):
        return sign | ones << mantissa_bits
    size = abs(float(number))
    exponent = max(math.frexp(size)[1] - 1, form.least)
    mantissa = int(math.ldexp(size, mantissa_bits - exponent))
    if mantissa < 1 << mantissa_bits:
        return sign | mantissa
    return sign | (exponent - form.least + 1) << mantissa_bits | (mantissa - (1 << mantissa_bits))


def _exponent(size: Fraction) -> int:
    """The largest e with 2**e <= size."""
    numerator, denominator = size.as_integer_ratio()
    guess = numerator.bit_length() - denominator.bit_length()
    over, under = _scaled(numerator, denominator, guess)
    return guess if under <= over else guess - 1


def _scaled(numerator: int, denominator: int, power: int) -> tuple[int, int]:
    """A fraction divided by a power of two: in integers, which is many times as fast as by `Fraction`."""
    return (numerator, denominator << power) if power > 0 else (numerator << -power, denominator)


def round_to(number: float | Fraction, kind: str, mode: str = "rn", zero: float = 0.0) -> float:
    """A number as the nearest of a format in a direction; ``zero`` is what an exact zero becomes."""
    if isinstance(number, float):
        if not math.isfinite(number):
            return number
        zero = number
    exact, form = Fraction(number), FORMATS[kind]
    if exact == 0:
        return math.copysign(0.0, zero)
    size = abs(exact)
    quantum = max(_exponent(size), form.least) - form.precision + 1
    numerator, denominator = _scaled(*size.as_integer_ratio(), quantum)
    steps, rest = divmod(numerator, denominator)
    outwards = {
        "rn": rest * 2 > denominator or (rest * 2 == denominator and steps % 2 == 1),
        "rz": False,
        "rm": rest != 0 and exact < 0,
        "rp": rest != 0 and exact > 0,
    }[mode]
    steps += outwards
    if steps.bit_length() + quantum > 2 - form.least:
        stays = mode == "rz" or (mode == "rm" and exact > 0) or (mode == "rp" and exact < 0)
        result_float = float(form.greatest) if stays else math.inf
    else:
        result_float = math.ldexp(steps, quantum)
    return result_float if exact > 0 else -result_float


def root(number: float, kind: str, mode: str) -> float:
    """A square root: that of an integer with many more bits than are asked for, and a bit for the rest."""
    if math.isnan(number) or number < 0:
        return math.nan
    if number == 0 or math.isinf(number):
        return number
    exact = Fraction(number)
    shift = 2 * (200 + max(0, -_exponent(exact)))
    scaled = (exact.numerator << shift) // exact.denominator
    whole = math.isqrt(scaled)
    inexact = whole * whole != scaled or (exact.numerator << shift) % exact.denominator
    return round_to((whole + (Fraction(1, 2) if inexact else 0)) / Fraction(2) ** (shift // 2), kind, mode)


def add(a: float, b: float, kind: str, mode: str = "rn") -> float:
    """The sum."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a + b
    negative = (math.copysign(1, a) < 0) + (math.copysign(1, b) < 0)
    zero = -0.0 if negative == 2 or (negative and mode == "rm") else 0.0
    if a or b:
        zero = -0.0 if mode == "rm" else 0.0
    return round_to(Fraction(a) + Fraction(b), kind, mode, zero)


def multiply(a: float, b: float, kind: str, mode: str = "rn") -> float:
    """The product."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b
    return round_to(Fraction(a) * Fraction(b), kind, mode, math.copysign(1, a) * math.copysign(1, b))


def divide(a: float, b: float, kind: str, mode: str = "rn") -> float:
    """The quotient."""
    sign = math.copysign(1, a) * math.copysign(1, b)
    if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)) or (a == 0 == b):
        return math.nan
    if math.isinf(a) or b == 0:
        return sign * math.inf
    if math.isinf(b):
        return sign * 0.0
    return round_to(Fraction(a) / Fraction(b), kind, mode, sign)


def fused(a: float, b: float, c: float, kind: str, mode: str = "rn") -> float:
    """The product and sum, rounded once."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    signs = (math.copysign(1, a) * math.copysign(1, b) < 0) + (math.copysign(1, c) < 0)
    both_zero = (a == 0 or b == 0) and c == 0
    if mode == "rm":
        zero = 0.0 if both_zero and signs == 0 else -0.0
    else:
        zero = -0.0 if both_zero and signs == 2 else 0.0
    return round_to(exact, kind, mode, zero)


def flushed(number: float) -> float:
    """Below the normal float32 numbers: a zero of the same sign."""
    return math.copysign(0.0, number) if abs(number) < 2.0**-126 else number


def saturated(number: float) -> float:
    """Clamped to 0 … 1; NaN gives 0."""
    return min(number, 1.0) if number > 0 else 0.0
