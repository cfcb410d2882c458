"""float32 and float64 arithmetic (PTX ISA section 9.7.3).

`add`, `sub`, `mul`, `fma`, `div`, `rcp` and `sqrt` with a rounding round once, as IEEE 754 asks. The
``.approx`` and ``.full`` forms are computed to the nearest number, which lies within the error that the
ISA documents for them; a device may give other last bits.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.emulator.instructions import rounding
from grader.simulation.emulator.machine.values import DTYPES, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.emulator.linking.link import Link, Step
    from grader.simulation.ptx import Instruction

TYPES = frozenset({"f32", "f64"})
_SMALLEST_NORMAL = {"f32": np.float32(2.0**-126), "f64": np.float64(2.0**-1022)}
_CANONICAL_NAN: dict[np.dtype[Any], Any] = {
    np.dtype(np.float32): np.uint32(0x7FFFFFFF).view(np.float32),
    np.dtype(np.float64): np.uint64(0x7FF8000000000000).view(np.float64),
}


def _kind(link: Link, *accepts: str) -> str:
    """The type of an instruction; refuses any modifier that its function does not know."""
    return link.form(TYPES, ("ftz", "sat", *accepts)).kind


def _mode(ins: Instruction) -> str:
    """The direction of rounding; to the nearest where none, or an approximation, is asked for."""
    return next((word for word in ins.modifiers if word in rounding.MODES), "rn")


def _finish(ins: Instruction, function: Callable[..., Value]) -> Callable[..., Value]:
    """``function`` with ``.ftz`` applied to its operands, and ``.sat`` and ``.ftz`` to its result."""
    flush, saturate = "ftz" in ins.modifiers, "sat" in ins.modifiers
    if not (flush or saturate):
        return function

    def finished(*operands: Value) -> Value:
        if flush:
            operands = tuple(flushed(operand) for operand in operands)
        result = function(*operands)
        if saturate:
            result = saturated(result)
        return flushed(result) if flush else result

    return finished


def flushed(value: Value) -> Value:
    """Subnormal numbers as zeros of the same sign (``.ftz``)."""
    small = np.abs(value) < (_SMALLEST_NORMAL["f64" if value.dtype.itemsize == 8 else "f32"])  # noqa: PLR2004
    return np.where(small, np.copysign(value.dtype.type(0), value), value)[()] if np.any(small) else value


def saturated(value: Value) -> Value:
    """Clamped to 0 … 1; NaN becomes +0 (``.sat``)."""
    zero, one = value.dtype.type(0), value.dtype.type(1)
    return np.where(value > 0, np.minimum(value, one), zero)[()]


def _in_mode(function: Callable[..., Value], mode: str, kind: str) -> Callable[..., Value]:
    """A function rounding in one direction, in the shortest form that there is."""
    if mode != "rn":
        return partial(function, mode=mode)
    if function is rounding.fused and kind == "f32":
        return rounding.nearest_fused32
    return rounding.NEAREST.get(function, partial(function, mode=mode))


def _rounded(
    function: Callable[..., Value], arity: int, *accepts: str
) -> Callable[[Instruction, Link], Step]:
    """An opcode whose forms differ only in type and rounding."""

    def build(ins: Instruction, link: Link) -> Step:
        kind, mode = _kind(link, *rounding.MODES, *accepts), _mode(ins)
        return link.pure(_finish(ins, _in_mode(function, mode, kind)), *[kind] * arity)

    return build


def _plain(function: Callable[..., Value], arity: int) -> Callable[[Instruction, Link], Step]:
    """An opcode that is exact: one NumPy function."""

    def build(ins: Instruction, link: Link) -> Step:
        return link.pure(_finish(ins, function), *[_kind(link)] * arity)

    return build


def _rounded_sum(minus: bool) -> Callable[[Instruction, Link], Step]:  # noqa: FBT001 - add or sub
    function = np.subtract if minus else np.add

    def build(ins: Instruction, link: Link) -> Step:
        kind, mode = _kind(link, *rounding.MODES), _mode(ins)
        if mode == "rn":
            return link.pure(_finish(ins, function), kind, kind)
        return link.pure(_finish(ins, lambda a, b: rounding.add(a, -b if minus else b, mode)), kind, kind)

    return build


def minimum(a: Value, b: Value) -> Value:
    """The smaller: of a number and a NaN the number, of two zeros the negative one (section 9.7.3.11)."""
    return _with_zeros(np.fmin(a, b), a, b, np.bitwise_or)


def maximum(a: Value, b: Value) -> Value:
    """The larger, likewise; of two zeros the positive one (section 9.7.3.12)."""
    return _with_zeros(np.fmax(a, b), a, b, np.bitwise_and)


def _with_zeros(chosen: Value, a: Value, b: Value, of_zeros: Callable[[Value, Value], Value]) -> Value:
    zero = (a == 0) & (b == 0)
    if np.any(zero):
        bits = np.dtype(f"u{a.dtype.itemsize}")
        chosen = np.where(zero, of_zeros(a.view(bits), b.view(bits)).view(a.dtype), chosen)[()]
    return canonical(chosen)


def canonical(value: Value) -> Value:
    """Every NaN as the one that devices give."""
    unordered = np.isnan(value)
    return np.where(unordered, _CANONICAL_NAN[value.dtype], value)[()] if np.any(unordered) else value


def sign_of_both(function: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    """``.xorsign.abs``: of the operands without their signs, with the sign that their product has."""

    def signed(a: Value, b: Value) -> Value:
        chosen = function(np.abs(a), np.abs(b))
        minus = np.signbit(a) ^ np.signbit(b)
        return np.where(np.isnan(chosen), chosen, np.where(minus, -chosen, chosen))[()]

    return signed


def _extreme_of(
    of_numbers: Callable[[Value, Value], Value],
) -> Callable[[Instruction, Link], Step]:
    def build(ins: Instruction, link: Link) -> Step:
        kind = _kind(link, "NaN", "xorsign", "abs")
        choose = sign_of_both(of_numbers) if "xorsign" in ins.modifiers else of_numbers

        def with_nan(a: Value, b: Value) -> Value:
            unordered = np.isnan(a) | np.isnan(b)
            return np.where(unordered, _CANONICAL_NAN[a.dtype], choose(a, b))[()]

        return link.pure(_finish(ins, with_nan if "NaN" in ins.modifiers else choose), kind, kind)

    return build


def _in_double(function: Callable[[Value], Value]) -> Callable[[Instruction, Link], Step]:
    """An approximate function: computed in float64 and rounded to its type.

    Processors disagree on the sign of a NaN that no operand was: it is positive.
    """

    def build(ins: Instruction, link: Link) -> Step:
        kind = _kind(link, "approx")
        dtype = DTYPES[kind]

        def in_double(x: Value) -> Value:
            value = function(x.astype(np.float64))
            return np.where(np.isnan(value) & ~np.isnan(x), np.nan, value)[()].astype(dtype)

        return link.pure(_finish(ins, in_double), kind)

    return build


def testp(ins: Instruction, link: Link) -> Step:
    """`testp.op.type p, a`: the class of a number (section 9.7.3.1)."""
    question, kind = ins.modifiers
    least = _SMALLEST_NORMAL[kind]
    tests: dict[str, Callable[[Value], Value]] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda a: ~np.isnan(a),
        "notanumber": np.isnan,
        "normal": lambda a: np.isfinite(a) & ((np.abs(a) >= least) | (a == 0)),
        "subnormal": lambda a: (np.abs(a) < least) & (a != 0),
    }
    return link.pure(tests[question], kind)


TABLE = {
    "testp": testp,
    "copysign": _plain(lambda a, b: np.copysign(b, a), 2),
    "add": _rounded_sum(minus=False),
    "sub": _rounded_sum(minus=True),
    "mul": _rounded(rounding.multiply, 2),
    "fma": _rounded(rounding.fused, 3),
    "mad": _rounded(rounding.fused, 3),
    "div": _rounded(rounding.divide, 2, "approx", "full"),
    "abs": _plain(np.abs, 1),
    "neg": _plain(np.negative, 1),
    "min": _extreme_of(minimum),
    "max": _extreme_of(maximum),
    "rcp": _rounded(lambda x, mode: rounding.divide(x.dtype.type(1), x, mode), 1, "approx"),
    "sqrt": _rounded(rounding.square_root, 1, "approx"),
    "rsqrt": _in_double(lambda x: 1 / np.sqrt(x)),
    "sin": _in_double(np.sin),
    "cos": _in_double(np.cos),
    "lg2": _in_double(np.log2),
    "ex2": _in_double(np.exp2),
    "tanh": _in_double(np.tanh),
}
