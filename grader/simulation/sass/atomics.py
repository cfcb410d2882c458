"""Atomic instructions on global and shared memory: lanes update words one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.sass.halves import narrowed, widened
from grader.simulation.sass.memory import located, spaced
from grader.simulation.sass.operands import is_predicate, predicate_index, register_index
from grader.simulation.sass.warps import acting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.sass.listing import Operand
    from grader.simulation.sass.machine import SassMachine, Step
    from grader.simulation.sass.operands import Reader, SassLink

_WORD = 4
_SCOPES = ("E", "STRONG", "WEAK", "GPU", "SYS", "CTA", "SM", "FTZ", "RN", "SPIN", "32", "PRIVATE")
_KINDS = {"S32": "i4", "64": "u8", "U64": "u8", "S64": "i8", "F32": "f4", "F64": "f8"}
_PAIRS = {"F16x2": False, "BF16x2": True, "BF16_V2": True}
"""Two halves in a word, and whether they are bfloat16."""

_UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "ADD": np.add,
    "MIN": np.minimum,
    "MAX": np.maximum,
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
    "EXCH": lambda _, new: new,
    "INC": lambda old, limit: np.where(old >= limit, 0, old + 1),
    "DEC": lambda old, limit: np.where((old == 0) | (old > limit), limit, old - 1),
}
_EXCHANGES = ("CAS", "CAST")
"""A word is exchanged where it has the expected value; `CAST` gives 1 where it had, else 0."""


def _atomic(link: SassLink) -> Step:
    """RED, ATOM, ATOMS; all but RED give the old value."""
    opcode, modifiers = link.instruction.opcode, link.instruction.modifiers
    link.only(*_SCOPES, *_KINDS, *_PAIRS, *_UPDATES, *_EXCHANGES, "POPC", "U32")
    operands = list(link.operands)
    if is_predicate(operands[0]) and predicate_index(operands.pop(0)) >= 0:
        raise link.unknown()
    to = -1 if opcode.startswith("RED") else register_index(operands.pop(0))
    memory_operand, *sources = operands
    kind = np.dtype(next((_KINDS[name] for name in modifiers if name in _KINDS), "u4"))
    update, values = _update(link), _values(link, sources, kind)
    space, index = {"ATOMS": "shared", "ATOM": "generic"}.get(opcode, "global"), link.index
    tells = link.has("CAST")
    adds_alone = to < 0 and isinstance(update, np.ufunc)

    def make(space: str, address: Reader) -> Step:
        def step(m: SassMachine) -> None:
            where = address(m)
            m.note(index, space, where, kind.itemsize)
            memory, at = located(m, space, where, kind.itemsize)
            lanes = np.flatnonzero(acting(m))
            target, cells = memory.view(kind), np.broadcast_to(at // kind.itemsize, (m.lanes,))[lanes]
            given = [np.broadcast_to(value(m), (m.lanes,))[lanes] for value in values]
            if adds_alone:
                update.at(target, cells, given[0])
            else:
                before = _in_turn(target, cells, given, update)
                _write(m, to, lanes, (before == given[0]).astype(kind) if tells else before)

        return step

    return spaced(link, memory_operand, space, make)


def _update(link: SassLink) -> Any:  # noqa: ANN401 - a function of the old value and the operands
    """Function that gives the new value of a word, as an instruction computes it."""
    modifiers = link.instruction.modifiers
    if "POPC" in modifiers:  # the number of lanes, each of which counts once
        return np.add
    pair = next((_PAIRS[name] for name in modifiers if name in _PAIRS), None)
    name = next((name for name in modifiers if name in _UPDATES or name in _EXCHANGES), "")
    if pair is not None and name == "ADD":
        return lambda old, new: _sum_of_halves(old, new, brain=pair)
    if pair is not None or not name:
        raise link.unknown()
    if name in _EXCHANGES:
        return lambda old, expected, new: np.where(old == expected, new, old)
    return _UPDATES[name]


def _sum_of_halves(old: NDArray[np.uint32], new: NDArray[np.uint32], *, brain: bool) -> NDArray[np.uint32]:
    parts = [
        narrowed(
            widened((old >> shift).astype(np.uint16), brain=brain)
            + widened((new >> shift).astype(np.uint16), brain=brain),
            brain=brain,
        )
        for shift in (np.uint32(0), np.uint32(16))
    ]
    return parts[0] | parts[1] << np.uint32(16)


def _values(link: SassLink, sources: list[Operand], kind: np.dtype[Any]) -> list[Reader]:
    """Source values of an instruction, as the type that it works with."""
    if link.has("POPC"):
        return [lambda m: np.ones(m.lanes, kind)]
    if link.has("INC") and not sources:
        raise link.unknown()
    if not sources:
        raise link.unknown()
    if link.has("CAS") and len(sources) == 1:  # older code: both in registers that follow one another
        raise link.unknown()
    return [_typed(link, source, kind) for source in sources]


def _typed(link: SassLink, source: Operand, kind: np.dtype[Any]) -> Reader:
    if kind.itemsize == _WORD:
        word = link.word(source)
        return lambda m: word(m).view(kind)
    pair = link.pair(source)
    return lambda m: pair(m).view(kind)


def _in_turn(
    target: NDArray[Any], cells: NDArray[np.int64], given: list[NDArray[Any]], update: Callable[..., Any]
) -> NDArray[Any]:
    """Update cells lane by lane; gives the old value that each lane reads.

    Lanes of different cells go together: first the first of each cell, then the second, and so on.
    """
    before = np.zeros(len(cells), target.dtype)
    order = np.argsort(cells, kind="stable")
    ordered = cells[order]
    begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    counts = np.diff(np.append(begins, len(ordered)))
    for turn in range(int(counts.max(initial=0))):
        lanes = order[begins[counts > turn] + turn]
        old = before[lanes] = target[cells[lanes]]
        target[cells[lanes]] = update(old, *(value[lanes] for value in given))
    return before


def _write(m: SassMachine, to: int, lanes: NDArray[np.int64], before: NDArray[Any]) -> None:
    """Write to lanes the old values that they read."""
    if to < 0:
        return
    whole = np.zeros(m.lanes, before.dtype)
    whole[lanes] = before
    words = whole.view(np.uint32).reshape(m.lanes, -1)
    for word in range(words.shape[1]):
        m.write(to + word, np.ascontiguousarray(words[:, word]))


TABLE: dict[str, Callable[[SassLink], Step]] = dict.fromkeys(
    ("RED", "REDG", "ATOM", "ATOMG", "ATOMS"), _atomic
)
"""Link functions by opcode."""
