"""Spin-waits: the loops that threads without an end are in, and the memory that they wait for.

A loop waits where all that decides whether it goes on is read from places that the loop itself does not
move: then somebody else must change what is there. A loop that counts, or walks along an array, does not
wait, however long it takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from grader.ptx import Address, Register, Symbol, Tuple
from grader.ptx.flow import Flow
from grader.ptx.nodes import registers_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.emulator.machine.state import Frame, Group
    from grader.ptx import Function, Instruction, Module, Operand
    from grader.ptx.flow import Loop


Watched: TypeAlias = "tuple[Instruction, Operand, int]"
"""An access, with what its address begins with and what is added to it."""

_CLOCKS = ("%clock", "%globaltimer")


@dataclass(frozen=True, slots=True)
class Round:
    """A loop that a group is in: where it begins, the branch that leaves it, and what decides over that.

    ``settled``: all that decides is the same each round, unless memory changes at the places that the
    accesses ``watched`` read: each is the instruction, with the register or the variable that the address
    begins with and what is added to it. ``compares`` are the comparisons that decide.
    """

    header: int
    leaves: Instruction
    settled: bool
    watched: tuple[Watched, ...]
    compares: tuple[Instruction, ...]
    frame: Frame


def awaited_loads(module: Module) -> frozenset[int]:
    """The loads (by their line in the PTX) that decide whether a loop goes round, from a place that stays.

    Such a load waits for somebody to change what is there. Where a loop asks a function, all loads of the
    function count.
    """
    lines: set[int] = set()
    called: set[str] = set()
    for function in module.functions:
        try:
            flow = Flow(function)
        except ValueError:
            continue
        for loop in flow.loops:
            waiting = _Waiting(function, sorted(_inside(flow, loop)))
            for branch in _exits(flow, loop):
                if branch.guard is not None:
                    waiting.decides(branch.guard.name)
            lines.update(load.ptx_line for load in waiting.loads)
            called.update(waiting.called)
    lines.update(
        instruction.ptx_line
        for function in module.functions
        if function.name in called
        for instruction in function.body
        if instruction.opcode == "ld"
    )
    return frozenset(lines)


def rounds_of(group: Group) -> list[Round]:
    """The loops around where a group is, the innermost first; of its callers' too."""
    rounds, frame, at = [], group.frame, group.pc
    while True:
        rounds += list(_rounds(frame, at))
        if frame.caller is None:
            return rounds
        frame, at = frame.caller, frame.return_pc - 1


def _rounds(frame: Frame, at: int) -> Iterator[Round]:
    function = frame.code.function
    try:
        flow = Flow(function)
    except ValueError:
        return
    for loop in flow.loops_around(min(at, len(function.body) - 1)):
        exits = _exits(flow, loop)
        leaves = exits[0] if exits else function.body[flow.starts[loop.header + 1] - 1]
        waiting = _Waiting(function, sorted(_inside(flow, loop)))
        settled = waiting.is_settled(exits)
        watched = tuple(waiting.watched.values()) if settled else ()
        compares = tuple(waiting.compares(exits))
        yield Round(flow.starts[loop.header], leaves, settled, watched, compares, frame)


def _inside(flow: Flow, loop: Loop) -> list[int]:
    """The instructions of a loop."""
    return [pc for block in loop.blocks for pc in range(flow.starts[block], flow.starts[block + 1])]


def _exits(flow: Flow, loop: Loop) -> list[Instruction]:
    """The branches that leave a loop."""
    return [
        flow.function.body[flow.starts[block + 1] - 1]
        for block in sorted(loop.blocks)
        if any(successor not in loop.blocks for successor in flow.successors[block])
    ]


