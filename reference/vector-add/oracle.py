"""The oracle for C = A + B: inputs, expected values and how far a right kernel may be off.

**The bound.** Each element is one addition of two numbers, and IEEE 754 rounds it once:

    |computed - exact| ≤ u · |a + b|,    u = 2⁻²⁴ for float32, as C's type has it

(N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, equation (2.4)). The bound
shrinks with the sum, so a pair that nearly cancels leaves no room for operands that were rounded on the way.
Our own sum is made in float64, exactly or with a relative error of at most 2⁻⁵³.

**What is added to it.** A sum below 2⁻¹²⁶ is exact, but `-ftz=true` makes it zero, which is wrong by less
than 2⁻¹²⁶ (Higham, section 2.1).

**Exact elements.** Where both operands are whole numbers and the sum is at most 2²⁴, float32 holds it and the
bound is zero; in integer types it always is. Types are those of the assignment's arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from grader.base.precision import precision_of

Shape: TypeAlias = Mapping[str, int]
Array: TypeAlias = NDArray[np.generic]
Vectors: TypeAlias = "tuple[Array, Array]"
Maker: TypeAlias = Callable[[int, np.random.Generator], Vectors]

DOUBLE = 2.0**-53


def inputs(
    kind: str, shape: Shape, rng: np.random.Generator, types: Mapping[str, str] | None = None
) -> dict[str, Array]:
    """A and B, N numbers each; the same `rng` state gives the same vectors.

    Raises KeyError for a kind that is not among `KINDS`.
    """
    a, b = _MAKERS[kind](shape["N"], rng)
    most = precision_of(types, "C").largest / 2
    return {"A": precision_of(types, "A").fit(a, most), "B": precision_of(types, "B").fit(b, most)}


def expected(
    inputs: Mapping[str, Array], _shape: Shape, types: Mapping[str, str] | None = None
) -> dict[str, tuple[Array, NDArray[np.float64]]]:
    """C (N numbers) in float64 or its integer type, and elementwise how far off a right kernel may be."""
    precision = precision_of(types, "C")
    if precision.whole:
        exact = np.asarray(inputs["A"], np.int64) + np.asarray(inputs["B"], np.int64)
        return {"C": (exact.astype(precision.name), np.zeros(exact.shape))}
    a = np.asarray(inputs["A"], dtype=np.float64)
    b = np.asarray(inputs["B"], dtype=np.float64)
    total = a + b
    bound = (precision.unit + DOUBLE) * np.abs(total) + precision.tiny
    whole = (a == np.rint(a)) & (b == np.rint(b))
    return {"C": (total, np.where(whole & (np.abs(total) <= precision.exact), 0.0, bound))}


def work(shape: Shape) -> dict[str, object]:
    """One addition for each element."""
    return {"flops": shape["N"]}


def orders(
    inputs: Mapping[str, Array], _shape: Shape
) -> Iterator[tuple[str, dict[str, NDArray[np.float32]]]]:
    """Right float32 answers: one addition has two orders, and a sum in double that is rounded at the end."""
    a, b = (np.asarray(inputs[name], dtype=np.float32) for name in "AB")
    yield "a + b", {"C": a + b}
    yield "b + a", {"C": b + a}
    yield "in double", {"C": (a.astype(np.float64) + b.astype(np.float64)).astype(np.float32)}


def coarser(
    inputs: Mapping[str, Array], _shape: Shape
) -> Iterator[tuple[str, dict[str, NDArray[np.float32]]]]:
    """Answers of less precise arithmetic, which must not pass: operands rounded first, the sum exact."""
    a, b = (np.asarray(inputs[name], dtype=np.float32) for name in "AB")
    for name, bits in (("half", 11), ("TF32", 11), ("bfloat16", 8)):
        yield name, {"C": (_rounded(a, bits) + _rounded(b, bits)).astype(np.float32)}
    with np.errstate(over="ignore"):  # a number beyond the range of half precision becomes infinite
        yield "sum in half", {"C": (a.astype(np.float16) + b.astype(np.float16)).astype(np.float32)}


def _rounded(values: NDArray[np.float32], bits: int) -> NDArray[np.float64]:
    """The nearest numbers with a number of significant bits, ties to even."""
    mantissa, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits)


def _signed(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Magnitudes in [0.5, 2) with either sign."""
    sign: NDArray[np.float64] = rng.choice((-1.0, 1.0), n)
    return sign * rng.uniform(0.5, 2.0, n)


def _random(n: int, rng: np.random.Generator) -> Vectors:
    """No structure that a wrong index could hide behind."""
    return _signed(n, rng), _signed(n, rng)


def _cancelling(n: int, rng: np.random.Generator) -> Vectors:
    """B is nearly -A: what is left is exact in float32, and is gone where operands lose their last bits."""
    a = _signed(n, rng).astype(np.float32)
    return a, -a * rng.uniform(0.999, 1.001, n)


def _small_integers(n: int, rng: np.random.Generator) -> Vectors:
    """Whole numbers from -99 to 99, which leave no room for rounding."""
    return rng.integers(-99, 100, n), rng.integers(-99, 100, n)


def _counting(n: int, _rng: np.random.Generator) -> Vectors:
    """A is 0, 1, 2 …, B is 1000 everywhere: each element of C says which index it was computed for."""
    return np.arange(n), np.full(n, 1000)


_MAKERS: dict[str, Maker] = {
    "random": _random,
    "cancelling": _cancelling,
    "small-integers": _small_integers,
    "counting": _counting,
}
KINDS = tuple(_MAKERS)
