"""Operations of the core while a kernel is lowered."""

from __future__ import annotations

from dataclasses import field

from grader.base.records import mutable
from grader.simulation.emulator.core.library import CONSTANT, NONE

CONTROL = frozenset(
    {"branch", "jump", "exit", "load", "store", "update", "warp_sync", "refuse", "active_mask", "redux"}
)
"""Operations that do more than compute a register; those that begin with `TOGETHER` do so as well."""

TOGETHER = ("barrier", "shfl_", "vote_", "match_")
"""Beginnings of the names of operations for which threads wait for each other."""

ADDRESS_64, NOTED = 1, 16
"""Flags: the base of an access is a register of 64 bits; the execution of an operation is asked for."""


@mutable
class CoreOperation:
    """One operation; see `Op` in `native/core.hpp`. ``target`` is an index in the list of operations."""

    name: str
    key: tuple[int, int, int]
    guard_kind: int = 0
    guard: int = 0
    dst: int = NONE
    reads: tuple[int, ...] = ()
    more: tuple[int, int, int] = (NONE, NONE, NONE)
    more_written: tuple[int, ...] = ()
    more_read: tuple[int, ...] = ()
    others: dict[str, int] = field(default_factory=dict)
    weight: int = 0
    is_gone: bool = False
    is_move: bool = False
    """True of a `mov`: to copy a register that was not set is no use of it, and the other is not set then."""

    @property
    def is_pure(self) -> bool:
        """True if it does nothing but compute a register."""
        return self.name not in CONTROL and not self.name.startswith(TOGETHER)

    @property
    def may_go(self) -> bool:
        """True if nobody asks where it is executed, and how often: it only computes, and is no float's."""
        return self.is_pure and not self.others.get("flops") and not self.others.get("flags", 0) & NOTED

    @property
    def jumps(self) -> bool:
        """True if it names another operation to go on at."""
        return self.name in ("branch", "jump")

    def all_read(self) -> tuple[int, ...]:
        """The registers that it reads."""
        guard = (self.guard,) if self.guard_kind else ()
        return tuple(offset for offset in (*self.reads, *self.more_read, *guard) if not offset & CONSTANT)

    def all_written(self) -> tuple[int, ...]:
        """The registers that it writes."""
        own = () if self.dst == NONE or self.name == "store" else (self.dst,)
        return (*own, *self.more_written)
