"""Comparison and selection against Python's operators."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING

import pytest

from tests.simulation.emulator.instructions.harness import Case, check, names
from tests.simulation.emulator.instructions.numbers import flushed

if TYPE_CHECKING:
    from collections.abc import Callable

SIGNED = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
UNSIGNED = SIGNED | {"lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge}


def _nan(a: float, b: float) -> bool:
    return math.isnan(a) or math.isnan(b)


def ordered(name: str) -> Callable[[float, float], bool]:
    """False where an operand is no number."""
    return lambda a, b: not _nan(a, b) and SIGNED[name](a, b)


def unordered(name: str) -> Callable[[float, float], bool]:
    """True where an operand is no number."""
    return lambda a, b: _nan(a, b) or SIGNED[name](a, b)


FLOATING: dict[str, Callable[[float, float], bool]] = {
    **{name: ordered(name) for name in SIGNED},
    **{f"{name}u": unordered(name) for name in SIGNED},
    "num": lambda a, b: not _nan(a, b),
    "nan": _nan,
}


def _setp() -> list[Case]:
    found = []
    relations: list[tuple[str, dict[str, Callable[..., bool]]]] = [
        *((f"s{n}", SIGNED) for n in (16, 32, 64)),
        *((f"u{n}", UNSIGNED) for n in (16, 32, 64)),
        *((f"b{n}", {"eq": operator.eq, "ne": operator.ne}) for n in (16, 32, 64)),
        ("f32", FLOATING),
        ("f64", FLOATING),
    ]
    for kind, table in relations:
        for name, function in table.items():
            text = f"setp.{name}.{kind} {{d}}, {{a}}, {{b}};"
            found.append(Case(text, ("pred",), (kind, kind), lambda a, b, f=function: int(f(a, b))))
    return found


LOGIC: dict[str, Callable[[int, int], int]] = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


def _with_logic() -> list[Case]:
    found = []
    for name, combine in LOGIC.items():
        found += [
            Case(
                f"setp.lt.{name}.s32 {{d}}|{{e}}, {{a}}, {{b}}, {{c}};",
                ("pred", "pred"),
                ("s32", "s32", "pred"),
                lambda a, b, c, f=combine: (f(int(a < b), c), f(int(a >= b), c)),
            ),
            Case(
                f"setp.gt.{name}.f32 {{d}}|{{e}}, {{a}}, {{b}}, !{{c}};",
                ("pred", "pred"),
                ("f32", "f32", "pred"),
                lambda a, b, c, f=combine: (f(int(a > b), 1 - c), f(int(not a > b), 1 - c)),
            ),
            Case(
                f"set.ne.{name}.u32.s32 {{d}}, {{a}}, {{b}}, {{c}};",
                ("u32",),
                ("s32", "s32", "pred"),
                lambda a, b, c, f=combine: -f(int(a != b), c),
            ),
        ]
    return found


CASES = [
    *_setp(),
    *_with_logic(),
    Case(
        "setp.eq.s32 {d}|{e}, {a}, {b};", ("pred",) * 2, ("s32",) * 2, lambda a, b: (int(a == b), int(a != b))
    ),
    Case("setp.eq.s32 _|{d}, {a}, {b};", ("pred",), ("s32",) * 2, lambda a, b: int(a != b)),
    Case(
        "setp.gt.ftz.f32 {d}, {a}, {b};", ("pred",), ("f32",) * 2, lambda a, b: int(flushed(a) > flushed(b))
    ),
    Case("set.lt.u32.f32 {d}, {a}, {b};", ("u32",), ("f32",) * 2, lambda a, b: -int(a < b)),
    Case("set.geu.f32.f64 {d}, {a}, {b};", ("f32",), ("f64",) * 2, lambda a, b: float(not a < b)),
    Case("set.eq.s32.u64 {d}, {a}, {b};", ("s32",), ("u64",) * 2, lambda a, b: -int(a == b)),
    *(
        Case(f"selp.{k} {{d}}, {{a}}, {{b}}, {{c}};", (k,), (k, k, "pred"), lambda a, b, c: a if c else b)
        for k in ("b16", "s16", "u32", "b64", "f32", "f64")
    ),
    Case("selp.u32 {d}, 7, -1, {a};", ("u32",), ("pred",), lambda a: 7 if a else -1),
    Case(
        "slct.u32.s32 {d}, {a}, {b}, {c};",
        ("u32",),
        ("u32", "u32", "s32"),
        lambda a, b, c: a if c >= 0 else b,
    ),
    Case(
        "slct.f64.f32 {d}, {a}, {b}, {c};",
        ("f64",),
        ("f64", "f64", "f32"),
        lambda a, b, c: a if c >= 0 else b,
    ),
    Case(
        "slct.ftz.b64.f32 {d}, {a}, {b}, {c};",
        ("b64",),
        ("b64", "b64", "f32"),
        lambda a, b, c: a if flushed(c) >= 0 else b,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_the_choice_is_that_of_the_comparison(case: Case) -> None:
    """Also for NaN, unsigned extremes and predicates that are combined."""
    check(case)
