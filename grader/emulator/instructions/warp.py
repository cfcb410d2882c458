"""What the lanes of a warp do together (PTX ISA sections 9.7.9.6, 9.7.13.9 to 9.7.13.14).

`shfl`, `vote`, `match`, `redux`, `elect`, `activemask`. The ``.sync`` forms wait until every lane that
the mask names, and that has not exited, is there. Lanes that never come are reported, and the others go
on without them. So are lanes that come although the mask which they give does not name them: PTX leaves
open what comes of it (9.7.9.6); here, as seen on sm_90, all lanes of their warp that are there take part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.emulator.geometry import WARP
from grader.emulator.values import DTYPES, Value, spread
from grader.ptx import Operand, Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.emulator.machine import Group, Machine
    from grader.emulator.program import ControlStep, Link, Step
    from grader.ptx import Instruction

_EVERYBODY = np.uint32(0xFFFFFFFF)
"""The mask of all lanes."""

Act: TypeAlias = "Callable[[Machine, NDArray[np.uint32]], None]"
"""Executes the instruction; given for each active lane the mask of those that take part with it."""


def _lane(m: Machine) -> NDArray[np.intp]:
    """The place in its warp of each active lane."""
    return m.lanes() % m.geometry.threads % WARP


def _table(m: Machine, values: Value, missing: Value) -> NDArray[Any]:
    """What the active lanes hold as a table (warps, 32), with ``missing`` where a lane is not active."""
    cells = np.full((m.geometry.blocks * m.geometry.warps_per_block, WARP), missing, values.dtype)
    cells[m.warp_of[m.lanes()], _lane(m)] = values
    return cells


def _ballot(m: Machine, holds: Value) -> NDArray[np.uint32]:
    """For each active lane the mask of the active lanes of its warp for which something holds."""
    bits: NDArray[np.uint32] = np.packbits(_table(m, holds, np.False_), axis=1, bitorder="little").view(
        np.uint32
    )
    chosen: NDArray[np.uint32] = bits[m.warp_of[m.lanes()], 0]
    return chosen


def _alone(act: Act) -> Step:
    """``act`` for the lanes that happen to be active (forms without ``.sync``)."""
    return lambda m: act(m, _ballot(m, np.True_))


def together(link: Link, mask_operand: Operand, act: Act) -> ControlStep:
    """``act`` once all lanes that the mask names are there (section 9.7.9.6, `.sync`)."""
    mask, site, after = link.fetch(mask_operand, "u32"), link.site(), link.pc + 1

    def step(m: Machine, group: Group) -> list[Group] | None:
        named, here = mask(m, m.active), _ballot(m, np.True_)
        missing = _missing(m, named, here)
        m.gathering[m.lanes()] = bool(missing.size)
        if missing.size:
            if _somebody_may_come(m, missing):
                group.turn += 1
                return [group]
            m.reporter.lanes_missing(m, site, missing)
            m.gathering[m.lanes()] = False
        party, outside = named & here, _outside(m, named)
        if outside.size:
            m.reporter.lanes_unnamed(m, site, outside)
            party = np.where(np.isin(m.warp_of[m.lanes()], m.warp_of[outside]), here, party)
        act(m, party)
        group.pc = after
        return None

    return step


def _missing(m: Machine, named: Value, here: NDArray[np.uint32]) -> NDArray[np.intp]:
    """The lanes that a mask names, that have not exited, and that are not here."""
    if m.count == m.alive_count or not np.any(named & ~here):
        return np.zeros(0, np.intp)
    absent = np.zeros(m.geometry.blocks * m.geometry.warps_per_block, np.uint32)
    np.bitwise_or.at(absent, m.warp_of[m.lanes()], named & ~here)
    alive = np.flatnonzero(m.alive)
    place = (alive % m.geometry.threads % WARP).astype(np.uint32)
    return alive[(absent[m.warp_of[alive]] >> place & np.uint32(1)).astype(np.bool_)]


def _outside(m: Machine, named: Value) -> NDArray[np.intp]:
    """The active lanes that the mask which they give does not name: what they get is undefined."""
    if np.all(named == _EVERYBODY):
        return np.zeros(0, np.intp)
    lanes = m.lanes()
    unnamed: NDArray[np.bool_] = (named >> _lane(m).astype(np.uint32) & np.uint32(1)) == 0
    return lanes[unnamed]


def _somebody_may_come(m: Machine, missing: NDArray[np.intp]) -> bool:
    """Whether a lane of the same warps waits neither at a barrier nor for its warp: it may change things."""
    free = m.alive & ~m.gathering
    for each in m.waiting:
        free[slice(None) if each.group.lanes is None else each.group.lanes] = False
    return bool(np.isin(m.warp_of[free], m.warp_of[missing]).any())


def shfl(ins: Instruction, link: Link) -> Step | ControlStep:
    """`shfl[.sync].up|down|bfly|idx.b32 d[|p], a, b, c[, mask]`: the value of another lane."""
    way = next((word for word in ins.modifiers if word in ("up", "down", "bfly", "idx")), "")
    if not way or ins.modifiers[-1] != "b32":
        raise link.unsupported()
    destination = ins.operands[0]
    register = link.register(destination.first if isinstance(destination, Pair) else destination)
    flag = link.register(destination.second) if isinstance(destination, Pair) else -1
    value, by = link.fetch(ins.operands[1], "b32"), link.fetch(ins.operands[2], "u32")
    limits = link.fetch(ins.operands[3], "u32")

    def act(m: Machine, party: NDArray[np.uint32]) -> None:
        own = spread(value(m, m.active), m.count)
        source, inside = _source(way, _lane(m), by(m, m.active), limits(m, m.active))
        there = (party >> source.astype(np.uint32) & np.uint32(1)).astype(np.bool_)
        cells = _table(m, own, own.dtype.type(0))
        if register >= 0:
            m.write_active(register, np.where(there, cells[m.warp_of[m.lanes()], source], own))
        if flag >= 0:
            m.write_active(flag, inside)

    return together(link, ins.operands[4], act) if "sync" in ins.modifiers else _alone(act)


def _source(
    way: str, lane: NDArray[np.intp], by: Value, limits: Value
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The lane that each lane reads, and whether that is within its segment (else it reads itself).

    ``limits`` holds a clamp value in its bits 0 to 4 and a segment mask in its bits 8 to 12.
    """
    distance = (by & np.uint32(31)).astype(np.int64)
    clamp = (limits & np.uint32(31)).astype(np.int64)
    segment = (limits >> np.uint32(8) & np.uint32(31)).astype(np.int64)
    lowest = lane & segment
    highest = lowest | (clamp & ~segment)
    if way == "up":
        source = lane - distance
        inside = source >= highest
    elif way == "down":
        source = lane + distance
        inside = source <= highest
    else:
        source = lane ^ distance if way == "bfly" else lowest | (distance & ~segment)
        inside = source <= highest
    return np.where(inside, source, lane), np.broadcast_to(inside, lane.shape)


