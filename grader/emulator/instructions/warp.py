"""What the lanes of a warp do together (PTX ISA sections 9.7.9.6, 9.7.13.9 to 9.7.13.14).

`shfl`, `vote`, `match`, `redux`, `elect`, `activemask`. The ``.sync`` forms wait until every lane that
the mask names, and that has not exited, is there. Lanes that never come are reported, and the others go
on without them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from grader.emulator.machine import WARP
from grader.emulator.values import DTYPES, Value, spread
from grader.ptx import Operand, Pair
from grader.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.machine import Group, Machine
    from grader.emulator.program import ControlStep, Link, Step
    from grader.ptx import Instruction

PATIENCE = 256
"""Turns that lanes wait for others of their warp while anything else can run."""

Act: TypeAlias = "Callable[[Machine, NDArray[np.bool_]], None]"
"""Executes the instruction; given a table (warps, 32) of who takes part."""


def table(m: Machine, values: Value, missing: Value) -> NDArray[np.generic]:
    """What the active lanes hold as a table (warps, 32), with ``missing`` where a lane is not active."""
    rows = m.geometry.blocks * m.geometry.warps_per_block
    cells = np.full((rows, WARP), missing, values.dtype)
    cells[m.warp_of[m.lanes()], _lane(m)] = values
    return cells


def present(m: Machine) -> NDArray[np.bool_]:
    """Which lanes of each warp are active, as a table (warps, 32)."""
    return table(m, np.True_, np.False_)


def _lane(m: Machine) -> NDArray[np.intp]:
    """The place in its warp of each active lane."""
    return m.lanes() % m.geometry.threads % WARP


def bits_of(cells: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Rows of 32 truth values as masks, lane 0 in the lowest bit."""
    return np.packbits(cells, axis=1, bitorder="little").view(np.uint32)[:, 0]


def _together(link: Link, mask_operand: Operand, act: Act) -> ControlStep:
    """``act`` once all lanes that the mask names are there (section 9.7.9.6, `.sync`)."""
    mask, site, after = link.fetch(mask_operand, "u32"), link.site(), link.pc + 1

    def step(m: Machine, group: Group) -> list[Group] | None:
        here = present(m)
        missing = _missing(m, mask(m, m.active), here)
        if missing is not None:
            group.turn += 1
            if group.turn <= PATIENCE and not _all_wait(m, missing):
                return [group]
            m.reporter.lanes_missing(m, site, missing)
        act(m, here)
        group.pc = after
        return None

    return step


def _missing(m: Machine, mask: Value, here: NDArray[np.bool_]) -> NDArray[np.intp] | None:
    """The lanes that somebody's mask names, that still run, and that are not here; None if none."""
    if bool(here.all()):
        return None
    rows = m.warp_of[m.lanes()]
    wanted = np.zeros(len(here), np.uint32)
    np.bitwise_or.at(wanted, rows, spread(mask, m.count))
    named = np.unpackbits(wanted[:, None].view(np.uint8), axis=1, bitorder="little").astype(np.bool_)
    lanes = np.flatnonzero(m.alive)
    place = lanes % m.geometry.threads % WARP
    absent = named[m.warp_of[lanes], place] & ~here[m.warp_of[lanes], place]
    return lanes[absent] if absent.any() else None


