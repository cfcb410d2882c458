"""What accesses mean for order: by their instruction, and by the accesses beside them.

The strength of an access follows from its instruction (PTX ISA sections 8.4 to 8.6, 9.7.13). The kind of two
sorts of accesses shows only beside others: reads that a compare-and-swap validates, and flags.

old = *p;  do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (old != seen);

is how the CUDA C++ Programming Guide builds atomic operations that the hardware lacks. The first read is
plain and may see anything: the swap only happens if what it saw is still there. So a plain read counts as
strong where its own thread compares that very cell afterwards.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.emulator.races.rows import MAY_BE_FLAG, READ, STRONG, STRONG_READ, UPDATES
from grader.emulator.spin_waits import awaited_loads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.emulator.races.rows import Rows
    from grader.ptx import Instruction, Module

_STRONG = {"relaxed", "acquire", "release", "acq_rel", "sc"}
_BLOCK_ONLY = {"cta"}


class Strength(NamedTuple):
    """How far an access can take part in synchronisation.

    ``strong``: it never races with another strong one in whose scope it is. ``volatile``: it may read or
    write a flag. ``acquires``, ``releases``: it synchronises by itself. ``wide``: with other blocks too.
    ``compares``: it is a compare-and-swap. ``awaits``: a loop goes round until it reads another value.
    """

    strong: bool
    volatile: bool
    acquires: bool
    releases: bool
    wide: bool
    compares: bool
    awaits: bool = False


def strength_of(instruction: Instruction) -> Strength:
    """The strength of a load, store or atomic operation."""
    words = set(instruction.modifiers)
    by_phase = "mbarrier" in (instruction.opcode, *words)  # what it orders are events of their own
    plain = by_phase and bool(words & {"init", "inval"})
    return Strength(
        strong=instruction.opcode in ("atom", "red") or bool(words & _STRONG) or (by_phase and not plain),
        volatile="volatile" in words,
        acquires=bool(words & {"acquire", "acq_rel"}) and not by_phase,
        releases=bool(words & {"release", "acq_rel"}) and not by_phase,
        wide=not words & _BLOCK_ONLY,
        compares="cas" in words,
    )


def synchronises_through_memory(module: Module) -> bool:
    """Whether a module has fences, or accesses that synchronise by themselves."""
    return any(
        instruction.opcode in ("membar", "fence")
        or not {"acquire", "release", "acq_rel"}.isdisjoint(instruction.modifiers)
        for function in module.functions
        for instruction in function.body
    )


def synchronises_in_parts(module: Module) -> bool:
    """Whether a module has barriers for some threads of a block, or asynchronous copies."""
    return any(_is_partial(instruction) for function in module.functions for instruction in function.body)


def _is_partial(instruction: Instruction) -> bool:
    if instruction.opcode in ("cp", "mbarrier"):
        return True
    if instruction.opcode not in ("bar", "barrier") or "warp" in instruction.modifiers:
        return False
    return "arrive" in instruction.modifiers or len(instruction.operands) > 1


class Strengths:
    """The strengths of the numbered sites of a module, each computed once."""

    def __init__(self, module: Module, sites: Sequence[Instruction]) -> None:
        self._module, self.sites = module, sites
        self._cache: dict[int, Strength] = {}

    @cached_property
    def _awaited(self) -> frozenset[int]:
        return awaited_loads(self._module)

    def __getitem__(self, site: int) -> Strength:
        """The strength of a site."""
        if site not in self._cache:
            strength = strength_of(self.sites[site])
            if strength.volatile and not strength.strong:
                strength = strength._replace(awaits=self.sites[site].ptx_line in self._awaited)
            self._cache[site] = strength
        return self._cache[site]


def validated(rows: Rows, strengths: Strengths) -> Rows:
    """The rows with each plain read that a later compare-and-swap of its lane validates as a strong one."""
    atomic = (rows.kind & UPDATES) != 0
    comparing = [site for site in np.unique(rows.site[atomic]).tolist() if strengths[site].compares]
    if not comparing:
        return rows
    swaps = atomic & np.isin(rows.site, comparing)
    _, group = np.unique(np.stack((rows.cell, rows.lane)), axis=1, return_inverse=True)
    group = group.reshape(-1)
    latest = np.full(int(group.max()) + 1, -1, np.int64)
    np.maximum.at(latest, group[swaps], rows.when[swaps])
    good = (rows.kind == READ) & (latest[group] > rows.when)
    return rows._replace(kind=np.where(good, STRONG_READ, rows.kind))


def with_flags(rows: Rows, strengths: Strengths) -> Rows:
    """The rows with each write that may set a flag as a strong one where a loop waits for that very cell.

    All others are plain: a `volatile` word for which nobody waits is data.
    """
    open_question = (rows.kind & MAY_BE_FLAG) != 0
    if not open_question.any():
        return rows
    waiting = [site for site in np.unique(rows.site).tolist() if strengths[site].awaits]
    is_flag = np.isin(rows.cell, rows.cell[np.isin(rows.site, waiting)])
    kind = np.where(open_question & ~is_flag, rows.kind & ~STRONG, rows.kind)
    return rows._replace(kind=kind & ~MAY_BE_FLAG)
