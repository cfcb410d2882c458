"""Other orders in which the threads of a launch may run, and which kernels may tell them apart."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.machine.geometry import WARP
from grader.ptx import Register
from grader.ptx.nodes import registers_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.model import Launch
    from grader.ptx import Function, Instruction, Module

_STRONG = {"volatile", "relaxed", "acquire"}


def other_orders(first_updates: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Priorities of lanes for two more orders, by when each lane came to its first atomic operation.

    In the first whoever came last comes first, in the second who was in the middle comes last.
    """
    rank = np.zeros(len(first_updates), np.int64)
    taking_part = np.flatnonzero(first_updates)
    rank[taking_part] = np.unique(first_updates[taking_part], return_inverse=True)[1] + 1
    middle = (int(rank.max()) + 1) // 2
    outside = np.where(rank > 0, 1 + np.abs(rank - middle), 0)
    return (rank,) if rank.max() <= 2 else (rank, outside)  # noqa: PLR2004 - of two nobody is in the middle


def warp_priorities(launch: Launch) -> NDArray[np.int64]:
    """A priority for each warp of a block, higher in later warps, and higher still in later blocks."""
    blocks, threads = math.prod(launch.grid), math.prod(launch.block)
    warp, warps = np.arange(threads) // WARP, -(-threads // WARP)
    later = np.arange(blocks) >= blocks // 2
    return np.asarray(later[:, None] * warps + warp[None, :], np.int64).reshape(-1)


def may_depend_on_order(module: Module) -> bool:
    """Whether a kernel reads what other threads change without a data race.

    Atomic and volatile accesses need not race with each other (PTX ISA section 8.7.1), but what they read
    depends on who comes first. An atomic operation whose result nobody uses reads nothing.
    """
    return any(_reads_what_others_change(function) for function in module.functions)


def _reads_what_others_change(function: Function) -> bool:
    if any(each.opcode == "ld" and not _STRONG.isdisjoint(each.modifiers) for each in function.body):
        return True
    results = [name for each in function.body if (name := _atomic_result(each))]
    if not results:
        return False
    mentions = Counter(
        name for each in function.body for operand in each.operands for name in registers_in(operand)
    )
    return any(mentions[name] > results.count(name) for name in results)


def _atomic_result(instruction: Instruction) -> str:
    """The register that an atomic operation gives its location's old value to; empty where it does not."""
    if instruction.opcode != "atom" or not isinstance(instruction.operands[0], Register):
        return ""
    return instruction.operands[0].name
