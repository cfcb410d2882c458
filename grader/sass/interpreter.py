"""Running a kernel's machine code on some blocks of a launch, to learn what it executes and accesses.

What is learned is a `Trace`: which instructions each warp issues in which order, and where each access to
memory goes. The values are computed as well, since they may decide about both; a kernel whose code holds an
instruction that is not interpreted raises UnknownCodeError, for a wrong trace is worth less than none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.sass import atomics, bits, conversions, floating, halves, integer, memory, warps
from grader.sass.listing import Label, UnknownCodeError
from grader.sass.machine import Group, TooMuchWorkError
from grader.sass.operands import Link, is_predicate, register_index

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from grader.sass.listing import Instruction, Listing
    from grader.sass.machine import Machine, Mask, Step, Trace

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
        *("NOP", "BSSY", "BSYNC", "BREAK", "BMOV", "WARPSYNC", "YIELD", "MEMBAR", "ERRBAR", "CCTL", "DEPBAR"),
        *(
            "LDGDEPBAR",
            "NANOSLEEP",
            "PMTRIG",
            "FENCE",
            "UCGABAR_ARV",
            "UCGABAR_WAIT",
            "PREEXIT",
            "ACQBULK",
            "CCTLL",
        ),
    )
)
"""What decides nothing about values or ways here: where ways part and meet is found out from the lanes."""

_WAYS = frozenset(("BRA", "EXIT", "CALL", "RET", "BAR", "KILL"))
INSTRUCTION_BYTES = 16


@dataclass(frozen=True, slots=True)
class Program:
    """Linked code: the instructions, and a step for each but those that decide about ways (None)."""

    code: tuple[Instruction, ...]
    steps: tuple[Step | None, ...]
    guards: tuple[Callable[[Machine], NDArray[Any]] | None, ...]


def link(listing: Listing, banks: Mapping[int, bytes]) -> Program:
    """Link a kernel for constant banks; an instruction that is not interpreted fails when it is reached."""
    links = [Link(instruction, index, banks) for index, instruction in enumerate(listing.instructions)]
    guards = tuple(link.truth(link.instruction.guard) if link.instruction.guard else None for link in links)
    steps = (
        None if link.instruction.opcode in _WAYS else _guarded(_step(link), guard)
        for link, guard in zip(links, guards, strict=True)
    )
    return Program(listing.instructions, tuple(steps), guards)


def _step(linked: Link) -> Step:
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
    except (ValueError, IndexError, TypeError):  # a form whose operands are others than those of the table
        return _fails(linked.unknown())


def _nothing(_: Machine) -> None:
    """Do nothing."""


def _fails(problem: UnknownCodeError) -> Step:
    """A step that says what is not interpreted, once it is reached."""

    def step(_: Machine) -> None:
        raise problem

    return step


def _guarded(step: Step, guard: Callable[[Machine], NDArray[Any]] | None) -> Step:
    """The step for the lanes of which a predicate holds."""
    if guard is None or step is _nothing:
        return step

    def guarded(m: Machine) -> None:
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


def run(program: Program, m: Machine, most_steps: int) -> Trace:
    """Run the blocks of a machine to their end.

    Raises UnknownCodeError for what is not interpreted, StrayError for an access outside the arrays, and
    TooMuchWorkError where ``most_steps`` instructions do not suffice.
    """
    groups, waiting = [Group(0, m.threads)], list[Group]()
    left = most_steps
    with np.errstate(all="ignore"):
        while groups or waiting:
            if not groups:
                groups, waiting = _merged(waiting), []
            groups.sort(key=lambda group: group.pc)
            group = groups.pop(0)
            stop = groups[0].pc if groups else len(program.code)
            m.mask = group.lanes
            pc, first = group.pc, group.pc
            while pc < stop and (step := program.steps[pc]) is not None:
                step(m)
                pc += 1
            left -= pc + 1 - first
            if left < 0:
                raise TooMuchWorkError("the kernel did not come to its end")
            at_way = pc < stop
            m.trace.runs.append((first, pc + at_way, group.lanes))
            if pc >= len(program.code):
                continue
            going, barred = _ways(program, m, pc, group.lanes) if at_way else ([Group(pc, group.lanes)], [])
            waiting += barred
            groups = _merged(groups + going)
    return m.trace


def _ways(program: Program, m: Machine, pc: int, lanes: Mask) -> tuple[list[Group], list[Group]]:
    """Where lanes go from an instruction that decides about that: those that go on, those that wait."""
    instruction, guard = program.code[pc], program.guards[pc]
    taken, others = _parted(m, lanes, guard, instruction)
    if instruction.opcode == "BAR":
        if "SYNC" not in instruction.modifiers:
            raise UnknownCodeError("BAR." + ".".join(instruction.modifiers))
        return _groups((pc + 1, others)), _groups((pc + 1, taken))
    if instruction.opcode in ("EXIT", "KILL"):
        return _groups((pc + 1, others)), []
    if instruction.opcode == "RET":
        return _returns(m, instruction, taken) + _groups((pc + 1, others)), []
    target = next((operand.target for operand in instruction.operands if isinstance(operand, Label)), None)
    if target is None:
        raise UnknownCodeError(".".join((instruction.opcode, *instruction.modifiers)))
    return _groups((target, taken), (pc + 1, others)), []


NOBODY = np.zeros(1, np.bool_)


def _parted(
    m: Machine, lanes: Mask, guard: Callable[[Machine], NDArray[Any]] | None, instruction: Instruction
) -> tuple[Mask, Mask]:
    """The lanes that take a way and those that do not; `NOBODY` where there are none."""
    readers = [
        Link(instruction, 0, {}).truth(operand) for operand in instruction.operands if is_predicate(operand)
    ]
    conditions = [reader(m) for reader in ([guard, *readers] if guard else readers)]
    if not conditions:
        return lanes, NOBODY
    holds = conditions[0] if len(conditions) == 1 else conditions[0] & conditions[1]
    if holds.size == 1:
        return (lanes, NOBODY) if holds[0] else (NOBODY, lanes)
    taken = holds if lanes is None else holds & lanes
    others = ~holds if lanes is None else lanes & ~holds
    if not others.any():
        return lanes, NOBODY
    return (taken, others) if taken.any() else (NOBODY, lanes)


def _groups(*ways: tuple[int, Mask]) -> list[Group]:
    return [Group(pc, lanes) for pc, lanes in ways if lanes is not NOBODY]


def _returns(m: Machine, instruction: Instruction, lanes: Mask) -> list[Group]:
    """Where a function returns to: the bytes in a register from the beginning of the kernel."""
    register = register_index(instruction.operands[0])
    goals = m.registers[register]
    if lanes is not None and goals.size > 1:
        goals = goals[lanes]
    if not (goals == goals[0]).all():
        raise UnknownCodeError("RET")
    return _groups((int(goals[0]) // INSTRUCTION_BYTES, lanes))


def _merged(groups: list[Group]) -> list[Group]:
    """Groups at one instruction as one."""
    by_pc: dict[int, Mask] = {}
    for group in groups:
        if group.pc in by_pc:
            other = by_pc[group.pc]
            by_pc[group.pc] = None if other is None or group.lanes is None else other | group.lanes
        else:
            by_pc[group.pc] = group.lanes
    return [Group(pc, None if lanes is not None and lanes.all() else lanes) for pc, lanes in by_pc.items()]
