"""The oracle for a histogram of bytes: inputs, and counts, which leave no room for error.

Value v, from 0 to 255, belongs to bin ⌊v · B / 256⌋ of B bins. Where B does not divide 256 the bins are not
equally wide (with 10 bins: 26, 26, 25, 26, 25 …), and the division has to come last: ⌊v / ⌊256 / B⌋⌋ is
another rule, and so is anything in which 255 stands for 256.

Counts are integers, and integer addition is exact in every order: the bound is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Shape: TypeAlias = Mapping[str, int]
Array: TypeAlias = NDArray[np.generic]
Maker: TypeAlias = Callable[[int, int, np.random.Generator], Array]

VALUES = 256
"""How many different values a byte has."""
BRIGHT = 0.02
"""The share of the largest value among skewed ones."""


def inputs(kind: str, shape: Shape, rng: np.random.Generator) -> dict[str, Array]:
    """N values (uint8), and the counts of B bins as they are before the launch, which is zero.

    Raises KeyError for a kind that is not among `KINDS`.
    """
    values = _MAKERS[kind](shape["N"], shape["B"], rng)
    return {"values": values.astype(np.uint8), "counts": np.zeros(shape["B"], np.int32)}


def expected(
    inputs: Mapping[str, Array], shape: Shape
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """The counts of B bins, and a bound of zero for each."""
    bins = np.asarray(inputs["values"], dtype=np.int64) * shape["B"] // VALUES
    counts = np.bincount(bins, minlength=shape["B"]).astype(np.float64)
    return {"counts": (counts, np.zeros(shape["B"]))}


def work(_shape: Shape) -> dict[str, object]:
    """No floating-point operations at all."""
    return {"flops": 0}


def _random(n: int, _bins: int, rng: np.random.Generator) -> Array:
    """Every value equally likely."""
    return rng.integers(0, VALUES, n)


def _skewed(n: int, _bins: int, rng: np.random.Generator) -> Array:
    """Like a dark photograph: most values are small, a few are as large as can be."""
    dark = np.minimum(rng.geometric(0.05, n) - 1, VALUES - 1)
    return np.where(rng.random(n) < BRIGHT, VALUES - 1, dark)


def _one_value(n: int, _bins: int, rng: np.random.Generator) -> Array:
    """The same value N times: all threads want one and the same bin."""
    return np.full(n, rng.integers(0, VALUES))


def _edges(n: int, bins: int, rng: np.random.Generator) -> Array:
    """The first and the last value of each bin, 0 and 255 among them."""
    first = -(-np.arange(bins) * VALUES // bins)
    last = np.append(first[1:], VALUES) - 1
    ends = np.concatenate((first, last))
    return rng.permutation(np.resize(ends, n))


def _counting(n: int, _bins: int, _rng: np.random.Generator) -> Array:
    """0, 1, 2 … 255, 0, 1 …: every bin gets as many values as it is wide."""
    return np.arange(n) % VALUES


_MAKERS: dict[str, Maker] = {
    "random": _random,
    "skewed": _skewed,
    "one-value": _one_value,
    "edges": _edges,
    "counting": _counting,
}
KINDS = tuple(_MAKERS)
