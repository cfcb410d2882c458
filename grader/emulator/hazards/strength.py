"""What an instruction's access means for order (PTX ISA sections 8.4 to 8.6, 9.7.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.ptx import Instruction, Module

_STRONG = {"relaxed", "acquire", "release", "acq_rel", "sc"}
_BLOCK_ONLY = {"cta"}


class Strength(NamedTuple):
    """How far an access can take part in synchronisation.

    ``strong``: it never races with another strong one. ``volatile``: it may read or write a flag.
    ``acquires``, ``releases``: it synchronises by itself. ``wide``: with other blocks too.
    ``compares``: it is a compare-and-swap.
    """

    strong: bool
    volatile: bool
    acquires: bool
    releases: bool
    wide: bool
    compares: bool


def strength_of(instruction: Instruction) -> Strength:
    """The strength of a load, store or atomic operation."""
    words = set(instruction.modifiers)
    return Strength(
        strong=instruction.opcode in ("atom", "red") or bool(words & _STRONG),
        volatile="volatile" in words,
        acquires=bool(words & {"acquire", "acq_rel"}),
        releases=bool(words & {"release", "acq_rel"}),
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
    """Whether a module has barriers for some warps of a block, or asynchronous copies."""
    return any(_is_partial(instruction) for function in module.functions for instruction in function.body)


def _is_partial(instruction: Instruction) -> bool:
    if instruction.opcode == "cp":
        return True
    if instruction.opcode not in ("bar", "barrier") or "warp" in instruction.modifiers:
        return False
    return "arrive" in instruction.modifiers or len(instruction.operands) > 1


class Strengths:
    """The strengths of numbered sites, each looked at once."""

    def __init__(self, sites: Sequence[Instruction]) -> None:
        self._sites = sites
        self._known: dict[int, Strength] = {}

    def __getitem__(self, site: int) -> Strength:
        """The strength of a site."""
        if site not in self._known:
            self._known[site] = strength_of(self._sites[site])
        return self._known[site]