def _all_wait(m: Machine, missing: NDArray[np.intp]) -> bool:
    """Whether one of the missing lanes waits at a barrier that this warp will not reach before it."""
    waiting = np.zeros(m.size, np.bool_)
    for each in m.waiting:
        waiting[slice(None) if each.group.lanes is None else each.group.lanes] = True
    return bool(waiting[missing].any())


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

    def act(m: Machine, here: NDArray[np.bool_]) -> None:
        own = spread(value(m, m.active), m.count)
        source, inside = _source(way, _lane(m), by(m, m.active), limits(m, m.active))
        rows = m.warp_of[m.lanes()]
        cells = table(m, own, own.dtype.type(0))
        taken = np.where(here[rows, source], cells[rows, source], own)
        if register >= 0:
            m.write_active(register, taken)
        if flag >= 0:
            m.write_active(flag, inside)

    if "sync" in ins.modifiers:
        return _together(link, ins.operands[4], act)
    return lambda m: act(m, present(m))


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

    def act(m: Machine, here: NDArray[np.bool_]) -> None:
        yes = table(m, predicate(m, m.active), np.False_).astype(np.bool_)
        if way == "ballot":
            result: NDArray[np.generic] = bits_of(yes)
        elif way == "any":
            result = yes.any(axis=1)
        else:
            result = (yes | ~here).all(axis=1)
            if way == "uni":
                result = result | ~yes.any(axis=1)
        m.write_active(register, result[m.warp_of[m.lanes()]])

    if "sync" in ins.modifiers:
        return _together(link, ins.operands[2], act)
    return lambda m: act(m, present(m))


def match(ins: Instruction, link: Link) -> ControlStep:
    """`match.any|all.sync.b32|b64 d[|p], a, mask`: the lanes that hold the same value (9.7.13.10)."""
    way, kind = ins.modifiers[0], ins.modifiers[-1]
    if way not in ("any", "all") or kind not in ("b32", "b64"):
        raise link.unsupported()
    destination = ins.operands[0]
    register = link.register(destination.first if isinstance(destination, Pair) else destination)
    flag = link.register(destination.second) if isinstance(destination, Pair) else -1
    value = link.fetch(ins.operands[1], kind)

    def act(m: Machine, here: NDArray[np.bool_]) -> None:
        own = spread(value(m, m.active), m.count)
        rows = m.warp_of[m.lanes()]
        cells = table(m, own, own.dtype.type(0))
        same = (cells[rows] == own[:, None]) & here[rows]
        result = bits_of(same)
        if way == "all":
            agree = (same == here[rows]).all(axis=1)
            result = np.where(agree, result, np.uint32(0))
            if flag >= 0:
                m.write_active(flag, agree)
        if register >= 0:
            m.write_active(register, result)

    return _together(link, ins.operands[2], act)


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
    neutral = {
        "min": np.iinfo(dtype).max,
        "max": np.iinfo(dtype).min,
        "and": 2 ** (8 * TYPE_BYTES[kind]) - 1,
    }.get(name, 0)
    register, value = link.register(ins.operands[0]), link.fetch(ins.operands[1], kind)

    def act(m: Machine, _here: NDArray[np.bool_]) -> None:
        cells = table(m, value(m, m.active), dtype.type(neutral))
        m.write_active(register, function.reduce(cells, axis=1, dtype=dtype)[m.warp_of[m.lanes()]])

    return _together(link, ins.operands[2], act)


def activemask(ins: Instruction, link: Link) -> Step:
    """`activemask.b32 d`: the lanes of the warp that execute this (section 9.7.13.11)."""
    register = link.register(ins.operands[0])
    return lambda m: m.write_active(register, bits_of(present(m))[m.warp_of[m.lanes()]])


def elect(ins: Instruction, link: Link) -> ControlStep:
    """`elect.sync d|p, mask`: one lane of the mask, the lowest, is the leader (section 9.7.13.14)."""
    pair = ins.operands[0]
    if not isinstance(pair, Pair):
        raise link.unsupported()
    register, flag = link.register(pair.first), link.register(pair.second)

    def act(m: Machine, here: NDArray[np.bool_]) -> None:
        leader = np.argmax(here, axis=1)[m.warp_of[m.lanes()]]
        if register >= 0:
            m.write_active(register, leader.astype(np.uint32))
        if flag >= 0:
            m.write_active(flag, leader == _lane(m))

    return _together(link, ins.operands[1], act)


TABLE = {
    "shfl": shfl,
    "vote": vote,
    "match": match,
    "redux": redux,
    "activemask": activemask,
    "elect": elect,
}
