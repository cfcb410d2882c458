"""Instructions that access memory: loads, stores, and copies from global to shared memory.

The addresses of shared and local memory are offsets. A generic access may go to any of them: windows of
addresses say which. An access outside the arrays raises StrayError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.sass.listing import SassAddress, SassConstant, SassRegister
from grader.simulation.sass.machine import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES, StrayError
from grader.simulation.sass.operands import is_predicate, register_index
from grader.simulation.sass.warps import acting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.sass.listing import Operand
    from grader.simulation.sass.machine import SassMachine, Step
    from grader.simulation.sass.operands import Reader, SassLink

_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
_SCALES = {"X4": 4, "X8": 8, "X16": 16}
_WORD = 4
_OFFSET = np.int64(0xFFFFFFFF)
_KNOWN = frozenset(
    (
        *("E", "U", "SYS", "GPU", "CTA", "SM", "STRONG", "WEAK", "CONSTANT", "CONSTANT.PRIVATE", "PRIVATE"),
        *("EF", "EL", "LU", "EU", "NA", "LTC64B", "LTC128B", "LTC256B", "MMIO", "VOLATILE"),
    )
)
"""Modifiers of loads and stores for caching and visibility."""


def spaced(link: SassLink, operand: Operand, space: str, make: Callable[[str, Reader], Step]) -> Step:
    """The access that ``make`` gives for a space and the bytes in it; a generic one is made in each space."""
    if space in ("shared", "local"):
        return make(space, _offset(link, operand))
    address = _wide(link, operand)
    to_global = make("global", lambda m: address(m) - np.int64(m.base))
    if space == "global":
        return to_global
    windows = {"shared": np.int64(SHARED_WINDOW), "local": np.int64(LOCAL_WINDOW)}
    others = [(start, make(name, _behind(address, start))) for name, start in windows.items()]

    def step(m: SassMachine) -> None:
        where, before = address(m), m.mask
        rest = acting(m)
        for start, access in others:
            inside = rest & (where >= start) & (where < start + WINDOW_BYTES)
            if inside.any():
                m.mask, rest = inside, rest & ~inside
                access(m)
        if rest.any():
            m.mask = rest
            to_global(m)
        m.mask = before

    return step


def _behind(address: Reader, start: np.int64) -> Reader:
    return lambda m: address(m) - start


def _wide(link: SassLink, operand: Operand) -> Reader:
    """A 64-bit address, int64."""
    terms = [_wide_term(link, register) for register in _registers(link, operand)]
    return _sum(terms, getattr(operand, "offset", 0))


def _offset(link: SassLink, operand: Operand) -> Reader:
    """A 32-bit address, int64."""
    terms = [_term(link, register) for register in _registers(link, operand)]
    total = _sum(terms, getattr(operand, "offset", 0))
    return lambda m: total(m) & _OFFSET


def _registers(link: SassLink, operand: Operand) -> tuple[SassRegister, ...]:
    if not isinstance(operand, SassAddress):
        raise link.unknown()
    return operand.registers


def _sum(terms: list[Reader], offset: int) -> Reader:
    constant = np.array([offset], np.int64)
    if not terms:
        return lambda _: constant
    first, *others = terms

    def read(m: SassMachine) -> NDArray[np.int64]:
        total = first(m)
        for term in others:
            total = total + term(m)
        return total + constant if offset else total

    return read


def _wide_term(link: SassLink, register: SassRegister) -> Reader:
    """A pair of registers, unless it says that it is a word."""
    if "U32" in register.suffixes or not ("64" in register.suffixes or link.has("E")):
        return _term(link, register)
    pair = link.pair(register.without_signs())
    return lambda m: pair(m).view(np.int64)


def _term(link: SassLink, register: SassRegister) -> Reader:
    scale = next((_SCALES[suffix] for suffix in register.suffixes if suffix in _SCALES), 1)
    word = link.word(register.without_signs())
    if scale == 1:
        return lambda m: word(m).astype(np.int64)
    return lambda m: word(m) * np.int64(scale)


def _width(link: SassLink) -> int:
    return next((_WIDTHS[name] for name in link.instruction.modifiers if name in _WIDTHS), _WORD)


def _space(link: SassLink) -> str:
    letter = link.instruction.opcode.removeprefix("LD").removeprefix("ST")[:1]
    return {"G": "global", "S": "shared", "L": "local"}.get(letter, "generic")


def located(
    m: SassMachine, space: str, address: NDArray[np.int64], size: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes that hold a space, and where in them each lane's address is; raises StrayError outside."""
    if space == "global":
        memory, at, limit = m.memory, address, len(m.memory)
    elif space == "shared":
        memory, at, limit = m.shared, address + m.shared_at, m.shared_bytes
    else:
        memory, at, limit = m.local_memory(), address + m.local_at, m.local_bytes
    bits = int(np.bitwise_or.reduce(address))  # negative where one is, and with a low bit that any has
    if bits >= 0 and not bits & (size - 1) and address.max() <= limit - size:
        return memory, at
    stray = (address < 0) | (address > limit - size) | (address % size != 0)
    if (np.broadcast_to(stray, (m.lanes,)) & acting(m)).any():
        raise StrayError("an access outside its arrays")
    return memory, np.where(stray, 0, at)


