"""One multiprocessor, simulated: when its warps issue their instructions, and what keeps them from it.

A warp issues in order. An instruction waits for the cycles that the one before it asks for, for the
scoreboards that it names, for a slot of its partition (one instruction per cycle), and for its pipe. Loads
and stores go through one unit of the whole multiprocessor, which takes a pass for each set of words that lie
in different banks; what L1 does not hold comes from L2 or DRAM, whose bandwidth is this multiprocessor's
share of the device's.

This is the structure that NVIDIA describes for Volta and later (four partitions, each with its scheduler and
pipes; whitepaper of the V100) and that Accel-Sim simulates (Khairy et al., ISCA 2020), at the grain of whole
instructions instead of cycles. It is in C++ (`native/multiprocessor.cpp`): a check simulates some 200,000
instructions, which took Python more time than all the rest.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import frozen, mutable
from grader.model import PIPES
from grader.running.estimate.memory_system import rows_of_requests
from grader.running.estimate.native_simulation import (
    CAUSES,
    KINDS,
    OPERATION,
    TRACE,
    UNITS,
    WAITED,
    SimulationInput,
    device_numbers,
    simulation_library,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from grader.running.estimate.devices import GpuModel
    from grader.running.estimate.memory_system import WarpRequest

PARTITIONS = 4

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


class Multiprocessor:
    """Simulates blocks that are resident together."""

    def __init__(
        self, device: GpuModel, operations: Sequence[PipeOperation], l1_bytes: int, active: int
    ) -> None:
        """``active`` multiprocessors share what the device's L2 and DRAM move."""
        self.numbers = device_numbers(device, l1_bytes, active)
        self.lines = {line: number for number, line in enumerate({o.line: None for o in operations})}
        self.operations = np.array([_row(operation, self.lines) for operation in operations], OPERATION)

    def run(
        self, blocks: JoinedBlocks, slots: int, apart: float = 0.0, first: int | None = None
    ) -> SimulatedTime:
        """Run the warps of blocks to their end, ``slots`` at a time, which begin ``apart`` cycles apart.

        Of the blocks only the ``first`` are run where that is given. Raises NoLibraryError without the native
        library, and ValueError for traces that do not fit together.
        """
        handed = _HandedBlocks(self, blocks, len(blocks.warps) if first is None else first)
        handed.input.slots, handed.input.apart = slots, apart
        status = simulation_library().speed_simulate(handed.input)
        if status:
            raise MemoryError if status == _NO_MEMORY else ValueError("traces that fit no simulation")
        return handed.outcome()


_NO_MEMORY = 2


def _row(operation: PipeOperation, lines: dict[int, int]) -> tuple[float, ...]:
    waits = sum(1 << board for board in set(operation.waits))
    return (
        *(operation.busy, operation.stall, operation.latency, operation.pipe),
        *(KINDS.index(operation.kind), operation.sets, operation.reads, waits, lines[operation.line]),
    )


class JoinedBlocks:
    """The traces of blocks' warps one after the other, as the library takes them.

    Blocks that do the same elsewhere share what they do. Most requests are one of a few, so that each of
    these is there once.
    """

    def __init__(self, blocks: Sequence[Sequence[WarpTrace]]) -> None:
        """Join the traces of each block's warps."""
        self.warps = [len(block) for block in blocks]
        self.marks = [len(trace.marks) for block in blocks for trace in block]
        self._operations: list[int] = []
        self._marked: list[int] = []
        self._requests: list[int] = []
        """The requests by their identity."""
        self._distinct: dict[int, WarpRequest] = {}
        rows, marked, shared = [], 0, dict[tuple[int, ...], tuple[int, ...]]()
        for trace in (trace for block in blocks for trace in block):
            parts = (id(trace.operations), id(trace.requests), id(trace.marks))
            spans = shared.get(parts)
            if spans is None:
                spans = shared[parts] = self._added(trace)
            rows.append((*spans, trace.shift, marked))
            marked += len(trace.marks)
        numbers = {key: number for number, key in enumerate(self._distinct)}
        requests = rows_of_requests(self._distinct.values())
        self.arrays: dict[str, NDArray[Any]] = {
            "executed": np.array(self._operations, np.uint32),
            **requests._asdict(),
            "requested": np.array([numbers[key] for key in self._requests], np.uint32),
            "marks": np.array(self._marked, np.uint64),
            "traces": np.array(rows, TRACE),
        }
        self.counts = {
            "executed_count": len(self._operations),
            "request_count": len(requests.requests),
            "requested_count": len(self._requests),
            "line_count": len(requests.lines),
            "word_count": len(requests.words),
            "mark_count": len(self._marked),
            "trace_count": len(rows),
        }

    def _added(self, trace: WarpTrace) -> tuple[int, ...]:
        """Beginnings of the parts of a trace among those of all, and their lengths."""
        keys = [*map(id, trace.requests)]
        self._distinct.update(zip(keys, trace.requests, strict=True))
        spans: list[int] = []
        for joined, part in (
            (self._operations, trace.operations),
            (self._requests, keys),
            (self._marked, trace.marks),
        ):
            spans += (len(joined), len(part))
            joined.extend(part)
        return tuple(spans)


class _HandedBlocks:
    """Input of the library for one simulation; the arrays live as long as it runs."""

    def __init__(self, of: Multiprocessor, blocks: JoinedBlocks, count: int) -> None:
        self.lines, self.marks = list(of.lines), blocks.marks[: sum(blocks.warps[:count])]
        self.times, self.reached = np.zeros(sum(self.marks)), np.zeros(len(self.marks), np.uint64)
        self.ends = np.zeros(count)
        self.waited = np.zeros(len(CAUSES) * max(1, len(self.lines)), WAITED)
        self._arrays = blocks.arrays | {
            "operations": of.operations,
            "warps": np.array(blocks.warps[:count], np.uint64),
            "waited": self.waited,
            "times": self.times,
            "reached": self.reached,
            "ends": self.ends,
        }
        self.input = SimulationInput(
            device=of.numbers,
            **{name: array.ctypes.data for name, array in self._arrays.items()},
            **blocks.counts,
            operation_count=len(of.operations),
            block_count=count,
            source_line_count=len(self.lines),
            pipe_count=len(PIPES),
        )

    def outcome(self) -> SimulatedTime:
        """Time that the launch takes, and the causes for which its warps waited."""
        busy = dict(zip(UNITS, self.input.busy, strict=True))
        busy |= {pipe: used / PARTITIONS for pipe, used in zip(PIPES, self.input.used, strict=False)}
        busy["issue"] = self.input.issued / PARTITIONS
        waits = WaitCycles()
        for cycles, cause, line in self.waited[: self.input.waits].tolist():
            waits.cycles[CAUSES[cause], self.lines[line]] = cycles
        ends = self.ends.tolist()
        return SimulatedTime(max(ends), self.input.issued, busy, waits, self._marks(), ends)

    def _marks(self) -> list[list[float]]:
        """The times of the marks to which each warp came."""
        times, marks, begin = self.times.tolist(), [], 0
        for count, reached in zip(self.marks, self.reached.tolist(), strict=True):
            marks.append(times[begin : begin + reached])
            begin += count
        return marks
