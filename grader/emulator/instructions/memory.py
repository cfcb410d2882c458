"""Loads and stores (PTX ISA sections 9.7.9.8 `ld`, 9.7.9.11 `st`), also of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.machine.values import DTYPES, Value, scalar, select
from grader.emulator.memory import access
from grader.emulator.memory.memory import AccessRequest
from grader.ptx import Address, Operand, Register, Symbol, Vector
from grader.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.emulator.linking.link import Fetch, Link, Step
    from grader.emulator.machine.machine import Machine
    from grader.ptx import Instruction

_SPACES = {"global", "shared", "local", "const", "param"}
_HINTS = {"nc", "volatile", "relaxed", "acquire", "release", "weak", "cta", "gpu", "sys", "cluster", "lu"} | {
    *("ca", "cg", "cs", "cv", "wb", "wt", "v2", "v4"),
    *("L1::evict_last", "L1::no_allocate", "L1::evict_first", "L1::evict_normal", "L1::evict_unchanged"),
    *("L2::64B", "L2::128B", "L2::256B"),
}
"""Modifiers that change neither the value nor, here, the order of an access."""


def ld(ins: Instruction, link: Link) -> Step:
    """`ld`: from memory, or from a parameter."""
    kind, space, _ = link.form(DTYPES, _HINTS, _SPACES)
    destination, address = ins.operands
    elements = destination.elements if isinstance(destination, Vector) else (destination,)
    registers = [(link.register(element), _extension(link, element, kind)) for element in elements]
    if space == "param" and isinstance(address, Address) and isinstance(address.base, Symbol):
        return _load_parameter(link, address, registers, kind)
    if space == "param":  # through its address: such parameters are kept as constants
        space = "const"
    dtype, size, site = DTYPES[kind], TYPE_BYTES[kind], link.site()
    where, offset = _address(link, address)
    if len(registers) == 1:
        register, extend = registers[0]
        request = AccessRequest(dtype, space, "read", size, offset)

        def step(m: Machine) -> None:
            value = access.load_requested(m, site, where(m, m.active), request)
            m.write_active(register, extend(value))

        return step
    requests = [len(registers) * size] + [0] * (len(registers) - 1)

    def vector_step(m: Machine) -> None:
        base = where(m, m.active)
        values = [
            access.load(m, site, base, dtype, space, request, offset + position * size)
            for position, request in enumerate(requests)
        ]
        for (register, extend), value in zip(registers, values, strict=True):
            if register >= 0:
                m.write_active(register, extend(value))

    return vector_step


def _address(link: Link, operand: Operand) -> tuple[Fetch, int]:
    """The base of ``[base + offset]``, maybe folded, and the offset: the base is looked at once only."""
    if isinstance(operand, Address) and isinstance(operand.base, Register):
        if TYPE_BYTES[link.register_type(operand.base)] == 8:  # noqa: PLR2004 - bytes of an address
            return link.operand(operand.base, "s64"), operand.offset
        narrow = link.operand(operand.base, "s32")  # the sum wraps at 32 bits
        return (lambda m, lanes: m.memo.widened(narrow(m, lanes))), operand.offset
    if isinstance(operand, Address):
        return link.address(operand), 0
    raise link.unsupported()


def _extension(link: Link, register: Operand, kind: str) -> Callable[[Value], Value]:
    """A narrow value is sign- or zero-extended to its register (section 9.4.1)."""
    if isinstance(register, Symbol):  # the sink `_`
        return lambda value: value
    width = TYPE_BYTES[link.register_type(register)]
    dtype = DTYPES[kind]
    if dtype.itemsize >= width:
        return lambda value: value
    sign = "i" if dtype.kind == "i" else "u"
    bits, wide = np.dtype(f"{sign}{dtype.itemsize}"), np.dtype(f"{sign}{width}")
    return lambda value: value.view(bits).astype(wide)


def _load_parameter(
    link: Link,
    address: Operand,
    registers: list[tuple[int, Callable[[Value], Value]]],
    kind: str,
) -> Step:
    name, offset = _parameter(link, address)
    dtype = DTYPES[kind]

    def step(m: Machine) -> None:
        pieces = m.frame.parameters.get(name, {})
        values = [
            _piece(pieces, offset + position * dtype.itemsize, dtype) for position in range(len(registers))
        ]
        for (register, extend), value in zip(registers, values, strict=True):
            if value is None:  # a function that ended without a result
                m.write(register, extend(m.unset(dtype, link.instruction)))
            elif register >= 0:
                m.write(register, extend(select(value, m.compute_mask)))

    return step


def _piece(pieces: dict[int, Value], offset: int, dtype: np.dtype[np.generic]) -> Value | None:
    """Bytes ``offset`` … of a parameter that was stored in pieces; None if none of them was."""
    value = pieces.get(offset)
    size = dtype.itemsize
    if value is not None and value.dtype.itemsize == size:
        return value.view(dtype)
    bits, complete = scalar(np.uint64(0)), False
    for start, whole in pieces.items():
        low, high = max(start, offset), min(start + whole.dtype.itemsize, offset + size)
        if low < high:
            part = whole.view(f"u{whole.dtype.itemsize}").astype(np.uint64) >> np.uint64(8 * (low - start))
            part = part & np.uint64(2 ** (8 * (high - low)) - 1)
            bits, complete = bits | part << np.uint64(8 * (low - offset)), True
    return bits.astype(f"u{size}").view(dtype) if complete else None


def _parameter(link: Link, address: Operand) -> tuple[str, int]:
    if not isinstance(address, Address) or not isinstance(address.base, Symbol):
        raise link.unsupported()
    return address.base.name, address.base.offset + address.offset


def st(ins: Instruction, link: Link) -> Step:
    """`st`: to memory, or to a parameter of a function that is about to be called."""
    kind, space, _ = link.form(DTYPES, _HINTS, _SPACES)
    address, source = ins.operands
    elements = source.elements if isinstance(source, Vector) else (source,)
    fetches = [link.fetch(element, kind) for element in elements]
    size = TYPE_BYTES[kind]
    if space == "param":
        name, offset = _parameter(link, address)

        def store_parameter(m: Machine) -> None:
            pieces = m.frame.parameters.setdefault(name, {})
            for position, fetch in enumerate(fetches):
                m.write_parameter(pieces, offset + position * size, fetch(m, m.compute_mask))

        return store_parameter
    site, (where, offset) = link.site(), _address(link, address)
    requests = [len(fetches) * size] + [0] * (len(fetches) - 1)

    def step(m: Machine) -> None:
        base = where(m, m.active)
        for position, (fetch, request) in enumerate(zip(fetches, requests, strict=True)):
            access.store(m, site, base, fetch(m, m.active), space, request, offset + position * size)

    return step


def nothing(_ins: Instruction, _link: Link) -> Step:
    """`prefetch`, `nanosleep` and the like: no effect on the values that this machine computes."""
    return lambda _m: None


TABLE = {
    "ld": ld,
    "ldu": ld,
    "st": st,
    "prefetch": nothing,
    "prefetchu": nothing,
    "discard": nothing,
    "applypriority": nothing,
    "nanosleep": nothing,
    "pmevent": nothing,
}
