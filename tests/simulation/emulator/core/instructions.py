"""Instructions by the types of their operands a, b and c and of their result d; the text may be several."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """Instructions, and the types of what they read and give."""

    text: str
    result: str
    operands: tuple[str, ...]


def _same(form: str, count: int, kind: str | None = None) -> Case:
    """A case whose operands and result have the type of the form."""
    kind = kind or form.rsplit(".", maxsplit=1)[-1]
    names = ", ".join(f"%{letter}" for letter in "abc"[:count])
    return Case(f"{form} %d, {names};", kind, (kind,) * count)


_WAYS = ("rz", "rm", "rp")
_WHOLE = ("rni", "rzi", "rmi", "rpi")
_INTEGERS = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")

ROUNDINGS = [
    *(
        _same(f"{name}.{way}.f32", count)
        for name, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3), ("div", 2))
        for way in _WAYS
    ),
    *(_same(f"{name}.{way}.f32", 1) for name in ("rcp", "sqrt") for way in _WAYS),
    *(
        _same(f"{name}.ftz.f32", count)
        for name, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma.rn", 3), ("min", 2), ("max", 2))
    ),
    *(
        _same(f"{name}.ftz.f32", 1)
        for name in ("abs", "neg", "ex2.approx", "rcp.approx", "sqrt.rn", "rsqrt.approx")
    ),
    *(
        _same(f"{name}.sat.f32", count)
        for name, count in (("add", 2), ("mul.rn", 2), ("mul.ftz", 2), ("fma.rn", 3))
    ),
    *(_same(f"{name}.NaN.f32", 2) for name in ("min", "max")),
    *(
        Case(f"cvt.{way}.f32.{kind} %d, %a;", "f32", (kind,))
        for way in _WAYS
        for kind in ("f64", "s32", "u32", "s64", "u64")
    ),
    *(
        Case(f"setp.{relation}.ftz.f32 %d, %a, %b;", "pred", ("f32", "f32"))
        for relation in ("eq", "ltu", "ge")
    ),
    Case("setp.lt.and.ftz.f32 %d|%p1, %a, %b, %c;", "pred", ("f32", "f32", "pred")),
    Case("lg2.approx.ftz.f32 %d, %a;", "f32", ("f32",)),
    Case("rcp.approx.ftz.f64 %d, %a;", "f64", ("f64",)),
    Case("cvt.ftz.f64.f32 %d, %a;", "f64", ("f32",)),
    Case("cvt.rn.ftz.f32.f64 %d, %a;", "f32", ("f64",)),
    Case("cvt.rzi.ftz.s32.f32 %d, %a;", "s32", ("f32",)),
]
"""Floats in other directions, without subnormal numbers, and clamped (PTX ISA section 9.7.3)."""

CONVERSIONS = [
    *(Case(f"cvt.{way}.{to}.f32 %d, %a;", to, ("f32",)) for way in _WHOLE for to in _INTEGERS),
    *(Case(f"cvt.{way}.{to}.f64 %d, %a;", to, ("f64",)) for way in _WHOLE for to in _INTEGERS[4:]),
    *(
        Case(f"cvt.sat.{to}.{kind} %d, %a;", to, (kind,))
        for to in _INTEGERS[:6]
        for kind in _INTEGERS[:6]
        if to != kind
    ),
    Case("mov.b64 {%h1, %h2, %h3, %h4}, %a; mov.b64 %d, {%h4, %h1, %h2, %h3};", "b64", ("b64",)),
]
"""To integers of all widths (PTX ISA section 9.7.9.21), and four halves of a word."""

CARRIES = [
    *(
        Case(
            f"{first}.cc.{kind} %rd1, %a, %b; {second}.{kind} %d, %b, %c;".replace(
                "%rd1", "%rd1" if kind[1:] == "64" else "%r1"
            ),
            kind,
            (kind,) * 3,
        )
        for kind in ("u32", "s32", "u64", "s64")
        for first, second in (("add", "addc"), ("sub", "subc"))
    ),
    Case("add.cc.u32 %a, %a, %b; addc.cc.u32 %b, %b, %c; addc.u32 %d, %a, %b;", "u32", ("u32",) * 3),
    Case("sub.cc.u32 %a, %a, %b; subc.cc.u32 %b, %b, %c; subc.u32 %d, %a, %b;", "u32", ("u32",) * 3),
    Case(
        "mad.lo.cc.u32 %r1, %a, %b, %c; madc.hi.cc.u32 %r2, %a, %b, %c; addc.u32 %d, %r1, %r2;",
        "u32",
        ("u32",) * 3,
    ),
    Case("mad.lo.cc.s64 %rd1, %a, %b, %c; madc.hi.s64 %d, %a, %b, %c;", "u64", ("u64",) * 3),
    Case(
        "add.cc.u32 %r1, %a, %b; setp.lt.u32 %p1, %a, %c; @%p1 sub.cc.u32 %r1, %b, %c; addc.u32 %d, 0, 0;",
        "u32",
        ("u32",) * 3,
    ),
]
"""Sums and products of several words (PTX ISA section 9.7.2)."""

BITS = [
    *(_same(f"{name}.b{bits}", 1) for name in ("brev", "cnot") for bits in (32, 64)),
    _same("cnot.b16", 1),
    *(
        Case(f"bfind{shift}.{kind} %d, %a;", "u32", (kind,))
        for shift in ("", ".shiftamt")
        for kind in _INTEGERS[4:]
    ),
    *(Case(f"bfe.{kind} %d, %a, %b, %c;", kind, (kind, "u32", "u32")) for kind in _INTEGERS[4:]),
    Case("bfi.b32 %d, %a, 5, %b, %c;", "b32", ("b32", "u32", "u32")),
    Case("bfi.b32 %d, %a, %b, 3, 4;", "b32", ("b32", "b32")),
    Case("bfi.b64 %d, %a, 77, %b, %c;", "b64", ("b64", "u32", "u32")),
    Case("bfi.b64 %d, %a, %b, 32, 32;", "b64", ("b64", "b64")),
    *(
        Case(f"lop3.b32 %d, %a, %b, %c, {table};", "b32", ("b32",) * 3)
        for table in (0x96, 0xE8, 0x01, 0xCA, 0xFF)
    ),
    *(Case(f"shf.{way}.clamp.b32 %d, %a, %b, %c;", "b32", ("b32", "b32", "u32")) for way in ("l", "r")),
    *(_same(f"bmsk.{mode}.b32", 2) for mode in ("clamp", "wrap")),
    *(
        Case(f"szext.{mode}.{kind} %d, %a, %b;", kind, (kind, "u32"))
        for mode in ("clamp", "wrap")
        for kind in ("u32", "s32")
    ),
    *(
        _same(f"testp.{name}.{kind}", 1)._replace(result="pred")
        for name in ("finite", "infinite", "number", "notanumber", "normal", "subnormal")
        for kind in ("f32", "f64")
    ),
    *(_same(f"copysign.{kind}", 2) for kind in ("f32", "f64")),
]
"""Counting, finding, moving and combining bits (PTX ISA sections 9.7.1.14 to 9.7.1.22, 9.7.3 and 9.7.8)."""

INTEGERS = [
    *(
        Case(f"dp4a.{a}.{b} %d, %a, %b, %c;", "u32", ("u32",) * 3)
        for a in ("u32", "s32")
        for b in ("u32", "s32")
    ),
    *(
        Case(f"dp2a.{half}.{a}.{b} %d, %a, %b, %c;", "u32", ("u32",) * 3)
        for half in ("lo", "hi")
        for a in ("u32", "s32")
        for b in ("u32", "s32")
    ),
    *(_same(f"sad.{kind}", 3) for kind in _INTEGERS[2:]),
    *(
        _same(f"{name}.{half}.{kind}", count)
        for name, count in (("mul24", 2), ("mad24", 3))
        for half in ("lo", "hi")
        for kind in ("u32", "s32")
    ),
    *(
        _same(f"{name}.hi.{kind}", count)
        for name, count in (("mul", 2), ("mad", 3))
        for kind in _INTEGERS[2:]
    ),
    *(_same(f"{name}.sat.s32", 2) for name in ("add", "sub")),
    *(
        Case(f"slct.{kind}.{test} %d, %a, %b, %c;", kind, (kind, kind, test))
        for kind in ("u16", "u32", "f64")
        for test in ("s32", "f32")
    ),
]
"""Products, differences and choices (PTX ISA sections 9.7.1 and 9.7.6.4)."""

HALVES = [
    *(
        _same(f"{name}.{kind}", count)
        for kind in ("f16", "f16x2", "bf16", "bf16x2")
        for name, count in (
            ("add", 2),
            ("sub", 2),
            ("mul", 2),
            ("fma.rn", 3),
            ("fma.rn.relu", 3),
            ("neg", 1),
            ("abs", 1),
            ("min", 2),
            ("max", 2),
            ("min.NaN", 2),
            ("max.NaN", 2),
            ("tanh.approx", 1),
        )
    ),
    *(
        _same(f"{name}.{kind}", count)
        for kind in ("f16", "f16x2")
        for name, count in (
            ("add.sat", 2),
            ("add.ftz", 2),
            ("fma.rn.ftz.sat", 3),
            ("ex2.approx", 1),
            ("min.ftz", 2),
        )
    ),
    *(
        Case(f"setp.{relation}.{kind} %d, %a, %b;", "pred", (kind, kind))
        for relation in ("eq", "ne", "ltu", "nan")
        for kind in ("f16", "bf16")
    ),
    *(
        Case(f"setp.{relation}.{kind} %p1|%p2, %a, %b; xor.pred %d, %p1, %p2;", "pred", (kind, kind))
        for relation in ("lt", "geu")
        for kind in ("f16x2", "bf16x2")
    ),
    *(Case(f"cvt.f32.{kind} %d, %a;", "f32", (kind,)) for kind in ("f16", "bf16")),
    *(
        Case(f"cvt.rn.{to}.{kind} %d, %a;", to, (kind,))
        for to in ("f16", "bf16")
        for kind in ("f32", *_INTEGERS)
    ),
    Case("cvt.rn.f16.f64 %d, %a;", "f16", ("f64",)),
    Case("cvt.rn.relu.bf16.f32 %d, %a;", "bf16", ("f32",)),
    *(
        Case(f"cvt.rn{relu}.{to}.f32 %d, %a, %b;", to, ("f32", "f32"))
        for relu in ("", ".relu")
        for to in ("f16x2", "bf16x2")
    ),
    *(Case(f"cvt.{way}.{to}.f16 %d, %a;", to, ("f16",)) for way in _WHOLE for to in ("f16", *_INTEGERS)),
]
"""f16, bf16 and pairs of them (PTX ISA sections 9.7.4, 9.7.7 and 9.7.9.21)."""

TOGETHER = [
    *(Case(f"match.any.sync.{kind} %d, %a, -1;", "b32", (kind,)) for kind in ("b32", "b64")),
    Case("and.b32 %a, %a, 1; match.all.sync.b32 %d|%p1, %a, -1; @%p1 add.u32 %d, %d, 1;", "b32", ("b32",)),
    Case("and.b64 %a, %a, 0; match.all.sync.b64 %d|%p1, %a, -1; @%p1 xor.b32 %d, %d, 255;", "b32", ("b64",)),
    Case("setp.lt.u32 %p1, %r14, 64; selp.b32 %r1, 1, 2, %p1; match.any.sync.b32 %d, %r1, -1;", "b32", ()),
    *(
        Case(f"redux.sync.{name}.{kind} %d, %a, -1;", kind, (kind,))
        for name in ("add", "min", "max")
        for kind in ("u32", "s32")
    ),
    *(Case(f"redux.sync.{name}.b32 %d, %a, -1;", "b32", ("b32",)) for name in ("and", "or", "xor")),
    Case(
        "and.b32 %r1, %r14, 1; setp.eq.u32 %p1, %r1, 0; "
        "selp.b32 %r2, 0x55555555, 0xAAAAAAAA, %p1; redux.sync.add.u32 %d, %a, %r2;",
        "u32",
        ("u32",),
    ),
    Case("bar.red.popc.u32 %d, 0, %a;", "u32", ("pred",)),
    Case("bar.red.popc.u32 %d, 0, !%a;", "u32", ("pred",)),
    *(Case(f"bar.red.{way}.pred %d, 0, %a;", "pred", ("pred",)) for way in ("and", "or")),
    Case(
        "setp.lt.u32 %p1, %r14, 200; bar.red.and.pred %p2, 0, %p1; "
        "bar.red.or.pred %p3, 0, !%p1; xor.pred %d, %p2, %p3;",
        "pred",
        (),
    ),
]
"""Operations of a warp or block together (PTX ISA sections 9.7.13.1, 9.7.13.10 and 9.7.13.12)."""

SPECIALS = [
    Case(f"mov.u32 %d, {name};", "u32", ())
    for name in ("%clusterid.x", "%nclusterid.x", "%nsmid", "%cluster_nctarank", "%reserved_smem_offset_1")
]
"""Special registers (PTX ISA chapter 10)."""

CASES = [*ROUNDINGS, *CONVERSIONS, *CARRIES, *BITS, *INTEGERS, *HALVES, *TOGETHER, *SPECIALS]
