"""Results of the tensor cores, whether PTX leaves them open or defines them exactly, and refused forms."""

from __future__ import annotations

import numpy as np
import pytest

from grader.base.errors import UnsupportedPtx
from tests.simulation.emulator.instructions.fragment_kernel import Bits, registers_after, run_with


def _one_product(form: str, a: Bits, b: Bits, c: Bits) -> Bits:
    """``d`` of lane 0, where every lane holds the same registers: one number is one entry of the product."""
    names = [
        ", ".join(f"{name}{n}" for n in range(len(array)))
        for name, array in zip("dabc", (c, a, b, c), strict=True)
    ]
    body = f"mma.sync.aligned.{form} {{{names[0]}}}, {{{names[1]}}}, {{{names[2]}}}, {{{names[3]}}};"
    same = {name: np.tile(array, (64, 1)) for name, array in zip("abc", (a, b, c), strict=True)}
    every = registers_after(body, same, (len(c), f"b{8 * c.itemsize}"))
    lane: Bits = every[0]
    return lane


def _singles(*numbers: float) -> Bits:
    return np.array(numbers, "f4").view("u4")


def _pairs(*numbers: float) -> Bits:
    return np.array(numbers, "f2").view("u4")


def test_a_tf32_operand_is_truncated_to_ten_bits() -> None:
    """4 (1 + 2**-10 + 2**-11) 1 is 4 (1 + 2**-10): the rest of the mantissa does not count."""
    long = 1 + 2.0**-10 + 2.0**-11
    got = _one_product(
        "m16n8k4.row.col.f32.tf32.tf32.f32", _singles(long, long), _singles(1), _singles(*[0] * 4)
    )
    assert got.view("f4").tolist() == [4 * (1 + 2.0**-10)] * 4


def test_a_half_sum_is_rounded_once() -> None:
    """2048 + 8 (0.25) is 2050 in f16; a sum rounded after each addition would stay at 2048."""
    got = _one_product(
        "m16n8k8.row.col.f16.f16.f16.f16", _pairs(*[0.5] * 4), _pairs(0.5, 0.5), _pairs(*[2048] * 4)
    )
    assert got.view("f2").tolist() == [2050] * 4


def test_a_single_sum_is_rounded_once() -> None:
    """2**24 + 8 (0.25) is 2**24 + 2 in f32."""
    got = _one_product(
        "m16n8k8.row.col.f32.f16.f16.f32", _pairs(*[0.5] * 4), _pairs(0.5, 0.5), _singles(*[2.0**24] * 4)
    )
    assert got.view("f4").tolist() == [2.0**24 + 2] * 4


def test_an_undefined_sum_is_the_canonical_nan() -> None:
    """Infinity times zero: 0x7fffffff."""
    got = _one_product(
        "m16n8k4.row.col.f32.tf32.tf32.f32", _singles(np.inf, 1), _singles(0), _singles(*[0] * 4)
    )
    assert got.tolist() == [0x7FFFFFFF, 0x7FFFFFFF, 0, 0]


@pytest.mark.parametrize(("words", "expected"), [("", -(2**31) + 16 * 4 - 1), (".satfinite", 2**31 - 1)])
def test_an_integer_sum_wraps_or_saturates(words: str, expected: int) -> None:
    """2**31 - 1 + 16 (2 * 2)."""
    twos, most = np.full(1, 0x02020202, "u4"), np.full(2, 2**31 - 1, "u4")
    got = _one_product(f"m8n8k16.row.col{words}.s32.s8.s8.s32", twos, twos, most)
    assert got.view("i4").tolist() == [expected] * 2


def test_signed_and_unsigned_bytes_may_meet() -> None:
    """16 (255 * -1)."""
    ones = np.full(1, 0xFFFFFFFF, "u4")
    got = _one_product("m8n8k16.row.col.s32.u8.s8.s32", ones, ones, np.zeros(2, "u4"))
    assert got.view("i4").tolist() == [-16 * 255] * 2


REFUSED = [
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {d0, d1}, {a0, a1}, {a0, a1}, {a0, a1};",
    "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {d0, d1}, {a0}, {a0}, {a0, a1};",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {d0, d1}, {a0, a1}, {a0}, {a0, a1};",
    "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {d0, d1}, {a0, a1}, {a0, a1}, {d0, d1}, a0, 0;",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rz {d0, d1}, {a0}, {a0}, {a0, a1};",
    "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {d0, d1}, {a0}, {a0}, {d0, d1};",
    "wmma.load.a.sync.aligned.row.m8n8k32.s4 {d0}, [%p], 32;",
    "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {d0, d1}, [%i];",
    "movmatrix.sync.aligned.m8n8.b16 d0, a0;",
]


@pytest.mark.parametrize("text", REFUSED, ids=[text.split(" ")[0] for text in REFUSED])
def test_what_is_not_interpreted_is_refused_as_our_limit(text: str) -> None:
    """Sub-byte and 8-bit floating types, sparse matrices, the quarter-warp product of Volta."""
    with pytest.raises(UnsupportedPtx, match=text.split(" ", maxsplit=1)[0]):
        run_with(text, {"a": np.zeros((32, 2), "u4")}, (2, "b32"), threads=32)
