"""Which registers a function uses, as far as a glance at its code tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.ptx import Register, Vector
from grader.ptx.nodes import registers_in

if TYPE_CHECKING:
    from grader.ptx import Function, Instruction

_WHOLLY_USED = ("call", "red", "bra", "brx", "bar", "barrier", "wmma", "stmatrix", "cp")
"""Opcodes whose first operand may be read as well: it is not always a destination."""


def registers_used(function: Function) -> frozenset[str]:
    """The registers that anything but the value operand of a store to local memory reads, or may read."""
    used: set[str] = set()
    local = _local_addresses(function)
    for instruction in function.body:
        operands = instruction.operands[1:]
        if instruction.opcode == "st":
            operands = instruction.operands[: 1 if _stays_local(instruction, local) else None]
        if instruction.opcode in _WHOLLY_USED:
            operands = instruction.operands
        used.update(name for operand in operands for name in registers_in(operand))
        if instruction.guard is not None:
            used.add(instruction.guard.name)
    return frozenset(used)


def only_copies(load: Instruction, used: frozenset[str]) -> bool:
    """Whether what an instruction loads is none of the registers that are used."""
    if load.opcode != "ld":
        return False
    loaded = load.operands[0]
    elements = loaded.elements if isinstance(loaded, Vector) else (loaded,)
    return not any(isinstance(element, Register) and element.name in used for element in elements)


def _local_addresses(function: Function) -> frozenset[str]:
    """The registers that hold an address in the frame."""
    registers: set[str] = set()
    for instruction in function.body:
        names = [name for operand in instruction.operands for name in registers_in(operand)]
        from_local = instruction.opcode == "cvta" and "local" in instruction.modifiers
        moved = instruction.opcode in ("add", "mov") and bool(registers.intersection(names[1:]))
        if names and (from_local or moved):
            registers.add(names[0])
    return frozenset(registers)


def _stays_local(store: Instruction, local: frozenset[str]) -> bool:
    """Whether a store goes to local memory, or into a parameter of a call."""
    return bool({"local", "param"} & set(store.modifiers)) or bool(
        local & set(registers_in(store.operands[0]))
    )
