"""The oracle for output = inputᵀ: inputs, expected values and how far a right kernel may be off.

**The bound** is zero. A transposition moves numbers and computes nothing: every element of the output is an
element of the input, bit for bit, and float64 holds each of them exactly, as it does in any other type of the
assignment's arrays; of 64-bit integers only those up to 2⁵³ are drawn.

**Inputs.** `random` has 24 significant bits in every number, so that a copy in a narrower type shows. In
`counting` each number says where it comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from grader.base.precision import precision_of

Shape: TypeAlias = Mapping[str, int]
Matrix: TypeAlias = NDArray[np.float32]
Maker: TypeAlias = Callable[[int, int, np.random.Generator], NDArray[np.generic]]


def inputs(
    kind: str, shape: Shape, rng: np.random.Generator, types: Mapping[str, str] | None = None
) -> dict[str, Matrix]:
    """`input` (M by N), C order; the same `rng` state gives the same matrix.

    Raises KeyError for a kind that is not among `KINDS`.
    """
    made = _MAKERS[kind](shape["M"], shape["N"], rng)
    return {"input": precision_of(types, "input").fit(made)}


def expected(
    inputs: Mapping[str, NDArray[np.generic]], shape: Shape
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """`output` (N by M) in float64, and zero for each element."""
    values = np.ascontiguousarray(np.asarray(inputs["input"], dtype=np.float64).T)
    return {"output": (values, np.zeros((shape["N"], shape["M"])))}


def work(_shape: Shape) -> dict[str, object]:
    """Work of a transposition: no arithmetic."""
    return {"flops": 0}


def orders(
    inputs: Mapping[str, NDArray[np.generic]], _shape: Shape
) -> Iterator[tuple[str, dict[str, Matrix]]]:
    """The transpose; with nothing to add there is one order."""
    yield "moved", {"output": np.asarray(inputs["input"], dtype=np.float32).T.copy()}


def coarser(
    inputs: Mapping[str, NDArray[np.generic]], _shape: Shape
) -> Iterator[tuple[str, dict[str, Matrix]]]:
    """The transpose of numbers that went through a narrower type: half, bfloat16, TF32, int."""
    turned = np.asarray(inputs["input"], dtype=np.float32).T.copy()
    yield "half", {"output": turned.astype(np.float16).astype(np.float32)}
    yield "bfloat16", {"output": _shortened(turned, 16)}
    yield "tf32", {"output": _shortened(turned, 13)}
    yield "int", {"output": np.trunc(turned)}


def _shortened(values: Matrix, bits: int) -> Matrix:
    """Rounded to nearest, without the last ``bits`` bits of the significand; ties go away from zero."""
    raw = values.view(np.uint32) + np.uint32(1 << (bits - 1))
    return (raw & np.uint32(2**32 - 2**bits)).view(np.float32)


def _random(rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Magnitudes in [0.5, 2) with either sign: hardly any two are equal, and none is a whole number."""
    sign: NDArray[np.float64] = rng.choice((-1.0, 1.0), (rows, columns))
    return sign * rng.uniform(0.5, 2.0, (rows, columns))


def _counting(rows: int, columns: int, _rng: np.random.Generator) -> NDArray[np.int64]:
    """1, 2, 3 … row by row."""
    return np.arange(1, rows * columns + 1).reshape(rows, columns)


_MAKERS: dict[str, Maker] = {"random": _random, "counting": _counting}
KINDS = tuple(_MAKERS)
