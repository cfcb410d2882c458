"""Order of the work of a device, by vector clocks over streams and events, and the time of events.

Everything runs in the order of the calls here, and so its values belong to one order that a device may
take. Requests of the program decide if it may take another: a stream runs its work in order;
work of the default stream waits for that of all blocking streams, and theirs for it; an event stands for what
its stream held when it was recorded; and what the host has waited for is over before all that it asks for
later (CUDA C++ Programming Guide, "Streams", "Implicit Synchronization"; CUDA Runtime API, "Stream
synchronization behavior"). Work whose order nothing decides, on the same bytes, is a race of streams.

Time (`Clock`) is a stated model of a device, so that it is never 0 and the same every time. A launch takes
`LAUNCH_SECONDS` and the longer of its traffic at `DRAM_BYTES_PER_SECOND` and its instructions at
`LANES_PER_SECOND`, those of an H200; a copy takes `COPY_SECONDS` and its bytes at `LINK_BYTES_PER_SECOND`.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from grader.base.records import frozen, mutable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

Spans: TypeAlias = "NDArray[np.int64]"

DEFAULT, LEGACY, PER_THREAD = 0, 1, 2
"""Streams that exist without being created: ``cudaStreamLegacy`` is the default stream by another name."""

NON_BLOCKING = 1
"""``cudaStreamNonBlocking``: a stream that does not wait for the default stream."""

MOST_ROWS = 1 << 20
"""Most spans of one piece of work; of one that is scattered more nothing is known or reported."""

NOTHING: Spans = np.empty((0, 2), np.int64)

MOST_WORK, MOST_SPANS = 2_000, 1 << 22
"""Most pieces of work without a wait, and most spans of them together; the oldest is forgotten first."""

VectorClock: TypeAlias = "dict[int, int]"
"""Number of pieces of work that are over, by stream."""


class Use(Enum):
    """Use of bytes by work; updates are atomic, and need no order among themselves."""

    READS = "reads"
    WRITES = "writes"
    UPDATES = "updates"


class WorkKind(Enum):
    """Kind of work, as far as it matters for what overlaps."""

    KERNEL = "kernel"
    COPY = "copy"
    STAGED_COPY = "staged copy"
    """Copy of memory that is not pinned: it goes through a driver's buffer, and the host waits meanwhile."""
    FILL = "fill"
    LIBRARY = "library"
    """A call of cuBLAS or cuRAND, which is no kernel of the program's."""


@frozen
class Work:
    """A launch, a copy or a fill: where the program asked for it, what it uses, and the kernel's name.

    Spans are pairs (first byte, byte behind the last) in device memory, in order and disjoint, (n, 2).
    """

    kind: WorkKind
    caller: int
    uses: tuple[tuple[Use, Spans], ...]
    kernel: str = ""
    changed: tuple[int, ...] = ()
    """Numbers of allocations that it changes at unknown addresses."""

    @property
    def bytes(self) -> int:
        """Number of bytes that it uses, as far as that is known."""
        return max((int((spans[:, 1] - spans[:, 0]).sum()) for _, spans in self.uses), default=0)


@frozen
class StreamConflict:
    """Two pieces of work on the same byte of which none waits for the other."""

    earlier: Work
    earlier_use: Use
    later: Work
    later_use: Use
    byte: int


