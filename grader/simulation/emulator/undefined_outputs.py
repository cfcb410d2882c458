"""Undefined outputs: the elements of outputs that a race, or a value of which nothing is known, can reach.

Nothing is known of a value that no thread set, or that was read outside the array that was meant.

Two further runs of a launch whose findings are known. The first looks for the bytes that race: bytes that
several threads touch on the findings' lines, at least one of them writing. In the second one every value that
is read from such a byte, was never set or was read out of bounds is undefined, and `definedness` follows it:
an element of an output is undefined where an undefined value was stored, and where its own bytes race. Where
an undefined value decides a branch or an address, or takes part in an atomic operation, nothing that the
launch leaves is defined.

The bytes and the flow belong to one order of the threads, and both are overestimated: a value that is called
defined here does not depend on the order of the threads.
"""

from __future__ import annotations

from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import mutable
from grader.simulation.emulator.definedness import Definedness, link_with_shadows
from grader.simulation.emulator.launch import Execution, Kernel, LaunchOptions
from grader.simulation.emulator.machine.machine import Observer
from grader.simulation.emulator.machine.scheduler import LaterBlocksNeededError

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from grader.model import Argument, Launch, Named
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.values import Lanes, Value
    from grader.simulation.emulator.memory.layout import Layout
    from grader.simulation.emulator.memory.memory import Region, StrayAccess, Target

    Bytes = NDArray[np.bool_]

_FOLLOWED = ("global", "shared")
"""State spaces in which threads meet."""


class _NothingIsDefinedError(Exception):
    """An undefined value decides over the path of threads, or the address of an access."""


def undefined_outputs(
    kernel: Kernel,
    launch: Launch,
    arguments: tuple[Argument, ...],
    lines: Collection[int],
    steps: int,
) -> Named[NDArray[np.bool_]] | None:
    """For each output a mask of its undefined elements; None where nothing of the launch is defined.

    ``kernel`` is the kernel of the -O0 build, ``lines`` are the lines of its races, 0 where one has none.
    Nothing is defined either where no byte races on these lines, for then the race is the optimiser's, or
    where the launch takes more than ``steps`` of work.
    """
    racing = _Racing(frozenset(lines))
    if lines and (_followed(kernel, launch, arguments, racing, steps) is None or not racing.any()):
        return None
    reach = _Reach(racing=racing.bytes_by_chunk)
    followed = Kernel(
        kernel.module,
        kernel.entry,
        kernel.source,
        kernel.file,
        kernel.shapes,
        linker=partial(link_with_shadows, reach),
        lay_out=kernel.lay_out,
    )
    try:
        layout = _followed(followed, launch, arguments, _Following(reach), steps)
    except _NothingIsDefinedError:
        return None
    if layout is None:
        return None
    undefined = reach.undefined_in(layout.memory)
    return tuple(
        (argument.name, _elements(undefined[allocation.start : allocation.end], value))
        for argument, value, allocation in layout.arrays
        if argument.direction != "in"
    )


def _elements(undefined: Bytes, like: NDArray[Any]) -> Bytes:
    """The elements of an array of which some byte is undefined."""
    return np.any(undefined.reshape(-1, like.itemsize), axis=1).reshape(like.shape)


def _followed(
    kernel: Kernel,
    launch: Launch,
    arguments: tuple[Argument, ...],
    observer: _Racing | _Following,
    steps: int,
) -> Layout | None:
    """The memory of a launch that was run with an observer; None where it does not end."""
    options = LaunchOptions(detect=True, races=False, observers=(observer,))
    for all_at_once in (False, True):
        observer.forget()
        execution = Execution(kernel, launch, arguments, options, all_at_once=all_at_once)
        try:
            with np.errstate(all="ignore"):
                return execution.layout if execution.run(steps).completed else None
        except LaterBlocksNeededError:
            continue
    return None


@mutable
class _Touches:
    """For each byte of a region: the last thread that touched it, if several did, and if any wrote it."""

    last: NDArray[np.int64]
    several: Bytes
    written: Bytes

    @classmethod
    def none(cls, size: int) -> _Touches:
        return cls(np.zeros(size, np.int64), np.zeros(size, np.bool_), np.zeros(size, np.bool_))

    def add(self, at: NDArray[np.int64], who: NDArray[np.int64], *, writes: bool, alone: bool) -> None:
        """Threads touch a byte each; with ``alone`` that is enough for a race."""
        before = self.last[at]
        self.last[at] = who
        several = (before != who) & (before != 0) | (self.last[at] != who)
        self.several[at[several]] = True
        if alone:
            self.several[at] = True
        if writes:
            self.written[at] = True

    @property
    def racing(self) -> Bytes:
        return self.several & self.written


