"""Instructions on two numbers of 16 bits in a word: float16, or bfloat16 (`.BF16_V2`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.sass.floating import DIRECTIONS, extremes, rounded
from grader.simulation.sass.listing import Real, SassConstant, SassRegister
from grader.simulation.sass.operands import (
    BOOLEANS,
    COMPARISONS,
    is_predicate,
    predicate_index,
    register_index,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.sass.listing import Operand
    from grader.simulation.sass.machine import SassMachine, Step
    from grader.simulation.sass.operands import Reader, SassLink

_HALF = np.uint32(16)
UPPER, LOWER = 0, 1
"""The rows of an array of halves."""


def widened(bits: NDArray[np.uint16], *, brain: bool) -> NDArray[np.float32]:
    """Halves, as bits, as float32; ``brain``: they are bfloat16."""
    if brain:
        return (bits.astype(np.uint32) << _HALF).view(np.float32)
    return bits.view(np.float16).astype(np.float32)


def narrowed(values: NDArray[Any], *, brain: bool, direction: str = "RN") -> NDArray[np.uint32]:
    """Numbers rounded to halves, as bits."""
    if not brain:
        return rounded(values, np.float16, direction).view(np.uint16).astype(np.uint32)
    single = rounded(values, np.float32, direction)
    bits = single.view(np.uint32)
    negative = bits >> np.uint32(31)
    # The number added to the bits that are dropped, for a carry into the bits that are kept.
    added: Any = {
        "RN": np.uint32(0x7FFF) + (bits >> _HALF & np.uint32(1)),
        "RZ": np.uint32(0),
        "RM": negative * np.uint32(0xFFFF),
        "RP": (negative ^ np.uint32(1)) * np.uint32(0xFFFF),
    }[direction]
    return np.where(np.isnan(single), np.uint32(0x7FFF), (bits + added) >> _HALF)


def _is_brain(link: SassLink) -> bool:
    return any(name.startswith("BF16") for name in link.instruction.modifiers)


def _sources(link: SassLink, operands: list[Operand]) -> list[Reader]:
    """The operands; two immediates in a row are the halves of one."""
    readers = []
    while operands:
        operand = operands.pop(0)
        if isinstance(operand, Real):
            other = operands.pop(0) if operands else operand
            if not isinstance(other, Real):
                raise link.unknown()
            readers.append(_fixed(operand.value, other.value))
        else:
            readers.append(_halves(link, operand))
    return readers


def _fixed(upper: float, lower: float) -> Reader:
    pair = np.array([[upper], [lower]], np.float32)
    return lambda _: pair


def _halves(link: SassLink, operand: Operand) -> Reader:
    """The halves of a word as float32: an array with a row for each, the upper first."""
    if not isinstance(operand, SassRegister | SassConstant):
        raise link.unknown()
    plain, brain = link.word(operand.without_signs()), _is_brain(link)
    suffixes, absolute, negated = operand.suffixes, operand.absolute, operand.negated
    if "F32" in suffixes:
        single = link.real(operand)
        return lambda m: np.stack([single(m), single(m)])

    def read(m: SassMachine) -> NDArray[Any]:
        word = plain(m)
        rows = [(word >> _HALF).astype(np.uint16), word.astype(np.uint16)]
        if "H0_H0" in suffixes:
            rows[UPPER] = rows[LOWER]
        elif "H1_H1" in suffixes:
            rows[LOWER] = rows[UPPER]
        value = widened(np.stack(rows), brain=brain)
        value = np.abs(value) if absolute else value
        return -value if negated else value

    return read


_FUNCTIONS: dict[str, Callable[..., NDArray[Any]]] = {
    "HADD2": lambda a, b: a + b,
    "HMUL2": lambda a, b: a * b,
    "HFMA2": lambda a, b, c: a.astype(np.float64) * b + c,
}


def _arithmetic(link: SassLink) -> Step:
    """HADD2, HMUL2, HFMA2: two sums, products or both; `.F32` gives that of the lower halves as float32."""
    link.only("MMA", "F32", "SAT", "RELU", "BF16_V2", "FTZ")
    to = register_index(link.operands[0])
    sources = _sources(link, [operand for operand in link.operands[1:] if not is_predicate(operand)])
    function, brain = _FUNCTIONS[link.instruction.opcode], _is_brain(link)
    widens, saturates, rectifies = link.has("F32"), link.has("SAT"), link.has("RELU")

    def step(m: SassMachine) -> None:
        result = function(*(source(m) for source in sources))
        if saturates:
            result = np.fmin(np.fmax(result, 0), 1)
        if rectifies:
            result = np.where(result <= 0, 0, result)
        if widens:
            m.write(to, result[LOWER].astype(np.float32).view(np.uint32))
        else:
            _write(m, to, result, brain=brain)

    return step


def _write(m: SassMachine, to: int, values: NDArray[Any], *, brain: bool) -> None:
    parts = narrowed(values, brain=brain)
    m.write(to, parts[UPPER] << _HALF | parts[LOWER])


def _extreme(link: SassLink) -> Step:
    """HMNMX2: the smaller halves where the predicate holds, else the larger."""
    link.only("NAN", "BF16_V2")
    target, *operands, chosen = link.operands
    to, which, brain = register_index(target), link.truth(chosen), _is_brain(link)
    first, second = _sources(link, operands)
    nan_wins = link.has("NAN")

    def step(m: SassMachine) -> None:
        _write(m, to, np.where(which(m), *extremes(first(m), second(m), nan_wins=nan_wins)), brain=brain)

    return step


def _comparison(link: SassLink, operands: list[Operand]) -> Reader:
    """Mask of halves for which a comparison holds, joined with a predicate; with `U` also for NaN."""
    modifiers = link.instruction.modifiers
    suffixed = (f"{name}{suffix}" for name in COMPARISONS for suffix in ("", "U"))
    link.only(*suffixed, "NUM", "NAN", *BOOLEANS, "BF", "BM", "BF16_V2", "FTZ")
    name = next((name for name in modifiers if name.removesuffix("U") in (*COMPARISONS, "NUM", "NAN")), "")
    joins = next((BOOLEANS[name] for name in modifiers if name in BOOLEANS), None)
    if not name or joins is None:
        raise link.unknown()
    holds, unordered_too = COMPARISONS.get(name.removesuffix("U")), name.endswith("U")
    *compared, given = operands
    (first, second), old = _sources(link, compared), link.truth(given)

    def read(m: SassMachine) -> NDArray[Any]:
        a, b = first(m), second(m)
        unordered = np.isnan(a) | np.isnan(b)
        if holds is None:
            return joins(unordered if name == "NAN" else ~unordered, old(m))
        return joins(holds(a, b) | unordered if unordered_too else holds(a, b) & ~unordered, old(m))

    return read


def _decide(link: SassLink) -> Step:
    """HSETP2: a comparison of the lower and one of the upper halves, a predicate for each."""
    lower, upper, *operands = link.operands
    result, to = _comparison(link, operands), (predicate_index(lower), predicate_index(upper))

    def step(m: SassMachine) -> None:
        value = result(m)
        m.decide(to[0], value[LOWER])
        m.decide(to[1], value[UPPER])

    return step


def _set(link: SassLink) -> Step:
    """HSET2: a comparison as 1 and 0 (`.BF`), or as bits that are all set and none (`.BM`)."""
    to, result = register_index(link.operands[0]), _comparison(link, list(link.operands[1:]))
    one = 0x3F80 if _is_brain(link) else 0x3C00
    true = np.uint32(one if link.has("BF") else 0xFFFF)

    def step(m: SassMachine) -> None:
        value = result(m) * true
        m.write(to, value[UPPER] << _HALF | value[LOWER])

    return step


def _pack(link: SassLink) -> Step:
    """F2FP: two float32 as the halves of a word."""
    to, brain = register_index(link.operands[0]), link.has("BF16")
    direction = next((name for name in link.instruction.modifiers if name in DIRECTIONS), "RN")
    upper, lower = link.real(link.operands[1]), link.real(link.operands[2])
    link.only("F16", "BF16", "F32", "PACK_AB", *DIRECTIONS)

    def step(m: SassMachine) -> None:
        parts = [narrowed(value(m), brain=brain, direction=direction) for value in (upper, lower)]
        m.write(to, parts[0] << _HALF | parts[1])

    return step


TABLE: dict[str, Callable[[SassLink], Step]] = {
    **dict.fromkeys(("HADD2", "HMUL2", "HFMA2"), _arithmetic),
    "HMNMX2": _extreme,
    "HSETP2": _decide,
    "HSET2": _set,
    "F2FP": _pack,
}
"""Link functions by opcode."""
