"""Operations of the core by the opcode, modifiers and type of an instruction of PTX (PTX ISA chapter 9.7).

An entry is the name of a line in `native/pure.inc` or `native/rare.inc`, and the types as which the operands
are read. What has no entry here is not executed by the core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from grader.simulation.ptx import Instruction

WIDTH = {"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4}
WIDTH |= {"b64": 8, "u64": 8, "s64": 8, "f64": 8, "pred": 0}
"""Bytes of each type that the core computes with; a predicate counts as none."""


class CoreForm(NamedTuple):
    """An operation, and the types of the result and of the operands."""

    name: str
    result: str
    operands: tuple[str, ...]


_SAME_BITS = {"add", "sub", "neg", "mul_lo", "mad_lo"}
"""Integer operations that give the same bits for signed and unsigned numbers."""

_FLOAT_WORDS = {"rn", "approx", "full"}

_COMPARED = {
    **{name: name for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "lo": "lt",
    "ls": "le",
    "hi": "gt",
    "hs": "ge",
}
_UNORDERED = ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def form_of(ins: Instruction) -> CoreForm | None:
    """The operation of an instruction that computes its first operand from the others; None for others."""
    if not ins.modifiers:
        return None
    kind = ins.modifiers[-1]
    words = ins.modifiers[:-1]
    if kind not in WIDTH or kind.endswith("8"):
        return None
    if ins.opcode == "setp":
        return _comparison(words, kind)
    if ins.opcode == "cvt":
        return None
    if ins.opcode in _BITS:
        return _of_bits(ins.opcode, words, kind)
    return _of_float(ins.opcode, words, kind) if kind[0] == "f" else _of_integer(ins.opcode, words, kind)


def _comparison(words: tuple[str, ...], kind: str) -> CoreForm | None:
    name = words[0] if words else ""
    if set(words[1:]) - {"and", "or", "xor"}:
        return None
    if kind[0] == "f":
        comparisons = (*_COMPARED, *_UNORDERED)
        return CoreForm(f"setp_{name}_{kind}", "pred", (kind, kind)) if name in comparisons else None
    if name not in _COMPARED or kind == "pred":
        return None
    unsigned = name in ("lo", "ls", "hi", "hs") or kind[0] in "ub"
    read = ("u" if unsigned else "s") + kind[1:]
    return CoreForm(f"setp_{_COMPARED[name]}_{read}", "pred", (kind, kind))


_INTEGERS = {
    ("add", ""): 2,
    ("sub", ""): 2,
    ("neg", ""): 1,
    ("abs", ""): 1,
    ("min", ""): 2,
    ("max", ""): 2,
    ("div", ""): 2,
    ("rem", ""): 2,
    ("mul", "lo"): 2,
    ("mul", "hi"): 2,
    ("mul", "wide"): 2,
    ("mad", "lo"): 3,
    ("mad", "hi"): 3,
    ("mad", "wide"): 3,
    ("sad", ""): 3,
    ("add", "sat"): 2,
    ("sub", "sat"): 2,
    **{(opcode, half): arity for opcode, arity in (("mul24", 2), ("mad24", 3)) for half in ("lo", "hi")},
}
"""By opcode and modifier the number of operands."""


def _of_integer(opcode: str, words: tuple[str, ...], kind: str) -> CoreForm | None:
    word = words[0] if words else ""
    arity = _INTEGERS.get((opcode, word))
    if arity is None or len(words) > 1 or kind[0] not in "us":
        return None
    name, bits = "_".join(part for part in (opcode, word) if part), kind[1:]
    name = f"{name}_{bits}" if name in _SAME_BITS else f"{name}_{kind}"
    if (word == "wide" and bits == "64") or (opcode == "abs" and kind[0] == "u"):
        return None
    if opcode.endswith("24") and bits != "32":
        return None
    wide = kind[0] + str(2 * int(bits)) if word == "wide" else kind
    return CoreForm(name, wide, (kind,) * 2 + (wide,) if arity == 3 else (kind,) * arity)  # noqa: PLR2004 - mad


_FLOATS = {"add": 2, "sub": 2, "mul": 2, "div": 2, "fma": 3, "neg": 1, "abs": 1, "rcp": 1, "sqrt": 1}
_FLOATS |= {"min": 2, "max": 2, "rsqrt": 1, "ex2": 1, "lg2": 1, "sin": 1, "cos": 1, "tanh": 1, "mad": 3}
_FLOATS |= {"copysign": 2, "testp": 1}
_SINGLE_ONLY = {"ex2", "lg2", "sin", "cos", "tanh"}
_DIRECTED = {"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"}


def _of_float(opcode: str, words: tuple[str, ...], kind: str) -> CoreForm | None:
    arity = _FLOATS.get(opcode)
    if arity is None or (opcode in _SINGLE_ONLY and kind != "f32"):
        return None
    name = "fma" if opcode == "mad" else opcode
    if opcode == "testp" and len(words) == 1:
        return CoreForm(f"testp_{words[0]}_{kind}", "pred", (kind,))
    ways = [word for word in words if word in ("rz", "rm", "rp")]
    if ways and opcode in _DIRECTED and kind == "f32" and len(words) == 1:
        return CoreForm(f"{name}_{ways[0]}_f32", kind, (kind,) * arity)
    if opcode in ("min", "max") and words == ("NaN",) and kind == "f32":
        return CoreForm(f"{name}_nan_f32", kind, (kind,) * arity)
    return CoreForm(f"{name}_{kind}", kind, (kind,) * arity) if set(words) <= _FLOAT_WORDS else None


_BITS = {"and", "or", "xor", "not", "shl", "shr", "shf", "popc", "clz", "brev", "prmt", "bfe"}
_BITS |= {"bfind", "cnot", "bmsk", "szext", "dp4a"}


def _of_bits(opcode: str, words: tuple[str, ...], kind: str) -> CoreForm | None:
    listed = _SHIFTS_AND_COUNTS.get((opcode, words, kind))
    if listed is not None or words:
        return listed
    width = 8 * WIDTH[kind]
    if opcode in ("and", "or", "xor"):
        return CoreForm(f"{opcode}_{'pred' if kind == 'pred' else max(width, 32)}", kind, (kind, kind))
    if opcode == "not" or (opcode == "cnot" and width):
        return CoreForm(f"{opcode}_{'pred' if kind == 'pred' else width}", kind, (kind,))
    if opcode == "shl" and width:
        return CoreForm(f"shl_{width}", kind, (kind, "u32"))
    if opcode == "shr" and width:
        return CoreForm(f"shr_{'s' if kind[0] == 's' else 'u'}{width}", kind, (kind, "u32"))
    return None


_WIDE_INTEGERS = ("u32", "s32", "u64", "s64")

_SHIFTS_AND_COUNTS: dict[tuple[str, tuple[str, ...], str], CoreForm] = {
    **{
        ("shf", (way, mode), "b32"): CoreForm(f"shf_{way}_{mode}", "b32", ("b32", "b32", "u32"))
        for way in ("l", "r")
        for mode in ("wrap", "clamp")
    },
    **{
        (opcode, (), f"b{width}"): CoreForm(f"{opcode}_{width}", "u32", (f"b{width}",))
        for opcode in ("popc", "clz")
        for width in (32, 64)
    },
    **{
        ("brev", (), f"b{width}"): CoreForm(f"brev_{width}", f"b{width}", (f"b{width}",))
        for width in (32, 64)
    },
    ("prmt", (), "b32"): CoreForm("prmt_b32", "b32", ("b32", "b32", "b32")),
    **{("bfe", (), kind): CoreForm(f"bfe_{kind}", kind, (kind, "u32", "u32")) for kind in _WIDE_INTEGERS},
    **{("bfind", (), kind): CoreForm(f"bfind_{kind}", "u32", (kind,)) for kind in _WIDE_INTEGERS},
    **{
        ("bfind", ("shiftamt",), kind): CoreForm(f"bfind_shift_{kind}", "u32", (kind,))
        for kind in _WIDE_INTEGERS
    },
    **{
        ("bmsk", (mode,), "b32"): CoreForm(f"bmsk_{mode}", "b32", ("b32", "b32"))
        for mode in ("clamp", "wrap")
    },
    **{
        ("szext", (mode,), kind): CoreForm(f"szext_{mode}_{kind}", kind, (kind, "u32"))
        for mode in ("clamp", "wrap")
        for kind in ("u32", "s32")
    },
    **{
        ("dp4a", (first,), second): CoreForm(f"dp4a_{first}_{second}", "u32", ("u32", "u32", "u32"))
        for first in ("u32", "s32")
        for second in ("u32", "s32")
    },
}

_INT_TO_FLOAT = {(to, kind) for to in ("f32", "f64") for kind in ("s32", "u32", "s64", "u64")}
_FLOAT_TO_INT = {
    **{
        ("rzi", to, kind): f"cvt_rzi_{to}_{kind}"
        for to in ("s32", "u32", "s64", "u64")
        for kind in ("f32", "f64")
    },
    **{(way, "s32", "f32"): f"cvt_{way}_s32_f32" for way in ("rni", "rmi", "rpi")},
    ("rni", "s32", "f64"): "cvt_rni_s32_f64",
    ("sat", "f32", "f32"): "cvt_sat_f32_f32",
    **{
        (way, "f32", kind): f"cvt_{way}_f32_{kind}"
        for way in ("rz", "rm", "rp")
        for kind in ("f64", "s32", "u32", "s64", "u64")
    },
    **{
        (way, kind, kind): f"cvt_{way}_{kind}_{kind}"
        for way in ("rzi", "rni", "rmi", "rpi")
        for kind in ("f32", "f64")
    },
}


def conversion_of(ins: Instruction) -> CoreForm | None:
    """The operation of a `cvt` between numbers of 32 or 64 bits where one is a float; None for others."""
    if len(ins.modifiers) < 2:  # noqa: PLR2004 - two types
        return None
    *words, to, kind = ins.modifiers
    how = tuple(words)
    if (to, kind) in _INT_TO_FLOAT and how in ((), ("rn",)):
        return CoreForm(f"cvt_{to}_{kind}", to, (kind,))
    if (to, kind) == ("f64", "f32") and how == ():
        return CoreForm("cvt_f64_f32", "f64", ("f32",))
    if (to, kind) == ("f32", "f64") and how == ("rn",):
        return CoreForm("cvt_f32_f64", "f32", ("f64",))
    name = _FLOAT_TO_INT.get((how[0], to, kind)) if len(how) == 1 else None
    return CoreForm(name, to, (kind,)) if name else None
