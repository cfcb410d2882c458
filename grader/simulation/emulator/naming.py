"""Names that a student recognises: source lines, arrays, elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import frozen

if TYPE_CHECKING:
    from grader.simulation.emulator.linking.program import Program
    from grader.simulation.emulator.memory.memory import Allocation
    from grader.simulation.ptx import Instruction, Location

LOCAL_VARIABLE = "a local variable"
"""Name that stands for the element where a thread accesses a variable of its own."""


@frozen
class SharedArray:
    """A shared variable: its bytes in the block's shared memory."""

    name: str
    start: int
    size: int
    shape: tuple[int, ...] = ()

    def itemsize(self, accessed: int) -> int:
        """Bytes of an element: by its shape where that is known, else the size of the access."""
        elements = int(np.prod(self.shape)) if self.shape else 0
        return max(1, self.size // elements) if elements else accessed


@frozen
class Names:
    """Names of a program's addresses and instructions."""

    program: Program
    shared: tuple[SharedArray, ...]
    source: str
    """The path, as the PTX has it, of the student's file; findings elsewhere name no line."""

    def line(self, instruction: Instruction) -> int | None:
        """The line in the student's file; of the call, where a function from elsewhere was inlined."""
        files = dict(self.program.module.files)
        location: Location | None = instruction.location
        while location is not None:
            if self._is_source(files.get(location.file, "")) and location.line:
                return location.line
            location = location.inlined_at
        return None

    def is_own(self, instruction: Instruction) -> bool:
        """True if an instruction was written in the student's file, and not in a header that it uses."""
        location = instruction.location
        return location is None or self._is_source(dict(self.program.module.files).get(location.file, ""))

    def _is_source(self, path: str) -> bool:
        return not self.source or path.rsplit("/", 1)[-1] == self.source

    def shared_element(self, offset: int, size: int) -> str:
        """``A_tile[3][5]`` for a byte offset into a block's shared memory."""
        array = self.shared_array(offset)
        if array is None:
            return f"shared memory at byte {offset}"
        return array.name + subscript((offset - array.start) // array.itemsize(size), array.shape)

    def shared_array(self, offset: int) -> SharedArray | None:
        """The array that holds a byte of a block's shared memory."""
        holding = (array for array in self.shared if array.start <= offset < array.start + array.size)
        return next(holding, None)


def subscript(index: int, shape: tuple[int, ...], *, outside: bool = False) -> str:
    """``[3][5]``: a flat index in C order, by the extents of the array; ``[53]`` where they are unknown.

    An index ``outside`` the array leaves by its first extent: ``[4][0]`` comes after ``[3][7]``.
    """
    elements = int(np.prod(shape))
    if len(shape) < 2 or not elements or not (outside or 0 <= index < elements):  # noqa: PLR2004 - dimensions
        return f"[{index}]"
    indices = []
    for extent in reversed(shape[1:]):
        index, last = divmod(index, extent)
        indices.append(last)
    return "".join(f"[{position}]" for position in (index, *reversed(indices)))


def global_element(allocation: Allocation, offset: int, size: int = 1) -> str:
    """``A[3][5]`` for a byte offset into an array; an index outside it stays flat."""
    index = (offset - allocation.start) // element_bytes(allocation, size)
    return allocation.name + subscript(index, allocation.shape)


def element_bytes(allocation: Allocation, accessed: int) -> int:
    """Bytes of an element; the size of the access for an array that is no argument: nothing says more."""
    return allocation.itemsize if allocation.direction in _ARGUMENTS else max(allocation.itemsize, accessed)


_ARGUMENTS = ("in", "out", "inout")
