"""Logic, shifts and bit fields against loops over bits."""

from __future__ import annotations

import pytest

from tests.emulator.instructions.harness import Case, check, names
from tests.emulator.instructions.numbers import WIDTHS

_B = ("b16", "b32", "b64")


def _shift_left(a: int, by: int, bits: int) -> int:
    return a << by if by < bits else 0


def _bit_field(a: int, start: int, length: int, bits: int, *, signed: bool) -> int:
    start, length = start & 255, length & 255
    raw = a & ((1 << bits) - 1)
    sign = raw >> min(start + length - 1, bits - 1) & 1 if signed and length else 0
    result = 0
    for place in range(bits):
        inside = place < length and start + place < bits
        result |= (raw >> (start + place) & 1 if inside else sign) << place
    return result


def _insert(a: int, b: int, start: int, length: int, bits: int) -> int:
    for place in range(length & 255):
        at = (start & 255) + place
        if at < bits:
            b = b & ~(1 << at) | (a >> place & 1) << at
    return b


def _permute(a: int, b: int, selector: int) -> int:
    both, result = a | b << 32, 0
    for place in range(4):
        nibble = selector >> 4 * place & 15
        byte = both >> 8 * (nibble & 7) & 255
        if nibble & 8:
            byte = 255 if byte & 128 else 0
        result |= byte << 8 * place
    return result


def _table(a: int, b: int, c: int, table: int) -> int:
    return sum((table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32))


def _funnel(a: int, b: int, by: int, *, left: bool, wrap: bool) -> int:
    amount = by & 31 if wrap else min(by, 32)
    both = a | b << 32
    return (both << amount) >> 32 if left else both >> amount


def _find(a: int, bits: int) -> int:
    a = ~a if a < 0 else a
    return (a & ((1 << bits) - 1)).bit_length() - 1


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


def _counting() -> list[Case]:
    found = []
    for n in (32, 64):
        kind = f"b{n}"
        found += [
            Case(f"popc.{kind} {{d}}, {{a}};", ("u32",), (kind,), lambda a: a.bit_count()),
            Case(f"clz.{kind} {{d}}, {{a}};", ("u32",), (kind,), lambda a, n=n: n - a.bit_length()),
            Case(f"brev.{kind} {{d}}, {{a}};", (kind,), (kind,), lambda a, n=n: int(f"{a:0{n}b}"[::-1], 2)),
        ]
        for kind in (f"u{n}", f"s{n}"):
            found += [
                Case(f"bfind.{kind} {{d}}, {{a}};", ("u32",), (kind,), lambda a, n=n: _find(a, n)),
                Case(
                    f"bfind.shiftamt.{kind} {{d}}, {{a}};",
                    ("u32",),
                    (kind,),
                    lambda a, n=n: -1 if (place := _find(a, n)) < 0 else n - 1 - place,
                ),
                Case(
                    f"and.b32 {{b}}, {{b}}, 255;\nand.b32 {{c}}, {{c}}, 255;\n"
                    f"bfe.{kind} {{d}}, {{a}}, {{b}}, {{c}};",
                    (kind,),
                    (kind, "u32", "u32"),
                    lambda a, b, c, n=n, s=kind[0] == "s": _bit_field(a, b, c, n, signed=s),
                ),
            ]
        found.append(
            Case(
                f"and.b32 {{c}}, {{c}}, 255;\nand.b32 {{x}}, {{x}}, 255;\n"
                f"bfi.b{n} {{d}}, {{a}}, {{b}}, {{c}}, {{x}};",
                (f"b{n}",),
                (f"b{n}", f"b{n}", "u32", "u32"),
                lambda a, b, c, x, n=n: _insert(a, b, c, x, n),
            )
        )
    return found


CASES = [
    *_per_width(),
    *_counting(),
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
    Case("prmt.b32 {d}, {a}, {b}, {c};", ("b32",), ("b32",) * 3, _permute),
    Case("prmt.b32 {d}, {a}, {b}, 0x7531;", ("b32",), ("b32",) * 2, lambda a, b: _permute(a, b, 0x7531)),
]


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_the_result_is_that_of_a_loop_over_bits(case: Case) -> None:
    """Also for shifts beyond the width and fields that hang over the end."""
    check(case)
