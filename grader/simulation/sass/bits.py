"""Instructions on bits: shifts, logic, bytes, counts; predicates, special registers and selections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.sass.listing import Integer, SassRegister, UnknownCodeError
from grader.simulation.sass.machine import TRUE, WARP, ZERO
from grader.simulation.sass.operands import MASK, is_predicate, predicate_index, register_index
from grader.simulation.sass.warps import acting, of_first

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.sass.listing import Operand
    from grader.simulation.sass.machine import SassMachine, Step
    from grader.simulation.sass.operands import SassLink

_WORD = np.uint64(32)
_LOW = np.uint64(MASK)
_PREDICATES = 7
_MOST = np.uint64(63)


def _move(link: SassLink) -> Step:
    link.only("32")
    to, value = register_index(link.operands[0]), link.word(link.operands[1])
    return lambda m: m.write(to, value(m))


def _shift(link: SassLink) -> Step:
    """SHF: a funnel of two words is shifted, and one half of it taken."""
    link.only("L", "R", "W", "HI", "U32", "S32", "U64", "S64")
    target, low, amount, high = link.operands
    to, a, n, b = register_index(target), link.word(low), link.word(amount), link.word(high)
    left, upper, wraps = link.has("L"), link.has("HI"), link.has("W")
    wide = link.has("U64") or link.has("S64")
    signed = link.has("S32") or link.has("S64")
    most = 64 if wide else 32

    def step(m: SassMachine) -> None:
        x, y = a(m).astype(np.uint64), b(m).astype(np.uint64)
        by = n(m)
        shift = (by % np.uint32(most) if wraps else np.minimum(by, np.uint32(most))).astype(np.uint64)
        funnel = x | y << _WORD
        if left:
            shifted = np.where(shift > _MOST, np.uint64(0), funnel << (shift & _MOST))
            value = shifted >> _WORD if upper else shifted & _LOW
            if not wide and not upper:
                value = np.where(shift > 31, np.uint64(0), x << (shift & np.uint64(31)))  # noqa: PLR2004
        elif signed and upper and not wide:
            value = (
                y.astype(np.uint32).view(np.int32).astype(np.int64) >> np.minimum(shift, 31).astype(np.int64)
            ).view(np.uint64)
        else:
            kind = np.int64 if signed else np.uint64
            moved = funnel.view(kind) >> np.minimum(shift, np.uint64(63)).astype(kind)
            value = moved.view(np.uint64) if signed else np.where(shift > _MOST, np.uint64(0), moved)
            value = value >> _WORD if upper else value
        m.write(to, value.astype(np.uint32))

    return step


def _logic(link: SassLink) -> Step:
    """LOP3: the function of three bits that a table of eight gives, for each bit."""
    link.only("LUT")
    operands = list(link.operands)
    decided = predicate_index(operands.pop(0)) if is_predicate(operands[0]) else -1
    joined = link.truth(operands[5]) if len(operands) > 5 else None  # noqa: PLR2004 - a predicate that may stand last
    to, (x, y, z), table = register_index(operands[0]), operands[1:4], operands[4]
    if not isinstance(table, Integer):
        raise link.unknown()
    a, b, c = link.word(x), link.word(y), link.word(z)
    function = _BY_TABLE.get(table.value) or _of_table(table.value)

    def step(m: SassMachine) -> None:
        value = function(a(m), b(m), c(m))
        m.write(to, value)
        if decided >= 0:
            m.decide(decided, value != 0 if joined is None else (value != 0) | joined(m))

    return step


_BY_TABLE: dict[int, Callable[[Any, Any, Any], Any]] = {
    0xC0: lambda a, b, _: a & b,
    0xFC: lambda a, b, _: a | b,
    0x3C: lambda a, b, _: a ^ b,
    0x33: lambda _a, b, _c: ~b,
}


def _of_table(table: int) -> Callable[[Any, Any, Any], Any]:
    """The function of three words, from its eight bits: that of (1, 0, 1) is bit 5."""

    def function(a: Any, b: Any, c: Any) -> Any:  # noqa: ANN401 - arrays of words
        value: Any = ZERO
        for bits in range(8):
            if table >> bits & 1:
                value = value | (a if bits & 4 else ~a) & (b if bits & 2 else ~b) & (c if bits & 1 else ~c)
        return value

    return function


def _decide(link: SassLink) -> Step:
    """PLOP3: two functions of three predicates."""
    link.only("LUT")
    first, second, x, y, z, *tables = link.operands
    a, b, c = link.truth(x), link.truth(y), link.truth(z)
    to = (predicate_index(first), predicate_index(second))
    numbers = [table.value for table in tables if isinstance(table, Integer)]

    def step(m: SassMachine) -> None:
        values = (a(m), b(m), c(m))
        results = [_truth_of(number, *values) for number in numbers]
        for predicate, result in zip(to, results, strict=False):
            m.decide(predicate, result)

    return step


def _truth_of(
    table: int, a: NDArray[np.bool_], b: NDArray[np.bool_], c: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    index = a.astype(np.uint8) * 4 + b * 2 + c
    return (np.uint8(table) >> index & 1).astype(np.bool_)


def _select(link: SassLink) -> Step:
    link.only()
    target, x, y, chosen = link.operands
    to, a, b, which = register_index(target), link.word(x), link.word(y), link.truth(chosen)
    return lambda m: m.write(to, np.where(which(m), a(m), b(m)))


def _permute(link: SassLink) -> Step:
    """PRMT: four bytes out of eight."""
    link.only()
    target, x, selector, y = link.operands
    to, a, s, b = register_index(target), link.word(x), link.word(selector), link.word(y)

    def step(m: SassMachine) -> None:
        both = a(m).astype(np.uint64) | b(m).astype(np.uint64) << _WORD
        which, value = s(m), np.zeros(1, np.uint64)
        for byte in range(4):
            nibble = which >> np.uint32(4 * byte) & np.uint32(15)
            taken = both >> ((nibble & np.uint32(7)).astype(np.uint64) * np.uint64(8)) & np.uint64(255)
            sign = np.where(taken > 127, np.uint64(255), np.uint64(0))  # noqa: PLR2004 - its highest bit
            taken = np.where(nibble > 7, sign, taken)  # noqa: PLR2004 - the sign instead of the byte
            value = value | taken << np.uint64(8 * byte)
        m.write(to, value.astype(np.uint32))

    return step


def _unary(function: Callable[[NDArray[np.uint32]], NDArray[np.uint32]]) -> Callable[[SassLink], Step]:
    def handler(link: SassLink) -> Step:
        link.only()
        to, value = register_index(link.operands[0]), link.word(link.operands[1])
        return lambda m: m.write(to, function(value(m)))

    return handler


def _count_bits(value: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return np.bitwise_count(value).astype(np.uint32)


def _reverse_bits(value: NDArray[np.uint32]) -> NDArray[np.uint32]:
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF)):
        by, low = np.uint32(shift), np.uint32(mask)
        value = (value >> by & low) | (value & low) << by
    return value >> np.uint32(16) | value << np.uint32(16)


def _leading(link: SassLink) -> Step:
    """FLO: the place of the highest bit that is set (of one that differs from the sign), or its distance."""
    link.only("U32", "SH")
    to = register_index(link.operands[0])
    value = link.word(next(operand for operand in link.operands[1:] if not is_predicate(operand)))
    unsigned, distance = link.has("U32"), link.has("SH")

    def step(m: SassMachine) -> None:
        word = value(m)
        bits = word if unsigned else np.where(word.view(np.int32) < 0, ~word, word)
        position = np.frexp(bits.astype(np.float64))[1].astype(np.int64) - 1
        position = np.where(bits == 0, MASK, 31 - position if distance else position)
        m.write(to, position.astype(np.uint32))

    return step


def _extend(link: SassLink) -> Step:
    """SGXT: the lowest bits of a word, with their sign or without."""
    link.only("U32")
    target, x, width = link.operands
    to, a, n = register_index(target), link.word(x), link.word(width)
    unsigned = link.has("U32")

    def step(m: SassMachine) -> None:
        empty = np.uint64(32) - np.minimum(n(m), np.uint32(32))
        moved = a(m).astype(np.uint64) << empty & _LOW
        if unsigned:
            m.write(to, (moved >> empty).astype(np.uint32))
        else:
            signed = moved.astype(np.uint32).view(np.int32).astype(np.int64) >> empty.astype(np.int64)
            m.write(to, signed.astype(np.uint32))

    return step


def _bit_mask(link: SassLink) -> Step:
    """BMSK: a mask of consecutive bits, by its first bit and its width."""
    link.only()
    target, x, width = link.operands
    to, a, n = register_index(target), link.word(x), link.word(width)

    def step(m: SassMachine) -> None:
        ones = (np.uint64(1) << np.minimum(n(m), np.uint32(32)).astype(np.uint64)) - np.uint64(1)
        m.write(to, (ones << (a(m) & np.uint32(31)).astype(np.uint64)).astype(np.uint32))

    return step


def _special(link: SassLink) -> Step:
    """S2R, S2UR, CS2R: a special register."""
    link.only("32", "64")
    to, name = register_index(link.operands[0]), getattr(link.operands[1], "text", "")
    wide = link.instruction.opcode == "CS2R" and not link.has("32") and to >= 0

    def step(m: SassMachine) -> None:
        try:
            value = m.special(name)
        except KeyError:
            raise UnknownCodeError(f"{link.instruction.opcode} {name}") from None
        m.write(to, value)
        if wide:
            m.write(to + 1, ZERO)

    return step


def _to_predicates(link: SassLink) -> Step:
    """R2P: the lowest bits of a word, or of one of its bytes, to the predicates of a mask."""
    link.only()
    _, x, which = link.operands
    value, shift = link.word(x), _byte(x)
    if not isinstance(which, Integer):
        raise link.unknown()
    chosen = [predicate for predicate in range(_PREDICATES) if which.value >> predicate & 1]

    def step(m: SassMachine) -> None:
        word = value(m) >> shift
        for predicate in chosen:
            m.decide(predicate, (word >> np.uint32(predicate) & np.uint32(1)).astype(np.bool_))

    return step


def _from_predicates(link: SassLink) -> Step:
    """P2R: the predicates of a mask as bits, the others from a word; `.B1` names the byte."""
    target, _, x, which = link.operands
    link.only("B1", "B2", "B3")
    if not isinstance(which, Integer) or link.instruction.modifiers:
        raise link.unknown()
    to, value, mask, shift = register_index(target), link.word(x), np.uint32(which.value), _byte(target)

    def step(m: SassMachine) -> None:
        bits: Any = ZERO
        for predicate in range(_PREDICATES):
            bits = bits | m.predicates[predicate].astype(np.uint32) << np.uint32(predicate)
        m.write(to, value(m) & ~(mask << shift) | (bits & mask) << shift)

    return step


def _byte(operand: Operand) -> np.uint32:
    """Bit at which the byte of an operand begins."""
    suffixes = operand.suffixes if isinstance(operand, SassRegister) else ()
    return np.uint32(next((8 * number for number in range(4) if f"B{number}" in suffixes), 0))


def _votes(link: SassLink) -> Step:
    """B2R.RESULT: the result of the last BAR.RED, as a word and as a predicate."""
    if link.instruction.modifiers != ("RESULT",):
        raise link.unknown()
    to, *predicates = link.operands
    register, decided = register_index(to), [predicate_index(predicate) for predicate in predicates]

    def step(m: SassMachine) -> None:
        m.write(register, m.votes)
        for predicate in decided:
            m.decide(predicate, m.votes != 0)

    return step


def _to_uniform(link: SassLink) -> Step:
    """R2UR: a word of the first active lane of each warp; a predicate says whether all have the same."""
    link.only("OR")
    operands = list(link.operands)
    agreed = predicate_index(operands.pop(0)) if is_predicate(operands[0]) else -1
    to, value = register_index(operands[0]), link.word(operands[1])

    def step(m: SassMachine) -> None:
        words = value(m)
        if words.size == 1:
            m.write(to, words)
            m.decide(agreed, TRUE)
            return
        chosen = np.repeat(of_first(m, words), WARP)
        if agreed >= 0 and ((words != chosen) & acting(m)).any():
            raise link.unknown()  # the result in this case is unknown
        m.write(to, chosen)
        m.decide(agreed, TRUE)

    return step


TABLE: dict[str, Callable[[SassLink], Step]] = {
    **dict.fromkeys(("MOV", "UMOV"), _move),
    "R2UR": _to_uniform,
    **dict.fromkeys(("SHF", "USHF"), _shift),
    **dict.fromkeys(("LOP3", "ULOP3"), _logic),
    **dict.fromkeys(("PLOP3", "UPLOP3"), _decide),
    **dict.fromkeys(("SEL", "USEL"), _select),
    **dict.fromkeys(("PRMT", "UPRMT"), _permute),
    **dict.fromkeys(("POPC", "UPOPC"), _unary(_count_bits)),
    **dict.fromkeys(("BREV", "UBREV"), _unary(_reverse_bits)),
    **dict.fromkeys(("FLO", "UFLO"), _leading),
    **dict.fromkeys(("SGXT", "USGXT"), _extend),
    **dict.fromkeys(("BMSK", "UBMSK"), _bit_mask),
    **dict.fromkeys(("S2R", "S2UR", "CS2R"), _special),
    "R2P": _to_predicates,
    "P2R": _from_predicates,
    "B2R": _votes,
}
"""Link functions by opcode."""
