"""Loads, stores (PTX ISA sections 9.7.9.8 `ld`, 9.7.9.11 `st`), also of parameters, and asynchronous copies.

Copies from global to shared memory that the threads do not wait for are `cp.async` with its groups (section
9.7.9.25). The source is read when a copy is issued; the bytes are in shared memory once the thread has waited
for the copy, and not before, so that a program without the wait sees the old content. Of `cp` nothing else is
interpreted: bulk and tensor copies are refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.emulator.instructions.barrier import arrives_for_copies
from grader.simulation.emulator.machine import copies
from grader.simulation.emulator.machine.values import DTYPES, Value, scalar, select, spread
from grader.simulation.emulator.memory import access
from grader.simulation.emulator.memory.memory import AccessRequest, Target
from grader.simulation.ptx import Address, Immediate, Operand, Register, Symbol, Vector
from grader.simulation.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.emulator.linking.link import Fetch, Link, Step
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.ptx import Instruction

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
    """The base of ``[base + offset]``, maybe folded, and the offset: the base is evaluated only once."""
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
            piece_of(pieces, offset + position * dtype.itemsize, dtype) for position in range(len(registers))
        ]
        for (register, extend), value in zip(registers, values, strict=True):
            if value is None:  # a function that ended without a result
                m.write(register, extend(m.unset(dtype, link.instruction)))
            elif register >= 0:
                m.write(register, extend(select(value, m.compute_mask)))

    return step


def piece_of(pieces: dict[int, Value], offset: int, dtype: np.dtype[np.generic]) -> Value | None:
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


_SIZES = {"ca": (4, 8, 16), "cg": (16,)}
"""Bytes that a copy may have, by where it is cached."""
_FORM = {"async", "ca", "cg", "shared", "shared::cta", "global"}
_COPY_HINTS = {"L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"}


def cp(ins: Instruction, link: Link) -> Step:
    """`cp.async.*`: the form is said by its other words."""
    words = ins.modifiers
    if words == ("async", "commit_group"):
        return copies.commit
    if words == ("async", "wait_all"):
        return _wait_all
    if words[:3] == ("async", "mbarrier", "arrive"):
        return arrives_for_copies(ins, link)
    if words == ("async", "wait_group"):
        return _wait_group(ins, link)
    return _copy(ins, link)


def _wait_all(m: Machine) -> None:
    copies.commit(m)
    copies.wait(m, 0)


def _wait_group(ins: Instruction, link: Link) -> Step:
    """`cp.async.wait_group N`: all but the latest N groups of the thread are complete."""
    (number,) = ins.operands
    if not isinstance(number, Immediate):
        raise link.unsupported()
    return lambda m: copies.wait(m, number.value)


def _copy(ins: Instruction, link: Link) -> Step:
    """`cp.async.ca|cg.shared.global [dst], [src], size {, src-size | ignore-src} {, cache-policy}`."""
    words = set(ins.modifiers)
    if not words <= _FORM | _COPY_HINTS or not {"async", "global"} <= words:
        raise link.unsupported()
    destination, source, number, *more = ins.operands
    if not isinstance(number, Immediate):
        raise link.unsupported()
    size = number.value
    if not any(way in words and size in sizes for way, sizes in _SIZES.items()):
        raise link.unsupported()
    if "L2::cache_hint" in words:
        more = more[:-1]
    amount = _amount(link, more, size)
    to, origin = link.address(destination), link.address(source)
    to_site, from_site = _site(link, destination), _site(link, source)

    def step(m: Machine) -> None:
        read, everyone = amount(m, m.active), m.active
        if read.ndim == 0:
            _issue(m, (to_site, to), (from_site, origin), size, int(read))
            return
        lanes = m.lanes()
        for bytes_read in np.unique(read).tolist():  # seldom more than two: whole, or not at all
            m.active = lanes[read == bytes_read]
            _issue(m, (to_site, to), (from_site, origin), size, bytes_read)
        m.active = everyone

    return step


def _amount(link: Link, operands: list[Operand], size: int) -> Fetch:
    """Number of bytes that each lane reads; the rest of the copy is zeros."""
    if not operands:
        return lambda _m, _lanes: scalar(np.int64(size))
    (operand,) = operands
    if isinstance(operand, Register) and link.register_type(operand) == "pred":
        ignored = link.fetch(operand, "pred")
        return lambda m, lanes: np.where(ignored(m, lanes), 0, size)[()]
    fetch = link.fetch(operand, "u32")
    return lambda m, lanes: np.minimum(fetch(m, lanes), np.uint32(size))


def _site(link: Link, address: Operand) -> int:
    """A site of its own for each of the two addresses: each has its own bounds."""
    alone = replace(link.instruction, operands=(address,))
    return replace(link, instruction=alone).site()


def _issue(m: Machine, to: tuple[int, Fetch], origin: tuple[int, Fetch], size: int, read: int) -> None:
    """The active lanes begin to copy ``size`` bytes, of which ``read`` come from the source."""
    site, fetch = to
    request = AccessRequest(np.dtype(f"V{size}"), "shared", "write", size)
    destination = access.resolve_checked(m, site, fetch(m, m.active), request)
    content = np.zeros((m.count, size), np.uint8)
    source = None
    if read:
        site, fetch = origin
        request = AccessRequest(np.dtype(f"V{read}"), "global", "read", size)
        source = access.resolve_checked(m, site, fetch(m, m.active), request)
        good = slice(None) if source.good is None else source.good
        content[:, :read] = 0xFF  # the result of a load from an invalid address
        content[good, :read] = _bytes(source, int(content[good].shape[0]), read)
    if not _is_anywhere(destination):
        return
    began = m.observer.copied(m, source if source and _is_anywhere(source) else None, destination, size, read)
    copies.begin(m, destination, content if destination.good is None else content[destination.good], began)


def _is_anywhere(target: Target) -> bool:
    """True if the address of at least one lane is valid."""
    return target.lanes is None or bool(len(target.lanes))


def _bytes(source: Target, count: int, size: int) -> NDArray[np.uint8]:
    """Bytes of the source for each lane: shape (lanes, bytes)."""
    index = spread(source.index, count)
    return source.region.bytes[index[:, None] + np.arange(size)]


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
    "cp": cp,
}
