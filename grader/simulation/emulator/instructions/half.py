"""Half precision: f16, bf16 and their packed pairs (PTX ISA sections 9.7.4 and 9.7.7).

Numbers are held as bits. An operation widens them to float64, where sums are rounded to odd and products
are exact, so that the one rounding at the end is the right one; packed pairs are twice as many lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.emulator.instructions import rounding
from grader.simulation.emulator.instructions.compare import COMPARISONS
from grader.simulation.emulator.instructions.floating import maximum, minimum, saturated, sign_of_both
from grader.simulation.ptx import Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.emulator.linking.link import Link, Step
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.values import Value
    from grader.simulation.ptx import Instruction

TYPES = frozenset({"f16", "f16x2", "bf16", "bf16x2"})
_NAN = np.uint16(0x7FFF)


def decoded(bits: NDArray[np.uint16], kind: str) -> NDArray[np.float64]:
    """The numbers that 16-bit patterns stand for."""
    if kind.startswith("bf16"):
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    return bits.view(np.float16).astype(np.float64)


def encoded(value: NDArray[np.float64], kind: str, mode: str = "rn") -> NDArray[np.uint16]:
    """float64 numbers (exact, or rounded to odd) as 16-bit patterns; every NaN is 0x7fff."""
    if kind.startswith("bf16"):
        return np.where(np.isnan(value), _NAN, _to_bfloat(value, mode))
    narrow = rounding.narrowed(value, np.dtype(np.float16), mode)
    return np.where(np.isnan(value), _NAN, narrow.view(np.uint16))


def _to_bfloat(value: NDArray[np.float64], mode: str) -> NDArray[np.uint16]:
    """Convert by way of float32 rounded to odd: a bfloat16 is its upper half."""
    towards_zero = rounding.narrowed(value, np.dtype(np.float32), "rz")
    inexact = towards_zero.astype(np.float64) != value
    bits = towards_zero.view(np.uint32) | inexact.astype(np.uint32)
    upper = bits >> np.uint32(16)
    if mode == "rn":
        step = np.uint32(0x7FFF) + (upper & np.uint32(1))
    else:
        outwards = (mode == "rp" and value > 0) | (mode == "rm" and value < 0)
        step = np.where(outwards, np.uint32(0xFFFF), np.uint32(0))
    rounded: NDArray[np.uint32] = np.where(np.isinf(value), bits, bits + step)
    return (rounded >> np.uint32(16)).astype(np.uint16)


def _split(values: tuple[Value, ...]) -> tuple[list[NDArray[np.uint16]], bool]:
    """Registers as 16-bit lanes, and whether all of them hold one value for all lanes."""
    scalar = all(value.ndim == 0 for value in values)
    spread = np.broadcast_arrays(*(np.atleast_1d(value) for value in values))
    return [np.ascontiguousarray(value).view(np.uint16) for value in spread], scalar


def _join(lanes: NDArray[np.uint16], kind: str, *, scalar: bool) -> Value:
    words = lanes.view(np.uint32) if kind.endswith("x2") else lanes
    return words[0] if scalar else words


def _lanewise(function: Callable[..., NDArray[np.uint16]], arity: int, link: Link, *accepts: str) -> Step:
    """A step that applies a function of 16-bit patterns to each half."""
    kind = link.form(TYPES, accepts).kind
    width = "b32" if kind.endswith("x2") else "b16"

    def apply(*operands: Value) -> Value:
        lanes, scalar = _split(operands)
        return _join(function(*lanes), kind, scalar=scalar)

    return link.pure(apply, *[width] * arity)


def _arithmetic(
    function: Callable[..., NDArray[np.float64]], arity: int
) -> Callable[[Instruction, Link], Step]:
    """An opcode given by a function of float64 numbers."""

    def build(ins: Instruction, link: Link) -> Step:
        kind, words = ins.modifiers[-1], ins.modifiers

        def compute(*lanes: NDArray[np.uint16]) -> NDArray[np.uint16]:
            numbers = [decoded(lane, kind) for lane in lanes]
            if "ftz" in words:
                numbers = [_flushed(number) for number in numbers]
            result = function(*numbers)
            if "sat" in words:
                result = saturated(result)
            if "relu" in words:
                result = np.where(np.isnan(result) | (result > 0), result, 0.0)
            bits = encoded(result, kind)
            return encoded(_flushed(decoded(bits, kind)), kind) if "ftz" in words else bits

        return _lanewise(compute, arity, link, "rn", "ftz", "sat", "relu", "approx")

    return build


def _flushed(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers below the normal float16 ones as zeros."""
    return np.where(np.abs(value) < 2.0**-14, np.copysign(0.0, value), value)


