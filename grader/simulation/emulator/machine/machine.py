"""The state of a chunk of blocks that run side by side: lanes, frames, groups of lanes, memory."""

from __future__ import annotations

import sys
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from grader.base.records import mutable
from grader.simulation.emulator.machine.geometry import WARP, Geometry, special_registers
from grader.simulation.emulator.machine.state import ChunkRecord, Group, PendingCopies, ValueMemo, Waiting
from grader.simulation.emulator.machine.values import FALSE, FOLDED, Lanes, Shape, Value, merge, scalar, unset
from grader.simulation.emulator.memory.memory import Region

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from grader.model import Detail, FindingCode, Named
    from grader.simulation.emulator.machine.state import Frame, Gone, Parked
    from grader.simulation.emulator.memory.layout import Bounds
    from grader.simulation.emulator.memory.memory import GlobalMemory, StrayAccess, Target
    from grader.simulation.emulator.naming import Names
    from grader.simulation.ptx import Instruction


def _references(registers: list[Value | None], register: int) -> int:
    """Number of references that Python holds to the array in a register, counted from here."""
    value = registers[register]
    return sys.getrefcount(value)


_ALONE = _references([np.zeros(1)], 0)
"""The references to an array that only a register holds: no other code would see it change."""

UPDATES_IN_PLACE = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()
"""True if counts of references can be relied on. Where not, every write by some lanes makes a copy, which
takes up to a sixth longer in kernels whose threads diverge (`python -m tests.bench.divergence`)."""


FEW_LANES = 4096
"""Number of additional lanes that lengthen a step by the time of a small one."""


Parties: TypeAlias = "tuple[NDArray[np.intp], NDArray[np.intp]]"
"""Lanes, and the barrier of each: block * 16 + number."""


