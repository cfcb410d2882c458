"""Lowering of what computes registers: moves, conversions, comparisons, arithmetic (PTX ISA chapter 9.7)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from grader.simulation.emulator.core import halves
from grader.simulation.emulator.core.composing import (
    COMPOSED,
    extended,
    has_carry,
    saturated,
    to_narrow,
    widened,
)
from grader.simulation.emulator.core.forms import WIDTH, CoreForm, conversion_of, form_of
from grader.simulation.emulator.core.library import NONE
from grader.simulation.emulator.core.lowering import NotLoweredError, copy_of, read_type
from grader.simulation.emulator.linking.linker import flops_of
from grader.simulation.ptx import Pair, Register, Vector
from grader.simulation.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from grader.simulation.emulator.core.lowering import Lowering
    from grader.simulation.ptx import Instruction
    from grader.simulation.ptx.nodes import Operand


def compute(low: Lowering, ins: Instruction) -> None:
    """Lower an instruction whose first operand is computed from the others."""
    if ins.opcode == "mov":
        _move(low, ins)
    elif ins.opcode == "cvt":
        _convert(low, ins)
    elif ins.opcode == "cvta":
        _generic(low, ins)
    elif ins.opcode == "selp":
        _select(low, ins)
    elif ins.opcode in COMPOSED:
        COMPOSED[ins.opcode](low, ins)
    elif has_carry(ins):
        extended(low, ins)
    elif ins.opcode == "setp" and ins.modifiers[-1] in halves.TYPES:
        halves.compare(low, ins)
    else:
        _calculate(low, ins)


def _calculate(low: Lowering, ins: Instruction) -> None:
    """Lower arithmetic: one operation, and what `.sat`, `.relu` and `.ftz` ask of floats beside it."""
    *words, kind = ins.modifiers
    finishing = (
        frozenset(words) & _FINISHING if kind[0] in "bf" and kind not in ("b32", "b64") else frozenset[str]()
    )
    others = tuple(word for word in words if word not in finishing)
    form = (
        halves.half_form(ins.opcode, frozenset(others), kind)
        if kind in halves.TYPES
        else form_of(replace(ins, modifiers=(*others, kind)))
    )
    if form is None:
        raise NotLoweredError(ins.name)
    if ins.opcode == "setp":
        _compare(low, ins, form, finishing)
    else:
        _plain(low, form, ins.operands, flops_of(ins), _Finish(kind, finishing))


_FINISHING = frozenset({"ftz", "sat", "relu"})


class _Finish(NamedTuple):
    """Rounding, clamping and flushing that the modifiers of an operation of floats ask for, and its type."""

    kind: str = ""
    words: frozenset[str] = frozenset()

    def steps(self) -> list[str]:
        """The operations on the result, in their order."""
        names = {"sat": "sat", "relu": "relu", "ftz": "flush"}
        after = [f"{name}_{self.kind}" for word, name in names.items() if word in self.words]
        return ["cvt_sat_f32_f32" if name == "sat_f32" else name for name in after]


_PLAINLY = _Finish()


def _plain(
    low: Lowering, form: CoreForm, operands: tuple[Operand, ...], flops: int = 0, finish: _Finish = _PLAINLY
) -> None:
    """Lower to an operation on operands of its types, and to those that finish its result."""
    if len(operands) != len(form.operands) + 1 or (finish.words and form.result == "pred"):
        raise NotLoweredError(low.name())
    reads = _operands(low, form, operands[1:], finish)
    name = form.name
    for after in finish.steps():
        reads = (low.helper(name, form.result, *reads),)
        name = after
    low.emit(name, dst=low.destination(operands[0], WIDTH[form.result]), reads=reads, flops=flops)


def _operands(
    low: Lowering, form: CoreForm, operands: tuple[Operand, ...], finish: _Finish
) -> tuple[int, ...]:
    """The operands of an operation, of `.ftz` without subnormal numbers."""
    reads = tuple(low.read(operand, kind) for operand, kind in zip(operands, form.operands, strict=True))
    if "ftz" not in finish.words:
        return reads
    return tuple(low.helper(f"flush_{finish.kind}", finish.kind, read) for read in reads)


def _move(low: Lowering, ins: Instruction) -> None:
    to, source = ins.operands
    kind = ins.modifiers[-1]
    if kind not in WIDTH:
        raise NotLoweredError(ins.name)
    if isinstance(source, Vector):
        _pack(low, to, source, kind)
    elif isinstance(to, Vector):
        _unpack(low, to, source, kind)
    else:
        _plain(low, CoreForm(copy_of(8 * WIDTH[kind]), kind, (kind,)), (to, source))
        low.ops[-1].is_move = True


def _pack(low: Lowering, to: Operand, source: Vector, kind: str) -> None:
    if (kind, len(source.elements)) == ("b64", 4):
        first, second, third, fourth = (low.read(element, "b16") for element in source.elements)
        words = (low.helper("pack_16_32", "b32", *pair) for pair in ((first, second), (third, fourth)))
        low.emit("pack_32_64", dst=low.destination(to, 8), reads=tuple(words))
        return
    parts = {("b64", 2): ("pack_32_64", "b32"), ("b32", 2): ("pack_16_32", "b16")}
    name, part = parts.get((kind, len(source.elements)), ("", ""))
    if not name:
        raise NotLoweredError(low.name())
    _plain(low, CoreForm(name, kind, (part, part)), (to, *source.elements))


def _unpack(low: Lowering, to: Vector, source: Operand, kind: str) -> None:
    if (kind, len(to.elements)) == ("b64", 4):
        _unpack_four(low, to, low.read(source, kind))
        return
    parts = {
        ("b64", 2): ("trunc_64_32", "high_64_32", "b32"),
        ("b32", 2): ("trunc_32_16", "high_32_16", "b16"),
    }
    lower, upper, part = parts.get((kind, len(to.elements)), ("", "", ""))
    if not lower:
        raise NotLoweredError(low.name())
    value = low.read(source, kind)
    whole = low.helper(copy_of(8 * WIDTH[kind]), kind, value)  # a part may go into it
    for name, element in zip((lower, upper), to.elements, strict=True):
        register = low.destination(element, WIDTH[part])
        if register != NONE:
            low.emit(name, dst=register, reads=(whole,))


def _unpack_four(low: Lowering, to: Vector, whole: int) -> None:
    words = (low.helper(name, "b32", whole) for name in ("trunc_64_32", "high_64_32"))
    parts = [low.helper(name, "b32", word) for word in words for name in ("trunc_32_16", "high_32_16")]
    for part, element in zip(parts, to.elements, strict=True):
        register = low.destination(element, 2)
        if register != NONE:
            low.emit("mov_b32", dst=register, reads=(part,))


def _generic(low: Lowering, ins: Instruction) -> None:
    kind = ins.modifiers[-1]
    if WIDTH.get(kind) != 8:  # noqa: PLR2004 - bytes
        raise NotLoweredError(ins.name)
    space = next((word for word in ins.modifiers if word in ("shared", "local")), "")
    if not space:
        _plain(low, CoreForm("mov_b64", kind, (kind,)), ins.operands)
        return
    name = "sub_64" if "to" in ins.modifiers else "add_64"
    window = low.launch_constant(8, window=space)
    reads = low.read(ins.operands[1], kind), window
    low.emit(name, dst=low.destination(ins.operands[0], 8), reads=reads)


def _select(low: Lowering, ins: Instruction) -> None:
    kind = ins.modifiers[-1]
    if WIDTH.get(kind, 0) < 2:  # noqa: PLR2004 - bytes
        raise NotLoweredError(ins.name)
    name = "selp_b64" if WIDTH[kind] == 8 else "selp_b32"  # noqa: PLR2004 - bytes
    _plain(low, CoreForm(name, kind, (kind, kind, "pred")), ins.operands)


def _compare(low: Lowering, ins: Instruction, form: CoreForm, finishing: frozenset[str]) -> None:
    destination, *sources = ins.operands
    logic = next((word for word in ins.modifiers if word in ("and", "or", "xor")), "")
    if not finishing <= {"ftz"} or len(sources) != 2 + bool(logic):
        raise NotLoweredError(ins.name)
    reads = _operands(low, form, (sources[0], sources[1]), _Finish(ins.modifiers[-1], finishing))
    if not logic and not isinstance(destination, Pair):
        low.emit(form.name, dst=low.destination(destination, 0), reads=reads)
        return
    third = low.read(sources[2], "pred") if logic else NONE
    holds = low.helper(form.name, "pred", *reads)
    to, other = (
        (destination.first, destination.second) if isinstance(destination, Pair) else (destination, None)
    )
    negation = low.helper("not_pred", "pred", holds) if other is not None else NONE
    for target, value in ((to, holds), (other, negation)):
        if target is None:
            continue
        register = low.destination(target, 0)
        if register == NONE:
            continue
        if logic:
            low.emit(f"{logic}_pred", dst=register, reads=(value, third))
        else:
            low.emit("mov_pred", dst=register, reads=(value,))


def _convert(low: Lowering, ins: Instruction) -> None:
    if halves.converts(ins):
        halves.convert(low, ins)
        return
    form = conversion_of(ins)
    if form is not None:
        _plain(low, form, ins.operands)
    elif not (_flushing(low, ins) or _from_narrow(low, ins) or _to_whole(low, ins)):
        _between_integers(low, ins)


def _flushing(low: Lowering, ins: Instruction) -> bool:
    """Lower a `cvt.ftz` from or to f32; false for any other."""
    form = conversion_of(replace(ins, modifiers=tuple(word for word in ins.modifiers if word != "ftz")))
    if "ftz" not in ins.modifiers or form is None or "f32" not in (form.result, *form.operands):
        return False
    value = low.read(ins.operands[1], form.operands[0])
    if form.operands[0] == "f32":
        value = low.helper("flush_f32", "b32", value)
    name, reads = form.name, (value,)
    if form.result == "f32":
        name, reads = "flush_f32", (low.helper(name, "b32", value),)
    low.emit(name, dst=low.destination(ins.operands[0], WIDTH[form.result]), reads=reads)
    return True


def _from_narrow(low: Lowering, ins: Instruction) -> bool:
    """Lower a `cvt` from 8 or 16 bits to a float; false for any other."""
    *how, to, kind = ins.modifiers
    if kind not in _NARROW or to not in ("f32", "f64") or how not in ([], ["rn"]):
        return False
    wide = widened(low, low.read(ins.operands[1], "b32"), kind)
    low.emit(f"cvt_{to}_{kind[0]}32", dst=low.destination(ins.operands[0], WIDTH[to]), reads=(wide,))
    return True


_NARROW = ("s8", "s16", "u8", "u16")


def _to_whole(low: Lowering, ins: Instruction) -> bool:
    """Lower a `cvt` of a float to an integer in two steps: to a whole number first; false for any other."""
    way, to, kind = ("", *ins.modifiers)[-3:]
    if len(ins.modifiers) != 3 or way not in ("rni", "rzi", "rmi", "rpi") or kind not in ("f32", "f64"):  # noqa: PLR2004
        return False
    value = low.read(ins.operands[1], kind)
    if to in _NARROW and kind == "f32":
        to_narrow(low, ins, way, to, value)
        return True
    if to not in ("s32", "u32", "s64", "u64"):
        return False
    whole = low.helper(f"cvt_{way}_{kind}_{kind}", f"b{kind[1:]}", value)
    low.emit(f"cvt_rzi_{to}_{kind}", dst=low.destination(ins.operands[0], WIDTH[to]), reads=(whole,))
    return True


def _between_integers(low: Lowering, ins: Instruction) -> None:
    *how, to, kind = ins.modifiers
    if how == ["sat"] and {to, kind} <= {"s32", "u32", *_NARROW}:
        saturated(low, ins)
        return
    integers = {f"{sign}{bits}" for sign in "usb" for bits in (8, 16, 32, 64)}
    if how or not {to, kind} <= integers:
        raise NotLoweredError(ins.name)
    destination, source = ins.operands
    if not isinstance(destination, Register) or destination.name not in low.frame.registers:
        raise NotLoweredError(ins.name)
    offset, own = low.frame.registers[destination.name]
    _extend(low, offset, own, low.read(source, read_type(kind)), (to, kind))


def _extend(low: Lowering, to: int, own: int, value: int, kinds: tuple[str, str]) -> None:
    """The low bits that both types have, extended to a register of ``own`` bytes."""
    target, source = kinds
    bits = 8 * min(TYPE_BYTES[target], TYPE_BYTES[source])
    grows = TYPE_BYTES[target] > TYPE_BYTES[source]
    if grows and TYPE_BYTES[target] < own and (source[0] == "s") != (target[0] == "s"):
        raise NotLoweredError(low.name())
    signed = (source if grows else target)[0] == "s"
    wide = TYPE_BYTES[source] == 8  # noqa: PLR2004 - `value` is a register of 64 bits
    if own == 8:  # noqa: PLR2004 - bytes
        if bits == 64:  # noqa: PLR2004
            low.emit("mov_b64", dst=to, reads=(value,))
            return
        bits_of = low.helper("trunc_64_32", "b32", value) if wide else value
        low.emit(f"{'sext' if signed else 'zext'}_{bits}_64", dst=to, reads=(bits_of,))
        return
    bits_of = low.helper("trunc_64_32", "b32", value) if wide else value
    if bits >= 8 * own:
        low.emit("mov_b32" if own == 4 else "trunc_32_16", dst=to, reads=(bits_of,))  # noqa: PLR2004
    elif signed:
        low.emit(f"sext_{bits}_{8 * own}", dst=to, reads=(bits_of,))
    else:
        low.emit(f"trunc_32_{bits}", dst=to, reads=(bits_of,))
