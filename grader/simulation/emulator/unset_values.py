"""Registers with values that some threads had never set, as an output shows them.

A value that no thread has set is a NaN with a mark of its register (`machine.values.unset`). Arithmetic
propagates a NaN with its mark, so that a float in an output identifies the register. Nothing is concluded
from integers: any of them may have been computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.simulation.emulator.machine.values import mark_of, marks_in
from grader.simulation.ptx import Address
from grader.simulation.ptx.nodes import TYPE_BYTES, registers_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    from grader.simulation.ptx import Function, Instruction

_ONLY_READ = frozenset({"bar", "barrier", "brx", "call"})
"""Instructions whose first operand may be a register and is no result."""


def setters_of_marked(
    functions: Collection[Function], outputs: Iterable[NDArray[Any]]
) -> tuple[tuple[Instruction, ...], ...]:
    """For each mark in outputs the instructions that set its register; none where several may be meant.

    A register that nothing sets, or a number that only looks like a mark, has no entry.
    """
    marks = {(output.dtype.itemsize, mark): None for output in outputs for mark in marks_in(output)}
    registers = _setters_by_mark(functions) if marks else {}
    setters = (registers.get(mark, []) for mark in marks)
    return tuple(of[0] if len(of) == 1 else () for of in setters if of)


def _setters_by_mark(
    functions: Collection[Function],
) -> dict[tuple[int, int], list[tuple[Instruction, ...]]]:
    """By the bytes of registers and their mark: for each register the instructions that set it."""
    by_mark: dict[tuple[int, int], list[tuple[Instruction, ...]]] = {}
    for function in functions:
        setters = _setters(function)
        for number, (name, kind) in enumerate(function.registers):
            if name in setters:
                by_mark.setdefault((TYPE_BYTES[kind], mark_of(number)), []).append(tuple(setters[name]))
    return by_mark


def _setters(function: Function) -> dict[str, list[Instruction]]:
    """The instructions that set each register."""
    setters: dict[str, list[Instruction]] = {}
    for instruction in function.body:
        if not instruction.operands or instruction.opcode in _ONLY_READ:
            continue
        target = instruction.operands[0]
        for register in () if isinstance(target, Address) else dict.fromkeys(registers_in(target)):
            setters.setdefault(register, []).append(instruction)
    return setters
