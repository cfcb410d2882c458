"""Joint operations of the lanes of a warp, as in PTX (section 9.7.9 on shuffles, 9.7.13 on votes)."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from grader.simulation.ptx.nodes import Pair
from tests.simulation.emulator import scalar_numbers as numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.simulation.ptx import Instruction

TOGETHER = ("shfl", "vote", "match", "redux")
"""Opcodes that wait for the lanes of their mask."""

Lanes = dict[int, Any]
"""The threads that take part, by lane."""


def waits_for_warp(ins: Instruction) -> bool:
    """Return whether an instruction is one that the lanes of its mask execute together."""
    return ins.opcode in TOGETHER or (ins.opcode == "bar" and "warp" in ins.modifiers)


def released(waiting: Sequence[Any]) -> list[Any]:
    """The threads that can go on because all of their mask have come; what they came for is done."""
    found: list[Any] = []
    for thread in waiting:
        ins = thread.waits_for
        if thread in found or not waits_for_warp(ins):
            continue
        mask = thread.read(ins.operands[-1], "u32")
        warp = [other for other in waiting if other.linear // 32 == thread.linear // 32]
        members = [other for other in warp if mask >> other.linear % 32 & 1]
        if all(other.waits_for is ins for other in members):
            _execute(ins, {other.linear % 32: other for other in members})
            found += members
    return found


def _execute(ins: Instruction, lanes: Lanes) -> None:
    if ins.opcode == "bar":
        return
    results = {"shfl": _shfl, "vote": _vote, "match": _match, "redux": _redux}[ins.opcode](ins, lanes)
    to = ins.operands[0]
    for lane, (value, flag) in results.items():
        if isinstance(to, Pair):
            lanes[lane].write(to.first, value)
            lanes[lane].write(to.second, flag)
        else:
            lanes[lane].write(to, value)


def _shfl(ins: Instruction, lanes: Lanes) -> dict[int, tuple[int, int]]:
    """A lane outside gives nothing: the own value then, and the predicate is false."""
    values = {lane: thread.read(ins.operands[1], "b32") for lane, thread in lanes.items()}
    found = {}
    for lane, thread in lanes.items():
        by, limits = (thread.read(operand, "u32") for operand in ins.operands[2:4])
        by, clamp, segment = by & 31, limits & 31, limits >> 8 & 31
        most, least = lane & segment | clamp & ~segment & 31, lane & segment
        source, inside = {
            "up": (lane - by, lane - by >= most),
            "down": (lane + by, lane + by <= most),
            "bfly": (lane ^ by, lane ^ by <= most),
            "idx": (least | by & ~segment & 31, (least | by & ~segment & 31) <= most),
        }[ins.modifiers[1]]
        found[lane] = (values[source if inside else lane], int(inside))
    return found


def _vote(ins: Instruction, lanes: Lanes) -> dict[int, tuple[int, int]]:
    yes = {lane: thread.read(ins.operands[1], "pred") for lane, thread in lanes.items()}
    ballot = sum(bit << lane for lane, bit in yes.items())
    result = {
        "all": int(all(yes.values())),
        "any": int(any(yes.values())),
        "uni": int(len(set(yes.values())) == 1),
        "ballot": ballot,
    }[ins.modifiers[1]]
    return dict.fromkeys(lanes, (result, 0))


def _match(ins: Instruction, lanes: Lanes) -> dict[int, tuple[int, int]]:
    kind = ins.modifiers[-1]
    values = {lane: thread.read(ins.operands[1], kind) for lane, thread in lanes.items()}
    if ins.modifiers[0] == "all":
        alike = len(set(values.values())) == 1
        return dict.fromkeys(lanes, (sum(1 << lane for lane in lanes) if alike else 0, int(alike)))
    return {
        lane: (sum(1 << other for other, theirs in values.items() if theirs == own), 0)
        for lane, own in values.items()
    }


_COMBINE: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "min": min,
    "max": max,
    **numbers.LOGIC,
}


def _redux(ins: Instruction, lanes: Lanes) -> dict[int, tuple[int, int]]:
    _, operation, kind = ins.modifiers
    values = [numbers.number(thread.read(ins.operands[1], kind), kind) for thread in lanes.values()]
    return dict.fromkeys(lanes, (reduce(_COMBINE[operation], values), 0))
