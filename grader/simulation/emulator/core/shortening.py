"""Passes that shorten the loops of the unoptimised build, where instructions are not counted.

There each round of a loop copies what would be a φ-function twice, and makes an address out of an index by a
conversion, a shift and a sum. As registers are written once (`optimisation`), on every way from the last
operation that sets one to an operation that reads what was computed from it, that was computed anew.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.simulation.emulator.core.library import CONSTANT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from grader.simulation.emulator.core.operations import CoreOperation

MOST_FOLLOWED = 64
"""Operations that are followed from the end of a round to its beginning."""

_PRODUCTS = {"sext_32_64": "mad_wide_s32", "zext_32_64": "mad_wide_u32"}
"""The sum with a product in place of a conversion, a shift and a sum."""

_MOST_SHIFT = 30


@frozen
class Uses:
    """Indices of the operations that write and read each register."""

    writers: defaultdict[int, list[int]]
    readers: defaultdict[int, list[int]]


def uses_of(ops: list[CoreOperation]) -> Uses:
    """The uses of all registers by operations that are still there."""
    writers, readers = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for at, op in enumerate(ops):
        if not op.is_gone:
            for register in op.all_written():
                writers[register].append(at)
            for register in op.all_read():
                readers[register].append(at)
    return Uses(writers, readers)


def reassociate(
    ops: list[CoreOperation], single: Mapping[int, CoreOperation], is_invariant: Callable[[int], bool]
) -> None:
    """Add first what no round of a loop changes: `(a + x) + b` becomes `(a + b) + x`.

    ``single`` are the operations that alone write their register, ``is_invariant`` is true for an operand
    that is the same whenever it is read.
    """
    readers = uses_of(ops).readers
    for op in ops:
        if op.name != "add_64" or single.get(op.dst) is not op:
            continue
        for inner, outer in (op.reads, op.reads[::-1]):
            first = single.get(inner)
            if first is None or first.name != "add_64" or len(readers[inner]) != 1 or not is_invariant(outer):
                continue
            invariant, varying = sorted(first.reads, key=is_invariant, reverse=True)
            if is_invariant(invariant) and not is_invariant(varying) and varying in single:
                first.reads, op.reads = (invariant, outer), (inner, varying)
                break


def fuse_addresses(
    ops: list[CoreOperation],
    single: Mapping[int, CoreOperation],
    invariant: Collection[int],
    numbers: Mapping[int, int],
    power_of_two: Callable[[int], int],
) -> None:
    """Make one operation of an index that is widened, shifted and added to a base.

    Of the ``invariant`` registers nothing is left to shorten. ``numbers`` are the constants by their offsets;
    ``power_of_two`` gives the offset of one.
    """
    for op in ops:
        if op.name != "add_64" or op.dst in invariant:
            continue
        for scaled, base in (op.reads, op.reads[::-1]):
            shift = single.get(scaled)
            if shift is None or shift.name != "shl_64" or scaled in invariant:
                continue
            wide, by = single.get(shift.reads[0]), numbers.get(shift.reads[1], _MOST_SHIFT + 1)
            if wide is None or wide.name not in _PRODUCTS or not 0 <= by <= _MOST_SHIFT:
                continue
            index = wide.reads[0]
            if index & CONSTANT or index in single:
                op.name, op.reads = _PRODUCTS[wide.name], (index, power_of_two(by), base)
                break


def coalesce(ops: list[CoreOperation], given: frozenset[int]) -> None:
    """Let a value be computed where it is copied to, and mark the copies as gone."""
    search = _Copies(ops, given)
    for at in list(search.copies()):
        search.into_its_round(at)
    for at in list(search.copies()):
        search.into_its_place(at)


class _Copies:
    """Copies that can go, in a list of operations of which they are marked."""

    def __init__(self, ops: list[CoreOperation], given: frozenset[int]) -> None:
        self._ops, self._given, self._uses = ops, given, uses_of(ops)
        self._entered = {op.others["target"] for op in ops if op.jumps}

    def copies(self) -> Iterator[int]:
        """The copies that are left, by their indices."""
        for at, op in enumerate(self._ops):
            may_go = op.may_go and not (op.is_gone or op.guard_kind or op.reads[0] & CONSTANT)
            if may_go and op.name.startswith("mov_"):
                yield at

    def into_its_round(self, at: int) -> None:
        """Merge a register that is written at the ends of rounds with the one it is copied to."""
        copy, uses = self._ops[at], self._uses
        source, target = copy.reads[0], copy.dst
        writers = uses.writers[source]
        if source in self._given or uses.readers[source] != [at] or uses.writers[target] != [at]:
            return
        if any(self._ops[w].guard_kind or self._ops[w].dst != source for w in writers):
            return
        if all(self._leads_to(writer, at, target) for writer in writers):
            for writer in writers:
                self._ops[writer].dst = target
            copy.is_gone = True
            uses.writers[target], uses.writers[source], uses.readers[source] = writers, [], []

    def into_its_place(self, at: int) -> None:
        """Compute in the register of its copy what the same stretch of code computes only to copy it."""
        copy, uses = self._ops[at], self._uses
        source, target = copy.reads[0], copy.dst
        if uses.readers[source] != [at] or len(uses.writers[source]) != 1:
            return
        (writer,) = uses.writers[source]
        op = self._ops[writer]
        if writer >= at or op.guard_kind or op.dst != source or not (op.is_pure or op.name == "load"):
            return
        alone = all(self._leaves_alone(between, target) for between in range(writer + 1, at))
        if alone and at not in self._entered:
            op.dst, copy.is_gone = target, True
            uses.writers[target] = sorted({*uses.writers[target], writer} - {at})
            uses.writers[source], uses.readers[source] = [], []

    def _leaves_alone(self, at: int, register: int) -> bool:
        """True if no other way leads to an operation, and it neither reads nor writes a register."""
        op = self._ops[at]
        if at in self._entered or op.is_gone:
            return at not in self._entered
        touched = (*op.all_read(), *op.all_written())
        return (op.is_pure or op.name in ("load", "store")) and register not in touched

    def _leads_to(self, writer: int, at: int, register: int) -> bool:
        """True if on the way to ``at``, which is the only one, no operation reads a register."""
        pc = writer + 1
        for _ in range(MOST_FOLLOWED):
            if pc == at:
                return True
            op = self._ops[pc]
            if not op.is_gone and (register in op.all_read() or op.name in ("branch", "exit", "refuse")):
                return False
            pc = op.others["target"] if op.name == "jump" and not op.is_gone else pc + 1
            if pc >= len(self._ops):
                return False
        return False
