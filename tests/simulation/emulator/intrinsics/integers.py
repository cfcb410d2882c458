"""Integer intrinsics (`device_functions.h`, `sm_20_intrinsics.h` and later) as Python integers."""

from __future__ import annotations

from tests.simulation.emulator.intrinsics.tables import Table

ONES = 0xFFFFFFFF


def signed(number: int, bits: int = 32) -> int:
    """The low bits of a number as a two's complement one."""
    number &= (1 << bits) - 1
    return number - (1 << bits) if number >> (bits - 1) else number


def quotient(a: int, b: int) -> int:
    """Division towards zero; of anything by zero all ones, as devices give."""
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def reversed_bits(a: int, bits: int) -> int:
    """The bits in reverse order."""
    return int(f"{a:0{bits}b}"[::-1], 2)


def permuted(a: int, b: int, selector: int) -> int:
    """`__byte_perm`: four bytes of b:a."""
    table = (b << 32 | a).to_bytes(8, "little")
    return int.from_bytes(bytes(table[selector >> 4 * n & 7] for n in range(4)), "little")


def pieces(a: int, bits: int, *, sign: bool) -> list[int]:
    """A word as its bytes or halves."""
    parts = [a >> start & ((1 << bits) - 1) for start in range(0, 32, bits)]
    return [signed(part, bits) if sign else part for part in parts]


def nth_set(mask: int, base: int, offset: int) -> int:
    """`__fns`: the place of the offset-th set bit from ``base`` on, upwards or downwards."""
    base &= 31
    if offset == 0:
        return base if mask >> base & 1 else ONES
    places = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [place for place in places if mask >> place & 1]
    return found[abs(offset) - 1] if abs(offset) <= len(found) else ONES


UNSIGNED = Table(
    "unsigned_words",
    ("u32", "u32", "u32"),
    "u32",
    {
        "__brev(a)": lambda a, _b, _c: reversed_bits(a, 32),
        "__byte_perm(a, b, c)": permuted,
        "__funnelshift_l(a, b, c)": lambda a, b, c: (b << 32 | a) << (c & 31) >> 32,
        "__funnelshift_r(a, b, c)": lambda a, b, c: (b << 32 | a) >> (c & 31),
        "__funnelshift_lc(a, b, c)": lambda a, b, c: (b << 32 | a) << min(c, 32) >> 32,
        "__funnelshift_rc(a, b, c)": lambda a, b, c: (b << 32 | a) >> min(c, 32),
        "__umulhi(a, b)": lambda a, b, _c: a * b >> 32,
        "__umul24(a, b)": lambda a, b, _c: (a & 0xFFFFFF) * (b & 0xFFFFFF),
        "__usad(a, b, c)": lambda a, b, c: abs(a - b) + c,
        "__uhadd(a, b)": lambda a, b, _c: a + b >> 1,
        "__urhadd(a, b)": lambda a, b, _c: a + b + 1 >> 1,
        "__popc(a) + __clz(b) + __ffs(c)": lambda a, b, c: (
            a.bit_count() + 32 - b.bit_length() + (c & -c).bit_length()
        ),
        "min(a, b) ^ max(b, c)": lambda a, b, c: min(a, b) ^ max(b, c),
        "a / (b | 1) + a % (c | 1)": lambda a, b, c: a // (b | 1) + a % (c | 1),
        "__dp4a(a, b, c)": lambda a, b, c: (
            sum(x * y for x, y in zip(pieces(a, 8, sign=False), pieces(b, 8, sign=False), strict=True)) + c
        ),
        "__dp2a_lo(a, b, c)": lambda a, b, c: (
            sum(x * y for x, y in zip(pieces(a, 16, sign=False), pieces(b, 8, sign=False)[:2], strict=True))
            + c
        ),
        "__dp2a_hi(a, b, c)": lambda a, b, c: (
            sum(x * y for x, y in zip(pieces(a, 16, sign=False), pieces(b, 8, sign=False)[2:], strict=True))
            + c
        ),
        "(a & b) | (~a & c)": lambda a, b, c: (a & b) | (~a & c),
        "(a & b) ^ (b | ~c) ^ (a & c)": lambda a, b, c: (a & b) ^ (b | ~c) ^ (a & c),
        "a << (b & 31) | a >> (-b & 31)": lambda a, b, _c: a << (b & 31) | a >> (-b & 31),
        "!a": lambda a, _b, _c: not a,
        "__fns(a, b & 31, (int)(c % 9) - 4)": lambda a, b, c: nth_set(a, b & 31, c % 9 - 4),
        "(a >> 5) & 0x7ff": lambda a, _b, _c: a >> 5 & 0x7FF,
        "__nv_bswap32(a)": lambda a, _b, _c: int.from_bytes(a.to_bytes(4, "little"), "big"),
    },
)

