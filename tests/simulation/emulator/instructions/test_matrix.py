"""Fragments against the formulas of PTX ISA section 9.7.15.5, written out shape by shape, lane by lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest

from grader.model import FindingKind
from tests.simulation.emulator.instructions.fragment_kernel import Bits, registers_after, run_with

if TYPE_CHECKING:
    from collections.abc import Callable

Where: TypeAlias = "Callable[[int, int, int], tuple[int, int]]"
"""Row and column of an element: from groupID, threadID_in_group and its number i."""


@dataclass(frozen=True)
class Shape:
    """A form of `mma`: its extents, and its layouts as section 9.7.15.5 gives them."""

    form: str
    extents: tuple[int, int, int]
    dtypes: tuple[str, str]
    """NumPy's types of an operand's and of an accumulator's elements; ``bf`` and ``tf`` are ours."""
    a: Where
    b: Where
    counts: tuple[int, int, int]
    """Elements of A, B and C that a lane holds."""


def _c(group: int, member: int, i: int) -> tuple[int, int]:
    """Of every shape here: c0 and c1 in row groupID, c2 and c3 eight rows down."""
    return group + 8 * (i >= 2), member * 2 + (i & 1)


HALF_A_8 = (lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1))), 4
HALF_A_16 = (lambda g, t, i: (g if i < 2 or 4 <= i < 6 else g + 8, t * 2 + (i & 1) + (8 if i >= 4 else 0))), 8
HALF_B = lambda g, t, i: (t * 2 + (i & 1) + (8 if i >= 2 else 0), g)  # noqa: E731 - a formula
TF_A_4 = (lambda g, t, i: (g if i == 0 else g + 8, t)), 2
TF_A_8 = (lambda g, t, i: (g if i in (0, 2) else g + 8, t if i < 2 else t + 4)), 4
TF_B = lambda g, t, i: (t if i == 0 else t + 4, g)  # noqa: E731 - a formula
BYTE_A_16 = (lambda g, t, i: (g if i < 4 else g + 8, t * 4 + (i & 3))), 8
BYTE_A_32 = (
    (lambda g, t, i: (g if i < 4 or 8 <= i < 12 else g + 8, t * 4 + (i & 3) + (16 if i >= 8 else 0))),
    16,
)
BYTE_B = lambda g, t, i: (t * 4 + (i & 3) + (16 if i >= 4 else 0), g)  # noqa: E731 - a formula


