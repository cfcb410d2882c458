"""Linking a kernel's code: each instruction as the library takes it, for the constant banks of a launch."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.simulation.sass import bits, conversions, floating, halves, integer, memory, warps
from grader.simulation.sass.listing import UnknownCodeError
from grader.simulation.sass.machine import LOCAL_WINDOW, SHARED_WINDOW
from grader.simulation.sass.native_code import ALWAYS, PREDICATES, MachineOperation
from grader.simulation.sass.operands import SassLink
from grader.simulation.sass.waiting import retry_loops

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.simulation.sass.listing import Listing, SassInstruction
    from grader.simulation.sass.native_code import Truth

_TABLE = {
    **integer.TABLE,
    **bits.TABLE,
    **floating.TABLE,
    **halves.TABLE,
    **conversions.TABLE,
    **warps.TABLE,
    **memory.TABLE,
}

NO_EFFECT = frozenset(
    (
        *(
            "NOP",
            "YIELD",
            "NANOSLEEP",
            "ENDCOLLECTIVE",
            "PMTRIG",
            "PREEXIT",
            "ACQBULK",
            "UCGABAR_ARV",
            "UCGABAR_WAIT",
        ),
        *("MEMBAR", "CGAERRBAR", "FENCE", "ERRBAR", "CCTL", "CCTLL", "DEPBAR", "LDGDEPBAR"),
    )
)
"""Opcodes without effect on values or control flow where every operation completes at once."""

_WAYS = frozenset(("BRA", "EXIT", "CALL", "RET", "BAR", "BSYNC", "WARPSYNC", "KILL"))
MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions that a handler raises for a form whose operands it does not know."""
_WINDOWS = 0x18
"""Offset in bank 0 of the windows of shared and local memory, up to compute capability 9.0."""


@frozen
class LinkedCode:
    """Linked code: the instructions, and an operation for each.

    ``problems`` are the errors of those that are not interpreted, which fail when they are reached.
    ``next_controls`` has for each instruction the place of the first one from there on that moves lanes.
    """

    code: tuple[SassInstruction, ...]
    operations: tuple[MachineOperation, ...]
    banks: Mapping[int, bytes]
    problems: Mapping[int, UnknownCodeError]
    next_controls: tuple[int, ...]
    retry_loops: dict[int, int]
    """As `grader.simulation.sass.waiting.retry_loops` gives them."""

    def problem(self, pc: int) -> UnknownCodeError:
        """Error for an instruction that is not interpreted, or for the end of the code."""
        if not 0 <= pc < len(self.code):
            return UnknownCodeError("the end of the code")
        own = SassLink(self.code[pc], {}).unknown()
        return self.problems.get(pc, own)


def link(listing: Listing, banks: Mapping[int, bytes]) -> LinkedCode:
    """Link a kernel for constant banks; an instruction that is not interpreted fails when it is reached."""
    with_windows = dict(banks)
    if 0 in banks:
        windows = struct.pack("<QQ", SHARED_WINDOW, LOCAL_WINDOW)
        with_windows[0] = banks[0][:_WINDOWS] + windows + banks[0][_WINDOWS + len(windows) :]
    code, problems = listing.instructions, dict[int, UnknownCodeError]()
    operations = []
    for pc, instruction in enumerate(code):
        try:
            operations.append(_operation(SassLink(instruction, with_windows)))
        except UnknownCodeError as problem:
            problems[pc] = problem
            operations.append(MachineOperation("refuse", guard=_guard(SassLink(instruction, {}))))
    following, latest = [], len(code)
    for pc in reversed(range(len(code))):
        latest = pc if operations[pc].name == "control" else latest
        following.append(latest)
    return LinkedCode(
        code, tuple(operations), with_windows, problems, tuple(reversed(following)), retry_loops(code)
    )


def _operation(linked: SassLink) -> MachineOperation:
    """The operation of an instruction; raises UnknownCodeError for one that is not interpreted."""
    opcode = linked.instruction.opcode
    if opcode in NO_EFFECT:
        return MachineOperation("nothing")
    if opcode in _WAYS:
        return MachineOperation("control")
    handler = _TABLE.get(opcode)
    if handler is None:
        raise linked.unknown()
    try:
        operation = handler(linked)
        guard = linked.instruction.guard
        operation.guard = linked.truth(guard) if guard else ALWAYS
        is_within = operation.is_within() and operation.packed()
    except (*MALFORMED, struct.error):
        raise linked.unknown() from None
    if not is_within:
        raise linked.unknown()
    return operation


def _guard(linked: SassLink) -> Truth:
    """The predicate in front of an instruction; one that does not exist counts as true."""
    guard = linked.instruction.guard
    truth = linked.truth(guard) if guard else ALWAYS
    return truth if truth.number < PREDICATES else ALWAYS
