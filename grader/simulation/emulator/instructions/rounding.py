"""Floating-point results rounded once, in each of the four directions (PTX ISA section 9.7.3, `.rnd`).

A result that NumPy rounds to nearest is corrected by the sign of its error, which error-free transformations
give exactly (Muller et al., *Handbook of Floating-Point Arithmetic*, chapter 4). float32 results are computed
in float64 and rounded to odd there, so that the second rounding does no harm (Boldo and Melquiond, *Emulation
of FMA and correctly rounded sums*, 2008). The few float64 operands that are so large or so small that the
transformations could over- or underflow are done as fractions, one by one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.emulator.machine.values import broadcasts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.values import Value

MODES = ("rn", "rz", "rm", "rp")
"""To nearest (ties to even), towards zero, down, up."""

_SMALLEST_NORMAL = np.float32(2.0**-126)
_DROPPED, _HALF_WAY = np.uint64(0x1FFFFFFF), np.uint64(0x10000000)
"""The bits of a double that a float32 has no room for; their value on the midpoint of two float32."""

_TINY, _HUGE = 2.0**-300, 2.0**300
_DOUBLE = np.dtype(np.float64)


def add(a: Value, b: Value, mode: str) -> Value:
    """A + b."""
    if mode == "rn":
        return a + b
    if mode == "rm":  # the mirror image of rounding up, also for the sign of a zero
        return -add(-a, -b, "rp")
    if a.dtype != _DOUBLE:
        return narrowed(to_odd(*two_sum(_wide(a), _wide(b))), a.dtype, mode)
    return _carefully(
        a + b,
        stepped(*two_sum(a, b), mode),
        (a, b),
        lambda x, y: Fraction(x) + Fraction(y),
        mode,
    )


def multiply(a: Value, b: Value, mode: str) -> Value:
    """A * b."""
    plain = a * b
    if mode == "rn":
        return plain
    if a.dtype != _DOUBLE:
        return narrowed(_wide(a) * _wide(b), a.dtype, mode)
    return _carefully(
        plain,
        stepped(*two_product(a, b), mode),
        (a, b),
        lambda x, y: Fraction(x) * Fraction(y),
        mode,
    )


def divide(a: Value, b: Value, mode: str) -> Value:
    """A / b."""
    plain = a / b
    if mode == "rn":
        return plain
    x, y = _wide(a), _wide(b)
    high = x / y
    product, product_error = two_product(high, y)
    error = ((x - product) - product_error) * np.sign(y)
    if a.dtype != _DOUBLE:
        return narrowed(to_odd(high, error), a.dtype, mode)
    return _carefully(
        plain,
        stepped(high, error, mode),
        (a, b),
        lambda x, y: Fraction(x) / Fraction(y) if y else None,
        mode,
    )


def square_root(a: Value, mode: str) -> Value:
    """The square root; of float64 numbers out of the middle range by way of a power of four."""
    if mode == "rn":
        return np.sqrt(a)
    x = _wide(a)
    scale = np.where(x < _TINY, 2.0**400, np.where(x > _HUGE, 2.0**-400, 1.0))
    x = x * (scale * scale)
    high = np.sqrt(x)
    product, product_error = two_product(high, high)
    error = (x - product) - product_error
    if a.dtype != _DOUBLE:
        return narrowed(to_odd(high, error), a.dtype, mode)
    return (stepped(high, error, mode) / scale)[()]


def fused(a: Value, b: Value, c: Value, mode: str) -> Value:
    """A * b + c."""
    if mode == "rm":
        return -fused(-a, b, -c, "rp")
    if a.dtype != _DOUBLE:
        return nearest_fused32(a, b, c) if mode == "rn" else _fused32(a, b, c, mode)
    # A finite product that is too large must not turn c = ±inf into a NaN or the other infinity.
    plain = np.where(np.isfinite(a) & np.isfinite(b) & np.isinf(c), c, a * b + c)
    product, product_error = two_product(a, b)
    low, low_error = two_sum(c, product_error)
    high, high_error = two_sum(product, low)
    total, error = two_sum(high, to_odd(*two_sum(low_error, high_error)))
    return _carefully(
        plain,
        np.where(total == 0, plain, stepped(total, error, mode)),  # the plain zero has the right sign
        (a, b, c),
        lambda x, y, z: Fraction(x) * Fraction(y) + Fraction(z),
        mode,
    )


@broadcasts
def nearest_fused32(a: Value, b: Value, c: Value) -> Value:
    """A * b + c of float32 numbers, to nearest. The product is exact in float64.

    A sum rounded to nearest there may be rounded again unless it lands on the midpoint of two float32
    numbers, or below the normal ones.
    """
    total = _wide(a) * _wide(b)
    if total.ndim and total.shape == c.shape:
        total += c  # no new array: this is where a matrix product spends its time
    else:
        total = total + _wide(c)
    result = total.astype(np.float32)
    small = np.abs(result) < _SMALLEST_NORMAL
    if not (np.count_nonzero(small) and np.count_nonzero(small & (total != 0))):
        bits = total.view(np.uint64)
        bits &= _DROPPED
        if not np.count_nonzero(bits == _HALF_WAY):
            return result
    return _fused32(a, b, c, "rn")


def _fused32(a: Value, b: Value, c: Value, mode: str) -> Value:
    """The product is exact in float64; rounded to odd there, the sum can be rounded again."""
    return narrowed(to_odd(*two_sum(_wide(a) * _wide(b), _wide(c))), a.dtype, mode)


def from_integer(value: Value, target: np.dtype[np.floating], mode: str) -> Value:
    """An integer as a float: its halves are exact in float64."""
    if mode == "rn" and target.itemsize > 2:  # noqa: PLR2004 - bytes of a half
        return value.astype(target)
    wide = value.astype(np.int64 if value.dtype.kind == "i" else np.uint64)
    thirty_two, ones = wide.dtype.type(32), wide.dtype.type(0xFFFFFFFF)
    upper = (wide >> thirty_two).astype(np.float64) * 2.0**32
    high, error = two_sum(upper, (wide & ones).astype(np.float64))
    return stepped(high, error, mode) if target == _DOUBLE else narrowed(to_odd(high, error), target, mode)


def narrowed(value: Value, target: np.dtype[np.floating], mode: str) -> Value:
    """float64 numbers as narrower ones."""
    result = value.astype(target)
    if mode == "rn":
        return result
    back = result.astype(np.float64)
    error = np.where(back == value, 0.0, np.where(back > value, -1.0, 1.0))
    return stepped(result, np.where(np.isnan(value), 0.0, error), mode)


def stepped(high: Value, error: Value, mode: str) -> Value:
    """``high``, the nearest number, or its neighbour where the mode asks for the other side.

    An infinite operand makes the error NaN: there is nothing to correct.
    """
    if mode == "rn":
        return high
    down, up = high.dtype.type(-np.inf), high.dtype.type(np.inf)
    below = (error < 0) & ((mode == "rm") | ((mode == "rz") & (high > 0)))
    above = (error > 0) & ((mode == "rp") | ((mode == "rz") & (high < 0)))
    neighbour = np.where(below, np.nextafter(high, down), np.where(above, np.nextafter(high, up), high))
    return neighbour[()]


def to_odd(total: Value, error: Value) -> Value:
    """A float64 sum rounded to odd: an inexact one whose last bit is even steps to its odd neighbour."""
    bits = total.view(np.uint64)
    step = (error != 0) & np.isfinite(error) & ((bits & np.uint64(1)) == 0)
    away = (error > 0) == (total > 0)
    neighbour = np.where(away, bits + np.uint64(1), bits - np.uint64(1))
    return np.where(step, neighbour, bits).view(np.float64)[()]


def two_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """The sum in float64 and its rounding error (Knuth)."""
    total = a + b
    virtual = total - a
    return total, (a - (total - virtual)) + (b - virtual)


def two_product(a: Value, b: Value) -> tuple[Value, Value]:
    """The product in float64 and its rounding error (Dekker, Veltkamp)."""
    factor = np.float64(2**27 + 1)
    split_a, split_b = factor * a, factor * b
    high_a, high_b = split_a - (split_a - a), split_b - (split_b - b)
    low_a, low_b = a - high_a, b - high_b
    product = a * b
    return product, low_a * low_b - (((product - high_a * high_b) - low_a * high_b) - high_a * low_b)


def _wide(value: Value) -> Value:
    return value if value.dtype == _DOUBLE else value.astype(np.float64)


def _finite(*values: Value) -> Value:
    return np.logical_and.reduce(np.broadcast_arrays(*(np.isfinite(value) for value in values)))


def _carefully(
    plain: Value,
    result: Value,
    operands: tuple[Value, ...],
    exact: Callable[..., Fraction | None],
    mode: str,
) -> Value:
    """``result`` where the operands are moderate, ``plain`` where one is no number, else as fractions."""
    moderate = [(value == 0) | ((np.abs(value) > _TINY) & (np.abs(value) < _HUGE)) for value in operands]
    safe = np.logical_and.reduce(np.broadcast_arrays(*moderate)) & np.isfinite(plain)
    if np.all(safe):
        return result
    chosen: NDArray[np.float64] = np.atleast_1d(np.where(safe, result, plain))
    columns = np.broadcast_arrays(*(np.atleast_1d(value) for value in operands))
    for lane in np.flatnonzero(np.atleast_1d(~safe & _finite(*operands))):
        value = exact(*(float(column[lane]) for column in columns))
        if value:
            chosen[lane] = rounded_fraction(value, mode)
    return chosen if np.ndim(plain) else chosen[0]


def rounded_fraction(exact: Fraction, mode: str) -> float:
    """A fraction other than 0 as a double."""
    try:
        nearest = float(exact)
    except OverflowError:
        nearest, error = (math.inf, -1) if exact > 0 else (-math.inf, 1)
    else:
        nearest = nearest or (0.0 if exact > 0 else -0.0)
        error = (exact > Fraction(nearest)) - (exact < Fraction(nearest))
    if error < 0 and (mode == "rm" or (mode == "rz" and exact > 0)):
        return math.nextafter(nearest, -math.inf)
    if error > 0 and (mode == "rp" or (mode == "rz" and exact < 0)):
        return math.nextafter(nearest, math.inf)
    return nearest


NEAREST: dict[object, Callable[..., Value]] = {
    multiply: np.multiply,
    divide: np.divide,
    square_root: np.sqrt,
}
"""NumPy functions that round to nearest by themselves."""