class _Waiting:
    """Looks, within a loop, for what its conditions are made of."""

    def __init__(self, function: Function, inside: list[int]) -> None:
        self.body = [function.body[pc] for pc in inside]
        self.definitions: dict[str, list[Instruction]] = {}
        for instruction in self.body:
            if instruction.operands and instruction.opcode not in ("st", "red", "bra", "call"):
                for name in registers_in(instruction.operands[0]):
                    self.definitions.setdefault(name, []).append(instruction)
        self.watched: dict[int, Watched] = {}
        self.loads: list[Instruction] = []
        self.called: set[str] = set()
        self._decisive: set[str] = set()

    def decides(self, register: str) -> None:
        """Collect the loads from places that stay, and the calls, that a register of the loop is made of."""
        if register in self._decisive:
            return
        self._decisive.add(register)
        for instruction in self.definitions.get(register, ()):
            if instruction.opcode == "ld" and "param" not in instruction.modifiers:
                address = instruction.operands[1]
                base = address.base if isinstance(address, Address) else address
                if not isinstance(base, Register) or self._is_settled(base.name, (), watch=False):
                    self.loads.append(instruction)
                continue
            if instruction.opcode == "ld":
                self._decides_as_result(instruction)
            for operand in instruction.operands[1:]:
                for name in registers_in(operand):
                    self.decides(name)

    def _decides_as_result(self, load: Instruction) -> None:
        """A result of a call decides: so do the function and what it was given."""
        name = _base(load.operands[1])
        for call in self.body:
            if call.opcode == "call" and call.operands and name in _named(call.operands[0]):
                self.called.update(operand.name for operand in call.operands if isinstance(operand, Symbol))

    def is_settled(self, exits: list[Instruction]) -> bool:
        """Whether all that decides is the same each round, unless memory changes that is ``watched``."""
        guards = [branch.guard.name for branch in exits if branch.guard is not None]
        return all(self._is_settled(name, (), watch=True) for name in guards)

    def compares(self, exits: list[Instruction]) -> Iterator[Instruction]:
        """The comparisons that the predicates of branches are made of."""
        todo = [branch.guard.name for branch in exits if branch.guard is not None]
        seen: set[str] = set()
        while todo:
            name = todo.pop()
            for instruction in () if name in seen else self.definitions.get(name, ()):
                if instruction.opcode == "setp":
                    yield instruction
                elif instruction.opcode in ("not", "and", "or", "xor", "mov"):
                    todo += [name for operand in instruction.operands[1:] for name in registers_in(operand)]
            seen.add(name)

    def _is_settled(self, register: str, above: tuple[str, ...], *, watch: bool) -> bool:
        """Whether a register is the same each round, unless memory changes.

        With ``watch`` the accesses that read that memory are noted; an address that is read itself is not.
        """
        if register in above:
            return False
        return all(
            self._instruction(definition, (*above, register), watch=watch)
            for definition in self.definitions.get(register, ())
        )

    def _instruction(self, ins: Instruction, above: tuple[str, ...], *, watch: bool) -> bool:
        if "param" in ins.modifiers and ins.opcode == "ld":
            return self._parameter(ins, above, watch=watch)
        if ins.opcode in ("ld", "atom", "mbarrier"):
            address = ins.operands[1]
            if not isinstance(address, Address):
                return False
            if watch:
                self.watched[id(ins)] = (ins, address.base, address.offset)
            return all(self._is_settled(name, above, watch=False) for name in registers_in(address.base))
        names = [name for operand in ins.operands[1:] for name in registers_in(operand)]
        if any(name.startswith(_CLOCKS) for name in names):
            return False
        return all(self._is_settled(name, above, watch=watch) for name in names)

    def _parameter(self, ins: Instruction, above: tuple[str, ...], *, watch: bool) -> bool:
        """Of a function's result: `atomicCAS` and the like are accesses, by the first pointer given."""
        name = _base(ins.operands[1])
        call = next((c for c in self.body if c.opcode == "call" and name in _named(c.operands[0])), None)
        if call is None:
            return True
        if not any(isinstance(o, Symbol) and "atomic" in o.name for o in call.operands):
            return False
        passed = _named(call.operands[-1])
        for instruction in self.body:
            if (
                instruction.opcode == "st"
                and "param" in instruction.modifiers
                and instruction.modifiers[-1].endswith("64")
            ):
                value = instruction.operands[1]
                if _base(instruction.operands[0]) in passed and isinstance(value, Register):
                    if watch:
                        self.watched[id(call)] = (call, value, 0)
                    return self._is_settled(value.name, above, watch=False)
        return False


def _base(operand: Operand) -> str:
    """The variable whose address an operand is."""
    return operand.base.name if isinstance(operand, Address) and isinstance(operand.base, Symbol) else ""


def _named(operand: Operand) -> list[str]:
    elements = operand.elements if isinstance(operand, Tuple) else ()
    return [element.name for element in elements if isinstance(element, Symbol)]
