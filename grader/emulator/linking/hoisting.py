"""Hoisting: what an instruction gives each time it is executed is computed once, when its kernel begins.

The unoptimised build computes the place of a thread in a shared array anew in every round of a loop: a third
of its instructions do nothing else. An instruction is hoisted if it computes a register that no other
writes from constants, from special registers that stay as they are, or from such registers; and if whatever
reads the register stands behind it, with no label and no branch between. So no lane can tell when it was
computed: neither a read of a register that is not set, nor a trace of it, is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.ptx import Address, Immediate, Register, Symbol
from grader.ptx.nodes import registers_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from grader.ptx import Function, Instruction, Operand

_OPCODES = {"mov", "cvt", "cvta", "add", "sub", "mul", "mad", "shl", "shr", "and", "or", "xor", "not"}
"""They compute their first operand from the others, lane by lane."""

_LOOKED_AT = {"setp", "set"}
"""Who reads what these compare, to see whether a loop ends, must not see it before it is computed."""


def hoisted(
    function: Function, is_control: Callable[[Instruction], bool], constant: Collection[str]
) -> frozenset[int]:
    """The indices of the instructions of a kernel that may be executed once, in this order, when it begins.

    ``constant`` are the special registers, and the variables, that hold the same throughout a launch.
    """
    if not function.is_entry:
        return frozenset()
    runs = _straight_runs(function, is_control)
    mentions = _mentions(function)
    computed: set[str] = set()
    indices = []
    for index, instruction in enumerate(function.body):
        if not _computes(instruction) or not all(
            _is_constant(operand, constant, computed) for operand in instruction.operands[1:]
        ):
            continue
        (register,) = registers_in(instruction.operands[0])
        others = [other for other in mentions[register] if other != index]
        behind = all(other > index and runs[other] == runs[index] for other in others)
        if behind and all(_only_reads(function.body[other], register) for other in others):
            computed.add(register)
            indices.append(index)
    return frozenset(indices)


def _straight_runs(function: Function, is_control: Callable[[Instruction], bool]) -> list[int]:
    """For each instruction the number of its run; a run ends with its branch, or at a label."""
    starts = {index for _, index in function.labels}
    runs, number = [], 0
    for index, instruction in enumerate(function.body):
        number += index in starts
        runs.append(number)
        number += is_control(instruction)
    return runs


def _mentions(function: Function) -> dict[str, list[int]]:
    """The instructions in which each register stands, as an operand or as the predicate."""
    mentions: dict[str, list[int]] = {}
    for index, instruction in enumerate(function.body):
        guard = () if instruction.guard is None else (instruction.guard,)
        for operand in (*instruction.operands, *guard):
            for name in registers_in(operand):
                mentions.setdefault(name, []).append(index)
    return mentions


def _computes(instruction: Instruction) -> bool:
    return (
        instruction.opcode in _OPCODES
        and instruction.guard is None
        and "cc" not in instruction.modifiers
        and isinstance(next(iter(instruction.operands), None), Register)  # by hand, anything may be written
    )


def _is_constant(operand: Operand, constant: Collection[str], computed: Collection[str]) -> bool:
    if isinstance(operand, Register):
        return operand.name in constant or operand.name in computed
    return isinstance(operand, Immediate) or (isinstance(operand, Symbol) and operand.name in constant)


def _only_reads(instruction: Instruction, register: str) -> bool:
    """Whether an instruction does not write a register that stands in it; of some it is not asked."""
    if instruction.opcode in _LOOKED_AT:
        return False
    first = instruction.operands[0] if instruction.operands else None
    return first is None or isinstance(first, Address) or register not in registers_in(first)
