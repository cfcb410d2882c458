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
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from grader.ptx import Function, Instruction

_ONLY_READ = frozenset({"bar", "barrier", "brx", "call"})
"""Instructions whose first operand may be a register and is no result."""


def setters_of_marked(
    functions: Iterable[Function], outputs: Iterable[NDArray[Any]]
) -> tuple[tuple[Instruction, ...], ...]:
    """Of each register whose mark an output holds the instructions that set it, unless there are none."""
    marks = {(output.dtype.itemsize, mark) for output in outputs for mark in marks_in(output)}
    if not marks:
        return ()
    setters = (
        _setters(function, name)
        for function in functions
        for number, (name, kind) in enumerate(function.registers)
        if (TYPE_BYTES[kind], mark_of(number)) in marks
    )
    return tuple(filter(None, setters))


def _setters(function: Function, register: str) -> tuple[Instruction, ...]:
    writing = (i for i in function.body if i.operands and i.opcode not in _ONLY_READ)
    return tuple(
        i
        for i in writing
        if not isinstance(i.operands[0], Address) and register in registers_in(i.operands[0])
    )
