"""The expected results of the rules of the second round, in NumPy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.bench.estimate.records import Shape
    from tests.bench.estimate.references import Arrays, Values

WORD = 0xFFFFFFFF


def _turned_product(a: Arrays, s: Shape) -> Values:
    result: Values = a["A"].reshape(s["K"], s["M"]).T @ a["B"].reshape(s["K"], s["N"])
    return result


def _whole_product(a: Arrays, s: Shape) -> Values:
    left = a["A"].reshape(s["M"], s["K"]).astype(np.float64)
    result: Values = left @ a["B"].reshape(s["K"], s["N"]).astype(np.float64)
    return result


def _eights(a: Arrays, s: Shape) -> Values:
    result: Values = a["A"].reshape(s["P"], 8, 8) @ a["B"].reshape(s["P"], 8, 8)
    return result


def _exclusive(a: Arrays, s: Shape) -> Values:
    pieces = a["in"].reshape(s["n"] // 512, 512)
    result: Values = np.cumsum(pieces, axis=1) - pieces
    return result


def _log_softmax(a: Arrays, s: Shape) -> Values:
    rows = a["in"].reshape(s["R"], s["C"]).astype(np.float64)
    rows -= rows.max(axis=1, keepdims=True)
    rows -= np.log(np.exp(rows).sum(axis=1, keepdims=True))
    return rows


def _gain_and_shift(a: Arrays, s: Shape) -> Values:
    rows = a["in"].reshape(s["R"], s["C"]).astype(np.float64)
    rows -= rows.mean(axis=1, keepdims=True)
    rows /= np.sqrt((rows * rows).mean(axis=1, keepdims=True) + 1e-5)
    result: Values = rows * a["gain"] + a["shift"]
    return result


def _words(a: Arrays, s: Shape) -> Values:  # noqa: ARG001 - rules are called alike
    letter = a["in"] > 63
    result: Values = np.sum(letter[1:] & ~letter[:-1]) + letter[:1].astype(np.int64)
    return result


def _match(a: Arrays, s: Shape) -> Values:
    text, same = np.pad(a["in"], (0, 8)), np.zeros(s["n"], np.int8)
    for k, letter in enumerate(b"abcdefgh"):
        same += text[k : k + s["n"]] // 2 == letter // 2
    result: Values = same >= 2
    return result


def _grey(a: Arrays, s: Shape) -> Values:
    pixels = a["in"].reshape(s["n"], 3).astype(np.int32)
    result: Values = pixels @ np.array([77, 151, 28], np.int32) >> 8
    return result


def _line(a: Arrays, width: int, weights: Values, mode: str) -> Values:
    """Neighbours under a mask; beyond the ends are zeros (`constant`) or the last element (`edge`)."""
    count, half = len(a["in"]), width // 2
    line = np.pad(a["in"], half) if mode == "constant" else np.pad(a["in"], half, "edge")
    result = np.zeros(count)
    for k, weight in enumerate(weights):
        result += weight * line[k : k + count]
    return result


def _masked(a: Arrays, s: Shape, width: int, height: int) -> Values:
    """The same of a plane with zeros around it."""
    x, y = width // 2, height // 2
    plane = np.pad(a["in"].reshape(s["H"], s["W"]), ((y, y), (x, x)))
    result = np.zeros((s["H"], s["W"]), np.float32)
    for k, weight in enumerate(a["mask"]):
        j, i = divmod(k, width)
        result += weight * plane[j : j + s["H"], i : i + s["W"]]
    return result


def _shifted(values: Values, radius: int, axis: int, by: int) -> Values:
    """The values `by` along an axis from the elements that are `radius` or more from all borders."""
    part = [slice(radius, -radius)] * values.ndim
    part[axis] = slice(radius + by, values.shape[axis] - radius + by)
    return values[tuple(part)]


def _around(values: Values, radius: int, by: int) -> Values:
    """The sum of the neighbours at a distance along the axes."""
    parts = [_shifted(values, radius, axis, to) for axis in range(values.ndim) for to in (-by, by)]
    result: Values = np.sum(parts, axis=0)
    return result


def _star(values: Values, weights: tuple[float, float, float]) -> Values:
    own, first, second = (np.float32(weight) for weight in weights)
    result, inner = values.copy(), (slice(2, -2),) * values.ndim
    result[inner] = own * values[inner] + first * _around(values, 2, 1) + second * _around(values, 2, 2)
    return result


def _heat(a: Arrays, s: Shape) -> Values:
    plane = a["in"].reshape(s["H"], s["W"])
    result = plane.copy()
    result[1:-1, 1:-1] += 0.2 * (_around(plane, 1, 1) - 4 * plane[1:-1, 1:-1])
    return result


def _edges(a: Arrays, s: Shape) -> Values:
    plane = a["in"].reshape(s["H"], s["W"])
    result = np.zeros_like(plane)
    down = plane[:-2] + 2 * plane[1:-1] + plane[2:]
    across = plane[:, :-2] + 2 * plane[:, 1:-1] + plane[:, 2:]
    result[1:-1, 1:-1] = np.abs(down[:, 2:] - down[:, :-2]) + np.abs(across[2:] - across[:-2])
    return result


def _least(a: Arrays, s: Shape) -> Values:
    plane, result = (
        np.pad(a["in"].reshape(s["H"], s["W"]), 2, "edge"),
        np.full((s["H"], s["W"]), 255, np.uint8),
    )
    for k in range(25):
        j, i = divmod(k, 5)
        result = np.minimum(result, plane[j : j + s["H"], i : i + s["W"]])
    return result


def _mean27(a: Arrays, s: Shape) -> Values:
    volume = a["in"].reshape(s["D"], s["H"], s["W"])
    sums = volume
    for axis in range(3):
        low, middle, high = (np.take(sums, range(by, sums.shape[axis] - 2 + by), axis) for by in (0, 1, 2))
        sums = low + middle + high
    result = volume.copy()
    result[1:-1, 1:-1, 1:-1] = sums / 27
    return result


def _normal(d: Values) -> Values:
    """The normal distribution, from a table of steps of 1/10000."""
    places = np.arange(-80_000, 80_001) / 10_000
    result: Values = np.interp(d, places, [0.5 * math.erfc(-place * math.sqrt(0.5)) for place in places])
    return result


def _options(a: Arrays, s: Shape) -> Values:  # noqa: ARG001 - rules are called alike
    price, strike = (5 + 25 * a[name].astype(np.float64) for name in ("price", "strike"))
    years, rate, volatility = 0.25 + 9.75 * a["years"].astype(np.float64), 0.02, 0.3
    root = volatility * np.sqrt(years)
    first = (np.log(price / strike) + (rate + volatility**2 / 2) * years) / root
    later = strike * np.exp(-rate * years)
    call = price * _normal(first) - later * _normal(first - root)
    return np.concatenate([call, call + later - price])


def _hash(a: Arrays, s: Shape) -> Values:  # noqa: ARG001 - rules are called alike
    word = np.uint32
    h = a["in"].copy()
    for number in range(16):
        h ^= h >> word(15)
        h *= word(0x2C1B3C6D)
        h ^= h << word(7) | h >> word(25)
        h += word(number * 0x9E3779B9 & WORD)
    return h


def _collatz(a: Arrays, s: Shape) -> Values:  # noqa: ARG001 - rules are called alike
    value, steps = np.arange(1, 65_537), np.zeros(65_536, np.int64)
    while (value > 1).any():
        steps += value > 1
        value = np.where(value == 1, 1, np.where(value % 2 == 0, value // 2, 3 * value + 1))
    result: Values = steps[a["in"] & 65_535]
    return result


def _darts(a: Arrays, s: Shape) -> Values:  # noqa: ARG001 - rules are called alike
    word = np.uint32
    state, hits = np.arange(s["n"], dtype=word) * word(747796405) + word(2891336453), 0
    for _ in range(128):
        square = np.zeros(s["n"], word)
        for _ in range(2):
            state = state * word(1664525) + word(1013904223)
            square += (state >> word(20)) ** word(2)
        hits += int(np.count_nonzero(square < 1 << 24))
    return np.array([hits])


def _uneven_rows(a: Arrays, s: Shape) -> Values:
    row = np.repeat(np.arange(s["rows"]), np.diff(a["start"]))
    return np.bincount(row, a["value"].astype(np.float64) * a["x"][a["column"]], s["rows"])


def _sixteens(a: Arrays, shape: tuple[int, int], axis: int) -> Values:
    result: Values = (a["value"].astype(np.float64) * a["x"][a["column"]]).reshape(shape).sum(axis=axis)
    return result


RULES: Mapping[str, Callable[[Arrays, Shape], Values]] = {
    "turned product": _turned_product,
    "whole product": _whole_product,
    "eights": _eights,
    "largest": lambda a, _: a["in"].max(keepdims=True),
    "above 200": lambda a, _: np.bincount(a["in"] > 200)[1:],
    "sums of 64 keys": lambda a, _: np.bincount(a["key"] & 63, a["in"], 64),
    "sums of 4096 keys": lambda a, _: np.bincount(a["key"] & 4095, a["in"], 4096),
    "32 bins": lambda a, _: np.bincount(a["in"] // 8, minlength=32),
    "2048 bins": lambda a, _: np.bincount(a["in"] & 2047, minlength=2048),
    "scan of 1024": lambda a, _: np.cumsum(a["in"].reshape(-1, 1024), axis=1, dtype=np.float64),
    "exclusive scan of 512": _exclusive,
    "turned matvec": lambda a, s: a["x"] @ a["A"].reshape(s["M"], s["N"]),
    "log softmax": _log_softmax,
    "gain and shift": _gain_and_shift,
    "table rows": lambda a, _: a["table"].reshape(20_000, 64)[a["rows"] % 20_000],
    "upper case": lambda a, _: np.where((a["in"] >= 97) & (a["in"] <= 122), a["in"] - 32, a["in"]),
    "words": _words,
    "match": _match,
    "grey": _grey,
    "mean of nine": lambda a, _: _line(a, 9, np.full(9, 1 / 9), "edge"),
    "sum of 65": lambda a, _: _line(a, 65, np.ones(65), "constant"),
    "filter of 33": lambda a, _: _line(a, 33, a["mask"], "constant"),
    "star of a plane": lambda a, s: _star(a["in"].reshape(s["H"], s["W"]), (0.5, 0.1, 0.025)),
    "star of a volume": lambda a, s: _star(a["in"].reshape(s["D"], s["H"], s["W"]), (0.4, 0.08, 0.02)),
    "heat": _heat,
    "edges": _edges,
    "least of 25": _least,
    "mean of 27": _mean27,
    "mask 3 x 3": lambda a, s: _masked(a, s, 3, 3),
    "mask 9 x 9": lambda a, s: _masked(a, s, 9, 9),
    "mask 15 x 1": lambda a, s: _masked(a, s, 15, 1),
    "mask 1 x 15": lambda a, s: _masked(a, s, 1, 15),
    "options": _options,
    "hash": _hash,
    "collatz": _collatz,
    "cube roots": lambda a, _: np.cbrt(a["in"].astype(np.float64) + 1),
    "darts": _darts,
    "uneven rows": _uneven_rows,
    "rows of sixteen": lambda a, s: _sixteens(a, (s["rows"], 16), 1),
    "columns of rows": lambda a, s: _sixteens(a, (16, s["rows"]), 0),
}
