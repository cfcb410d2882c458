"""Operands of library calls in device memory: their addresses, the cost of a call, and its result.

What all calls together may take is bounded: they run in this process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grader.running.device.errors import CudaError, HostCode, HostMistake
from grader.running.device.memory import BASE
from grader.running.device.streams import Use, Work, WorkKind, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from grader.running.device.copies import Reply
    from grader.running.device.device import Device

MOST_WORK, _TOUCHED = 1 << 33, 8
"""Multiplications that all calls of a program may take together (eight products of 1024 × 1024), and how many
of them an element is worth that is read or written."""

_NOT_COMPUTED: Reply = (CudaError.ILLEGAL_ADDRESS, b"")
_NO_STREAM: Reply = (CudaError.INVALID_RESOURCE_HANDLE, b"")
NO_MORE: Reply = (CudaError.LAUNCH_TIMEOUT, b"")


class LibraryCall(NamedTuple):
    """A call of a library, by its name there, for a stream; ``caller`` is where the program made it."""

    library: str
    name: str
    stream: int
    caller: int


class Operand(NamedTuple):
    """A matrix in device memory: columns of ``height`` numbers, ``leading`` numbers from one to the next.

    A number has ``width`` bytes.
    """

    name: str
    address: int
    height: int
    columns: int
    leading: int
    width: int
    use: Use

    @property
    def extents(self) -> tuple[int, int, int]:
        """Bytes from column to column, bytes of a column, and number of columns."""
        return self.leading * self.width, self.height * self.width, self.columns


def located(
    device: Device, call: LibraryCall, operands: Sequence[Operand]
) -> list[NDArray[np.uint8]] | Reply:
    """The bytes of each operand, column by column; what the call gives where some are not there."""
    if not is_allowed(device, call):
        return NO_MORE
    if not device.has_stream(call.stream):
        return _NO_STREAM
    contents: list[NDArray[np.uint8]] = []
    for operand in operands:
        content = device.memory.rows(operand.address, *operand.extents)
        if content is None or operand.address % operand.width:
            device.note(_mistake(device, call, operand))
            return _NOT_COMPUTED
        contents.append(content)
    return contents


def _mistake(device: Device, call: LibraryCall, operand: Operand) -> HostMistake:
    """Mistake that describes why an operand cannot be read or written there."""
    live = device.memory.holding(operand.address)
    named = (("library", call.library), ("operand", operand.name))
    if live is None:
        return HostMistake(HostCode.LIBRARY_WITHOUT_ARRAY, call.caller, details=named)
    if operand.address % operand.width:
        details = (*named, ("bytes", operand.width))
        return HostMistake(HostCode.LIBRARY_MISALIGNED, call.caller, live.number, details)
    pitch, size, columns = operand.extents
    sizes = (("bytes", pitch * (columns - 1) + size), ("has", live.address + live.size - operand.address))
    return HostMistake(HostCode.LIBRARY_BEYOND_ARRAY, call.caller, live.number, (*named, *sizes))


def is_allowed(device: Device, call: LibraryCall) -> bool:
    """True if the device has libraries; a call where it has none is noted, and is our limit."""
    if not device.has_libraries:
        note_limit(device, call, f"{call.library} in a function")
    return device.has_libraries


def is_affordable(device: Device, call: LibraryCall, multiplications: int, elements: int) -> bool:
    """True if a call may still be computed; one that may not is noted, and is our limit."""
    device.library_work += multiplications + _TOUCHED * elements
    if device.library_work <= MOST_WORK:
        return True
    note_limit(device, call, f"more than {MOST_WORK:,} multiplications by {call.library}")
    return False


def note_limit(device: Device, call: LibraryCall, words: str) -> None:
    """Note what a call would need that is not here: our limit, and no mistake of the program."""
    device.note(HostMistake(HostCode.UNSUPPORTED, call.caller, details=(("name", words),)))


def finish(device: Device, call: LibraryCall, operands: Sequence[Operand], multiplications: int) -> None:
    """Let time pass, and take down what was used; what was written holds values now."""
    uses, moved = [], 0
    for operand in operands:
        extents = operand.extents
        if operand.use is Use.WRITES:
            device.memory.rows_written(operand.address, *extents)[:] = 1
        uses.append((operand.use, rows(operand.address - BASE, *extents)))
        moved += extents[1] * extents[2]
    device.clock.launch(moved, multiplications)
    name = f"{call.library} ({call.name})"
    device.give(call.stream, Work(WorkKind.LIBRARY, call.caller, tuple(uses), name))
