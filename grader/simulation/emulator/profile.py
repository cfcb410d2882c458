"""Counters per source line: paths of memory requests, divergence of warps, repeated loads.

A `Profiling` observer counts the same as `Counting`, by line and array as well; it runs under the default
build, compiled with ``-lineinfo``. Repeated loads of a kernel are counted per block of threads: the elements
that a line loads of an array, against the different ones among them. Shared memory could save these loads,
whether or not a cache catches them. An element is the datum that one thread loads at once, a byte or more,
and of a vector its words. Another observer keeps the bytes of global memory that a launch reads, writes and
updates: other work must not use them meanwhile.
"""

from __future__ import annotations

from dataclasses import field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import mutable
from grader.base.sparse_memory import untouched
from grader.model import LineCounters
from grader.simulation.emulator import observers
from grader.simulation.emulator.machine.machine import Observer
from grader.simulation.emulator.observers import Counting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.state import Group
    from grader.simulation.emulator.machine.values import Lanes, Value
    from grader.simulation.emulator.memory.memory import Target
    from grader.simulation.ptx import Instruction

MOST_MARKS = 1 << 26
"""Maximum of elements times blocks whose loads are distinguished: a byte each, for each line and array."""

_COUNTED = tuple(item.name for item in fields(LineCounters) if item.name not in ("line", "array"))