Chunk = tuple[str, int]
"""A state space, and for shared memory the number of the chunk of blocks that it belongs to."""


@mutable
class _Racing(Observer):
    """Observer that records the bytes that race, on some lines."""

    lines: frozenset[int]
    tracks_initialisation: bool = True
    chunk: int = 0
    touches: dict[Chunk, _Touches] = field(default_factory=dict)
    _on_lines: dict[int, bool] = field(default_factory=dict)

    @property
    def bytes_by_chunk(self) -> dict[Chunk, Bytes]:
        """The bytes that race."""
        return {chunk: touches.racing for chunk, touches in self.touches.items()}

    def any(self) -> bool:
        """True if any byte races."""
        return any(racing.any() for racing in self.bytes_by_chunk.values())

    def forget(self) -> None:
        """Begin the launch anew."""
        self.chunk, self.touches = 0, {}

    def began(self, m: Machine) -> None:
        del m
        self.chunk += 1

    def loaded(self, m: Machine, site: int, target: Target, size: int) -> None:
        self._touch(m, site, target, size, writes=False)

    def stored(self, m: Machine, site: int, target: Target, value: Value) -> None:
        self._touch(m, site, target, value.dtype.itemsize, writes=True)

    def atomic(self, m: Machine, site: int, target: Target, size: int) -> None:
        self._touch(m, site, target, size, writes=True)

    def copied(self, m: Machine, source: Target | None, destination: Target, size: int, read: int) -> int:
        """A copy under way races with the thread that issued it, too."""
        if source is not None:
            self._touch(m, source.site, source, read, writes=False)
        self._touch(m, destination.site, destination, size, writes=True, alone=True)
        return 0

    def _touch(
        self, m: Machine, site: int, target: Target, size: int, *, writes: bool, alone: bool = False
    ) -> None:
        if target.space not in _FOLLOWED or not self._is_on_lines(m, site):
            return
        chunk = _chunk(target.space, self.chunk)
        if chunk not in self.touches:
            self.touches[chunk] = _Touches.none(target.region.bytes.size)
        touches = self.touches[chunk]
        lanes = np.arange(m.size) if target.lanes is None else np.asarray(target.lanes)
        who = lanes + (m.geometry.first_block * m.geometry.threads + 1)
        at = np.broadcast_to(target.index, len(lanes))
        for byte in range(size):
            touches.add(at + byte, who, writes=writes, alone=alone)

    def _is_on_lines(self, m: Machine, site: int) -> bool:
        if site not in self._on_lines:
            names = m.reporter.names
            self._on_lines[site] = (names.line(names.program.sites[site]) or 0) in self.lines
        return self._on_lines[site]


def _chunk(space: str, number: int) -> Chunk:
    return (space, number if space == "shared" else 0)


