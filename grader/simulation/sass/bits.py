"""Instructions on bits: shifts, logic, bytes, counts; predicates, special registers and selections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.sass.listing import Integer, SassRegister, UnknownCodeError
from grader.simulation.sass.native_code import SPECIALS, Flag, MachineOperation
from grader.simulation.sass.operands import is_predicate, predicate_index, register_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.sass.listing import Operand
    from grader.simulation.sass.operands import SassLink

_NOUGHTS = frozenset(("SR_CgaCtaId", "SR_CLOCKLO", "SR_CLOCKHI", "SR_VIRTUALSMID", "SR_SMEMSZ", "SR_VIRTID"))
"""Special registers that read as 0."""


def _move(link: SassLink) -> MachineOperation:
    link.only("32")
    return MachineOperation("move", register_index(link.operands[0]), (link.word(link.operands[1]),))


def _shift(link: SassLink) -> MachineOperation:
    """SHF: a funnel of two words is shifted, and one half of it taken."""
    link.only("L", "R", "W", "HI", "U32", "S32", "U64", "S64")
    target, low, amount, high = link.operands
    flags = (
        Flag.LEFT * link.has("L")
        | Flag.HIGH * link.has("HI")
        | Flag.WRAPS * link.has("W")
        | Flag.WIDE * (link.has("U64") or link.has("S64"))
        | Flag.SIGNED * (link.has("S32") or link.has("S64"))
    )
    sources = link.word(low), link.word(amount), link.word(high)
    return MachineOperation("funnel_shift", register_index(target), sources, flags=flags)


def _logic(link: SassLink) -> MachineOperation:
    """LOP3: the function of three bits that a table of eight gives, for each bit."""
    link.only("LUT")
    operands = list(link.operands)
    decided = predicate_index(operands.pop(0)) if is_predicate(operands[0]) else -1
    truths = (link.truth(operands[5]),) if len(operands) > 5 else ()  # noqa: PLR2004 - a predicate that may stand last
    to, (x, y, z), table = register_index(operands[0]), operands[1:4], operands[4]
    if not isinstance(table, Integer):
        raise link.unknown()
    return MachineOperation(
        "logic",
        to,
        (link.word(x), link.word(y), link.word(z)),
        truths,
        (decided,),
        immediate=table.value & 0xFF,
        flags=Flag.JOINED * bool(truths),
    )


def _decide(link: SassLink) -> MachineOperation:
    """PLOP3: two functions of three predicates."""
    link.only("LUT")
    first, second, x, y, z, *tables = link.operands
    numbers = [int(np.uint8(table.value)) for table in tables if isinstance(table, Integer)][:2]
    return MachineOperation(
        "logic_of_predicates",
        truths=(link.truth(x), link.truth(y), link.truth(z)),
        decided=(predicate_index(first), predicate_index(second)),
        count=len(numbers),
        immediate=sum(number << 8 * at for at, number in enumerate(numbers)),
    )


def _select(link: SassLink) -> MachineOperation:
    link.only()
    target, x, y, chosen = link.operands
    return MachineOperation(
        "select", register_index(target), (link.word(x), link.word(y)), (link.truth(chosen),)
    )


def _simple(name: str) -> Callable[[SassLink], MachineOperation]:
    """Handler of an instruction whose operands are a register and words: PRMT, POPC, BREV, BMSK."""

    def handler(link: SassLink) -> MachineOperation:
        link.only()
        target, *words = link.operands
        if len(words) != _WORDS[name]:
            raise link.unknown()
        return MachineOperation(name, register_index(target), tuple(link.word(operand) for operand in words))

    return handler


_WORDS = {"permute": 3, "population": 1, "reverse": 1, "bit_mask": 2}


def _leading(link: SassLink) -> MachineOperation:
    """FLO: the place of the highest bit that is set (of one that differs from the sign), or its distance."""
    link.only("U32", "SH")
    value = link.word(next(operand for operand in link.operands[1:] if not is_predicate(operand)))
    flags = Flag.SIGNED * (not link.has("U32")) | Flag.LEFT * link.has("SH")
    return MachineOperation("leading", register_index(link.operands[0]), (value,), flags=flags)


def _extend(link: SassLink) -> MachineOperation:
    """SGXT: the lowest bits of a word, with their sign or without."""
    link.only("U32")
    target, x, width = link.operands
    sources, flags = (link.word(x), link.word(width)), Flag.SIGNED * (not link.has("U32"))
    return MachineOperation("extend", register_index(target), sources, flags=flags)


def _special(link: SassLink) -> MachineOperation:
    """S2R, S2UR, CS2R: a special register."""
    link.only("32", "64")
    to, name = register_index(link.operands[0]), getattr(link.operands[1], "text", "")
    wide = link.instruction.opcode == "CS2R" and not link.has("32") and to >= 0
    if name not in SPECIALS and name not in _NOUGHTS:
        raise UnknownCodeError(f"{link.instruction.opcode} {name}")
    number = SPECIALS.index("SRZ" if name in _NOUGHTS else name)
    return MachineOperation("special", to, immediate=number, flags=Flag.WIDE * wide)


def _to_predicates(link: SassLink) -> MachineOperation:
    """R2P: the lowest bits of a word, or of one of its bytes, to the predicates of a mask."""
    link.only()
    _, x, which = link.operands
    if not isinstance(which, Integer):
        raise link.unknown()
    return MachineOperation(
        "to_predicates",
        sources=(link.word(x),),
        mode=_byte(x),
        immediate=which.value & 0xFFFFFFFF,
    )


def _from_predicates(link: SassLink) -> MachineOperation:
    """P2R: the predicates of a mask as bits, the others from a word; `.B1` names the byte."""
    target, _, x, which = link.operands
    if not isinstance(which, Integer) or link.instruction.modifiers:
        raise link.unknown()
    mask = int(np.uint32(which.value))
    return MachineOperation(
        "from_predicates", register_index(target), (link.word(x),), mode=_byte(target), immediate=mask
    )


def _byte(operand: Operand) -> int:
    """Bit at which the byte of an operand begins."""
    suffixes = operand.suffixes if isinstance(operand, SassRegister) else ()
    return next((8 * number for number in range(4) if f"B{number}" in suffixes), 0)


def _votes(link: SassLink) -> MachineOperation:
    """B2R.RESULT: the result of the last BAR.RED, as a word and as a predicate."""
    if link.instruction.modifiers != ("RESULT",):
        raise link.unknown()
    to, *predicates = link.operands
    return MachineOperation("votes", register_index(to), decided=tuple(map(predicate_index, predicates)))


def _to_uniform(link: SassLink) -> MachineOperation:
    """R2UR: a word of the first active lane of each warp; a predicate says whether all have the same."""
    link.only("OR")
    operands = list(link.operands)
    agreed = predicate_index(operands.pop(0)) if is_predicate(operands[0]) else -1
    return MachineOperation(
        "to_uniform", register_index(operands[0]), (link.word(operands[1]),), decided=(agreed,)
    )


TABLE: dict[str, Callable[[SassLink], MachineOperation]] = {
    **dict.fromkeys(("MOV", "UMOV"), _move),
    "R2UR": _to_uniform,
    **dict.fromkeys(("SHF", "USHF"), _shift),
    **dict.fromkeys(("LOP3", "ULOP3"), _logic),
    **dict.fromkeys(("PLOP3", "UPLOP3"), _decide),
    **dict.fromkeys(("SEL", "USEL"), _select),
    **dict.fromkeys(("PRMT", "UPRMT"), _simple("permute")),
    **dict.fromkeys(("POPC", "UPOPC"), _simple("population")),
    **dict.fromkeys(("BREV", "UBREV"), _simple("reverse")),
    **dict.fromkeys(("FLO", "UFLO"), _leading),
    **dict.fromkeys(("SGXT", "USGXT"), _extend),
    **dict.fromkeys(("BMSK", "UBMSK"), _simple("bit_mask")),
    **dict.fromkeys(("S2R", "S2UR", "CS2R"), _special),
    "R2P": _to_predicates,
    "P2R": _from_predicates,
    "B2R": _votes,
}
"""Link functions by opcode."""
