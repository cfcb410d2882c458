"""A kernel for the core: its instructions by opcode, each lowered by the function of its chapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.simulation.emulator.core import accesses, controlling
from grader.simulation.emulator.core.computing import compute
from grader.simulation.emulator.core.lowering import LoweredKernel, Lowering, NotLoweredError
from grader.simulation.emulator.linking.program import Program

if TYPE_CHECKING:
    from grader.simulation.emulator.memory.layout import Layout
    from grader.simulation.ptx import Function, Instruction, Module

_TABLE = {
    "bra": controlling.branch,
    "ret": controlling.leave,
    "exit": controlling.leave,
    "trap": controlling.refuse,
    "call": controlling.call,
    "bar": controlling.barrier,
    "barrier": controlling.barrier,
    "shfl": controlling.shuffle,
    "vote": controlling.vote,
    "match": controlling.match,
    "redux": controlling.reduce,
    "activemask": controlling.active_mask,
    "ld": accesses.load,
    "ldu": accesses.load,
    "st": accesses.store,
    "atom": accesses.update,
    "red": accesses.update,
    **dict.fromkeys(("membar", "fence"), controlling.fence),
    **dict.fromkeys(
        ("prefetch", "prefetchu", "discard", "applypriority", "pmevent", "nanosleep"), controlling.nothing
    ),
}
"""By opcode the function that lowers an instruction; all others compute registers."""


def _instruction(low: Lowering, ins: Instruction) -> None:
    _TABLE.get(ins.opcode, compute)(low, ins)


def lower(module: Module, entry: str, layout: Layout, *, exact: bool, source: str = "") -> LoweredKernel:
    """A kernel for launches whose variables lie where they lie in a layout; raises NotLoweredError.

    ``exact``: the instructions that threads execute are counted. ``source`` is the student's file, as in
    `Names`.
    """

    def never(_program: Program, function: Function) -> object:
        raise NotLoweredError(function.name)

    program = Program(module, layout.addresses, never)  # type: ignore[arg-type]
    return Lowering(program, module.function(entry), _instruction, exact=exact, source=source).lowered()
