"""Integer instructions and those on bits, against their definition for one lane.

A definition gets those of R1, R2 and R3 that the row names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.simulation.sass.listing import UnknownCodeError
from tests.simulation.sass.rows import execute, lanes, sources

if TYPE_CHECKING:
    from collections.abc import Callable

M = 0xFFFFFFFF
EDGES = (0, 1, 2, 5, 31, 32, 33, 63, 64, 0x7F, 0x80, 0xFF, 0x7FFF_FFFF, 0x8000_0000, 0xDEAD_BEEF, M - 1, M)
words = st.lists(st.one_of(st.sampled_from(EDGES), st.integers(0, M)), min_size=32, max_size=32)


def s(x: int) -> int:
    """A word as a signed number."""
    return x - (1 << 32) if x >> 31 else x


def shifted(x: int, by: int) -> int:
    """A word shifted to the right with its sign."""
    return s(x) >> by & M


def lut(a: int, b: int, c: int, table: int) -> int:
    """LOP3, bit by bit."""
    bits = (table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1 for i in range(32))
    return sum(bit << i for i, bit in enumerate(bits))


def permuted(a: int, b: int, selector: int) -> int:
    """PRMT, byte by byte."""
    source = (a | b << 32).to_bytes(8, "little")
    chosen = (
        source[n & 7] if n < 8 else 255 * (source[n & 7] >> 7)
        for n in ((selector >> 4 * i) & 15 for i in range(4))
    )
    return int.from_bytes(bytes(chosen), "little")


def extended(a: int, n: int) -> int:
    """SGXT: the lowest bits with their sign."""
    n = min(n, 32)
    low = a & ((1 << n) - 1)
    return (low - (1 << n) if n and low >> n - 1 else low) & M


PURE: dict[str, Callable[..., Any]] = {
    "IADD3 R4, R1, R2, R3": lambda a, b, c: a + b + c,
    "IADD3 R4, R1, -R2, R3": lambda a, b, c: a - b + c,
    "IADD3 R4, -R1, 0x10, RZ": lambda a: 16 - a,
    "VIADD R4, R1, 0xffffffff": lambda a: a - 1,
    "VIADD.16x2 R4, R1, -R2": lambda a, b: (a - b & 0xFFFF) | ((a >> 16) - (b >> 16) & 0xFFFF) << 16,
    "IMAD R4, R1, R2, R3": lambda a, b, c: a * b + c,
    "IMAD R4, R1, R2, -R3": lambda a, b, c: a * b - c,
    "IMAD.IADD R4, R1, 0x1, R2": lambda a, b: a + b,
    "IMAD.MOV.U32 R4, RZ, RZ, R1": lambda a: a,
    "IMAD.SHL.U32 R4, R1, 0x8, RZ": lambda a: a * 8,
    "IMAD.HI.U32 R4, R1, R2, RZ": lambda a, b: a * b >> 32,
    "IMAD.HI R4, R1, R2, RZ": lambda a, b: s(a) * s(b) >> 32,
    "LEA R4, R1, R2, 0x3": lambda a, b: (a << 3) + b,
    "LEA.HI R4, R1, R2, RZ, 0x5": lambda a, b: (a >> 27) + b,
    "LEA.HI R4, R1, R2, R3, 0x5": lambda a, b, c: ((c << 32 | a) << 5 >> 32) + b,
    "LEA.HI.SX32 R4, R1, R2, 0x5": lambda a, b: (s(a) << 5 >> 32) + b,
    "SHF.L.U32 R4, R1, R2, RZ": lambda a, b: a << b if b < 32 else 0,
    "SHF.R.U32.HI R4, RZ, R2, R1": lambda a, b: a >> b if b < 32 else 0,
    "SHF.R.S32.HI R4, RZ, R2, R1": lambda a, b: shifted(a, min(b, 31)),
    "SHF.L.W.U32.HI R4, R1, R2, R1": lambda a, b: a << b % 32 | a >> 32 - b % 32,
    "SHF.R.W.U32 R4, R1, R2, R1": lambda a, b: a >> b % 32 | a << 32 - b % 32,
    "SHF.L.U64.HI R4, R1, R2, R3": lambda a, b, c: (c << 32 | a) << b >> 32 if b < 64 else 0,
    "SHF.R.U64 R4, R1, R2, R3": lambda a, b, c: (c << 32 | a) >> min(b, 64),
    "SHF.R.S64 R4, R1, R2, R3": lambda a, b, c: (s(c) << 32 | a) >> min(b, 63),
    "LOP3.LUT R4, R1, R2, R3, 0x96, !PT": lambda a, b, c: a ^ b ^ c,
    "LOP3.LUT R4, R1, R2, R3, 0xe8, !PT": lambda a, b, c: (a & b) | (b & c) | (a & c),
    "LOP3.LUT R4, R1, R2, R3, 0x1b, !PT": lambda a, b, c: lut(a, b, c, 0x1B),
    "LOP3.LUT R4, R1, R2, RZ, 0xc0, !PT": lambda a, b: a & b,
    "PRMT R4, R1, 0x9910, R2": lambda a, b: permuted(a, b, 0x9910),
    "PRMT R4, R1, R3, R2": permuted,
    "POPC R4, R1": int.bit_count,
    "BREV R4, R1": lambda a: int(f"{a:032b}"[::-1], 2),
    "IABS R4, R1": lambda a: -s(a) if s(a) < 0 else a,
    "FLO.U32 R4, R1": lambda a: a.bit_length() - 1,
    "FLO.U32.SH R4, R1": lambda a: 32 - a.bit_length() if a else M,
    "FLO R4, R1": lambda a: (~a & M if a >> 31 else a).bit_length() - 1,
    "SGXT R4, R1, 0x8": lambda a: extended(a, 8),
    "SGXT R4, R1, R2": extended,
    "SGXT.U32 R4, R1, R2": lambda a, b: a & ((1 << min(b, 32)) - 1),
    "BMSK R4, R1, R2": lambda a, b: ((1 << min(b, 32)) - 1) << (a & 31),
    "IMNMX R4, R1, R2, PT": lambda a, b: min(s(a), s(b)),
    "IMNMX.U32 R4, R1, R2, !PT": max,
    "VIMNMX3 R4, R1, R2, R3, PT": lambda a, b, c: min(s(a), s(b), s(c)),
    "VIADDMNMX R4, R1, R2, RZ, !PT": lambda a, b: max(s(a + b & M), 0),
    "VABSDIFF.U32 R4, R1, R2, R3": lambda a, b, c: abs(a - b) + c,
    "VABSDIFF4.U8.ACC R4, R1, R2, R3": lambda a, b, c: (
        sum(abs(x - y) for x, y in zip(a.to_bytes(4), b.to_bytes(4), strict=True)) + c
    ),
    "IDP.4A.U8.U8 R4, R1, R2, R3": lambda a, b, c: (
        sum(x * y for x, y in zip(a.to_bytes(4), b.to_bytes(4), strict=True)) + c
    ),
    "SEL R4, R1, R2, P0": lambda _a, b: b,
    "MOV R4, R1": lambda a: a,
    "P2R R4, PR, R1, 0x7": lambda a: a & ~7,
}


@pytest.mark.parametrize("row", PURE)
@settings(max_examples=6, deadline=None)
@given(a=words, b=words, c=words)
def test_a_word_is_what_its_definition_gives(row: str, a: list[int], b: list[int], c: list[int]) -> None:
    """For edges and random words, in every lane."""
    m = execute(row, registers={1: np.array(a, "u4"), 2: np.array(b, "u4"), 3: np.array(c, "u4")})
    function = PURE[row]
    count = sources(row)
    wanted = [function(*operands[:count]) & M for operands in zip(a, b, c, strict=True)]
    assert lanes(m, 4).tolist() == wanted


@settings(max_examples=10, deadline=None)
@given(a=words, b=words, c=words, d=words)
def test_sums_differences_and_comparisons_of_64_bits(
    a: list[int], b: list[int], c: list[int], d: list[int]
) -> None:
    """A carry goes from the lower to the upper halves, in IADD3, IMAD, LEA and ISETP."""
    registers = {number: np.array(value, "u4") for number, value in enumerate((a, b, c, d), 1)}
    m = execute(
        "IADD3 R10, P0, R1, R3, RZ",
        "IADD3.X R11, R2, R4, RZ, P0, !PT",
        "IADD3 R12, P0, R1, -R3, RZ",
        "IADD3.X R13, R2, ~R4, RZ, P0, !PT",
        "IADD3 R14, P0, R1, R3, RZ",
        "IMAD.X R15, R2, 0x1, R4, P0",
        "LEA R16, P0, R1, R3, 0x2",
        "LEA.HI.X R17, R1, R4, R2, 0x2, P0",
        "IMAD.WIDE.U32 R18, P1, R1, R2, R4",
        "IADD3 R20, P0, P1, R1, R2, R3",
        "IADD3.X R21, RZ, RZ, RZ, P0, P1",
        "ISETP.LT.U32.AND P2, PT, R1, R3, PT",
        "ISETP.LT.AND.EX P2, P3, R2, R4, PT, P2",
        "ISETP.NE.U32.AND P4, PT, R1, R3, PT",
        "ISETP.NE.AND.EX P4, PT, R2, R4, PT, P4",
        registers={**registers, 5: np.array(d, "u4")},
    )
    for lane in range(32):
        x, y = a[lane] | b[lane] << 32, c[lane] | d[lane] << 32
        signed = [value - (1 << 64) if value >> 63 else value for value in (x, y)]
        pair = [int(lanes(m, low)[lane]) | int(lanes(m, low + 1)[lane]) << 32 for low in (10, 12, 14, 16, 18)]
        mask = (1 << 64) - 1
        product = a[lane] * b[lane] + (d[lane] | d[lane] << 32)
        assert pair == [x + y & mask, x - y & mask, x + y & mask, (x << 2) + y & mask, product & mask]
        assert int(lanes(m, 20)[lane]) | int(lanes(m, 21)[lane]) << 32 == a[lane] + b[lane] + c[lane]
        truths = [bool(np.broadcast_to(m.predicates[p], 32)[lane]) for p in (2, 3, 4)]
        assert truths == [signed[0] < signed[1], signed[0] >= signed[1], x != y]


@pytest.mark.parametrize("table", range(0, 256, 37))
def test_predicates_are_joined_by_a_table(table: int) -> None:
    """PLOP3: for all eight combinations."""
    lane = np.arange(32)
    given_truths = {number: (lane >> shift & 1).astype(bool) for number, shift in ((0, 2), (1, 1), (2, 0))}
    m = execute(f"PLOP3.LUT P3, PT, P0, P1, P2, {table:#x}, 0x0", predicates=given_truths)
    assert m.predicates[3].tolist() == [bool(table >> (number & 7) & 1) for number in lane]


def test_predicates_go_to_bits_and_back() -> None:
    """R2P and P2R, with a byte of the word."""
    bits = np.arange(32, dtype="u4")
    m = execute("R2P PR, R1.B1, 0x1f", "P2R R4, PR, RZ, 0x1f", registers={1: bits << np.uint32(8)})
    assert lanes(m, 4).tolist() == bits.tolist()


def test_uniform_registers_are_one_for_the_warp() -> None:
    """All lanes of the warp read what some of them write; a word comes from the first lane that is active."""
    low = np.arange(32) < 4
    m = execute(
        "@!P0 BRA `(.L_1)", "R2UR UR4, R1", "UIADD3 UR4, UR4, 0x1, URZ", ".L_1:", "IMAD.U32 R4, RZ, RZ, UR4",
        registers={1: np.full(32, 41, "u4")}, predicates={0: low},
    )  # fmt: skip
    assert lanes(m, 4).tolist() == [42] * 32


@pytest.mark.parametrize(
    "row",
    [
        "IADD3.SAT R4, R1, R2, R3",
        "PRMT.F4E R4, R1, R2, R3",
        "SEL.X R4, R1, R2, P0",
        "IMAD.SAT R4, R1, R2, R3",
    ],
)
def test_a_modifier_that_is_not_known_is_refused(row: str) -> None:
    """A wrong trace is worth less than none."""
    with pytest.raises(UnknownCodeError, match=row.split(maxsplit=1)[0]):
        execute(row)
