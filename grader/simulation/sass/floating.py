"""Instructions on float32 and float64: arithmetic, comparisons and functions.

Rounding goes in the directions of IEEE 754; sums and products are rounded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.simulation.sass.native_code import (
    BOOLEANS,
    COMPARISONS,
    DIRECTIONS,
    Flag,
    MachineOperation,
)
from grader.simulation.sass.operands import is_predicate, predicate_index, register_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.sass.native_code import SourceOperand
    from grader.simulation.sass.operands import SassLink

_NAMES = {"ADD": "add", "MUL": "multiply", "FMA": "fma"}


def direction_of(link: SassLink) -> int:
    """The direction of rounding; without a modifier to the nearest."""
    return max(0, link.named(DIRECTIONS))


def _single(link: SassLink) -> MachineOperation:
    """FADD, FMUL, FFMA."""
    link.only("FTZ", "SAT", *DIRECTIONS)
    sources = tuple(link.real(operand) for operand in link.operands[1:] if not is_predicate(operand))
    return _arithmetic(link, 32, sources, flags=Flag.SATURATES * link.has("SAT"))


def _double(link: SassLink) -> MachineOperation:
    """DADD, DMUL, DFMA."""
    link.only(*DIRECTIONS)
    sources = tuple(link.double(operand) for operand in link.operands[1:] if not is_predicate(operand))
    return _arithmetic(link, 64, sources)


def _arithmetic(
    link: SassLink, bits: int, sources: tuple[SourceOperand, ...], flags: int = 0
) -> MachineOperation:
    name = _NAMES[link.instruction.opcode[1:]]
    if len(sources) != (3 if name == "fma" else 2):
        raise link.unknown()
    to = register_index(link.operands[0])
    return MachineOperation(f"{name}_f{bits}", to, sources, mode=direction_of(link), flags=flags)


def _extreme(link: SassLink) -> MachineOperation:
    """FMNMX: the smaller where the predicate holds, else the larger; with `.NAN` a NaN wins."""
    link.only("FTZ", "NAN")
    target, x, y, chosen = link.operands
    sources, flags = (link.real(x), link.real(y)), Flag.NAN_WINS * link.has("NAN")
    return MachineOperation(
        "extreme_f32", register_index(target), sources, (link.truth(chosen),), flags=flags
    )


def _select(link: SassLink) -> MachineOperation:
    """FSEL: the first where the predicate holds, else the second."""
    link.only("FTZ")
    target, x, y, chosen = link.operands
    return MachineOperation(
        "select", register_index(target), (link.real(x), link.real(y)), (link.truth(chosen),)
    )


def comparison_of(link: SassLink) -> tuple[int, int]:
    """A comparison's place among `COMPARISONS`, and flags; with `U` it holds for NaN, too."""
    names = link.instruction.modifiers
    name = next((name for name in names if name.removesuffix("U") in COMPARISONS), "")
    if not name:
        raise link.unknown()
    return COMPARISONS.index(name.removesuffix("U")), Flag.UNORDERED * name.endswith("U")


COMPARED = tuple(f"{name}{suffix}" for name in COMPARISONS[:6] for suffix in ("", "U"))


def joining_of(link: SassLink) -> int:
    """The place among `BOOLEANS` of how a comparison is joined with a predicate."""
    joins = link.named(BOOLEANS)
    if joins < 0:
        raise link.unknown()
    return joins


def _compare(link: SassLink) -> MachineOperation:
    """FSETP, DSETP: a comparison, joined with a predicate; DSETP.MIN and DSETP.MAX choose an operand."""
    link.only("FTZ", "NUM", "NAN", *COMPARED, *BOOLEANS, "MIN", "MAX")
    first, second, x, y, given = link.operands
    is_double = link.instruction.opcode == "DSETP"
    read = link.double if is_double else link.real
    decided = predicate_index(first), predicate_index(second)
    if link.has("MIN") or link.has("MAX"):
        smallest = Flag.SMALLEST * link.has("MIN")
        return MachineOperation(
            "extreme_f64", sources=(link.double(x), link.double(y)), decided=decided, flags=smallest
        )
    comparison, unordered = comparison_of(link)
    return MachineOperation(
        "compare_f64" if is_double else "compare_f32",
        sources=(read(x), read(y)),
        truths=(link.truth(given),),
        decided=decided,
        mode=comparison,
        joins=joining_of(link),
        flags=unordered,
    )


def _set(link: SassLink) -> MachineOperation:
    """FSET: a comparison as 1 and 0 (`.BF`), or as bits that are all set and none."""
    link.only("BF", "FTZ", "NUM", "NAN", *COMPARED, *BOOLEANS)
    target, x, y, given = link.operands
    comparison, unordered = comparison_of(link)
    return MachineOperation(
        "set_f32",
        register_index(target),
        (link.real(x), link.real(y)),
        (link.truth(given),),
        mode=comparison,
        joins=joining_of(link),
        flags=unordered | Flag.AS_ONE * link.has("BF"),
    )


def _needs_slow_division(link: SassLink) -> MachineOperation:
    """FCHK: whether a quotient is out of reach of the usual way, as it or a part of it is too far from 1."""
    link.only("DIVIDE")
    to, a, b = link.operands[:3]
    return MachineOperation(
        "slow_division", sources=(link.real(a), link.real(b)), decided=(predicate_index(to),)
    )


_FUNCTIONS = ("RCP", "RSQ", "SQRT", "EX2", "LG2", "SIN", "COS", "TANH")


def _special_function(link: SassLink) -> MachineOperation:
    """MUFU: functions of float32, and the upper halves of functions of float64."""
    link.only(*_FUNCTIONS, "RCP64H", "RSQ64H", "FTZ")
    to, name = register_index(link.operands[0]), link.instruction.modifiers[0]
    number = _FUNCTIONS.index(name.removesuffix("64H"))
    if name.endswith("64H"):
        return MachineOperation("function_f64", to, (link.word(link.operands[1]),), mode=number)
    return MachineOperation("function_f32", to, (link.real(link.operands[1]),), mode=number)


TABLE: dict[str, Callable[[SassLink], MachineOperation]] = {
    **dict.fromkeys(("FADD", "FMUL", "FFMA"), _single),
    **dict.fromkeys(("DADD", "DMUL", "DFMA"), _double),
    "FMNMX": _extreme,
    "FSEL": _select,
    "FSET": _set,
    **dict.fromkeys(("FSETP", "DSETP"), _compare),
    "FCHK": _needs_slow_division,
    "MUFU": _special_function,
}
"""Link functions by opcode."""
