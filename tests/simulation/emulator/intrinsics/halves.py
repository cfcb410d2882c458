"""`cuda_fp16.h` and `cuda_bf16.h`: single and packed, as fractions rounded once."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from tests.simulation.emulator.instructions.numbers import (
    add,
    fused,
    multiply,
    pattern,
    round_to,
    saturated,
    value_of,
)
from tests.simulation.emulator.intrinsics.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[..., float]


def _relu(number: float) -> float:
    return number if math.isnan(number) or number > 0 else 0.0


def _number(choose: Function) -> Function:
    def chosen(a: float, b: float, _c: float) -> float:
        if math.isnan(a) or math.isnan(b):
            return b if math.isnan(a) else a
        return choose(a, b)

    return chosen


def _nan(choose: Function) -> Function:
    return lambda a, b, _c: math.nan if math.isnan(a) or math.isnan(b) else choose(a, b)


def _smaller(a: float, b: float) -> float:
    return min(a, b, key=lambda x: (x, math.copysign(1, x)))


def _larger(a: float, b: float) -> float:
    return max(a, b, key=lambda x: (x, math.copysign(1, x)))


def _arithmetic(kind: str, two: str) -> dict[str, Function]:
    found: dict[str, Function] = {
        f"__hadd{two}(a, b)": lambda a, b, _c: add(a, b, kind),
        f"__hsub{two}(a, b)": lambda a, b, _c: add(a, -b, kind),
        f"__hmul{two}(a, b)": lambda a, b, _c: multiply(a, b, kind),
        f"__hfma{two}(a, b, c)": lambda a, b, c: fused(a, b, c, kind),
        f"__hfma{two}_relu(a, b, c)": lambda a, b, c: _relu(fused(a, b, c, kind)),
        f"__hmin{two}(a, b)": _number(_smaller),
        f"__hmax{two}(a, b)": _number(_larger),
        f"__hmin{two}_nan(a, b)": _nan(_smaller),
        f"__hmax{two}_nan(a, b)": _nan(_larger),
        f"__habs{two}(a)": lambda a, _b, _c: abs(a),
        f"__hneg{two}(a)": lambda a, _b, _c: -a,
        f"__hadd{two}_sat(a, b)": lambda a, b, _c: saturated(add(a, b, kind)),
        f"__hfma{two}_sat(a, b, c)": lambda a, b, c: saturated(fused(a, b, c, kind)),
        f"h{two}ceil(a)": lambda a, _b, _c: _whole(a, math.ceil),
        f"h{two}floor(a)": lambda a, _b, _c: _whole(a, math.floor),
        f"h{two}rint(a)": lambda a, _b, _c: _whole(a, round),
        f"h{two}trunc(a)": lambda a, _b, _c: _whole(a, math.trunc),
    }
    if kind == "f16":
        found[f"h{two}sqrt(a)"] = lambda a, _b, _c: (
            math.nan if a < 0 else round_to(math.sqrt(a), kind) if math.isfinite(a) else a
        )
    if two:
        found["__hgt2(a, b)"] = lambda a, b, _c: float(a > b)
        found["__hneu2(a, b)"] = lambda a, b, _c: float(a != b)
        found["__hle2(a, b)"] = lambda a, b, _c: float(a <= b)
    return found


def _whole(a: float, near: Callable[[Fraction], int]) -> float:
    return math.copysign(float(near(Fraction(a))), a) if math.isfinite(a) else a


def _canonical(number: float, kind: str) -> int:
    return 0x7FFF if math.isnan(number) else pattern(number, kind)


def _in_halves(function: Function, kind: str) -> Callable[..., int]:
    """A function of numbers as one of packed pairs; of a NaN only that it is one is looked at."""

    def of_pairs(*pairs: int) -> int:
        low = function(*(value_of(pair & 0xFFFF, kind) for pair in pairs))
        high = function(*(value_of(pair >> 16, kind) for pair in pairs))
        return _canonical(low, kind) | _canonical(high, kind) << 16

    return of_pairs


def _single(kind: str) -> Table:
    return Table(f"{kind}_numbers", (kind,) * 3, kind, _arithmetic(kind, ""))


def _packed(kind: str) -> Table:
    entries = {text: _in_halves(function, kind) for text, function in _arithmetic(kind, "2").items()}
    return Table(f"{kind}_pairs", (f"{kind}x2",) * 3, f"{kind}x2", entries)


_MODES = {"rn": "rn", "rz": "rz", "ru": "rp", "rd": "rm"}


def _to(a: float, kind: str, mode: str) -> float:
    return round_to(Fraction(a), kind, mode, a) if math.isfinite(a) else a


def _narrowing(kind: str, spelt: str) -> tuple[Table, ...]:
    floats = {f"__float2{spelt}_{m}(a)": lambda a, w=w: _to(a, kind, w) for m, w in _MODES.items()}
    found = [Table(f"float_to_{kind}", ("f32",), kind, floats)]
    for name, source in (("int", "s32"), ("uint", "u32"), ("ll", "s64"), ("ull", "u64"), ("short", "s16")):
        entries = {
            f"__{name}2{spelt}_{m}(a)": lambda a, w=w: round_to(Fraction(a), kind, w)
            for m, w in _MODES.items()
        }
        found.append(Table(f"{name}_to_{kind}", (source,), kind, entries))
    found.append(
        Table(f"double_to_{kind}", ("f64",), kind, {f"__double2{spelt}(a)": lambda a: _to(a, kind, "rn")})
    )
    return tuple(found)


def _widening(kind: str, spelt: str) -> tuple[Table, ...]:
    near: dict[str, Callable[[Fraction], int]] = {
        "rn": round,
        "rz": math.trunc,
        "ru": math.ceil,
        "rd": math.floor,
    }

    def whole(a: float, mode: str, bits: int, *, sign: bool) -> int:
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if sign else (0, (1 << bits) - 1)
        if math.isnan(a):
            return 0 if bits < 64 else -(1 << bits - 1) if sign else 1 << bits - 1
        return (high if a > 0 else low) if math.isinf(a) else max(low, min(high, near[mode](Fraction(a))))

    return (
        Table(f"{kind}_to_float", (kind,), "f32", {f"__{spelt}2float(a)": lambda a: a}),
        Table(
            f"{kind}_to_int",
            (kind,),
            "s32",
            {f"__{spelt}2int_{m}(a)": lambda a, m=m: whole(a, m, 32, sign=True) for m in near},
        ),
        Table(
            f"{kind}_to_ull",
            (kind,),
            "u64",
            {f"__{spelt}2ull_{m}(a)": lambda a, m=m: whole(a, m, 64, sign=False) for m in near},
        ),
    )


_COMPARED = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a < b or a > b,
    "lt": lambda a, b: a < b,
    "geu": lambda a, b: not a < b,
    "gtu": lambda a, b: not a <= b,
}


def _unusual(a: float, b: float) -> int:
    return math.isnan(a) * 2 + int(math.copysign(math.isinf(b), b))


def _comparisons(kind: str) -> Table:
    entries: dict[str, Callable[..., int]] = {
        f"__h{name}(a, b)": lambda a, b, f=f: int(f(a, b)) for name, f in _COMPARED.items()
    }
    return Table(
        f"{kind}_compared", (kind, kind), "s32", entries | {"__hisnan(a) * 2 + __hisinf(b)": _unusual}
    )


TABLES = tuple(
    table
    for kind, spelt in (("f16", "half"), ("bf16", "bfloat16"))
    for table in (
        _single(kind),
        _packed(kind),
        *_narrowing(kind, spelt),
        *_widening(kind, spelt),
        _comparisons(kind),
    )
)
