"""One execution of linked code in the native library, on the arrays of a machine."""

from __future__ import annotations

import ctypes
from ctypes import c_ulonglong, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.sass.machine import (
    LOCAL_WINDOW,
    SHARED_WINDOW,
    WINDOW_BYTES,
    MemoryAccess,
    StrayError,
)
from grader.simulation.sass.native_code import ACCESS, SPACES, Bank, MachineInput, RunStatus, library

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.simulation.sass.linking import LinkedCode
    from grader.simulation.sass.machine import Mask, SassMachine

_BANK_BYTES = 1 << 16


class _LibraryMachine:
    """Memory that the library holds of a machine; freed with the last array that shows a part of it."""

    def __init__(self, arrays: _Arrays) -> None:
        self._library, self._arrays = library(), arrays
        self.handle: int | None = self._library.sass_begin(arrays.input)
        if not self.handle:
            raise MemoryError

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self._library.sass_end(self.handle)

    def shown(self, address: int | None, count: int, kind: np.dtype[Any]) -> NDArray[Any]:
        """Numbers that the library holds, without a copy: addresses of accesses may be many."""
        if not count or address is None:
            return np.zeros(0, kind)
        buffer = (ctypes.c_char * (count * kind.itemsize)).from_address(address)
        buffer.machine = self  # type: ignore[attr-defined] # the array has the buffer, and that has the machine
        return np.frombuffer(memoryview(buffer), kind)


class NativeRun:
    """The lanes of a machine, for which the library executes straight runs of instructions."""

    def __init__(self, program: LinkedCode, m: SassMachine) -> None:
        """Hand the arrays of the machine over; raises NoLibraryError without the library."""
        self._program, self._m, self._library = program, m, library()
        self._machine = _LibraryMachine(_Arrays(program, m))
        self._everybody = np.ones(m.lanes, np.bool_)

    def straight(self, first: int, last: int, lanes: Mask) -> None:
        """Execute instructions for some lanes; raises as `grader.simulation.sass.interpreter.run`."""
        reached = c_ulonglong()
        chosen = np.ascontiguousarray(self._everybody if lanes is None else lanes)
        status = self._library.sass_straight(self._machine.handle, first, last, chosen.ctypes.data, reached)
        if status == RunStatus.UNKNOWN:
            raise self._program.problem(reached.value)
        if status == RunStatus.STRAY:
            raise StrayError("an access outside its arrays")
        if status != RunStatus.DONE:
            raise MemoryError

    def recorded(self) -> int:
        """Number of accesses that were recorded so far."""
        return self._recorded()[0][0]

    def _recorded(self) -> tuple[list[int], list[int | None]]:
        counts, parts = (c_ulonglong * 3)(), (c_void_p * 3)()
        self._library.sass_recorded(self._machine.handle, counts, parts)
        return list(counts), list(parts)

    def accesses(self) -> list[MemoryAccess]:
        """The accesses that were recorded, in their order; those with the same addresses share one array."""
        counts, parts = self._recorded()
        rows = self._machine.shown(parts[0], counts[0], ACCESS)
        addresses = self._machine.shown(parts[1], counts[1], np.dtype(np.int64))
        words = self._machine.shown(parts[2], counts[2], np.dtype(np.uint32))
        bits = np.unpackbits(words.view(np.uint8), bitorder="little").astype(np.bool_)
        masks = [None, *bits.reshape(-1, self._m.lanes)]
        arrays: dict[int, NDArray[np.int64]] = {}
        accesses = []
        for op, space, size, mask, first, count in rows.tolist():
            if first not in arrays:
                arrays[first] = addresses[first : first + count]
            accesses.append(MemoryAccess(op, SPACES[space], arrays[first], masks[mask], size))
        return accesses


class _Arrays:
    """A machine as the library takes it, with the arrays that live as long."""

    def __init__(self, program: LinkedCode, m: SassMachine) -> None:
        kept, count = m.trace.kept, len(program.code)
        self._ops = np.frombuffer(b"".join(operation.packed() for operation in program.operations), np.uint8)
        self._kept = np.array([kept is None or at in kept for at in range(count)], np.bool_)
        self._contents = [
            np.frombuffer(program.banks[number].ljust(_BANK_BYTES, b"\0"), np.uint8)
            for number in sorted(program.banks)
        ]
        self._banks = (Bank * max(1, len(self._contents)))(
            *(Bank(content.ctypes.data, len(content)) for content in self._contents)
        )
        self._blocks = np.array(m.shape.blocks, np.uint64)
        self.input = MachineInput(
            ops=self._ops.ctypes.data,
            op_count=count,
            kept=self._kept.ctypes.data,
            banks=ctypes.addressof(self._banks),
            bank_count=len(self._contents),
            registers=m.registers.ctypes.data,
            predicates=m.predicates.ctypes.data,
            convergence=m.convergence.ctypes.data,
            votes=m.votes.ctypes.data,
            global_bytes=m.memory.ctypes.data,
            shared_bytes=m.shared.ctypes.data,
            local_bytes=m.local.ctypes.data,
            global_size=len(m.memory),
            global_base=m.base,
            shared_window=SHARED_WINDOW,
            local_window=LOCAL_WINDOW,
            window_size=WINDOW_BYTES,
            shared_size=m.shared_bytes,
            local_size=m.local_bytes,
            blocks=self._blocks.ctypes.data,
            block_count=len(m.shape.blocks),
            block=m.shape.block,
            grid=m.shape.grid,
        )
