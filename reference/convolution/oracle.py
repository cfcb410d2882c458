"""The oracle for a 5 by 5 filter over an image: inputs, expected values and how far a kernel may be off.

    result[r, c] = Σ FILTER[i, j] · image[r + i - 2, c + j - 2],    0 outside the image

The filter is the one of the header that students include; a test holds the two together.

**The bound.** An element is a sum of at most 25 products. In whatever order they are summed, a product passes
through at most 25 roundings, one of its own and at most 24 of sums; an fma has fewer. Each is a factor 1 + δ
with |δ| ≤ u:

    |computed - exact| ≤ gamma_25 · (|FILTER| * |image|),    gamma_n = n·u / (1 - n·u)

N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, lemma 3.1 and equation (3.5).
u is the unit of the result's type, 2⁻²⁴ for float32. Zeros from outside the image take part exactly.

**What is added to it.** Our own sum in float64 has an error of at most gamma_25 with u = 2⁻⁵³. A product, or
with `-ftz=true` also a sum, that falls below 2⁻¹²⁶ may be replaced by zero (Higham, section 2.1, equation
(2.8)); there are at most 50 such places.

**Exact elements.** The filter's numbers are whole. Where those of the image are whole too, and |FILTER| *
|image| is at most 2²⁴, every partial sum in every order is a whole number that float32 holds, and the bound
is zero; in integer types it always is. Types are those of the assignment's arrays; images are dim enough that
no sum overflows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from grader.base.precision import precision_of

Shape: TypeAlias = Mapping[str, int]
Image: TypeAlias = NDArray[np.float32]
Maker: TypeAlias = Callable[[int, int, np.random.Generator], NDArray[np.generic]]

FILTER = np.array(
    [
        [1, -7, 4, 9, -2],
        [-11, 3, 12, -5, 8],
        [6, 10, 13, -9, -4],
        [-1, 7, -8, 11, 5],
        [2, -3, -10, -6, -12],
    ],
    dtype=np.float64,
)
RADIUS = 2
TERMS = FILTER.size
DOUBLE = 2.0**-53
SPIKE = 1000.0
SPACING = 7


def inputs(
    kind: str, shape: Shape, rng: np.random.Generator, types: Mapping[str, str] | None = None
) -> dict[str, Image]:
    """`image` (H by W), C order; the same `rng` state gives the same image.

    Raises KeyError for a kind that is not among `KINDS`.
    """
    made = _MAKERS[kind](shape["H"], shape["W"], rng)
    most = precision_of(types, "result").largest / float(np.abs(FILTER).sum())
    return {"image": precision_of(types, "image").fit(made, most)}


def expected(
    inputs: Mapping[str, NDArray[np.generic]], _shape: Shape, types: Mapping[str, str] | None = None
) -> dict[str, tuple[NDArray[np.generic], NDArray[np.float64]]]:
    """`result` (H by W) in float64 or its integer type, and elementwise how far off a right kernel may be."""
    precision = precision_of(types, "result")
    if precision.whole:
        whole, weights = np.asarray(inputs["image"], np.int64), FILTER.astype(np.int64)
        exact = np.sum(_products(whole, weights), axis=0)
        return {"result": (exact.astype(precision.name), np.zeros(exact.shape))}
    image = np.asarray(inputs["image"], dtype=np.float64)
    magnitude: NDArray[np.float64] = sum(_products(np.abs(image), np.abs(FILTER)), np.zeros_like(image))
    relative = precision.gamma(TERMS) + _gamma(TERMS, DOUBLE)
    bound = relative * magnitude + 2 * TERMS * precision.tiny * (1 + relative)
    if (image == np.rint(image)).all():
        bound = np.where(magnitude <= precision.exact, 0.0, bound)
    return {"result": (sum(_products(image, FILTER), np.zeros_like(image)), bound)}


def work(shape: Shape) -> dict[str, object]:
    """Work of the filter: a multiply and an add for each product that lies inside the image."""
    return {"flops": 2 * _overlap(shape["H"]) * _overlap(shape["W"])}


def orders(
    inputs: Mapping[str, NDArray[np.generic]], _shape: Shape
) -> Iterator[tuple[str, dict[str, Image]]]:
    """The sums in float32, in several orders; with products rounded by themselves, and not (fma)."""
    image = np.asarray(inputs["image"], dtype=np.float32)
    terms = _products(image, FILTER.astype(np.float32))
    yield "row by row", {"result": _one_by_one(terms)}
    yield "backwards", {"result": _one_by_one(terms[::-1])}
    yield "column by column", {"result": _one_by_one([terms[i * 5 + j] for j in range(5) for i in range(5)])}
    yield "pairwise", {"result": _pairwise(terms)}
    yield "fused", {"result": _one_by_one(_products(image.astype(np.float64), FILTER))}


def coarser(
    inputs: Mapping[str, NDArray[np.generic]], _shape: Shape
) -> Iterator[tuple[str, dict[str, Image]]]:
    """The sums over an image that went through a narrower type, added exactly: half, bfloat16, TF32."""
    image = np.asarray(inputs["image"], dtype=np.float32)
    for name, short in (
        ("half", image.astype(np.float16)),
        ("bfloat16", _shortened(image, 16)),
        ("tf32", _shortened(image, 13)),
    ):
        exact = sum(_products(short.astype(np.float64), FILTER), np.zeros(image.shape))
        yield name, {"result": exact.astype(np.float32)}


def _gamma(terms: int, unit: float) -> float:
    return terms * unit / (1 - terms * unit)


def _overlap(extent: int) -> int:
    """Pairs of an element and a neighbour at most `RADIUS` away, along one axis."""
    return sum(max(extent - abs(step), 0) for step in range(-RADIUS, RADIUS + 1))


def _products(image: NDArray[np.number], weights: NDArray[np.number]) -> list[NDArray[np.number]]:
    """For each number of the filter its products with the image, moved to where they are added."""
    padded = np.pad(image, RADIUS)
    height, width = image.shape
    return [
        weights[i, j] * padded[i : i + height, j : j + width]
        for i in range(2 * RADIUS + 1)
        for j in range(2 * RADIUS + 1)
    ]


def _one_by_one(terms: list[NDArray[np.floating]]) -> Image:
    """One after another; each sum is rounded to float32."""
    total = np.zeros(terms[0].shape, np.float32)
    for term in terms:
        total = (total + term).astype(np.float32)
    return total


def _pairwise(terms: list[NDArray[np.floating]]) -> Image:
    """As a tree."""
    while len(terms) > 1:
        pairs = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(pairs) * 2 :]
    return terms[0].astype(np.float32)


def _shortened(values: Image, bits: int) -> Image:
    """Rounded to nearest, without the last ``bits`` bits of the significand; ties go away from zero."""
    raw = values.view(np.uint32) + np.uint32(1 << (bits - 1))
    return (raw & np.uint32(2**32 - 2**bits)).view(np.float32)


def _random(rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Magnitudes in [0.5, 2) with either sign: every product counts, none is near zero."""
    sign: NDArray[np.float64] = rng.choice((-1.0, 1.0), (rows, columns))
    return sign * rng.uniform(0.5, 2.0, (rows, columns))


