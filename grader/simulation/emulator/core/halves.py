"""Lowering of half precision: f16, bf16 and their packed pairs (PTX ISA sections 9.7.4, 9.7.7 and 9.7.9.21).

A comparison, and a conversion to anything, is one of the floats that the halves stand for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.simulation.emulator.core.composing import to_narrow, widened
from grader.simulation.emulator.core.forms import WIDTH, CoreForm
from grader.simulation.emulator.core.lowering import NotLoweredError
from grader.simulation.ptx import Pair

if TYPE_CHECKING:
    from grader.simulation.emulator.core.lowering import Lowering
    from grader.simulation.ptx import Instruction

TYPES = frozenset({"f16", "f16x2", "bf16", "bf16x2"})
_SINGLE = ("f16", "bf16")

_ARITY = {"add": 2, "sub": 2, "mul": 2, "fma": 3, "neg": 1, "abs": 1, "min": 2, "max": 2, "ex2": 1, "tanh": 1}
_ROUNDED = {"rni", "rzi", "rmi", "rpi"}


def bits_of(kind: str) -> str:
    """The type as which a half, or a pair of them, is read."""
    return "b32" if kind.endswith("x2") else "b16"


def half_form(opcode: str, words: frozenset[str], kind: str) -> CoreForm | None:
    """The operation of an instruction of halves; None where there is none."""
    arity = _ARITY.get(opcode)
    extreme = opcode in ("min", "max")
    if arity is None or not words <= ({"NaN"} if extreme else {"rn", "approx"}):
        return None
    name = f"{opcode}_nan_{kind}" if "NaN" in words else f"{opcode}_{kind}"
    return CoreForm(name, bits_of(kind), (bits_of(kind),) * arity)


def compare(low: Lowering, ins: Instruction) -> None:
    """`setp.CmpOp[.ftz].f16 p, a, b`; of packed pairs `p|q`, one for each half (PTX ISA section 9.7.7.2)."""
    relation, *words, kind = ins.modifiers
    to, *sources = ins.operands
    if words not in ([], ["ftz"]) or isinstance(to, Pair) != kind.endswith("x2"):
        raise NotLoweredError(ins.name)
    values = [low.read(source, bits_of(kind)) for source in sources]
    if words:
        values = [low.helper(f"flush_{kind}", "b32", value) for value in values]
    parts = (
        [("trunc_32_16", to.first), ("high_32_16", to.second)] if isinstance(to, Pair) else [("mov_b32", to)]
    )
    single = kind.removesuffix("x2")
    compared = []
    for part, _ in parts:
        numbers = (low.helper(f"cvt_f32_{single}", "b32", low.helper(part, "b32", value)) for value in values)
        compared.append(low.helper(f"setp_{relation}_f32", "pred", *numbers))
    for holds, (_, register) in zip(compared, parts, strict=True):
        low.emit("mov_pred", dst=low.destination(register, 0), reads=(holds,))


def converts(ins: Instruction) -> bool:
    """True if a `cvt` is from or to halves."""
    return not TYPES.isdisjoint(ins.modifiers[-2:])


def convert(low: Lowering, ins: Instruction) -> None:
    """`cvt` from or to halves (PTX ISA section 9.7.9.21)."""
    *how, to, kind = ins.modifiers
    if kind in _SINGLE:
        _from_half(low, ins, how)
    elif to in _SINGLE:
        value, source = low.read(ins.operands[1], kind if WIDTH.get(kind, 0) > 2 else "b32"), kind  # noqa: PLR2004
        if WIDTH.get(kind, 4) < 4:  # noqa: PLR2004 - bytes
            value, source = widened(low, value, kind), f"{kind[0]}32"
        _finished(low, ins, how, f"cvt_{to}_{source}", (value,))
    elif kind == "f32":
        single = to.removesuffix("x2")
        upper, lower = (
            low.helper(f"cvt_{single}_f32", "b32", low.read(source, "f32")) for source in ins.operands[1:]
        )
        _finished(low, ins, how, "pack_16_32", (lower, upper))
    else:
        raise NotLoweredError(ins.name)


def _finished(low: Lowering, ins: Instruction, how: list[str], name: str, reads: tuple[int, ...]) -> None:
    """Emit an operation that gives halves, and what the modifiers ask of its result."""
    to = ins.modifiers[-2]
    after = [word for word in ("sat", "relu") if word in how]
    if not set(how) <= {"rn", *after}:
        raise NotLoweredError(ins.name)
    for word in after:
        reads = (low.helper(name, "b32", *reads),)
        name = f"{word}_{to}"
    low.emit(name, dst=low.destination(ins.operands[0], WIDTH[bits_of(to)]), reads=reads)


def _from_half(low: Lowering, ins: Instruction, how: list[str]) -> None:
    to, kind = ins.modifiers[-2:]
    number = low.read(ins.operands[1], "b16")
    if to == "f32" and not how:
        low.emit(f"cvt_f32_{kind}", dst=low.destination(ins.operands[0], 4), reads=(number,))
        return
    if len(how) != 1 or how[0] not in _ROUNDED:
        raise NotLoweredError(ins.name)
    single = low.helper(f"cvt_f32_{kind}", "b32", number)
    if to in ("s8", "u8", "s16", "u16"):
        to_narrow(low, ins, how[0], to, single)
        return
    whole = low.helper(f"cvt_{how[0]}_f32_f32", "b32", single)
    name = f"cvt_{to}_f32" if to == kind else f"cvt_rzi_{to}_f32"
    low.emit(name, dst=low.destination(ins.operands[0], WIDTH.get(to, 2)), reads=(whole,))
