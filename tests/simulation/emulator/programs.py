"""Random PTX programs whose result does not depend on the order in which threads run.

Each thread works on registers of every kind, on its own slots of four global buffers and on a local
array; threads meet only across barriers, in shuffles and votes, and in atomics whose order does not show, all
in uniform control flow or with the mask of those that branched the same way. What PTX leaves open (division
by zero, the payload of a NaN seen as an integer) does not occur. `statements` has what a program is made of.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.simulation.emulator.statements import (
    OF_SOME,
    PREDICATE,
    SIMPLE,
    TALLY,
    TOGETHER,
    WARP,
    WORD_REGISTER,
)

if TYPE_CHECKING:
    from collections.abc import Callable

THREADS = 14
"""Threads per block, 7 x 2: not a whole warp."""

INTS, REALS = 4, 4
"""Data registers of each kind, and slots per thread in each buffer."""

_HEADER = f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 ints, .param .u64 longs, .param .u64 floats, .param .u64 doubles)
{{
    .reg .pred %p<4>, %done<8>;
    .reg .b32 %r<{INTS}>, %t<8>, %count<8>, %own, %other, %linear, %mine, %mask;
    .reg .b16 %h<4>;
    .reg .b64 %q<{INTS}>, %ints, %longs, %floats, %doubles, %slot, %local, %a<3>;
    .reg .f32 %f<{REALS}>;
    .reg .f64 %d<{REALS}>;
    .shared .align 4 .b8 tile[{4 * THREADS}];
    .shared .align 16 .b8 slots[{16 * THREADS}];
    .shared .align 4 .b8 total[4];
    .local .align 8 .b8 depot[16];
    mov.u32 %t0, %ctaid.x;
    mov.u32 %t1, %tid.y;
    mov.u32 %t2, %tid.x;
    mad.lo.s32 %t3, %t1, 7, %t2;
    mad.lo.s32 %linear, %t0, {THREADS}, %t3;
    mov.u32 %t4, tile;
    shl.b32 %t5, %t3, 2;
    add.s32 %own, %t4, %t5;
    sub.s32 %t6, {4 * (THREADS - 1)}, %t5;
    add.s32 %other, %t4, %t6;
    mov.u32 %t4, slots;
    mad.lo.s32 %mine, %t3, 16, %t4;
    mov.u64 %a0, depot;
    cvta.local.u64 %local, %a0;
    setp.lt.s32 %p0, %t2, 3;
    setp.ne.s32 %p1, %t1, 0;
    setp.eq.s32 %p2|%p3, %t0, 0;
"""


def _prologue() -> list[str]:
    lines = [_HEADER]
    for name, size in (("ints", 4), ("longs", 8), ("floats", 4), ("doubles", 8)):
        lines += [
            f"ld.param.u64 %a0, [{name}];",
            "cvta.to.global.u64 %a1, %a0;",
            f"mul.wide.s32 %a2, %linear, {size * INTS};",
            f"add.s64 %{name}, %a1, %a2;",
        ]
    lines += [
        f"ld.{space} %{kind}{n}, [%{name}+{size * n}];"
        for name, kind, space, size in _BUFFERS
        for n in range(INTS)
    ]
    lines += [f"st.local.u32 [depot+{4 * n}], %r{n};" for n in range(4)]
    lines += [f"st.shared.u32 [%mine+{4 * n}], %r{n};" for n in range(4)]
    return [*lines, *(f"cvt.rn.f16.f32 %h{n}, %f{n};" for n in range(4))]


def _epilogue() -> list[str]:
    stores = [
        f"st.{space} [%{name}+{size * n}], %{kind}{n};"
        for name, kind, space, size in _BUFFERS
        for n in range(INTS)
    ]
    return ["cvt.f32.f16 %f2, %h2;", "cvt.f32.f16 %f3, %h3;", *stores, "ret;", "}"]


_BUFFERS = (
    ("ints", "r", "global.u32", 4),
    ("longs", "q", "u64", 8),
    ("floats", "f", "global.f32", 4),
    ("doubles", "d", "global.f64", 8),
)

UNIFORM = ["exchange", "together", "tally", "warp", "warp", "some"]
"""Operations that only all threads of a block, or of a warp, can do."""


