"""SIMD in a word (`simd_functions.h`): four bytes or two halves at once, as Python integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.emulator.intrinsics.integers import pieces
from tests.simulation.emulator.intrinsics.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    Piecewise = Callable[[int, int], int]


def _each(function: Piecewise, bits: int, *, sign: bool) -> Callable[[int, int, int], int]:
    def whole(a: int, b: int, _c: int) -> int:
        parts = zip(pieces(a, bits, sign=sign), pieces(b, bits, sign=sign), strict=True)
        mask = (1 << bits) - 1
        return sum((function(x, y) & mask) << place * bits for place, (x, y) in enumerate(parts))

    return whole


def _limit(low: int, high: int) -> Callable[[int], int]:
    return lambda number: max(low, min(high, number))


def _of_width(bits: int, suffix: str) -> dict[str, Callable[[int, int, int], int]]:
    clamp_signed, clamp_unsigned = _limit(-(1 << bits - 1), (1 << bits - 1) - 1), _limit(0, (1 << bits) - 1)
    unsigned: dict[str, Piecewise] = {
        "vadd": lambda x, y: x + y,
        "vsub": lambda x, y: x - y,
        "vaddus": lambda x, y: clamp_unsigned(x + y),
        "vsubus": lambda x, y: clamp_unsigned(x - y),
        "vabsdiffu": lambda x, y: abs(x - y),
        "vavgu": lambda x, y: x + y + 1 >> 1,
        "vhaddu": lambda x, y: x + y >> 1,
        "vmaxu": max,
        "vminu": min,
        "vcmpeq": lambda x, y: -(x == y),
        "vcmpne": lambda x, y: -(x != y),
        "vcmpgtu": lambda x, y: -(x > y),
        "vcmpleu": lambda x, y: -(x <= y),
        "vseteq": lambda x, y: x == y,
        "vsetltu": lambda x, y: x < y,
        "vsetgeu": lambda x, y: x >= y,
    }
    with_sign: dict[str, Piecewise] = {
        "vaddss": lambda x, y: clamp_signed(x + y),
        "vsubss": lambda x, y: clamp_signed(x - y),
        "vabsdiffs": lambda x, y: abs(x - y),
        "vavgs": lambda x, y: (x + y + (x + y >= 0)) >> 1,
        "vmaxs": max,
        "vmins": min,
        "vcmpgts": lambda x, y: -(x > y),
        "vcmplts": lambda x, y: -(x < y),
        "vsetges": lambda x, y: x >= y,
    }
    alone: dict[str, Piecewise] = {
        "vabs": lambda x, _y: abs(x),
        "vabsss": lambda x, _y: clamp_signed(abs(x)),
        "vneg": lambda x, _y: -x,
        "vnegss": lambda x, _y: clamp_signed(-x),
    }
    found = {f"__{name}{suffix}(a, b)": _each(f, bits, sign=False) for name, f in unsigned.items()}
    found |= {f"__{name}{suffix}(a, b)": _each(f, bits, sign=True) for name, f in with_sign.items()}
    return found | {f"__{name}{suffix}(a)": _each(f, bits, sign=True) for name, f in alone.items()}


def _differences(a: int, b: int, bits: int, *, sign: bool) -> int:
    return sum(
        abs(x - y) for x, y in zip(pieces(a, bits, sign=sign), pieces(b, bits, sign=sign), strict=True)
    )


BYTES = Table(
    "bytes_in_words",
    ("u32", "u32", "u32"),
    "u32",
    {
        **_of_width(8, "4"),
        "__vsadu4(a, b)": lambda a, b, _c: _differences(a, b, 8, sign=False),
        "__vsads4(a, b)": lambda a, b, _c: _differences(a, b, 8, sign=True),
    },
)
HALVES = Table(
    "halves_in_words",
    ("u32", "u32", "u32"),
    "u32",
    {
        **_of_width(16, "2"),
        "__vsadu2(a, b)": lambda a, b, _c: _differences(a, b, 16, sign=False),
        "__viaddmax_s16x2(a, b, c)": lambda a, b, c: _each(max, 16, sign=True)(
            _each(lambda x, y: x + y, 16, sign=True)(a, b, 0), c, 0
        ),
        "__vimax_s16x2_relu(a, b)": _each(lambda x, y: max(x, y, 0), 16, sign=True),
        "__vimin3_u16x2(a, b, c)": lambda a, b, c: _each(min, 16, sign=False)(
            _each(min, 16, sign=False)(a, b, 0), c, 0
        ),
    },
)

TABLES = (BYTES, HALVES)
