"""Hypotheses for a filter laid over an image: which way round, where its middle is, what lies outside.

The image is H x W, the filter r x c (or r · r numbers in a row), the output as large as the image. What the
hand-out asks for is learnt from what is expected, the filter too where it is no input; the mistakes are the
other ways of doing it.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.explaining.facts import Prediction, Reals, WrongOutput

LARGEST = 2**21
"""Products up to which hypotheses are computed: beyond, they would take a second and more."""

MATRIX = 2
SIDES = (3, 5, 7)
"""Sides of a filter that is learnt."""

_NEGLIGIBLE = 1e-10
"""Singular values of the normal equations below this share of the largest count as none."""

BORDERS = ("constant", "edge", "reflect", "symmetric", "wrap")
"""What may lie outside the image, as `numpy.pad` calls it."""


class Filtered(NamedTuple):
    """An image and a filter, in float64."""

    image: Reals
    weights: Reals


def predictions(output: WrongOutput) -> Iterator[Prediction]:
    """Every other way to lay the filter over the image."""
    operands = _operands(output)
    if operands is None:
        return
    image, weights = operands
    turned = weights[::-1, ::-1]
    slack = output.tolerance(output.wanted)
    for way, border in product((weights, turned), BORDERS):
        right = _laid(image, way, border)
        if right is not None and (np.abs(right - output.wanted) <= slack).all():
            yield from _others(output, image, way, border)
            return


def _operands(output: WrongOutput) -> Filtered | None:
    """The image and the filter among the inputs, or learnt; None where there are none that fit the output."""
    image = next((a for _, a in output.inputs if a.ndim == MATRIX and a.shape == output.got.shape), None)
    others = [a for _, a in output.inputs if a is not image and a.size < output.got.size]
    if image is None:
        return None
    if not others:
        return _learnt(np.asarray(image, np.float64), output)
    weights = others[0]
    if weights.ndim == 1:
        side = round(weights.size**0.5)
        if side * side != weights.size:
            return None
        weights = weights.reshape(side, side)
    odd = weights.ndim == MATRIX and weights.shape[0] % 2 == 1 and weights.shape[1] % 2 == 1
    if not odd or image.size * weights.size > LARGEST:
        return None
    return Filtered(np.asarray(image, np.float64), np.asarray(weights, np.float64))


def _learnt(image: Reals, output: WrongOutput) -> Filtered | None:
    """The filter that gives what is expected, by least squares; the kernel holds it itself, then."""
    slack = output.tolerance(output.wanted)
    for side, border in product(SIDES, BORDERS):
        if image.size < 2 * side * side or image.size * side * side > LARGEST:
            continue
        taps = [_laid(image, tap.reshape(side, side), border) for tap in np.eye(side * side)]
        if any(tap is None for tap in taps):
            continue
        system = np.stack([tap.reshape(-1) for tap in taps if tap is not None], axis=1)
        wanted = output.wanted.reshape(-1)
        weights = np.linalg.lstsq(system.T @ system, system.T @ wanted, _NEGLIGIBLE)[0]  # a tenth of the time
        if (np.abs(system @ weights - wanted) <= slack.reshape(-1)).all():
            return Filtered(image, np.asarray(weights, np.float64).reshape(side, side))
    return None


def _others(output: WrongOutput, image: Reals, weights: Reals, border: str) -> Iterator[Prediction]:
    """Results of other weights and other borders than these."""
    ways = [("filter-flipped", weights[::-1, ::-1])]
    if weights.shape[0] == weights.shape[1]:
        ways.append(("filter-transposed", weights.T))
    for row, column in ((slice(1), slice(None)), (slice(-1, None), slice(None))):
        for part in ((row, column), (column, row)):
            less = weights.copy()
            less[part] = 0.0
            ways.append(("filter-part-missing", less))
    laid = [(mistake, _laid(image, way, border)) for mistake, way in ways]
    laid += [("halo-wrong", _laid(image, weights, other)) for other in BORDERS if other != border]
    laid += [("halo-wrong", _shrunk(image, weights))]
    laid += [("a-leading-dimension", _laid(_read_with(image, image.shape[0]), weights, border))]
    laid += [("filter-not-centred", _laid(image, weights, border, centred=False))]
    laid += [("halo-missing", _by_tiles(image, weights, tile)) for tile in output.tiles]
    yield from ((mistake, predicted, None) for mistake, predicted in laid if predicted is not None)


def _read_with(image: Reals, width: int) -> Reals:
    """The image read with rows of another length; what lies beyond its end may be anything."""
    row, column = np.indices(image.shape)
    index = row * width + column
    return np.where(index < image.size, image.reshape(-1)[index % image.size], np.nan)


def _laid(image: Reals, weights: Reals, border: str, *, centred: bool = True) -> Reals | None:
    """The filter over every element; None where the image is too small to be mirrored."""
    rows, columns = (extent // 2 for extent in weights.shape)
    if border in {"reflect", "symmetric"} and min(image.shape) <= max(rows, columns):
        return None
    before = (rows, columns) if centred else (0, 0)
    after = (weights.shape[0] - 1 - before[0], weights.shape[1] - 1 - before[1])
    widths = ((before[0], after[0]), (before[1], after[1]))
    return _slid(np.pad(image, widths, mode=border), weights)  # type: ignore[call-overload]


def _slid(padded: Reals, weights: Reals) -> Reals:
    """The sum of products at every place where the whole filter lies inside."""
    height, width = (padded.shape[axis] - weights.shape[axis] + 1 for axis in (0, 1))
    total = np.zeros((height, width))
    for row, column in np.ndindex(*weights.shape):
        total += weights[row, column] * padded[row : row + height, column : column + width]
    return total


def _shrunk(image: Reals, weights: Reals) -> Reals | None:
    """Zero wherever the filter would reach beyond the image."""
    rows, columns = (extent // 2 for extent in weights.shape)
    if image.shape[0] < weights.shape[0] or image.shape[1] < weights.shape[1]:
        return None
    return np.pad(_slid(image, weights), ((rows, rows), (columns, columns)))


def _by_tiles(image: Reals, weights: Reals, tile: int) -> Reals:
    """Each tile filtered as if there were zeros around it."""
    result = np.zeros_like(image)
    for row, column in product(range(0, image.shape[0], tile), range(0, image.shape[1], tile)):
        part = image[row : row + tile, column : column + tile]
        laid = _laid(part, weights, "constant")
        if laid is not None:
            result[row : row + tile, column : column + tile] = laid
    return result