@mutable
class _Reach(Definedness):
    """The shadows of a launch in which some bytes race, and where undefined values were stored."""

    racing: dict[Chunk, Bytes] = field(default_factory=dict)
    chunk: int = 0
    _stored: dict[int, tuple[Region, Bytes]] = field(default_factory=dict)
    """Undefined bytes by the region's identity, with the region, so that no other one takes it."""

    def forget(self) -> None:
        """Begin the launch anew; the bytes that race stay known."""
        Definedness.forget(self)
        self.chunk, self._stored = 0, {}

    def begin(self, memory: Region) -> None:
        """Begin the next chunk of blocks, of which only the content of global memory is known."""
        self.chunk += 1
        self._stored = {number: entry for number, entry in self._stored.items() if entry[0] is memory}

    def matters(self, origins: NDArray[np.int32] | None, lanes: Lanes) -> None:
        """Values of some lanes decide over their path, or the address of an access."""
        if origins is not None and (origins if lanes is None else origins[lanes]).any():
            raise _NothingIsDefinedError

    def number(self, line: int, verb: str) -> int:
        """All undefined reads are alike."""
        del line, verb
        return 1

    def keep(self, region: Region, index: NDArray[np.int64], size: int, origins: NDArray[np.int32]) -> None:
        """Undefined values are stored, wherever that is."""
        del origins
        if id(region) not in self._stored:
            self._stored[id(region)] = (region, np.zeros(region.bytes.size, np.bool_))
        self._mark(region, index, size, undefined=True)

    def leaves(self, region: Region, index: NDArray[np.int64], size: int, origins: NDArray[np.int32]) -> None:
        """Undefined values are stored to global memory: there, too, they may be overwritten."""
        self.keep(region, index, size, origins)

    def overwrite(self, target: Target, size: int) -> None:
        """Values are stored, which are defined unless `keep` says otherwise."""
        if id(target.region) in self._stored:
            self._mark(target.region, target.index, size, undefined=False)

    def _mark(self, region: Region, index: Value, size: int, *, undefined: bool) -> None:
        _, stored = self._stored[id(region)]
        for byte in range(size):
            stored[index + byte] = undefined

    def undefined_reads(self, target: Target, size: int, count: int) -> Bytes:
        """Mask of the lanes that read a byte that races, or to which an undefined value was stored."""
        entry = self._stored.get(id(target.region))
        maps = (None if entry is None else entry[1], self.racing.get(_chunk(target.space, self.chunk)))
        undefined, index = np.zeros(count, np.bool_), np.broadcast_to(target.index, count)
        for undefined_bytes in maps:
            if undefined_bytes is not None:
                for byte in range(size):
                    undefined |= undefined_bytes[index + byte]
        return undefined

    def undefined_in(self, memory: Region) -> Bytes:
        """Mask of the bytes of global memory that are undefined."""
        undefined = np.zeros(memory.bytes.size, np.bool_)
        if id(memory) in self._stored:
            undefined |= self._stored[id(memory)][1]
        racing = self.racing.get(_chunk("global", 0))
        return undefined if racing is None else undefined | racing


@mutable
class _Following(Observer):
    """Observer that reports to `_Reach` the values that instructions read and write."""

    reach: _Reach
    tracks_initialisation: bool = True

    def forget(self) -> None:
        """Begin the launch anew."""
        self.reach.forget()

    def began(self, m: Machine) -> None:
        """Begin a chunk of blocks."""
        self.reach.begin(m.memory)

    def loaded(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Note the values that the lanes of a load read, word by word."""
        lanes = np.arange(m.size) if target.lanes is None else np.asarray(target.lanes)
        self.reach.loaded.append((lanes, self._origins(m, site, target, size)))

    def out_of_bounds(
        self, m: Machine, site: int, access: StrayAccess, address: Value, bad: NDArray[np.bool_]
    ) -> None:
        """Note that nothing is known of what these lanes read; a store there writes nothing."""
        del site, address
        if access.verb != "write":
            origins = np.ones(int(np.count_nonzero(bad)), np.int32)
            if access.verb == "update":
                self.reach.matters(origins, None)
            self.reach.loaded.append((m.lanes()[bad], origins))

    def stored(self, _m: Machine, _site: int, target: Target, value: Value) -> None:
        """Note the target of a store; the definedness of its value is examined after the instruction."""
        self.reach.overwrite(target, value.dtype.itemsize)
        self.reach.stored.append((target, value.dtype.itemsize))

    def atomic(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Note a read that matters, unless the operation only returns the value that it reads (`exch`)."""
        if not self.reach.exchanges:
            self.reach.matters(self._origins(m, site, target, size), None)
            return
        self.loaded(m, site, target, size)
        self.reach.overwrite(target, size)

    def copied(self, m: Machine, source: Target | None, destination: Target, size: int, read: int) -> int:
        """Take a copy of anything undefined for a value that decides all, for it is not followed."""
        if source is not None:
            self.reach.matters(self._origins(m, source.site, source, read), None)
        self.reach.overwrite(destination, size)
        return 0

    def _origins(self, m: Machine, site: int, target: Target, size: int) -> NDArray[np.int32] | None:
        """A 1 for each lane that reads an undefined value; None where none does."""
        count = m.size if target.lanes is None else len(target.lanes)
        undefined = self.reach.undefined_reads(target, size, count)
        missing = target.region.uninitialised(target.index, size)
        if missing is not None:
            undefined |= m.reporter.undefined_uses(site, target, np.broadcast_to(missing, count), size)
        return undefined.astype(np.int32) if undefined.any() else None
