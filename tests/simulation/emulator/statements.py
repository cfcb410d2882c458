"""The statements of random programs: those of one thread, and those of all threads together.

Each is a list of lines of PTX, drawn by Hypothesis. `programs` declares the registers that they name.
"""

from __future__ import annotations

from hypothesis import strategies as st

WARP = 0x3FFF
"""The lanes that there are: blocks have 14 threads."""

_r, _q, _f, _d, _h, _p = (st.integers(0, 3).map(lambda n, kind=kind: f"%{kind}{n}") for kind in "rqfdhp")  # type: ignore[misc]
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


_PLAIN = st.one_of(
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

_BITS = st.one_of(
    _line(_form("popc.b32", "clz.b32", "brev.b32", "bfind.u32", "bfind.s32"), _r, _r),
    _line(_form("popc.b64", "clz.b64", "bfind.s64"), _r, _q),
    _line(_form("brev.b64"), _q, _q),
    _line(_form("bfe.u32", "bfe.s32"), _r, _r, _word, _word),
    _line(_form("bfe.u64", "bfe.s64"), _q, _q, _word, _word),
    _line(_form("bfi.b32"), _r, _r, _r, _word, _word),
    _line(_form("bfi.b64"), _q, _q, _q, _word, _word),
    _line(_form("prmt.b32"), _r, _r, _r, _word),
    _line(_form("shf.l.wrap.b32", "shf.r.wrap.b32", "shf.l.clamp.b32", "shf.r.clamp.b32"), _r, _r, _r, _word),
    _line(_form("lop3.b32"), _r, _r, _r, _r, st.integers(0, 255).map(str)),
    _line(_form("sad.s32", "sad.u32", "slct.b32.s32"), _r, _r, _word, _r),
    _line(_form("dp4a.s32.s32", "dp4a.u32.u32"), _r, _r, _r, _r),
)


def _carry(parts: tuple[str, str, str, str, str]) -> list[str]:
    """Two words of a sum, a difference or a product, the second with the carry of the first."""
    form, low, high, first, second = parts
    if form == "long":
        return ["add.cc.u64 %q0, %q1, %q2;", "addc.u64 %q3, %q0, %q1;"]
    if form == "mad":
        return [
            f"mad.lo.cc.u32 {low}, {first}, {second}, {high};",
            f"madc.hi.u32 {high}, {first}, {second}, {low};",
        ]
    return [f"{form}.cc.u32 {low}, {first}, {second};", f"{form}c.u32 {high}, {low}, {second};"]


def _pairs_of_halves(parts: tuple[str, str, str]) -> list[str]:
    form, low, high = parts
    third = ", %t6" if form.startswith("fma") else ""
    one = form.startswith(("neg", "abs"))
    return [
        f"mov.b32 %t6, {{{low}, {high}}};",
        "mov.b32 %t7, {%h1, %h2};",
        f"{form}.f16x2 %t6, %t7{'' if one else ', %t6'}{third};",
        "mov.b32 {%h2, %h3}, %t6;",
    ]


_HALVES = st.one_of(
    _line(_form("add.f16", "sub.f16", "mul.f16", "min.f16", "max.f16", "add.sat.f16"), _h, _h, _h),
    _line(_form("neg.f16", "abs.f16", "mov.b16"), _h, _h),
    _line(_form("fma.rn.f16"), _h, _h, _h, _h),
    _line(_form("cvt.rn.f16.f32"), _h, _f),
    _line(_form("cvt.f32.f16"), _f, _h),
    _line(_form("cvt.rn.f16.s32"), _h, _r),
    _line(_form("cvt.rzi.s32.f16", "cvt.rni.s32.f16"), _r, _h),
    _line(_dotted(_relation | _unordered, _form("f16")), _p, _h, _h),
    _line(_form("selp.b16"), _h, _h, _h, _p),
    st.tuples(_form("add", "sub", "mul", "fma.rn", "min", "max", "neg", "abs"), _h, _h).map(_pairs_of_halves),
)

_OWN = st.one_of(
    _line(
        _form(*(f"atom.global.{form}" for form in ("add.u32", "min.s32", "max.u32", "inc.u32", "dec.u32"))),
        _r,
        _form("[%ints]", "[%ints+4]"),
        _word,
    ),
    _line(_form("atom.global.and.b32", "atom.exch.b32", "atom.global.xor.b32"), _r, _form("[%ints+8]"), _r),
    _line(_form("atom.global.cas.b32"), _r, _form("[%ints+4]"), _word, _r),
    _line(_form("atom.global.add.u64", "atom.max.s64", "atom.global.exch.b64"), _q, _form("[%longs+8]"), _q),
    _line(_form("atom.global.cas.b64"), _q, _form("[%longs]"), _q, _q),
    _line(_form("red.global.add.s32", "red.global.or.b32"), _form("[%ints+12]"), _r),
    _line(_form("atom.global.add.f32"), _f, _form("[%floats+4]"), _f),
    _line(_form("atom.global.add.f64"), _d, _form("[%doubles+8]"), _d),
    _line(_form("st.shared.v4.u32"), _form("[%mine]"), _form("{%r2, %r0, %r1, %r3}")),
    _line(_form("ld.shared.v2.u32"), _form("{%r3, %r1}"), _form("[%mine]", "[%mine+8]")),
    _line(_form("st.shared.u8", "st.shared.u16"), _form("[%mine+2]", "[%mine+14]"), _r),
    _line(_form("ld.shared.s8", "ld.shared.u16", "ld.shared.u32"), _r, _form("[%mine]", "[%mine+12]")),
    _line(_form("atom.shared.add.u32", "atom.shared.exch.b32"), _r, _form("[%mine+4]"), _r),
    _line(_form("atom.shared.cas.b32"), _r, _form("[%mine]"), _word, _r),
    st.tuples(_form("add", "sub", "long", "mad"), _r, _r, _r, _r).map(_carry),
)

PREDICATE, WORD_REGISTER = _p, _r

SIMPLE = st.one_of(_PLAIN, _PLAIN, _BITS, _HALVES, _OWN)
"""Statements of one thread."""

_SHUFFLE = st.one_of(
    _line(
        _form("shfl.sync.up.b32"), _form("%r0|%p0", "%r2"), _r, _word, _form("0", "6144"), st.just(str(WARP))
    ),
    _line(
        _form("shfl.sync.down.b32", "shfl.sync.bfly.b32"),
        _form("%r1|%p3", "%r3"),
        _r,
        _word,
        st.just("13"),
        st.just(str(WARP)),
    ),
    _r.map(lambda by: [f"and.b32 %t7, {by}, 7;", f"shfl.sync.idx.b32 {by}, %r1, %t7, 31, {WARP};"]),
)


def _voted(mask: str) -> st.SearchStrategy[list[str]]:
    """Statements that lanes execute together, and that need only the lanes of a mask."""
    whole = st.just(mask)
    return st.one_of(
        _line(_form("vote.sync.all.pred", "vote.sync.any.pred", "vote.sync.uni.pred"), _p, _p, whole),
        _line(_form("vote.sync.ballot.b32"), _r, _p, whole),
        _line(_form("match.any.sync.b32"), _r, _r, whole),
        _line(_form("match.any.sync.b64"), _r, _q, whole),
        _line(_form("match.all.sync.b32"), _form("%r0|%p1"), _r, whole),
        _line(_form("redux.sync.add.s32", "redux.sync.min.s32", "redux.sync.max.u32"), _r, _r, whole),
        _line(_form("redux.sync.and.b32", "redux.sync.or.b32", "redux.sync.xor.b32"), _r, _r, whole),
        whole.map(lambda lanes: [f"bar.warp.sync {lanes};"]),
    )


TOGETHER = st.one_of(_SHUFFLE, _voted(str(WARP)))
"""Statements of a whole warp."""

OF_SOME = _voted("%mask")
"""Statements of the lanes in a register."""

TALLY = st.tuples(_form("add.u32", "min.s32", "max.u32", "and.b32", "xor.b32"), _r, _r)
"""An atomic on one word for the whole block, whose order does not show; what goes in, and what comes out."""
