"""Instructions that access memory: loads, stores, atomics, and copies from global to shared memory.

The addresses of shared and local memory are offsets. An access outside what is there raises StrayError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.sass.listing import Address, Register
from grader.sass.machine import StrayError
from grader.sass.operands import is_predicate, register_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.sass.listing import Operand
    from grader.sass.machine import Machine, Step
    from grader.sass.operands import Link, Reader

_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
_SCALES = {"X4": 4, "X8": 8, "X16": 16}
_WORD = 4
_SPACES = {"G": "global", "S": "shared", "L": "local"}


def address_of(link: Link, operand: Operand, space: str) -> Reader:
    """The address of each lane in bytes, int64; of global memory from the beginning of `Machine.memory`."""
    if not isinstance(operand, Address):
        raise link.unknown()
    wide = space == "global"
    terms = [_term(link, register, wide=wide) for register in operand.registers]
    offset = np.array([operand.offset], np.int64)

    def read(m: Machine) -> NDArray[np.int64]:
        total: Any = offset - np.int64(m.base) if wide else offset
        for term in terms:
            total = total + term(m)
        return total if wide else total & np.int64(0xFFFFFFFF)

    return read


def _term(link: Link, register: Register, *, wide: bool) -> Reader:
    """One register of an address: of global memory a pair, unless it says that it is a word."""
    plain = Register(register.file, register.index)
    scale = np.int64(next((_SCALES[suffix] for suffix in register.suffixes if suffix in _SCALES), 1))
    if wide and "U32" not in register.suffixes and ("64" in register.suffixes or link.has("E")):
        pair = link.pair(plain)
        return lambda m: pair(m).view(np.int64)
    word = link.word(plain)
    return lambda m: word(m).astype(np.int64) * scale


def _width(link: Link) -> int:
    return next((_WIDTHS[name] for name in link.instruction.modifiers if name in _WIDTHS), _WORD)


def _space(link: Link) -> str:
    letter = link.instruction.opcode.removeprefix("LD").removeprefix("ST")[:1]
    return _SPACES.get(letter, "global")


def located(
    m: Machine, space: str, address: NDArray[np.int64], size: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes that hold a space, and where in them each lane's address is; raises StrayError outside."""
    if space == "global":
        memory, at, limit = m.memory, address, len(m.memory)
    elif space == "shared":
        memory, at, limit = m.shared, address + m.block_of_lane * m.shared_bytes, m.shared_bytes
    else:
        memory, at, limit = m.local_memory(), address + m.number * m.local_bytes, m.local_bytes
    if address.min() >= 0 and address.max() <= limit - size:
        return memory, at
    stray = (address < 0) | (address > limit - size)
    if (np.broadcast_to(stray, (m.lanes,)) & acting(m)).any():
        raise StrayError("an access outside its arrays")
    return memory, np.where(stray, 0, at)


def acting(m: Machine) -> NDArray[np.bool_]:
    """The lanes for which an access is made: those of the instruction that have a thread."""
    return m.active if m.threads is None else m.active & m.threads


def _load(link: Link) -> Step:
    operands = link.operands
    if is_predicate(operands[0]):
        raise link.unknown()
    space, size = _space(link), _width(link)
    to, address, index = register_index(operands[0]), address_of(link, operands[1], space), link.index
    signed = link.has("S8") or link.has("S16")

    def step(m: Machine) -> None:
        where = address(m)
        m.note(index, space, where, size)
        memory, at = located(m, space, where, size)
        if size < _WORD:
            kind = np.dtype(f"{'i' if signed else 'u'}{size}")
            m.write(to, memory.view(kind)[at // size].astype(np.int32).view(np.uint32))
            return
        words, first = memory.view(np.uint32), at >> 2
        for word in range(size // _WORD):
            m.write(to + word if to >= 0 else -1, words[first + word])

    return step


def _store(link: Link) -> Step:
    space, size = _space(link), _width(link)
    address, index = address_of(link, link.operands[0], space), link.index
    first = register_index(link.operands[1])
    words = [
        link.word(Register("R", first + word if first >= 0 else -1)) for word in range(max(1, size // _WORD))
    ]

    def step(m: Machine) -> None:
        where = address(m)
        m.note(index, space, where, size)
        memory, at = located(m, space, where, size)
        makers = None if m.mask is None and m.threads is None else acting(m)
        kind = np.dtype(f"u{min(size, _WORD)}")
        place = np.broadcast_to(at // kind.itemsize, (m.lanes,))
        for number, word in enumerate(words):
            value = np.broadcast_to(word(m).astype(kind), (m.lanes,))
            if makers is None:
                memory.view(kind)[place + number] = value
            else:
                memory.view(kind)[place[makers] + number] = value[makers]

    return step


def _load_constant(link: Link) -> Step:
    """LDC, ULDC: a word or two of a constant bank, at an offset that a register may decide."""
    target, source = link.operands[0], link.operands[1]
    to, register = register_index(target), getattr(source, "register", None)
    size = _width(link)
    bank, offset = getattr(source, "bank", -1), getattr(source, "offset", 0)
    if register is None or register.index < 0:
        values = [
            np.array([link.constant(bank, offset + _WORD * word, min(size, _WORD))], np.uint32)
            for word in range(max(1, size // _WORD))
        ]

        def fixed(m: Machine) -> None:
            for word, value in enumerate(values):
                m.write(to + word, value)

        return fixed
    content = np.frombuffer(link.banks.get(bank, b"").ljust(1 << 16, b"\0"), np.uint8)
    index = link.word(register)

    def step(m: Machine) -> None:
        at = np.clip(index(m).astype(np.int64) + offset, 0, len(content) - size)
        if size < _WORD:
            m.write(to, content.view(f"u{size}")[at // size].astype(np.uint32))
            return
        for word in range(size // _WORD):
            m.write(to + word, content.view(np.uint32)[at // _WORD + word])

    return step


def _copy(link: Link) -> Step:
    """LDGSTS: each lane copies from global to shared memory; at once, as whoever waits for it sees it."""
    to, source = link.operands[0], link.operands[1]
    size, index = _width(link), link.index
    into, out_of = address_of(link, to, "shared"), address_of(link, source, "global")

    def step(m: Machine) -> None:
        wanted, goal = out_of(m), into(m)
        m.note(index, "global", wanted, size)
        memory, at = located(m, "global", wanted, size)
        shared, place = located(m, "shared", goal, size)
        lanes = np.flatnonzero(acting(m))
        first = np.broadcast_to(at >> 2, (m.lanes,))[lanes]
        goal_words = np.broadcast_to(place >> 2, (m.lanes,))[lanes]
        for word in range(size // _WORD):
            shared.view(np.uint32)[goal_words + word] = memory.view(np.uint32)[first + word]

    return step


TABLE: dict[str, Callable[[Link], Step]] = {
    **dict.fromkeys(("LDG", "LDS", "LDL", "LD"), _load),
    **dict.fromkeys(("STG", "STS", "STL", "ST"), _store),
    **dict.fromkeys(("LDC", "ULDC"), _load_constant),
    "LDGSTS": _copy,
}
"""How each instruction is linked."""
