"""Integer instructions: sums, products, comparisons, the larger and the smaller."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.sass.listing import Integer, SassConstant, SassRegister
from grader.simulation.sass.operands import (
    BOOLEANS,
    COMPARISONS,
    MASK,
    is_predicate,
    predicate_index,
    register_index,
    write_pair,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.sass.listing import Operand
    from grader.simulation.sass.machine import SassMachine, Step
    from grader.simulation.sass.operands import Reader, SassLink

_WORD = np.uint64(32)
_LOW = np.uint64(MASK)


def _sum(link: SassLink) -> Step:
    """IADD3, VIADD: up to three words, with carries in and out."""
    link.only("X", "16x2")
    to, carries, sources, rest = link.split(min(3, len(link.operands) - 1))
    if link.has("16x2"):
        return _sum_of_halves(link, to, sources)
    carried = [link.truth(operand) for operand in rest if is_predicate(operand)] if link.has("X") else []
    words = [link.word(operand) for operand in sources]
    if not carries and not carried:
        if len(words) == 2:  # noqa: PLR2004 - VIADD
            first, second = words
            return lambda m: m.write(to, first(m) + second(m))
        a, b, c = words
        return lambda m: m.write(to, a(m) + b(m) + c(m))
    addends = [_addend(link, operand) for operand in sources]

    def step(m: SassMachine) -> None:
        total = addends[0](m)
        for addend in addends[1:]:
            total = total + addend(m)
        for carry in carried:
            total = total + carry(m).astype(np.uint64)
        m.write(to, total.astype(np.uint32))
        for number, predicate in enumerate(carries):
            m.decide(predicate, total >> _WORD > np.uint64(number))

    return step


def _sum_of_halves(link: SassLink, to: int, sources: tuple[Operand, ...]) -> Step:
    """VIADD.16x2: the sums of the halves of two words."""
    signs = [np.uint16(0xFFFF if getattr(operand, "negated", False) else 1) for operand in sources]
    plain = [o.without_signs() if isinstance(o, SassRegister | SassConstant) else o for o in sources]
    words = [link.word(operand) for operand in plain]

    def step(m: SassMachine) -> None:
        halves = [
            word(m).view(np.uint16).reshape(-1, 2) * sign for word, sign in zip(words, signs, strict=True)
        ]
        m.write(to, np.ascontiguousarray(functools.reduce(np.add, halves)).view(np.uint32)[:, 0])

    return step


def _addend(link: SassLink, operand: Operand) -> Reader:
    """A word as the adder gets it: a negative one as its complement and 1, which may carry."""
    if (
        isinstance(operand, SassRegister | SassConstant)
        and operand.negated
        and getattr(operand, "index", 0) >= 0
    ):
        plain = link.word(operand.without_signs())
        return lambda m: np.uint64(1 << 32) - plain(m)
    value = link.word(operand)
    return lambda m: value(m).astype(np.uint64)


def _product(link: SassLink) -> Step:
    """IMAD in all its forms: the low word of a product and a sum, the high one, or both."""
    link.only("MOV", "U32", "IADD", "SHL", "WIDE", "HI", "X")
    to, carries, (x, y, z), rest = link.split(3)
    signed = not link.has("U32")
    if link.has("WIDE") or link.has("HI"):
        return _wide_product(link, to, carries, (x, y, z), rest, signed=signed)
    a, b, c = link.word(x), link.word(y), link.word(z)
    if isinstance(x, SassRegister) and x.index < 0 and not link.has("X"):
        return lambda m: m.write(to, c(m))
    if isinstance(y, Integer) and y.value == 1 and not link.has("X"):
        return lambda m: m.write(to, a(m) + c(m))
    if link.has("X") and rest:
        carry = link.truth(rest[0])
        return lambda m: m.write(to, a(m) * b(m) + c(m) + carry(m))
    return lambda m: m.write(to, a(m) * b(m) + c(m))


def _wide_product(
    link: SassLink,
    to: int,
    carries: tuple[int, ...],
    sources: tuple[Operand, ...],
    rest: tuple[Operand, ...],
    *,
    signed: bool,
) -> Step:
    a, b, c = link.word(sources[0]), link.word(sources[1]), link.pair(sources[2])
    carry = link.truth(rest[0]) if link.has("X") and rest else None
    high = link.has("HI")

    def step(m: SassMachine) -> None:
        x, y, addend = a(m), b(m), c(m)
        if signed:
            product = np.multiply(x.view(np.int32), y.view(np.int32), dtype=np.int64).view(np.uint64)
        else:
            product = np.multiply(x, y, dtype=np.uint64)
        total = product + addend
        if carry is not None:
            total = total + carry(m).astype(np.uint64)
        if high:
            m.write(to, (total >> _WORD).astype(np.uint32))
        else:
            write_pair(m, to, total)
        for predicate in carries:
            m.decide(predicate, total < addend)

    return step


def _scaled_sum(link: SassLink) -> Step:
    """LEA: a shifted word and another, or the upper half of that for a pair of words."""
    to, carries, sources, rest = link.split(len([o for o in link.operands if not is_predicate(o)]) - 1)
    link.only("HI", "X", "SX32")
    carry = link.truth(rest[0]) if link.has("X") and rest else None
    *words, amount = sources
    if not isinstance(amount, Integer):
        raise link.unknown()
    shift = np.uint64(amount.value & 31)
    a, b = link.word(words[0]), _addend(link, words[1])
    upper = link.word(words[2]) if len(words) > 2 else None  # noqa: PLR2004 - the upper half of the first

    def step(m: SassMachine) -> None:
        x = a(m)
        if link.has("HI"):
            if link.has("SX32"):
                above = np.where(x.view(np.int32) < 0, np.uint64(MASK), np.uint64(0))
            else:
                above = upper(m).astype(np.uint64) if upper else np.zeros(1, np.uint64)
            shifted = (x.astype(np.uint64) | above << _WORD) << shift >> _WORD
        else:
            shifted = x.astype(np.uint64) << shift & _LOW
        total = shifted + b(m)
        if carry is not None:
            total = total + carry(m).astype(np.uint64)
        m.write(to, total.astype(np.uint32))
        for predicate in carries:
            m.decide(predicate, total > _LOW)

    return step


def _compare(link: SassLink) -> Step:
    """ISETP: a comparison, joined with a predicate; `.EX` takes the result of the lower halves."""
    link.only("U32", "EX", *COMPARISONS, *BOOLEANS)
    first, second, x, y, *given = link.operands
    modifiers = link.instruction.modifiers
    holds = COMPARISONS.get(modifiers[0])
    joins = next((BOOLEANS[name] for name in modifiers if name in BOOLEANS), None)
    if holds is None or joins is None:
        raise link.unknown()
    kind = np.uint32 if link.has("U32") else np.int32
    a, b, old = link.word(x), link.word(y), link.truth(given[0])
    lower = link.truth(given[1]) if link.has("EX") else None
    strict = COMPARISONS[{"LE": "LT", "GE": "GT"}.get(modifiers[0], modifiers[0])]
    to, other = predicate_index(first), predicate_index(second)

    def step(m: SassMachine) -> None:
        left, right = a(m).view(kind), b(m).view(kind)
        if lower is None:
            result = holds(left, right)
        elif modifiers[0] == "NE":
            result = (left != right) | lower(m)
        elif modifiers[0] == "EQ":
            result = (left == right) & lower(m)
        else:
            result = strict(left, right) | ((left == right) & lower(m))
        given_value = old(m)
        m.decide(to, joins(result, given_value))
        if other >= 0:
            m.decide(other, joins(~result, given_value))

    return step


_LANES = {"U32": "u4", "S32": "i4", "S16x2": "i2", "U16x2": "u2"}


def _extreme(link: SassLink) -> Step:
    """IMNMX, VIMNMX: the smallest where the predicate holds, else the largest; VIADDMNMX adds before."""
    link.only(*_LANES, "RELU")
    target, *operands, chosen = link.operands
    kind = np.dtype(next((_LANES[name] for name in link.instruction.modifiers if name in _LANES), "i4"))
    to, words, smaller = register_index(target), [link.word(o) for o in operands], link.truth(chosen)
    adds, parts = link.instruction.opcode == "VIADDMNMX", 4 // kind.itemsize
    rectifies = link.has("RELU")

    def step(m: SassMachine) -> None:
        values = [word(m).view(kind).reshape(-1, parts) for word in words]
        if adds:
            values = [values[0] + values[1], values[2]]
        least, most = functools.reduce(np.minimum, values), functools.reduce(np.maximum, values)
        result = np.where(smaller(m)[:, None], least, most)
        result = np.maximum(result, 0) if rectifies else result
        m.write(to, np.ascontiguousarray(result).view(np.uint32)[:, 0])

    return step


def _magnitude(link: SassLink) -> Step:
    to, value = register_index(link.operands[0]), link.word(link.operands[1])
    return lambda m: m.write(to, np.abs(value(m).view(np.int32)).view(np.uint32))


def _dot(link: SassLink) -> Step:
    """IDP: the products of four bytes with four, or (`.2A`) of two halves with the lower or upper two."""
    link.only("4A", "2A", "LO", "HI", "U8", "S8", "U16", "S16")
    kinds = [np.dtype(_PARTS[name]) for name in link.instruction.modifiers if name in _PARTS]
    to, (x, y, z) = register_index(link.operands[0]), (link.word(operand) for operand in link.operands[1:4])
    first, second = kinds
    skipped = 2 if link.has("HI") else 0

    def step(m: SassMachine) -> None:
        a, b, total = x(m), y(m), z(m)
        for index in range(4 // first.itemsize):
            left, right = _part(a, index, first), _part(b, index + skipped, second)
            total = total + (left * right).astype(np.uint32)
        m.write(to, total)

    return step


def _difference(link: SassLink) -> Step:
    """VABSDIFF: how far two words are apart, and a sum; VABSDIFF4: their bytes (`.ACC`: added up)."""
    link.only("U32", "S32", "U8", "S8", "ACC")
    to, (x, y, z) = register_index(link.operands[0]), (link.word(operand) for operand in link.operands[1:4])
    if link.instruction.opcode == "VABSDIFF":
        kind = np.dtype("u4" if link.has("U32") else "i4")
        return lambda m: m.write(
            to, np.abs(_part(x(m), 0, kind) - _part(y(m), 0, kind)).astype(np.uint32) + z(m)
        )
    kind, adds = np.dtype("i1" if link.has("S8") else "u1"), link.has("ACC")

    def step(m: SassMachine) -> None:
        a, b, total = x(m), y(m), z(m)
        for index in range(4):
            apart = np.abs(_part(a, index, kind) - _part(b, index, kind)).astype(np.uint32)
            total = total + (apart if adds else apart << np.uint32(8 * index))
        m.write(to, total)

    return step


_PARTS = {"U8": "u1", "S8": "i1", "U16": "u2", "S16": "i2"}


def _part(word: NDArray[np.uint32], index: int, kind: np.dtype[Any]) -> NDArray[np.int64]:
    """A byte or a half of words."""
    shift = np.uint32(8 * kind.itemsize * index)
    return (word >> shift).astype(f"u{kind.itemsize}").view(kind).astype(np.int64)


TABLE: dict[str, Callable[[SassLink], Step]] = {
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
