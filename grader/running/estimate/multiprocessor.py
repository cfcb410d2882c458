"""One multiprocessor, simulated: when its warps issue their instructions, and what keeps them from it.

A warp issues in order. An instruction waits for the cycles that the one before it asks for, for the
scoreboards that it names, for a slot of its partition (one instruction per cycle), and for its pipe. Loads
and stores go through one unit of the whole multiprocessor, which takes a pass for each set of words that lie
in different banks; what L1 does not hold comes from L2 or DRAM, whose bandwidth is this multiprocessor's
share of the device's.

This is the structure that NVIDIA describes for Volta and later (four partitions, each with its scheduler and
pipes; whitepaper of the V100) and that Accel-Sim simulates (Khairy et al., ISCA 2020), at the grain of whole
instructions instead of cycles.
"""

from __future__ import annotations

from dataclasses import field
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from grader.base.records import frozen, mutable
from grader.model import PIPES
from grader.running.estimate.memory_system import Asker, MemorySystem
from grader.simulation.sass.listing import NO_SCOREBOARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.running.estimate.devices import GpuModel
    from grader.running.estimate.memory_system import WarpRequest

PARTITIONS = 4
SCOREBOARDS = 6

ALONE = -1
"""The pipe of what only takes a slot."""


@frozen
class PipeOperation:
    """Instruction as the simulation knows it: its pipe and how long it is busy, and what it waits for.

    ``kind`` is "" for what needs no unit but its pipe, or ``shared``, ``local``, ``load``, ``store``,
    ``atomic``, ``shuffle``, ``barrier``, ``branch``, or ``variable`` for what sets a scoreboard after
    ``latency`` cycles.
    """

    pipe: int
    busy: float
    stall: float
    waits: tuple[int, ...]
    sets: int
    reads: int
    kind: str
    latency: float
    line: int


@frozen
class WarpTrace:
    """Trace of a warp: its operations in order, and the requests of those that access memory, in order.

    ``marks`` are places among the operations, in order, of which the simulation reports the cycle. ``shift``
    is added to lines, for a block that does the same elsewhere.
    """

    operations: Sequence[int]
    requests: Sequence[WarpRequest]
    marks: Sequence[int] = ()
    shift: int = 0


@mutable
class WaitCycles:
    """Cycles that warps waited, by what for and at which line."""

    cycles: dict[tuple[str, int], float] = field(default_factory=dict)

    def add(self, cause: str, line: int, cycles: float) -> None:
        """Count some more."""
        key = (cause, line)
        self.cycles[key] = self.cycles.get(key, 0.0) + cycles


@mutable
class SimulatedTime:
    """Outcome of a simulation: cycles until the last warp ended, and what was used and waited for.

    ``busy`` has the cycles that each unit was busy, ``marks`` the cycles in which each warp came to its
    marks, and ``ends`` those in which each block ended.
    """

    cycles: float
    issued: int
    busy: dict[str, float]
    waits: WaitCycles
    marks: list[list[float]]
    ends: list[float]


@mutable
class _Warp:
    trace: WarpTrace
    block: int
    number: int
    """Among the warps of its block."""
    partition: int
    at: int = 0
    request: int = 0
    boards: list[float] = field(default_factory=lambda: [0.0] * SCOREBOARDS)
    queued: list[float] = field(default_factory=lambda: [0.0] * SCOREBOARDS)
    causes: list[str] = field(default_factory=lambda: [""] * SCOREBOARDS)
    since: float = 0.0
    """Time when it came to the barrier at which it waits."""
    marks: list[float] = field(default_factory=list)

    def wait_for(self, board: int, done: float, queued: float, cause: str) -> None:
        """Let a scoreboard count one more that is done then; it is free when all that it counts are done."""
        if board != NO_SCOREBOARD and done > self.boards[board]:
            self.boards[board], self.queued[board], self.causes[board] = done, queued, cause


@mutable
class _Block:
    """Numbers of a block's warps, how many have not ended, and those that wait at a barrier."""

    warps: range
    alive: int
    waiting: list[int] = field(default_factory=list)
    end: float = 0.0


_BY_UNIT = frozenset(("shared", "local", "load", "store", "atomic", "shuffle"))