@mutable
class StreamOrder:
    """Work that is not over, and the work before each stream, each event and the host."""

    _streams: dict[int, VectorClock] = field(default_factory=lambda: {DEFAULT: {}})
    _apart: set[int] = field(default_factory=set)
    """The streams that do not wait for the default stream."""
    _events: dict[int, VectorClock] = field(default_factory=dict)
    _host: VectorClock = field(default_factory=dict)
    _pending: list[tuple[int, int, Work]] = field(default_factory=list)
    """Work by its stream and its number there."""
    _spans: int = 0
    _given: dict[int, dict[WorkKind, int]] = field(default_factory=dict)
    """Bytes of work given to each stream, by the kind of work."""

    @property
    def overlapping(self) -> int:
        """Number of streams, the default stream aside, with both kernels and copies that overlap.

        One whose copies nearly all go through a buffer of the driver does not count for the few others, nor
        does one that copies next to nothing of what all streams together copy.
        """
        least = sum(map(_copied, self._given.values())) / (_LEAST_OF_ALL * max(1, len(self._others)))
        return sum(
            WorkKind.KERNEL in given and _overlaps(given) and _copied(given) >= least
            for given in self._others
        )

    @property
    def staged(self) -> int:
        """Number of streams with kernels and copies of which none overlaps, as the memory is not pinned."""
        return sum(
            given.keys() >= {WorkKind.KERNEL, WorkKind.STAGED_COPY} and not _overlaps(given)
            for given in self._others
        )

    @property
    def _others(self) -> list[dict[WorkKind, int]]:
        """Work given to each stream but the default one."""
        return [given for stream, given in self._given.items() if stream != DEFAULT]

    @property
    def is_needed(self) -> bool:
        """True if there is another stream than the default one, and so anything to keep."""
        return len(self._streams) > 1

    def create(self, stream: int, flags: int) -> None:
        """A stream is there."""
        self._streams[stream] = {}
        if flags & NON_BLOCKING:
            self._apart.add(stream)

    @property
    def pending(self) -> Iterator[Work]:
        """Work for which the host has not waited, as far as it was kept."""
        return (work for _, _, work in self._pending)

    def add(self, stream: int, work: Work, *, keep: bool = False) -> StreamConflict | None:
        """Give work to a stream; returns a conflict with what may be under way, if there is one.

        It is kept where there are several streams, or with ``keep``, where the host may touch its bytes.
        """
        stream = _same(stream)
        clock = self._at(stream)
        conflict = next(self._conflicts(clock, work), None) if self.is_needed else None
        clock[stream] = clock.get(stream, 0) + 1
        given = self._given.setdefault(stream, {})
        given[work.kind] = given.get(work.kind, 0) + work.bytes
        if not (self.is_needed or keep):
            return None
        self._pending.append((stream, clock[stream], work))
        self._spans += _size(work)
        while len(self._pending) > MOST_WORK or self._spans > MOST_SPANS:
            self._spans -= _size(self._pending.pop(0)[2])
        return conflict

    def record(self, event: int, stream: int) -> None:
        """An event stands for all work of a stream so far."""
        self._events[event] = dict(self._at(_same(stream)))

    def wait(self, stream: int, event: int) -> None:
        """Let the later work of a stream wait for an event; one that was never recorded is no wait."""
        _join(self._at(_same(stream)), self._events.get(event, {}))

    def host_waits(self, stream: int | None = None, event: int | None = None) -> None:
        """The host waits for a stream or an event, or for all work of the device."""
        if event is not None:
            clocks = [self._events.get(event, {})]
        elif stream is not None:
            clocks = [self._at(_same(stream))]
        else:
            clocks = list(self._streams.values())
        for clock in clocks:
            _join(self._host, clock)
        self._pending = [(s, n, work) for s, n, work in self._pending if n > self._host.get(s, 0)]
        self._spans = sum(_size(work) for _, _, work in self._pending)

    def _at(self, stream: int) -> VectorClock:
        """The clock of a stream as the next piece of its work finds it."""
        clock = self._streams.setdefault(stream, {})
        _join(clock, self._host)
        if stream == DEFAULT:
            for other in self._streams.keys() - self._apart:
                _join(clock, self._streams[other])
        elif stream not in self._apart:
            _join(clock, self._streams[DEFAULT])
        return clock

    def _conflicts(self, clock: VectorClock, work: Work) -> Iterator[StreamConflict]:
        """The conflicts of new work with what is not behind its stream."""
        for stream, number, other in self._pending:
            if number <= clock.get(stream, 0):
                continue
            for use, spans in work.uses:
                for other_use, other_spans in other.uses:
                    if use is other_use and use is not Use.WRITES:
                        continue
                    byte = common_byte(spans, other_spans)
                    if byte is not None:
                        yield StreamConflict(other, other_use, work, use, byte)


