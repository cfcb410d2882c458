"""Logic and shifts against loops over bits."""

from __future__ import annotations

import pytest

from tests.simulation.emulator.instructions.harness import Case, check, names
from tests.simulation.emulator.instructions.numbers import WIDTHS

_B = ("b16", "b32", "b64")


def _shift_left(a: int, by: int, bits: int) -> int:
    return a << by if by < bits else 0


def _table(a: int, b: int, c: int, table: int) -> int:
    return sum((table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32))


def _funnel(a: int, b: int, by: int, *, left: bool, wrap: bool) -> int:
    amount = by & 31 if wrap else min(by, 32)
    both = a | b << 32
    return (both << amount) >> 32 if left else both >> amount


def _per_width() -> list[Case]:
    found = []
    for kind in _B:
        n = WIDTHS[kind]
        found += [
            Case(f"and.{kind} {{d}}, {{a}}, {{b}};", (kind,), (kind, kind), lambda a, b: a & b),
            Case(f"or.{kind} {{d}}, {{a}}, {{b}};", (kind,), (kind, kind), lambda a, b: a | b),
            Case(f"xor.{kind} {{d}}, {{a}}, {{b}};", (kind,), (kind, kind), lambda a, b: a ^ b),
            Case(f"not.{kind} {{d}}, {{a}};", (kind,), (kind,), lambda a: ~a),
            Case(f"cnot.{kind} {{d}}, {{a}};", (kind,), (kind,), lambda a: int(a == 0)),
            Case(
                f"shl.{kind} {{d}}, {{a}}, {{b}};",
                (kind,),
                (kind, "u32"),
                lambda a, b, n=n: _shift_left(a, b, n),
            ),
            Case(f"shl.{kind} {{d}}, {{a}}, 5;", (kind,), (kind,), lambda a: a << 5),
            Case(f"shl.{kind} {{d}}, {{a}}, 77;", (kind,), (kind,), lambda _a: 0),
        ]
        for signed in (f"u{n}", f"s{n}", kind):
            found += [
                Case(
                    f"shr.{signed} {{d}}, {{a}}, {{b}};",
                    (signed,),
                    (signed, "u32"),
                    lambda a, b, n=n: a >> min(b, n),
                ),
                Case(f"shr.{signed} {{d}}, {{a}}, 3;", (signed,), (signed,), lambda a: a >> 3),
            ]
    found += [
        Case(f"{opcode}.pred {{d}}, {{a}}, {{b}};", ("pred",), ("pred", "pred"), function)
        for opcode, function in (
            ("and", lambda a, b: a & b),
            ("or", lambda a, b: a | b),
            ("xor", lambda a, b: a ^ b),
        )
    ]
    return [*found, Case("not.pred {d}, {a};", ("pred",), ("pred",), lambda a: 1 - a)]


CASES = [
    *_per_width(),
    *(
        Case(
            f"shf.{way}.{mode}.b32 {{d}}, {{a}}, {{b}}, {{c}};",
            ("b32",),
            ("b32", "b32", "u32"),
            lambda a, b, c, way=way, mode=mode: _funnel(a, b, c, left=way == "l", wrap=mode == "wrap"),
        )
        for way in "lr"
        for mode in ("wrap", "clamp")
    ),
    *(
        Case(
            f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table};",
            ("b32",),
            ("b32",) * 3,
            lambda a, b, c, t=table: _table(a, b, c, t),
        )
        for table in (0, 0x96, 0xE8, 0xF8, 0x2A, 0xFF)
    ),
]


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_the_result_is_that_of_a_loop_over_bits(case: Case) -> None:
    """Also for shifts beyond the width and fields that hang over the end."""
    check(case)
