"""Integer instructions: sums, products, comparisons, the larger and the smaller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.simulation.sass.listing import Integer, SassConstant, SassRegister
from grader.simulation.sass.native_code import (
    BOOLEANS,
    COMPARISONS,
    NOUGHT,
    Flag,
    MachineOperation,
    Sign,
    SourceOperand,
)
from grader.simulation.sass.operands import (
    MASK,
    fixed,
    is_predicate,
    predicate_index,
    register_index,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.sass.listing import Operand
    from grader.simulation.sass.operands import SassLink

_ORDERED = COMPARISONS[:6]


def _sum(link: SassLink) -> MachineOperation:
    """IADD3, VIADD: up to three words, with carries in and out."""
    link.only("X", "16x2")
    to, carries, sources, rest = link.split(min(3, len(link.operands) - 1))
    if link.has("16x2"):
        return _sum_of_halves(link, to, sources)
    carried = [link.truth(operand) for operand in rest if is_predicate(operand)] if link.has("X") else []
    if not carries and not carried:
        first, second, *third = (link.word(operand) for operand in sources)
        return MachineOperation("add", to, (first, second, *third))
    addends = tuple(_addend(link, operand) for operand in sources)
    return MachineOperation(
        "add_with_carries",
        to,
        addends,
        tuple(carried),
        carries,
        count=len(addends),
        immediate=len(carried),
    )


def _sum_of_halves(link: SassLink, to: int, sources: tuple[Operand, ...]) -> MachineOperation:
    """VIADD.16x2: the sums of the halves of two words."""
    negated = (Flag.SIGNED, Flag.SIGNED_SECOND, Flag.EXTENDED)
    flags = sum(
        flag * getattr(operand, "negated", False) for flag, operand in zip(negated, sources, strict=False)
    )
    plain = (o.without_signs() if isinstance(o, SassRegister | SassConstant) else o for o in sources)
    return MachineOperation("add_halves", to, tuple(link.word(operand) for operand in plain), flags=flags)


def _addend(link: SassLink, operand: Operand) -> SourceOperand:
    """A word as the adder gets it: a negative one as its complement and 1, which may carry."""
    if (
        isinstance(operand, SassRegister | SassConstant)
        and operand.negated
        and getattr(operand, "index", 0) >= 0
    ):
        plain = link.word(operand.without_signs())
        return plain._replace(signs=Sign.NEGATED) if plain.number >= 0 else fixed((1 << 32) - plain.value)
    return link.word(operand)


def _product(link: SassLink) -> MachineOperation:
    """IMAD in all its forms: the low word of a product and a sum, the high one, or both."""
    link.only("MOV", "U32", "IADD", "SHL", "WIDE", "HI", "X")
    to, carries, (x, y, z), rest = link.split(3)
    carry = (link.truth(rest[0]),) if link.has("X") and rest else ()
    if link.has("WIDE") or link.has("HI"):
        flags = Flag.SIGNED * (not link.has("U32")) | Flag.HIGH * link.has("HI")
        sources = link.word(x), link.word(y), link.pair(z)
        return MachineOperation(
            "multiply_wide", to, sources, carry, carries, flags=flags, immediate=len(carry)
        )
    sources = link.word(x), link.word(y), link.word(z)
    if isinstance(x, SassRegister) and x.index < 0 and not link.has("X"):
        return MachineOperation("move", to, sources[2:])
    if isinstance(y, Integer) and y.value == 1 and not link.has("X"):
        return MachineOperation("add", to, (sources[0], NOUGHT, sources[2]))
    return MachineOperation("multiply_add", to, sources, carry, flags=Flag.CARRIES_IN * bool(carry))


def _scaled_sum(link: SassLink) -> MachineOperation:
    """LEA: a shifted word and another, or the upper half of that for a pair of words."""
    to, carries, sources, rest = link.split(len([o for o in link.operands if not is_predicate(o)]) - 1)
    link.only("HI", "X", "SX32")
    carry = (link.truth(rest[0]),) if link.has("X") and rest else ()
    *words, amount = sources
    if not isinstance(amount, Integer):
        raise link.unknown()
    first, second = link.word(words[0]), _addend(link, words[1])
    upper = link.word(words[2]) if len(words) > 2 else NOUGHT  # noqa: PLR2004 - the upper half of the first
    return MachineOperation(
        "shift_add",
        to,
        (first, second, upper),
        carry,
        carries,
        mode=amount.value & 31,
        immediate=len(carry),
        flags=Flag.HIGH * link.has("HI") | Flag.EXTENDED * link.has("SX32"),
    )


def _compare(link: SassLink) -> MachineOperation:
    """ISETP: a comparison, joined with a predicate; `.EX` takes the result of the lower halves."""
    link.only("U32", "EX", *_ORDERED, *BOOLEANS)
    first, second, x, y, *given = link.operands
    comparison, joins = link.instruction.modifiers[0], link.named(BOOLEANS)
    if comparison not in _ORDERED or joins < 0:
        raise link.unknown()
    lower = (link.truth(given[1]),) if link.has("EX") else ()
    return MachineOperation(
        "compare",
        sources=(link.word(x), link.word(y)),
        truths=(link.truth(given[0]), *lower),
        decided=(predicate_index(first), predicate_index(second)),
        mode=_ORDERED.index(comparison),
        joins=joins,
        flags=Flag.SIGNED * (not link.has("U32")) | Flag.EXTENDED * link.has("EX"),
    )


_LANES = {"U32": (4, False), "S32": (4, True), "S16x2": (2, True), "U16x2": (2, False)}
"""Bytes and sign of what is compared."""


def _extreme(link: SassLink) -> MachineOperation:
    """IMNMX, VIMNMX: the smallest where the predicate holds, else the largest; VIADDMNMX adds before."""
    link.only(*_LANES, "RELU")
    target, *operands, chosen = link.operands
    lanes = next((_LANES[name] for name in link.instruction.modifiers if name in _LANES), _LANES["S32"])
    adds = link.instruction.opcode == "VIADDMNMX"
    words = tuple(link.word(operand) for operand in operands)
    if not 2 <= len(words) <= 3 or (adds and len(words) < 3):  # noqa: PLR2004 - of two words or of three
        raise link.unknown()
    return MachineOperation(
        "extreme",
        register_index(target),
        words,
        (link.truth(chosen),),
        size=lanes[0],
        count=len(words),
        flags=Flag.SIGNED * lanes[1] | Flag.RECTIFIES * link.has("RELU") | Flag.ACCUMULATES * adds,
    )


def _magnitude(link: SassLink) -> MachineOperation:
    source = link.word(link.operands[1])
    if source.number < 0:
        value = source.value - (source.value >> 31 << 32)
        return MachineOperation("move", register_index(link.operands[0]), (fixed(abs(value) & MASK),))
    absolute = source._replace(signs=source.signs | Sign.ABSOLUTE)
    return MachineOperation("move", register_index(link.operands[0]), (absolute,))


def _dot(link: SassLink) -> MachineOperation:
    """IDP: the products of four bytes with four, or (`.2A`) of two halves with the lower or upper two."""
    link.only("4A", "2A", "LO", "HI", "U8", "S8", "U16", "S16")
    first, second = (_PARTS[name] for name in link.instruction.modifiers if name in _PARTS)
    return MachineOperation(
        "dot",
        register_index(link.operands[0]),
        _three_words(link),
        size=first[0],
        space=second[0],
        flags=Flag.HIGH * link.has("HI") | Flag.SIGNED * first[1] | Flag.SIGNED_SECOND * second[1],
    )


def _difference(link: SassLink) -> MachineOperation:
    """VABSDIFF: how far two words are apart, and a sum; VABSDIFF4: their bytes (`.ACC`: added up)."""
    link.only("U32", "S32", "U8", "S8", "ACC")
    whole = link.instruction.opcode == "VABSDIFF"
    is_signed = not link.has("U32") if whole else link.has("S8")
    flags = Flag.SIGNED * is_signed | Flag.ACCUMULATES * link.has("ACC")
    to = register_index(link.operands[0])
    return MachineOperation("difference", to, _three_words(link), size=4 if whole else 1, flags=flags)


def _three_words(link: SassLink) -> tuple[SourceOperand, ...]:
    x, y, z = (link.word(operand) for operand in link.operands[1:4])
    return x, y, z


_PARTS = {"U8": (1, False), "S8": (1, True), "U16": (2, False), "S16": (2, True)}


TABLE: dict[str, Callable[[SassLink], MachineOperation]] = {
    **dict.fromkeys(("IADD3", "UIADD3", "VIADD"), _sum),
    **dict.fromkeys(("IMAD", "UIMAD"), _product),
    **dict.fromkeys(("LEA", "ULEA"), _scaled_sum),
    **dict.fromkeys(("ISETP", "UISETP"), _compare),
    **dict.fromkeys(("IMNMX", "UIMNMX", "VIMNMX", "VIMNMX3", "VIADDMNMX"), _extreme),
    "IABS": _magnitude,
    "IDP": _dot,
    **dict.fromkeys(("VABSDIFF", "VABSDIFF4"), _difference),
}
"""Link functions by opcode."""
