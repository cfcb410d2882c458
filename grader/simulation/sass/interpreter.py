"""Running a kernel's machine code on some blocks of a launch, to record its execution and accesses.

The result is an `ExecutionTrace`: the instructions that each warp issues, in order, and the target of each
access to memory. The values are computed as well, since they may decide about both; a kernel whose code holds
an instruction that is not interpreted raises UnknownCodeError, for a wrong trace is worth less than none.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.sass.linking import MALFORMED
from grader.simulation.sass.listing import Label, SassRegister, UnknownCodeError
from grader.simulation.sass.machine import LaneGroup, StepLimitError, truths_of
from grader.simulation.sass.native_run import NativeRun
from grader.simulation.sass.operands import SassLink, is_predicate, register_index
from grader.simulation.sass.waiting import RetryTurns, WaitingLanes, merged
from grader.simulation.sass.warps import acting, is_parted

if TYPE_CHECKING:
    from grader.simulation.sass.linking import LinkedCode
    from grader.simulation.sass.listing import SassInstruction
    from grader.simulation.sass.machine import ExecutionTrace, Mask, SassMachine
    from grader.simulation.sass.native_code import Truth

INSTRUCTION_BYTES = 16
_PATIENCE = 200
"""Number of turns of the lanes first in the code before the last get one: the first may wait for them."""


def run(program: LinkedCode, m: SassMachine, most_steps: int) -> ExecutionTrace:
    """Run the blocks of a machine to their end.

    Raises UnknownCodeError for an instruction that is not interpreted, StrayError for an access outside the
    arrays, StepLimitError where ``most_steps`` instructions do not suffice, and NoLibraryError without the
    native library.
    """
    ready, waits, left, turns = [LaneGroup(0, m.threads)], WaitingLanes(), most_steps, 0
    retries = RetryTurns(dict(program.retry_loops))
    native = NativeRun(program, m)
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
        pc = _straight(program, native, group, stop)
        left -= pc - group.pc + 1
        if left < 0:
            raise StepLimitError("the kernel did not come to its end")
        if pc >= len(program.code):
            raise program.problem(pc)
        stops = program.operations[pc].name == "control"
        m.trace.end_run(group.pc, pc + stops, group.lanes, native.recorded())
        going = _going(program, m, pc, group.lanes, waits) if stops else [LaneGroup(pc, group.lanes)]
        ready = merged(ready + going)
    m.trace.accesses = native.accesses()
    return m.trace


def _straight(program: LinkedCode, native: NativeRun, group: LaneGroup, stop: int) -> int:
    """Run lanes up to the position of others, or to a control instruction; gives the index reached."""
    if group.pc >= len(program.code):
        raise program.problem(group.pc)
    pc = min(stop, program.next_controls[group.pc])
    if pc > group.pc:
        native.straight(group.pc, pc, group.lanes)
    return pc


def _going(program: LinkedCode, m: SassMachine, pc: int, lanes: Mask, waits: WaitingLanes) -> list[LaneGroup]:
    """As `_ways`, for code that may be any."""
    try:
        return _ways(program, m, pc, lanes, waits)
    except MALFORMED as problem:
        raise program.problem(pc) from problem


def _ways(program: LinkedCode, m: SassMachine, pc: int, lanes: Mask, waits: WaitingLanes) -> list[LaneGroup]:
    """Groups of lanes after a control instruction; lanes that wait go to ``waits``."""
    instruction = program.code[pc]
    opcode = instruction.opcode
    conditions = [SassLink(instruction, {}).truth(instruction.guard)] if instruction.guard else []
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


def _conditions(instruction: SassInstruction) -> list[Truth]:
    """The predicates among the operands, which must all hold."""
    return [
        SassLink(instruction, {}).truth(operand) for operand in instruction.operands if is_predicate(operand)
    ]


NO_LANES = np.zeros(1, np.bool_)


def _lanes_by_conditions(m: SassMachine, lanes: Mask, conditions: list[Truth]) -> tuple[Mask, Mask]:
    """The lanes for which all conditions hold, and the others; `NO_LANES` where there are none."""
    if not conditions:
        return lanes, NO_LANES
    holds = functools.reduce(operator.and_, (truths_of(m, condition) for condition in conditions))
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
    goals = m.registers[register_index(instruction.operands[0])]
    lanes = acting(m)
    return [
        LaneGroup(int(goal) // INSTRUCTION_BYTES, lanes & (goals == goal))
        for goal in np.unique(goals[lanes]).tolist()
    ]
