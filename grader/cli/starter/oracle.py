"""The oracle for R = A · B + C, element by element, in float32.

**The bound.** A product and a sum are rounded once each (or once together, in an fma), each time by a factor
1 + δ with |δ| ≤ u = 2⁻²⁴. So

    |computed - exact| ≤ gamma_2 · (|A · B| + |C|),    gamma_2 = 2u / (1 - 2u)

elementwise: N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, lemma 3.1. Our own
sum in float64 adds the same with u = 2⁻⁵³.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

SINGLE = 2.0**-24
DOUBLE = 2.0**-53

KINDS = ("random", "counting")


def inputs(kind: str, shape: Mapping[str, int], rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    """A, B and C, N numbers each; KeyError for a kind that is not among `KINDS`."""
    n = shape["N"]
    if kind == "random":  # no structure that a wrong index could hide behind
        arrays = {name: rng.choice((-1.0, 1.0), n) * rng.uniform(0.5, 2.0, n) for name in "ABC"}
    elif kind == "counting":  # 0, 1, 2 …: every element says which index it was computed for
        index = np.arange(n, dtype=np.float64)
        arrays = {"A": index % 1000, "B": np.full(n, 2.0), "C": index // 1000}
    else:
        raise KeyError(kind)
    return {name: np.asarray(values, np.float32) for name, values in arrays.items()}


def expected(
    inputs: Mapping[str, NDArray[np.generic]], _shape: Mapping[str, int]
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """R in float64, and elementwise how far a right float32 kernel may be from it."""
    a, b, c = (np.asarray(inputs[name], np.float64) for name in "ABC")
    return {"R": (a * b + c, (_gamma(SINGLE) + _gamma(DOUBLE)) * (np.abs(a * b) + np.abs(c)))}


def orders(
    inputs: Mapping[str, NDArray[np.generic]], _shape: Mapping[str, int]
) -> Iterator[tuple[str, dict[str, NDArray[np.float32]]]]:
    """Right answers in float32, which must pass: rounded twice, or once as an fma does."""
    a, b, c = (np.asarray(inputs[name], np.float32) for name in "ABC")
    yield "rounded twice", {"R": a * b + c}
    yield "rounded once", {"R": (a.astype(np.float64) * b + c).astype(np.float32)}


def coarser(
    inputs: Mapping[str, NDArray[np.generic]], _shape: Mapping[str, int]
) -> Iterator[tuple[str, dict[str, NDArray[np.float32]]]]:
    """Answers of half precision, which must not pass."""
    a, b, c = (np.asarray(inputs[name], np.float16) for name in "ABC")
    yield "half precision", {"R": (a * b + c).astype(np.float32)}


def _gamma(unit: float) -> float:
    return 2 * unit / (1 - 2 * unit)
