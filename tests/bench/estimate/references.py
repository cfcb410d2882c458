"""The expected results of each rule of the corpus, in NumPy, and the error of an output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tests.bench.estimate import heldout_references
from tests.bench.estimate.heldout2 import references as heldout2_references

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from tests.bench.estimate.records import Shape

    Values: TypeAlias = NDArray[Any]
    Arrays: TypeAlias = Mapping[str, NDArray[Any]]

TOLERANCE = 2e-3
"""The norm of the difference over the norm of what is right: sums of millions of float32 are not exact."""


def _product(a: Arrays, s: Shape) -> Values:
    return a["A"].reshape(s["M"], s["K"]) @ a["B"].reshape(s["K"], s["N"])


def _transpose(a: Arrays, s: Shape) -> Values:
    return a["in"].reshape(s["H"], s["W"]).T


def _bundled_transpose(a: Arrays, s: Shape) -> Values:
    return a["input"].reshape(s["M"], s["N"]).T


def _sums_of_rows(rows: Values) -> Values:
    return np.cumsum(rows, axis=1, dtype=np.float64)


def _five_points(a: Arrays, s: Shape) -> Values:
    plane = a["in"].reshape(s["H"], s["W"])
    result = plane.copy()
    around = plane[1:-1, :-2] + plane[1:-1, 2:] + plane[:-2, 1:-1] + plane[2:, 1:-1]
    result[1:-1, 1:-1] = 0.5 * plane[1:-1, 1:-1] + 0.125 * around
    return result


def _seven_points(a: Arrays, s: Shape) -> Values:
    volume = a["in"].reshape(s["D"], s["H"], s["W"])
    result = volume.copy()
    inner = (slice(1, -1),) * 3
    around = np.zeros_like(volume[inner])
    for axis in range(3):
        for part in (slice(None, -2), slice(2, None)):
            around += volume[(*inner[:axis], part, *inner[axis + 1 :])]
    result[inner] = np.float32(0.4) * volume[inner] + np.float32(0.1) * around
    return result


def _conv1d(a: Arrays, s: Shape) -> Values:
    line = np.pad(a["in"], 8)
    result: Values = np.sum([a["mask"][k] * line[k : k + s["n"]] for k in range(17)], axis=0)
    return result


def _conv2d(a: Arrays, s: Shape) -> Values:
    plane, mask = np.pad(a["in"].reshape(s["H"], s["W"]), 2), a["mask"].reshape(5, 5)
    result = np.zeros((s["H"], s["W"]), np.float32)
    for j in range(5):
        for i in range(5):
            result += mask[j, i] * plane[j : j + s["H"], i : i + s["W"]]
    return result


def _spmv(a: Arrays, s: Shape) -> Values:  # noqa: ARG001 - rules are called alike
    return np.add.reduceat(a["value"].astype(np.float64) * a["x"][a["column"]], a["start"][:-1])


def _scatter(a: Arrays, s: Shape) -> Values:  # noqa: ARG001 - rules are called alike
    result = np.zeros_like(a["in"])
    result[a["index"]] = a["in"]
    return result


def _softmax(a: Arrays, s: Shape) -> Values:
    powers = np.exp(a["in"].reshape(s["R"], s["C"]).astype(np.float64))
    result: Values = powers / powers.sum(axis=1, keepdims=True)
    return result


def _layernorm(a: Arrays, s: Shape) -> Values:
    rows = a["in"].reshape(s["R"], s["C"]).astype(np.float64)
    result: Values = (rows - rows.mean(axis=1, keepdims=True)) / np.sqrt(
        rows.var(axis=1, keepdims=True) + 1e-5
    )
    return result


def _elementwise(a: Arrays, s: Shape) -> Values:  # noqa: ARG001 - rules are called alike
    x = a["in"].astype(np.float64)
    return np.exp(-x * x) * np.sin(x) / np.sqrt(1 + x)


RULES: Mapping[str, Callable[[Arrays, Shape], Values]] = {
    "product": _product,
    "transpose": _transpose,
    "bundled transpose": _bundled_transpose,
    "copy": lambda a, _: a["in"],
    "sum": lambda a, _: a["in"].sum(dtype=np.float64),
    "bundled sum": lambda a, _: a["values"].sum(dtype=np.float64),
    "scan of 512": lambda a, _: _sums_of_rows(a["in"].reshape(-1, 512)),
    "scan of rows": lambda a, s: _sums_of_rows(a["input"].reshape(s["M"], s["N"])),
    "histogram": lambda a, _: np.bincount(a["in"], minlength=256),
    "bundled histogram": lambda a, s: np.bincount(a["values"] * np.int32(s["B"]) // 256, minlength=s["B"]),
    "five points": _five_points,
    "seven points": _seven_points,
    "saxpy": lambda a, _: np.float32(2.5) * a["x"] + a["y"],
    "vector sum": lambda a, _: a["A"] + a["B"],
    "conv1d": _conv1d,
    "conv2d": _conv2d,
    "spmv": _spmv,
    "gather": lambda a, _: a["in"][a["index"]],
    "scatter": _scatter,
    "matvec": lambda a, s: a["A"].reshape(s["M"], s["N"]) @ a["x"],
    "softmax": _softmax,
    "layernorm": _layernorm,
    "elementwise": _elementwise,
    **heldout_references.RULES,
    **heldout2_references.RULES,
}


def error_of(rule: str, output: Values, right: Values) -> float:
    """The error of an output: the norm of the difference over that of the expected values.

    Where the rule is a sum, whatever parts of it the kernel has left are added first.
    """
    values = output.sum(dtype=np.float64) if rule == "sum" else output.reshape(np.shape(right))
    if np.array_equal(values, right):
        return 0.0
    difference = np.subtract(values, right, dtype=np.float64)
    return float(np.linalg.norm(np.ravel(difference)) / np.linalg.norm(np.ravel(right)))
