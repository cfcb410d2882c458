"""An observer that keeps the actions of one block, beside detecting hazards in all of them.

Events come instruction by instruction for the lanes that run together. They are sorted into steps, a line and
the number of times that the thread has reached it in the interval, so that threads that a branch kept apart
for a while stand side by side again.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import frozen, mutable
from grader.model.trace import TracedEvent, TracedInterval, TracedStep
from grader.simulation.emulator.machine.machine import Observer
from grader.simulation.emulator.machine.values import FOLDED, spread
from grader.simulation.emulator.memory.memory import parts_of
from grader.simulation.emulator.out_of_bounds import BadAccess, outside
from grader.simulation.emulator.trace.arrays import Arrays, as_type, name_of, numbers, values_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from grader.model import Dim3
    from grader.model.trace import Numbers
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.values import Lanes, Value
    from grader.simulation.emulator.memory.memory import StrayAccess, Target
    from grader.simulation.ptx import Instruction


@frozen
class Batch:
    """Actions of some threads at one instruction at once; see `TracedEvent`."""

    kind: str
    target: int
    position: int
    threads: NDArray[np.intp]
    elements: tuple[int, ...] = ()
    values: Numbers = ()
    words: tuple[str, ...] = ()


@mutable
class Interval:
    """An interval that is being recorded."""

    steps: dict[tuple[int, int], list[Batch]] = field(default_factory=dict)
    unset: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Reads of memory that no thread wrote: line, array, element, thread."""
    reported: list[tuple[object, ...]] = field(default_factory=list)
    """The keys of findings that came up meanwhile."""
    ends: str = ""
    barrier_lines: tuple[int, ...] = ()
    absent: tuple[int, ...] = ()
    """The threads that did not reach the barrier at its end."""
    shared: list[tuple[int, Numbers]] = field(default_factory=list)
    sums: list[tuple[int, Numbers]] = field(default_factory=list)
    _turn: dict[int, NDArray[np.int64]] = field(default_factory=dict)
    _last: dict[int, NDArray[np.int64]] = field(default_factory=dict)

    def turns(
        self, line: int, position: int, threads: NDArray[np.intp], block: int, *, again: bool
    ) -> NDArray[np.int64]:
        """Number of times each thread reached a line before; being further up than before it counts again."""
        last = self._last.setdefault(line, np.full(block, -1))
        turn = self._turn.setdefault(line, np.zeros(block, np.int64))
        if again:
            turn[threads] += position <= last[threads]
        last[threads] = position
        return turn[threads]


def part_of(batch: Batch, mask: NDArray[np.bool_]) -> Batch:
    """The part of a batch that some of its threads did."""

    def chosen(values: Sequence[Any]) -> tuple[Any, ...]:
        if len(values) != mask.size:
            return tuple(values)
        return tuple(value for value, is_chosen in zip(values, mask, strict=True) if is_chosen)

    return Batch(
        batch.kind,
        batch.target,
        batch.position,
        batch.threads[mask],
        chosen(batch.elements),
        chosen(batch.values),
        chosen(batch.words),
    )


def intervals_of(recorded: Sequence[Interval]) -> tuple[TracedInterval, ...]:
    """The intervals as records, with zero fill marked in arrays that are filled from global memory."""
    zeros = _Zeros(_filled_arrays(recorded))
    return tuple(
        TracedInterval(
            interval.ends,
            interval.barrier_lines,
            tuple(_step(key, batches, zeros, number) for key, batches in interval.steps.items()),
            tuple(interval.shared),
            tuple(interval.sums),
        )
        for number, interval in enumerate(recorded)
    )