class Multiprocessor:
    """Simulates blocks that are resident together."""

    def __init__(
        self, device: GpuModel, operations: Sequence[PipeOperation], l1_bytes: int, active: int
    ) -> None:
        """``active`` multiprocessors share what the device's L2 and DRAM move."""
        self.device, self.operations = device, operations
        self.memory = MemorySystem(device, l1_bytes, active)
        self.slots = [0.0] * PARTITIONS
        self.pipes = [[0.0] * len(PIPES) for _ in range(PARTITIONS)]
        self.arrivals = 0.0
        self.used = [0.0] * len(PIPES)
        self.waits = WaitCycles()
        self._warps: list[_Warp] = []
        self._blocks: list[_Block] = []
        self._heap: list[tuple[float, int, int]] = []
        self._begun = 0

    def run(self, blocks: Sequence[Sequence[WarpTrace]], slots: int, apart: float = 0.0) -> SimulatedTime:
        """Run the warps of blocks to their end, ``slots`` at a time, which begin ``apart`` cycles apart."""
        self._warps, self._blocks = [], []
        for block, traces in enumerate(blocks):
            numbers = range(len(self._warps), len(self._warps) + len(traces))
            self._warps += [
                _Warp(trace, block, number - numbers.start, number % PARTITIONS)
                for number, trace in zip(numbers, traces, strict=True)
            ]
            self._blocks.append(_Block(numbers, len(traces)))
        self._begun, issued = 0, 0
        for number in range(min(slots, len(blocks))):
            self._begin_block(number * apart)
        while self._heap:
            time, at, number = heappop(self._heap)
            warp = self._warps[number]
            if at < len(warp.trace.operations):
                self._step(time, at, number, warp)
                issued += 1
            else:
                self._end(time, self._blocks[warp.block])
        busy = self.memory.busy | {PIPES[pipe]: cycles / PARTITIONS for pipe, cycles in enumerate(self.used)}
        busy["issue"] = issued / PARTITIONS
        ends = [block.end for block in self._blocks]
        return SimulatedTime(max(ends), issued, busy, self.waits, [warp.marks for warp in self._warps], ends)

    def _begin_block(self, time: float) -> None:
        """Let the warps of the next block begin, if there is one."""
        if self._begun == len(self._blocks):
            return
        for number in self._blocks[self._begun].warps:
            self._warps[number].boards = [time] * SCOREBOARDS
            heappush(self._heap, (time, 0, number))
        self._begun += 1

    def _end(self, time: float, block: _Block) -> None:
        """A warp of a block has come to its end; after the last of them another block begins."""
        block.alive -= 1
        if not block.alive:
            block.end = time
            self._begin_block(time + self.device.block_gap)
        elif len(block.waiting) >= block.alive:
            self._release(block, time)

    def _step(self, time: float, at: int, number: int, warp: _Warp) -> None:
        """A warp issues one instruction."""
        trace, marks = warp.trace.operations, warp.trace.marks
        operation = self.operations[trace[at]]
        if len(warp.marks) < len(marks) and at == marks[len(warp.marks)]:
            warp.marks.append(time)
        time = self._issue(time, warp, operation)
        warp.at = at + 1
        free = time + operation.stall
        if operation.kind == "barrier":
            self._arrive(time, number, warp)
            return
        if operation.stall > 1:
            self.waits.add("latency", operation.line, operation.stall - 1)
        if operation.kind == "branch":
            if at + 1 < len(trace) and trace[at + 1] != trace[at] + 1:
                free += self.device.branch
        elif operation.kind:
            self._start(time, warp, operation)
        heappush(self._heap, (self._ready(free, warp), at + 1, number))

    def _arrive(self, time: float, number: int, warp: _Warp) -> None:
        """A warp comes to a barrier."""
        block = self._blocks[warp.block]
        self.arrivals = max(self.arrivals, time) + self.device.barrier_arrival
        block.waiting.append(number)
        warp.since = time
        if len(block.waiting) >= block.alive:
            self._release(block, max(time, self.arrivals))

    def _issue(self, time: float, warp: _Warp, operation: PipeOperation) -> float:
        """Issue an instruction as soon as its slot, its pipe and its unit are free; gives when that is."""
        partition, began = warp.partition, time
        slot = self.slots[partition]
        if slot > time:
            self.waits.add("issue", operation.line, slot - time)
            time = slot
        self.slots[partition] = time + 1
        if operation.pipe != ALONE:
            pipes = self.pipes[partition]
            free = pipes[operation.pipe]
            if free > time:
                self.waits.add(PIPES[operation.pipe], operation.line, free - time)
                time = free
            pipes[operation.pipe] = time + operation.busy
            self.used[operation.pipe] += operation.busy
        elif operation.kind in _BY_UNIT and self.memory.unit - self.device.queue > began:
            room = self.memory.unit - self.device.queue
            if room > time:
                shared = operation.kind in ("shared", "shuffle", "local")
                self.waits.add("shared" if shared else "l1", operation.line, room - time)
                time = room
        return time

    def _ready(self, free: float, warp: _Warp) -> float:
        """Time when the scoreboards let a warp issue its next instruction, at ``free`` at the earliest."""
        trace = warp.trace.operations
        if warp.at >= len(trace):
            return free
        operation = self.operations[trace[warp.at]]
        ready, last = free, -1
        for board in operation.waits:
            if warp.boards[board] > ready:
                ready, last = warp.boards[board], board
        if last >= 0:
            self._blame(operation.line, warp.causes[last], ready - free, warp.queued[last])
        return ready

    def _blame(self, line: int, cause: str, cycles: float, queued: float) -> None:
        """Note what a warp waits for: first what stood in a queue, then what merely takes its time."""
        bandwidth, _, latency = cause.partition("/")
        waited = min(cycles, queued)
        if waited > 0:
            self.waits.add(bandwidth, line, waited)
        if cycles > waited:
            self.waits.add(latency, line, cycles - waited)

    def _release(self, block: _Block, time: float) -> None:
        """Release the warps of a block, all of which have arrived at a barrier."""
        device = self.device
        free = time + device.barrier_base + device.barrier_per_warp * len(block.waiting)
        waiting, block.waiting = block.waiting, []
        for number in waiting:
            warp = self._warps[number]
            line = self.operations[warp.trace.operations[warp.at - 1]].line
            self.waits.add("barrier", line, free - warp.since)
            heappush(self._heap, (self._ready(free, warp), warp.at, number))

    def _start(self, time: float, warp: _Warp, operation: PipeOperation) -> None:
        """Hand an instruction to its unit; its scoreboards signal when it is done."""
        if operation.kind == "variable":
            done, queue, cause = time + operation.latency, 0.0, "arithmetic/latency"
        elif operation.kind == "shuffle":
            done, queue, cause = self.memory.shuffle(time, operation.latency)
        else:
            request = warp.trace.requests[warp.request]
            asker = Asker(warp.block, warp.number, warp.request, warp.trace.shift)
            warp.request += 1
            done, queue, cause = self.memory.access(time, operation.kind, operation.latency, request, asker)
        warp.wait_for(operation.sets, done, queue, cause)
        warp.wait_for(operation.reads, max(time + 12, min(done, self.memory.unit)), 0.0, "l1/latency")
