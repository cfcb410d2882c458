"""The oracle for running sums along rows: inputs, expected values and how far a kernel may be off.

**The bound.** Element i of a row of the output is the sum of the i + 1 numbers up to it. Whoever adds them,
one after another, over a tree, or tile by tile with a carry, makes i additions of two sums, and a number
passes through at most i of them. Each rounds by a factor 1 + δ with |δ| ≤ u, so that

    |computed - exact| ≤ gamma_i · (|x₀| + … + |xᵢ|),    gamma_i = i·u / (1 - i·u)

N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, section 4.2, equation (4.4), and
lemma 3.1. u is the unit of the output's type, 2⁻²⁴ for float32. Adding to 0, or a 0 that pads a tile, is
exact. The first element of a row is a copy, and its bound is zero.

**What is added to it.** Our own sum in float64 has an error of at most gamma_i with u = 2⁻⁵³ for the same
reason. A sum never underflows inexactly (Higham, section 2.1), but `-ftz=true` may replace one below 2⁻¹²⁶ by
zero.

**Exact rows.** Where all numbers are whole and the sum of their magnitudes is at most 2²⁴, every partial sum
in every order is a whole number that float32 holds, and the bound is zero; in integer types it always is.
Types are those of the assignment's arrays; numbers are small enough that no sum overflows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from grader.base.precision import precision_of

Shape: TypeAlias = Mapping[str, int]
Rows: TypeAlias = NDArray[np.float32]
Maker: TypeAlias = Callable[[int, int, np.random.Generator], NDArray[np.generic]]

DOUBLE = 2.0**-53
SPIKE = 1000.0
BLOCK = 32


def inputs(
    kind: str, shape: Shape, rng: np.random.Generator, types: Mapping[str, str] | None = None
) -> dict[str, Rows]:
    """`input` (M by N), C order; the same `rng` state gives the same rows.

    Raises KeyError for a kind that is not among `KINDS`.
    """
    made = _MAKERS[kind](shape["M"], shape["N"], rng)
    most = precision_of(types, "output").largest / shape["N"]
    return {"input": precision_of(types, "input").fit(made, most)}


def expected(
    inputs: Mapping[str, NDArray[np.generic]], shape: Shape, types: Mapping[str, str] | None = None
) -> dict[str, tuple[NDArray[np.generic], NDArray[np.float64]]]:
    """`output` (M by N) in float64 or its integer type, and elementwise how far off a right kernel may be."""
    precision = precision_of(types, "output")
    if precision.whole:
        exact = np.add.accumulate(np.asarray(inputs["input"], np.int64), axis=1)
        return {"output": (exact.astype(precision.name), np.zeros(exact.shape))}
    values = np.asarray(inputs["input"], dtype=np.float64)
    additions = np.arange(shape["N"], dtype=np.float64)
    magnitude = np.add.accumulate(np.abs(values), axis=1)
    relative = precision.gamma(additions) + _gamma(additions, DOUBLE)
    bound = relative * magnitude + additions * precision.tiny
    if (values == np.rint(values)).all():
        bound = np.where(magnitude <= precision.exact, 0.0, bound)
    return {"output": (np.add.accumulate(values, axis=1), bound)}


def work(shape: Shape) -> dict[str, object]:
    """Work of running sums: an addition for each element of a row but the first."""
    return {"flops": shape["M"] * (shape["N"] - 1)}


def orders(inputs: Mapping[str, NDArray[np.generic]], _shape: Shape) -> Iterator[tuple[str, dict[str, Rows]]]:
    """The sums in float32 in orders that scans use."""
    values = np.asarray(inputs["input"], dtype=np.float32)
    yield "one after another", {"output": np.add.accumulate(values, axis=1, dtype=np.float32)}
    yield "doubling strides", {"output": _doubling(values)}
    yield "tiles with a carry", {"output": _tiles(values)}
    yield "each from its end", {"output": _backwards(values)}


def coarser(
    inputs: Mapping[str, NDArray[np.generic]], _shape: Shape
) -> Iterator[tuple[str, dict[str, Rows]]]:
    """The sums of numbers that went through a narrower type, added in double: half, bfloat16, TF32."""
    values = np.asarray(inputs["input"], dtype=np.float32)
    for name, short in (
        ("half", values.astype(np.float16)),
        ("bfloat16", _shortened(values, 16)),
        ("tf32", _shortened(values, 13)),
    ):
        sums = np.add.accumulate(short, axis=1, dtype=np.float64)
        yield name, {"output": sums.astype(np.float32)}


def _gamma(terms: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    return terms * unit / (1 - terms * unit)


def _doubling(values: Rows) -> Rows:
    """Each step adds what stands 1, 2, 4 … places before (Hillis and Steele)."""
    sums, stride = values.copy(), 1
    while stride < sums.shape[1]:
        sums[:, stride:] = sums[:, stride:] + sums[:, :-stride]
        stride *= 2
    return sums


def _tiles(values: Rows) -> Rows:
    """Tiles by themselves, and then what came before each of them is added."""
    sums = np.empty_like(values)
    carry = np.zeros((len(values), 1), np.float32)
    for start in range(0, values.shape[1], BLOCK):
        tile = _doubling(values[:, start : start + BLOCK])
        sums[:, start : start + BLOCK] = tile + carry
        carry = carry + tile[:, -1:]
    return sums


def _backwards(values: Rows) -> Rows:
    """Every element for itself, from its own number back to the first."""
    sums = np.empty_like(values)
    for end in range(values.shape[1]):
        sums[:, end] = np.add.accumulate(values[:, end::-1], axis=1, dtype=np.float32)[:, -1]
    return sums


def _shortened(values: Rows, bits: int) -> Rows:
    """Rounded to nearest, without the last ``bits`` bits of the significand; ties go away from zero."""
    raw = values.view(np.uint32) + np.uint32(1 << (bits - 1))
    return (raw & np.uint32(2**32 - 2**bits)).view(np.float32)


def _random(rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Magnitudes in [0.5, 2) with either sign: every number counts, and sums stay near zero."""
    sign: NDArray[np.float64] = rng.choice((-1.0, 1.0), (rows, columns))
    return sign * rng.uniform(0.5, 2.0, (rows, columns))


def _spikes(rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Random, and in each row one number a thousand times as large."""
    values = _random(rows, columns, rng)
    values[np.arange(rows), rng.integers(0, columns, rows)] *= SPIKE
    return values


def _small_integers(rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Whole numbers from -9 to 9 without 0, which leave no room for rounding; a missing one is missed."""
    sign: NDArray[np.int64] = rng.choice((-1, 1), (rows, columns))
    return sign * rng.integers(1, 10, (rows, columns))


def _ones(rows: int, columns: int, _rng: np.random.Generator) -> NDArray[np.float64]:
    """All ones: the sums count 1, 2, 3 …, and each tells how many numbers went into it."""
    return np.ones((rows, columns))


_MAKERS: dict[str, Maker] = {
    "random": _random,
    "spikes": _spikes,
    "small-integers": _small_integers,
    "ones": _ones,
}
KINDS = tuple(_MAKERS)
