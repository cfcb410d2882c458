"""Moves and conversions against fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.simulation.emulator.instructions.harness import Case, check, names
from tests.simulation.emulator.instructions.numbers import FORMATS, WIDTHS, flushed, round_to, saturated

if TYPE_CHECKING:
    from collections.abc import Callable

INTEGERS = tuple(f"{sign}{bits}" for sign in "su" for bits in (8, 16, 32, 64))
NEAR: dict[str, Callable[[Fraction], int]] = {
    "rni": round,
    "rzi": math.trunc,
    "rmi": math.floor,
    "rpi": math.ceil,
}


def _limits(kind: str) -> tuple[int, int]:
    bits = WIDTHS[kind]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)


def _clamp(number: int, kind: str) -> int:
    low, high = _limits(kind)
    return max(low, min(high, number))


def _to_integer(a: float, source: str, to: str, mode: str) -> int:
    """NaN gives 0, but the highest bit alone where either type has 64 bits (section 9.7.9.21)."""
    if math.isnan(a):
        top = 1 << (WIDTHS[to] - 1)
        return (-top if to[0] == "s" else top) if source == "f64" or WIDTHS[to] == 64 else 0
    low, high = _limits(to)
    if math.isinf(a):
        return high if a > 0 else low
    return _clamp(NEAR[mode](Fraction(a)), to)


def _register(kind: str) -> str:
    """The type as which the register of a result is stored: narrow integers are extended to 16 bits."""
    return kind[0] + str(max(16, WIDTHS[kind]))


def _between_integers() -> list[Case]:
    found = []
    for to in INTEGERS:
        for source in INTEGERS:

            def cut(a: int, to: str = to) -> int:
                low = a & ((1 << WIDTHS[to]) - 1)
                return low - (1 << WIDTHS[to]) if to[0] == "s" and low >> (WIDTHS[to] - 1) else low

            found.append(Case(f"cvt.{to}.{source} {{d}}, {{a}};", (_register(to),), (source,), cut))
            (low, high), (least, most) = _limits(to), _limits(source)
            if not low <= least <= most <= high:  # where nothing can be out of range, PTX has no `.sat`
                text = f"cvt.sat.{to}.{source} {{d}}, {{a}};"
                found.append(Case(text, (_register(to),), (source,), lambda a, to=to: _clamp(a, to)))
    return found


def _from_integers() -> list[Case]:
    return [
        Case(
            f"cvt.{mode}.{to}.{source} {{d}}, {{a}};",
            (to,),
            (source,),
            lambda a, to=to, mode=mode: round_to(Fraction(a), to, mode),
        )
        for to in ("f16", "f32", "f64")
        for source in INTEGERS
        for mode in ("rn", "rz", "rm", "rp")
    ]


def _to_integers() -> list[Case]:
    return [
        Case(
            f"cvt.{mode}.{to}.{source} {{d}}, {{a}};",
            (_register(to),),
            (source,),
            lambda a, source=source, to=to, mode=mode: _to_integer(a, source, to, mode),
        )
        for to in INTEGERS
        for source in ("f16", "f32", "f64")
        for mode in NEAR
    ]


def _near(a: float, mode: str) -> float:
    return math.copysign(float(NEAR[mode](Fraction(a))), a) if math.isfinite(a) else a


def _between_floats() -> list[Case]:
    found = []
    for to, source in (("f16", "f32"), ("f16", "f64"), ("f32", "f64")):
        found += [
            Case(
                f"cvt.{mode}.{to}.{source} {{d}}, {{a}};",
                (to,),
                (source,),
                lambda a, to=to, mode=mode: round_to(Fraction(a), to, mode, a) if math.isfinite(a) else a,
            )
            for mode in ("rn", "rz", "rm", "rp")
        ]
        found.append(Case(f"cvt.{source}.{to} {{d}}, {{a}};", (source,), (to,), lambda a: a))
    found += [
        Case(f"cvt.{mode}.{kind}.{kind} {{d}}, {{a}};", (kind,), (kind,), lambda a, mode=mode: _near(a, mode))
        for kind in ("f16", "f32", "f64")
        for mode in NEAR
    ]
    return found


CASES = [
    *_between_integers(),
    *_from_integers(),
    *_to_integers(),
    *_between_floats(),
    Case("cvt.sat.f32.f32 {d}, {a};", ("f32",), ("f32",), saturated),
    Case("cvt.rn.sat.f32.f64 {d}, {a};", ("f32",), ("f64",), lambda a: saturated(round_to(a, "f32"))),
    Case("cvt.ftz.f64.f32 {d}, {a};", ("f64",), ("f32",), flushed),
    Case("cvt.rn.ftz.f32.f64 {d}, {a};", ("f32",), ("f64",), lambda a: flushed(round_to(a, "f32"))),
    Case(
        "cvt.rpi.ftz.s32.f32 {d}, {a};",
        ("s32",),
        ("f32",),
        lambda a: _to_integer(flushed(a), "f32", "s32", "rpi"),
    ),
    Case("cvt.rn.f32.s32 {d}, {a};", ("f32",), ("s64",), lambda a: round_to(Fraction(_low_half(a)), "f32")),
    *(
        Case(f"mov.{k} {{d}}, {{a}};", (k,), (k,), lambda a: a)
        for k in ("b16", "u32", "s64", "f32", "f64", "pred")
    ),
    Case("mov.u32 {d}, -5;", ("u32",), ("u32",), lambda _a: -5),
    Case("mov.f32 {d}, 0f3FC00000;", ("f32",), ("f32",), lambda _a: 1.5),
    Case("mov.f64 {d}, 0dBFF8000000000000;", ("f64",), ("f64",), lambda _a: -1.5),
    Case("mov.b64 {d}, {{{a}, {b}}};", ("b64",), ("b32", "b32"), lambda a, b: a | b << 32),
    Case("mov.b32 {d}, {{{a}, {b}}};", ("b32",), ("b16", "b16"), lambda a, b: a | b << 16),
    Case("mov.b64 {{{d}, {e}}}, {a};", ("b32", "b32"), ("b64",), lambda a: (a & 0xFFFFFFFF, a >> 32)),
    Case("mov.b64 {{_, {d}}}, {a};", ("b32",), ("b64",), lambda a: a >> 32),
    Case("mov.b32 {{{d}, {e}}}, {a};", ("b16", "b16"), ("b32",), lambda a: (a & 0xFFFF, a >> 16)),
    Case("mov.b64 {d}, {a};", ("b64",), ("f64",), lambda a: int(np.float64(a).view(np.uint64))),
    Case("cvta.global.u64 {d}, {a};", ("u64",), ("u64",), lambda a: a),
    Case("cvta.to.global.u64 {d}, {a};", ("u64",), ("u64",), lambda a: a),
    *(
        Case(
            f"and.b64 {{a}}, {{a}}, 255;\ncvta.{space}.u64 {{d}}, {{a}};\ncvta.to.{space}.u64 {{d}}, {{d}};",
            ("u64",),
            ("u64",),
            lambda a: a & 255,
        )
        for space in ("shared", "local")
    ),
    *(
        Case(
            f".reg .b64 %w;\nand.b64 %w, {{a}}, 255;\ncvta.{space}.u64 %w, %w;\nisspacep.{asked} {{d}}, %w;",
            ("pred",),
            ("u64",),
            lambda _a, yes=int(space == asked): yes,
        )
        for space in ("shared", "local")
        for asked in ("shared", "local", "global")
    ),
    Case("isspacep.global {d}, %base;", ("pred",), ("u64",), lambda _a: 1),
]


def _low_half(a: int) -> int:
    low = a & 0xFFFFFFFF
    return low - (1 << 32) if low >> 31 else low


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_the_result_is_the_number_rounded_clamped_or_cut(case: Case) -> None:
    """Also for NaN, infinities and numbers out of range, with results extended to their registers."""
    check(case)


def test_every_format_is_converted() -> None:
    """No floating-point format is left out of the cases."""
    used = {word for case in CASES for word in case.name.split(".")}
    assert set(FORMATS) - {"bf16"} <= used