def span(start: int, size: int) -> Spans:
    """Consecutive bytes."""
    return np.array([[start, start + size]], np.int64)


def rows(start: int, pitch: int, width: int, height: int) -> Spans:
    """Rows of bytes, ``pitch`` bytes from one to the next."""
    if pitch <= width or height == 1:
        return span(start, pitch * (height - 1) + width)
    if height > MOST_ROWS:
        return NOTHING
    starts = start + pitch * np.arange(height, dtype=np.int64)
    return np.stack((starts, starts + width), axis=1)


def marked(marks: NDArray[np.bool_], ranges: Iterable[tuple[int, int]]) -> Spans:
    """The bytes that are marked in some ranges, which are in order; none where they are too scattered."""
    parts = [NOTHING]
    for start, end in ranges:
        part = marks[start:end]
        if part.any():
            edges = np.flatnonzero(np.diff(part.view(np.int8), prepend=0, append=0))
            parts.append(start + edges.reshape(-1, 2))
    spans = np.concatenate(parts)
    return spans if len(spans) <= MOST_ROWS else NOTHING


def common_byte(one: Spans, other: Spans) -> int | None:
    """A byte that two sets of spans share; None if there is none."""
    if not len(one) or not len(other):
        return None
    # This is asked for each pair of launches, and mostly all of one lies before all of the other.
    if one[0, 0] >= other[-1, 1] or other[0, 0] >= one[-1, 1]:
        return None
    # The last of the others that begins before a span ends is the only one that need be looked at.
    index = np.searchsorted(other[:, 0], one[:, 1]) - 1
    begin = np.maximum(one[:, 0], other[np.maximum(index, 0), 0])
    common = (index >= 0) & (other[np.maximum(index, 0), 1] > begin)
    return int(begin[common].min()) if common.any() else None


_LEAST_SHARE = 4
"""Copies that overlap must move at least one byte for this number of bytes that other copies move."""


_LEAST_OF_ALL = 16
"""Bytes copied by all streams, the default one included, of which each stream must copy at least one."""


def _copied(given: Mapping[WorkKind, int]) -> int:
    return given.get(WorkKind.COPY, 0) + given.get(WorkKind.STAGED_COPY, 0)


def _overlaps(given: Mapping[WorkKind, int]) -> bool:
    """True if copies that overlap are a good part of what a stream copies."""
    staged = given.get(WorkKind.STAGED_COPY, 0)
    return WorkKind.COPY in given and _LEAST_SHARE * given[WorkKind.COPY] >= staged


def _same(stream: int) -> int:
    return DEFAULT if stream == LEGACY else stream


def _size(work: Work) -> int:
    return sum(len(spans) for _, spans in work.uses)


def _join(clock: VectorClock, other: VectorClock) -> None:
    for stream, number in other.items():
        if number > clock.get(stream, 0):
            clock[stream] = number


LAUNCH_SECONDS = 5e-6
DRAM_BYTES_PER_SECOND = 3.35e12
LANES_PER_SECOND = 28.7e12
COPY_SECONDS = 8e-6
LINK_BYTES_PER_SECOND = 25e9
_RECORD_SECONDS = 1e-6


@mutable
class Clock:
    """Seconds since the device was first used."""

    now: float = 0.0

    def launch(self, dram_bytes: int, lane_instructions: int) -> None:
        """Let a launch pass."""
        busy = max(dram_bytes / DRAM_BYTES_PER_SECOND, lane_instructions / LANES_PER_SECOND)
        self.now += LAUNCH_SECONDS + busy

    def copy(self, moved: int) -> None:
        """Advance the time by a copy or a fill of ``moved`` bytes."""
        self.now += COPY_SECONDS + moved / LINK_BYTES_PER_SECOND

    def record(self) -> float:
        """Advance the time by the recording of an event, and return it."""
        self.now += _RECORD_SECONDS
        return self.now
