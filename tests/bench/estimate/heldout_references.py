"""The expected results of the rules of the held-out kernels, in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.bench.estimate.records import Shape
    from tests.bench.estimate.references import Arrays, Values

_CELLS = tuple((dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1))


def _small_products(a: Arrays, s: Shape) -> Values:
    result: Values = a["A"].reshape(s["P"], 16, 16) @ a["B"].reshape(s["P"], 16, 16)
    return result


def _records(fields: Values) -> Values:
    result: Values = fields[0] * fields[3] + fields[5]
    return result


def _table(a: Arrays, s: Shape) -> Values:
    return a["in"].reshape(s["R"], s["C"]).astype(np.float64)


def _plane(a: Arrays, s: Shape, border: int) -> Values:
    """The plane with a border of zeros."""
    return np.pad(a["in"].reshape(s["H"], s["W"]), border)


def _masked(a: Arrays, s: Shape, width: int, height: int) -> Values:
    """Each point's neighbours under a mask, where beyond the borders is nothing."""
    x, y = width // 2, height // 2
    plane = np.pad(a["in"].reshape(s["H"], s["W"]), ((y, y), (x, x)))
    mask, result = a["mask"].reshape(height, width), np.zeros((s["H"], s["W"]), np.float32)
    for j in range(height):
        for i in range(width):
            result += mask[j, i] * plane[j : j + s["H"], i : i + s["W"]]
    return result


def _three(a: Arrays, s: Shape) -> Values:  # noqa: ARG001 - rules are called alike
    line = np.pad(a["in"], 1)
    result: Values = 0.25 * line[:-2] + 0.5 * line[1:-1] + 0.25 * line[2:]
    return result


def _nine(a: Arrays, s: Shape) -> Values:
    plane, result = _plane(a, s, 1), np.zeros((s["H"], s["W"]), np.float32)
    for dy, dx in _CELLS:
        result += plane[1 + dy : 1 + dy + s["H"], 1 + dx : 1 + dx + s["W"]]
    result /= 9
    return result


def _life(a: Arrays, s: Shape) -> Values:
    alive = a["in"].reshape(s["H"], s["W"]) & 1
    count = np.zeros_like(alive)
    for cell in _CELLS:
        if cell != (0, 0):
            count += np.roll(alive, cell, (0, 1))
    result: Values = (count == 3) | ((count == 2) & (alive == 1))
    return result


def _bitonic_step(a: Arrays, s: Shape) -> Values:
    place = np.arange(s["n"])
    own, other = a["in"], a["in"][place ^ 4096]
    low = ((place & 16384) == 0) == ((place & 4096) == 0)
    result: Values = np.where(low, np.minimum(own, other), np.maximum(own, other))
    return result


def _powers(a: Arrays, s: Shape) -> Values:
    x = a["in"].astype(np.float64) + 1
    return np.where(np.arange(s["n"]) % 2 == 0, x**2.5, np.log(x))


def _bodies(a: Arrays, s: Shape) -> Values:
    bodies = a["in"].reshape(s["n"], 4)
    place, mass, result = bodies[:, :3], bodies[:, 3], np.empty((s["n"], 3))
    for start in range(0, s["n"], 1024):
        part = slice(start, start + 1024)
        square = sum(np.subtract.outer(place[part, d], place[:, d]) ** 2 for d in range(3)) + np.float32(0.01)
        factor = mass / (square * np.sqrt(square))
        result[part] = factor @ place - place[part] * factor.sum(axis=1, keepdims=True)
    return result


def _distances(a: Arrays, s: Shape) -> Values:
    x, y = (a[name].reshape(-1, s["D"]).astype(np.float64) for name in "XY")
    square = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1) - 2 * x @ y.T
    result: Values = np.sqrt(np.maximum(square, 0))
    return result


def _nearest(a: Arrays, s: Shape) -> Values:
    points, centres = a["in"].reshape(s["n"], 4), a["centre"].reshape(32, 4)
    best, least = np.zeros(s["n"], np.int32), np.full(s["n"], np.inf, np.float32)
    for number, centre in enumerate(centres):
        square = ((points - centre) ** 2).sum(axis=1)
        best[square < least] = number
        least = np.minimum(least, square)
    return best


def _escape(a: Arrays, s: Shape) -> Values:  # noqa: ARG001 - rules are called alike
    one = np.float32
    real = np.broadcast_to(one(-2) + one(3) * np.arange(s["W"], dtype=one) / one(s["W"]), (s["H"], s["W"]))
    imaginary = (one(-1.5) + one(3) * np.arange(s["H"], dtype=one) / one(s["H"]))[:, None]
    u, v = np.zeros_like(real), np.zeros_like(real)
    count, inside = np.zeros(real.shape, np.int32), np.ones(real.shape, bool)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(64):
            a2, b2 = u * u, v * v
            inside &= a2 + b2 <= 4
            count += inside
            v = ((2 * u).astype(np.float64) * v + imaginary).astype(one)
            u = a2 - b2 + real
    return count


RULES: Mapping[str, Callable[[Arrays, Shape], Values]] = {
    "rows by rows": lambda a, s: a["A"].reshape(s["M"], s["K"]) @ a["B"].reshape(s["N"], s["K"]).T,
    "small products": _small_products,
    "records": lambda a, _: _records(a["in"].reshape(-1, 8).T),
    "records by fields": lambda a, _: _records(a["in"].reshape(8, -1)),
    "dot": lambda a, _: np.dot(a["x"].astype(np.float64), a["y"]),
    "row sums": lambda a, s: _table(a, s).sum(axis=1),
    "column sums": lambda a, s: _table(a, s).sum(axis=0),
    "scan of 256": lambda a, _: np.cumsum(a["in"].reshape(-1, 256), axis=1, dtype=np.float64),
    "sorted by 256": lambda a, _: np.sort(a["in"].reshape(-1, 256), axis=1),
    "bitonic step": _bitonic_step,
    "sixteen bins": lambda a, _: np.bincount(a["in"] // 16, minlength=16),
    "a letter": lambda a, _: np.sum(a["in"] == 101),
    "three points": _three,
    "nine points": _nine,
    "seven by seven": lambda a, s: _masked(a, s, 7, 7),
    "row mask": lambda a, s: _masked(a, s, 9, 1),
    "column mask": lambda a, s: _masked(a, s, 1, 9),
    "life": _life,
    "logistic": lambda a, _: 1 / (1 + np.exp(-a["in"].astype(np.float64))),
    "powers": _powers,
    "bodies": _bodies,
    "distances": _distances,
    "nearest": _nearest,
    "escape": _escape,
}
