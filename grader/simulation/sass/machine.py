"""The state of blocks that run side by side as machine code: registers of all lanes, memory, a trace.

A register is an array of 32-bit words over the lanes, or of one word where all lanes agree. Uniform registers
are kept in the same way, a word for each lane of the warp. Lanes that are at one instruction run together,
the smallest first, so that diverged paths reconverge (Collange, "Stack-less SIMT reconvergence at low cost",
2011). Warps are whole: a block whose threads are no multiple of 32 has lanes that never run.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.base.errors import GraderError
from grader.base.records import frozen, mutable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Words: TypeAlias = "NDArray[np.uint32]"
    Mask: TypeAlias = "NDArray[np.bool_] | None"

WARP = 32
REGISTERS = 256
UNIFORM = 256
"""Index of the first uniform register among the registers."""
UNIFORM_PREDICATES = 8

SHARED_WINDOW, LOCAL_WINDOW, WINDOW_BYTES = 0x7A << 40, 0x7B << 40, 1 << 32
"""Base of generic addresses of shared and local memory: the lower word is the offset."""

ZERO = np.zeros(1, np.uint32)
TRUE, FALSE = np.ones(1, np.bool_), np.zeros(1, np.bool_)

Step: TypeAlias = "Callable[[SassMachine], None]"


class StepLimitError(GraderError):
    """The blocks did not end within the steps that they may take."""


class StrayError(GraderError):
    """An access outside the arrays of the launch."""


@frozen
class Shape:
    """The blocks that run: their indices in the grid, and the block's extents."""

    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    blocks: tuple[int, ...]

    @property
    def threads(self) -> int:
        """Threads of a block."""
        x, y, z = self.block
        return x * y * z

    @property
    def warps_per_block(self) -> int:
        """Warps of a block; the last may lack threads."""
        return -(-self.threads // WARP)

    @property
    def lanes(self) -> int:
        """Lanes of all blocks, with those that have no thread."""
        return len(self.blocks) * self.warps_per_block * WARP


@frozen
class MemoryAccess:
    """One access of a memory instruction in a space: the bytes and the lanes (None: all with a thread).

    ``addresses`` are bytes over the lanes, or one for all; ``size`` is in bytes per lane.
    """

    instruction: int
    space: str
    addresses: NDArray[np.int64]
    mask: Mask
    size: int


@mutable
class ExecutionTrace:
    """Record of the execution: straight runs of instructions with their lanes, and their accesses.

    A run is (first, last + 1, lanes); the accesses of all runs stand in the order in which they were made,
    and ``ends`` has for each run their number at its end. Of an instruction there is one in each space to
    which any lane goes, so perhaps none. Where ``kept`` is given, only accesses of these instructions are
    kept.
    """

    runs: list[tuple[int, int, Mask]] = field(default_factory=list)
    accesses: list[MemoryAccess] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    kept: frozenset[int] | None = None

    def end_run(self, first: int, last: int, lanes: Mask) -> None:
        """Note a run whose accesses have been made."""
        self.runs.append((first, last, lanes))
        self.ends.append(len(self.accesses))


@mutable
class LaneGroup:
    """Lanes that are at one instruction."""

    pc: int
    lanes: Mask


@mutable
class SassMachine:
    """Lanes of some blocks, their registers and memory; `sass.interpreter` lets them run."""

    shape: Shape
    memory: NDArray[np.uint8]
    """Global memory."""
    base: int
    """The address of its first byte."""
    shared_bytes: int
    local_bytes: int
    registers: list[NDArray[np.uint32]] = field(default_factory=lambda: [ZERO] * (2 * REGISTERS))
    predicates: list[NDArray[np.bool_]] = field(default_factory=lambda: [FALSE] * (2 * UNIFORM_PREDICATES))
    mask: Mask = None
    """The lanes for which the current instruction has an effect; None for all."""
    trace: ExecutionTrace = field(default_factory=ExecutionTrace)
    shared: NDArray[np.uint8] = field(init=False)
    threads: Mask = field(init=False)
    """The lanes that have a thread; None where all have."""
    number: NDArray[np.int64] = field(init=False)
    """The lanes, counted from 0."""
    lane: NDArray[np.int64] = field(init=False)
    """The place of each lane in its warp."""
    shared_at: NDArray[np.int64] = field(init=False)
    """Offset in the shared memory of all blocks of the part of each lane's block."""
    local_at: NDArray[np.int64] = field(init=False)
    """Offset in the local memory of all lanes of the part of each lane."""
    ended: Mask = None
    """The lanes that ended; None where none did."""
    convergence: dict[int, NDArray[np.uint32]] = field(default_factory=dict)
    """By the number of a convergence barrier the lanes that each lane meets there, as bits."""
    votes: NDArray[np.uint32] = field(default_factory=lambda: ZERO)
    """Result of the last barrier that reduces, for each lane."""
    _local: NDArray[np.uint8] | None = None
    _special: dict[str, Words] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Nothing has run."""
        shape = self.shape
        self.shared_bytes, self.local_bytes = (
            -(-size // 16) * 16 for size in (self.shared_bytes, self.local_bytes)
        )
        self.shared = np.zeros(len(shape.blocks) * self.shared_bytes, np.uint8)
        padded = shape.warps_per_block * WARP
        has_thread = np.arange(padded) < shape.threads
        self.threads = None if has_thread.all() else np.tile(has_thread, len(shape.blocks))
        self.number = np.arange(shape.lanes)
        self.lane = self.number % WARP
        self.shared_at = self.number // padded * self.shared_bytes
        self.local_at = self.number * self.local_bytes

    @property
    def lanes(self) -> int:
        """Lanes of the machine."""
        return len(self.number)

    def over_lanes(self, value: NDArray[Any]) -> NDArray[Any]:
        """A value for each lane, also where one is that of all."""
        return value if value.size == self.lanes else np.broadcast_to(value, (self.lanes,))

    def local_memory(self) -> NDArray[np.uint8]:
        """The local memory of all lanes, one after the other."""
        if self._local is None:
            self._local = np.zeros(self.lanes * self.local_bytes, np.uint8)
        return self._local

    @property
    def active(self) -> NDArray[np.bool_]:
        """The lanes of the current instruction as an array."""
        return np.ones(self.lanes, np.bool_) if self.mask is None else self.mask

    def write(self, register: int, value: NDArray[Any]) -> None:
        """Give the active lanes a value; one of a register that does not exist (-1) is thrown away.

        A uniform register is one for the whole warp, whichever of its lanes are active.
        """
        if register < 0:
            return
        mask = self.mask
        if mask is None:
            self.registers[register] = value
            return
        if register >= UNIFORM:
            mask = whole_warps(mask)
        self.registers[register] = np.where(mask, value, self.registers[register])

    def decide(self, predicate: int, value: NDArray[np.bool_]) -> None:
        """Give the active lanes a truth value, as `write` does."""
        if predicate < 0:
            return
        mask = self.mask
        if mask is None:
            self.predicates[predicate] = value
            return
        if predicate >= UNIFORM_PREDICATES:
            mask = whole_warps(mask)
        self.predicates[predicate] = np.where(mask, value, self.predicates[predicate])

    def note(self, instruction: int, space: str, addresses: NDArray[np.int64], size: int) -> None:
        """Record the access of a memory instruction in the trace."""
        if self.trace.kept is None or instruction in self.trace.kept:
            self.trace.accesses.append(MemoryAccess(instruction, space, addresses, self.mask, size))

    def special(self, name: str) -> Words:
        """A special register over the lanes; raises KeyError for one that is not known."""
        if not self._special:
            self._special.update(_special_registers(self.shape))
        return self._special[name]


def whole_warps(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """All lanes of the warps of which any lane is in a mask."""
    return np.repeat(mask.reshape(-1, WARP).any(axis=1), WARP)


def _special_registers(shape: Shape) -> dict[str, Words]:
    padded = shape.warps_per_block * WARP
    linear = np.tile(np.arange(padded), len(shape.blocks))
    block = np.repeat(np.array(shape.blocks, np.int64), padded)
    x, y, _ = shape.block
    columns, rows, _ = shape.grid
    lane = linear % WARP
    values = {
        "SR_TID.X": linear % x,
        "SR_TID.Y": linear // x % y,
        "SR_TID.Z": linear // (x * y),
        "SR_CTAID.X": block % columns,
        "SR_CTAID.Y": block // columns % rows,
        "SR_CTAID.Z": block // (columns * rows),
        "SR_LANEID": lane,
        "SR_LTMASK": (1 << lane) - 1,
        "SR_EQMASK": 1 << lane,
        "SR_LEMASK": (2 << lane) - 1,
        "SR_GTMASK": ~((2 << lane) - 1) & 0xFFFFFFFF,
        "SR_GEMASK": ~((1 << lane) - 1) & 0xFFFFFFFF,
    }
    words = {name: _folded(value.astype(np.uint32)) for name, value in values.items()}
    extents = zip(("X", "Y", "Z"), shape.block, shape.grid, strict=True)
    for axis, threads, blocks in extents:
        words[f"SR_NTID.{axis}"] = np.array([threads], np.uint32)
        words[f"SR_NCTAID.{axis}"] = np.array([blocks], np.uint32)
    nothing = ("SRZ", "SR_CgaCtaId", "SR_CLOCKLO", "SR_CLOCKHI", "SR_VIRTUALSMID", "SR_SMEMSZ", "SR_VIRTID")
    words["SR_SWINHI"] = np.array([SHARED_WINDOW >> 32], np.uint32)
    return words | dict.fromkeys(nothing, ZERO)


def _folded(value: Words) -> Words:
    """One word where all lanes agree."""
    return value[:1].copy() if (value == value[0]).all() else value
