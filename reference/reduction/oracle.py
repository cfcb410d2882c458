"""The oracle for the sum of N numbers: inputs, the sum, and how far a right kernel may be off.

**The bound.** In whatever order N numbers are added, each takes part in at most N - 1 sums that round
(adding it to a running sum that starts from 0 is exact). Each rounding is a factor 1 + δ, |δ| ≤ u, so that

    |computed - exact| ≤ gamma_(N-1) · Σ|x|,    gamma_n = n·u / (1 - n·u),    u = 2⁻²⁴ for float32

for every order: N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, lemma 3.1 and
section 4.2. A tree needs only about log2 N roundings, but a tree is not required. So the bound grows
with N², and a long vector of random numbers would hide an element that was left out: long cases hold numbers
with an exact sum.

**What is added to it.** Our own sum in float64 is within 2⁻⁵³ of Σ|x| (`math.fsum` rounds once). With
`-ftz=true` each of N - 1 sums may lose less than 2⁻¹²⁶ (Higham, section 2.1, equation (2.8)).

**Exact sums.** Where all numbers are multiples of a quarter and Σ|x| is at most 2²⁴ quarters, every partial
sum in every order is such a multiple that float32 holds, and the bound is zero; in integer types it always
is. Types are those of the assignment's arrays; numbers are small enough that no sum overflows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import fsum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from grader.base.precision import precision_of

Shape: TypeAlias = Mapping[str, int]
Array: TypeAlias = NDArray[np.generic]
Vector: TypeAlias = NDArray[np.float32]
Maker: TypeAlias = Callable[[int, np.random.Generator], Array]

DOUBLE = 2.0**-53
QUARTER = 0.25
SPIKE = 1000.0


def inputs(
    kind: str, shape: Shape, rng: np.random.Generator, types: Mapping[str, str] | None = None
) -> dict[str, Array]:
    """N numbers, and the total as it is before the launch, which is zero.

    Raises KeyError for a kind that is not among `KINDS`.
    """
    values = _MAKERS[kind](shape["N"], rng)
    total = precision_of(types, "total")
    given = precision_of(types, "values").fit(values, total.largest / shape["N"])
    return {"values": given, "total": total.fit(np.zeros(1))}


def expected(
    inputs: Mapping[str, Array], shape: Shape, types: Mapping[str, str] | None = None
) -> dict[str, tuple[Array, NDArray[np.float64]]]:
    """The total (one number) in float64 or its integer type, and how far a right kernel may be from it."""
    precision = precision_of(types, "total")
    if precision.whole:
        exact = np.asarray(inputs["values"], np.int64).sum(keepdims=True)
        return {"total": (exact.astype(precision.name), np.zeros(1))}
    values = np.asarray(inputs["values"], dtype=np.float64)
    total, magnitude = fsum(values), fsum(np.abs(values))
    rounded = shape["N"] - 1
    bound = (precision.gamma(rounded) + DOUBLE) * magnitude + rounded * precision.tiny
    quarters = values / QUARTER
    if (quarters == np.rint(quarters)).all() and magnitude <= precision.exact * QUARTER:
        bound = 0.0
    return {"total": (np.array([total]), np.array([bound]))}


def work(shape: Shape) -> dict[str, object]:
    """One addition fewer than there are numbers."""
    return {"flops": shape["N"] - 1}


# --- arithmetic that must pass, and arithmetic that must not -----------------------------------------


def orders(inputs: Mapping[str, Array], _shape: Shape) -> Iterator[tuple[str, dict[str, Vector]]]:
    """The sum in float32 in different orders, by name."""
    values = np.asarray(inputs["values"], dtype=np.float32)
    yield "forwards", _as_total(_running(values))
    yield "backwards", _as_total(_running(values[::-1]))
    yield "by size", _as_total(_running(values[np.argsort(np.abs(values), kind="stable")]))
    yield "pairwise", _as_total(_pairwise(values))
    yield "strided by 256", _as_total(_pairwise(_strided(values, 256)))
    yield "blocks of 256, then forwards", _as_total(_running(_blocked(values, 256)))


def coarser(inputs: Mapping[str, Array], _shape: Shape) -> Iterator[tuple[str, dict[str, Vector]]]:
    """Sums of less precise arithmetic: numbers rounded and summed exactly, or summed in half precision."""
    values = np.asarray(inputs["values"], dtype=np.float32)
    for name, bits in (("half", 11), ("TF32", 11), ("bfloat16", 8)):
        yield name, _as_total(np.float32(fsum(_rounded(values, bits))))
    with np.errstate(over="ignore", invalid="ignore"):  # sums beyond the range of half precision
        total = np.add.accumulate(values.astype(np.float16), dtype=np.float16)[-1]
    yield "sum in half", _as_total(np.float32(total))


def _as_total(value: np.float32) -> dict[str, Vector]:
    return {"total": np.array([value], np.float32)}


def _running(values: Vector) -> np.float32:
    """One number after the other."""
    return np.float32(np.add.accumulate(values, dtype=np.float32)[-1])


def _pairwise(values: Vector) -> np.float32:
    """Halves added to each other until one number is left."""
    while len(values) > 1:
        half = (len(values) + 1) // 2
        values = np.concatenate(
            (values[: len(values) - half] + values[half:], values[len(values) - half : half])
        )
    return np.float32(values[0])


def _strided(values: Vector, threads: int) -> Vector:
    """Sums of a number of threads that take turns: a sum for each."""
    padded = np.pad(values, (0, -len(values) % threads)).reshape(-1, threads)
    sums: Vector = np.add.accumulate(padded, axis=0, dtype=np.float32)[-1]
    return sums


def _blocked(values: Vector, size: int) -> Vector:
    """A sum for each stretch of a fixed length."""
    padded = np.pad(values, (0, -len(values) % size)).reshape(-1, size)
    sums: Vector = np.add.accumulate(padded, axis=1, dtype=np.float32)[:, -1]
    return sums


def _rounded(values: Vector, bits: int) -> NDArray[np.float64]:
    """The nearest numbers with a number of significant bits, ties to even."""
    mantissa, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits)


# --- kinds of inputs ---------------------------------------------------------------------------------


def _random(n: int, rng: np.random.Generator) -> Array:
    """Magnitudes in [0.5, 2) with either sign: none is so small that its absence would pass."""
    return rng.choice((-1.0, 1.0), n) * rng.uniform(0.5, 2.0, n)


def _spikes(n: int, rng: np.random.Generator) -> Array:
    """Random, and one number in fifty a thousand times as large."""
    return _random(n, rng) * np.where(rng.random(n) < 1 / 50, SPIKE, 1.0)


def _whole(n: int, rng: np.random.Generator) -> Array:
    """Whole numbers from 1 to 9: whatever is left out or counted twice shows, and nothing cancels."""
    return rng.integers(1, 10, n)


def _quarters(n: int, rng: np.random.Generator) -> Array:
    """Odd quarters between 512 and 2048 of either sign: the sum of 1024 is exact; half and TF32 hold none."""
    return rng.choice((-1.0, 1.0), n) * (2 * rng.integers(1024, 4096, n) + 1) * QUARTER


def _ones(n: int, _rng: np.random.Generator) -> Array:
    """Ones: the total is N, and a wrong one says how many elements were counted."""
    return np.ones(n)


def _counting(n: int, _rng: np.random.Generator) -> Array:
    """1, 2, 3 …: the total is N(N + 1)/2, and what is missing says which element it was."""
    return np.arange(1, n + 1)


_MAKERS: dict[str, Maker] = {
    "random": _random,
    "spikes": _spikes,
    "whole": _whole,
    "quarters": _quarters,
    "ones": _ones,
    "counting": _counting,
}
KINDS = tuple(_MAKERS)
