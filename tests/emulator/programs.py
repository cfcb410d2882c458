"""Random PTX programs whose result does not depend on the order in which threads run.

Each thread works on registers of every kind, on its own slots of four global buffers and on a local
array; threads meet only across barriers in uniform control flow. What PTX leaves open (division by zero,
the payload of a NaN seen as an integer) does not occur.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hypothesis import strategies as st

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
    .reg .b32 %r<{INTS}>, %t<8>, %count<8>, %own, %other, %linear;
    .reg .b64 %q<{INTS}>, %ints, %longs, %floats, %doubles, %slot, %local, %a<3>;
    .reg .f32 %f<{REALS}>;
    .reg .f64 %d<{REALS}>;
    .shared .align 4 .b8 tile[{4 * THREADS}];
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
    return [*lines, *(f"st.local.u32 [depot+{4 * n}], %r{n};" for n in range(4))]


def _epilogue() -> list[str]:
    stores = [
        f"st.{space} [%{name}+{size * n}], %{kind}{n};"
        for name, kind, space, size in _BUFFERS
        for n in range(INTS)
    ]
    return [*stores, "ret;", "}"]


_BUFFERS = (
    ("ints", "r", "global.u32", 4),
    ("longs", "q", "u64", 8),
    ("floats", "f", "global.f32", 4),
    ("doubles", "d", "global.f64", 8),
)

_r, _q, _f, _d, _p = (st.integers(0, 3).map(lambda n, kind=kind: f"%{kind}{n}") for kind in "rqfdp")  # type: ignore[misc]
_word = st.one_of(_r, st.sampled_from([0, 1, -1, 2, 7, 31, 32, 33, 255, 65536, -(2**31), 2**31 - 1]).map(str))
_real = st.one_of(
    _f, st.sampled_from(["0f00000000", "0f80000000", "0f3F800000", "0f00000001", "0f7F7FFFFF", "0fC0490FDB"])
)
_relation = st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"])
_unordered = st.sampled_from(["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"])


def _form(*opcodes: str) -> st.SearchStrategy[str]:
    return st.sampled_from(opcodes)


def _dotted(*parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """``setp.lt.s32`` of a strategy for each part after the first word."""
    return st.tuples(*parts).map(lambda words: ".".join(("setp", *words)))


def _line(*parts: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    """``opcode a, b, c;`` of a strategy for each part."""
    return st.tuples(*parts).map(lambda text: [f"{text[0]} {', '.join(text[1:])};"])


def _division(parts: tuple[str, str, str, str]) -> list[str]:
    opcode, to, dividend, divisor = parts
    return [f"or.b32 %t7, {divisor}, 1;", f"{opcode} {to}, {dividend}, %t7;"]


def _local_access(parts: tuple[str, str, str]) -> list[str]:
    """A slot of the local array that is chosen at run time, through its own or a generic address."""
    how, index, register = parts
    address = [f"and.b32 %t7, {index}, 3;", "mul.wide.u32 %slot, %t7, 4;", "add.s64 %slot, %slot, %local;"]
    return [*address, f"ld.u32 {register}, [%slot];" if how == "ld" else f"st.u32 [%slot], {register};"]


_SIMPLE = st.one_of(
    _line(
        _form("add.s32", "sub.s32", "mul.lo.s32", "mul.hi.s32", "mul.hi.u32", "min.s32", "min.u32"),
        _r,
        _r,
        _word,
    ),
    _line(
        _form("max.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "shl.b32", "shr.s32", "shr.u32"),
        _r,
        _r,
        _word,
    ),
    _line(
        _form("not.b32", "neg.s32", "abs.s32", "mov.u32", "cvt.s32.s8", "cvt.u32.u16", "cvt.s32.s16"), _r, _r
    ),
    _line(_form("mad.lo.s32", "mad.hi.s32", "mad.hi.u32"), _r, _r, _word, _word),
    st.tuples(_form("div.s32", "div.u32", "rem.s32", "rem.u32"), _r, _r, _word).map(_division),
    _line(_form("mul.wide.s32", "mul.wide.u32"), _q, _r, _word),
    _line(_form("mad.wide.s32", "mad.wide.u32"), _q, _r, _r, _q),
    _line(
        _form("add.s64", "sub.s64", "mul.lo.s64", "mul.hi.s64", "mul.hi.u64", "min.s64", "max.u64"),
        _q,
        _q,
        _q,
    ),
    _line(_form("and.b64", "or.b64", "xor.b64"), _q, _q, _q),
    _line(_form("shl.b64", "shr.s64", "shr.u64"), _q, _q, _word),
    _line(_form("cvt.s64.s32", "cvt.u64.u32", "cvt.s64.s8"), _q, _r),
    _line(_form("cvt.u32.u64", "cvt.sat.s32.s64", "cvt.sat.u32.s64"), _r, _q),
    _line(
        _form("add.f32", "add.rn.f32", "add.ftz.f32", "sub.f32", "mul.f32", "mul.ftz.f32", "add.sat.f32"),
        _f,
        _f,
        _real,
    ),
    _line(_form("min.f32", "max.f32", "div.rn.f32", "min.ftz.f32", "mul.rn.sat.f32"), _f, _f, _real),
    _line(
        _form("neg.f32", "abs.f32", "sqrt.rn.f32", "rcp.rn.f32", "mov.f32", "neg.ftz.f32", "abs.ftz.f32"),
        _f,
        _f,
    ),
    _line(_form("fma.rn.f32", "fma.rn.ftz.f32", "fma.rn.sat.f32"), _f, _f, _real, _f),
    _line(_form("add.f64", "sub.f64", "mul.f64", "div.rn.f64", "min.f64", "max.f64"), _d, _d, _d),
    _line(_form("neg.f64", "abs.f64", "sqrt.rn.f64", "rcp.rn.f64"), _d, _d),
    _line(_form("fma.rn.f64"), _d, _d, _d, _d),
    _line(_form("cvt.rn.f32.s32", "cvt.rn.f32.u32", "cvt.rn.f32.s16"), _f, _r),
    _line(
        _form(
            "cvt.rzi.s32.f32", "cvt.rni.s32.f32", "cvt.rmi.s32.f32", "cvt.rpi.u32.f32", "cvt.rzi.ftz.u32.f32"
        ),
        _r,
        _f,
    ),
    _line(_form("cvt.rzi.s64.f32", "cvt.rni.u64.f32"), _q, _f),
    _line(_form("cvt.rn.f32.s64", "cvt.rn.f32.u64"), _f, _q),
    _line(_form("cvt.f64.f32"), _d, _f),
    _line(_form("cvt.rn.f32.f64"), _f, _d),
    _line(
        _form("cvt.rmi.f32.f32", "cvt.rzi.f32.f32", "cvt.rni.f32.f32", "cvt.rpi.f32.f32", "cvt.sat.f32.f32"),
        _f,
        _f,
    ),
    _line(_form("cvt.rn.f64.s64", "cvt.rn.f64.u64"), _d, _q),
    _line(_form("cvt.rzi.s64.f64", "cvt.rni.s64.f64"), _q, _d),
    _line(_form("selp.b32", "selp.s32"), _r, _word, _r, _p),
    _line(_form("selp.f32"), _f, _real, _f, _p),
    _line(_form("and.pred", "or.pred", "xor.pred"), _p, _p, _p),
    _line(_form("not.pred", "mov.pred"), _p, _p),
    _line(_dotted(_relation, _form("s32", "u32")), _p, _r, _word),
    _line(_dotted(_relation | _unordered, _form("f32", "ftz.f32")), _p, _f, _real),
    _line(
        _dotted(_relation, _form("and", "or", "xor"), _form("s32", "u32")),
        _form("%p0|%p1", "%p2|%p3", "%p1"),
        _r,
        _word,
        _form("%p0", "!%p2"),
    ),
    _line(_form("mov.b64"), _q, st.tuples(_r, _r).map(lambda of: f"{{{of[0]}, {of[1]}}}")),
    _line(_form("mov.b64"), _form("{%r0, %r1}", "{%r3, %r2}"), _q),
    _line(_form("st.global.u32", "st.global.s8", "st.u16"), _form("[%ints]", "[%ints+8]"), _r),
    _line(
        _form("ld.global.u32", "ld.global.s8", "ld.u16", "ld.global.u8", "ld.s16"),
        _r,
        _form("[%ints]", "[%ints+12]"),
    ),
    _line(_form("st.global.v2.u32"), _form("[%ints]", "[%ints+8]"), _form("{%r2, %r0}")),
    _line(_form("ld.global.v4.f32", "ld.v4.f32"), _form("{%f3, %f1, %f0, %f2}"), _form("[%floats]")),
    st.tuples(_form("ld", "st"), _r, _r).map(_local_access),
)


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
        shape = self.draw(
            st.sampled_from(shapes + (["exchange", "together"] if uniform and depth < 2 else []))
        )
        if shape in ("simple", "guarded"):
            guard = self.draw(st.sampled_from(["@%p0 ", "@!%p1 ", "@%p3 "])) if shape == "guarded" else ""
            self.lines += [f"{guard}{line}" for line in self.draw(_SIMPLE)]  # type: ignore[attr-defined]
        elif shape == "exchange":
            self.exchange()
        elif shape in ("loop", "together"):
            self.loop(depth, uniform=shape == "together")
        else:
            self.branch(depth, both=shape == "else")

    def branch(self, depth: int, *, both: bool) -> None:
        otherwise, end = self.label(), self.label()
        self.lines.append(f"@{self.draw(_p)} bra {otherwise};")
        self.block(depth + 1, uniform=False)
        self.lines += [f"bra.uni {end};", f"{otherwise}:"]
        if both:
            self.block(depth + 1, uniform=False)
        self.lines.append(f"{end}:")

    def loop(self, depth: int, *, uniform: bool) -> None:
        """At most three turns, as many for all threads or by what a register of each holds."""
        begin, end = self.label(), self.label()
        trips = "mov.u32 %count{0}, 2;" if uniform else f"and.b32 %count{{0}}, {self.draw(_r)}, 3;"
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
        given, taken = self.draw(_r), self.draw(_r)
        self.lines += [
            f"st.shared.u32 [%own], {given};",
            "bar.sync 0;",
            f"ld.shared.u32 {taken}, [%other];",
            "bar.sync 0;",
        ]


@st.composite
def programs(draw: Callable[[st.SearchStrategy[object]], object]) -> str:
    """The text of a PTX module with one entry, ``kernel``."""
    writer = _Writer(draw)
    writer.block(0, uniform=True)
    writer.block(0, uniform=True)
    leave = ["@%p1 ret;"] if draw(st.booleans()) else []
    return "\n".join([*_prologue(), *writer.lines, *leave, *_epilogue()])
