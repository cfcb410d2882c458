"""Registers that may be read before they are set, by the ways through the operations of a kernel.

A forward analysis over basic blocks: what every way to a block has set is set at its beginning (Aho, Lam,
Sethi and Ullman, *Compilers*, section 9.2, available definitions).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.simulation.emulator.core.operations import CoreOperation

_ENDS = ("branch", "jump", "exit", "refuse")


def unset_reads(ops: list[CoreOperation], given: frozenset[int]) -> list[CoreOperation]:
    """The operations that read a register which some way to them does not set; those never reached are none.

    ``given`` are the registers that are set before the first operation.
    """
    bits = {offset: 1 << number for number, offset in enumerate({o for op in ops for o in op.all_written()})}
    sets = [0 if op.guard_kind else sum(bits[offset] for offset in op.all_written()) for op in ops]
    blocks = _blocks(ops)
    before, pending = {0: 0}, [0]
    while pending:
        start = pending.pop()
        already_set, end = before[start], blocks[start]
        for at in range(start, end):
            already_set |= sets[at]
        for follower in _followers(ops, end - 1):
            joint = before[follower] & already_set if follower in before else already_set
            if joint != before.get(follower, -1):
                before[follower] = joint
                pending.append(follower)
    unset = []
    for start, already_set in before.items():
        for at in range(start, blocks[start]):
            if any(
                not already_set & bits.get(offset, 0) for offset in ops[at].all_read() if offset not in given
            ):
                unset.append(ops[at])
            already_set |= sets[at]  # noqa: PLW2901 - what is set so far
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
