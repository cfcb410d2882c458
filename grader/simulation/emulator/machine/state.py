"""The parts of the state of a `Machine`: linked code, frames, groups of lanes, waiting lanes.

The records kept of a launch while it runs have a bound, for memory and for the time that judging them takes
(`Allowance`). `ValueMemo` keeps facts about immutable arrays (extent, unfolded form, 64-bit form), keyed by
``id()``; it holds a reference to each array, so that an id is never one of another.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from grader.base.records import frozen, mutable
from grader.model import Clause
from grader.simulation.emulator.machine.values import FOLDED, Lanes, Shape, Value, unfold

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.geometry import Geometry
    from grader.simulation.emulator.memory.memory import GlobalMemory, Resolved
    from grader.simulation.ptx import Function


_NOTHING = np.uint8(0)

REMEMBERED = 16
"""Values of which each kind of fact is kept: enough for a loop, few enough for the cache."""


Gone: TypeAlias = "tuple[NDArray[np.intp], NDArray[np.intp]]"
"""Lanes that have exited, and those among them that no `return` ended."""


class Going(Enum):
    """Progress of a group."""

    ENDLESS = auto()
    """It never leaves its loop."""
    WAITS = auto()
    """It leaves its loop only if another thread changes memory."""
    ADVANCES = auto()
    """It comes closer to its end, or this is unknown."""


@frozen(eq=False)
class ChunkRecord:
    """Record of a chunk whose machine is gone: the thread of each lane, and the layout of memory.

    ``shared_stride`` is the bytes from the shared memory of one block to that of the next.
    """

    geometry: Geometry
    memory: GlobalMemory
    shared_stride: int

    def shared_start(self, lane: int) -> int:
        """Offset of the shared memory of a lane's block; ``lane`` may be counted over the launch."""
        return lane % self.geometry.size // self.geometry.threads * self.shared_stride


@mutable
class Code:
    """A linked function.

    ``block_end[pc]`` is where the straight run from ``pc`` ends: at the next control instruction.
    ``flops[pc]`` counts the operations of one lane before ``pc``.
    """

    function: Function
    steps: list[Any]
    block_end: list[int]
    flops: list[int]
    register_count: int
    local_bytes: int
    local_offsets: dict[str, int]
    loops: dict[int, Going] = field(default_factory=dict)
    """For the beginning of each loop that was looked at its progress; see `progress.is_endless`."""
    hoisted: frozenset[int] = frozenset()
    """Instructions that are executed once, when the frame begins, instead of each time."""
    _runs: dict[tuple[int, int], list[Any]] = field(default_factory=dict)

    def run(self, pc: int, stop: int) -> list[Any]:
        """The steps from one instruction up to another, without those that were hoisted."""
        run = self._runs.get((pc, stop))
        if run is None:
            run = [self.steps[at] for at in range(pc, stop) if at not in self.hoisted]
            self._runs[pc, stop] = run
        return run


@mutable
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
    returned: NDArray[np.bool_] | None = None
    """In a kernel's own frame the lanes that a `return` ended, and not the end of its text."""

    @property
    def entry(self) -> Frame:
        """The kernel's own frame."""
        return self if self.caller is None else self.caller.entry


@mutable
class Group:
    """Lanes that are at the same instruction of the same frame.

    ``turn`` counts how often it was put back for looping while others waited, ``jumps`` how often it
    jumped backwards since. ``changes_at_jump`` is the number of changes of memory when it was put back
    just behind a jump backwards, and -1 once it has gone on.
    """

    frame: Frame
    pc: int
    lanes: Lanes
    turn: int = 0
    jumps: int = 0
    changes_at_jump: int = -1

    @property
    def first_lane(self) -> int:
        """The lowest of its lanes."""
        return 0 if self.lanes is None else int(self.lanes[0])


@frozen
class Waiting:
    """A group that arrived at a barrier: which one, and for how many threads (0: the whole block).

    ``goes_on``: it is only counted (`bar.arrive`), and let go whether or not the barrier is complete.
    """

    group: Group
    site: int
    number: Value
    expected: Value
    goes_on: bool = False


@frozen(eq=False)
class WarpOperation:
    """A `.sync` instruction: operations of one ``kind`` complete together.

    ``offer`` is the operand that other lanes may read, ``absent`` the value that stands for it where a lane
    does not take part. ``orders``: it orders the memory accesses of its lanes.
    """

    site: int
    kind: str
    mask: Callable[..., Value]
    act: Callable[..., None] | None = None
    offer: Callable[..., Value] | None = None
    absent: Any = _NOTHING
    orders: bool = False


@frozen(eq=False)
class Parked:
    """Lanes that have arrived at an operation, with the masks that they give and the values they offer."""

    operation: WarpOperation
    frame: Frame
    pc: int
    lanes: NDArray[np.intp]
    named: NDArray[np.uint32]
    offered: NDArray[Any]
    turn: int

    def part(self, chosen: NDArray[np.bool_]) -> Parked:
        """Some of the lanes."""
        return Parked(
            self.operation,
            self.frame,
            self.pc,
            self.lanes[chosen],
            self.named[chosen],
            self.offered[chosen],
            self.turn,
        )

    def group(self) -> Group:
        """The lanes behind the operation."""
        return Group(self.frame, self.pc + 1, self.lanes, self.turn)


