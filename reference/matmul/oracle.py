"""The oracle for C = A · B: inputs, expected values and how far a right kernel may be off.

A shape is M, K and N. A square product has one dimension, `Width`, and its matrices are M, N and P = M · N.

**The bound.** An element of C is a sum of K products. In whatever order they are summed, a product passes
through at most K roundings on its way into the result: one of its own and at most K - 1 of sums that it takes
part in (adding it to a running sum that starts from 0 is exact; an fma rounds once where a multiply and an
add round twice; a pairwise or blocked order has fewer). Each rounding is a factor 1 + δ with |δ| ≤ u, so that

    |computed - exact| ≤ gamma_K · (|A| · |B|),    gamma_K = K·u / (1 - K·u)

elementwise, where u is the unit of C's type, 2⁻²⁴ for float32: N. J. Higham, *Accuracy and Stability of
Numerical Algorithms*, 2nd edition, lemma 3.1, equation (3.5) and section 3.5. Zeros that pad a tile take part
exactly.

**What is added to it.** Our own sum in float64 has an error of at most gamma_K with u = 2⁻⁵³ for the same
reason. Underflow: a product, or with `-ftz=true` also a sum, that falls below 2⁻¹²⁶ may be replaced by zero,
which is wrong by less than 2⁻¹²⁶ (Higham, section 2.1, equation (2.8)); there are at most 2K such places.

**Exact elements.** Where all operands are whole numbers and |A| · |B| is at most 2²⁴ (for float32), every
partial sum in every order is a whole number that the type holds, and the bound is zero. So it is for
integers, which wrap around as they do on the device.

**Types.** They are those of the assignment's arrays, float32 where it says none. What is summed in C's type
or a finer one passes, whatever the operands' types are; they are small enough that no sum overflows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from grader.base.precision import precision_of

Shape: TypeAlias = Mapping[str, int]
Matrix: TypeAlias = NDArray[np.float32]
Maker: TypeAlias = Callable[
    [int, int, int, np.random.Generator], tuple[NDArray[np.generic], NDArray[np.generic]]
]

DOUBLE = 2.0**-53
SPIKE = 1000.0
SQUARE = "Width"
"""The one dimension of a square product."""


def inputs(
    kind: str, shape: Shape, rng: np.random.Generator, types: Mapping[str, str] | None = None
) -> dict[str, Matrix]:
    """A (M by K) and B (K by N), C order; the same `rng` state gives the same matrices.

    Raises KeyError for a kind that is not among `KINDS`.
    """
    first, second, product = _names(shape)
    most = sqrt(precision_of(types, product).largest / _sizes(shape)[1])
    a, b = _MAKERS[kind](*_sizes(shape), rng)
    return {
        first: precision_of(types, first).fit(a, most),
        second: precision_of(types, second).fit(b, most),
    }


def expected(
    inputs: Mapping[str, NDArray[np.generic]], shape: Shape, types: Mapping[str, str] | None = None
) -> dict[str, tuple[NDArray[np.generic], NDArray[np.float64]]]:
    """C (M by N) in float64 or its integer type, and elementwise how far a right kernel may be from it."""
    first, second, product = _names(shape)
    precision = precision_of(types, product)
    if precision.whole:
        exact = np.asarray(inputs[first], np.int64) @ np.asarray(inputs[second], np.int64)
        return {product: (exact.astype(precision.name), np.zeros(exact.shape))}
    a = np.asarray(inputs[first], dtype=np.float64)
    b = np.asarray(inputs[second], dtype=np.float64)
    _, terms, _ = _sizes(shape)
    magnitude: NDArray[np.float64] = np.abs(a) @ np.abs(b)
    relative = precision.gamma(terms) + _gamma(terms, DOUBLE)
    underflow = 2 * terms * precision.tiny * (1 + relative)
    bound = relative * magnitude + underflow
    if _is_whole(a) and _is_whole(b):
        bound = np.where(magnitude <= precision.exact, 0.0, bound)
    return {product: (a @ b, bound)}


def work(shape: Shape) -> dict[str, object]:
    """Work of C = A · B: a multiply and an add for each product, and a library call that does the same."""
    (m, k, n), (first, second, product) = _sizes(shape), _names(shape)
    call = {"call": "sgemm", "m": m, "n": n, "k": k, "a": first, "b": second, "c": product}
    return {"flops": 2 * m * k * n, "library": call}


def orders(
    inputs: Mapping[str, NDArray[np.generic]], shape: Shape
) -> Iterator[tuple[str, dict[str, Matrix]]]:
    """Right results in float32, the sums taken in other orders; `expected` must forgive all of them."""
    first, second, product = _names(shape)
    a, b = np.asarray(inputs[first], np.float32), np.asarray(inputs[second], np.float32)
    terms = [np.multiply.outer(a[:, k], b[k]) for k in range(a.shape[1])]
    yield "summed forwards", {product: _running(terms)}
    yield "summed backwards", {product: _running(terms[::-1])}
    yield "summed pairwise", {product: _pairwise(terms)}
    yield (
        "summed in tiles of 16",
        {product: _running([_running(terms[k : k + 16]) for k in range(0, len(terms), 16)])},
    )
    yield (
        "summed by 32 lanes",
        {product: _pairwise([_running(terms[k::32]) for k in range(min(32, len(terms)))])},
    )
    fused = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(
        a.shape[1]
    ):  # in float64 the product is exact, and the sum as good as: one rounding a term
        fused = (fused + np.multiply.outer(a[:, k].astype(np.float64), b[k])).astype(np.float32)
    yield "summed with fused multiply-add", {product: fused}


def coarser(
    inputs: Mapping[str, NDArray[np.generic]], shape: Shape
) -> Iterator[tuple[str, dict[str, NDArray[np.float64]]]]:
    """Results of lower precision, but for it exact; `expected` must not forgive any of them in every case."""
    first, second, product = _names(shape)
    a, b = np.asarray(inputs[first], np.float32), np.asarray(inputs[second], np.float32)
    for name, bits in (("half precision", 10), ("TF32", 10), ("bfloat16", 7)):
        kept = _half if name == "half precision" else partial(_mantissa, bits=bits)
        yield f"of operands in {name}", {product: kept(a) @ kept(b)}
    total = np.zeros((a.shape[0], b.shape[1]), np.float64)
    for k in range(a.shape[1]):
        total = _half(total + np.multiply.outer(a[:, k].astype(np.float64), b[k]))
    yield "summed in half precision", {product: total}


def _running(terms: Sequence[Matrix]) -> Matrix:
    total = np.zeros_like(terms[0])
    for term in terms:
        total += term
    return total


def _pairwise(terms: Sequence[Matrix]) -> Matrix:
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return _pairwise(terms[:half]) + _pairwise(terms[half:])


def _half(values: NDArray[np.floating]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # beyond 65504 it is infinite, as on the device
        return values.astype(np.float16).astype(np.float64)


def _mantissa(values: NDArray[np.floating], bits: int) -> NDArray[np.float64]:
    """Rounded to a number of bits behind the leading one, with float32's exponents: TF32 and bfloat16."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.rint(fraction * 2.0 ** (bits + 1)) / 2.0 ** (bits + 1), exponent)


