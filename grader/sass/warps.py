"""What the lanes of a warp tell each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.sass.machine import WARP
from grader.sass.operands import is_predicate, predicate_index, register_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.sass.machine import Machine, Step
    from grader.sass.operands import Link


def _shuffle(link: Link) -> Step:
    """SHFL: the value of another lane, as `shfl.sync` defines it (PTX ISA, section 9.7.9.6)."""
    link.only("UP", "DOWN", "BFLY", "IDX")
    operands = list(link.operands)
    in_range = predicate_index(operands.pop(0)) if is_predicate(operands[0]) else -1
    to, value, by, clamp = register_index(operands[0]), *map(link.word, operands[1:4])
    mode = link.instruction.modifiers[0]

    def step(m: Machine) -> None:
        control, offset = clamp(m).astype(np.int64), by(m).astype(np.int64) & (WARP - 1)
        source, valid = _source(mode, m.lane, offset, control)
        words = np.broadcast_to(value(m), (m.lanes,))
        m.write(to, words[m.number - m.lane + np.where(valid, source, m.lane)])
        m.decide(in_range, valid)

    return step


def _source(
    mode: str, lane: NDArray[np.int64], offset: NDArray[np.int64], control: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The lane that each one reads, and whether that is one of its segment."""
    segment, clamp = control >> 8 & (WARP - 1), control & (WARP - 1)
    first = lane & segment
    last = first | clamp & ~segment
    if mode == "UP":
        return lane - offset, lane - offset >= last
    if mode == "DOWN":
        source = lane + offset
    elif mode == "BFLY":
        source = lane ^ offset
    else:
        source = first | offset & ~segment
    return source, source <= last


def _vote(link: Link) -> Step:
    """VOTE: whether any or all lanes of a warp say so, and which."""
    operands = list(link.operands)
    to = -1 if is_predicate(operands[0]) else register_index(operands.pop(0))
    *decided, source = operands
    predicate, value = predicate_index(decided[0]) if decided else -1, link.truth(source)
    link.only("ALL", "ANY", "EQ")
    every, equal = link.has("ALL"), link.has("EQ")

    def step(m: Machine) -> None:
        voting = acting(m).reshape(-1, WARP)
        votes = np.broadcast_to(value(m), (m.lanes,)).reshape(-1, WARP) & voting
        everybody, anybody = (votes | ~voting).all(axis=1), votes.any(axis=1)
        agreed = everybody if every else everybody | ~anybody if equal else anybody
        m.write(to, np.repeat(ballot(votes), WARP))
        m.decide(predicate, np.repeat(agreed, WARP))

    return step


def acting(m: Machine) -> NDArray[np.bool_]:
    """The lanes of the instruction that have a thread."""
    return m.active if m.threads is None else m.active & m.threads


def of_first(m: Machine, words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """For each warp the word of its first active lane."""
    first = acting(m).reshape(-1, WARP).argmax(axis=1)
    return np.broadcast_to(words, (m.lanes,)).reshape(-1, WARP)[np.arange(len(first)), first]


def unpacked(words: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """The bits of a word for each warp as truth values over the lanes."""
    return np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little").astype(np.bool_)


def ballot(votes: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """A bit of a word for each lane, from truth values of (warps, lanes)."""
    return np.packbits(votes, axis=1, bitorder="little").view("<u4")[:, 0]


def _match(link: Link) -> Step:
    """MATCH: the lanes of a warp with the same value (`.ANY`), or all where everybody has it (`.ALL`)."""
    link.only("ANY", "ALL", "U32", "U64")
    operands = list(link.operands)
    agreed = predicate_index(operands.pop(0)) if is_predicate(operands[0]) else -1
    to, read = register_index(operands[0]), link.pair if link.has("U64") else link.word
    value = read(operands[1])

    def step(m: Machine) -> None:
        lanes = acting(m).reshape(-1, WARP)
        values = np.broadcast_to(value(m), (m.lanes,)).reshape(-1, WARP)
        same = (values[:, :, None] == values[:, None, :]) & lanes[:, None, :]
        if link.has("ANY"):
            m.write(to, ballot(same.reshape(-1, WARP)))
            return
        everybody = (same | ~lanes[:, None, :]).all(axis=2).reshape(-1)
        m.write(to, np.where(everybody, np.repeat(ballot(lanes), WARP), np.uint32(0)))
        m.decide(agreed, everybody)

    return step


_REDUCTIONS: dict[str, np.ufunc] = {
    "SUM": np.add,
    "MIN": np.minimum,
    "MAX": np.maximum,
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
}


def _reduce(link: Link) -> Step:
    """REDUX: the sum, the extreme or the joined bits of a warp's values, joined by AND without a name."""
    link.only(*_REDUCTIONS, "S32", "U32")
    to, value = register_index(link.operands[0]), link.word(link.operands[1])
    name = next((name for name in link.instruction.modifiers if name in _REDUCTIONS), "AND")
    function = _REDUCTIONS[name]
    kind = np.dtype("i4" if link.has("S32") else "u4")
    bounds = np.iinfo(kind)
    neutral = {"MIN": bounds.max, "MAX": bounds.min, "AND": -1 if link.has("S32") else bounds.max}

    def step(m: Machine) -> None:
        values = np.broadcast_to(value(m).view(kind), (m.lanes,))
        counted = np.where(acting(m), values, kind.type(neutral.get(name, 0))).reshape(-1, WARP)
        m.write(to, np.repeat(function.reduce(counted, axis=1, dtype=kind).view(np.uint32), WARP))

    return step


TABLE: dict[str, Callable[[Link], Step]] = {
    "SHFL": _shuffle,
    "MATCH": _match,
    "REDUX": _reduce,
    **dict.fromkeys(("VOTE", "VOTEU"), _vote),
}
"""How each instruction is linked."""
