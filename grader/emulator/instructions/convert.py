"""Moves and conversions (PTX ISA sections 9.7.9.1 `mov`, 9.7.9.20 `cvta`, 9.7.9.21 `cvt`)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.instructions import narrow, rounding
from grader.emulator.instructions.floating import flushed, saturated
from grader.emulator.machine.values import DTYPES, FALSE, Value
from grader.emulator.memory.memory import WINDOW
from grader.ptx import Register, Vector
from grader.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.emulator.linking.link import Link, Step
    from grader.emulator.machine.machine import Machine
    from grader.emulator.memory.memory import Allocation
    from grader.ptx import Instruction

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
    """Register to register. What was never set stays so: a copy at the head of a loop is no use of it."""
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
    wide, narrow = np.dtype(f"u{total}"), np.dtype(f"u{piece // 8}")
    registers = [link.register(element) for element in destination.elements]
    fetch = link.fetch(ins.operands[1], f"b{8 * total}")

    def step(m: Machine) -> None:
        value = fetch(m, m.compute_mask)
        for position, register in enumerate(registers):
            if register >= 0:
                m.write(register, (value >> wide.type(position * piece)).astype(narrow))

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
    if not {to, source}.isdisjoint(narrow.TYPES) or not {"relu", "satfinite"}.isdisjoint(how):
        return narrow.cvt(ins, link)
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
        return lambda value: narrow.clamped(nearby(value), target)
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


TABLE = {"mov": mov, "cvta": cvta, "isspacep": isspacep, "cvt": cvt}
