"""Floating-point arithmetic against fractions rounded once."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.simulation.emulator.instructions import numbers
from tests.simulation.emulator.instructions.harness import Case, check, names

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = ("f32", "f64")
MODES = ("rn", "rz", "rm", "rp")


def _smaller(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) else a
    return a if (a, math.copysign(1, a)) < (b, math.copysign(1, b)) else b


def _larger(a: float, b: float) -> float:
    return -_smaller(-a, -b)


def _with_both_signs(choose: Callable[[float, float], float]) -> Callable[[float, float], float]:
    def chosen(a: float, b: float) -> float:
        size = choose(abs(a), abs(b))
        return math.copysign(size, math.copysign(1, a) * math.copysign(1, b))

    return chosen


def _nan_or(function: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else function(a, b)


def _rounded() -> list[Case]:
    found = []
    for kind in KINDS:
        for mode in MODES:
            two, three, form = (kind, kind), (kind,) * 3, f"{mode}.{kind}"

            def with_mode(
                function: Callable[..., float], kind: str = kind, mode: str = mode
            ) -> Callable[..., float]:
                return lambda *operands: function(*operands, kind, mode)

            found += [
                Case(f"add.{form} {{d}}, {{a}}, {{b}};", (kind,), two, with_mode(numbers.add)),
                Case(
                    f"sub.{form} {{d}}, {{a}}, {{b}};",
                    (kind,),
                    two,
                    lambda a, b, k=kind, m=mode: numbers.add(a, -b, k, m),
                ),
                Case(f"mul.{form} {{d}}, {{a}}, {{b}};", (kind,), two, with_mode(numbers.multiply)),
                Case(f"div.{form} {{d}}, {{a}}, {{b}};", (kind,), two, with_mode(numbers.divide)),
                Case(f"fma.{form} {{d}}, {{a}}, {{b}}, {{c}};", (kind,), three, with_mode(numbers.fused)),
                Case(f"mad.{form} {{d}}, {{a}}, {{b}}, {{c}};", (kind,), three, with_mode(numbers.fused)),
                Case(f"sqrt.{form} {{d}}, {{a}};", (kind,), (kind,), with_mode(numbers.root)),
                Case(
                    f"rcp.{form} {{d}}, {{a}};",
                    (kind,),
                    (kind,),
                    lambda a, k=kind, m=mode: numbers.divide(1.0, a, k, m),
                ),
            ]
    return found


def _exact() -> list[Case]:
    found = []
    for kind in KINDS:
        two = (kind, kind)
        found += [
            Case(f"abs.{kind} {{d}}, {{a}};", (kind,), (kind,), abs),
            Case(f"neg.{kind} {{d}}, {{a}};", (kind,), (kind,), lambda a: -a),
            Case(f"copysign.{kind} {{d}}, {{a}}, {{b}};", (kind,), two, lambda a, b: math.copysign(b, a)),
            Case(f"min.{kind} {{d}}, {{a}}, {{b}};", (kind,), two, _smaller),
            Case(f"max.{kind} {{d}}, {{a}}, {{b}};", (kind,), two, _larger),
        ]
    found += [
        Case("min.NaN.f32 {d}, {a}, {b};", ("f32",), ("f32",) * 2, _nan_or(_smaller)),
        Case("max.NaN.f32 {d}, {a}, {b};", ("f32",), ("f32",) * 2, _nan_or(_larger)),
        Case("min.xorsign.abs.f32 {d}, {a}, {b};", ("f32",), ("f32",) * 2, _with_both_signs(_smaller)),
        Case(
            "max.NaN.xorsign.abs.f32 {d}, {a}, {b};",
            ("f32",),
            ("f32",) * 2,
            _nan_or(_with_both_signs(_larger)),
        ),
    ]
    return found


def _modified() -> list[Case]:
    flush = numbers.flushed
    two = ("f32", "f32")

    def flushing(function: Callable[..., float]) -> Callable[..., float]:
        return lambda *operands: flush(function(*(flush(each) for each in operands), "f32"))

    def saturating(function: Callable[..., float]) -> Callable[..., float]:
        return lambda *operands: numbers.saturated(function(*operands, "f32"))

    return [
        Case("add.ftz.f32 {d}, {a}, {b};", ("f32",), two, flushing(numbers.add)),
        Case("mul.ftz.f32 {d}, {a}, {b};", ("f32",), two, flushing(numbers.multiply)),
        Case("fma.rn.ftz.f32 {d}, {a}, {b}, {c};", ("f32",), ("f32",) * 3, flushing(numbers.fused)),
        Case("div.rn.ftz.f32 {d}, {a}, {b};", ("f32",), two, flushing(numbers.divide)),
        Case("abs.ftz.f32 {d}, {a};", ("f32",), ("f32",), lambda a: abs(flush(a))),
        Case("neg.ftz.f32 {d}, {a};", ("f32",), ("f32",), lambda a: -flush(a)),
        Case("max.ftz.f32 {d}, {a}, {b};", ("f32",), two, lambda a, b: _larger(flush(a), flush(b))),
        Case("add.sat.f32 {d}, {a}, {b};", ("f32",), two, saturating(numbers.add)),
        Case("sub.sat.f32 {d}, {a}, {b};", ("f32",), two, saturating(lambda a, b, k: numbers.add(a, -b, k))),
        Case("mul.sat.f32 {d}, {a}, {b};", ("f32",), two, saturating(numbers.multiply)),
        Case(
            "fma.rz.sat.f32 {d}, {a}, {b}, {c};",
            ("f32",),
            ("f32",) * 3,
            lambda a, b, c: numbers.saturated(numbers.fused(a, b, c, "f32", "rz")),
        ),
    ]


def _to_f32(function: Callable[[float], float]) -> Callable[[float], float]:
    def rounded(a: float) -> float:
        try:
            return numbers.round_to(function(a), "f32")
        except OverflowError:
            return math.inf
        except (ValueError, ZeroDivisionError):
            return math.nan

    return rounded


def _logarithm(a: float) -> float:
    return -math.inf if a == 0 else math.log2(a)


def _root_below(a: float) -> float:
    return math.copysign(math.inf, a) if a == 0 else 1 / math.sqrt(a)


def _function(name: str, function: Callable[[float], float], within: float) -> Case:
    """An approximation of a function of one float32."""
    return Case(f"{name}.approx.f32 {{d}}, {{a}};", ("f32",), ("f32",), _to_f32(function), within=within)


def _approximate() -> list[Case]:
    flush = numbers.flushed
    two = ("f32", "f32")
    small = tuple(numbers.pattern(numbers.round_to(x / 16, "f32"), "f32") for x in range(-50, 51))
    return [
        *(
            Case(
                f"div.{how}.f32 {{d}}, {{a}}, {{b}};",
                ("f32",),
                two,
                lambda a, b: numbers.divide(a, b, "f32"),
                within=2.0**-22,
                values=(small[1:], small[:-1]),
            )
            for how in ("full", "approx")
        ),
        Case(
            "rcp.approx.ftz.f32 {d}, {a};",
            ("f32",),
            ("f32",),
            lambda a: flush(numbers.divide(1.0, flush(a), "f32")),
            within=2.0**-22,
        ),
        Case(
            "sqrt.approx.f32 {d}, {a};",
            ("f32",),
            ("f32",),
            lambda a: numbers.root(a, "f32", "rn"),
            within=2.0**-22,
        ),
        _function("rsqrt", _root_below, 2.0**-22),
        Case(
            "rsqrt.approx.f64 {d}, {a};",
            ("f64",),
            ("f64",),
            lambda a: math.nan if a < 0 else _root_below(a),
            within=2.0**-21,
            values=(tuple(numbers.pattern(x, "f64") for x in (0.0, 1.0, 2.0, 1e10, 3.5, -1.0, math.inf)),),
        ),
        *(
            replace(_function(name, function, 2.0**-18), values=(small,))
            for name, function in (("sin", math.sin), ("cos", math.cos))
        ),
        _function("ex2", lambda a: 2.0**a, 2.0**-21),
        _function("lg2", _logarithm, 2.0**-20),
        _function("tanh", math.tanh, 2.0**-10),
    ]


def _normal(least: float, a: float) -> bool:
    return math.isfinite(a) and (abs(a) >= least or a == 0)


def _subnormal(least: float, a: float) -> bool:
    return 0 < abs(a) < least


def _classes() -> list[Case]:
    found = []
    for kind, least in (("f32", 2.0**-126), ("f64", 2.0**-1022)):
        tests: dict[str, Callable[[float], bool]] = {
            "finite": math.isfinite,
            "infinite": math.isinf,
            "number": lambda a: not math.isnan(a),
            "notanumber": math.isnan,
            "normal": partial(_normal, least),
            "subnormal": partial(_subnormal, least),
        }
        for name, question in tests.items():
            found.append(Case(f"testp.{name}.{kind} {{d}}, {{a}};", ("pred",), (kind,), question))
    return found


CASES = [*_rounded(), *_exact(), *_modified(), *_approximate(), *_classes()]


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_the_result_is_the_exact_one_rounded_once(case: Case) -> None:
    """In every direction, for subnormal, infinite and signed zero operands; approximations stay close."""
    check(case)