SIGNED = Table(
    "signed_words",
    ("s32", "s32", "s32"),
    "s32",
    {
        "__mulhi(a, b)": lambda a, b, _c: a * b >> 32,
        "__mul24(a, b)": lambda a, b, _c: signed(a, 24) * signed(b, 24),
        "__sad(a, b, (unsigned)c)": lambda a, b, c: abs(a - b) + c,
        "__hadd(a, b)": lambda a, b, _c: a + b >> 1,
        "__rhadd(a, b)": lambda a, b, _c: a + b + 1 >> 1,
        "abs(a) + min(b, c)": lambda a, b, c: abs(a) + min(b, c),
        "b ? a / b : 0": lambda a, b, _c: quotient(a, b) if b else 0,
        "b ? a % b : 0": lambda a, b, _c: a - quotient(a, b) * b if b else 0,
        "a / 7 + b / -3 + c % 10": lambda a, b, c: (
            quotient(a, 7) + quotient(b, -3) + c - quotient(c, 10) * 10
        ),
        "__dp4a(a, b, c)": lambda a, b, c: (
            sum(x * y for x, y in zip(pieces(a, 8, sign=True), pieces(b, 8, sign=True), strict=True)) + c
        ),
        "__viaddmin_s32(a, b, c)": lambda a, b, c: min(signed(a + b), c),
        "__vimax_s32_relu(a, b)": lambda a, b, _c: max(a, b, 0),
        "__vimin3_s32_relu(a, b, c)": lambda a, b, c: max(min(a, b, c), 0),
        "a >> (b & 31)": lambda a, b, _c: a >> (b & 31),
        "(a << 12) >> 20": lambda a, _b, _c: signed(a << 12) >> 20,
        "__clz(a) - __popc(b)": lambda a, b, _c: 32 - (a & ONES).bit_length() - (b & ONES).bit_count(),
        "(a > b) - (a < b)": lambda a, b, _c: (a > b) - (a < b),
        "(short)a * (signed char)b + (unsigned char)c": lambda a, b, c: (
            signed(a, 16) * signed(b, 8) + (c & 255)
        ),
    },
)

LONG = Table(
    "long_words",
    ("u64", "u64", "s64"),
    "u64",
    {
        "__brevll(a)": lambda a, _b, _c: reversed_bits(a, 64),
        "__popcll(a) + __clzll(b) * 100 + __ffsll(c) * 10000": lambda a, b, c: (
            a.bit_count() + (64 - b.bit_length()) * 100 + (c & -c).bit_length() * 10000
        ),
        "__umul64hi(a, b)": lambda a, b, _c: a * b >> 64,
        "__mul64hi((long long)a, c)": lambda a, _b, c: signed(a, 64) * c >> 64,
        "a / (b | 1) + a % (b | 1)": lambda a, b, _c: a // (b | 1) + a % (b | 1),
        "c / 1000 + c % 7": lambda _a, _b, c: quotient(c, 1000) + c - quotient(c, 7) * 7,
        "a << (b & 63) | a >> (-b & 63)": lambda a, b, _c: a << (b & 63) | a >> (-b & 63),
        "c >> (b & 63)": lambda _a, b, c: c >> (b & 63),
        "(unsigned long long)((unsigned __int128)a * b >> 40)": lambda a, b, _c: a * b >> 40,
        "(unsigned long long)(((unsigned __int128)a << 64 | b) / ((a >> 1) | 3))": lambda a, b, _c: (
            (a << 64 | b) // (a >> 1 | 3)
        ),
        "min(a, b) + max((long long)a, c)": lambda a, b, c: min(a, b) + max(signed(a, 64), c),
    },
)

TABLES = (UNSIGNED, SIGNED, LONG)