def vote(ins: Instruction, link: Link) -> Step | ControlStep:
    """`vote[.sync].all|any|uni.pred` and `.ballot.b32` (section 9.7.13.9)."""
    way = next((word for word in ins.modifiers if word in ("all", "any", "uni", "ballot")), "")
    if not way or ins.modifiers[-1] not in ("pred", "b32"):
        raise link.unsupported()
    register, predicate = link.register(ins.operands[0]), link.fetch(ins.operands[1], "pred")

    def act(m: Machine, party: NDArray[np.uint32]) -> None:
        yes = _ballot(m, predicate(m, m.active)) & party
        none, every = yes == 0, yes == party
        results = {"ballot": yes, "any": ~none, "all": every, "uni": none | every}
        m.write_active(register, results[way])

    return together(link, ins.operands[2], act) if "sync" in ins.modifiers else _alone(act)


def match(ins: Instruction, link: Link) -> ControlStep:
    """`match.any|all.sync.b32|b64 d[|p], a, mask`: the lanes that hold the same value (9.7.13.10)."""
    way, kind = ins.modifiers[0], ins.modifiers[-1]
    if way not in ("any", "all") or kind not in ("b32", "b64"):
        raise link.unsupported()
    destination = ins.operands[0]
    register = link.register(destination.first if isinstance(destination, Pair) else destination)
    flag = link.register(destination.second) if isinstance(destination, Pair) else -1
    value = link.fetch(ins.operands[1], kind)

    def act(m: Machine, party: NDArray[np.uint32]) -> None:
        own = spread(value(m, m.active), m.count)
        cells = _table(m, own, own.dtype.type(0))[m.warp_of[m.lanes()]]
        same = np.packbits(cells == own[:, None], axis=1, bitorder="little").view(np.uint32)[:, 0] & party
        if way == "all":
            same = np.where(same == party, same, np.uint32(0))
        if register >= 0:
            m.write_active(register, same)
        if flag >= 0:
            m.write_active(flag, same != 0)

    return together(link, ins.operands[2], act)


_REDUCTIONS = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def redux(ins: Instruction, link: Link) -> ControlStep:
    """`redux.sync.op.type d, a, mask`: one value out of those of all lanes (section 9.7.13.12)."""
    _, name, kind = ins.modifiers
    if name not in _REDUCTIONS or kind not in ("u32", "s32", "b32"):
        raise link.unsupported()
    function, dtype = _REDUCTIONS[name], DTYPES[kind]
    neutral = {"min": np.iinfo(dtype).max, "max": np.iinfo(dtype).min, "and": np.iinfo(dtype).max}
    register, value = link.register(ins.operands[0]), link.fetch(ins.operands[1], kind)
    start = dtype.type(neutral.get(name, 0))

    def act(m: Machine, party: NDArray[np.uint32]) -> None:
        cells = _table(m, value(m, m.active), start)[m.warp_of[m.lanes()]]
        takes_part = np.unpackbits(party[:, None].view(np.uint8), axis=1, bitorder="little").astype(np.bool_)
        m.write_active(register, function.reduce(np.where(takes_part, cells, start), axis=1, dtype=dtype))

    return together(link, ins.operands[2], act)


def activemask(ins: Instruction, link: Link) -> Step:
    """`activemask.b32 d`: the lanes of the warp that execute this (section 9.7.13.11)."""
    register = link.register(ins.operands[0])
    return lambda m: m.write_active(register, _ballot(m, np.True_))


def elect(ins: Instruction, link: Link) -> ControlStep:
    """`elect.sync d|p, mask`: one lane of the mask, the lowest, is the leader (section 9.7.13.14)."""
    pair = ins.operands[0]
    if not isinstance(pair, Pair):
        raise link.unsupported()
    register, flag = link.register(pair.first), link.register(pair.second)

    def act(m: Machine, party: NDArray[np.uint32]) -> None:
        lowest = party & (~party + np.uint32(1))
        leader = np.bitwise_count(lowest - np.uint32(1)).astype(np.uint32)
        if register >= 0:
            m.write_active(register, leader)
        if flag >= 0:
            m.write_active(flag, leader == _lane(m))

    return together(link, ins.operands[1], act)


TABLE = {
    "shfl": shfl,
    "vote": vote,
    "match": match,
    "redux": redux,
    "activemask": activemask,
    "elect": elect,
}
