"""The mathematical library and the fast intrinsics, within the errors that the CUDA C++ guide documents."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.simulation.emulator.intrinsics.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable

_POSITIVE = tuple(np.array([0.001, 0.1, 0.5, 0.75, 1, 1.5, 2, 3, 7.5, 20, 60], np.float32).tolist())
_ANY = tuple(np.array([-9.5, -3, -1.25, -0.75, -0.1, -1e-3, 1e-3, 0.3, 0.9, 1, 2.5, 8], np.float32).tolist())


def _columns(first: tuple[float, ...], dtype: str) -> tuple[np.ndarray[Any, Any], ...]:
    pairs = [(a, b) for a in first for b in (-1.5, 0.25, 2.0, 3.5)]
    return tuple(np.array(column, dtype) for column in zip(*pairs, strict=True))


def _norm(*numbers: float) -> float:
    return math.sqrt(sum(number * number for number in numbers))


_OF_ANY: dict[str, Callable[[float, float], float]] = {
    "exp{f}(a)": lambda a, _b: math.exp(a),
    "exp2{f}(a)": lambda a, _b: 2.0**a,
    "exp10{f}(a)": lambda a, _b: 10.0**a,
    "expm1{f}(a)": lambda a, _b: math.expm1(a),
    "sin{f}(a)": lambda a, _b: math.sin(a),
    "cos{f}(a)": lambda a, _b: math.cos(a),
    "tan{f}(a)": lambda a, _b: math.tan(a),
    "sinpi{f}(a * 0.0625{f})": lambda a, _b: math.sin(math.pi * a / 16),
    "asin{f}(a * 0.09375{f})": lambda a, _b: math.asin(a * 0.09375),
    "acos{f}(a * 0.09375{f})": lambda a, _b: math.acos(a * 0.09375),
    "atan{f}(a)": lambda a, _b: math.atan(a),
    "atan2{f}(a, b)": math.atan2,
    "sinh{f}(a)": lambda a, _b: math.sinh(a),
    "cosh{f}(a)": lambda a, _b: math.cosh(a),
    "tanh{f}(a)": lambda a, _b: math.tanh(a),
    "asinh{f}(a)": lambda a, _b: math.asinh(a),
    "erf{f}(a)": lambda a, _b: math.erf(a),
    "erfc{f}(a * 0.25{f})": lambda a, _b: math.erfc(a / 4),
    "cbrt{f}(a)": lambda a, _b: math.copysign(abs(a) ** (1 / 3), a),
    "hypot{f}(a, b)": math.hypot,
    "norm3d{f}(a, b, a)": lambda a, b: _norm(a, b, a),
    "fma{f}(a, b, a)": lambda a, b: a * b + a,
    "fmod{f}(a, b)": math.fmod,
    "remainder{f}(a, b)": math.remainder,
    "round{f}(a)": lambda a, _b: math.copysign(math.floor(abs(a) + 0.5), a),
    "ldexp{f}(a, 3)": lambda a, _b: math.ldexp(a, 3),
    "normcdf{f}(a * 0.25{f})": lambda a, _b: math.erfc(-a / 4 / math.sqrt(2)) / 2,
}
_OF_POSITIVE: dict[str, Callable[[float, float], float]] = {
    "log{f}(a)": lambda a, _b: math.log(a),
    "log2{f}(a)": lambda a, _b: math.log2(a),
    "log10{f}(a)": lambda a, _b: math.log10(a),
    "log1p{f}(a)": lambda a, _b: math.log1p(a),
    "sqrt{f}(a)": lambda a, _b: math.sqrt(a),
    "rsqrt{f}(a)": lambda a, _b: 1 / math.sqrt(a),
    "rcbrt{f}(a)": lambda a, _b: a ** (-1 / 3),
    "pow{f}(a, b)": lambda a, b: a**b,
    "lgamma{f}(a + 2.5{f})": lambda a, _b: math.lgamma(a + 2.5),
    "tgamma{f}(a * 0.125{f})": lambda a, _b: math.gamma(a / 8),
    "acosh{f}(a + 1.5{f})": lambda a, _b: math.acosh(a + 1.5),
    "atanh{f}(a / (a + 1))": lambda a, _b: math.atanh(a / (a + 1)),
}
_FAST_OF_ANY: dict[str, Callable[[float, float], float]] = {
    "__expf(a)": lambda a, _b: math.exp(a),
    "__exp10f(a)": lambda a, _b: 10.0**a,
    "__fdividef(a, b)": lambda a, b: a / b,
    "__tanhf(a)": lambda a, _b: math.tanh(a),
}
_FAST_OF_POSITIVE: dict[str, Callable[[float, float], float]] = {
    "__logf(a + 2)": lambda a, _b: math.log(a + 2),
    "__log2f(a + 2)": lambda a, _b: math.log2(a + 2),
    "__log10f(a + 2)": lambda a, _b: math.log10(a + 2),
    "__powf(a, b)": lambda a, b: a**b,
    "__frsqrt_rn(a)": lambda a, _b: 1 / math.sqrt(a),
    "__sinf(0.05f * a)": lambda a, _b: math.sin(0.05 * a),
    "__cosf(0.02f * a)": lambda a, _b: math.cos(0.02 * a),
}


def _table(
    name: str,
    kind: str,
    entries: dict[str, Callable[[float, float], float]],
    first: tuple[float, ...],
    within: float,
) -> Table:
    f, dtype = ("f", "float32") if kind == "f32" else ("", "float64")
    spelt = {text.replace("{f}", f): function for text, function in entries.items()}
    return Table(name, (kind, kind), kind, spelt, within, _columns(first, dtype))


TABLES = (
    _table("single_any", "f32", _OF_ANY, _ANY, 4e-6),
    _table("single_positive", "f32", _OF_POSITIVE, _POSITIVE, 4e-6),
    _table("double_any", "f64", _OF_ANY, _ANY, 1e-13),
    _table("double_positive", "f64", _OF_POSITIVE, _POSITIVE, 1e-13),
    _table("fast_any", "f32", _FAST_OF_ANY, _ANY, 1e-3),
    _table("fast_positive", "f32", _FAST_OF_POSITIVE, _POSITIVE, 1e-4),
)