def sum_to_odd(a: Value, b: Value) -> Value:
    """A + b in float64, rounded to odd."""
    return rounding.to_odd(*rounding.two_sum(a, b))


def _fma(a: Value, b: Value, c: Value) -> Value:
    return sum_to_odd(a * b, c)


def _extreme(function: Callable[[Value, Value], Value]) -> Callable[[Instruction, Link], Step]:
    """`min` and `max`: of a number and a NaN the number, unless ``.NaN``."""

    def build(ins: Instruction, link: Link) -> Step:
        kind, with_nan = ins.modifiers[-1], "NaN" in ins.modifiers
        choose = sign_of_both(function) if "xorsign" in ins.modifiers else function

        def compute(*lanes: NDArray[np.uint16]) -> NDArray[np.uint16]:
            a, b = (decoded(lane, kind) for lane in lanes)
            if "ftz" in ins.modifiers:
                a, b = _flushed(a), _flushed(b)
            chosen = choose(a, b)
            if with_nan:
                chosen = np.where(np.isnan(a) | np.isnan(b), np.nan, chosen)
            return encoded(chosen, kind)

        return _lanewise(compute, 2, link, "NaN", "ftz", "xorsign", "abs")

    return build


def _comparison(ins: Instruction, words: list[str], link: Link) -> Callable[[Value, Value], Value]:
    kind, (relation, *rest) = ins.modifiers[-1], words
    if not set(rest) <= {"ftz"} or relation not in (*COMPARISONS, "ne"):
        raise link.unsupported()
    compare = COMPARISONS.get(relation) or (lambda a, b: (a < b) | (a > b))
    clean = _flushed if rest else lambda number: number

    def holds(first: Value, second: Value) -> Value:
        (a, b), scalar = _split((first, second))
        result = compare(clean(decoded(a, kind)), clean(decoded(b, kind)))
        return result.reshape(-1, 2 if kind.endswith("x2") else 1)[0 if scalar else slice(None)]

    return holds


def setp(ins: Instruction, link: Link) -> Step:
    """`setp.CmpOp.f16 p, a, b`; of packed pairs `p|q`: one predicate for each half (section 9.7.7.2)."""
    destination, kind = ins.operands[0], ins.modifiers[-1]
    holds = _comparison(ins, list(ins.modifiers[:-1]), link)
    packed = kind.endswith("x2")
    if isinstance(destination, Pair) != packed:
        raise link.unsupported()
    targets = (destination.first, destination.second) if isinstance(destination, Pair) else (destination,)
    registers = [link.register(target) for target in targets]
    first, second = (link.fetch(operand, "b32" if packed else "b16") for operand in ins.operands[1:3])

    def step(m: Machine) -> None:
        result = holds(first(m, m.compute_mask), second(m, m.compute_mask))
        for half, register in enumerate(registers):
            if register >= 0:
                m.write(register, result[..., half])

    return step


def set_(ins: Instruction, link: Link) -> Step:
    """`set.CmpOp.dtype.stype`: 1.0, or all ones, in each half (section 9.7.7.1)."""
    *words, to, kind = ins.modifiers
    holds = _comparison(ins, words, link)
    width = "b32" if kind.endswith("x2") else "b16"
    single = not kind.endswith("x2")
    ones = np.uint32(0xFFFFFFFF) if single else np.uint16(0xFFFF)
    yes = encoded(np.ones(1), to)[0] if to in TYPES else ones

    def choose(a: Value, b: Value) -> Value:
        chosen = np.where(holds(a, b), yes, yes.dtype.type(0))
        scalar = chosen.ndim == 1
        joined = np.ascontiguousarray(chosen).reshape(-1)
        joined = joined if single else joined.view(np.uint32)
        return joined[0] if scalar else joined

    return link.pure(choose, width, width)


TABLE = {
    "add": _arithmetic(sum_to_odd, 2),
    "sub": _arithmetic(lambda a, b: sum_to_odd(a, -b), 2),
    "mul": _arithmetic(np.multiply, 2),
    "fma": _arithmetic(_fma, 3),
    "neg": _arithmetic(np.negative, 1),
    "abs": _arithmetic(np.abs, 1),
    "min": _extreme(minimum),
    "max": _extreme(maximum),
    "ex2": _arithmetic(np.exp2, 1),
    "tanh": _arithmetic(np.tanh, 1),
    "setp": setp,
    "set": set_,
}