@dataclass
class _Writer:
    """Draws statements; labels are numbered."""

    draw: Callable[[st.SearchStrategy[object]], object]
    labels: int = 0
    lines: list[str] = field(default_factory=list)

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def block(self, depth: int, *, uniform: bool) -> None:
        for _ in range(self.draw(st.integers(1, 5))):  # type: ignore[call-overload]
            self.statement(depth, uniform=uniform)

    def statement(self, depth: int, *, uniform: bool) -> None:
        shapes = ["simple"] * 5 + ["guarded"] + (["if", "else", "loop"] if depth < 3 else [])
        shape = self.draw(st.sampled_from(shapes + (UNIFORM if uniform and depth < 2 else [])))
        if shape in ("simple", "guarded"):
            guard = self.draw(st.sampled_from(["@%p0 ", "@!%p1 ", "@%p3 "])) if shape == "guarded" else ""
            self.lines += [f"{guard}{line}" for line in self.draw(SIMPLE)]  # type: ignore[attr-defined]
        elif shape in ("exchange", "tally", "warp", "some"):
            getattr(self, shape)()
        elif shape in ("loop", "together"):
            self.loop(depth, uniform=shape == "together")
        else:
            self.branch(depth, both=shape == "else")

    def branch(self, depth: int, *, both: bool) -> None:
        otherwise, end = self.label(), self.label()
        self.lines.append(f"@{self.draw(PREDICATE)} bra {otherwise};")
        self.block(depth + 1, uniform=False)
        self.lines += [f"bra.uni {end};", f"{otherwise}:"]
        if both:
            self.block(depth + 1, uniform=False)
        self.lines.append(f"{end}:")

    def loop(self, depth: int, *, uniform: bool) -> None:
        """At most three turns, as many for all threads or by what a register of each holds."""
        begin, end = self.label(), self.label()
        trips = "mov.u32 %count{0}, 2;" if uniform else f"and.b32 %count{{0}}, {self.draw(WORD_REGISTER)}, 3;"
        self.lines += [
            trips.format(depth),
            f"{begin}:",
            f"setp.eq.s32 %done{depth}, %count{depth}, 0;",
            f"@%done{depth} bra {end};",
        ]
        self.block(depth + 1, uniform=uniform)
        self.lines += [f"sub.s32 %count{depth}, %count{depth}, 1;", f"bra {begin};", f"{end}:"]

    def exchange(self) -> None:
        """Every thread gives a word to the one opposite."""
        given, taken = self.draw(WORD_REGISTER), self.draw(WORD_REGISTER)
        self.lines += [
            f"st.shared.u32 [%own], {given};",
            "bar.sync 0;",
            f"ld.shared.u32 {taken}, [%other];",
            "bar.sync 0;",
        ]

    def tally(self) -> None:
        """One word that every thread of the block adds to."""
        tally: tuple[str, str, str] = self.draw(TALLY)  # type: ignore[assignment]
        form, given, taken = tally
        self.lines += [
            "mov.u32 %t6, total;",
            "mov.u32 %t7, 5;",
            "st.shared.u32 [%t6], %t7;",
            "bar.sync 0;",
            f"red.shared.{form} [%t6], {given};",
            "bar.sync 0;",
            f"ld.shared.u32 {taken}, [%t6];",
            "bar.sync 0;",
        ]

    def warp(self) -> None:
        """A shuffle, a vote, a match or a reduction of the whole warp."""
        self.lines += self.draw(TOGETHER)  # type: ignore[arg-type]

    def some(self) -> None:
        """Those for whom a predicate holds do something together; perhaps the others do as well."""
        predicate, otherwise, end = self.draw(PREDICATE), self.label(), self.label()
        self.lines += [
            f"vote.sync.ballot.b32 %mask, {predicate}, {WARP};",
            f"@{predicate} bra {otherwise};",
            f"xor.b32 %mask, %mask, {WARP};",
            *self.draw(OF_SOME),  # type: ignore[misc]
            f"bra.uni {end};",
            f"{otherwise}:",
            *self.draw(OF_SOME),
            f"{end}:",
        ]


@st.composite
def programs(draw: Callable[[st.SearchStrategy[object]], object]) -> str:
    """The text of a PTX module with one entry, ``kernel``."""
    writer = _Writer(draw)
    writer.block(0, uniform=True)
    writer.block(0, uniform=True)
    leave = ["@%p1 ret;"] if draw(st.booleans()) else []
    return "\n".join([*_prologue(), *writer.lines, *leave, *_epilogue()])
