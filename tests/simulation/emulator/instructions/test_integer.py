"""Integer arithmetic against Python's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.simulation.emulator.instructions.harness import Case, check, names
from tests.simulation.emulator.instructions.numbers import WIDTHS

if TYPE_CHECKING:
    from collections.abc import Callable

ALL = ("u16", "s16", "u32", "s32", "u64", "s64")


def _quotient(a: int, b: int) -> int:
    if b == 0:
        return -1
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def _remainder(a: int, b: int) -> int:
    return -1 if b == 0 else a - _quotient(a, b) * b


def _clamp(value: int) -> int:
    return max(-(2**31), min(2**31 - 1, value))


def _cases(
    opcode: str, arity: int, function: Callable[..., int], kinds: tuple[str, ...] = ALL, result: str = ""
) -> list[Case]:
    letters = ", ".join(["{d}", "{a}", "{b}", "{c}"][: arity + 1])
    return [Case(f"{opcode}.{k} {letters};", (result or k,), (k,) * arity, function) for k in kinds]


def _wide(kind: str) -> str:
    return kind[0] + str(2 * WIDTHS[kind])


def _twenty_four(value: int, kind: str) -> int:
    low = value & 0xFFFFFF
    return low - (1 << 24) if kind == "s32" and low >> 23 else low


def _bytes(value: int, size: int, kind: str) -> list[int]:
    parts = [value >> start & ((1 << size) - 1) for start in range(0, 32, size)]
    return [p - (1 << size) if kind == "s32" and p >> (size - 1) else p for p in parts]


def _products() -> list[Case]:
    found = []
    for kind in ALL:
        bits = WIDTHS[kind]
        found += [
            Case(f"mul.lo.{kind} {{d}}, {{a}}, {{b}};", (kind,), (kind, kind), lambda a, b: a * b),
            Case(
                f"mul.hi.{kind} {{d}}, {{a}}, {{b}};", (kind,), (kind, kind), lambda a, b, n=bits: a * b >> n
            ),
            Case(
                f"mad.lo.{kind} {{d}}, {{a}}, {{b}}, {{c}};", (kind,), (kind,) * 3, lambda a, b, c: a * b + c
            ),
            Case(
                f"mad.hi.{kind} {{d}}, {{a}}, {{b}}, {{c}};",
                (kind,),
                (kind,) * 3,
                lambda a, b, c, n=bits: (a * b >> n) + c,
            ),
        ]
        if bits < 64:
            wide = _wide(kind)
            found += [
                Case(f"mul.wide.{kind} {{d}}, {{a}}, {{b}};", (wide,), (kind, kind), lambda a, b: a * b),
                Case(
                    f"mad.wide.{kind} {{d}}, {{a}}, {{b}}, {{c}};",
                    (wide,),
                    (kind, kind, wide),
                    lambda a, b, c: a * b + c,
                ),
            ]
    return found


def _short_products() -> list[Case]:
    found = []
    for kind in ("u32", "s32"):
        for half, shift in (("lo", 0), ("hi", 16)):

            def product(a: int, b: int, c: int = 0, kind: str = kind, shift: int = shift) -> int:
                return (_twenty_four(a, kind) * _twenty_four(b, kind) >> shift) + c

            found.append(Case(f"mul24.{half}.{kind} {{d}}, {{a}}, {{b}};", (kind,), (kind, kind), product))
            found.append(
                Case(f"mad24.{half}.{kind} {{d}}, {{a}}, {{b}}, {{c}};", (kind,), (kind,) * 3, product)
            )
    return found


def _dot_products() -> list[Case]:
    found = []
    for first in ("u32", "s32"):
        for second in ("u32", "s32"):
            types = f"{first}.{second}"

            def of_bytes(a: int, b: int, c: int, first: str = first, second: str = second) -> int:
                pairs = zip(_bytes(a, 8, first), _bytes(b, 8, second), strict=True)
                return c + sum(x * y for x, y in pairs)

            found.append(
                Case(f"dp4a.{types} {{d}}, {{a}}, {{b}}, {{c}};", ("u32",), ("u32", "u32", "s32"), of_bytes)
            )
            for half, start in (("lo", 0), ("hi", 2)):

                def of_pairs(
                    a: int, b: int, c: int, first: str = first, second: str = second, start: int = start
                ) -> int:
                    pairs = zip(_bytes(a, 16, first), _bytes(b, 8, second)[start:], strict=False)
                    return c + sum(x * y for x, y in pairs)

                text = f"dp2a.{half}.{types} {{d}}, {{a}}, {{b}}, {{c}};"
                found.append(Case(text, ("u32",), ("u32", "u32", "s32"), of_pairs))
    return found


def _carries() -> list[Case]:
    found = []
    for bits in (32, 64):
        kind, double = f"u{bits}", (1 << 2 * bits) - 1

        def wide(low: int, high: int, bits: int = bits) -> int:
            return low | high << bits

        def parts(value: int, bits: int = bits, ones: int = double) -> tuple[int, int]:
            return value & ones & ((1 << bits) - 1), (value & ones) >> bits

        four, both = (kind,) * 4, (kind, kind)
        found += [
            Case(
                f"add.cc.{kind} {{d}}, {{a}}, {{c}};\naddc.{kind} {{e}}, {{b}}, {{x}};",
                both,
                four,
                lambda a, b, c, x, wide=wide, parts=parts: parts(wide(a, b) + wide(c, x)),
            ),
            Case(
                f"sub.cc.{kind} {{d}}, {{a}}, {{c}};\nsubc.{kind} {{e}}, {{b}}, {{x}};",
                both,
                four,
                lambda a, b, c, x, wide=wide, parts=parts: parts(wide(a, b) - wide(c, x)),
            ),
            Case(
                f"sub.cc.{kind} {{d}}, {{a}}, {{c}};\nsubc.cc.{kind} {{e}}, {{b}}, {{x}};\n"
                f"addc.{kind} {{d}}, 0, 0;",  # the carry is set where nothing was borrowed
                both,
                four,
                lambda a, b, c, x, wide=wide, n=bits: (
                    int(wide(a, b) >= wide(c, x)),
                    (wide(a, b) - wide(c, x)) >> n,
                ),
            ),
            Case(
                f"mad.lo.cc.{kind} {{d}}, {{a}}, {{b}}, {{c}};\nmadc.hi.{kind} {{e}}, {{a}}, {{b}}, {{x}};",
                both,
                four,
                lambda a, b, c, x, wide=wide, parts=parts: parts(a * b + wide(c, x)),
            ),
            Case(
                f"add.cc.{kind} {{d}}, {{a}}, {{b}};\naddc.cc.{kind} {{e}}, {{c}}, {{x}};\n"
                f"addc.{kind} {{d}}, 0, 0;",
                both,
                four,
                lambda a, b, c, x, n=bits: (((a + b >> n) + c + x) >> n, (a + b >> n) + c + x),
            ),
        ]
    return found


CASES = [
    *_cases("add", 2, lambda a, b: a + b),
    *_cases("sub", 2, lambda a, b: a - b),
    *_cases("add.sat", 2, lambda a, b: _clamp(a + b), ("s32",)),
    *_cases("sub.sat", 2, lambda a, b: _clamp(a - b), ("s32",)),
    *_cases("mad.hi.sat", 3, lambda a, b, c: _clamp((a * b >> 32) + c), ("s32",)),
    *_cases("div", 2, _quotient),
    *_cases("rem", 2, _remainder),
    *_cases("abs", 1, abs, ("s16", "s32", "s64")),
    *_cases("neg", 1, lambda a: -a, ("s16", "s32", "s64")),
    *_cases("min", 2, min),
    *_cases("max", 2, max),
    *_cases("sad", 3, lambda a, b, c: c + abs(a - b)),
    *_products(),
    *_short_products(),
    *_dot_products(),
    *_carries(),
]


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_the_result_is_that_of_whole_numbers_cut_to_the_type(case: Case) -> None:
    """Every form wraps, clamps or carries exactly as the ISA defines."""
    check(case)