@mutable
class _Zeros:
    """Threads that have lately loaded a zero, so that a zero that they store may be data."""

    filled: frozenset[tuple[int, int]]
    """Shared arrays, and the lines on which they are filled."""
    loaded: dict[int, int] = field(default_factory=dict)
    """By thread the last interval in which it loaded a zero from global memory."""

    def of(self, line: int, batches: Sequence[Batch], batch: Batch, interval: int) -> tuple[int, ...]:
        """The threads of a store that stored a zero which they had not loaded."""
        shared = {array for array, _ in self.filled}
        if batch.kind == "load" and batch.target not in shared:
            for thread, value in zip(batch.threads.tolist(), batch.values, strict=True):
                if value == 0:
                    self.loaded[thread] = interval
        if batch.kind != "store" or (batch.target, line) not in self.filled:
            return ()
        loads = [batch for batch in batches if batch.kind == "load" and batch.target not in shared]
        loading = {thread for batch in loads for thread in batch.threads.tolist()}
        return tuple(
            thread
            for thread, value in zip(batch.threads.tolist(), batch.values, strict=False)
            if value == 0 and thread not in loading and interval - self.loaded.get(thread, -2) > 1
        )


def _filled_arrays(recorded: Sequence[Interval]) -> frozenset[tuple[int, int]]:
    """The shared arrays and lines that store there while global memory is read: its values, or zero."""
    shared = {number for interval in recorded for number, _ in interval.shared}
    filled = set()
    for interval in recorded:
        batches = [(line, batch) for (line, _), all_ in interval.steps.items() for batch in all_]
        if any(batch.kind == "load" and batch.target not in shared for _, batch in batches):
            filled |= {
                (batch.target, line)
                for line, batch in batches
                if batch.kind == "store" and batch.target in shared
            }
    return frozenset(filled)


def _step(key: tuple[int, int], batches: Sequence[Batch], zeros: _Zeros, interval: int) -> TracedStep:
    """Merge the batches of several groups of lanes at one instruction into one event each."""
    merged: dict[tuple[int, str, int], list[Batch]] = {}
    for batch in batches:
        merged.setdefault((batch.position, batch.kind, batch.target), []).append(batch)
    events = []
    for parts in merged.values():
        zero = tuple(thread for part in parts for thread in zeros.of(key[0], batches, part, interval))
        events.append(_event(parts, zero))
    return TracedStep(*key, tuple(events))


def _event(parts: Sequence[Batch], zero: tuple[int, ...]) -> TracedEvent:
    return TracedEvent(
        parts[0].kind,
        parts[0].target,
        tuple(int(thread) for part in parts for thread in part.threads),
        tuple(element for part in parts for element in part.elements),
        tuple(value for part in parts for value in part.values),
        zero,
        tuple(word for part in parts for word in part.words),
    )


MOST_ACCESSES = 250_000
"""Accesses that are kept: a block of 256 threads over 60 phases of 16."""

MOST_INTERVALS = 400

MOST_ELEMENTS = 16
"""Elements of a local array that are shown."""


