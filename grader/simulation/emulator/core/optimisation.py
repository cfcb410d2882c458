"""Passes that make less work of the operations of a kernel.

The unoptimised build computes indices, bases of shared arrays and addresses anew in each round of a loop.
Here copies are followed, what depends on constants and special registers alone is computed once as a warp
begins, sums with a constant become part of an access, and what nothing reads goes. Every access stays, in its
order.

All of this holds for registers that one unguarded operation writes: every read of such a register lies behind
it on every way (`registers.with_checks` refuses all others), as in static single assignment form (Cytron
et al., 1991). The instructions that an operation stood for are counted with the next one of its block.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.simulation.emulator.core.library import CONSTANT, NONE
from grader.simulation.emulator.core.operations import ADDRESS_64, CoreOperation
from grader.simulation.emulator.core.shortening import coalesce, fuse_addresses, reassociate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def optimise(
    ops: list[CoreOperation],
    given: frozenset[int],
    numbers: Mapping[int, int],
    power_of_two: Callable[[int], int],
    *,
    exact: bool,
) -> list[CoreOperation]:
    """The same operations with less to do.

    ``given`` are registers that are set before the first operation, ``numbers`` the constants by their
    offsets; ``power_of_two`` gives the offset of one more. ``exact``: instructions are counted, those that
    go with others of their block.
    """
    written = Counter(offset for op in ops for offset in op.all_written())
    single = {
        op.dst: op
        for op in ops
        if op.is_pure
        and not op.guard_kind
        and op.dst != NONE
        and written[op.dst] == 1
        and op.dst not in given
    }
    settled = _Settled(single, given - written.keys())
    _follow_copies(ops, settled)
    _fold_addresses(ops, settled, numbers)
    if not exact:
        _shorten_addresses(ops, settled, numbers, power_of_two)
    hoisted = _hoisted(ops, settled)
    _drop_unread(ops)
    ops = _rebuilt(ops, [op for op in hoisted if not op.is_gone], exact=exact)
    if not exact:
        coalesce(ops, given)
        ops = _rebuilt(ops, [], exact=exact)
    return ops


def _shorten_addresses(
    ops: list[CoreOperation],
    settled: _Settled,
    numbers: Mapping[int, int],
    power_of_two: Callable[[int], int],
) -> None:
    """Leave less of an address to the rounds of a loop."""
    before = {op.dst for op in _hoisted(ops, settled)}
    reassociate(ops, settled.single, lambda offset: settled.is_given(offset) or offset in before)
    before = {op.dst for op in _hoisted(ops, settled)}
    fuse_addresses(ops, settled.single, before, numbers, power_of_two)


@frozen
class _Settled:
    """Registers that hold one value from where they are set: by its one operation, or at the start."""

    single: Mapping[int, CoreOperation]
    given: frozenset[int]

    def stays(self, offset: int) -> bool:
        """True if an operand never changes behind the operation that sets it."""
        return self.is_given(offset) or offset in self.single

    def is_given(self, offset: int) -> bool:
        """True if an operand is there before the first operation."""
        return bool(offset & CONSTANT) or offset in self.given


def _follow_copies(ops: list[CoreOperation], settled: _Settled) -> None:
    """Let every operation read what was copied, instead of the copy."""
    copies = {
        register: op.reads[0]
        for register, op in settled.single.items()
        if op.name.startswith("mov_") and settled.stays(op.reads[0])
    }

    def origin(offset: int) -> int:
        while offset in copies:
            offset = copies[offset]
        return offset

    for op in ops:
        op.reads = tuple(map(origin, op.reads))
        if op.guard_kind:
            op.guard = origin(op.guard)
            negation = settled.single.get(op.guard)
            if negation is not None and negation.name == "not_pred" and settled.stays(negation.reads[0]):
                op.guard, op.guard_kind = negation.reads[0], 3 - op.guard_kind
        if not op.more_read:
            continue
        op.more_read = tuple(map(origin, op.more_read))
        if op.name == "store":
            op.dst, *others = op.more_read
            second, third, fourth = (*others, NONE, NONE, NONE)[:3]
            op.more = (second, third, fourth)
        else:  # the mask of an operation of a warp
            op.more = (op.more_read[0], *op.more[1:])


def _fold_addresses(ops: list[CoreOperation], settled: _Settled, numbers: Mapping[int, int]) -> None:
    """Make a constant that is added to an address part of the access."""
    for op in ops:
        if op.name not in ("load", "store", "update") or not op.others["flags"] & ADDRESS_64:
            continue
        while (base := settled.single.get(op.reads[0])) is not None and base.name == "add_64":
            number = next((offset for offset in base.reads if offset in numbers), None)
            if number is None:
                break
            (other,) = [offset for offset in base.reads if offset != number] or [number]
            if not settled.stays(other):
                break
            op.reads = (other, *op.reads[1:])
            op.others["imm"] += numbers[number]


def _hoisted(ops: list[CoreOperation], settled: _Settled) -> list[CoreOperation]:
    """The operations that give the same whenever they are executed, in an order in which they can be."""
    settled_before, hoisted = set(settled.given), list[CoreOperation]()
    pending = [op for op in ops if settled.single.get(op.dst) is op and op.may_go]
    before = -1
    while before != len(hoisted):
        before, left = len(hoisted), list[CoreOperation]()
        for op in pending:
            if all(offset & CONSTANT or offset in settled_before for offset in op.reads):
                settled_before.add(op.dst)
                hoisted.append(op)
            else:
                left.append(op)
        pending = left
    return hoisted


def _drop_unread(ops: list[CoreOperation]) -> None:
    """Mark the computations whose result no operation reads."""
    read = Counter(offset for op in ops for offset in op.all_read())
    for op in reversed(ops):
        if op.may_go and not read[op.dst]:
            op.is_gone = True
            read.subtract(op.all_read())


def _rebuilt(ops: list[CoreOperation], hoisted: list[CoreOperation], *, exact: bool) -> list[CoreOperation]:
    """The hoisted operations, and behind them the others, with their targets where these are now."""
    first = set(map(id, hoisted))
    targets = Counter(op.others["target"] for op in ops if op.jumps)
    kept = [CoreOperation(op.name, op.key, dst=op.dst, reads=op.reads) for op in hoisted]
    places: list[int] = []
    carried = 0
    for at, op in enumerate(ops):
        if carried and exact and targets[at]:  # others come here who did not execute what went
            kept.append(CoreOperation("jump", op.key, others={"target": len(kept) + 1}, weight=carried))
            carried = 0
        places.append(len(kept))
        onwards = op.name == "jump" and op.others["target"] == at + 1 and not (exact and targets[at + 1] > 1)
        if onwards:
            targets[at + 1] -= 1
        if op.is_gone or id(op) in first or onwards:
            carried += op.weight
        else:
            op.weight, carried = op.weight + carried, 0
            kept.append(op)
    for op in ops:
        if op.jumps:  # those that were put in know their targets
            op.others["target"] = places[op.others["target"]]
    return kept
