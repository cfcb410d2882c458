"""Instructions on float32 and float64: arithmetic, comparisons, functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.sass.operands import (
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

    from grader.sass.machine import Machine, Step
    from grader.sass.operands import Link

_LARGEST, _SMALLEST = np.float32(2.0**126), np.float32(2.0**-126)


def _single(function: Callable[..., NDArray[Any]]) -> Callable[[Link], Step]:
    """A function of float32."""

    def handler(link: Link) -> Step:
        to = register_index(link.operands[0])
        sources = [link.real(operand) for operand in link.operands[1:] if not is_predicate(operand)]
        return lambda m: m.write(
            to, function(*(source(m) for source in sources)).astype(np.float32).view(np.uint32)
        )

    return handler


def _double(function: Callable[..., NDArray[Any]]) -> Callable[[Link], Step]:
    """A function of float64."""

    def handler(link: Link) -> Step:
        to = register_index(link.operands[0])
        sources = [link.double(operand) for operand in link.operands[1:] if not is_predicate(operand)]
        return lambda m: write_pair(m, to, function(*(source(m) for source in sources)).view(np.uint64))

    return handler


def _fused(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
    """A product and a sum in one rounding, as nearly as float64 has it."""
    return a.astype(np.float64) * b + c


def _extreme(link: Link) -> Step:
    target, x, y, chosen = link.operands[:4]
    to, a, b, smaller = register_index(target), link.real(x), link.real(y), link.truth(chosen)

    def step(m: Machine) -> None:
        left, right = a(m), b(m)
        value = np.where(smaller(m), np.fmin(left, right), np.fmax(left, right))
        m.write(to, value.astype(np.float32).view(np.uint32))

    return step


def _select(link: Link) -> Step:
    target, x, y, chosen = link.operands
    to, a, b, which = register_index(target), link.real(x), link.real(y), link.truth(chosen)
    return lambda m: m.write(to, np.where(which(m), a(m), b(m)).view(np.uint32))


def _compare(link: Link) -> Step:
    """FSETP, DSETP: a comparison, joined with a predicate; with `U` it holds for what is no number, too."""
    first, second, x, y, given = link.operands[:5]
    modifiers = link.instruction.modifiers
    name = modifiers[0].removesuffix("U")
    joins = next((BOOLEANS[modifier] for modifier in modifiers if modifier in BOOLEANS), None)
    if joins is None or (name not in COMPARISONS and modifiers[0] not in ("NUM", "NAN")):
        raise link.unknown()
    read = link.double if link.instruction.opcode == "DSETP" else link.real
    a, b, old = read(x), read(y), link.truth(given)
    to, other = predicate_index(first), predicate_index(second)

    def step(m: Machine) -> None:
        left, right = a(m), b(m)
        unordered = np.isnan(left) | np.isnan(right)
        if name in COMPARISONS:
            result = COMPARISONS[name](left, right)
            result = result | unordered if modifiers[0].endswith("U") else result & ~unordered
        else:
            result = unordered if modifiers[0] == "NAN" else ~unordered
        given_value = old(m)
        m.decide(to, joins(result, given_value))
        m.decide(other, joins(~result, given_value))

    return step


def _needs_slow_division(link: Link) -> Step:
    """FCHK: whether a quotient is too large or small for the usual way."""
    to, a, b = predicate_index(link.operands[0]), link.real(link.operands[1]), link.real(link.operands[2])

    def step(m: Machine) -> None:
        sizes = np.abs(a(m)), np.abs(b(m))
        strange = [~((size > _SMALLEST) & (size < _LARGEST)) for size in sizes]
        m.decide(to, (strange[0] & (sizes[0] != 0)) | strange[1])

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


def _special_function(link: Link) -> Step:
    """MUFU: functions of float32, and the upper halves of those of float64."""
    to, name = register_index(link.operands[0]), link.instruction.modifiers[0]
    half = name.removesuffix("64H")
    function = _FUNCTIONS.get(half)
    if function is None:
        raise link.unknown()
    if half != name:
        upper = link.word(link.operands[1])

        def step(m: Machine) -> None:
            value = (upper(m).astype(np.uint64) << np.uint64(32)).view(np.float64)
            m.write(to, (function(value).view(np.uint64) >> np.uint64(32)).astype(np.uint32))

        return step
    value = link.real(link.operands[1])
    return lambda m: m.write(to, function(value(m)).astype(np.float32).view(np.uint32))


TABLE: dict[str, Callable[[Link], Step]] = {
    "FADD": _single(np.add),
    "FMUL": _single(np.multiply),
    "FFMA": _single(_fused),
    "FMNMX": _extreme,
    "FSEL": _select,
    **dict.fromkeys(("FSETP", "DSETP"), _compare),
    "FCHK": _needs_slow_division,
    "MUFU": _special_function,
    "DADD": _double(np.add),
    "DMUL": _double(np.multiply),
    "DFMA": _double(_fused),
}
"""How each instruction is linked."""
