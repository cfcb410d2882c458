"""Own memory: the accesses of a function that are to the thread's own memory, or cannot be.

Without optimisation nvcc addresses all memory as generic: that a store goes by a parameter of the kernel, and
a load to a variable on the stack, is only seen in the computation of their addresses.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from grader.simulation.ptx import Address, Register, Symbol, Tuple
from grader.simulation.ptx.nodes import registers_in

if TYPE_CHECKING:
    from grader.simulation.ptx import Instruction, Operand
    from grader.simulation.ptx.nodes import Function

_SHARED_OUT = {"global", "shared", "const", "param"}


class Holder(Enum):
    """Owner of the memory that an address lies in."""

    OWN = auto()
    """The thread's own (``.local``)."""
    COMMON = auto()
    """Any other: of the block, of the launch, constants, parameters."""
    UNKNOWN = auto()


class OwnMemory:
    """Determines for the accesses of a function the owner of their memory.

    Each address is followed to its base, through all definitions of its registers. A pointer that a kernel
    got as a parameter is not to its own memory: ``.local`` addresses do not leave their thread (PTX ISA
    section 5.1.5).
    """

    def __init__(self, function: Function) -> None:
        self._parameters = {parameter.name for parameter in function.parameters if function.is_entry}
        self._local = {variable.name for variable in function.variables if variable.space == "local"}
        self._definitions: dict[str, list[Instruction]] = {}
        for instruction in function.body:
            for name in registers_set(instruction):
                self._definitions.setdefault(name, []).append(instruction)

    def of_access(self, instruction: Instruction, address: Operand) -> Holder:
        """Owner of the memory of a load or a store, by its state space or by its address."""
        if "local" in instruction.modifiers:
            return Holder.OWN
        if _SHARED_OUT & set(instruction.modifiers):
            return Holder.COMMON
        return self._of_roots(address)

    def _of_roots(self, address: Operand) -> Holder:
        holders: set[Holder] = set()
        todo, visited = [address], set()
        while todo:
            operand = todo.pop()
            if isinstance(operand, Address):
                operand = operand.base
            if isinstance(operand, Symbol):
                holders.add(Holder.OWN if operand.name in self._local else Holder.COMMON)
            elif isinstance(operand, Tuple):
                return Holder.UNKNOWN
            elif isinstance(operand, Register) and operand.name not in visited:
                visited.add(operand.name)
                for instruction in self._definitions.get(operand.name, []):
                    if not self._is_followed(instruction):
                        return Holder.UNKNOWN
                    if instruction.opcode != "ld":
                        todo += instruction.operands[1:]
        if Holder.OWN in holders:
            return Holder.OWN if holders == {Holder.OWN} else Holder.UNKNOWN
        return Holder.COMMON

    def _is_followed(self, instruction: Instruction) -> bool:
        """True if a register's value is a number, or a pointer that comes from its operands alone."""
        if instruction.opcode == "ld":
            is_pointer = instruction.modifiers[-1].endswith("64")
            return not is_pointer or variable_in(instruction.operands[1]) in self._parameters
        return instruction.opcode not in ("atom", "shfl")


def registers_set(instruction: Instruction) -> tuple[str, ...]:
    """The registers that an instruction sets."""
    if not instruction.operands or instruction.opcode in ("st", "red", "bra", "call"):
        return ()
    return registers_in(instruction.operands[0])


def variable_in(address: Operand) -> str:
    """The variable that an address begins with; empty where it begins with a register."""
    return address.base.name if isinstance(address, Address) and isinstance(address.base, Symbol) else ""
