"""Registers that may be read before they are set, by the ways through the operations of a kernel.

A forward analysis over basic blocks: what every way to a block has set is set at its beginning (Aho, Lam,
Sethi and Ullman, *Compilers*, section 9.2, available definitions). Where some way sets a register and some
does not, operations that are added mark the lanes that have set it, and refuse a read by others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grader.simulation.emulator.core.library import CONSTANT, NONE
from grader.simulation.emulator.core.operations import CoreOperation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ENDS = ("branch", "jump", "exit", "refuse")

_UNLESS = 2
"""The kind of a guard: an operation is executed where its predicate does not hold."""


class Marks(NamedTuple):
    """Makes predicates that mark lanes; ``yes`` and ``no`` are the constants that they are set to."""

    new: Callable[[], int]
    yes: int
    no: int


def with_checks(ops: list[CoreOperation], given: frozenset[int], marks: Marks) -> list[CoreOperation]:
    """The operations, with those refused that use what a lane has not set."""
    unset = unset_reads(ops, given)
    written = {offset for op in ops for offset in op.all_written()}
    used: set[int] = set()
    for op, offsets in unset.items():
        if op.is_move:
            continue
        if op.guard_kind or not offsets <= written:
            op.name, op.dst, op.reads, op.more_read, op.more_written = "refuse", NONE, (), (), ()
        else:
            used |= offsets
    moves = [op for op in unset if op.is_move]
    while sources := {op.reads[0] for op in moves if op.dst in used} & written - used:
        used |= sources
    mark_of = {offset: marks.new() for offset in sorted(used)}
    return _marked(ops, unset, mark_of, marks) if mark_of else ops


def _marked(
    ops: list[CoreOperation],
    unset: Mapping[CoreOperation, frozenset[int]],
    mark_of: Mapping[int, int],
    marks: Marks,
) -> list[CoreOperation]:
    """The operations with a mark behind each that sets one of these registers, and checks of the marks."""
    result = [CoreOperation("mov_pred", ops[0].key, dst=mark, reads=(marks.no,)) for mark in mark_of.values()]
    starts = []
    for op in ops:
        starts.append(len(result))
        if op.name != "refuse" and not op.is_move:
            offsets = sorted(unset.get(op, frozenset()))
            result += [CoreOperation("refuse", op.key, _UNLESS, mark_of[offset]) for offset in offsets]
        result.append(op)
        written, mark = op.all_written(), marks.yes
        if op.is_move and op in unset:
            mark = mark_of.get(op.reads[0], marks.no)
        if not op.guard_kind or op.guard not in written:
            result += [
                CoreOperation("mov_pred", op.key, op.guard_kind, op.guard, own, (mark,))
                for offset, own in mark_of.items()
                if offset in written
            ]
    starts.append(len(result))
    for op in ops:
        if op.jumps:
            op.others["target"] = starts[op.others["target"]]
    return result


class _Setting:
    """Registers that operations set, as bits of the registers that any sets."""

    def __init__(self, ops: list[CoreOperation], given: frozenset[int]) -> None:
        self.ops, self.given = ops, given
        self.bits = {
            offset: 1 << number for number, offset in enumerate({o for op in ops for o in op.all_written()})
        }
        self.sets = [0 if op.guard_kind else sum(self.bits[o] for o in op.all_written()) for op in ops]

    def unset(self, at: int, already_set: int) -> frozenset[int]:
        """The registers that an operation reads and that are not set before it."""
        return frozenset(offset for offset in self.ops[at].all_read() if self._lacks(offset, already_set))

    def after(self, at: int, already_set: int) -> int:
        """Bits of the registers that are set behind an operation."""
        op = self.ops[at]
        if op.is_move and not op.reads[0] & CONSTANT and self._lacks(op.reads[0], already_set):
            return already_set & ~self.bits[op.dst]
        return already_set | self.sets[at]

    def _lacks(self, offset: int, already_set: int) -> bool:
        return offset not in self.given and not already_set & self.bits.get(offset, 0)


def unset_reads(ops: list[CoreOperation], given: frozenset[int]) -> dict[CoreOperation, frozenset[int]]:
    """The operations that read registers which some way to them does not set, each with these registers.

    A `mov` of such a register sets none. Operations that are never reached are none. ``given`` are the
    registers that are set before the first operation.
    """
    setting, blocks = _Setting(ops, given), _blocks(ops)
    before, pending = {0: 0}, [0]
    while pending:
        start = pending.pop()
        already_set, end = before[start], blocks[start]
        for at in range(start, end):
            already_set = setting.after(at, already_set)
        for follower in _followers(ops, end - 1):
            joint = before[follower] & already_set if follower in before else already_set
            if joint != before.get(follower, -1):
                before[follower] = joint
                pending.append(follower)
    unset = {}
    for start, already_set in before.items():
        for at in range(start, blocks[start]):
            if offsets := setting.unset(at, already_set):
                unset[ops[at]] = offsets
            already_set = setting.after(at, already_set)  # noqa: PLW2901 - what is set so far
    return unset


def _blocks(ops: list[CoreOperation]) -> dict[int, int]:
    """The first operation of each basic block, with the one behind its last."""
    starts = {0} | {at + 1 for at, op in enumerate(ops) if op.name in _ENDS}
    starts |= {op.others["target"] for op in ops if op.jumps}
    ordered = sorted(start for start in starts if start < len(ops))
    return dict(zip(ordered, [*ordered[1:], len(ops)], strict=True))


def _followers(ops: list[CoreOperation], at: int) -> list[int]:
    """The operations that may follow the last one of a block."""
    op = ops[at]
    followers = [op.others["target"]] if op.jumps else []
    if op.name == "branch" or op.guard_kind or op.name not in _ENDS:
        followers.append(at + 1)
    return [follower for follower in followers if follower < len(ops)]
