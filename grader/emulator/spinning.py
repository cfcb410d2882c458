"""What threads that never come to their end are doing: which loop they are in, and what they wait for.

A loop waits where all that decides whether it goes on is read from places that the loop itself does not
move: then somebody else must change what is there. A loop that counts, or walks along an array, does not
wait, however long it takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.emulator.uses import names_in
from grader.ptx import Address, Register, Symbol, Tuple
from grader.ptx.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.emulator.machine import Frame, Group
    from grader.ptx import Function, Instruction, Operand
    from grader.ptx.flow import Loop


@dataclass(frozen=True, slots=True)
class Round:
    """A loop that a group is in: the branch that leaves it, and the accesses that decide if it waits.

    Each of ``watched`` is the instruction that reads, with the register that holds the address and what is
    added to it.
    """

    leaves: Instruction
    watched: tuple[tuple[Instruction, str, int], ...]
    frame: Frame


def rounds_of(group: Group) -> list[Round]:
    """The loops around where a group is, the innermost first; of its callers' too."""
    found, frame, at = [], group.frame, group.pc
    while True:
        found += list(_rounds(frame, at))
        if frame.caller is None:
            return found
        frame, at = frame.caller, frame.return_pc - 1


def _rounds(frame: Frame, at: int) -> Iterator[Round]:
    function = frame.code.function
    try:
        flow = Flow(function)
    except ValueError:
        return
    for loop in flow.loops_around(min(at, len(function.body) - 1)):
        exits = _exits(flow, loop)
        inside = [pc for block in loop.blocks for pc in range(flow.starts[block], flow.starts[block + 1])]
        leaves = exits[0] if exits else function.body[flow.starts[loop.header + 1] - 1]
        yield Round(leaves, _Waiting(function, sorted(inside)).for_all(exits), frame)


def _exits(flow: Flow, loop: Loop) -> list[Instruction]:
    """The branches that leave a loop."""
    return [
        flow.function.body[flow.starts[block + 1] - 1]
        for block in sorted(loop.blocks)
        if any(each not in loop.blocks for each in flow.successors[block])
    ]


class _Waiting:
    """Looks, within a loop, for what its conditions are made of."""

    def __init__(self, function: Function, inside: list[int]) -> None:
        self.body = [function.body[pc] for pc in inside]
        self.made: dict[str, list[Instruction]] = {}
        for instruction in self.body:
            if instruction.operands and instruction.opcode not in ("st", "red", "bra", "call"):
                for name in names_in(instruction.operands[0]):
                    self.made.setdefault(name, []).append(instruction)
        self.watched: dict[int, tuple[Instruction, str, int]] = {}

    def for_all(self, exits: list[Instruction]) -> tuple[tuple[Instruction, str, int], ...]:
        """What is read to decide; nothing where the loop does more than wait."""
        guards = [each.guard.name for each in exits if each.guard is not None]
        if not guards or not all(self._is_settled(name, (), loads=True) for name in guards):
            return ()
        return tuple(self.watched.values())

    def _is_settled(self, register: str, above: tuple[str, ...], *, loads: bool) -> bool:
        """Whether a register is the same each round, unless memory changes that ``loads`` may read."""
        if register in above:
            return False
        return all(
            self._instruction(each, (*above, register), loads=loads) for each in self.made.get(register, ())
        )

    def _instruction(self, ins: Instruction, above: tuple[str, ...], *, loads: bool) -> bool:
        if "param" in ins.modifiers and ins.opcode == "ld":
            return self._parameter(ins, above, loads=loads)
        if ins.opcode in ("ld", "atom"):
            address = ins.operands[1]
            if not loads or not isinstance(address, Address) or not isinstance(address.base, Register):
                return False
            self.watched[id(ins)] = (ins, address.base.name, address.offset)
            return self._is_settled(address.base.name, above, loads=False)
        names = [name for operand in ins.operands[1:] for name in names_in(operand)]
        return all(self._is_settled(name, above, loads=loads) for name in names)

    def _parameter(self, ins: Instruction, above: tuple[str, ...], *, loads: bool) -> bool:
        """Of a function's result: `atomicCAS` and the like are accesses, by the first pointer given."""
        name = _base(ins.operands[1])
        call = next((c for c in self.body if c.opcode == "call" and name in _named(c.operands[0])), None)
        if call is None:
            return True
        if not any(isinstance(o, Symbol) and "atomic" in o.name for o in call.operands):
            return False
        passed = _named(call.operands[-1])
        for each in self.body:
            if each.opcode == "st" and "param" in each.modifiers and each.modifiers[-1].endswith("64"):
                value = each.operands[1]
                if _base(each.operands[0]) in passed and isinstance(value, Register):
                    self.watched[id(call)] = (call, value.name, 0)
                    return loads and self._is_settled(value.name, above, loads=False)
        return False


def _base(operand: Operand) -> str:
    """The variable whose address an operand is."""
    return operand.base.name if isinstance(operand, Address) and isinstance(operand.base, Symbol) else ""


def _named(operand: Operand) -> list[str]:
    elements = operand.elements if isinstance(operand, Tuple) else ()
    return [each.name for each in elements if isinstance(each, Symbol)]
