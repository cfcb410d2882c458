"""An interval while it is being recorded: batches of accesses, sorted into lines and turns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.model.trace import TracedEvent, TracedInterval, TracedStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from grader.model.trace import Numbers


@dataclass(frozen=True, slots=True)
class Batch:
    """What some threads did at one instruction at once; see `TracedEvent`."""

    kind: str
    target: int
    position: int
    threads: NDArray[np.intp]
    elements: tuple[int, ...] = ()
    values: Numbers = ()
    words: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class Interval:
    """An interval that is being recorded."""

    steps: dict[tuple[int, int], list[Batch]] = field(default_factory=dict)
    unset: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Reads of what nobody wrote: line, array, element, thread."""
    told: list[tuple[object, ...]] = field(default_factory=list)
    """The keys of findings that came up meanwhile."""
    ends: str = ""
    barrier_lines: tuple[int, ...] = ()
    absent: tuple[int, ...] = ()
    """The threads that did not come to the barrier at its end."""
    shared: list[tuple[int, Numbers]] = field(default_factory=list)
    sums: list[tuple[int, Numbers]] = field(default_factory=list)
    _turn: dict[int, NDArray[np.int64]] = field(default_factory=dict)
    _last: dict[int, NDArray[np.int64]] = field(default_factory=dict)

    def turns(
        self, line: int, position: int, threads: NDArray[np.intp], block: int, *, again: bool
    ) -> NDArray[np.int64]:
        """How many times each thread came to a line before; being further up than before it comes again."""
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
        return tuple(value for value, there in zip(values, mask, strict=True) if there)

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
    """The intervals as records, with zero fill marked in those arrays that are filled from global memory."""
    zeros = _Zeros(_filled(recorded))
    return tuple(
        TracedInterval(
            each.ends,
            each.barrier_lines,
            tuple(_step(key, batches, zeros, number) for key, batches in each.steps.items()),
            tuple(each.shared),
            tuple(each.sums),
        )
        for number, each in enumerate(recorded)
    )


@dataclass(eq=False, slots=True)
class _Zeros:
    """Which threads have lately loaded a zero, so that a zero that they store may be data."""

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
        loads = [each for each in batches if each.kind == "load" and each.target not in shared]
        here = {thread for each in loads for thread in each.threads.tolist()}
        return tuple(
            thread
            for thread, value in zip(batch.threads.tolist(), batch.values, strict=False)
            if value == 0 and thread not in here and interval - self.loaded.get(thread, -2) > 1
        )


def _filled(recorded: Sequence[Interval]) -> frozenset[tuple[int, int]]:
    """The shared arrays and lines that store there while global memory is read: what it says, or zero."""
    shared = {number for each in recorded for number, _ in each.shared}
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
    """What was done at one instruction by several groups of lanes becomes one event."""
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
