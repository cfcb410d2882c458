"""Half precision, single and packed, against fractions rounded once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from tests.simulation.emulator.instructions import numbers
from tests.simulation.emulator.instructions.harness import Case, check, names
from tests.simulation.emulator.instructions.test_compare import FLOATING
from tests.simulation.emulator.instructions.test_floating import _larger, _nan_or, _smaller, _with_both_signs

if TYPE_CHECKING:
    from collections.abc import Callable

HALVES = ("f16", "bf16")


def canonical(number: float, kind: str) -> int:
    """The pattern of a result: every NaN is 0x7fff."""
    return 0x7FFF if math.isnan(number) else numbers.pattern(number, kind)


def _packed(function: Callable[..., float], kind: str) -> Callable[..., int]:
    """A function of numbers as one of pairs of patterns."""

    def of_pairs(*pairs: int) -> int:
        low = [numbers.value_of(pair & 0xFFFF, kind) for pair in pairs]
        high = [numbers.value_of(pair >> 16, kind) for pair in pairs]
        return canonical(function(*low), kind) | canonical(function(*high), kind) << 16

    return of_pairs


def _both(opcode: str, arity: int, kind: str, function: Callable[..., float]) -> list[Case]:
    letters = ", ".join(["{d}", "{a}", "{b}", "{c}"][: arity + 1])
    packed = f"{kind}x2"
    return [
        Case(f"{opcode}.{kind} {letters};", (kind,), (kind,) * arity, function),
        Case(f"{opcode}.{packed} {letters};", (packed,), (packed,) * arity, _packed(function, kind)),
    ]


def _arithmetic() -> list[Case]:
    found = []
    for kind in HALVES:
        found += [
            *_both("add", 2, kind, lambda a, b, k=kind: numbers.add(a, b, k)),
            *_both("sub", 2, kind, lambda a, b, k=kind: numbers.add(a, -b, k)),
            *_both("mul", 2, kind, lambda a, b, k=kind: numbers.multiply(a, b, k)),
            *_both("fma.rn", 3, kind, lambda a, b, c, k=kind: numbers.fused(a, b, c, k)),
            *_both("neg", 1, kind, lambda a: -a),
            *_both("abs", 1, kind, abs),
            *_both("min", 2, kind, _smaller),
            *_both("max", 2, kind, _larger),
            *_both("max.NaN", 2, kind, _nan_or(_larger)),
            *_both("max.xorsign.abs", 2, kind, _with_both_signs(_larger)),
        ]
    return found


def _modified() -> list[Case]:
    def small(a: float) -> float:
        return math.copysign(0.0, a) if abs(a) < 2.0**-14 else a

    return [
        *_both("add.sat", 2, "f16", lambda a, b: numbers.saturated(numbers.add(a, b, "f16"))),
        *_both("mul.ftz", 2, "f16", lambda a, b: small(numbers.multiply(small(a), small(b), "f16"))),
        *_both(
            "fma.rn.relu",
            3,
            "f16",
            lambda a, b, c: r if math.isnan(r := numbers.fused(a, b, c, "f16")) or r > 0 else 0.0,
        ),
    ]


def _approximate() -> list[Case]:
    def power(a: float) -> float:
        return math.inf if a > 1000 else 2.0**a

    return [
        Case(
            "ex2.approx.f16 {d}, {a};",
            ("f16",),
            ("f16",),
            lambda a: numbers.round_to(power(a), "f16"),
            2.0**-9,
        ),
        Case("tanh.approx.f16 {d}, {a};", ("f16",), ("f16",), math.tanh, within=2.0**-10),
    ]


def _comparisons() -> list[Case]:
    found = []
    for kind in HALVES:
        packed = f"{kind}x2"
        for name in ("eq", "ne", "lt", "geu", "nan"):
            holds = FLOATING[name]

            def halves(a: int, b: int, kind: str = kind, f: Callable[..., bool] = holds) -> tuple[int, int]:
                pairs = [(a & 0xFFFF, b & 0xFFFF), (a >> 16, b >> 16)]
                low, high = (f(*(numbers.value_of(bits, kind) for bits in pair)) for pair in pairs)
                return int(low), int(high)

            one = canonical(1.0, kind)
            found += [
                Case(
                    f"setp.{name}.{kind} {{d}}, {{a}}, {{b}};",
                    ("pred",),
                    (kind,) * 2,
                    lambda a, b, f=holds: int(f(a, b)),
                ),
                Case(
                    f"setp.{name}.{packed} {{d}}|{{e}}, {{a}}, {{b}};", ("pred",) * 2, (packed,) * 2, halves
                ),
                Case(
                    f"set.{name}.{packed}.{packed} {{d}}, {{a}}, {{b}};",
                    ("b32",),
                    (packed,) * 2,
                    lambda a, b, f=halves, one=one: f(a, b)[0] * one | f(a, b)[1] * one << 16,
                ),
                Case(
                    f"set.{name}.u32.{packed} {{d}}, {{a}}, {{b}};",
                    ("u32",),
                    (packed,) * 2,
                    lambda a, b, f=halves: f(a, b)[0] * 0xFFFF | f(a, b)[1] * 0xFFFF0000,
                ),
            ]
    return found


def _conversions() -> list[Case]:
    found = [Case("cvt.f32.bf16 {d}, {a};", ("f32",), ("bf16",), lambda a: a)]
    for kind in HALVES:
        packed = f"{kind}x2"
        for mode in ("rn", "rz"):

            def half(a: float, kind: str = kind, mode: str = mode) -> int:
                return canonical(numbers.round_to(a, "f32") if math.isnan(a) else _to(a, kind, mode), kind)

            found.append(
                Case(
                    f"cvt.{mode}.{packed}.f32 {{d}}, {{a}}, {{b}};",
                    ("b32",),
                    ("f32", "f32"),
                    lambda a, b, half=half: half(a) << 16 | half(b),
                )
            )
    found += [
        Case(f"cvt.{m}.bf16.f32 {{d}}, {{a}};", ("bf16",), ("f32",), lambda a, m=m: _to(a, "bf16", m))
        for m in ("rn", "rz")
    ]
    return found


def _to(a: float, kind: str, mode: str) -> float:
    from fractions import Fraction  # noqa: PLC0415

    return numbers.round_to(Fraction(a), kind, mode, a) if math.isfinite(a) else a


CASES = [
    *_arithmetic(),
    *_modified(),
    *_approximate(),
    *_comparisons(),
    *_conversions(),
]


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_each_half_is_the_exact_result_rounded_once(case: Case) -> None:
    """Both formats, alone and in pairs."""
    check(case)
