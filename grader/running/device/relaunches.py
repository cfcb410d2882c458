"""Launches of a program that are made again, on the emulator, where device memory holds other inputs.

Only the bytes of the inputs are exchanged, wherever memory holds them: in the arrays that the kernel is
given, and in copies of one of them (in constant memory, in another array). All else that the host has written
comes as it came. No copy, fill or write of the host brings the inputs back that were exchanged.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from grader.base.errors import PtxSyntaxError, UnsupportedPtx
from grader.base.records import frozen, mutable
from grader.base.sparse_memory import untouched
from grader.running.backends.emulated_kernel import EmulatedKernel
from grader.running.device.memory import BASE, rows_in
from grader.running.device.watched_launches import DeviceCopy, HostWrite, RecordedLaunch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from grader.model import Argument, Counters, Launch, Run
    from grader.running.device.watched_launches import MemoryChange, WatchedLaunch
    from grader.simulation.emulator.memory.layout import Layout
    from grader.simulation.ptx import Function, Module

    Memory = NDArray[np.uint8]

_WORK_TIMES, _WORK_MORE = 4, 10_000
"""Work that a launch may take for other inputs: a multiple of what it took, and a constant beside it."""

_LEAST_COPY = 16
"""Bytes of an input that are known again elsewhere: fewer are there by chance."""

_NO_LIMIT = 1 << 62


@frozen
class Exchange:
    """Exchange of an input's bytes: its position in device memory, what it held, and what it holds now."""

    start: int
    own: bytes
    other: bytes

    @property
    def part(self) -> slice:
        """Slice of memory that is exchanged."""
        return slice(self.start, self.start + len(self.other))


@frozen(eq=False)
class RelaunchResult:
    """Device memory ``before`` and ``after`` a launch that was made again.

    It ``ended`` unless a launch stopped, hung, took far more work than it had, or came to an instruction that
    is not interpreted. ``counters`` are those of the launches, launch by launch, each with those recorded.
    ``inputs_unchanged`` is false if launches before the last one have changed the exchanged inputs, although
    they had left the program's own as they were.
    """

    before: Memory
    after: Memory
    ended: bool
    counters: tuple[tuple[Counters, Counters], ...]
    inputs_unchanged: bool = True


