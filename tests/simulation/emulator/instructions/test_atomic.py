"""Atomic operations against lanes that take turns, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.model import Argument
from tests.simulation.emulator.instructions import numbers
from tests.simulation.emulator.instructions.harness import HEADER, launch

if TYPE_CHECKING:
    from collections.abc import Callable

THREADS = 256

KERNEL = """
.visible .entry kernel(
    .param .u64 cells, .param .u64 where, .param .u64 first, .param .u64 second, .param .u64 found)
{{
    .shared .align 8 .b8 tile[2048];
    .reg .b32 %i, %n; .reg .b64 %p, %c, %o, %t; .reg .{register} %a, %b, %d; .reg .pred %q;
    mov.u32 %i, %tid.x;
    mul.wide.u32 %o, %i, {size};
    ld.param.u64 %p, [first]; add.s64 %p, %p, %o; ld.global.{load} %a, [%p];
    ld.param.u64 %p, [second]; add.s64 %p, %p, %o; ld.global.{load} %b, [%p];
    mul.wide.u32 %t, %i, 4;
    ld.param.u64 %p, [where]; add.s64 %p, %p, %t; ld.global.u32 %n, [%p];
    mul.wide.u32 %t, %n, {size};
    ld.param.u64 %p, [cells]; add.s64 %c, %p, %t; add.s64 %p, %p, %o;
    {before}
    {instruction}
    {after}
    ld.param.u64 %p, [found]; add.s64 %p, %p, %o;
    st.global.{load} [%p], %d;
    ret;
}}
"""

IN_GLOBAL = {"before": "", "after": ""}
IN_SHARED = {
    "before": "mov.u64 %c, tile; add.s64 %t, %c, %t; add.s64 %o, %c, %o; ld.global.{load} %d, [%p];"
    "st.shared.{load} [%o], %d; bar.sync 0; mov.u64 %c, %t;",
    "after": "bar.sync 0; ld.shared.{load} %b, [%o]; st.global.{load} [%p], %b;mul.wide.u32 %o, %i, {size};",
}

Turn = "Callable[[int | float, int | float, int | float], int | float]"


def _add(kind: str) -> Callable[..., int | float]:
    if kind in numbers.FORMATS:
        return lambda old, a, _b: numbers.add(old, a, kind)
    return lambda old, a, _b: old + a


INTEGERS = ("u32", "s32", "u64", "s64")
OPERATIONS: list[tuple[str, tuple[str, ...], Callable[..., int | float]]] = [
    ("and", ("b32", "b64"), lambda old, a, _b: old & a),
    ("or", ("b32", "b64"), lambda old, a, _b: old | a),
    ("xor", ("b32", "b64"), lambda old, a, _b: old ^ a),
    ("exch", ("b32", "b64"), lambda _old, a, _b: a),
    ("cas", ("b16", "b32", "b64"), lambda old, a, b: b if old == a else old),
    ("min", INTEGERS, lambda old, a, _b: min(old, a)),
    ("max", INTEGERS, lambda old, a, _b: max(old, a)),
    ("inc", ("u32",), lambda old, a, _b: 0 if old >= a else old + 1),
    ("dec", ("u32",), lambda old, a, _b: a if old == 0 or old > a else old - 1),
]
FORMS = [(name, kind, turn) for name, kinds, turn in OPERATIONS for kind in kinds]
FORMS += [("add", kind, _add(kind)) for kind in ("u32", "s32", "u64", "f32", "f64", "f16", "bf16")]
SPREADS = {"one address": 1, "few addresses": 5, "many addresses": 97, "own address": THREADS}


def _operands(kind: str, draw: np.random.Generator) -> list[int]:
    """Patterns: few different ones, so that `cas` meets what it expects, and some edges."""
    pool = [*range(4), *numbers.edges(kind)[:8]]
    if kind in numbers.FORMATS:
        pool = [numbers.pattern(numbers.round_to(x, kind), kind) for x in (0.1, 1.0, -2.5, 1e-3, 7.75, 300.0)]
    return [pool[int(each)] for each in draw.integers(len(pool), size=THREADS)]


def _in_turns(
    kind: str,
    turn: Callable[..., int | float],
    cells: list[int],
    where: list[int],
    operands: tuple[list[int], ...],
) -> tuple[list[int], list[int]]:
    found = []
    for cell, a, b in zip(where, *operands, strict=True):
        found.append(cells[cell])
        values = (numbers.value_of(bits, kind) for bits in (cells[cell], a, b))
        cells[cell] = numbers.pattern(turn(*values), kind)
    return cells, found


def _kernel(instruction: str, kind: str, space: dict[str, str]) -> str:
    width = numbers.WIDTHS[kind]
    register = kind if kind in ("f32", "f64") else f"b{width}"
    fields = {"register": register, "size": str(width // 8), "load": register}
    parts = {name: text.format(**fields) for name, text in space.items()}
    return HEADER + KERNEL.format(instruction=instruction, **fields, **parts)


def _launch(text: str, kind: str, spread: int) -> tuple[list[int], ...]:
    draw = np.random.default_rng(spread)
    dtype = f"u{numbers.WIDTHS[kind] // 8}"
    cells, first, second = (_operands(kind, draw) for _ in range(3))
    where = draw.integers(spread, size=THREADS).tolist()
    if spread == THREADS:
        where = draw.permutation(THREADS).tolist()
    done = launch(
        text,
        (
            Argument("cells", "inout", np.array(cells, dtype)),
            Argument("where", "in", np.array(where, np.uint32)),
            Argument("first", "in", np.array(first, dtype)),
            Argument("second", "in", np.array(second, dtype)),
            Argument("found", "out", np.zeros(THREADS, dtype)),
        ),
        threads=THREADS,
    )
    assert not done.findings, done.findings[0].message
    after, found = (array.tolist() for _, array in done.outputs)
    return cells, where, first, second, after, found


@pytest.mark.parametrize("spread", SPREADS.values(), ids=SPREADS)
@pytest.mark.parametrize("space", ["global", "shared", ""])
@pytest.mark.parametrize(("name", "kind", "turn"), FORMS, ids=[f"{name}.{kind}" for name, kind, _ in FORMS])
def test_lanes_take_turns_in_their_order(
    name: str, kind: str, turn: Callable[..., int | float], space: str, spread: int
) -> None:
    """Memory and results are those of lanes that go one after the other, however many share an address."""
    words = [word for word in (space, name, "noftz" * (kind in ("f16", "bf16")), kind) if word]
    second = ", %b" * (name == "cas")
    text = f"atom.{'.'.join(words)} %d, [%c], %a{second};"
    cells, where, first, other, after, found = _launch(
        _kernel(text, kind, IN_SHARED if space == "shared" else IN_GLOBAL), kind, spread
    )
    expected = _in_turns(kind, turn, list(cells), where, (first, other))
    assert (after, found) == expected


@pytest.mark.parametrize("words", ["red.global.add", "red.relaxed.gpu.global.add", "red.release.sys.add"])
def test_a_reduction_is_an_atomic_without_result(words: str) -> None:
    """`red` changes memory in the same way."""
    text = _kernel(f"{words}.s32 [%c], %a; mov.b32 %d, 0;", "s32", IN_GLOBAL)
    cells, where, first, second, after, _ = _launch(text, "s32", 5)
    assert after == _in_turns("s32", _add("s32"), list(cells), where, (first, second))[0]


def test_the_result_may_be_thrown_away() -> None:
    """The sink `_` takes any result."""
    text = _kernel("atom.acq_rel.gpu.global.max.u32 _, [%c], %a; mov.b32 %d, 0;", "u32", IN_GLOBAL)
    cells, where, first, second, after, _ = _launch(text, "u32", 5)
    turn = {name: turn for name, _, turn in OPERATIONS}["max"]
    assert after == _in_turns("u32", turn, list(cells), where, (first, second))[0]


@pytest.mark.parametrize(("space", "expected"), [("global", 0), ("shared", 2)])
def test_subnormal_numbers_are_flushed_in_global_memory_only(space: str, expected: int) -> None:
    """`atom.add.f32` gives a zero for a subnormal sum there (section 9.7.13.6)."""
    text = _kernel(
        f"atom.{space}.add.f32 %d, [%c], %a;", "f32", IN_SHARED if space == "shared" else IN_GLOBAL
    )
    ones = np.ones(THREADS, np.uint32)
    done = launch(
        text,
        (
            Argument("cells", "inout", ones),
            Argument("where", "in", np.arange(THREADS, dtype=np.uint32)),
            Argument("first", "in", ones),
            Argument("second", "in", ones),
            Argument("found", "out", np.zeros_like(ones)),
        ),
        threads=THREADS,
    )
    assert (done.outputs[0][1] == expected).all()


def test_packed_halves_are_added_each_for_itself() -> None:
    """`atom.add.noftz.f16x2`: no carry from one half to the other."""
    text = _kernel("atom.global.add.noftz.f16x2 %d, [%c], %a;", "b32", IN_GLOBAL)
    cells = np.zeros(THREADS, np.uint32)
    pair = np.full(THREADS, 0x40003C00, np.uint32)  # 1 in the lower half, 2 in the upper one
    done = launch(
        text,
        (
            Argument("cells", "inout", cells),
            Argument("where", "in", cells),
            Argument("first", "in", pair),
            Argument("second", "in", pair),
            Argument("found", "out", cells),
        ),
        threads=THREADS,
    )
    assert done.outputs[0][1].view(np.float16)[:2].tolist() == [256.0, 512.0]