@mutable
class TraceRecorder(Observer):
    """Records the block ``block`` (a linear index) of ``threads`` threads."""

    block: int = 0
    threads: int = 0
    grid: Dim3 = (1, 1, 1)
    arrays: Arrays = field(default_factory=lambda: Arrays({}))
    source: Sequence[str] = ()
    intervals: list[Interval] = field(default_factory=list)
    now: Interval = field(default_factory=Interval)
    accumulators: list[tuple[int, int]] = field(default_factory=list)
    """Line, and offset in the frame (-1 for a register), of each accumulator."""
    sums: list[NDArray[Any]] = field(default_factory=list)
    machine: Machine | None = None
    low: int = 0
    taken: int = 0
    full: bool = False

    def began(self, m: Machine) -> None:
        """A chunk of blocks begins; the traced one may be among them."""
        if self.machine is not None:  # the chunk that the traced block was in is over
            self.close("exit")
        within = self.block - m.geometry.first_block
        self.machine = m if 0 <= within < m.geometry.blocks else None
        self.low = within * self.threads

    def loaded(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Keep the access, and the threads that read memory that no thread wrote."""
        self._read(m, site, target, size)
        self._access(m, "load", site, target, size)

    def stored(self, m: Machine, site: int, target: Target, value: Value) -> None:
        """Keep the access with its values."""
        self._access(m, "store", site, target, value.dtype.itemsize, value)

    def atomic(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Keep the access, and the threads that read memory that no thread wrote."""
        self._read(m, site, target, size)
        self._access(m, "atomic", site, target, size)

    def copied(self, m: Machine, source: Target | None, destination: Target, size: int, read: int) -> int:
        """Keep loads, and the copies as stores when they are issued, of values not known yet."""
        if source is not None:
            for part_of_source, bytes_ in parts_of(source, read):
                self.loaded(m, source.site, part_of_source, bytes_)
        for part_of_destination, bytes_ in parts_of(destination, size):
            self._access(m, "copy", destination.site, part_of_destination, bytes_)
        return 0

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        """A barrier is complete: close the interval if it is one of the traced block."""
        mine = m is self.machine and (blocks is None or blocks[self.low // self.threads])
        if mine:
            arrivals = [
                (waiting, self._mine(waiting.group.lanes)[1]) for waiting in m.waiting if not waiting.goes_on
            ]
            arrived = np.concatenate([np.zeros(0, np.intp), *(threads for _, threads in arrivals)])
            self.now.absent = tuple(np.setdiff1d(np.arange(self.threads), arrived).tolist())
            lines = {self._line(m, waiting.site) for waiting, threads in arrivals if threads.size}
            self.close("barrier", tuple(sorted(lines - {0})))

    def computed(self, m: Machine, instruction: Instruction, line: int, value: Value) -> None:
        """Keep the result of an instruction that gathers."""
        threads = self._mine(m.active)[1]
        if m is not self.machine or self.full or not threads.size:
            return
        flat = m.memo.unfold(value) if value.ndim == FOLDED else spread(value, m.size)
        values = flat[self.low + threads]
        self._sum(line, -1, instruction, threads, values)

    def out_of_bounds(
        self, m: Machine, site: int, access: StrayAccess, address: Value, bad: NDArray[np.bool_]
    ) -> None:
        """Keep the threads of the traced block that accessed bytes of no array, and their targets."""
        lanes = m.lanes()
        mine = np.flatnonzero(bad & (lanes >= self.low) & (lanes < self.low + self.threads))
        if m is not self.machine or not mine.size:
            return
        names, (space, verb, size) = m.reporter.names, access
        starts = np.broadcast_to(address, lanes.shape)[mine].tolist()
        accesses = [BadAccess(verb, space, start, size, m.memory.base) for start in starts]
        words = [outside(m, names, m.bounds[site], bad).element for bad in accesses]
        instruction = names.program.sites[site]
        numbers_of = {array.name: number for number, array in enumerate(self.arrays.touched)}
        target = numbers_of.get(words[0].partition("[")[0], -1)
        batch = Batch(
            "outside",
            target,
            instruction.ptx_line,
            lanes[mine] - self.low,
            words=tuple(f"{word} {verb}" for word in words),
        )
        self._keep(names.line(instruction) or 0, batch, again=False)

    def _read(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Note the threads that read memory that no thread wrote."""
        missing = target.uninitialised(size)
        if missing is not None:
            self._unset(m, site, target, missing, size)

    def _unset(self, m: Machine, site: int, target: Target, missing: NDArray[np.bool_], size: int) -> None:
        """Some lanes read memory that no thread wrote."""
        which, threads = self._mine(target.lanes)
        if m is not self.machine or self.full or not threads.size or target.space == "local":
            return
        is_missing = missing[which] if missing.size > 1 else np.broadcast_to(missing, threads.shape)
        index = spread(target.index, m.size if target.lanes is None else len(target.lanes))[which][is_missing]
        line = self._line(m, site)
        for array, part, start in self.arrays.holding(m, target, index, size, "", self._shared_base(m)):
            elements = (index[part] - start) // self.arrays.touched[array].itemsize
            pairs = zip(elements.tolist(), threads[is_missing][part].tolist(), strict=True)
            self.now.unset.extend((line, array, element, thread) for element, thread in pairs)

    def close(self, ends: str, lines: tuple[int, ...] = ()) -> None:
        """The interval is over: keep the content of shared memory and the accumulators."""
        m = self.machine
        if m is None or self.full:
            return
        self.now.ends, self.now.barrier_lines = ends, lines
        base = self._shared_base(m)
        for number, touched in enumerate(self.arrays.touched):
            if touched.space == "shared":
                self.now.shared.append((number, touched.read(m.shared, base + touched.start)))
                self.taken += touched.count
        self.now.sums = [(number, numbers(values)) for number, values in enumerate(self.sums)]
        self.taken += self.threads * len(self.sums)
        self.intervals.append(self.now)
        self.now = Interval()
        self.full = self.taken > MOST_ACCESSES or len(self.intervals) >= MOST_INTERVALS

    def _mine(self, lanes: Lanes) -> tuple[slice, NDArray[np.intp]]:
        """Lanes of the traced block among some lanes, and their threads' numbers."""
        if lanes is None:
            return slice(self.low, self.low + self.threads), np.arange(self.threads)
        first, end = np.searchsorted(lanes, [self.low, self.low + self.threads])
        return slice(int(first), int(end)), lanes[first:end] - self.low

    def _shared_base(self, m: Machine) -> int:
        """Offset of the block's shared memory."""
        return int(m.shared_start[self.low])

    def _line(self, m: Machine, site: int) -> int:
        return m.reporter.names.line(m.reporter.names.program.sites[site]) or 0

    def _access(
        self, m: Machine, kind: str, site: int, target: Target, size: int, value: Value | None = None
    ) -> None:
        which, threads = self._mine(target.lanes)
        if m is not self.machine or self.full or not threads.size:
            return
        instruction = m.reporter.names.program.sites[site]
        line, count = self._line(m, site), m.size if target.lanes is None else len(target.lanes)
        index = np.broadcast_to(target.index, count)[which]
        values = None if value is None else spread(value, count)[which]
        if target.space == "local":
            if values is not None and values.dtype.kind == "f" and name_of(line, self.source):
                self._local(m, line, instruction, threads, index, values)
            return
        type_ = instruction.modifiers[-1] if instruction.modifiers else ""
        for array, part, start in self.arrays.holding(m, target, index, size, type_, self._shared_base(m)):
            touched = self.arrays.touched[array]
            elements = ((index[part] - start) // touched.itemsize).tolist()
            touched.elements.update(elements)
            read: Numbers = ()
            if values is not None:
                read = numbers(as_type(values[part], touched.dtype))
            elif kind == "load":  # the result of an atomic or a copy is not known yet
                read = values_at(target, index[part], size, touched.dtype)
            words = (".".join(instruction.modifiers[-3:]),) if kind == "atomic" else ()
            batch = Batch(
                kind.replace("copy", "store"),
                array,
                instruction.ptx_line,
                threads[part],
                tuple(elements),
                read,
                words,
            )
            self._keep(line, batch, again=target.request != 0)

    def _local(
        self,
        m: Machine,
        line: int,
        instruction: Instruction,
        threads: NDArray[np.intp],
        index: NDArray[np.int64],
        values: NDArray[Any],
    ) -> None:
        """A store to a local variable that lies in the frame: an array, or one whose address is used."""
        offsets = index - m.local_start[self.low + threads]
        for offset in np.unique(offsets).tolist():
            mine = offsets == offset
            self._sum(line, offset, instruction, threads[mine], values[mine])

    def _sum(
        self,
        line: int,
        offset: int,
        instruction: Instruction,
        threads: NDArray[np.intp],
        values: NDArray[Any],
    ) -> None:
        """Threads have a new value in an accumulator."""
        key = (line, offset)
        if key not in self.accumulators:
            if (
                offset >= 0
                and sum(accumulator[0] == line for accumulator in self.accumulators) >= MOST_ELEMENTS
            ):
                return
            self.accumulators.append(key)
            self.sums.append(np.full(self.threads, None, object))
        number = self.accumulators.index(key)
        shown = values.view(f"i{values.dtype.itemsize}") if values.dtype.kind == "u" else values
        self.sums[number][threads] = shown.tolist()
        batch = Batch("add", number, instruction.ptx_line, threads, values=numbers(shown))
        self._keep(line, batch, again=True)

    def _keep(self, line: int, batch: Batch, *, again: bool) -> None:
        self.taken += batch.threads.size
        if self.full or self.taken > MOST_ACCESSES:
            self.close("limit")
            self.full = True
            return
        turns = self.now.turns(line, batch.position, batch.threads, self.threads, again=again)
        for turn in np.unique(turns).tolist():
            part = batch if (turns == turn).all() else part_of(batch, turns == turn)
            self.now.steps.setdefault((line, turn), []).append(part)
