"""Floating-point intrinsics: each rounded once in its direction, as fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from tests.simulation.emulator.instructions.numbers import (
    add,
    divide,
    fused,
    multiply,
    pattern,
    root,
    round_to,
    saturated,
)
from tests.simulation.emulator.intrinsics.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable

MODES = ("rn", "rz", "ru", "rd")
_PTX = {"rn": "rn", "rz": "rz", "ru": "rp", "rd": "rm"}
NEAR: dict[str, Callable[[Fraction], int]] = {
    "rn": round,
    "rz": math.trunc,
    "ru": math.ceil,
    "rd": math.floor,
}


def _rounded(kind: str) -> dict[str, Callable[..., float]]:
    letter = "f" if kind == "f32" else "d"
    found: dict[str, Callable[..., float]] = {}
    for mode in MODES:
        way = _PTX[mode]
        found |= {
            f"__{letter}add_{mode}(a, b)": lambda a, b, _c, way=way: add(a, b, kind, way),
            f"__{letter}sub_{mode}(a, b)": lambda a, b, _c, way=way: add(a, -b, kind, way),
            f"__{letter}mul_{mode}(a, b)": lambda a, b, _c, way=way: multiply(a, b, kind, way),
            f"__{letter}div_{mode}(a, b)": lambda a, b, _c, way=way: divide(a, b, kind, way),
            f"__{letter}rcp_{mode}(a)": lambda a, _b, _c, way=way: divide(1.0, a, kind, way),
            f"__{letter}sqrt_{mode}(a)": lambda a, _b, _c, way=way: root(a, kind, way),
        }
        name = "__fmaf" if kind == "f32" else "__fma"
        found[f"{name}_{mode}(a, b, c)"] = lambda a, b, c, way=way: fused(a, b, c, kind, way)
    return found


def _number(choose: Callable[[float, float], float]) -> Callable[..., float]:
    def chosen(a: float, b: float, _c: float) -> float:
        if math.isnan(a) or math.isnan(b):
            return b if math.isnan(a) else a
        return choose(a, b)

    return chosen


def _whole(near: Callable[[Fraction], int]) -> Callable[..., float]:
    def rounded(a: float, _b: float, _c: float) -> float:
        return math.copysign(float(near(Fraction(a))), a) if math.isfinite(a) else a

    return rounded


def _either_zero(a: float, b: float) -> bool:
    return a == 0 == b


_PLAIN: dict[str, Callable[..., float]] = {
    "floor({f}a{f})": _whole(math.floor),
    "ceil({f}a{f})": _whole(math.ceil),
    "trunc({f}a{f})": _whole(math.trunc),
    "rint({f}a{f})": _whole(round),
}

SINGLE = Table(
    "single_floats",
    ("f32", "f32", "f32"),
    "f32",
    {
        **_rounded("f32"),
        "floorf(a)": _whole(math.floor),
        "ceilf(a)": _whole(math.ceil),
        "truncf(a)": _whole(math.trunc),
        "rintf(a)": _whole(round),
        "copysignf(a, b)": lambda a, b, _c: math.copysign(a, b) if not math.isnan(a) else a,
        "fabsf(a)": lambda a, _b, _c: abs(a),
        "__saturatef(a)": lambda a, _b, _c: saturated(a),
        "fmaxf(a, fabsf(b) + 1)": lambda a, b, _c: _number(max)(a, add(abs(b), 1.0, "f32"), 0),
        "fdimf(a, b)": lambda a, b, _c: (
            math.nan if math.isnan(a) or math.isnan(b) else add(a, -b, "f32") if a > b else 0.0
        ),
        "a < b ? 1.0f : isnan(a) ? 2.0f : isinf(a) ? 3.0f : 4.0f": lambda a, b, _c: (
            1.0 if a < b else 2.0 if math.isnan(a) else 3.0 if math.isinf(a) else 4.0
        ),
        "(float)signbit(a)": lambda a, _b, _c: float(math.copysign(1, a) < 0),
    },
)
DOUBLE = Table(
    "double_floats",
    ("f64", "f64", "f64"),
    "f64",
    {
        **_rounded("f64"),
        "floor(a)": _whole(math.floor),
        "ceil(a)": _whole(math.ceil),
        "trunc(a)": _whole(math.trunc),
        "rint(a)": _whole(round),
        "copysign(a, b)": lambda a, b, _c: math.copysign(a, b) if not math.isnan(a) else a,
        "fmin(a, -fabs(b) - 1)": lambda a, b, _c: _number(min)(a, add(-abs(b), -1.0, "f64"), 0),
    },
)
TO_SINGLE = Table(
    "double_to_single",
    ("f64",),
    "f32",
    {f"__double2float_{mode}(a)": lambda a, mode=mode: round_to(a, "f32", _PTX[mode]) for mode in MODES},
)


def _integer(near: Callable[[Fraction], int], bits: int, *, sign: bool, wide: bool) -> Callable[[float], int]:
    """Out of range goes to the nearest limit; NaN to 0, or to the top bit where there are 64."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if sign else (0, (1 << bits) - 1)

    def convert(a: float) -> int:
        if math.isnan(a):
            return (-(1 << bits - 1) if sign else 1 << bits - 1) if wide else 0
        if math.isinf(a):
            return high if a > 0 else low
        return max(low, min(high, near(Fraction(a))))

    return convert


def _to_integers(source: str, bits: int) -> dict[str, Callable[[float], int]]:
    found: dict[str, Callable[[float], int]] = {}
    for sign in (True, False):
        name = ("" if sign else "u") + ("int" if bits == 32 else "ll")
        for mode in MODES:
            wide = bits == 64 or source == "double"
            found[f"__{source}2{name}_{mode}(a)"] = _integer(NEAR[mode], bits, sign=sign, wide=wide)
    return found


INTEGERS = tuple(
    Table(f"{source}_to_{bits}", (kind,), f"u{bits}", _to_integers(source, bits))
    for source, kind in (("float", "f32"), ("double", "f64"))
    for bits in (32, 64)
)
FROM_INTEGERS = tuple(
    Table(
        f"{name}_to_single",
        (kind,),
        "f32",
        {
            f"__{name}2float_{mode}(a)": lambda a, mode=mode: round_to(Fraction(a), "f32", _PTX[mode])
            for mode in MODES
        },
    )
    for name, kind in (("int", "s32"), ("uint", "u32"), ("ll", "s64"), ("ull", "u64"))
)
BITS = Table(
    "bits_of_floats",
    ("f32", "f64"),
    "u32",
    {
        "__float_as_uint(a)": lambda a, _b: pattern(a, "f32"),
        "(unsigned)__double2hiint(b)": lambda _a, b: pattern(b, "f64") >> 32,
        "(unsigned)__double2loint(b)": lambda _a, b: pattern(b, "f64") & 0xFFFFFFFF,
        "(unsigned)__float_as_int(__int_as_float(__float_as_int(a) ^ 0x80000000))": lambda a, _b: (
            pattern(a, "f32") ^ 0x80000000
        ),
    },
)

TABLES = (SINGLE, DOUBLE, TO_SINGLE, *INTEGERS, *FROM_INTEGERS, BITS)
