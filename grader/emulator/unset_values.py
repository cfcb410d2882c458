"""Which register an output stems from that holds what some threads had never set.

What no thread has set is a NaN with a mark of its register (`machine.values.unset`). Arithmetic hands a NaN
on with its mark, so that a float in an output tells of which register it is. Of whole numbers nothing is
said: any of them may have been computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.emulator.machine.values import mark_of, marks_in
from grader.ptx import Address
from grader.ptx.nodes import TYPE_BYTES, registers_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from grader.ptx import Function, Instruction

_ONLY_READ = frozenset({"bar", "barrier", "brx", "call"})
"""Instructions whose first operand may be a register and is no result."""


def setters_of_marked(
    functions: Collection[Function], outputs: Iterable[NDArray[Any]]
) -> tuple[tuple[Instruction, ...], ...]:
    """For each mark in outputs the instructions that set its register; none where several may be meant.

    Of a register that nothing sets, or a number that only looks like a mark, nothing is said.
    """
    marks = {(output.dtype.itemsize, mark): None for output in outputs for mark in marks_in(output)}
    registers = [tuple(_setters_by_register(functions, size, mark)) for size, mark in marks]
    return tuple(setters[0] if len(setters) == 1 else () for setters in registers if setters)


def _setters_by_register(
    functions: Collection[Function], size: int, mark: int
) -> Iterator[tuple[Instruction, ...]]:
    """The instructions that set a register of so many bytes with a mark, for each such register."""
    for function in functions:
        for number, (name, kind) in enumerate(function.registers):
            if TYPE_BYTES[kind] == size and mark_of(number) == mark and (of := _setters(function, name)):
                yield of


def _setters(function: Function, register: str) -> tuple[Instruction, ...]:
    writing = (i for i in function.body if i.operands and i.opcode not in _ONLY_READ)
    return tuple(
        i
        for i in writing
        if not isinstance(i.operands[0], Address) and register in registers_in(i.operands[0])
    )
