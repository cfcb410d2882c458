"""Operations of a whole warp: shuffles, votes, matches (PTX ISA sections 9.7.9.6, 9.7.13.9 to 9.7.13.14).

`shfl`, `vote`, `match`, `redux`, `elect`, `activemask`. The ``.sync`` forms wait until every lane that
the mask names, and that has not exited, is there (`grader.simulation.emulator.machine.synchronisation`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.emulator.machine.geometry import WARP
from grader.simulation.emulator.machine.state import WarpOperation
from grader.simulation.emulator.machine.synchronisation import (
    arrive,
    ballot,
    lane_in_warp,
    masks_of,
    table_of,
)
from grader.simulation.emulator.machine.values import DTYPES, TRUE, Value
from grader.simulation.ptx import Operand, Pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.simulation.emulator.linking.link import ControlStep, Fetch, Link, Step
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.synchronisation import Act, Table
    from grader.simulation.ptx import Instruction


def _alone(act: Act, offer: Fetch | None, absent: Any) -> Step:  # noqa: ANN401 - a NumPy scalar
    """``act`` for the lanes that happen to be active (forms without ``.sync``)."""

    def step(m: Machine) -> None:
        table = table_of(m, offer(m, m.active), absent) if offer else np.zeros((0, WARP), np.uint8)
        act(m, ballot(m, TRUE), table)

    return step


def together(
    link: Link,
    mask: Operand,
    act: Act,
    offer: Fetch | None = None,
    absent: Any = None,  # noqa: ANN401 - a NumPy scalar
) -> ControlStep:
    """``act`` once all lanes that the mask names are there (section 9.7.9.6, `.sync`)."""
    offered = (offer, absent) if offer else ()
    operation = WarpOperation(link.site(), link.instruction.name, link.fetch(mask, "u32"), act, *offered)
    return lambda m, group: arrive(m, group, operation)


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

    def act(m: Machine, party: NDArray[np.uint32], offered: Table) -> None:
        lanes, lane = m.lanes(), lane_in_warp(m, m.lanes())
        source, inside = _source(way, lane, by(m, m.active), limits(m, m.active))
        takes_part = (party >> source.astype(np.uint32) & np.uint32(1)).astype(np.bool_)
        warps = m.warp_of[lanes]
        if register >= 0:
            m.write_active(register, np.where(takes_part, offered[warps, source], offered[warps, lane]))
        if flag >= 0:
            m.write_active(flag, inside)

    if "sync" not in ins.modifiers:
        return _alone(act, value, np.uint32(0))
    return together(link, ins.operands[4], act, value, np.uint32(0))


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

    def act(m: Machine, party: NDArray[np.uint32], holds: Table) -> None:
        yes = masks_of(holds)[m.warp_of[m.lanes()]] & party
        none, every = yes == 0, yes == party
        results = {"ballot": yes, "any": ~none, "all": every, "uni": none | every}
        m.write_active(register, results[way])

    if "sync" not in ins.modifiers:
        return _alone(act, predicate, np.False_)
    return together(link, ins.operands[2], act, predicate, np.False_)


def match(ins: Instruction, link: Link) -> ControlStep:
    """`match.any|all.sync.b32|b64 d[|p], a, mask`: the lanes that hold the same value (9.7.13.10)."""
    way, kind = ins.modifiers[0], ins.modifiers[-1]
    if way not in ("any", "all") or kind not in ("b32", "b64"):
        raise link.unsupported()
    destination = ins.operands[0]
    register = link.register(destination.first if isinstance(destination, Pair) else destination)
    flag = link.register(destination.second) if isinstance(destination, Pair) else -1
    value = link.fetch(ins.operands[1], kind)

    def act(m: Machine, party: NDArray[np.uint32], offered: Table) -> None:
        lanes = m.lanes()
        rows = offered[m.warp_of[lanes]]
        mine = rows[np.arange(len(lanes)), lane_in_warp(m, lanes)]
        same = masks_of(rows == mine[:, None]) & party
        if way == "all":
            same = np.where(same == party, same, np.uint32(0))
        if register >= 0:
            m.write_active(register, same)
        if flag >= 0:
            m.write_active(flag, same != 0)

    return together(link, ins.operands[2], act, value, DTYPES[kind].type(0))


_REDUCTIONS = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def redux(ins: Instruction, link: Link) -> ControlStep:
    """`redux.sync.op.type d, a, mask`: one value out of the values of all lanes (section 9.7.13.12)."""
    _, name, kind = ins.modifiers
    if name not in _REDUCTIONS or kind not in ("u32", "s32", "b32"):
        raise link.unsupported()
    function, dtype = _REDUCTIONS[name], DTYPES[kind]
    neutral = {"min": np.iinfo(dtype).max, "max": np.iinfo(dtype).min, "and": np.iinfo(dtype).max}
    register, value = link.register(ins.operands[0]), link.fetch(ins.operands[1], kind)
    start = dtype.type(neutral.get(name, 0))

    def act(m: Machine, party: NDArray[np.uint32], offered: Table) -> None:
        rows = offered[m.warp_of[m.lanes()]]
        takes_part = np.unpackbits(party[:, None].view(np.uint8), axis=1, bitorder="little").astype(np.bool_)
        m.write_active(register, function.reduce(np.where(takes_part, rows, start), axis=1, dtype=dtype))

    return together(link, ins.operands[2], act, value, start)


def activemask(ins: Instruction, link: Link) -> Step:
    """`activemask.b32 d`: the lanes of the warp that execute this (section 9.7.13.11)."""
    register = link.register(ins.operands[0])
    return lambda m: m.write_active(register, ballot(m, TRUE))


def elect(ins: Instruction, link: Link) -> ControlStep:
    """`elect.sync d|p, mask`: one lane of the mask, the lowest, is the leader (section 9.7.13.14)."""
    pair = ins.operands[0]
    if not isinstance(pair, Pair):
        raise link.unsupported()
    register, flag = link.register(pair.first), link.register(pair.second)

    def act(m: Machine, party: NDArray[np.uint32], _offered: Table) -> None:
        lowest = party & (~party + np.uint32(1))
        leader = np.bitwise_count(lowest - np.uint32(1)).astype(np.uint32)
        if register >= 0:
            m.write_active(register, leader)
        if flag >= 0:
            m.write_active(flag, leader == lane_in_warp(m, m.lanes()))

    return together(link, ins.operands[1], act)


TABLE = {
    "shfl": shfl,
    "vote": vote,
    "match": match,
    "redux": redux,
    "activemask": activemask,
    "elect": elect,
}
