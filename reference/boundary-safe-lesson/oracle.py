"""The oracle of the lesson's test: A all ones, B all twos, both WIDTH by WIDTH, and C = A · B.

Every element of C is a sum of WIDTH products of 2. All partial sums are whole numbers, which float32 holds
up to 2²⁴: in whatever order they are added, a right program has 2 · WIDTH exactly, and the bound is zero.
The same holds for the small whole numbers with which the kernel is launched again, to see that it computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Shape: TypeAlias = Mapping[str, int]

KINDS = ("ones-and-twos", "small-integers")


def inputs(kind: str, shape: Shape, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    """A and B in float32; only the small integers, 1 to 8, are drawn. Raises KeyError for another kind."""
    extents = (shape["WIDTH"], shape["WIDTH"])
    if kind == "ones-and-twos":
        return {"A": np.ones(extents, np.float32), "B": np.full(extents, 2, np.float32)}
    if kind == "small-integers":
        return {name: rng.integers(1, 9, extents).astype(np.float32) for name in ("A", "B")}
    raise KeyError(kind)


def expected(
    inputs: Mapping[str, NDArray[np.generic]], _shape: Shape
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """C in float64, and a bound of zero for each element."""
    product = np.asarray(inputs["A"], np.float64) @ np.asarray(inputs["B"], np.float64)
    return {"C": (product, np.zeros_like(product))}