@mutable
class Relauncher:
    """Makes the launches up to a ``watched`` one again; ``work`` is what is left for all trials together."""

    watched: WatchedLaunch
    work: int
    _kernels: dict[tuple[str, str], EmulatedKernel] = field(default_factory=dict)
    _memory: Memory = field(default_factory=lambda: np.zeros(0, np.uint8))
    _launch: RecordedLaunch | None = None

    def result_from(self, exchanged: tuple[Exchange, ...], start: int, *, others: bool) -> RelaunchResult:
        """Result of the launches from the event ``start`` on; with ``others``, those of other kernels, too.

        The changes by launches that are not made again are applied, except to the inputs. Raises MemoryError.
        """
        events, last = self.watched.recording.events, self.watched.recorded
        self._memory = self.watched.recording.memory_before(start, len(last.image.bytes))
        self._exchange_all(exchanged)
        counters = []
        for event in events[start : self.watched.position]:
            if isinstance(event, RecordedLaunch) and (others or event.name == last.name):
                run = self._run(event)
                if run is None or not run.completed:
                    return RelaunchResult(self._memory, self._memory, ended=False, counters=())
                counters.append((run.counters, event.counters))
            elif isinstance(event, DeviceCopy):
                self._copy_within(event, exchanged)
            else:
                for change in event.changes:
                    self._write(change, exchanged, is_hosts=isinstance(event, HostWrite))
        before = untouched(len(self._memory))
        for part in last.image.in_use:
            before[part] = self._memory[part]
        launches = [e for e in events[start : self.watched.position] if isinstance(e, RecordedLaunch)]
        unchanged = [one for one in exchanged if not any(_changes(launch, one) for launch in launches)]
        inputs_unchanged = all(before[one.part].tobytes() == one.other for one in unchanged)
        run = self._run(last)
        ended = run is not None and run.completed
        counters += [(run.counters, last.counters)] if run is not None else []
        return RelaunchResult(before, self._memory, ended, tuple(counters), inputs_unchanged)

    def _run(self, event: RecordedLaunch) -> Run | None:
        """One launch on the memory as it is, which gets what it leaves; None if it cannot be followed."""
        key = event.file, event.build.entry
        if key not in self._kernels:
            self._kernels[key] = EmulatedKernel(
                event.build, event.build.source_name, event.file, steps=_NO_LIMIT, lay_out=self._lay_out
            )
        self._launch = event
        most = min(_WORK_TIMES * event.work + _WORK_MORE, max(1, self.work))
        try:
            run = self._kernels[key].again(event.launch, event.arguments, most)
        except (UnsupportedPtx, PtxSyntaxError):
            return None
        self.work -= min(run.work, most)  # one step may take far more, and then no other trial would be made
        for name, content in run.outputs:
            values = np.ascontiguousarray(content).view(np.uint8).reshape(-1)
            self._memory[int(name) : int(name) + values.size] = values
        for start, end, heap_content, _ in run.heap:
            self._memory[start:end] = heap_content
        return run

    def _lay_out(
        self,
        module: Module,
        function: Function,
        launch: Launch,
        arguments: tuple[Argument, ...],
        *,
        track: bool,
    ) -> Layout:
        """A copy of the memory for an attempt at the launch that is made again now."""
        if self._launch is None:
            raise ValueError("no launch is made again")
        image = self._launch.image
        content = self._memory[: len(image.bytes)]
        written = untouched(len(content))
        for part in image.in_use:
            written[part] = 1
        image = replace(image, bytes=content, written=written, copied=None)
        return image.lay_out(module, function, launch, arguments, track=track)

    def _exchange_all(self, exchanged: tuple[Exchange, ...]) -> None:
        """Put the other inputs into memory, and into copies of them."""
        for array in self.watched.recorded.image.arrays:
            self._exchange_copies(array.start, self._memory[array.start : array.end], exchanged)
        for one in exchanged:
            self._memory[one.part] = np.frombuffer(one.other, np.uint8)

    def _exchange_copies(self, start: int, content: Memory, exchanged: tuple[Exchange, ...]) -> None:
        """Exchange the inputs that some bytes of device memory from ``start`` on hold a copy of."""
        text = b""
        for one in exchanged:
            if not _LEAST_COPY <= len(one.own) <= content.size or one.own == one.own[:1] * len(one.own):
                continue
            text = text or content.tobytes()
            at = text.find(one.own)
            while at >= 0:
                if start + at != one.start:
                    content[at : at + len(one.own)] = np.frombuffer(one.other, np.uint8)
                at = text.find(one.own, at + len(one.own))

    def _write(self, change: MemoryChange, exchanged: tuple[Exchange, ...], *, is_hosts: bool) -> None:
        """Do what the host did, or a launch that is not made again."""
        part = slice(change.start, change.start + change.content.size)
        inputs = [self._memory[one.part].copy() for one in exchanged]
        change.apply(self._memory)
        if is_hosts:
            self._exchange_copies(change.start, self._memory[part], exchanged)
        for one, content in zip(exchanged, inputs, strict=True):
            self._memory[one.part] = content

    def _copy_within(self, event: DeviceCopy, exchanged: tuple[Exchange, ...]) -> None:
        message, inputs = event.message, [self._memory[one.part].copy() for one in exchanged]
        shape = message.width, message.height
        for start, pitch in ((message.source, message.source_pitch), (message.to, message.to_pitch)):
            if start - BASE + (message.height - 1) * pitch + message.width > len(self._memory):
                raise ValueError("a copy leaves the device memory that was recorded")
        source = rows_in(self._memory, message.source - BASE, message.source_pitch, *shape)
        rows_in(self._memory, message.to - BASE, message.to_pitch, *shape)[:] = source.copy()
        for one, content in zip(exchanged, inputs, strict=True):
            self._memory[one.part] = content


def _changes(launch: RecordedLaunch, one: Exchange) -> bool:
    """True if a launch changed an input in the program's own run."""
    start, end = one.part.start, one.part.stop
    return any(change.start < end and start < change.start + change.content.size for change in launch.changes)


def exchanges(
    launch: WatchedLaunch, own: Mapping[int, bytes], other: Mapping[int, bytes]
) -> tuple[Exchange, ...]:
    """The inputs behind pointers, by their positions among the parameters, that hold others."""
    starts = {position: launch.recorded.address(position) - BASE for position in other}
    return tuple(Exchange(starts[p], own[p], content) for p, content in other.items() if content != own[p])