class Observer:
    """Base of observers of running instructions; each overrides the events that it needs."""

    __slots__ = ()
    tracks_initialisation: bool = False

    def executed(self, instructions: int, flops: int) -> None:
        """Lanes executed ``instructions`` lane-instructions, with ``flops`` floating-point operations."""

    def count_flops(self, flops: int) -> None:
        """Predicated instructions executed ``flops`` more floating-point operations."""

    def began(self, m: Machine) -> None:
        """A chunk of blocks is about to run."""

    def arrived(self, m: Machine, site: int, lanes: int) -> None:
        """``lanes`` lanes arrived at a barrier."""

    def branched(
        self, m: Machine, branch: Instruction, group: Group, yes: Group | None, no: Group | None
    ) -> None:
        """A group came to a branch, which ``yes`` of it takes and ``no`` does not."""

    def computed(self, m: Machine, instruction: Instruction, line: int, value: Value) -> None:
        """An instruction that was linked to be followed gave its result, over all lanes."""

    def out_of_bounds(
        self, m: Machine, site: int, access: StrayAccess, address: Value, bad: NDArray[np.bool_]
    ) -> None:
        """Some (``bad``) of the active lanes accessed bytes that belong to no array that was meant."""

    def loaded(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Lanes are about to read ``size`` bytes each."""

    def stored(self, m: Machine, site: int, target: Target, value: Value) -> None:
        """Lanes are about to write ``value``."""

    def atomic(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Lanes are about to read and write ``size`` bytes each as one."""

    def copied(
        self, _m: Machine, _source: Target | None, _destination: Target, _size: int, _read: int
    ) -> int:
        """Lanes issue asynchronous copies of ``_size`` bytes, of which ``_read`` come from the source.

        The sites are those of the targets; no source: zeros. Gives the moment, see `copies_landed`.
        """
        return 0

    def copies_landed(self, m: Machine, lanes: NDArray[np.intp], began: int) -> None:
        """The waits of lanes completed copies that they issued at a moment."""

    def warp_synchronised(self, m: Machine, party: Value) -> None:
        """The active lanes passed a `__syncwarp`, each with the lanes of a mask over its warp."""

    def fenced(self, m: Machine, *, wide: bool) -> None:
        """The active lanes passed a `__threadfence`, or (not wide) a `__threadfence_block`."""

    def announced(self, m: Machine, parties: Parties) -> None:
        """Lanes arrived at a barrier without waiting for it (`bar.arrive`)."""

    def passed_barrier(self, m: Machine, parties: Parties) -> None:
        """A named barrier of some warps of a block is complete, and these lanes go on."""

    def at_phase(
        self,
        m: Machine,
        kind: int,
        lanes: NDArray[np.intp],
        byte: NDArray[np.int64],
        phase: NDArray[np.uint64],
    ) -> None:
        """Lanes arrive in a phase of a barrier in shared memory, or find it complete: `Events.at_phase`."""

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        """The barrier of these blocks (None: all) is complete."""


class PrintedText(Protocol):
    """The text that a kernel has printed until now."""

    def add(self, text: str) -> None:
        """A thread printed something."""

    @property
    def full(self) -> bool:
        """True if nothing more is kept."""


class FaultReporter(Protocol):
    """Receiver of faults of threads (`grader.simulation.emulator.reporter.Reporter`)."""

    @property
    def names(self) -> Names:
        """Source lines and names of arrays."""

    @property
    def printed(self) -> PrintedText:
        """The text that the kernel has printed."""

    def out_of_bounds(
        self,
        m: Machine,
        site: int,
        space: str,
        verb: str,
        address: Value,
        bad: NDArray[np.bool_],
        size: int,
    ) -> None:
        """Lanes accessed memory that belongs to no array, or to another than the one that was meant."""

    def misaligned(
        self,
        m: Machine,
        site: int,
        space: str,
        verb: str,
        address: Value,
        bad: NDArray[np.bool_],
        size: int,
    ) -> None:
        """Lanes accessed an address that is no multiple of the access size."""

    def uninitialised(
        self, m: Machine, site: int, target: Target, missing: NDArray[np.bool_], size: int
    ) -> None:
        """Lanes read bytes that no thread wrote."""

    def undefined_uses(
        self, site: int, target: Target, missing: NDArray[np.bool_], size: int
    ) -> NDArray[np.bool_]:
        """Of the lanes that read bytes which no thread wrote, the lanes that use such a byte."""

    def read_of(self, m: Machine, site: int, target: Target, which: int, size: int) -> tuple[int, str]:
        """The line of a read, and the object that it reads."""

    def unset_register(self, m: Machine, instruction: Instruction) -> None:
        """Lanes read a register that nothing wrote."""

    def threads_missing(self, m: Machine, site: int, lane: int, gone: Gone, blocks: int) -> None:
        """A barrier was reached by some threads of a block after others had exited."""

    def lanes_missing(self, m: Machine, site: int, missing: NDArray[np.intp]) -> None:
        """The mask of a warp-wide operation names lanes that never reach it."""

    def lanes_unnamed(self, m: Machine, site: int, lanes: NDArray[np.intp]) -> None:
        """Lanes execute a warp-wide operation with a mask that does not name them."""

    def warp_incomplete(self, m: Machine, site: int) -> None:
        """An operation of a whole warp was reached by part of one."""

    def deadlocked(self, m: Machine) -> None:
        """Threads wait at barriers that can never complete."""

    def trapped(self, m: Machine, site: int, assertion: str = "") -> None:
        """The kernel executed `trap`, or an ``assertion`` did not hold."""

    def fault(
        self,
        m: Machine,
        site: int,
        code: FindingCode,
        details: Named[Detail] = (),
        lane: int | None = None,
    ) -> None:
        """A thread did something that no device allows: the thread of ``lane``, or the first active one."""

    def stack_overflow(self, m: Machine, call: Instruction) -> None:
        """Calls went too deep."""


@mutable(kw_only=True)
class Machine:
    """State that an instruction reads and changes.

    ``active`` are the lanes that execute; ``compute_mask`` those that arithmetic need be right for: None
    (all) as soon as every lane that has not exited is active, for the values of exited lanes do not matter.
    """

    geometry: Geometry
    memory: GlobalMemory
    shared_bytes: int
    reserved_bytes: int = 0
    local_bytes: int
    observer: Observer
    reporter: FaultReporter
    bounds: Bounds
    """For each site the bytes of the variable that its address stems from; None where that is unknown."""
    memo: ValueMemo = field(init=False)
    special: Mapping[str, Value] = field(default_factory=dict)
    priority: NDArray[np.int64] | None = None
    """Priority of each lane: the highest runs first, and of lanes that update one location in one instruction
    the highest comes first. None: the lane furthest behind runs first, and the lowest lane updates first."""
    apart: bool = False
    """True if lanes of different priority never run side by side."""
    size: int = 0
    shape: Shape = (0, 0, 0)
    frame: Frame = field(init=False)
    registers: list[Value | None] = field(default_factory=list)
    active: Lanes = None
    compute_mask: Lanes = None
    steps: int = 0
    work: int = 0
    """Steps, of which those over many lanes count more than once."""
    executed: set[tuple[str, int]] = field(default_factory=set)
    """Instructions that lanes reached, as `Run.executed` has them."""
    changes: int = 0
    """Number of changes by threads that others may wait for: to memory, at barriers, by their end."""
    gatherings: int = 0
    """Those of `changes` that only let threads go on that had waited for each other."""
    compares_stores: bool = False
    """True if a store of the value that is already there is no change; otherwise each store counts as one."""
    waiting: list[Waiting] = field(default_factory=list)
    counted: list[Waiting] = field(default_factory=list)
    """Groups that went on after they had been counted at a barrier that is not complete yet."""
    parked: list[Parked] = field(default_factory=list)
    """Lanes that wait for others of their warp."""
    copies: PendingCopies = field(default_factory=PendingCopies)
    stopped: bool = False
    carry: Value = FALSE
    voted: NDArray[np.bool_] = field(init=False)
    """Lanes that `bar.red` holds until the votes of their block can be counted."""
    alive: NDArray[np.bool_] = field(init=False)
    alive_count: int = 0
    block_of: NDArray[np.intp] = field(init=False)
    warp_of: NDArray[np.intp] = field(init=False)
    shared: Region = field(init=False)
    local: Region = field(init=False)
    shared_start: NDArray[np.int64] = field(init=False)
    local_start: NDArray[np.int64] = field(init=False)
    shared_step: Value = field(init=False)
    """``shared_start`` folded: a number per block."""
    shared_stride: int = 0
    """Bytes from the shared memory of one block to that of the next; last come the reserved ones."""
    reserved_start: int = 0

    def __post_init__(self) -> None:
        """Lay out lanes and their memory."""
        shape, size = self.geometry, self.geometry.size
        self.size, self.shape = size, shape.shape
        self.memo = ValueMemo(shape=shape.shape)
        lane = np.arange(size)
        self.alive, self.alive_count = np.ones(size, np.bool_), size
        self.voted = np.zeros(size, np.bool_)
        self.block_of = lane // shape.threads
        self.warp_of = self.block_of * shape.warps_per_block + lane % shape.threads // WARP
        self.reserved_start = -(-self.shared_bytes // 16) * 16
        self.shared_stride = stride = self.reserved_start + self.reserved_bytes
        track = self.observer.tracks_initialisation
        self.shared = Region.blank(stride * shape.blocks, track=track)
        steps = np.arange(shape.blocks) * stride
        reserved = steps[:, None] + np.arange(self.reserved_start, stride)
        self.shared.write(reserved.reshape(-1), np.zeros(reserved.size, np.uint8))
        self.shared_step = steps.reshape(-1, 1, 1) if shape.blocks > 1 else scalar(np.int64(0))
        self.local = Region.blank(self.local_bytes * size, track=track)
        self.shared_start, self.local_start = self.block_of * stride, lane * self.local_bytes
        self.special = special_registers(shape)

    def record(self) -> ChunkRecord:
        """Record that names lanes and elements of this chunk afterwards."""
        return ChunkRecord(self.geometry, self.memory, self.shared_stride)

    @property
    def count(self) -> int:
        """Number of lanes that execute."""
        return self.size if self.active is None else len(self.active)

    @property
    def warps(self) -> int:
        """Number of warps of the chunk."""
        return self.geometry.blocks * self.geometry.warps_per_block

    def charge(self, steps: int, lanes: int) -> None:
        """Count the work of ``steps`` steps over ``lanes`` lanes."""
        self.work += steps * (FEW_LANES + lanes) // FEW_LANES

    def parked_lanes(self) -> NDArray[np.intp]:
        """The lanes that wait for others of their warp."""
        return np.concatenate([np.zeros(0, np.intp), *(parked.lanes for parked in self.parked)])

    def count_of(self, group: Group) -> int:
        """Number of lanes of a group."""
        return self.size if group.lanes is None else len(group.lanes)

    def lanes(self) -> NDArray[np.intp]:
        """The executing lanes as indices."""
        return np.arange(self.size) if self.active is None else self.active

    def enter(self, group: Group, *, everyone: bool) -> None:
        """Make a group's lanes the executing ones; ``everyone``: no other lane is still running."""
        self.frame = group.frame
        self.registers = group.frame.registers
        self.active = group.lanes
        self.compute_mask = None if everyone else group.lanes

    def write(self, register: int, value: Value) -> None:
        """Set a register from a value computed over ``compute_mask``."""
        if self.compute_mask is None:
            self.registers[register] = value
        else:
            self._merge(register, value, self.compute_mask)

    def write_active(self, register: int, value: Value) -> None:
        """Set a register from a value computed over ``active`` (loads and others that need exact lanes)."""
        if self.active is None:
            self.registers[register] = value
        else:
            self._merge(register, value, self.active)

    def _merge(self, register: int, value: Value, lanes: NDArray[np.intp]) -> None:
        if UPDATES_IN_PLACE and _references(self.registers, register) == _ALONE:
            old = self.registers[register]
            if old.ndim == 1 and old.base is None and old.dtype == value.dtype:  # type: ignore[union-attr]
                old[lanes] = value  # type: ignore[index]
                return
        old = self.registers[register]
        old = unset(value.dtype, register) if old is None else self.memo.unfold(old)
        self.registers[register] = merge(old, value, lanes, self.size)

    def split(self, group: Group, condition: Value) -> tuple[Group | None, Group | None]:
        """The lanes of a group for which a condition (folded or not) holds, and where it does not."""
        if condition.ndim == 0:
            return (group, None) if condition else (None, group)
        if condition.ndim == FOLDED:
            yes = int(np.count_nonzero(condition))
            if yes in (0, condition.size):
                return (group, None) if yes else (None, group)
            condition = self.memo.unfold(condition)
        taken = np.flatnonzero(condition)
        if len(taken) == len(condition):
            return group, None
        if not taken.size:
            return None, group
        others = np.flatnonzero(~condition)
        lanes = group.lanes
        if lanes is not None:
            taken, others = lanes[taken], lanes[others]
        return (
            Group(group.frame, group.pc, taken, group.turn),
            Group(group.frame, group.pc, others, group.turn),
        )

    @property
    def changes_of_state(self) -> int:
        """Number of changes but for `gatherings`: to memory, and ends of threads."""
        return self.changes - self.gatherings

    def gather(self) -> None:
        """Threads that waited for each other go on."""
        self.changes += 1
        self.gatherings += 1

    def exit(self, group: Group) -> None:
        """The lanes of a group end."""
        self.changes += 1
        self.alive[slice(None) if group.lanes is None else group.lanes] = False
        self.alive_count = int(self.alive.sum())

    def stop(self) -> None:
        """All lanes end, of all blocks: the launch failed."""
        self.alive[:] = False
        self.alive_count = 0
        self.stopped = True

    def wait(self, group: Group, site: int, number: Value, expected: Value, *, goes_on: bool = False) -> None:
        """A group arrived at a barrier."""
        self.observer.arrived(self, site, self.count)
        self.waiting.append(Waiting(group, site, number, expected, goes_on))

    def hand_back(self, frame: Frame, group: Group) -> None:
        """Return from a function: its results become the caller's parameters."""
        caller = frame.caller
        if caller is None:
            return
        for formal, actual in frame.results:
            pieces = caller.parameters.setdefault(actual, {})
            for offset, value in frame.parameters.get(formal, {}).items():
                if group.lanes is None:
                    pieces[offset] = value
                else:
                    part = value if value.ndim == 0 else value[group.lanes]
                    before = pieces.get(offset, unset(part.dtype))
                    pieces[offset] = merge(before, part, group.lanes, self.size)
        group.frame, group.pc = caller, frame.return_pc

    def write_parameter(self, pieces: dict[int, Value], offset: int, value: Value) -> None:
        """Set a piece of a ``.param`` variable for the lanes in ``compute_mask``."""
        if self.compute_mask is None:
            pieces[offset] = value
        else:
            before = pieces.get(offset, unset(value.dtype))
            pieces[offset] = merge(before, value, self.compute_mask, self.size)

    def carry_in(self) -> Value:
        """CC.CF of the lanes in ``compute_mask``."""
        return (
            self.carry if self.compute_mask is None or self.carry.ndim == 0 else self.carry[self.compute_mask]
        )

    def carry_out(self, value: Value) -> None:
        """Set CC.CF."""
        self.carry = (
            value if self.compute_mask is None else merge(self.carry, value, self.compute_mask, self.size)
        )

    def ticks(self) -> int:
        """A clock: vector steps so far, from when the device was switched on."""
        return self.memory.space.uptime + self.steps

    def unset(self, dtype: np.dtype[Any], instruction: Instruction, register: int = 0) -> Value:
        """The value of a register that nothing wrote: the source used a variable it never set."""
        self.reporter.unset_register(self, instruction)
        return unset(dtype, register)