@mutable
class Profiling(Counting):
    """Counts by line and array; ``line_of`` gives the student's line of an instruction."""

    line_of: Callable[[Instruction], int | None] = lambda _: None
    counts: dict[tuple[int, str], dict[str, int]] = field(default_factory=dict)
    _marks: dict[tuple[int, str, int], NDArray[np.bool_]] = field(default_factory=dict)
    """Masks of the elements that each block has loaded, by line, array and bytes of an element."""
    _machine: Machine | None = None
    _lines: dict[int, int] = field(default_factory=dict)

    def lines(self) -> tuple[LineCounters, ...]:
        """The counters, in the order of the lines."""
        self._settle()
        return tuple(
            LineCounters(line, array=array, **counts) for (line, array), counts in sorted(self.counts.items())
        )

    def loaded(self, m: Machine, site: int, target: Target, size: int) -> None:
        Counting.loaded(self, m, site, target, size)
        if target.space == "global":
            if not m.memory.holds_constants(target.bytes, size):
                self._global(m, site, target, size, "load")
        elif target.space == "shared":
            self._shared(m, site, target)

    def stored(self, m: Machine, site: int, target: Target, value: Value) -> None:
        self._stored(m, site, target, value.dtype.itemsize)

    def _stored(self, m: Machine, site: int, target: Target, size: int) -> None:
        self.count_store(m, target, size)
        if target.space == "global":
            self._global(m, site, target, size, "store")
        elif target.space == "shared":
            self._shared(m, site, target)

    def atomic(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Count an update; to the line it is a store: to update a word again is the purpose of an atomic."""
        Counting.loaded(self, m, site, target, size)
        self._stored(m, site, target, size)
        if target.space == "global":
            self._updated(m, site, target)

    def branched(
        self, m: Machine, branch: Instruction, group: Group, yes: Group | None, no: Group | None
    ) -> None:
        counts = self._entry(self._line(branch), "")
        if counts is None:
            return
        counts["branches"] += _warps(m, group.lanes)
        if yes and no:
            both = np.intersect1d(_warps_of(m, yes.lanes), _warps_of(m, no.lanes))
            counts["divergent_branches"] += len(both)

    def arrived(self, m: Machine, site: int, lanes: int) -> None:
        Counting.arrived(self, m, site, lanes)
        counts = self._entry(self._line(m.reporter.names.program.sites[site]), "")
        if counts is not None:
            counts["barriers"] += lanes

    def _line(self, instruction: Instruction) -> int:
        number = self._lines.get(id(instruction))
        if number is None:
            number = self._lines[id(instruction)] = self.line_of(instruction) or 0
        return number

    def _entry(self, line: int, array: str) -> dict[str, int] | None:
        if not line:
            return None
        return self.counts.setdefault((line, array), dict.fromkeys(_COUNTED, 0))

    def _global(self, m: Machine, site: int, target: Target, size: int, way: str) -> None:
        line = self._line(m.reporter.names.program.sites[site])
        index = np.broadcast_to(target.index, _count(m, target.lanes))
        if not line or not index.size:
            return
        holder = m.memory.holding(int(index.min()), int(index.max()) + size)
        counts = self._entry(line, holder.name if holder else "")
        if counts is None:
            return
        counts[f"global_{way}_bytes"] += index.size * size
        if target.request:
            requests, sectors = _warps(m, target.lanes), observers.sectors(m, target, target.request)
            counts[f"global_{way}_requests"] += requests
            counts[f"global_{way}_sectors"] += sectors
            if sectors > requests and not counts["global_stride"]:
                counts["global_stride"] = _stride(m, target.lanes, index)
        if way == "load" and holder:
            self._mark(m, (line, holder.name, size), index, target.lanes, (holder.start, holder.end))

    def _updated(self, m: Machine, site: int, target: Target) -> None:
        """Note that threads updated an array here, where the data may choose the element."""
        index = np.broadcast_to(target.index, _count(m, target.lanes))
        holder = m.memory.holding(int(index.min()), int(index.max()) + 1) if index.size else None
        counts = self._entry(self._line(m.reporter.names.program.sites[site]), holder.name if holder else "")
        if counts is not None:
            counts["global_atomics"] += index.size

    def _mark(
        self,
        m: Machine,
        key: tuple[int, str, int],
        index: NDArray[Any],
        lanes: Lanes,
        extent: tuple[int, int],
    ) -> None:
        """Note which elements of an array each block loads."""
        if m is not self._machine:
            self._settle()
            self._machine = m
        (start, end), size = extent, key[-1]
        elements = -(-(end - start) // size)
        if m.geometry.blocks * elements > MOST_MARKS:
            return
        marks = self._marks.get(key)
        if marks is None:
            marks = self._marks[key] = np.zeros((m.geometry.blocks, elements), np.bool_)
        blocks = m.block_of if lanes is None else m.block_of[lanes]
        marks[blocks, (index - start) // size] = True
        self.counts[key[:2]]["global_loads"] += index.size

    def _settle(self) -> None:
        """Count the loads of the blocks of the chunk that is over."""
        for key, marks in self._marks.items():
            self.counts[key[:2]]["global_loads_distinct"] += int(np.count_nonzero(marks))
        self._marks.clear()

    def _shared(self, m: Machine, site: int, target: Target) -> None:
        line = self._line(m.reporter.names.program.sites[site])
        if not target.request or not line:
            return
        index = np.broadcast_to(target.index, _count(m, target.lanes))
        lane = 0 if target.lanes is None else int(target.lanes[0])
        element = m.reporter.names.shared_element(int(index[0] - m.shared_start[lane]), target.request)
        counts = self._entry(line, element.split("[")[0] if "[" in element else "")
        if counts is None:
            return
        conflicts = observers.bank_conflicts(m, target, target.request)
        counts["shared_requests"] += _warps(m, target.lanes)
        counts["shared_bank_conflicts"] += conflicts
        if conflicts and not counts["shared_stride"]:
            counts["shared_stride"] = _stride(m, target.lanes, index)


def _count(m: Machine, lanes: Lanes) -> int:
    return m.size if lanes is None else len(lanes)


def _warps_of(m: Machine, lanes: Lanes) -> NDArray[np.intp]:
    return np.unique(m.warp_of if lanes is None else m.warp_of[lanes])


def _warps(m: Machine, lanes: Lanes) -> int:
    """Number of warps that these lanes belong to."""
    if lanes is None:
        return m.geometry.blocks * m.geometry.warps_per_block
    return len(_warps_of(m, lanes))


def _stride(m: Machine, lanes: Lanes, index: NDArray[Any]) -> int:
    """Bytes between neighbouring lanes of a warp, if they are mostly the same; else 0."""
    which = np.arange(m.size) if lanes is None else lanes
    neighbours = (np.diff(which) == 1) & (np.diff(m.warp_of[which]) == 0)
    steps = np.diff(index)[neighbours]
    if not steps.size:
        return 0
    strides, times = np.unique(steps, return_counts=True)
    most = int(times.argmax())
    return abs(int(strides[most])) if 2 * times[most] > steps.size else 0


@mutable
class TouchedBytes(Observer):
    """Marks the first ``size`` bytes of global memory as they are used."""

    size: int
    marks: NDArray[np.bool_] = field(init=False)
    """Rows of the bytes that are read, written, and updated by atomic operations."""

    def __post_init__(self) -> None:
        """Nothing is used yet."""
        self.marks = untouched(3 * self.size).view(np.bool_).reshape(3, self.size)

    @property
    def read(self) -> NDArray[np.bool_]:
        """Mask of the bytes that are read."""
        return self.marks[0]

    @property
    def written(self) -> NDArray[np.bool_]:
        """Mask of the bytes that are written."""
        return self.marks[1]

    @property
    def updated(self) -> NDArray[np.bool_]:
        """Mask of the bytes that atomic operations update."""
        return self.marks[2]

    def loaded(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Mark the bytes that are read."""
        del m, site
        _mark(self.read, target, size)

    def stored(self, m: Machine, site: int, target: Target, value: Value) -> None:
        """Mark the bytes that are written."""
        del m, site
        _mark(self.written, target, value.dtype.itemsize)

    def atomic(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Mark the bytes that are updated."""
        del m, site
        _mark(self.updated, target, size)

    def copied(self, m: Machine, source: Target | None, destination: Target, size: int, read: int) -> int:
        """Mark the bytes that an asynchronous copy to shared memory reads."""
        del m, destination, size
        if source is not None:
            _mark(self.read, source, read)
        return 0


def _mark(marks: NDArray[np.bool_], target: Target, size: int) -> None:
    if target.space != "global":
        return
    first = np.atleast_1d(np.asarray(target.index))
    inside = first[first <= len(marks) - size]  # behind the end there is no array
    for offset in range(size):
        marks[inside + offset] = True
