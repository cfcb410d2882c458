"""Atomic instructions on global and shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.sass.listing import Integer
from grader.sass.memory import acting, address_of, located
from grader.sass.operands import is_predicate, predicate_index, register_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.sass.machine import Machine, Step
    from grader.sass.operands import Link

_WORD = 4

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


def _atomic(link: Link) -> Step:
    """RED, ATOM, ATOMS: lanes update words one after the other; ATOM gives what was there before."""
    opcode, modifiers = link.instruction.opcode, link.instruction.modifiers
    operands = list(link.operands)
    gives = not opcode.startswith("RED")
    decided = predicate_index(operands.pop(0)) if is_predicate(operands[0]) else -1
    to = register_index(operands.pop(0)) if gives else -1
    space = "shared" if opcode == "ATOMS" else "global"
    address, index = address_of(link, operands[0], space), link.index
    kind = np.dtype(_kind_of(modifiers))
    name = (
        "INC"
        if "POPC" in modifiers
        else next((word for word in ("CAS", "CAST", *_UPDATES) if word in modifiers), "")
    )
    if not name or (len(operands) < 2 and name != "INC") or decided > 0:  # noqa: PLR2004 - an address and a value
        raise link.unknown()
    read = link.pair if kind.itemsize > _WORD else link.word
    values = [read(operand) for operand in operands[1:] if not isinstance(operand, Integer)]
    counts = "POPC" in modifiers

    def step(m: Machine) -> None:
        where = address(m)
        m.note(index, space, where, kind.itemsize)
        memory, at = located(m, space, where, kind.itemsize)
        lanes = np.flatnonzero(acting(m))
        place = np.broadcast_to(at // kind.itemsize, (m.lanes,))[lanes]
        given = [np.broadcast_to(value(m).view(kind), (m.lanes,))[lanes] for value in values]
        target = memory.view(kind)
        if counts:
            given = [np.ones(len(lanes), kind)]
        if to < 0 and (name in ("ADD", "MIN", "MAX") or counts):
            function: Any = np.add if counts else _UPDATES[name]
            function.at(target, place, given[0])
            return
        before = _one_by_one(target, place, given, "ADD" if counts else name)
        if to >= 0:
            whole = np.zeros(m.lanes, kind)
            whole[lanes] = before
            words = whole.view(np.uint32).reshape(m.lanes, -1)
            for word in range(words.shape[1]):
                m.write(to + word, np.ascontiguousarray(words[:, word]))

    return step


def _kind_of(modifiers: tuple[str, ...]) -> str:
    if "F32" in modifiers:
        return "f4"
    if "F64" in modifiers:
        return "f8"
    return {"S32": "i4", "S64": "i8", "64": "u8", "U64": "u8"}.get(
        next((name for name in modifiers if name in ("S32", "S64", "64", "U64")), ""), "u4"
    )


def _one_by_one(
    target: NDArray[Any], place: NDArray[np.int64], given: list[NDArray[Any]], name: str
) -> NDArray[Any]:
    """Update words lane by lane; gives what each lane found."""
    before = np.zeros(len(place), target.dtype)
    for number, at in enumerate(place.tolist()):
        old = before[number] = target[at]
        if name in ("CAS", "CAST"):
            expected, new = given[0][number], given[1][number]
            target[at] = new if old == expected else old
        else:
            target[at] = _UPDATES[name](old, given[0][number])
    return before


TABLE: dict[str, Callable[[Link], Step]] = {
    **dict.fromkeys(("RED", "REDG", "ATOM", "ATOMG", "ATOMS"), _atomic),
}
"""How each instruction is linked."""