def _names(shape: Shape) -> tuple[str, str, str]:
    """Names of the two operands and of the product."""
    return ("M", "N", "P") if SQUARE in shape else ("A", "B", "C")


def _sizes(shape: Shape) -> tuple[int, int, int]:
    """Rows of the first operand, terms of each sum, columns of the second."""
    if SQUARE in shape:
        return shape[SQUARE], shape[SQUARE], shape[SQUARE]
    return shape["M"], shape["K"], shape["N"]


def _gamma(terms: int, unit: float) -> float:
    return terms * unit / (1 - terms * unit)


def _is_whole(values: NDArray[np.float64]) -> bool:
    return bool((values == np.rint(values)).all())


def _signed(rng: np.random.Generator, rows: int, columns: int) -> NDArray[np.float64]:
    """Magnitudes in [0.5, 2) with either sign: every product counts, none is near zero."""
    sign: NDArray[np.float64] = rng.choice((-1.0, 1.0), (rows, columns))
    return sign * rng.uniform(0.5, 2.0, (rows, columns))


def _random(
    m: int, k: int, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """No structure that a wrong index could hide behind; half and TF32 arithmetic miss the bound."""
    return _signed(rng, m, k), _signed(rng, k, n)


def _positive(
    m: int, k: int, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """From 0 up to 1: no sum cancels, so that a right kernel's relative error is a few units of rounding."""
    return rng.random((m, k)), rng.random((k, n))


def _spikes(
    m: int, k: int, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Random, and in each row of A and each column of B one element a thousand times as large."""
    a, b = _random(m, k, n, rng)
    a[np.arange(m), rng.integers(0, k, m)] *= SPIKE
    b[rng.integers(0, k, n), np.arange(n)] *= SPIKE
    return a, b


def _small_integers(
    m: int, k: int, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Whole numbers from -9 to 9, which leave no room for rounding."""
    return rng.integers(-9, 10, (m, k)), rng.integers(-9, 10, (k, n))


def _ones_and_twos(
    m: int, k: int, n: int, _rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A all ones, B all twos: every element of C is 2K."""
    return np.ones((m, k)), np.full((k, n), 2.0)


def _identity(
    m: int, k: int, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """B has ones on its diagonal and zeros elsewhere: C repeats the columns of A."""
    return _signed(rng, m, k), np.eye(k, n)


def _counting(
    m: int, k: int, n: int, _rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """1, 2, 3 … tile by tile of 4 by 4 in A, and likewise in the transpose of B; easy to follow on paper.

    For 8 by 8 the first tile of A has the rows 1-4, 5-8, 9-12, 13-16, the tile right of it goes on with 17,
    and the first row of C begins 1404 1740 2076 2412, after 30 70 110 150 from the first four terms.
    """
    return _numbered_by_tiles(m, k), _numbered_by_tiles(n, k).T


def _residues(
    m: int, k: int, n: int, _rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(i + 2k) mod 5 - 2 in A and (3k + j) mod 7 - 3 in B: whole numbers that a program can fill in itself.

    No element of C tells its row and column by itself, and transposed or shifted operands give another C.
    """
    row, column = np.indices((m, k))
    a = (row + 2 * column) % 5 - 2
    row, column = np.indices((k, n))
    return a, (3 * row + column) % 7 - 3


def _numbered_by_tiles(rows: int, columns: int, tile: int = 4) -> NDArray[np.int64]:
    row, column = np.indices((rows, columns))
    tiles_in_a_row = -(-columns // tile)
    which = row // tile * tiles_in_a_row + column // tile
    return which * tile**2 + row % tile * tile + column % tile + 1


_MAKERS: dict[str, Maker] = {
    "random": _random,
    "positive": _positive,
    "spikes": _spikes,
    "small-integers": _small_integers,
    "ones-and-twos": _ones_and_twos,
    "identity": _identity,
    "counting": _counting,
    "residues": _residues,
}
KINDS = tuple(_MAKERS)
