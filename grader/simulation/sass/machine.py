"""The state of blocks that run side by side as machine code: registers of all lanes, memory, a trace.

A register is a row of 32-bit words over the lanes. Uniform registers are kept in the same way, a word for
each lane of the warp. Lanes that are at one instruction run together, the smallest first, so that diverged
paths reconverge (Collange, "Stack-less SIMT reconvergence at low cost", 2011). Warps are whole: a block whose
threads are no multiple of 32 has lanes that never run. The library executes straight runs of instructions on
these arrays (`native/`); what is done between them is Python.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from grader.base.errors import GraderError
from grader.base.records import frozen, mutable
from grader.simulation.sass.native_code import BARRIERS, MORE_REGISTERS, PREDICATES, REGISTERS, Sign

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.simulation.sass.native_code import SourceOperand, Truth

    Mask: TypeAlias = "NDArray[np.bool_] | None"

WARP = 32

SHARED_WINDOW, LOCAL_WINDOW, WINDOW_BYTES = 0x7A << 40, 0x7B << 40, 1 << 32
"""Base of generic addresses of shared and local memory: the lower word is the offset."""


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

    def end_run(self, first: int, last: int, lanes: Mask, accesses: int) -> None:
        """Note a run, and how many accesses were made until its end."""
        self.runs.append((first, last, lanes))
        self.ends.append(accesses)


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
    registers: NDArray[np.uint32] = field(init=False)
    """A row of words over the lanes for each; the uniform ones begin at `UNIFORM`."""
    predicates: NDArray[np.bool_] = field(init=False)
    mask: Mask = None
    """The lanes for which the current instruction has an effect; None for all."""
    trace: ExecutionTrace = field(default_factory=ExecutionTrace)
    shared: NDArray[np.uint8] = field(init=False)
    """The shared memory of all blocks, one after the other."""
    local: NDArray[np.uint8] = field(init=False)
    """The local memory of all lanes, one after the other."""
    threads: Mask = field(init=False)
    """The lanes that have a thread; None where all have."""
    ended: Mask = None
    """The lanes that ended; None where none did."""
    convergence: NDArray[np.uint32] = field(init=False)
    """By the number of a convergence barrier the lanes that each lane meets there, as bits."""
    votes: NDArray[np.uint32] = field(init=False)
    """Result of the last barrier that reduces, for each lane."""

    def __post_init__(self) -> None:
        """Nothing has run."""
        shape, lanes = self.shape, self.shape.lanes
        self.shared_bytes, self.local_bytes = (
            -(-size // 16) * 16 for size in (self.shared_bytes, self.local_bytes)
        )
        self.shared = np.zeros(len(shape.blocks) * self.shared_bytes, np.uint8)
        self.local = np.zeros(lanes * self.local_bytes, np.uint8)
        has_thread = np.arange(shape.warps_per_block * WARP) < shape.threads
        self.threads = None if has_thread.all() else np.tile(has_thread, len(shape.blocks))
        self.registers = np.zeros((REGISTERS + MORE_REGISTERS, lanes), np.uint32)
        self.predicates = np.zeros((PREDICATES, lanes), np.bool_)
        self.convergence = np.zeros((BARRIERS, lanes), np.uint32)
        self.votes = np.zeros(lanes, np.uint32)

    @property
    def lanes(self) -> int:
        """Lanes of the machine."""
        return self.shape.lanes

    @property
    def active(self) -> NDArray[np.bool_]:
        """The lanes of the current instruction as an array."""
        return np.ones(self.lanes, np.bool_) if self.mask is None else self.mask


def words_of(m: SassMachine, source: SourceOperand) -> NDArray[np.uint32]:
    """The words of a source over the lanes."""
    if source.number < 0:
        return np.full(m.lanes, source.value, np.uint32)
    words: NDArray[np.uint32] = m.registers[source.number]
    if source.signs & Sign.NEGATED:
        return np.negative(words)
    if source.signs & Sign.INVERTED:
        return ~words
    return np.abs(words.view(np.int32)).view(np.uint32) if source.signs & Sign.ABSOLUTE else words


def truths_of(m: SassMachine, truth: Truth) -> NDArray[np.bool_]:
    """A predicate over the lanes as it is now, or its one value for all."""
    if truth.number < 0:
        return np.array([not truth.inverted])
    truths: NDArray[np.bool_] = m.predicates[truth.number]
    return ~truths if truth.inverted else truths.copy()


def whole_warps(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """All lanes of the warps of which any lane is in a mask."""
    return np.repeat(mask.reshape(-1, WARP).any(axis=1), WARP)