def _framed(rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Random inside a frame of zeros as wide as the filter's radius.

    Repeating the last row and column outside gives the same there as zeros do.
    """
    image = _random(rows, columns, rng)
    image[:RADIUS] = image[-RADIUS:] = 0.0
    image[:, :RADIUS] = image[:, -RADIUS:] = 0.0
    return image


def _spikes(rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Random, and in each row one number a thousand times as large."""
    image = _random(rows, columns, rng)
    image[np.arange(rows), rng.integers(0, columns, rows)] *= SPIKE
    return image


def _small_integers(rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Whole numbers from -9 to 9 without 0, which leave no room for rounding."""
    sign: NDArray[np.int64] = rng.choice((-1, 1), (rows, columns))
    return sign * rng.integers(1, 10, (rows, columns))


def _impulses(rows: int, columns: int, _rng: np.random.Generator) -> NDArray[np.float64]:
    """Ones far apart in zeros: around each of them the result shows the filter, turned by half a turn."""
    image = np.zeros((rows, columns))
    image[RADIUS : max(rows - RADIUS, 0) : SPACING, RADIUS : max(columns - RADIUS, 0) : SPACING] = 1.0
    return image


_MAKERS: dict[str, Maker] = {
    "random": _random,
    "framed": _framed,
    "spikes": _spikes,
    "small-integers": _small_integers,
    "impulses": _impulses,
}
KINDS = tuple(_MAKERS)