class AsyncCopy(NamedTuple):
    """One instruction's copies: an element of each array, a row of ``words``, for each lane.

    ``byte`` is the offset in shared memory of the lane's bytes; ``began`` the moment at which observers
    learnt of it. ``phase`` is a row (byte of a barrier in shared memory, number of its phase) for each lane
    whose copy is complete when that phase is; such copies have no words left.
    """

    lanes: NDArray[np.intp]
    group: NDArray[np.int64]
    byte: NDArray[np.int64]
    words: NDArray[np.uint32]
    began: int
    phase: NDArray[np.int64] | None = None

    def part(self, mask: NDArray[np.bool_]) -> AsyncCopy:
        """The copies of some of the lanes."""
        phase = None if self.phase is None else self.phase[mask]
        return AsyncCopy(
            self.lanes[mask], self.group[mask], self.byte[mask], self.words[mask], self.began, phase
        )


@mutable
class PendingCopies:
    """The copies of a chunk of blocks that have not landed, in the order in which they began."""

    under_way: list[AsyncCopy] = field(default_factory=list)
    committed: NDArray[np.int64] | None = None
    """Number of groups that each lane has committed."""
    held: int = 0
    """Upper bound of the copies under way, over all lanes."""

    def keep(self, left: list[AsyncCopy]) -> None:
        """Replace the copies that are under way by the remaining ones."""
        self.under_way = left
        self.held = sum(len(copy.lanes) for copy in left)


class TooMuchHeldError(Exception):
    """A launch is given up because too much of it would have to be kept; ``reason`` says why."""

    def __init__(self, reason: Clause) -> None:
        """A clause."""
        super().__init__(reason)
        self.reason = reason


@mutable
class Allowance:
    """Limit of the work that judging the accesses of a launch may take, beside running it."""

    left: int = 1_000_000
    time_is_up: Callable[[], bool] = lambda: False
    """Returns true if no caller waits for the launch any more."""

    def spend(self, work: int) -> None:
        """Take ``work`` of it; raises TooMuchHeldError where nothing is left, or no time."""
        if self.time_is_up():
            raise TooMuchHeldError(Clause("no-time-to-order"))
        self.left -= work
        if self.left < 0:
            raise TooMuchHeldError(Clause("too-many-to-order"))


class ValueExtent(NamedTuple):
    """The lowest and the highest of the addresses in a value, and the bits that any of them has."""

    low: int
    high: int
    bits: int


class Request(NamedTuple):
    """Counts of an instruction's request."""

    pattern: Value | None
    bytes: Value
    lanes: Lanes
    size: int
    total: int


@mutable(kw_only=True)
class ValueMemo:
    """Facts about values over a chunk of blocks of a ``shape``."""

    shape: Shape = (0, 0, 0)
    targets: dict[tuple[int, int], Resolved] = field(default_factory=dict)
    """By instruction and offset: its last target in shared memory."""
    requests: dict[tuple[int, int], Request] = field(default_factory=dict)
    """By instruction and grain: the request that was counted last."""
    patterns: dict[tuple[int, int], Request] = field(default_factory=dict)
    """By its pattern and grain: one that was counted, whichever instruction's."""
    _extents: dict[int, tuple[Value, ValueExtent]] = field(default_factory=dict)
    _widened: dict[int, tuple[Value, Value]] = field(default_factory=dict)
    _unfolded: dict[int, tuple[Value, Value]] = field(default_factory=dict)

    def unfold(self, value: Value) -> Value:
        """A value with one element per lane, or a scalar."""
        if value.ndim != FOLDED:
            return value
        return _recall(self._unfolded, value, lambda folded: unfold(folded, self.shape))

    def keep_pattern(self, request: Request, grain: int) -> None:
        """Remember a request for others of its pattern; the oldest is forgotten."""
        if request.pattern is not None:
            if len(self.patterns) >= REMEMBERED:
                self.patterns.pop(next(iter(self.patterns)))
            self.patterns[id(request.pattern), grain] = request

    def extent(self, address: Value) -> ValueExtent:
        """Extent of the addresses in a value (folded or not)."""
        if address.ndim == 0:
            only = int(address)
            return ValueExtent(only, only, only)
        return _recall(self._extents, address, _extent)

    def widened(self, address: Value) -> Value:
        """A signed 32-bit address as a 64-bit one; the same object for the same address."""
        if address.ndim == 0:
            return address.astype(np.int64)
        return _recall(self._widened, address, _widen)

    def pick(self, value: Value, lanes: Lanes) -> Value:
        """The elements of some lanes; for all of them a scalar or folded value stays as it is."""
        return value if lanes is None or value.ndim == 0 else self.unfold(value)[lanes]


Fact = TypeVar("Fact")


def _recall(memo: dict[int, tuple[Value, Fact]], value: Value, find: Callable[[Value], Fact]) -> Fact:
    """A fact about a value, computed if it is not known; the oldest is forgotten."""
    fact = memo.get(id(value))
    if fact is None:
        if len(memo) >= REMEMBERED:
            memo.pop(next(iter(memo)))
        fact = memo[id(value)] = (value, find(value))
    return fact[1]


def _extent(address: Value) -> ValueExtent:
    flat = address.reshape(-1)  # of one dimension, and without the methods, it takes half as long
    low, high = np.minimum.reduce(flat), np.maximum.reduce(flat)
    return ValueExtent(int(low), int(high), int(np.bitwise_or.reduce(flat)))


def _widen(address: Value) -> Value:
    return address.astype(np.int64)
