"""The state of a chunk of blocks that run side by side: lanes, frames, groups of lanes, memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.emulator.machine.copies import PendingCopies
from grader.emulator.machine.geometry import WARP, Geometry, special_registers
from grader.emulator.machine.memo import Recollection
from grader.emulator.machine.values import FOLDED, Lanes, Value, merge
from grader.emulator.memory.memory import Region

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.counters.observers import Observer
    from grader.emulator.linking.program import Code
    from grader.emulator.machine.warp_sync import Parked
    from grader.emulator.memory.memory import GlobalMemory
    from grader.emulator.reporter import Reporter
    from grader.emulator.static.bounds import Bounds
    from grader.ptx import Instruction


def _references(registers: list[Value | None], register: int) -> int:
    """How many times Python knows the array in a register, counted from here."""
    value = registers[register]
    return getrefcount(value)


_ALONE = _references([np.zeros(1)], 0)
"""The references to an array that only a register holds: nobody would see it change."""


FEW_LANES = 4096
"""As many lanes more make a step take about as long again."""


@dataclass(eq=False, slots=True)
class Frame:
    """One activation of a function, shared by all lanes that were called from one place together.

    ``registers`` are indexed by the numbers that linking gave them. ``parameters`` maps a ``.param``
    variable to its pieces: byte offset → value. ``local`` is where the frame's local memory begins.
    """

    code: Code
    registers: list[Value | None]
    parameters: dict[str, dict[int, Value]]
    local: int
    depth: int = 0
    caller: Frame | None = None
    return_pc: int = 0
    results: tuple[tuple[str, str], ...] = ()
    """Pairs of the callee's name and the caller's name of each result."""


@dataclass(eq=False, slots=True)
class Group:
    """Lanes that are at the same instruction of the same frame.

    ``turn`` counts how often it was put back for looping while others waited, ``jumps`` how often it
    jumped backwards since. ``seen`` is how many changes there had been when it was put back just behind a
    jump backwards, and -1 where it has moved on since.
    """

    frame: Frame
    pc: int
    lanes: Lanes
    turn: int = 0
    jumps: int = 0
    seen: int = -1


@dataclass(frozen=True, slots=True)
class Waiting:
    """A group that arrived at a barrier: which one, and for how many threads (0: the whole block).

    ``goes_on``: it is only counted (`bar.arrive`), and let go whether or not the barrier is complete.
    """

    group: Group
    site: int
    number: Value
    expected: Value
    goes_on: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class Machine(Recollection):
    """What an instruction sees and changes.

    ``active`` are the lanes that execute; ``computing`` those that arithmetic need be right for: None
    (all) as soon as every lane that has not exited is active, for what exited lanes hold does not matter.
    """

    geometry: Geometry
    memory: GlobalMemory
    shared_bytes: int
    local_bytes: int
    observer: Observer
    reporter: Reporter
    bounds: Bounds
    """Of each site the bytes of the variable that its address stems from; None where that is not known."""
    special: dict[str, Value] = field(default_factory=dict)
    priority: NDArray[np.int64] | None = None
    """Of each lane: who has more runs first, and of lanes that update one location in one instruction the
    highest comes first. None: whoever is furthest behind runs first, and the lowest lane."""
    apart: bool = False
    """Whether lanes of different priority never run side by side."""
    size: int = 0
    frame: Frame = field(init=False)
    registers: list[Value | None] = field(default_factory=list)
    active: Lanes = None
    computing: Lanes = None
    steps: int = 0
    work: int = 0
    """Steps, of which those over many lanes count more than once."""
    executed: set[tuple[str, int]] = field(default_factory=set)
    """Instructions that lanes came to, as `Run.executed` has them."""
    changes: int = 0
    """How often threads have changed what others may wait for."""
    waiting: list[Waiting] = field(default_factory=list)
    counted: list[Waiting] = field(default_factory=list)
    """Groups that went on after they had been counted at a barrier that is not complete yet."""
    parked: list[Parked] = field(default_factory=list)
    """Lanes that wait for others of their warp."""
    copies: PendingCopies = field(default_factory=PendingCopies)
    stopped: bool = False
    carry: Value = np.False_
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

    def __post_init__(self) -> None:
        """Lay out lanes and their memory."""
        shape, size = self.geometry, self.geometry.size
        self.size, self.shape = size, shape.shape
        lane = np.arange(size)
        self.alive = np.ones(size, np.bool_)
        self.alive_count = size
        self.voted = np.zeros(size, np.bool_)
        self.block_of = lane // shape.threads
        self.warp_of = self.block_of * shape.warps_per_block + lane % shape.threads // WARP
        stride = -(-self.shared_bytes // 16) * 16
        track = self.observer.tracks_initialisation
        self.shared = Region(stride * shape.blocks, track=track)
        self.shared_start = self.block_of * stride
        steps = np.arange(shape.blocks) * stride
        self.shared_step = steps.reshape(-1, 1, 1) if shape.blocks > 1 else np.int64(0)
        self.local = Region(self.local_bytes * size, track=track)
        self.local_start = lane * self.local_bytes
        self.special = special_registers(shape)

    @property
    def count(self) -> int:
        """How many lanes execute."""
        return self.size if self.active is None else len(self.active)

    @property
    def warps(self) -> int:
        """How many warps the chunk has."""
        return self.geometry.blocks * self.geometry.warps_per_block

    def charge(self, steps: int, lanes: int) -> None:
        """Count the work of so many steps over so many lanes."""
        self.work += steps * (FEW_LANES + lanes) // FEW_LANES

    def parked_lanes(self) -> NDArray[np.intp]:
        """The lanes that wait for others of their warp."""
        return np.concatenate([np.zeros(0, np.intp), *(parked.lanes for parked in self.parked)])

    def count_of(self, group: Group) -> int:
        """How many lanes a group has."""
        return self.size if group.lanes is None else len(group.lanes)

    def lanes(self) -> NDArray[np.intp]:
        """The executing lanes as indices."""
        return np.arange(self.size) if self.active is None else self.active

    def enter(self, group: Group, *, everyone: bool) -> None:
        """Make a group's lanes the executing ones; ``everyone``: no other lane is still running."""
        self.frame = group.frame
        self.registers = group.frame.registers
        self.active = group.lanes
        self.computing = None if everyone else group.lanes

    def write(self, register: int, value: Value) -> None:
        """Set a register from a value computed over ``computing``."""
        if self.computing is None:
            self.registers[register] = value
        else:
            self._merge(register, value, self.computing)

    def write_active(self, register: int, value: Value) -> None:
        """Set a register from a value computed over ``active`` (loads and what needs exact lanes)."""
        if self.active is None:
            self.registers[register] = value
        else:
            self._merge(register, value, self.active)

    def _merge(self, register: int, value: Value, lanes: NDArray[np.intp]) -> None:
        if _references(self.registers, register) == _ALONE:
            old = self.registers[register]
            if old.ndim == 1 and old.base is None and old.dtype == value.dtype:  # type: ignore[union-attr]
                old[lanes] = value  # type: ignore[index]
                return
        old = self.registers[register]
        if old is not None:
            old = self.unfold(old)
        self.registers[register] = merge(old, value, lanes, self.size)

    def split(self, group: Group, condition: Value) -> tuple[Group | None, Group | None]:
        """The lanes of a group for which a condition (folded or not) holds, and where it does not."""
        if condition.ndim == 0:
            return (group, None) if condition else (None, group)
        if condition.ndim == FOLDED:
            yes = int(np.count_nonzero(condition))
            if yes in (0, condition.size):
                return (group, None) if yes else (None, group)
            condition = self.unfold(condition)
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
        self.observer.arrived(self.count)
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
                    pieces[offset] = merge(pieces.get(offset), part, group.lanes, self.size)
        group.frame, group.pc = caller, frame.return_pc

    def write_parameter(self, pieces: dict[int, Value], offset: int, value: Value) -> None:
        """Set a piece of a ``.param`` variable for the lanes in ``computing``."""
        if self.computing is None:
            pieces[offset] = value
        else:
            pieces[offset] = merge(pieces.get(offset), value, self.computing, self.size)

    def carry_in(self) -> Value:
        """CC.CF of the computing lanes."""
        return self.carry if self.computing is None or self.carry.ndim == 0 else self.carry[self.computing]

    def carry_out(self, value: Value) -> None:
        """Set CC.CF."""
        self.carry = value if self.computing is None else merge(self.carry, value, self.computing, self.size)

    def ticks(self) -> int:
        """A clock: vector steps so far, from when the device was switched on."""
        return self.memory.space.uptime + self.steps

    def unset(self, dtype: np.dtype[Any], instruction: Instruction) -> Value:
        """The value of a register that nothing wrote: the source used a variable it never set."""
        self.reporter.unset_register(self, instruction)
        return np.zeros(1, f"u{dtype.itemsize}").view(dtype)[0] if dtype != np.bool_ else np.False_
