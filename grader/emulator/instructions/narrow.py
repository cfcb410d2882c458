"""`cvt` to and from bfloat16, packed pairs, 8-bit floats and tf32 (PTX ISA section 9.7.9.21).

A number goes through float64, rounded to odd where it does not fit, so that the one rounding at the end
is the right one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.emulator.instructions import half, rounding
from grader.emulator.machine.values import DTYPES, Value, scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.emulator.linking.link import Link, Step
    from grader.ptx import Instruction

_NAN8, _NAN32 = np.uint8(0x7F), np.uint32(0x7FFFFFFF)
_GREATEST = {"f16": 65504.0, "bf16": (2 - 2.0**-7) * 2.0**127, "tf32": (2 - 2.0**-10) * 2.0**127}
_WHOLE = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


_WIDE = 8
"""Bytes of a 64-bit type."""


class _Tiny(NamedTuple):
    """An 8-bit format: bits of mantissa, least exponent of a normal number, largest finite number."""

    mantissa: int
    least: int
    greatest: float


_TINY = {"e4m3": _Tiny(3, -6, 448.0), "e5m2": _Tiny(2, -14, 57344.0)}
TYPES = frozenset({"bf16", "f16x2", "bf16x2", "tf32", "e4m3x2", "e5m2x2"})
"""A `cvt` from or to one of these is done here."""


def cvt(ins: Instruction, link: Link) -> Step:
    """`cvt` of the types above, and of f16 where ``.relu`` or ``.satfinite`` is asked."""
    *how, to, source = ins.modifiers
    single = to.removesuffix("x2")
    if to not in (*TYPES, *DTYPES):
        raise link.unsupported()
    if not set(how) <= {*rounding.MODES, *_WHOLE, "rna", "relu", "satfinite", "sat", "ftz"}:
        raise link.unsupported()
    if source in ("e4m3x2", "e5m2x2"):
        if to != "f16x2":
            raise link.unsupported()
        return link.pure(partial(_widened_pair, kind=source[:4], relu="relu" in how), "b16")
    read = _reader(source, link)
    encode = partial(_encoded, kind=single, how=tuple(how))
    if not to.endswith("x2"):
        return link.pure(_for_lanes(lambda a: encode(read(a))), _register(source))
    bits = np.uint16(8) if single in _TINY else np.uint32(16)
    wide = np.dtype(np.uint16 if single in _TINY else np.uint32)

    def pack(high: Value, low: Value) -> Value:
        return encode(high).astype(wide) << bits | encode(low).astype(wide)

    if source == "f32":
        return link.pure(_for_lanes(lambda a, b: pack(read(a), read(b))), "f32", "f32")
    if source in ("f16x2", "bf16x2") and single in _TINY:
        return link.pure(
            _for_lanes(
                lambda a: pack(read((a >> np.uint32(16)).astype(np.uint16)), read(a.astype(np.uint16)))
            ),
            "b32",
        )
    raise link.unsupported()


def _register(source: str) -> str:
    return "b16" if source in ("f16", "bf16") else source


def _for_lanes(function: Callable[..., Value]) -> Callable[..., Value]:
    """``function`` of arrays, also for values that are the same in all lanes."""

    def apply(*operands: Value) -> Value:
        result = function(*(np.atleast_1d(operand) for operand in operands))
        return result if any(operand.ndim for operand in operands) else result[0]

    return apply


def _reader(source: str, link: Link) -> Callable[[Value], NDArray[np.float64]]:
    """Numbers of a type as float64, rounded to odd where they do not fit."""
    kind = source.removesuffix("x2")
    if kind in ("f16", "bf16"):
        return lambda bits: half.decoded(bits.view(np.uint16), kind)
    if kind not in DTYPES or kind == "pred" or kind[0] == "b":
        raise link.unsupported()
    if kind[0] == "f":
        return lambda value: value.astype(np.float64)
    return _from_integers


def _from_integers(value: Value) -> NDArray[np.float64]:
    wide = value.astype(np.int64 if value.dtype.kind == "i" else np.uint64)
    low = wide & wide.dtype.type(0xFFFFFFFF)
    upper = (wide >> wide.dtype.type(32)).astype(np.float64) * 2.0**32
    odd: NDArray[np.float64] = rounding.to_odd(*rounding.two_sum(upper, low.astype(np.float64)))
    return odd


def _encoded(value: NDArray[np.float64], kind: str, how: tuple[str, ...]) -> Value:
    """float64 numbers in a format, after what the modifiers ask for."""
    whole = next((_WHOLE[word] for word in how if word in _WHOLE), None)
    mode = next((word for word in how if word in (*rounding.MODES, "rna")), "rn")
    if whole is not None:
        value = whole(value)
    if "relu" in how:
        value = np.where(np.isnan(value) | (value > 0), value, 0.0)
    if "sat" in how and kind[0] in "bf":
        value = np.where(value > 0, np.minimum(value, 1.0), 0.0)
    if kind in _TINY:
        return _tiny(value, _TINY[kind])
    if "satfinite" in how:
        value = np.clip(value, -_GREATEST[kind], _GREATEST[kind])
    if kind in ("f16", "bf16"):
        return half.encoded(value, kind, mode)
    if kind == "tf32":
        return _tf32(value.astype(np.float32), mode)
    if kind[0] in "us":
        near = value if whole is not None else np.trunc(value)
        return clamped(near.astype(np.float32), DTYPES[kind])  # only from formats that fit in it
    return value.astype(DTYPES[kind])


def _tf32(value: NDArray[np.float32], mode: str) -> NDArray[np.uint32]:
    """float32 with ten bits of mantissa; ``.rna`` rounds halves away from zero."""
    bits, low = value.view(np.uint32), np.uint32(0x1FFF)
    if mode == "rna":
        step = scalar(np.uint32(0x1000))
    elif mode == "rn":
        step = np.uint32(0xFFF) + (bits >> np.uint32(13) & np.uint32(1))
    else:
        step = scalar(np.uint32(0))
    rounded = np.where(np.isinf(value), bits, bits + step & ~low)
    return np.where(np.isnan(value), _NAN32, rounded)


def _tiny(value: NDArray[np.float64], form: _Tiny) -> NDArray[np.uint8]:
    """8-bit floats: to the nearest, ties to even, and never beyond the largest finite one."""
    size = np.abs(np.where(np.isnan(value), 0.0, np.clip(value, -form.greatest, form.greatest)))
    _, exponent = np.frexp(size)
    quantum = np.ldexp(1.0, np.maximum(exponent - 1, form.least) - form.mantissa)
    rounded = np.minimum(np.rint(size / quantum) * quantum, form.greatest)
    codes = np.searchsorted(_numbers(form), rounded).astype(np.uint8)
    signed = codes | np.signbit(value).astype(np.uint8) << np.uint8(7)
    return np.where(np.isnan(value), _NAN8, signed)


def _numbers(form: _Tiny) -> NDArray[np.float64]:
    """The finite numbers of a format that are not negative, by their patterns."""
    patterns = np.arange(128)
    mantissa, exponent = patterns & (1 << form.mantissa) - 1, patterns >> form.mantissa
    fraction = np.where(exponent > 0, mantissa + (1 << form.mantissa), mantissa).astype(np.float64)
    numbers: NDArray[np.float64] = np.ldexp(
        fraction, np.maximum(exponent, 1) - 1 + form.least - form.mantissa
    )
    return numbers[numbers <= form.greatest]


def _widened_pair(pair: Value, kind: str, *, relu: bool) -> Value:
    """Two 8-bit floats as packed halves."""
    form = _TINY[kind]
    finite = _numbers(form)
    table = np.full(128, np.nan)
    table[: len(finite)] = finite
    if kind == "e5m2":
        table[len(finite)] = np.inf
    table = np.concatenate((table, -table))
    if relu:
        table = np.where(table < 0, 0.0, table)
    halves = np.where(np.isnan(table), np.uint16(0x7FFF), table.astype(np.float16).view(np.uint16))
    low, high = halves[pair & np.uint16(255)], halves[pair >> np.uint16(8)]
    return (high.astype(np.uint32) << np.uint32(16) | low)[()]


def clamped(value: Value, target: np.dtype[np.integer]) -> Value:
    """A float as an integer: out of range goes to the nearest limit (section 9.7.9.21).

    NaN becomes 0, but the highest bit alone where either type has 64 bits.
    """
    limits = np.iinfo(target)
    unordered = np.isnan(value)
    number = np.where(unordered, 0.0, value.astype(np.float64))
    low, high = number <= limits.min, number >= limits.max
    inside = np.where(low | high, 0.0, number).astype(target)
    result = np.where(low, target.type(limits.min), np.where(high, target.type(limits.max), inside))
    if _WIDE in (value.dtype.itemsize, target.itemsize):
        top = np.dtype(f"u{target.itemsize}").type(1 << (8 * target.itemsize - 1)).view(target)
        result = np.where(unordered, top, result)
    return result[()]
