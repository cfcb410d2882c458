"""Instructions on two numbers of 16 bits in a word: float16, or bfloat16 (`.BF16_V2`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.sass.floating import COMPARED, comparison_of, direction_of, joining_of
from grader.simulation.sass.listing import Real, SassConstant, SassRegister
from grader.simulation.sass.native_code import BOOLEANS, DIRECTIONS, Flag, MachineOperation, SourceOperand
from grader.simulation.sass.operands import (
    fixed,
    is_predicate,
    predicate_index,
    register_index,
    single_bits,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.sass.listing import Operand
    from grader.simulation.sass.operands import SassLink

_LOWER, _UPPER, _WHOLE = 1, 2, 3
"""Ways to read a word: one of its halves for both, or the whole as a float32 for both (else 0)."""

_ABSOLUTE, _NEGATED = 1, 2


def is_brain(link: SassLink) -> bool:
    """True for an instruction on bfloat16."""
    return any(name.startswith("BF16") for name in link.instruction.modifiers)


def half_bits(value: float, *, brain: bool) -> int:
    """The bits of a half that a listing prints as a decimal."""
    if brain:
        return min(single_bits(value) + 0x8000, 0xFFFFFFFF) >> 16
    with np.errstate(over="ignore"):
        return int(np.float16(value).view(np.uint16))


def _sources(link: SassLink, operands: list[Operand]) -> tuple[tuple[SourceOperand, ...], int]:
    """The operands, and how each is read; two immediates in a row are the halves of one."""
    sources: list[SourceOperand] = []
    ways = 0
    brain = is_brain(link)
    while operands:
        operand = operands.pop(0)
        if isinstance(operand, Real):
            other = operands.pop(0) if operands else operand
            if not isinstance(other, Real):
                raise link.unknown()
            upper, lower = (half_bits(number.value, brain=brain) for number in (operand, other))
            sources.append(fixed(upper << 16 | lower))
        else:
            source, how, signs = _halves(link, operand)
            ways |= how << 2 * len(sources) | signs << 8 + 2 * len(sources)
            sources.append(source)
    return tuple(sources), ways


def _halves(link: SassLink, operand: Operand) -> tuple[SourceOperand, int, int]:
    """A word, which halves of it are read, and their signs."""
    if not isinstance(operand, SassRegister | SassConstant):
        raise link.unknown()
    suffixes = operand.suffixes
    if "F32" in suffixes:
        return link.real(operand), _WHOLE, 0
    how = _LOWER if "H0_H0" in suffixes else _UPPER if "H1_H1" in suffixes else 0
    signs = _ABSOLUTE * operand.absolute | _NEGATED * operand.negated
    return link.word(operand.without_signs()), how, signs


_NAMES = {"HADD2": ("add_f16", 2), "HMUL2": ("multiply_f16", 2), "HFMA2": ("fma_f16", 3)}


def _arithmetic(link: SassLink) -> MachineOperation:
    """HADD2, HMUL2, HFMA2: two sums, products or both; `.F32` gives that of the lower halves as float32."""
    link.only("MMA", "F32", "SAT", "RELU", "BF16_V2", "FTZ")
    to = register_index(link.operands[0])
    sources, ways = _sources(link, [operand for operand in link.operands[1:] if not is_predicate(operand)])
    name, count = _NAMES[link.instruction.opcode]
    if len(sources) != count:
        raise link.unknown()
    flags = (
        Flag.BRAIN * is_brain(link)
        | Flag.SINGLE_RESULT * link.has("F32")
        | Flag.SATURATES * link.has("SAT")
        | Flag.RECTIFIES * link.has("RELU")
    )
    if name == "fma_f16" and not flags & ~Flag.BRAIN and _is_move(sources):
        return MachineOperation("move", to, sources[2:])
    return MachineOperation(name, to, sources, flags=flags, immediate=ways)


def _is_move(sources: tuple[SourceOperand, ...]) -> bool:
    """True for noughts times noughts and a fixed positive number: so ptxas writes a word to a register."""
    *factors, summand = sources
    numbers = (summand.value & 0xFFFF, summand.value >> 16)
    is_fixed = all(source.number < 0 for source in sources)
    return is_fixed and not any(factor.value for factor in factors) and all(n < _INFINITE for n in numbers)


_INFINITE = 0x7C00
"""Bits of the first float16 that is no number; those of a bfloat16 below it are numbers as well."""


def _extreme(link: SassLink) -> MachineOperation:
    """HMNMX2: the smaller halves where the predicate holds, else the larger."""
    link.only("NAN", "BF16_V2")
    target, *operands, chosen = link.operands
    (first, second), ways = _sources(link, operands)
    flags = Flag.BRAIN * is_brain(link) | Flag.NAN_WINS * link.has("NAN")
    return MachineOperation(
        "extreme_f16",
        register_index(target),
        (first, second),
        (link.truth(chosen),),
        flags=flags,
        immediate=ways,
    )


def _compared(link: SassLink, operands: list[Operand]) -> MachineOperation:
    """A comparison of halves, joined with a predicate; with `U` it holds for NaN, too."""
    link.only(*COMPARED, "NUM", "NAN", *BOOLEANS, "BF", "BM", "BF16_V2", "FTZ")
    comparison, unordered = comparison_of(link)
    *compared, given = operands
    (first, second), ways = _sources(link, compared)
    return MachineOperation(
        "compare_f16",
        sources=(first, second),
        truths=(link.truth(given),),
        mode=comparison,
        joins=joining_of(link),
        flags=unordered | Flag.BRAIN * is_brain(link) | Flag.AS_ONE * link.has("BF"),
        immediate=ways,
    )


def _decide(link: SassLink) -> MachineOperation:
    """HSETP2: a comparison of the lower and one of the upper halves, a predicate for each."""
    lower, upper, *operands = link.operands
    operation = _compared(link, operands)
    operation.decided = predicate_index(lower), predicate_index(upper)
    return operation


def _set(link: SassLink) -> MachineOperation:
    """HSET2: a comparison as 1 and 0 (`.BF`), or as bits that are all set and none (`.BM`)."""
    operation = _compared(link, list(link.operands[1:]))
    operation.name, operation.to = "set_f16", register_index(link.operands[0])
    return operation


def _pack(link: SassLink) -> MachineOperation:
    """F2FP: two float32 as the halves of a word."""
    link.only("F16", "BF16", "F32", "PACK_AB", *DIRECTIONS)
    to, upper, lower = link.operands[:3]
    sources, flags = (link.real(upper), link.real(lower)), Flag.BRAIN * link.has("BF16")
    return MachineOperation("pack_f16", register_index(to), sources, mode=direction_of(link), flags=flags)


TABLE: dict[str, Callable[[SassLink], MachineOperation]] = {
    **dict.fromkeys(("HADD2", "HMUL2", "HFMA2"), _arithmetic),
    "HMNMX2": _extreme,
    "HSETP2": _decide,
    "HSET2": _set,
    "F2FP": _pack,
}
"""Link functions by opcode."""
