"""Instructions that access memory: loads, stores, copies from global to shared memory, atomic updates.

The addresses of shared and local memory are offsets. A generic access may go to any of them: windows of
addresses say which. An access outside the arrays raises StrayError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.simulation.sass.listing import SassAddress, SassConstant, SassRegister
from grader.simulation.sass.native_code import (
    NOUGHT,
    SPACES,
    TERMS,
    UPDATES,
    Flag,
    MachineOperation,
    Sign,
    SourceOperand,
)
from grader.simulation.sass.operands import fixed, is_predicate, predicate_index, register_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.sass.listing import Operand
    from grader.simulation.sass.operands import SassLink

_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
_SCALES = {"X4": 4, "X8": 8, "X16": 16}
_WORD = 4
_KNOWN = frozenset(
    (
        *("E", "U", "SYS", "GPU", "CTA", "SM", "STRONG", "WEAK", "CONSTANT", "CONSTANT.PRIVATE", "PRIVATE"),
        *("EF", "EL", "LU", "EU", "NA", "LTC64B", "LTC128B", "LTC256B", "MMIO", "VOLATILE"),
    )
)
"""Modifiers of loads and stores for caching and visibility."""

_SCOPES = ("E", "STRONG", "WEAK", "GPU", "SYS", "CTA", "SM", "FTZ", "RN", "SPIN", "32", "PRIVATE")
_KINDS = {
    "S32": (4, Flag.SIGNED),
    "64": (8, Flag(0)),
    "U64": (8, Flag(0)),
    "S64": (8, Flag.SIGNED),
    "F32": (4, Flag.REAL),
    "F64": (8, Flag.REAL),
}
"""Bytes of what an atomic instruction updates, and its type."""
_PAIRS = {"F16x2": Flag(0), "BF16x2": Flag.BRAIN, "BF16_V2": Flag.BRAIN}
"""Two halves in a word."""
_EXCHANGES = ("CAS", "CAST")
"""A word is exchanged where it has the expected value; `CAST` gives 1 where it had, else 0."""
_OF_BITS = ("AND", "OR", "XOR")


def _address(link: SassLink, operand: Operand, space: str) -> tuple[tuple[SourceOperand, ...], int]:
    """The terms of an address of 64 bits, or of 32 in shared and local memory, and its constant part."""
    if not isinstance(operand, SassAddress) or len(operand.registers) > TERMS:
        raise link.unknown()
    is_wide = space not in ("shared", "local")
    return tuple(_term(link, register, is_wide=is_wide) for register in operand.registers), operand.offset


def _term(link: SassLink, register: SassRegister, *, is_wide: bool) -> SourceOperand:
    """A pair of registers, unless it says that it is a word, perhaps scaled."""
    is_pair = "U32" not in register.suffixes and ("64" in register.suffixes or link.has("E"))
    if is_wide and is_pair:
        return link.pair(register.without_signs())._replace(signs=Sign.WIDE_TERM)
    scale = next((_SCALES[suffix] for suffix in register.suffixes if suffix in _SCALES), 1)
    index = register_index(register)
    return NOUGHT if index < 0 else SourceOperand(index, 0, 0, scale)


def _width(link: SassLink) -> int:
    return next((_WIDTHS[name] for name in link.instruction.modifiers if name in _WIDTHS), _WORD)


def _space(link: SassLink) -> str:
    letter = link.instruction.opcode.removeprefix("LD").removeprefix("ST")[:1]
    return {"G": "global", "S": "shared", "L": "local"}.get(letter, "generic")


def _access(
    name: str, link: SassLink, operand: Operand, space: str, others: tuple[SourceOperand, ...] = ()
) -> MachineOperation:
    """MachineOperation with an address, and with other sources behind its terms."""
    terms, offset = _address(link, operand, space)
    sources = (*terms, *(NOUGHT,) * (TERMS - len(terms)), *others)
    return MachineOperation(
        name, sources=sources, count=len(terms), offset=offset, space=SPACES.index(space), size=_width(link)
    )


def _load(link: SassLink) -> MachineOperation:
    """LDG, LDS, LDL, LD."""
    if is_predicate(link.operands[0]) or len(link.operands) != 2:  # noqa: PLR2004 - result and address
        raise link.unknown()
    link.only(*_KNOWN, *_WIDTHS)
    operation = _access("load", link, link.operands[1], _space(link))
    operation.to = register_index(link.operands[0])
    operation.flags = Flag.SIGNED * (link.has("S8") or link.has("S16"))
    return operation


def _store(link: SassLink) -> MachineOperation:
    """STG, STS, STL, ST."""
    link.only(*_KNOWN, *_WIDTHS)
    source = link.operands[1]
    if _width(link) > _WORD:
        if not isinstance(source, SassRegister):
            raise link.unknown()
        source = source.without_signs()
    return _access("store", link, link.operands[0], _space(link), (link.word(source),))


def _load_constant(link: SassLink) -> MachineOperation:
    """LDC, ULDC: bytes of a constant bank, at an offset that a register may decide."""
    link.only(*_WIDTHS)
    to, source = register_index(link.operands[0]), link.operands[1]
    if not isinstance(source, SassConstant):
        raise link.unknown()
    link.bank(source.bank)
    index = link.word(source.register) if source.register is not None else NOUGHT
    return MachineOperation(
        "load_constant",
        to,
        (index,),
        size=_width(link),
        offset=source.offset,
        immediate=sorted(link.banks).index(source.bank),
        flags=Flag.SIGNED * (link.has("S8") or link.has("S16")),
    )


def _copy(link: SassLink) -> MachineOperation:
    """LDGSTS: each lane copies from global to shared memory; at once, as a thread that waits for it sees it.

    A predicate selects the lanes that read the source; the others get zeros (`.ZFILL`).
    """
    link.only(*_KNOWN, *_WIDTHS, "BYPASS", "ACCESS", "ZFILL")
    into, source, *rest = link.operands
    goal, offset = _address(link, into, "shared")
    operation = _access("copy", link, source, "global", goal)
    operation.mode, operation.goal = len(goal), offset
    operation.truths = (link.truth(rest[0]),) if rest else ()
    return operation


def _atomic(link: SassLink) -> MachineOperation:
    """RED, ATOM, ATOMS; all but RED give the old value."""
    opcode, modifiers = link.instruction.opcode, link.instruction.modifiers
    link.only(*_SCOPES, *_KINDS, *_PAIRS, *UPDATES[:9], *_EXCHANGES, "POPC", "U32")
    operands = list(link.operands)
    if is_predicate(operands[0]) and predicate_index(operands.pop(0)) >= 0:
        raise link.unknown()
    to = -1 if opcode.startswith("RED") else register_index(operands.pop(0))
    address, *sources = operands
    size, kind = next((_KINDS[name] for name in modifiers if name in _KINDS), (_WORD, Flag(0)))
    update, flags = _update(link, real=bool(kind & Flag.REAL))
    space = {"ATOMS": "shared", "ATOM": "generic"}.get(opcode, "global")
    operation = _access("atomic", link, address, space, _values(link, sources, size))
    operation.to, operation.size, operation.joins = to, size, update
    operation.flags = kind | flags | Flag.TELLS * link.has("CAST")
    return operation


def _update(link: SassLink, *, real: bool) -> tuple[int, Flag]:
    """The place among `UPDATES` of what an instruction does with a word, and flags."""
    modifiers = link.instruction.modifiers
    if "POPC" in modifiers:  # the number of lanes, each of which counts once
        return UPDATES.index("ADD"), Flag(0)
    pair = next((_PAIRS[name] for name in modifiers if name in _PAIRS), None)
    name = next((name for name in modifiers if name in UPDATES or name in _EXCHANGES), "")
    if pair is not None and name == "ADD":
        return UPDATES.index("halves"), pair
    if pair is not None or not name or (real and name in _OF_BITS):
        raise link.unknown()
    return UPDATES.index("CAS" if name in _EXCHANGES else name), Flag(0)


def _values(link: SassLink, sources: list[Operand], size: int) -> tuple[SourceOperand, ...]:
    """SourceOperand values of an instruction."""
    if link.has("POPC"):
        return (fixed(1),)
    needed = 2 if link.has("CAS") or link.has("CAST") else 1
    if (
        len(sources) < needed
    ):  # older code has both values of an exchange in registers that follow one another
        raise link.unknown()
    read = link.word if size == _WORD else link.pair
    return tuple(read(source) for source in sources[:2])


TABLE: dict[str, Callable[[SassLink], MachineOperation]] = {
    **dict.fromkeys(("LDG", "LDS", "LDL", "LD"), _load),
    **dict.fromkeys(("STG", "STS", "STL", "ST"), _store),
    **dict.fromkeys(("LDC", "ULDC"), _load_constant),
    "LDGSTS": _copy,
    **dict.fromkeys(("RED", "REDG", "ATOM", "ATOMG", "ATOMS"), _atomic),
}
"""Link functions by opcode."""
