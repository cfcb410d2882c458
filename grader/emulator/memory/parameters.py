"""The parameters of a kernel: as pieces that `ld.param` finds, and as bytes where an address is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.ptx import Symbol

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.machine.values import Value
    from grader.emulator.memory.memory import Allocation
    from grader.model import Argument
    from grader.ptx import Function, Variable


def pieces_of(
    formal: Variable, argument: Argument, places: dict[str, Allocation], base: int
) -> dict[int, Value]:
    """A parameter by byte offset (PTX ISA section 5.1.6.1); an array is where it was placed.

    ``base`` is where global memory begins.
    """
    if isinstance(argument.value, np.ndarray):
        return {0: np.uint64(base + places[argument.name].start)}
    value: Any = argument.value
    if value.dtype.kind != "V":
        return {0: _widened(value, formal.size)}
    content = np.frombuffer(value.tobytes(), np.uint8).copy()
    for array, at in argument.pointers:
        content[at : at + 8].view(np.uint64)[0] = base + places[array].start
    return dict(enumerate(content))


def bytes_of(pieces: dict[int, Value], size: int) -> NDArray[np.uint8]:
    """The pieces of a parameter as it lies in memory."""
    content = np.zeros(size, np.uint8)
    for offset, value in pieces.items():
        content[offset : offset + value.dtype.itemsize] = np.frombuffer(value.tobytes(), np.uint8)
    return content


def with_address(kernel: Function) -> tuple[Variable, ...]:
    """The parameters whose address a kernel takes, to index them or because of ``__grid_constant__``."""
    moved = {
        source.name
        for instruction in kernel.body
        for source in instruction.operands[1:]
        if instruction.opcode == "mov" and isinstance(source, Symbol)
    }
    return tuple(formal for formal in kernel.parameters if formal.name in moved)


def _widened(value: Value, size: int) -> Value:
    """A scalar at the width of its parameter: an int32 for a ``size_t`` keeps its number."""
    if value.dtype.itemsize == size:
        return value
    if value.dtype.kind == "f":
        return value.astype(f"f{size}")
    return value.astype(f"{value.dtype.kind}{size}")
