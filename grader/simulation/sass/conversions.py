"""Conversions between integers and real numbers, and between real numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.sass.floating import DIRECTIONS, rounded
from grader.simulation.sass.halves import narrowed, widened
from grader.simulation.sass.listing import SassRegister
from grader.simulation.sass.operands import register_index, write_pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.sass.listing import Operand
    from grader.simulation.sass.machine import SassMachine, Step
    from grader.simulation.sass.operands import Reader, SassLink

_INTEGERS = {
    "U8": "u1",
    "S8": "i1",
    "U16": "u2",
    "S16": "i2",
    "U32": "u4",
    "S32": "i4",
    "U64": "u8",
    "S64": "i8",
}
_PARTS = {"B1": 8, "B2": 16, "B3": 24, "H1": 16}
"""Bit at which a part of a register begins."""
_WHOLE: dict[str, Callable[..., NDArray[Any]]] = {"FLOOR": np.floor, "CEIL": np.ceil, "TRUNC": np.trunc}
_REALS = ("F16", "BF16", "F32", "F64")


def _integer_kind(link: SassLink) -> np.dtype[Any]:
    """The type of the integer; without a modifier int32."""
    return np.dtype(next((_INTEGERS[name] for name in link.instruction.modifiers if name in _INTEGERS), "i4"))


def _to_real(link: SassLink) -> Step:
    """I2F, I2FP: an integer as a real number."""
    link.only(*_INTEGERS, *DIRECTIONS, *_REALS)
    to, value = register_index(link.operands[0]), _integer(link, link.operands[1], _integer_kind(link))
    direction = next((name for name in link.instruction.modifiers if name in DIRECTIONS), "RN")
    if link.has("F16") or link.has("BF16"):
        brain = link.has("BF16")
        return lambda m: m.write(to, narrowed(value(m), brain=brain, direction=direction))
    if link.has("F64"):
        return lambda m: write_pair(m, to, rounded(value(m), np.float64, direction).view(np.uint64))
    return lambda m: m.write(to, rounded(value(m), np.float32, direction).view(np.uint32))


def _integer(link: SassLink, operand: Operand, kind: np.dtype[Any]) -> Reader:
    """An integer in a pair of registers, one, or a part of one."""
    if kind.itemsize == 8:  # noqa: PLR2004 - bytes
        pair = link.pair(operand)
        return lambda m: pair(m).view(kind)
    if kind.itemsize == 4 or not isinstance(operand, SassRegister):  # noqa: PLR2004 - bytes
        word = link.word(operand)
        return lambda m: word(m).view(np.dtype(f"{kind.kind}4")).astype(kind)
    register = link.word(operand.without_signs())
    shift = np.uint32(next((_PARTS[suffix] for suffix in operand.suffixes if suffix in _PARTS), 0))
    return lambda m: (register(m) >> shift).astype(f"u{kind.itemsize}").view(kind)


def _real(link: SassLink, operand: Operand, kind: str) -> Reader:
    """A real number of a type, whole or in the lower or upper half of a register."""
    if kind == "F64":
        return link.double(operand)
    if kind == "F32":
        return link.real(operand)
    if not isinstance(operand, SassRegister):
        raise link.unknown()
    word, brain, signed = link.word(operand.without_signs()), kind == "BF16", operand
    shift = np.uint32(16 if {"H1", "H1_H1"} & set(operand.suffixes) else 0)

    def read(m: SassMachine) -> NDArray[Any]:
        value = widened((word(m) >> shift).astype(np.uint16), brain=brain)
        value = np.abs(value) if signed.absolute else value
        return -value if signed.negated else value

    return read


def _write(link: SassLink, m: SassMachine, to: int, value: NDArray[Any], kind: str) -> None:
    direction = next((name for name in link.instruction.modifiers if name in DIRECTIONS), "RN")
    if kind == "F64":
        write_pair(m, to, value.astype(np.float64).view(np.uint64))
    elif kind == "F32":
        m.write(to, rounded(value, np.float32, direction).view(np.uint32))
    else:
        m.write(to, narrowed(value, brain=kind == "BF16", direction=direction))


def _to_integer(link: SassLink) -> Step:
    """F2I: a real number rounded to an integer, the nearest that there is; with `.NTZ` 0 for NaN."""
    link.only(*_INTEGERS, *_WHOLE, *_REALS, "NTZ", "FTZ")
    to, kind = register_index(link.operands[0]), _integer_kind(link)
    source = next((name for name in link.instruction.modifiers if name in _REALS), "F32")
    value = _real(link, link.operands[1], source)
    rounds = next((_WHOLE[name] for name in link.instruction.modifiers if name in _WHOLE), np.rint)
    limits = np.iinfo(kind)
    beyond = float(limits.max) + 1 if kind.itemsize == 8 else float(limits.max)  # noqa: PLR2004 - bytes
    nothing = kind.type(0) if link.has("NTZ") else kind.type(limits.min or 1 << 8 * kind.itemsize - 1)

    def step(m: SassMachine) -> None:
        real = value(m).astype(np.float64)
        whole = rounds(np.where(np.isnan(real), 0, real))
        inside = np.clip(whole, float(limits.min), np.nextafter(beyond, 0) if kind.itemsize == 8 else beyond)  # noqa: PLR2004
        integer = np.where(whole >= beyond, kind.type(limits.max), inside.astype(kind))
        integer = np.where(np.isnan(real), nothing, integer).astype(kind)
        if kind.itemsize == 8:  # noqa: PLR2004 - bytes
            write_pair(m, to, integer.view(np.uint64))
        else:
            m.write(to, integer.astype(f"{kind.kind}4").view(np.uint32))

    return step


def _between_reals(link: SassLink) -> Step:
    """F2F, FRND: between types of real numbers, or to a whole number."""
    modifiers = link.instruction.modifiers
    link.only(*_WHOLE, *_REALS, *DIRECTIONS, "FTZ")
    kinds = [name for name in modifiers if name in _REALS]
    target, source = kinds if len(kinds) == 2 else (kinds or ["F32"]) * 2  # noqa: PLR2004 - to and from
    to, value = register_index(link.operands[0]), _real(link, link.operands[1], source)
    rounds = next((_WHOLE[name] for name in modifiers if name in _WHOLE), None)
    if link.instruction.opcode == "FRND" and rounds is None:
        rounds = np.rint

    def step(m: SassMachine) -> None:
        _write(link, m, to, rounds(value(m)) if rounds else value(m), target)

    return step


TABLE: dict[str, Callable[[SassLink], Step]] = {
    **dict.fromkeys(("I2F", "I2FP"), _to_real),
    "F2I": _to_integer,
    **dict.fromkeys(("F2F", "FRND"), _between_reals),
}
"""Link functions by opcode."""
