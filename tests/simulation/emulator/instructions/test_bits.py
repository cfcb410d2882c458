"""Counting, finding and moving bits against loops over bits."""

from __future__ import annotations

import pytest

from tests.simulation.emulator.instructions.harness import Case, check, names


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


def _find(a: int, bits: int) -> int:
    a = ~a if a < 0 else a
    return (a & ((1 << bits) - 1)).bit_length() - 1


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


PICKS = {
    "f4e": ((3, 2, 1, 0), (4, 3, 2, 1), (5, 4, 3, 2), (6, 5, 4, 3)),
    "b4e": ((5, 6, 7, 0), (6, 7, 0, 1), (7, 0, 1, 2), (0, 1, 2, 3)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((3, 2, 1, 0), (3, 2, 1, 1), (3, 2, 2, 2), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (1, 1, 1, 0), (2, 2, 1, 0), (3, 2, 1, 0)),
    "rc16": ((1, 0, 1, 0), (3, 2, 3, 2), (1, 0, 1, 0), (3, 2, 3, 2)),
}
"""The bytes that each mode of `prmt` picks, highest first, as the table of the ISA has them."""


def _picked(a: int, b: int, bytes_: tuple[int, ...]) -> int:
    both = a | b << 32
    return sum((both >> 8 * byte & 255) << 8 * (3 - place) for place, byte in enumerate(bytes_))


def _nth(mask: int, base: int, offset: int) -> int:
    """The loop of the ISA."""
    if offset == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    place, count, step = base, abs(offset) - 1, 1 if offset > 0 else -1
    while 0 <= place < 32:
        if mask >> place & 1:
            if count == 0:
                return place
            count -= 1
        place += step
    return 0xFFFFFFFF


def _mask(start: int, width: int, *, wrap: bool) -> int:
    start, width = (start & 31, width & 31) if wrap else (min(start, 32), min(width, 32))
    return sum(1 << place for place in range(32) if start <= place < start + width)


def _extend(a: int, width: int, *, signed: bool, wrap: bool) -> int:
    width = width & 31 if wrap else min(width, 32)
    low = a & ((1 << width) - 1)
    return low - (1 << width) if signed and width and low >> (width - 1) else low


CASES = [
    *_counting(),
    Case("prmt.b32 {d}, {a}, {b}, {c};", ("b32",), ("b32",) * 3, _permute),
    Case("prmt.b32 {d}, {a}, {b}, 0x7531;", ("b32",), ("b32",) * 2, lambda a, b: _permute(a, b, 0x7531)),
    *(
        Case(
            f"prmt.b32.{mode} {{d}}, {{a}}, {{b}}, {{c}};",
            ("b32",),
            ("b32",) * 3,
            lambda a, b, c, table=table: _picked(a, b, table[c & 3]),
        )
        for mode, table in PICKS.items()
    ),
    *(
        Case(
            f"and.b32 {{b}}, {{b}}, 31;\nfns.b32 {{d}}, {{a}}, {{b}}, {offset};",
            ("b32",),
            ("b32", "u32"),
            lambda a, b, offset=offset: _nth(a, b & 31, offset),
        )
        for offset in (0, 1, 2, 5, 33, -1, -3, -40)
    ),
    *(
        Case(
            f"bmsk.{mode}.b32 {{d}}, {{a}}, {{b}};",
            ("b32",),
            ("u32", "u32"),
            lambda a, b, wrap=mode == "wrap": _mask(a, b, wrap=wrap),
        )
        for mode in ("clamp", "wrap")
    ),
    *(
        Case(
            f"szext.{mode}.{kind} {{d}}, {{a}}, {{b}};",
            (kind,),
            (kind, "u32"),
            lambda a, b, s=kind == "s32", wrap=mode == "wrap": _extend(a, b, signed=s, wrap=wrap),
        )
        for mode in ("clamp", "wrap")
        for kind in ("s32", "u32")
    ),
]


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_the_result_is_that_of_a_loop_over_bits(case: Case) -> None:
    """Also for fields that hang over the end, and for bits that are not there."""
    check(case)
