"""Rounding to float32 and float64 in the directions of IEEE 754, and sums and products rounded once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIRECTIONS = ("RN", "RM", "RP", "RZ")
"""To the nearest, down, up, towards zero."""

_SPLIT = float(2**27 + 1)


def rounded(value: NDArray[Any], kind: type[np.floating[Any]], direction: str) -> NDArray[Any]:
    """Integers or float64 rounded to a type of real numbers."""
    result = value.astype(kind)
    if direction == "RN" or result.dtype == value.dtype:
        return result
    exact, near = value.astype(np.longdouble), result.astype(np.longdouble)
    return _moved(result, (near > exact).astype(np.int8) - (near < exact).astype(np.int8), direction)


def _moved(result: NDArray[Any], above: NDArray[Any], direction: str) -> NDArray[Any]:
    """Results that are above (1) or below (-1) the exact one, moved to the other side where that is asked."""
    wrong: Any = {"RM": above > 0, "RP": above < 0, "RZ": above * np.sign(result) > 0}[direction]
    towards = {"RM": -np.inf, "RP": np.inf, "RZ": 0.0}[direction]
    return np.where(wrong, np.nextafter(result, result.dtype.type(towards)), result)


def extremes(a: NDArray[Any], b: NDArray[Any], *, nan_wins: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """The smaller and the larger of each; of two zeros the negative one is the smaller (NumPy takes any)."""
    least, most = (np.minimum, np.maximum) if nan_wins else (np.fmin, np.fmax)
    equal, negative = a == b, np.signbit(a)
    return (
        np.where(equal, np.where(negative, a, b), least(a, b)),
        np.where(equal, np.where(negative, b, a), most(a, b)),
    )


def sum_and_error(a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """A sum of float64, and what its rounding left out (Knuth, TAOCP 2, section 4.2.2)."""
    total = a + b
    other = total - a
    return total, _finite((a - (total - other)) + (b - other), total, a, b)


def product_and_error(a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """A product of float64, and what its rounding left out (Dekker, 1971)."""
    product = a * b
    high, other_high = (x * _SPLIT - (x * _SPLIT - x) for x in (a, b))
    low, other_low = a - high, b - other_high
    error = ((high * other_high - product) + high * other_low + low * other_high) + low * other_low
    return product, _finite(error, product, a, b)


def _finite(error: NDArray[Any], result: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """An error, also where a result is beyond all numbers; 0 where an operand is."""
    beyond = np.isinf(result) & np.isfinite(a) & np.isfinite(b)
    return np.where(beyond, -np.sign(result), np.nan_to_num(error, posinf=0, neginf=0))


def double(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any] | None, direction: str) -> NDArray[Any]:
    """``a * b + c``, rounded once (but for products near the ends of the range); without ``c``, ``a * b``."""
    product, error = product_and_error(a, b)
    if c is None:
        return directed(product, error, direction)
    total, rest = sum_and_error(product, c)
    result, left_out = sum_and_error(total, rest + error)
    beyond = np.isinf(product) & np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    return directed(result, np.where(beyond, error, left_out), direction)


def directed(result: NDArray[Any], error: NDArray[Any], direction: str) -> NDArray[Any]:
    """A result to which ``error`` should be added, in a direction."""
    if direction == "RN":
        return result
    return _moved(result, -np.sign(error).astype(np.int8), direction)


def single(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], direction: str) -> NDArray[Any]:
    """``a * b + c`` of float32, rounded once in a direction."""
    total, error = sum_and_error(a.astype(np.float64) * b, c.astype(np.float64))
    odd = (error != 0) & (total.view(np.int64) & 1 == 0) & np.isfinite(total)
    total = np.where(odd, np.nextafter(total, np.where(error > 0, np.inf, -np.inf)), total)
    return rounded(total, np.float32, direction)
