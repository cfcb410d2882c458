"""Running a kernel's machine code on some blocks of a launch, to record its execution and accesses.

The result is an `ExecutionTrace`: the instructions that each warp issues, in order, and the target of each
access to memory. The values are computed as well, since they may decide about both; a kernel whose code holds
an instruction that is not interpreted raises UnknownCodeError, for a wrong trace is worth less than none.
"""

from __future__ import annotations

import functools
import operator
import struct
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import frozen
from grader.simulation.sass import atomics, bits, conversions, floating, halves, integer, memory, warps
from grader.simulation.sass.listing import Label, SassRegister, UnknownCodeError
from grader.simulation.sass.machine import LOCAL_WINDOW, SHARED_WINDOW, LaneGroup, StepLimitError
from grader.simulation.sass.operands import SassLink, is_predicate, register_index
from grader.simulation.sass.waiting import RetryTurns, WaitingLanes, merged, retry_loops
from grader.simulation.sass.warps import acting, is_parted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.simulation.sass.listing import Listing, SassInstruction
    from grader.simulation.sass.machine import ExecutionTrace, Mask, SassMachine, Step
    from grader.simulation.sass.operands import Reader

_TABLE = {
    **integer.TABLE,
    **bits.TABLE,
    **floating.TABLE,
    **halves.TABLE,
    **conversions.TABLE,
    **warps.TABLE,
    **memory.TABLE,
    **atomics.TABLE,
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
INSTRUCTION_BYTES = 16
_MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions that a handler raises for a form whose operands it does not know."""
_PATIENCE = 200
"""Number of turns of the lanes first in the code before the last get one: the first may wait for them."""
_WINDOWS = 0x18
"""Offset in bank 0 of the windows of shared and local memory, up to compute capability 9.0."""


@frozen
class LinkedCode:
    """Linked code: the instructions, and a step for each but control instructions (None)."""

    code: tuple[SassInstruction, ...]
    steps: tuple[Step | None, ...]
    guards: tuple[Reader | None, ...]
    retry_loops: dict[int, int]
    """As `grader.simulation.sass.waiting.retry_loops` gives them."""


def link(listing: Listing, banks: Mapping[int, bytes]) -> LinkedCode:
    """Link a kernel for constant banks; an instruction that is not interpreted fails when it is reached."""
    with_windows = dict(banks)
    if 0 in banks:
        windows = struct.pack("<QQ", SHARED_WINDOW, LOCAL_WINDOW)
        with_windows[0] = banks[0][:_WINDOWS] + windows + banks[0][_WINDOWS + len(windows) :]
    links = [
        SassLink(instruction, index, with_windows) for index, instruction in enumerate(listing.instructions)
    ]
    guards = tuple(link.truth(link.instruction.guard) if link.instruction.guard else None for link in links)
    steps = (
        None if link.instruction.opcode in _WAYS else _guarded(_step(link), guard)
        for link, guard in zip(links, guards, strict=True)
    )
    return LinkedCode(listing.instructions, tuple(steps), guards, retry_loops(listing.instructions))


def _step(linked: SassLink) -> Step:
    opcode = linked.instruction.opcode
    if opcode in NO_EFFECT:
        return _nothing
    handler = _TABLE.get(opcode)
    if handler is None:
        return _fails(linked.unknown())
    try:
        return handler(linked)
    except UnknownCodeError as problem:
        return _fails(problem)
    except _MALFORMED:
        return _fails(linked.unknown())


def _nothing(_: SassMachine) -> None:
    """Do nothing."""


def _fails(problem: UnknownCodeError) -> Step:
    """A step that raises the error for an uninterpreted instruction, once it is reached."""

    def step(_: SassMachine) -> None:
        raise problem

    return step


def _guarded(step: Step, guard: Reader | None) -> Step:
    """The step for the lanes of which a predicate holds."""
    if guard is None or step is _nothing:
        return step

    def guarded(m: SassMachine) -> None:
        before, holds = m.mask, guard(m)
        if holds.size == 1:
            if not holds[0]:
                return
        elif not holds.all():
            m.mask = holds if before is None else before & holds
            if not m.mask.any():
                m.mask = before
                return
        step(m)
        m.mask = before

    return guarded


def run(program: LinkedCode, m: SassMachine, most_steps: int) -> ExecutionTrace:
    """Run the blocks of a machine to their end.

    Raises UnknownCodeError for an instruction that is not interpreted, StrayError for an access outside the
    arrays, and TooMuchWorkError where ``most_steps`` instructions do not suffice.
    """
    ready, waits, left, turns = [LaneGroup(0, m.threads)], WaitingLanes(), most_steps, 0
    retries = RetryTurns(dict(program.retry_loops))
    with np.errstate(all="ignore"):
        while ready or waits or retries.held:
            ready = retries.release(ready) or waits.released(m, program.code)
            ready.sort(key=lambda group: group.pc)
            turns = turns + 1 if len(ready) > 1 else 0
            arrived = ready.pop(-1 if turns % _PATIENCE == _PATIENCE - 1 else 0)
            group = retries.admit(m, arrived, ready)
            if group is None:
                continue
            later = (other.pc for other in ready if other.pc > group.pc)
            stop = retries.next_stop(group.pc, min(later, default=len(program.code)))
            pc = _straight(program, m, group, stop)
            left -= pc - group.pc + 1
            if left < 0:
                raise StepLimitError("the kernel did not come to its end")
            if pc >= len(program.code):
                raise _unknown(program, pc)
            stops = program.steps[pc] is None
            m.trace.end_run(group.pc, pc + stops, group.lanes)
            going = _going(program, m, pc, group.lanes, waits) if stops else [LaneGroup(pc, group.lanes)]
            ready = merged(ready + going)
    return m.trace


def _straight(program: LinkedCode, m: SassMachine, group: LaneGroup, stop: int) -> int:
    """Run lanes up to the position of others, or to a control instruction; gives the index reached."""
    m.mask, pc = group.lanes, group.pc
    try:
        while (step := program.steps[pc]) is not None:
            step(m)
            pc += 1
            if pc >= stop:
                break
    except _MALFORMED as problem:
        raise _unknown(program, pc) from problem
    return pc


def _unknown(program: LinkedCode, pc: int) -> UnknownCodeError:
    """Error for an instruction that is not interpreted, or for the end of the code where one should be."""
    if not 0 <= pc < len(program.code):
        return UnknownCodeError("the end of the code")
    return UnknownCodeError(".".join((program.code[pc].opcode, *program.code[pc].modifiers)))


def _going(program: LinkedCode, m: SassMachine, pc: int, lanes: Mask, waits: WaitingLanes) -> list[LaneGroup]:
    """As `_ways`, for code that may be any."""
    try:
        return _ways(program, m, pc, lanes, waits)
    except _MALFORMED as problem:
        raise _unknown(program, pc) from problem


def _ways(program: LinkedCode, m: SassMachine, pc: int, lanes: Mask, waits: WaitingLanes) -> list[LaneGroup]:
    """Groups of lanes after a control instruction; lanes that wait go to ``waits``."""
    instruction, guard = program.code[pc], program.guards[pc]
    opcode = instruction.opcode
    conditions = [guard] if guard else []
    if opcode != "BAR":
        conditions += _conditions(instruction)
    taken, others = _lanes_by_conditions(m, lanes, conditions)
    if taken is NO_LANES:
        return [LaneGroup(pc + 1, others)]
    m.mask = taken
    going = _groups((pc + 1, others))
    if opcode == "BAR":
        going += waits.arrive(m, pc, instruction)
    elif opcode in ("BSYNC", "WARPSYNC"):
        going += waits.converge(m, pc, instruction, taken)
    elif opcode in ("EXIT", "KILL"):
        m.ended = acting(m) if m.ended is None else m.ended | acting(m)
    elif opcode == "RET":
        going += _returns(m, instruction)
    else:
        going += _branches(m, pc, instruction, taken)
    return going


def _branches(m: SassMachine, pc: int, instruction: SassInstruction, taken: Mask) -> list[LaneGroup]:
    """Groups after a jump or a call; `BRA.DIV` jumps for lanes whose warp is diverged."""
    unparted: list[LaneGroup] = []
    if "DIV" in instruction.modifiers:
        lanes = acting(m)
        parted = is_parted(m, instruction, lanes)
        unparted = [LaneGroup(pc + 1, lanes & ~parted)] if (lanes & ~parted).any() else []
        if not parted.any():
            return unparted
        taken = parted
    target = next((operand.target for operand in instruction.operands if isinstance(operand, Label)), None)
    by_register = any(isinstance(o, SassRegister) and o.file == "R" for o in instruction.operands)
    if target is None or by_register:
        raise UnknownCodeError(".".join((instruction.opcode, *instruction.modifiers)))
    return [*unparted, LaneGroup(target, taken)]


def _conditions(instruction: SassInstruction) -> list[Reader]:
    """The predicates among the operands, which must all hold."""
    return [
        SassLink(instruction, 0, {}).truth(operand)
        for operand in instruction.operands
        if is_predicate(operand)
    ]


NO_LANES = np.zeros(1, np.bool_)


def _lanes_by_conditions(m: SassMachine, lanes: Mask, conditions: list[Reader]) -> tuple[Mask, Mask]:
    """The lanes for which all conditions hold, and the others; `NO_LANES` where there are none."""
    if not conditions:
        return lanes, NO_LANES
    holds = functools.reduce(operator.and_, (condition(m) for condition in conditions))
    if holds.size == 1:
        return (lanes, NO_LANES) if holds[0] else (NO_LANES, lanes)
    taken = holds if lanes is None else holds & lanes
    others = ~holds if lanes is None else lanes & ~holds
    if not others.any():
        return lanes, NO_LANES
    return (taken, others) if taken.any() else (NO_LANES, lanes)


def _groups(*ways: tuple[int, Mask]) -> list[LaneGroup]:
    return [LaneGroup(pc, lanes) for pc, lanes in ways if lanes is not NO_LANES]


def _returns(m: SassMachine, instruction: SassInstruction) -> list[LaneGroup]:
    """Groups after a return: the target is in a register, in bytes from the beginning of the kernel."""
    goals = np.broadcast_to(m.registers[register_index(instruction.operands[0])], (m.lanes,))
    lanes = acting(m)
    return [
        LaneGroup(int(goal) // INSTRUCTION_BYTES, lanes & (goals == goal))
        for goal in np.unique(goals[lanes]).tolist()
    ]