def _load(link: SassLink) -> Step:
    """LDG, LDS, LDL, LD."""
    if is_predicate(link.operands[0]) or len(link.operands) != 2:  # noqa: PLR2004 - result and address
        raise link.unknown()
    link.only(*_KNOWN, *_WIDTHS)
    size, index, to = _width(link), link.index, register_index(link.operands[0])
    kind = np.dtype(f"{'i' if link.has('S8') or link.has('S16') else 'u'}{min(size, _WORD)}")
    shift = kind.itemsize.bit_length() - 1

    def make(space: str, address: Reader) -> Step:
        def step(m: SassMachine) -> None:
            where = address(m)
            m.note(index, space, where, size)
            memory, at = located(m, space, where, size)
            content, first = memory.view(kind), at >> shift
            if size < _WORD:
                m.write(to, content[first].astype(np.int32).view(np.uint32))
                return
            for word in range(size // _WORD):
                value = content.take(first + word if word else first, mode="clip")  # all are inside
                m.write(to + word if to >= 0 else to, value)

        return step

    return spaced(link, link.operands[1], _space(link), make)


def _store(link: SassLink) -> Step:
    """STG, STS, STL, ST."""
    link.only(*_KNOWN, *_WIDTHS)
    size, index, source = _width(link), link.index, link.operands[1]
    kind = np.dtype(f"u{min(size, _WORD)}")
    shift = kind.itemsize.bit_length() - 1
    words = words_of(link, source, max(1, size // _WORD))

    def make(space: str, address: Reader) -> Step:
        def step(m: SassMachine) -> None:
            where = address(m)
            m.note(index, space, where, size)
            memory, at = located(m, space, where, size)
            content, first = memory.view(kind), m.over_lanes(at >> shift)
            makers = None if m.mask is None and m.threads is None else acting(m)
            first = first if makers is None else first[makers]
            for number, word in enumerate(words):
                value = m.over_lanes(word(m))
                content[first + number if number else first] = value if makers is None else value[makers]

        return step

    return spaced(link, link.operands[0], _space(link), make)


def words_of(link: SassLink, operand: Operand, count: int) -> list[Reader]:
    """The words of registers that follow one another."""
    if count == 1:
        return [link.word(operand)]
    if not isinstance(operand, SassRegister):
        raise link.unknown()
    first = operand.index
    return [link.word(SassRegister(operand.file, first + n if first >= 0 else first)) for n in range(count)]


def _load_constant(link: SassLink) -> Step:
    """LDC, ULDC: bytes of a constant bank, at an offset that a register may decide."""
    link.only(*_WIDTHS)
    to, source, size = register_index(link.operands[0]), link.operands[1], _width(link)
    if not isinstance(source, SassConstant):
        raise link.unknown()
    content = np.frombuffer(link.bank(source.bank).ljust(1 << 16, b"\0"), np.uint8)
    kind = np.dtype(f"{'i' if link.has('S8') or link.has('S16') else 'u'}{min(size, _WORD)}")
    register, offset = source.register, source.offset
    index: Reader = link.word(register) if register is not None else _zero

    def step(m: SassMachine) -> None:
        at = np.clip(index(m).view(np.int32).astype(np.int64) + offset, 0, len(content) - size)
        first = at // kind.itemsize
        for word in range(max(1, size // _WORD)):
            value = content.view(kind)[first + word]
            m.write(
                to + word if to >= 0 else to,
                value.astype(np.int32).view(np.uint32) if size < _WORD else value,
            )

    return step


def _zero(_: SassMachine) -> NDArray[Any]:
    return np.zeros(1, np.uint32)


def _copy(link: SassLink) -> Step:
    """LDGSTS: each lane copies from global to shared memory; at once, as a thread that waits for it sees it.

    A predicate selects the lanes that read the source; the others get zeros (`.ZFILL`).
    """
    link.only(*_KNOWN, *_WIDTHS, "BYPASS", "ACCESS", "ZFILL")
    into, source, *rest = link.operands
    size, index = _width(link), link.index
    reads = link.truth(rest[0]) if rest else None
    goal = _offset(link, into)

    def make(_: str, address: Reader) -> Step:
        def step(m: SassMachine) -> None:
            before, to = m.mask, acting(m)
            start, lanes = located(m, "shared", goal(m), size)[1], np.flatnonzero(to)
            first = np.broadcast_to(start >> 2, (m.lanes,))[lanes]
            if reads is not None:
                m.mask = to & reads(m)
            addresses = address(m)
            m.note(index, "global", addresses, size)
            at = np.broadcast_to(located(m, "global", addresses, size)[1] >> 2, (m.lanes,))[lanes]
            copied = None if reads is None else m.active[lanes]
            for word in range(size // _WORD):
                value = m.memory.view(np.uint32)[at + word]
                m.shared.view(np.uint32)[first + word] = (
                    value if copied is None else np.where(copied, value, 0)
                )
            m.mask = before

        return step

    return spaced(link, source, "global", make)


TABLE: dict[str, Callable[[SassLink], Step]] = {
    **dict.fromkeys(("LDG", "LDS", "LDL", "LD"), _load),
    **dict.fromkeys(("STG", "STS", "STL", "ST"), _store),
    **dict.fromkeys(("LDC", "ULDC"), _load_constant),
    "LDGSTS": _copy,
}
"""Link functions by opcode."""
