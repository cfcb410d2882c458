"""Conversions between integers and real numbers, and between real numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.sass.listing import Register
from grader.sass.operands import register_index, write_pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.sass.listing import Operand
    from grader.sass.machine import Machine, Step
    from grader.sass.operands import Link, Reader

_ROUNDINGS: dict[str, Callable[..., NDArray[Any]]] = {"FLOOR": np.floor, "CEIL": np.ceil, "TRUNC": np.trunc}


def _to_real(link: Link) -> Step:
    """I2F, I2FP: an integer as float32 or float64."""
    target, source = link.operands[0], link.operands[1]
    to, wide = register_index(target), link.has("F64")
    unsigned = link.has("U32") or link.has("U64") or link.has("U16") or link.has("U8")
    if link.has("U64") or link.has("S64"):
        pair = link.pair(source)
        value: Reader = lambda m: pair(m).view(np.uint64 if unsigned else np.int64)  # noqa: E731 - a closure
    elif any(map(link.has, ("U8", "S8", "U16", "S16"))):
        value = _part(link, source)
    else:
        word = link.word(source)
        value = lambda m: word(m).view(np.uint32 if unsigned else np.int32)  # noqa: E731 - a closure
    if wide:
        return lambda m: write_pair(m, to, value(m).astype(np.float64).view(np.uint64))
    return lambda m: m.write(to, value(m).astype(np.float32).view(np.uint32))


def _part(link: Link, operand: Operand) -> Reader:
    """A byte or a half of a word as an integer; its suffix says which (`.B1`, `.H1`)."""
    if not isinstance(operand, Register):
        raise link.unknown()
    word = link.word(Register(operand.file, operand.index))
    size = 8 if link.has("U8") or link.has("S8") else 16
    place = next((int(suffix[1]) for suffix in operand.suffixes if suffix in ("B1", "B2", "B3", "H1")), 0)
    kind = np.dtype(f"{'i' if link.has('S8') or link.has('S16') else 'u'}{size // 8}")
    return lambda m: (word(m) >> np.uint32(size * place)).astype(f"u{size // 8}").view(kind)


def _to_integer(link: Link) -> Step:
    """F2I: a real number rounded to an integer, the nearest that there is."""
    to = register_index(link.operands[0])
    value = link.double(link.operands[1]) if link.has("F64") else link.real(link.operands[1])
    rounds = next((_ROUNDINGS[name] for name in link.instruction.modifiers if name in _ROUNDINGS), np.rint)
    unsigned = any(map(link.has, ("U32", "U64", "U16", "U8")))
    wide = link.has("S64") or link.has("U64")
    bits = 64 if wide else 32
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    kind = np.dtype(f"{'u' if unsigned else 'i'}{bits // 8}")

    def step(m: Machine) -> None:
        whole = rounds(np.nan_to_num(value(m).astype(np.float64), posinf=float(high), neginf=float(low)))
        integer = np.where(whole >= high, kind.type(high), np.maximum(whole, low).astype(kind))
        if wide:
            write_pair(m, to, integer.astype(kind).view(np.uint64))
        else:
            m.write(to, integer.astype(kind).view(np.uint32))

    return step


def _between_reals(link: Link) -> Step:
    """F2F, FRND: between float32 and float64, or to a whole number."""
    to, modifiers = register_index(link.operands[0]), link.instruction.modifiers
    kinds = [name for name in modifiers if name in ("F16", "F32", "F64")]
    target, source = kinds if len(kinds) == 2 else (kinds or ["F32"]) * 2  # noqa: PLR2004 - to and from
    if "F16" in (target, source):
        raise link.unknown()
    value = link.double(link.operands[1]) if source == "F64" else link.real(link.operands[1])
    rounds = next((_ROUNDINGS[name] for name in modifiers if name in _ROUNDINGS), None)
    if link.instruction.opcode == "FRND" and rounds is None:
        rounds = np.rint

    def step(m: Machine) -> None:
        result = rounds(value(m)) if rounds else value(m)
        if target == "F64":
            write_pair(m, to, result.astype(np.float64).view(np.uint64))
        else:
            m.write(to, result.astype(np.float32).view(np.uint32))

    return step


TABLE: dict[str, Callable[[Link], Step]] = {
    **dict.fromkeys(("I2F", "I2FP"), _to_real),
    "F2I": _to_integer,
    **dict.fromkeys(("F2F", "FRND"), _between_reals),
}
"""How each instruction is linked."""
