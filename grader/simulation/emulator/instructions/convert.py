"""Moves and conversions (PTX ISA sections 9.7.9.1 `mov`, 9.7.9.20 `cvta`, 9.7.9.21 `cvt`).

`cvt` to and from bfloat16, packed pairs, 8-bit floats and tf32 (PTX ISA section 9.7.9.21).

A number goes through float64, rounded to odd where it does not fit, so that the one rounding at the end
is the right one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.simulation.emulator.instructions import half, rounding
from grader.simulation.emulator.instructions.floating import flushed, saturated
from grader.simulation.emulator.machine.values import DTYPES, FALSE, Value, scalar
from grader.simulation.emulator.memory.memory import WINDOW
from grader.simulation.ptx import Register, Vector
from grader.simulation.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.emulator.linking.link import Link, Step
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.memory.memory import Allocation
    from grader.simulation.ptx import Instruction

_TO_INTEGER = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
_HALF = 2
"""Bytes of a float16."""
_NAN_HALF = np.uint16(0x7FFF).view(np.float16)
"""The NaN that devices give."""
_WINDOWS = ("shared", "local")


def mov(ins: Instruction, link: Link) -> Step:
    """`mov`: registers, addresses, and packing and unpacking of vectors (sections 9.7.9.2 and 9.7.9.3)."""
    destination, source = ins.operands
    kind = ins.modifiers[-1]
    if isinstance(source, Vector):
        return _pack(ins, link, source)
    if isinstance(destination, Vector):
        return _unpack(ins, link, destination)
    if kind == "b128":
        raise link.unsupported()
    if isinstance(source, Register) and link.is_declared(source):
        return _copy(link, source, kind)
    if isinstance(source, Register) or kind == "pred":
        return link.pure(lambda value: value, kind)
    register, fetch = link.register(destination), link.fetch(source, kind)
    return lambda m: m.write(register, fetch(m, m.compute_mask))


def _copy(link: Link, source: Register, kind: str) -> Step:
    """Register to register. An unset value stays unset: a copy at the head of a loop is no use of it."""
    to, origin = link.register(link.instruction.operands[0]), link.register(source)
    fetch = link.fetch(source, kind)

    def step(m: Machine) -> None:
        if m.compute_mask is None:
            m.registers[to] = m.registers[origin]
        elif m.registers[origin] is not None:
            m.write(to, fetch(m, m.compute_mask))

    return step


def _pack(ins: Instruction, link: Link, source: Vector) -> Step:
    register = link.register(ins.operands[0])
    total = TYPE_BYTES[ins.modifiers[-1]]
    if total > 8:  # noqa: PLR2004 - bytes; a register of 128 bits
        raise link.unsupported()
    piece = 8 * total // len(source.elements)
    wide = np.dtype(f"u{total}")
    fetches = [link.fetch(element, f"b{piece}") for element in source.elements]

    def step(m: Machine) -> None:
        packed = wide.type(0)
        for position, fetch in enumerate(fetches):
            packed = packed | fetch(m, m.compute_mask).astype(wide) << wide.type(position * piece)
        m.write(register, packed)

    return step


def _unpack(ins: Instruction, link: Link, destination: Vector) -> Step:
    total = TYPE_BYTES[ins.modifiers[-1]]
    piece = 8 * total // len(destination.elements)
    if piece % 8:
        raise link.unsupported()
    wide, part = np.dtype(f"u{total}"), np.dtype(f"u{piece // 8}")
    registers = [link.register(element) for element in destination.elements]
    fetch = link.fetch(ins.operands[1], f"b{8 * total}")

    def step(m: Machine) -> None:
        value = fetch(m, m.compute_mask)
        for position, register in enumerate(registers):
            if register >= 0:
                m.write(register, (value >> wide.type(position * piece)).astype(part))

    return step


def cvta(ins: Instruction, link: Link) -> Step:
    """`cvta`: global addresses are generic ones; shared and local ones have a window each."""
    kind = ins.modifiers[-1]
    space = next((word for word in ins.modifiers if word in _WINDOWS), "")
    if not space:
        return link.pure(lambda address: address, kind)
    back = "to" in ins.modifiers
    register, fetch = link.register(ins.operands[0]), link.fetch(ins.operands[1], kind)

    def step(m: Machine) -> None:
        window = np.uint64(m.memory.space.windows[space])
        address = fetch(m, m.compute_mask)
        m.write(register, address - window if back else address + window)

    return step


def isspacep(ins: Instruction, link: Link) -> Step:
    """`isspacep.space p, a`: whether a generic address lies in a state space (section 9.7.9.19)."""
    space = ins.modifiers[0].split("::")[0]
    if space not in (*_WINDOWS, "global", "const"):
        raise link.unsupported()
    register, fetch = link.register(ins.operands[0]), link.fetch(ins.operands[1], "u64")

    def in_window(m: Machine) -> None:
        base = m.memory.space.windows[space]
        address = fetch(m, m.compute_mask)
        m.write(register, (address >= np.uint64(base)) & (address < np.uint64(base + WINDOW)))

    def step(m: Machine) -> None:
        address = fetch(m, m.compute_mask)
        base = m.memory.base
        constant = np.logical_or.reduce(
            [_within(address, base, allocation) for allocation in m.memory.allocations if allocation.constant]
            or [FALSE]
        )
        in_global = address >= np.uint64(base)
        m.write(register, constant if space == "const" else in_global & ~constant)

    return in_window if space in _WINDOWS else step


def _within(address: Value, base: int, allocation: Allocation) -> Value:
    return (address >= np.uint64(base + allocation.start)) & (address < np.uint64(base + allocation.end))


def cvt(ins: Instruction, link: Link) -> Step:
    """`cvt.rounding.dtype.atype` (section 9.7.9.21): operands may sit in wider registers."""
    *how, to, source = ins.modifiers
    if not {to, source}.isdisjoint(NARROW_TYPES) or not {"relu", "satfinite"}.isdisjoint(how):
        return narrow_cvt(ins, link)
    words = {*rounding.MODES, "ftz", "sat", *_TO_INTEGER}
    if to not in DTYPES or source not in DTYPES or not set(how) <= words:
        raise link.unsupported()
    convert = _conversion(how, to, source)
    if "ftz" not in how:
        return link.pure(_extended(convert, link), source)

    def flushing(value: Value) -> Value:
        result = convert(flushed(value) if source == "f32" else value)
        return flushed(result) if to == "f32" else result

    return link.pure(_extended(flushing, link), source)


def _extended(function: Callable[[Value], Value], link: Link) -> Callable[[Value], Value]:
    """Sign- or zero-extend the result to its register (section 9.4.1)."""
    width = TYPE_BYTES[link.register_type(link.instruction.operands[0])]

    def extended(value: Value) -> Value:
        result = function(value)
        if result.dtype.itemsize < width and result.dtype.kind in "iu":
            return result.astype(f"{result.dtype.kind}{width}")
        return result

    return extended


def _conversion(how: list[str], to: str, source: str) -> Callable[[Value], Value]:
    target, mode = DTYPES[to], next((word for word in how if word in rounding.MODES), "rn")
    if source[0] == "f" and to[0] == "f":
        return _between_floats(how, target, mode)
    if source[0] == "f":
        nearby = next((_TO_INTEGER[word] for word in how if word in _TO_INTEGER), np.trunc)
        return lambda value: clamped(nearby(value), target)
    if to[0] == "f":
        convert = partial(rounding.from_integer, target=target, mode=mode)
        return (lambda value: saturated(convert(value))) if "sat" in how else convert
    if "sat" in how:
        return lambda value: _saturated(value, target)
    return lambda value: value.astype(target)


def _between_floats(how: list[str], target: np.dtype[np.floating], mode: str) -> Callable[[Value], Value]:
    nearby = next((_TO_INTEGER[word] for word in how if word in _TO_INTEGER), None)
    saturate = "sat" in how

    def convert(value: Value) -> Value:
        if nearby is not None:
            value = nearby(value)
        if target.itemsize >= value.dtype.itemsize or mode == "rn":
            result = value.astype(target)
        else:
            result = rounding.narrowed(value.astype(np.float64), target, mode)
        if target.itemsize == _HALF:
            result = np.where(np.isnan(result), _NAN_HALF, result)[()]
        return saturated(result) if saturate else result

    return convert


def _saturated(value: Value, target: np.dtype[np.integer]) -> Value:
    limits, source = np.iinfo(target), np.iinfo(value.dtype)
    low = value.dtype.type(max(limits.min, source.min))
    high = value.dtype.type(min(limits.max, source.max))
    return np.clip(value, low, high).astype(target)


_NAN8, _NAN32 = np.uint8(0x7F), np.uint32(0x7FFFFFFF)
_GREATEST = {"f16": 65504.0, "bf16": (2 - 2.0**-7) * 2.0**127, "tf32": (2 - 2.0**-10) * 2.0**127}


_WIDE = 8
"""Bytes of a 64-bit type."""


class _Tiny(NamedTuple):
    """An 8-bit format: bits of mantissa, least exponent of a normal number, largest finite number."""

    mantissa: int
    least: int
    greatest: float


_TINY = {"e4m3": _Tiny(3, -6, 448.0), "e5m2": _Tiny(2, -14, 57344.0)}
NARROW_TYPES = frozenset({"bf16", "f16x2", "bf16x2", "tf32", "e4m3x2", "e5m2x2"})
"""A `cvt` from or to one of these is done here."""


def narrow_cvt(ins: Instruction, link: Link) -> Step:
    """`cvt` of the types above, and of f16 where ``.relu`` or ``.satfinite`` is asked."""
    *how, to, source = ins.modifiers
    single = to.removesuffix("x2")
    if to not in (*NARROW_TYPES, *DTYPES):
        raise link.unsupported()
    if not set(how) <= {*rounding.MODES, *_TO_INTEGER, "rna", "relu", "satfinite", "sat", "ftz"}:
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
    """Format float64 numbers as the modifiers require."""
    whole = next((_TO_INTEGER[word] for word in how if word in _TO_INTEGER), None)
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


TABLE = {"mov": mov, "cvta": cvta, "isspacep": isspacep, "cvt": cvt}
