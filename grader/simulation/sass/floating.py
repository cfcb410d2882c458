"""Instructions on float32 and float64: arithmetic, comparisons, functions, and how their results are rounded.

Rounding goes in the directions of IEEE 754; sums and products are rounded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.sass.operands import (
    BOOLEANS,
    COMPARISONS,
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

DIRECTIONS = ("RN", "RM", "RP", "RZ")
"""To the nearest, down, up, towards zero."""

_SPLIT = float(2**27 + 1)


def rounded(value: NDArray[Any], kind: type[np.floating[Any]], direction: str) -> NDArray[Any]:
    """Integers or float64 rounded to a type of real numbers."""
    result = value.astype(kind)
    if direction == "RN" or result.dtype == value.dtype:
        return result
    exact, near = value.astype(np.longdouble), result.astype(np.longdouble)
    return _directed(result, (near > exact).astype(np.int8) - (near < exact).astype(np.int8), direction)


def _directed(result: NDArray[Any], above: NDArray[Any], direction: str) -> NDArray[Any]:
    """Results that are above (1) or below (-1) the exact one, moved to the other side where that is asked."""
    wrong: Any = {"RM": above > 0, "RP": above < 0, "RZ": above * np.sign(result) > 0}[direction]
    towards = {"RM": -np.inf, "RP": np.inf, "RZ": 0.0}[direction]
    return np.where(wrong, np.nextafter(result, result.dtype.type(towards)), result)


def extremes(a: NDArray[Any], b: NDArray[Any], *, nan_wins: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """The smaller and the larger of each; of two zeros the negative one is the smaller (NumPy takes any)."""
    least, most = (np.minimum, np.maximum) if nan_wins else (np.fmin, np.fmax)
    equal, negative = a == b, np.signbit(a)
    return (
        np.where(equal, np.where(negative, a, b), least(a, b)),
        np.where(equal, np.where(negative, b, a), most(a, b)),
    )


def sum_and_error(a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """A sum of float64, and its rounding error (Knuth, TAOCP 2, section 4.2.2)."""
    total = a + b
    other = total - a
    return total, _finite((a - (total - other)) + (b - other), total, a, b)


def product_and_error(a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """A product of float64, and its rounding error (Dekker, 1971)."""
    product = a * b
    high, other_high = (x * _SPLIT - (x * _SPLIT - x) for x in (a, b))
    low, other_low = a - high, b - other_high
    error = ((high * other_high - product) + high * other_low + low * other_high) + low * other_low
    return product, _finite(error, product, a, b)


def _finite(error: NDArray[Any], result: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """An error, also where a result is beyond all numbers; 0 where an operand is."""
    beyond = np.isinf(result) & np.isfinite(a) & np.isfinite(b)
    return np.where(beyond, -np.sign(result), np.nan_to_num(error, posinf=0, neginf=0))


def double(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any] | None, direction: str) -> NDArray[Any]:
    """``a * b + c``, rounded once (but for products near the ends of the range); without ``c``, ``a * b``.

    Of the three parts of the exact sum the two small ones are added first and rounded to odd (Boldo and
    Melquiond, "Emulation of FMA and correctly rounded sums", 2008), so that a tiny one still decides
    where the large ones end all but half-way between two numbers.
    """
    product, error = product_and_error(a, b)
    if c is None:
        return directed(product, error, direction)
    small, tiny = sum_and_error(c, error)
    large, rest = sum_and_error(product, small)
    remainder, lost = sum_and_error(rest, tiny)
    result, left_out = sum_and_error(large, odd(remainder, lost))
    beyond = np.isinf(result) & np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    return directed(result, np.where(beyond, -np.sign(result), left_out), direction)


def odd(value: NDArray[Any], error: NDArray[Any]) -> NDArray[Any]:
    """Float64 that stand for themselves and an error, rounded to odd.

    An even one of which a part is missing becomes its odd neighbour on that side, so that rounding once more
    cannot take it for exact.
    """
    even = (error != 0) & (value.view(np.int64) & 1 == 0) & np.isfinite(value)
    return np.where(even, np.nextafter(value, np.where(error > 0, np.inf, -np.inf)), value)


def directed(result: NDArray[Any], error: NDArray[Any], direction: str) -> NDArray[Any]:
    """A result to which ``error`` should be added, in a direction."""
    if direction == "RN":
        return result
    return _directed(result, -np.sign(error).astype(np.int8), direction)


def single(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], direction: str) -> NDArray[Any]:
    """``a * b + c`` of float32, rounded once in a direction."""
    total, error = sum_and_error(a.astype(np.float64) * b, c.astype(np.float64))
    return rounded(odd(total, error), np.float32, direction)


_LARGEST, _SMALLEST, _RESIDUAL = 2.0**126, 2.0**-126, 2.0**-100
_ONE, _NOUGHT = np.ones(1, np.float32), np.zeros(1, np.float32)


def _single(link: SassLink) -> Step:
    """FADD, FMUL, FFMA."""
    link.only("FTZ", "SAT", *DIRECTIONS)
    to, direction, saturates = register_index(link.operands[0]), _direction(link), link.has("SAT")
    sources = [link.real(operand) for operand in link.operands[1:] if not is_predicate(operand)]
    if direction == "RN" and not saturates:
        return _nearest(to, sources, link.instruction.opcode)

    def step(m: SassMachine) -> None:
        a, b, *rest = (source(m) for source in sources)
        if link.instruction.opcode == "FADD":
            result = single(a, _ONE, b, direction)
        else:
            # A product alone is a sum with the zero of its own sign.
            result = single(
                a, b, rest[0] if rest else np.copysign(_NOUGHT, a) * np.copysign(_ONE, b), direction
            )
        if saturates:
            result = np.fmin(np.fmax(result, np.float32(0)), np.float32(1))
        m.write(to, result.view(np.uint32))

    return step


def _nearest(to: int, sources: list[Reader], opcode: str) -> Step:
    """The usual rounding, as fast as NumPy does it."""
    if opcode == "FFMA":
        a, b, c = sources
        # A float64 product is exact, and its sum as good as: it is rounded twice, rarely with another result.
        return lambda m: m.write(
            to, (a(m).astype(np.float64) * b(m) + c(m)).astype(np.float32).view(np.uint32)
        )
    first, second = sources
    function = np.add if opcode == "FADD" else np.multiply
    return lambda m: m.write(to, function(first(m), second(m)).view(np.uint32))


def _double(link: SassLink) -> Step:
    """DADD, DMUL, DFMA."""
    link.only(*DIRECTIONS)
    to, direction, opcode = register_index(link.operands[0]), _direction(link), link.instruction.opcode
    sources = [link.double(operand) for operand in link.operands[1:] if not is_predicate(operand)]

    def step(m: SassMachine) -> None:
        a, b, *rest = (source(m) for source in sources)
        if opcode == "DADD":
            result = directed(*sum_and_error(a, b), direction)
        elif opcode == "DMUL" and direction == "RN":
            result = a * b
        else:
            result = double(a, b, rest[0] if rest else None, direction)
        write_pair(m, to, result.view(np.uint64))

    return step


def _direction(link: SassLink) -> str:
    return next((name for name in link.instruction.modifiers if name in DIRECTIONS), "RN")


def _extreme(link: SassLink) -> Step:
    """FMNMX: the smaller where the predicate holds, else the larger; with `.NAN` a NaN wins."""
    link.only("FTZ", "NAN")
    target, x, y, chosen = link.operands
    nan_wins = link.has("NAN")
    to, a, b, smaller = register_index(target), link.real(x), link.real(y), link.truth(chosen)

    def step(m: SassMachine) -> None:
        value = np.where(smaller(m), *extremes(a(m), b(m), nan_wins=nan_wins))
        m.write(to, value.view(np.uint32))

    return step


def _select(link: SassLink) -> Step:
    """FSEL: the first where the predicate holds, else the second."""
    link.only("FTZ")
    target, x, y, chosen = link.operands
    to, a, b, which = register_index(target), link.real(x), link.real(y), link.truth(chosen)
    return lambda m: m.write(to, np.where(which(m), a(m), b(m)).view(np.uint32))


def _comparison(link: SassLink, operands: list[Operand]) -> Reader:
    """Result of a comparison; with `U` it holds for NaN, too."""
    modifiers = link.instruction.modifiers
    name = next((name for name in modifiers if name.removesuffix("U") in (*COMPARISONS, "NUM", "NAN")), "")
    if not name:
        raise link.unknown()
    read = link.double if link.instruction.opcode == "DSETP" else link.real
    a, b = (read(operand) for operand in operands)
    holds, unordered_too = COMPARISONS.get(name.removesuffix("U")), name.endswith("U")

    def result(m: SassMachine) -> NDArray[np.bool_]:
        left, right = a(m), b(m)
        unordered = np.isnan(left) | np.isnan(right)
        if holds is None:
            return unordered if name == "NAN" else ~unordered
        return holds(left, right) | unordered if unordered_too else holds(left, right) & ~unordered

    return result


_COMPARED = tuple(f"{name}{suffix}" for name in COMPARISONS for suffix in ("", "U"))


def _compare(link: SassLink) -> Step:
    """FSETP, DSETP: a comparison, joined with a predicate."""
    link.only("FTZ", "NUM", "NAN", *_COMPARED, *BOOLEANS, "MIN", "MAX")
    first, second, x, y, given = link.operands
    to, other, old = predicate_index(first), predicate_index(second), link.truth(given)
    if link.has("MIN") or link.has("MAX"):
        return _extreme_of_doubles(link)
    result, joins = _comparison(link, [x, y]), _joining(link)

    def step(m: SassMachine) -> None:
        value, given_value = result(m), old(m)
        m.decide(to, joins(value, given_value))
        if other >= 0:
            m.decide(other, joins(~value, given_value))

    return step


def _joining(link: SassLink) -> Callable[[Any, Any], Any]:
    joins = next((BOOLEANS[name] for name in link.instruction.modifiers if name in BOOLEANS), None)
    if joins is None:
        raise link.unknown()
    return joins


def _extreme_of_doubles(link: SassLink) -> Step:
    """DSETP.MIN, DSETP.MAX: whether the first operand is the result, and whether neither is a number."""
    first, second, x, y, _ = link.operands
    to, other, a, b = predicate_index(first), predicate_index(second), link.double(x), link.double(y)
    smaller = link.has("MIN")

    def step(m: SassMachine) -> None:
        left, right = a(m), b(m)
        before = left < right if smaller else left > right
        zero_first = (left == right) & (np.signbit(left) == smaller)
        m.decide(to, before | zero_first | np.isnan(right))
        m.decide(other, np.isnan(left) & np.isnan(right))

    return step


def _set(link: SassLink) -> Step:
    """FSET: a comparison as 1 and 0 (`.BF`), or as bits that are all set and none."""
    link.only("BF", "FTZ", "NUM", "NAN", *_COMPARED, *BOOLEANS)
    target, x, y, given = link.operands
    to, result, joins, old = (
        register_index(target),
        _comparison(link, [x, y]),
        _joining(link),
        link.truth(given),
    )
    true = np.uint32(0x3F800000 if link.has("BF") else 0xFFFFFFFF)
    return lambda m: m.write(to, joins(result(m), old(m)) * true)


def _needs_slow_division(link: SassLink) -> Step:
    """FCHK: whether a quotient is out of reach of the usual way, as it or a part of it is too far from 1."""
    link.only("DIVIDE")
    to, a, b = predicate_index(link.operands[0]), link.real(link.operands[1]), link.real(link.operands[2])

    def step(m: SassMachine) -> None:
        dividend, divisor = (np.abs(value(m)).astype(np.float64) for value in (a, b))
        quotient = dividend / divisor
        sound = (divisor > _SMALLEST) & (divisor < _LARGEST) & (dividend < _LARGEST)
        usual = (dividend > _RESIDUAL) & (quotient > _SMALLEST) & (quotient < _LARGEST)
        m.decide(to, ~(sound & (usual | (dividend == 0))))

    return step


_FUNCTIONS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "RCP": np.reciprocal,
    "RSQ": lambda x: 1 / np.sqrt(x),
    "SQRT": np.sqrt,
    "EX2": np.exp2,
    "LG2": np.log2,
    "SIN": lambda x: np.sin(2 * np.pi * x),
    "COS": lambda x: np.cos(2 * np.pi * x),
    "TANH": np.tanh,
}


def _special_function(link: SassLink) -> Step:
    """MUFU: functions of float32, and the upper halves of functions of float64."""
    link.only(*_FUNCTIONS, "RCP64H", "RSQ64H", "FTZ")
    to, name = register_index(link.operands[0]), link.instruction.modifiers[0]
    function = _FUNCTIONS[name.removesuffix("64H")]
    if name.endswith("64H"):
        upper = link.word(link.operands[1])

        def step(m: SassMachine) -> None:
            value = (upper(m).astype(np.uint64) << np.uint64(32)).view(np.float64)
            m.write(to, (function(value).view(np.uint64) >> np.uint64(32)).astype(np.uint32))

        return step
    value = link.real(link.operands[1])
    return lambda m: m.write(to, function(value(m).astype(np.float64)).astype(np.float32).view(np.uint32))


TABLE: dict[str, Callable[[SassLink], Step]] = {
    **dict.fromkeys(("FADD", "FMUL", "FFMA"), _single),
    **dict.fromkeys(("DADD", "DMUL", "DFMA"), _double),
    "FMNMX": _extreme,
    "FSEL": _select,
    "FSET": _set,
    **dict.fromkeys(("FSETP", "DSETP"), _compare),
    "FCHK": _needs_slow_division,
    "MUFU": _special_function,
}
"""Link functions by opcode."""
