"""Conversions between integers and real numbers, and between real numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.simulation.sass.floating import direction_of
from grader.simulation.sass.listing import SassRegister
from grader.simulation.sass.native_code import DIRECTIONS, Flag, MachineOperation, SourceOperand
from grader.simulation.sass.operands import register_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.sass.listing import Operand
    from grader.simulation.sass.operands import SassLink

_INTEGERS = ("U8", "S8", "U16", "S16", "U32", "S32", "U64", "S64")
_PARTS = {"B1": 8, "B2": 16, "B3": 24, "H1": 16}
"""Bit at which a part of a register begins."""
_WHOLE = ("RINT", "FLOOR", "CEIL", "TRUNC")
"""Ways to round to a whole number; the nearest one has no modifier."""
_REALS = {"F16": 2, "BF16": 2, "F32": 4, "F64": 8}
"""Bytes of each type."""
_WORD, _LONG = 4, 8


def _integer_kind(link: SassLink) -> tuple[int, bool]:
    """Bytes of the integer, and whether it has a sign; without a modifier int32."""
    name = next((name for name in link.instruction.modifiers if name in _INTEGERS), "S32")
    return int(name[1:]) // 8, name[0] == "S"


def _to_real(link: SassLink) -> MachineOperation:
    """I2F, I2FP: an integer as a real number."""
    link.only(*_INTEGERS, *DIRECTIONS, *_REALS)
    to, (size, is_signed) = register_index(link.operands[0]), _integer_kind(link)
    source, shift = _integer(link, link.operands[1], size)
    real = next((name for name in ("F16", "BF16", "F64") if link.has(name)), "F32")
    flags = Flag.SIGNED * is_signed | Flag.BRAIN * link.has("BF16")
    return MachineOperation(
        "to_real",
        to,
        (source,),
        size=size,
        count=_REALS[real],
        mode=direction_of(link),
        flags=flags,
        immediate=shift,
    )


def _integer(link: SassLink, operand: Operand, size: int) -> tuple[SourceOperand, int]:
    """An integer in a pair of registers, one, or a part of one, which begins at a bit."""
    if size == _LONG:
        return link.pair(operand), 0
    if size == _WORD or not isinstance(operand, SassRegister):
        return link.word(operand), 0
    shift = next((_PARTS[suffix] for suffix in operand.suffixes if suffix in _PARTS), 0)
    return link.word(operand.without_signs()), shift


def _real(link: SassLink, operand: Operand, kind: str) -> MachineOperation:
    """MachineOperation on a real number of a type, whole or in the lower or upper half of a register."""
    operation = MachineOperation("between_reals", register_index(link.operands[0]), size=_REALS[kind])
    if kind in ("F64", "F32"):
        operation.sources = (link.double(operand) if kind == "F64" else link.real(operand),)
        return operation
    if not isinstance(operand, SassRegister):
        raise link.unknown()
    operation.sources = (link.word(operand.without_signs()),)
    is_upper = bool({"H1", "H1_H1"} & set(operand.suffixes))
    operation.flags = Flag.UPPER_PART * is_upper | Flag.WIDE * (kind == "BF16")
    operation.immediate = operand.absolute | 2 * operand.negated
    return operation


def _to_integer(link: SassLink) -> MachineOperation:
    """F2I: a real number rounded to an integer, the nearest that there is; with `.NTZ` 0 for NaN."""
    link.only(*_INTEGERS, *_WHOLE[1:], *_REALS, "NTZ", "FTZ")
    size, is_signed = _integer_kind(link)
    source = next((name for name in link.instruction.modifiers if name in _REALS), "F32")
    operation = _real(link, link.operands[1], source)
    operation.name, operation.count = "to_integer", size
    operation.joins = max(0, link.named(_WHOLE))
    operation.flags |= Flag.SIGNED * is_signed | Flag.NAN_IS_ZERO * link.has("NTZ")
    return operation


def _between_reals(link: SassLink) -> MachineOperation:
    """F2F, FRND: between types of real numbers, or to a whole number."""
    modifiers = link.instruction.modifiers
    link.only(*_WHOLE[1:], *_REALS, *DIRECTIONS, "FTZ")
    kinds = [name for name in modifiers if name in _REALS]
    target, source = kinds if len(kinds) == 2 else (kinds or ["F32"]) * 2  # noqa: PLR2004 - to and from
    operation = _real(link, link.operands[1], source)
    rounds = link.named(_WHOLE) >= 0 or link.instruction.opcode == "FRND"
    operation.count, operation.mode = _REALS[target], direction_of(link)
    operation.joins = max(0, link.named(_WHOLE))
    operation.flags |= Flag.JOINED * rounds | Flag.BRAIN * (target == "BF16")
    return operation


TABLE: dict[str, Callable[[SassLink], MachineOperation]] = {
    **dict.fromkeys(("I2F", "I2FP"), _to_real),
    "F2I": _to_integer,
    **dict.fromkeys(("F2F", "FRND"), _between_reals),
}
"""Link functions by opcode."""
