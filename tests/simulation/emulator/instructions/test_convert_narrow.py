"""Conversions to and from bfloat16, packed pairs, 8-bit floats and tf32, against fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.simulation.emulator.instructions.harness import Case, check, names
from tests.simulation.emulator.instructions.numbers import FORMATS, Format, edges, pattern, round_to, value_of

if TYPE_CHECKING:
    from collections.abc import Callable

MODES = ("rn", "rz", "rm", "rp")
NEAR: dict[str, Callable[[Fraction], int]] = {
    "rni": round,
    "rzi": math.trunc,
    "rmi": math.floor,
    "rpi": math.ceil,
}
TINY = {"e4m3": (3, 7, 448.0), "e5m2": (2, 15, 57344.0)}
"""Bits of mantissa, bias of the exponent, and largest finite number of the 8-bit formats."""


def _rounded(a: float, kind: str, mode: str = "rn") -> float:
    return round_to(Fraction(a), kind, mode, a) if math.isfinite(a) else a


def _bits(number: float, kind: str) -> int:
    return 0x7FFF if math.isnan(number) else pattern(number, kind)


def _relu(number: float) -> float:
    return number if math.isnan(number) or number > 0 else 0.0


def _finite(number: float, form: Format) -> float:
    greatest = float(form.greatest)
    return number if math.isnan(number) else max(-greatest, min(greatest, number))


def _tiny_value(code: int, kind: str) -> float:
    """Return the number that an 8-bit pattern stands for."""
    mantissa_bits, bias, greatest = TINY[kind]
    sign, code = (-1.0 if code >> 7 else 1.0), code & 127
    mantissa, exponent = code & ((1 << mantissa_bits) - 1), code >> mantissa_bits
    if kind == "e5m2" and exponent == 31:
        return math.nan if mantissa else sign * math.inf
    size = math.ldexp(mantissa + (bool(exponent) << mantissa_bits), max(exponent, 1) - bias - mantissa_bits)
    return sign * size if size <= greatest else math.nan


class _Code(NamedTuple):
    bits: int
    value: Fraction


@cache
def _finite_codes(kind: str) -> tuple[_Code, ...]:
    """The patterns without a sign that mean numbers."""
    values = ((code, _tiny_value(code, kind)) for code in range(128))
    return tuple(_Code(code, Fraction(value)) for code, value in values if math.isfinite(value))


def _tiny_bits(number: float, kind: str) -> int:
    """The nearest pattern: of two that are equally near the even one; never more than the largest."""
    if math.isnan(number):
        return 0x7F
    sign = 0x80 if math.copysign(1, number) < 0 else 0
    exact = Fraction(min(abs(number), TINY[kind][2]))
    return sign | min(_finite_codes(kind), key=lambda code: (abs(code.value - exact), code.bits & 1)).bits


def _tf32(a: float, mode: str) -> int:
    if math.isnan(a):
        return 0x7FFFFFFF
    bits = pattern(a, "f32")
    if math.isinf(a):
        return bits
    step = {"rna": 0x1000, "rn": 0xFFF + (bits >> 13 & 1), "rz": 0}[mode]
    return bits + step & ~0x1FFF


def _to_single() -> list[Case]:
    found = []
    for kind in ("f16", "bf16"):
        form = FORMATS[kind]
        found += [
            Case(
                f"cvt.{m}.{kind}.f32 {{d}}, {{a}};",
                (kind,),
                ("f32",),
                lambda a, k=kind, m=m: _rounded(a, k, m),
            )
            for m in MODES
        ]
        found += [
            Case(
                f"cvt.rn.relu.{kind}.f32 {{d}}, {{a}};",
                (kind,),
                ("f32",),
                lambda a, k=kind: _relu(_rounded(a, k)),
            ),
            Case(
                f"cvt.rz.satfinite.{kind}.f32 {{d}}, {{a}};",
                (kind,),
                ("f32",),
                lambda a, k=kind, f=form: _rounded(_finite(a, f), k, "rz"),
            ),
        ]
        for source in ("s16", "u16", "s32", "u32", "s64", "u64"):
            found += [
                Case(
                    f"cvt.{m}.{kind}.{source} {{d}}, {{a}};",
                    (kind,),
                    (source,),
                    lambda a, k=kind, m=m: round_to(Fraction(a), k, m),
                )
                for m in MODES
            ]
    return found


def _from_bfloat() -> list[Case]:
    found = [
        Case("cvt.f64.bf16 {d}, {a};", ("f64",), ("bf16",), lambda a: a),
        Case("cvt.rn.f16.bf16 {d}, {a};", ("f16",), ("bf16",), lambda a: _rounded(a, "f16")),
        Case("cvt.rn.bf16.f64 {d}, {a};", ("bf16",), ("f64",), lambda a: _rounded(a, "bf16")),
        Case("cvt.rn.bf16.f16 {d}, {a};", ("bf16",), ("f16",), lambda a: _rounded(a, "bf16")),
    ]
    for mode, near in NEAR.items():

        def whole(a: float, near: Callable[[Fraction], int] = near) -> float:
            return math.copysign(float(near(Fraction(a))), a) if math.isfinite(a) else a

        def number(a: float, near: Callable[[Fraction], int] = near) -> int:
            if math.isnan(a):
                return 0
            low, high = -(1 << 31), (1 << 31) - 1
            return (high if a > 0 else low) if math.isinf(a) else max(low, min(high, near(Fraction(a))))

        found += [
            Case(f"cvt.{mode}.bf16.bf16 {{d}}, {{a}};", ("bf16",), ("bf16",), whole),
            Case(f"cvt.{mode}.s32.bf16 {{d}}, {{a}};", ("s32",), ("bf16",), number),
        ]
    return found


def _pairs() -> list[Case]:
    return [*_pairs_of_halves(), *_pairs_of_tiny()]


def _pairs_of_halves() -> list[Case]:
    found = []
    for kind in ("f16", "bf16"):
        for mode in ("rn", "rz"):
            for after, change in (("", lambda x: x), (".relu", _relu)):
                found.append(
                    Case(
                        f"cvt.{mode}{after}.{kind}x2.f32 {{d}}, {{a}}, {{b}};",
                        ("b32",),
                        ("f32", "f32"),
                        lambda a, b, k=kind, m=mode, f=change: (
                            _bits(f(_rounded(a, k, m)), k) << 16 | _bits(f(_rounded(b, k, m)), k)
                        ),
                    )
                )
    return found


def _pairs_of_tiny() -> list[Case]:
    found = []
    for kind in TINY:
        numbers = [pattern(_tiny_value(code, kind), "f32") for code in range(0, 256, 3)]
        middles = [
            pattern((_tiny_value(c, kind) + _tiny_value(c + 1, kind)) / 2, "f32") for c in range(0, 120, 5)
        ]
        values = [*edges("f32"), *numbers, *middles]
        found += [
            Case(
                f"cvt.rn.satfinite.{kind}x2.f32 {{d}}, {{a}}, {{b}};",
                ("b16",),
                ("f32", "f32"),
                lambda a, b, k=kind: _tiny_bits(a, k) << 8 | _tiny_bits(b, k),
                values=(tuple(values), tuple(reversed(values))),
            ),
            Case(
                f"cvt.rn.satfinite.relu.{kind}x2.f32 {{d}}, {{a}}, {{b}};",
                ("b16",),
                ("f32", "f32"),
                lambda a, b, k=kind: _tiny_bits(_relu(a), k) << 8 | _tiny_bits(_relu(b), k),
            ),
            Case(
                f"cvt.rn.satfinite.{kind}x2.f16x2 {{d}}, {{a}};",
                ("b16",),
                ("f16x2",),
                lambda a, k=kind: (
                    _tiny_bits(value_of(a >> 16, "f16"), k) << 8 | _tiny_bits(value_of(a & 0xFFFF, "f16"), k)
                ),
            ),
            Case(
                f"cvt.rn.f16x2.{kind}x2 {{d}}, {{a}};",
                ("b32",),
                ("b16",),
                lambda a, k=kind: (
                    _bits(_tiny_value(a >> 8, k), "f16") << 16 | _bits(_tiny_value(a & 255, k), "f16")
                ),
                values=(tuple(range(0, 65536, 129)),),
            ),
        ]
    return found


CASES = [
    *_to_single(),
    *_from_bfloat(),
    *_pairs(),
    *(
        Case(f"cvt.{mode}.tf32.f32 {{d}}, {{a}};", ("b32",), ("f32",), lambda a, m=mode: _tf32(a, m))
        for mode in ("rna", "rn", "rz")
    ),
]


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_the_result_is_the_number_rounded_once(case: Case) -> None:
    """Also for NaN, infinities, halves between two numbers, and numbers beyond the largest."""
    check(case)
