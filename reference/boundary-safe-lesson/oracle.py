"""The oracle of the lesson's test: A all ones, B all twos, both WIDTH by WIDTH, and C = A · B.

Every element of C is a sum of WIDTH products of 2. All partial sums are whole numbers, which float32 holds
up to 2²⁴: in whatever order they are added, a right program has 2 · WIDTH exactly, and the bound is zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Shape: TypeAlias = Mapping[str, int]

KINDS = ("ones-and-twos",)


def inputs(kind: str, shape: Shape, _rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    """A and B in float32; they do not depend on chance. Raises KeyError for another kind."""
    if kind not in KINDS:
        raise KeyError(kind)
    extents = (shape["WIDTH"], shape["WIDTH"])
    return {"A": np.ones(extents, np.float32), "B": np.full(extents, 2, np.float32)}


def expected(
    inputs: Mapping[str, NDArray[np.generic]], _shape: Shape
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """C in float64, and a bound of zero for each element."""
    product = np.asarray(inputs["A"], np.float64) @ np.asarray(inputs["B"], np.float64)
    return {"C": (product, np.zeros_like(product))}