def _shape(form: str, dtypes: tuple[str, str], a: tuple[Where, int], b: tuple[Where, int]) -> Shape:
    m, rest = form.split(".", maxsplit=1)[0][1:].split("n")
    n, k = rest.split("k")
    extents = (int(m), int(n), int(k))
    return Shape(form, extents, dtypes, a[0], b[0], (a[1], b[1], int(m) * int(n) // 32))


SHAPES = [
    _shape("m16n8k8.row.col.f32.f16.f16.f32", ("f2", "f4"), HALF_A_8, (HALF_B, 2)),
    _shape("m16n8k8.row.col.f16.f16.f16.f16", ("f2", "f2"), HALF_A_8, (HALF_B, 2)),
    _shape("m16n8k16.row.col.f32.f16.f16.f32", ("f2", "f4"), HALF_A_16, (HALF_B, 4)),
    _shape("m16n8k16.row.col.f16.f16.f16.f16", ("f2", "f2"), HALF_A_16, (HALF_B, 4)),
    _shape("m16n8k8.row.col.f32.bf16.bf16.f32", ("bf", "f4"), HALF_A_8, (HALF_B, 2)),
    _shape("m16n8k16.row.col.f32.bf16.bf16.f32", ("bf", "f4"), HALF_A_16, (HALF_B, 4)),
    _shape("m16n8k4.row.col.f32.tf32.tf32.f32", ("f4", "f4"), TF_A_4, (TF_B, 1)),
    _shape("m16n8k8.row.col.f32.tf32.tf32.f32", ("f4", "f4"), TF_A_8, (TF_B, 2)),
    _shape("m8n8k16.row.col.s32.s8.s8.s32", ("i1", "i4"), (lambda g, t, i: (g, t * 4 + i), 4), (BYTE_B, 4)),
    _shape("m16n8k16.row.col.s32.u8.u8.s32", ("u1", "i4"), BYTE_A_16, (BYTE_B, 4)),
    _shape("m16n8k32.row.col.s32.s8.s8.s32", ("i1", "i4"), BYTE_A_32, (BYTE_B, 8)),
    _shape("m16n8k32.row.col.satfinite.s32.u8.u8.s32", ("u1", "i4"), BYTE_A_32, (BYTE_B, 8)),
    _shape("m8n8k4.row.col.f64.f64.f64.f64", ("f8", "f8"), (lambda g, t, _i: (g, t), 1), (TF_B, 1)),
    _shape("m16n8k4.row.col.f64.f64.f64.f64", ("f8", "f8"), TF_A_4, (TF_B, 1)),
    _shape("m16n8k8.row.col.f64.f64.f64.f64.rn", ("f8", "f8"), TF_A_8, (TF_B, 2)),
    _shape(
        "m16n8k16.row.col.f64.f64.f64.f64",
        ("f8", "f8"),
        (lambda g, t, i: (g + 8 * (i % 2), t + (i * 2 if i % 2 == 0 else i * 2 - 2)), 8),
        (lambda g, t, i: (t + 4 * i, g), 4),
    ),
]


def _registers(matrices: Bits, where: Where, count: int, dtype: str) -> Bits:
    """The fragments of two matrices, of a warp each, as registers: shape (64, registers)."""
    cells = np.zeros((64, count), "f4" if dtype == "bf" else dtype)
    for thread in range(64):
        for i in range(count):
            cells[thread, i] = matrices[thread // 32][where(thread % 32 // 4, thread % 4, i)]
    if dtype == "bf":
        cells = (cells.view("u4") >> np.uint32(16)).astype("u2")
    return cells.view(f"u{max(4, cells.itemsize)}")


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.form for shape in SHAPES])
def test_mma_finds_every_element_where_the_isa_places_it(shape: Shape) -> None:
    """Two warps at once; whole numbers, which every type holds exactly, so that all sums are exact."""
    (m, n, k), (operand, accumulator) = shape.extents, shape.dtypes
    draw = np.random.default_rng(len(shape.form))
    low = 0 if operand == "u1" else -9
    a, b = draw.integers(low, 10, (2, m, k)), draw.integers(low, 10, (2, k, n))
    c = draw.integers(-9, 10, (2, m, n))
    fragments = {
        "a": _registers(a, shape.a, shape.counts[0], operand),
        "b": _registers(b, shape.b, shape.counts[1], operand),
        "c": _registers(c, _c, shape.counts[2], accumulator),
    }
    expected = _registers(a @ b + c, _c, shape.counts[2], accumulator)
    lists = {
        name: ", ".join(f"{name}{n}" for n in range(array.shape[1])) for name, array in fragments.items()
    }
    body = (
        f"mma.sync.aligned.{shape.form} {{{lists['c'].replace('c', 'd')}}},"
        f" {{{lists['a']}}}, {{{lists['b']}}}, {{{lists['c']}}};"
    )
    got = registers_after(body, fragments, (expected.shape[1], f"b{8 * expected.itemsize}"))
    assert np.array_equal(got, expected)


def _halves(draw: np.random.Generator, *shape: int) -> Bits:
    return draw.integers(0, 1 << 16, shape).astype("u2")


def _fragment(matrices: Bits) -> Bits:
    """8 x 8 matrices of b16, shape (warps, numbers, 8, 8), as ldmatrix hands them out: (lanes, numbers)."""
    warps, count = matrices.shape[:2]
    rows = matrices.reshape(warps, count, 32, 2)  # lane t holds elements 2 (t % 4) and the next of row t / 4
    return np.ascontiguousarray(rows.transpose(0, 2, 1, 3)).view("u4").reshape(32 * warps, count)


TILE = ".shared .align 16 .b8 tile[2048]; .reg .b32 %s, %w; .reg .b64 %g;"
OWN_ROW = "mov.u32 %s, tile; shl.b32 %w, %i, 4; add.u32 %s, %s, %w;"
"""In ``%s`` the address of 16 bytes for each thread."""
FILL = "st.shared.v4.b32 [%s], {a0, a1, a2, a3};"


@pytest.mark.parametrize("space", [".shared", ""])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix_hands_out_the_rows_that_lanes_point_to(count: int, space: str, *, transposed: bool) -> None:
    """Lanes 8 i to 8 i + 7 point to the rows of matrix i; with .trans a lane gets a column's elements."""
    rows = _halves(np.random.default_rng(count), 2, 4, 8, 8)
    words = f"x{count}{'.trans' if transposed else ''}{space}.b16"
    results = ", ".join(f"d{number}" for number in range(count))
    address = "%s" if space else "%g"
    body = (
        f"{TILE} {OWN_ROW} {FILL} bar.sync 0; cvt.u64.u32 %g, %s; cvta.shared.u64 %g, %g;"
        f"ldmatrix.sync.aligned.m8n8.{words} {{{results}}}, [{address}];"
    )
    got = registers_after(body, {"a": rows.reshape(64, 8).view("u4")}, (count, "b32"))
    chosen = rows[:, :count].transpose(0, 1, 3, 2) if transposed else rows[:, :count]
    assert np.array_equal(got, _fragment(np.ascontiguousarray(chosen)))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_stmatrix_stores_what_ldmatrix_would_load(count: int, *, transposed: bool) -> None:
    """Rows that no lane points to keep what they held."""
    matrices, before = _halves(np.random.default_rng(count), 2, count, 8, 8), np.zeros((2, 4, 8, 8), "u2")
    words = f"x{count}{'.trans' if transposed else ''}.shared.b16"
    sources = ", ".join(f"b{number}" for number in range(count))
    body = (
        f"{TILE} {OWN_ROW} {FILL} bar.sync 0;"
        f"stmatrix.sync.aligned.m8n8.{words} [%s], {{{sources}}}; bar.sync 0;"
        "ld.shared.v4.b32 {d0, d1, d2, d3}, [%s];"
    )
    operands = {"a": before.reshape(64, 8).view("u4"), "b": _fragment(matrices)}
    got = registers_after(body, operands, (4, "b32")).view("u2").reshape(2, 4, 8, 8)
    before[:, :count] = matrices.transpose(0, 1, 3, 2) if transposed else matrices
    assert np.array_equal(got, before)


def test_movmatrix_transposes_in_registers() -> None:
    """The elements of row 5 that a lane holds become part of column 5."""
    matrices = _halves(np.random.default_rng(3), 2, 1, 8, 8)
    got = registers_after(
        "movmatrix.sync.aligned.m8n8.trans.b16 d0, a0;", {"a": _fragment(matrices)}, (1, "b32")
    )
    assert np.array_equal(got, _fragment(np.ascontiguousarray(matrices.transpose(0, 1, 3, 2))))


def test_wmma_without_a_stride_takes_the_rows_as_they_follow_each_other() -> None:
    """An accumulator loaded row by row and stored column by column is transposed."""
    matrix = np.random.default_rng(6).integers(1 << 32, size=(16, 16)).astype("u4")
    registers = ", ".join(f"%f{number}" for number in range(8))
    body = (
        ".shared .align 32 .b8 tile[1024]; .reg .f32 %f<8>; .reg .b32 %s, %w;"
        "mov.u32 %s, tile; shl.b32 %w, %i, 5; add.u32 %w, %s, %w;"
        "st.shared.v4.b32 [%w], {a0, a1, a2, a3}; st.shared.v4.b32 [%w+16], {a4, a5, a6, a7}; bar.sync 0;"
        f"wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {{{registers}}}, [tile]; bar.sync 0;"
        f"wmma.store.d.sync.aligned.col.m16n16k16.shared::cta.f32 [%s], {{{registers}}}; bar.sync 0;"
        "ld.shared.v4.b32 {d0, d1, d2, d3}, [%w]; ld.shared.v4.b32 {d4, d5, d6, d7}, [%w+16];"
    )
    got = registers_after(body, {"a": matrix.reshape(32, 8)}, (8, "b32"), threads=32)
    assert np.array_equal(got.reshape(16, 16), matrix.T)


APART = "setp.lt.u32 %q, %i, 16; @%q bra $LOW; {high} bra.uni $END; $LOW: {low} $END:"


def test_lanes_that_arrive_apart_take_part_together() -> None:
    """Half the warp comes to the instruction by another way."""
    matrices = _halves(np.random.default_rng(4), 1, 1, 8, 8)
    body = (
        APART.format(high="mov.u32 %mask, 1;", low="mov.u32 %mask, 2;")
        + "movmatrix.sync.aligned.m8n8.trans.b16 d0, a0;"
    )
    got = registers_after(body, {"a": _fragment(matrices)}, (1, "b32"), threads=32)
    assert np.array_equal(got, _fragment(np.ascontiguousarray(matrices.transpose(0, 1, 3, 2))))


LONELY = [
    "movmatrix.sync.aligned.m8n8.trans.b16 d0, a0;",
    f"{TILE} {OWN_ROW} ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{d0}}, [%s];",
]


@pytest.mark.parametrize("text", LONELY, ids=["movmatrix", "ldmatrix"])
def test_lanes_that_never_come_are_reported(text: str) -> None:
    """The lower half of the warp waits at a barrier instead, and with it who points to the rows."""
    body = APART.format(low="bar.sync 0;", high=f"{text} bar.sync 0;")
    done = run_with(body, {"a": np.zeros((32, 1), "u4")}, (1, "b32"), threads=32)
    assert [finding.kind for finding in done.findings] == [FindingKind.BARRIER_DIVERGENCE]
    assert "all 32" in done.findings[0].message
