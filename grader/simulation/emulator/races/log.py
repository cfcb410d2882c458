"""The log of accesses, and the races in it: pairs of accesses that nothing orders.

Two accesses to one cell of memory by different threads race if at least one writes, they are not both atomic,
and nothing orders them (CUDA C++ Programming Guide, memory consistency; PTX ISA chapter 8). Accesses are
ordered by barriers within a block, `__syncwarp` within a warp, fences with flags or atomics anywhere
(`grader.simulation.emulator.races.ordering`). Blocks always count as running at once.

Most intervals between barriers hold only reads, or writes to memory that no other thread touches; then
nothing but a list append happens. The remaining accesses go through
`grader.simulation.emulator.races.conflicts`, which is exact: it compares accesses, not their effects, so that
a race is found in any schedule and however lucky the values.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import mutable
from grader.model import Clause
from grader.simulation.emulator.machine.state import Allowance, TooMuchHeldError
from grader.simulation.emulator.machine.values import ZERO, extremes, spread
from grader.simulation.emulator.races.conflicts import (
    MOST_JUDGED,
    Chunk,
    DescribedPairs,
    find_conflicts,
    suspicious_rows,
)
from grader.simulation.emulator.races.events import UPDATE, Scope
from grader.simulation.emulator.races.pairs import find_unordered
from grader.simulation.emulator.races.rows import (
    STRONG,
    UPDATES,
    WRITE,
    WRITES,
    LoggedAccess,
    Outermost,
    Rows,
    is_strong,
    lowest_cells,
    of_blocks,
    part_of,
    same_targets,
    spelt_out,
    suspects,
    validated,
    with_flags,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.state import ChunkRecord
    from grader.simulation.emulator.machine.values import Value
    from grader.simulation.emulator.memory.memory import Target
    from grader.simulation.emulator.races.conflicts import Conflict
    from grader.simulation.emulator.races.events import Event, Events

MOST_ROWS = 1 << 25
"""Accesses that may wait to be judged, over all lanes: to shared memory for a barrier, to global memory for
the end of the launch. Judging them takes seconds."""

MOST_BYTES = 1 << 30
"""Memory that these may take."""


@mutable
class Held:
    """Amount of accesses to one state space that are held back."""

    rows: int = 0
    bytes: int = 0

    def add(self, access: LoggedAccess, count: int) -> None:
        """Add one access by ``count`` lanes; raises TooMuchHeldError where that is too much."""
        self.rows += count
        self.bytes += access.byte.nbytes + access.epoch.nbytes
        if access.value is not None:
            self.bytes += access.value.nbytes
        if self.rows > MOST_ROWS or self.bytes > MOST_BYTES:
            raise TooMuchHeldError(Clause("too-many-accesses"))


class RestartTracking(Exception):  # noqa: N818 - a request, not an error
    """An array was written after reads that were not kept: run again and keep its reads."""

    def __init__(self, array: str) -> None:
        super().__init__(array)
        self.array = array


@mutable
class AccessLog:
    """The accesses that may still turn out to race.

    ``grain`` is the size of a cell: 4 bytes, or 1 where the kernel has narrower accesses. ``tracked`` are the
    global arrays whose reads are kept: the arrays that the kernel writes and reads.
    """

    events: Events
    grain: int = 4
    tracked: frozenset[str] = frozenset()
    shared: list[LoggedAccess] = field(default_factory=list)
    arrays: list[LoggedAccess] = field(default_factory=list)
    conflicts: list[tuple[str, Conflict, ChunkRecord]] = field(default_factory=list)
    """State space, conflict, and the chunk that it happened in; machines are not kept alive for it."""
    order_mattered: bool = False
    """True if accesses were ordered only by the order in which atomic operations happened to come: then
    another order may show other races."""
    _first_updates: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Time of the first atomic update of each lane of the launch, as far as it has come."""
    kept: list[Chunk] = field(default_factory=list)
    allowance: Allowance = field(default_factory=Allowance)
    described: DescribedPairs = field(default_factory=DescribedPairs)
    _seen_reads: set[str] = field(default_factory=set)
    _held: dict[str, Held] = field(default_factory=lambda: {"shared": Held(), "global": Held()})
    _epoch: NDArray[np.int64] | None = None
    _one_epoch: bool = True
    """True if all blocks of the chunk have passed the same number of barriers."""
    _written: set[str] = field(default_factory=set)
    _again: dict[tuple[str, int, int], list[int]] = field(default_factory=dict)
    """Positions in its list of the first and the latest of a site's accesses to the same targets."""

    def begin(self, m: Machine) -> None:
        """A new chunk of blocks starts."""
        self._epoch = np.zeros(m.geometry.blocks, np.int64)
        self._one_epoch = True
        self._held["shared"] = Held()
        self._again.clear()
        self.events.begin(m)

    def read(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Lanes read."""
        kind = self.events.kind_of_read(site)
        if target.space == "shared":
            self._keep(m, site, kind, target, size, None)
            return
        arrays = self._arrays(m, target)
        if arrays & (self.tracked | self._written):
            self._keep(m, site, kind, target, size, None)
        self._seen_reads |= arrays - self._written

    def write(self, m: Machine, site: int, target: Target, value: Value) -> None:
        """Lanes write."""
        self._must_track(m, target)
        kind = self.events.kind_of_write(site, target)
        self._keep(m, site, kind, target, value.dtype.itemsize, value)

    def atomic(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Lanes read and write as one."""
        self._must_track(m, target)
        self._keep(m, site, self.events.kind_of_update(site), target, size, None)
        lanes = m.lanes() if target.lanes is None else target.lanes
        first, size = m.geometry.first_block * m.geometry.threads, len(self._first_updates)
        if (
            size < first + m.size
        ):  # a launch may have more lanes than there is memory for, and never reach them
            self._first_updates = self.first_updates(max(first + m.size, 2 * size))
        lanes = lanes + first
        self._first_updates[lanes[self._first_updates[lanes] == 0]] = self.events.clock

    def first_updates(self, lanes: int) -> NDArray[np.int64]:
        """Time of the first atomic update of each of ``lanes`` lanes; 0 where there was none."""
        updates = np.zeros(lanes, np.int64)
        updates[: len(self._first_updates)] = self._first_updates[:lanes]
        return updates

    def write_async(self, m: Machine, site: int, target: Target, size: int) -> int:
        """Lanes begin copies whose engines write shared memory; gives the moment, see `copies_landed`."""
        self._must_track(m, target)
        self._keep(m, site, WRITE, target, size, None, engine=True)
        return self.events.clock

    def copies_landed(self, m: Machine, lanes: NDArray[np.intp], began: Value) -> None:
        """Lanes have waited for their copies that began up to a moment (one for all, or one each)."""
        self._again.clear()
        self.events.landed(m, lanes, began)

    def warp_synchronised(self, m: Machine, party: Value) -> None:
        """`__syncwarp` among the lanes of each active lane's ``party``, a mask over its warp."""
        self._again.clear()
        self.events.warp_met(m, party)

    def fenced(self, m: Machine, *, wide: bool) -> None:
        """`__threadfence` (wide) or `__threadfence_block` by the active lanes."""
        self._again.clear()
        self.events.fenced(m, wide=wide)

    def announced(self, m: Machine, parties: tuple[Value, Value]) -> None:
        """`bar.arrive`: lanes, and the barrier of each."""
        self._again.clear()
        self.events.announced(m, parties)

    def passed_barrier(self, m: Machine, parties: tuple[Value, Value]) -> None:
        """A named barrier of some warps is complete: the lanes that waited, and the barrier of each."""
        self._again.clear()
        self.events.announced(m, parties)
        self.events.passed_barrier(m, parties)

    def at_phase(
        self,
        m: Machine,
        kind: int,
        lanes: NDArray[np.intp],
        byte: NDArray[np.int64],
        phase: NDArray[np.uint64],
    ) -> None:
        """Lanes, or their copies, arrive in a phase of a barrier, or find it complete."""
        self._again.clear()
        self.events.at_phase(m, kind, lanes, byte, phase)

    def interval_ended(self, m: Machine, blocks: NDArray[np.bool_] | None) -> None:
        """A barrier is complete: judge the shared accesses of these blocks since the one before."""
        self._again.clear()
        if self._epoch is not None:
            self._epoch[slice(None) if blocks is None else blocks] += 1
            if blocks is not None:
                self._one_epoch = bool(np.ptp(self._epoch) == 0)
        ended, going_on = self.shared, list[LoggedAccess]()
        if blocks is not None:
            ended = [part for access in self.shared if (part := of_blocks(m, access, blocks))]
            going_on = [part for access in self.shared if (part := of_blocks(m, access, ~blocks))]
        self._judge_shared(m, ended, blocks)
        under_way = [part for access in ended if access.engine and (part := self._under_way(m, access))]
        self.shared = going_on + under_way
        m.charge(len(under_way), sum(access.byte.size for access in under_way))
        if blocks is None:
            self._held["shared"] = Held()
        self.events.barrier(m, blocks)

    def finish_chunk(self, m: Machine) -> None:
        """The chunk's blocks have ended: judge the rest of shared memory, keep the global accesses."""
        self._judge_shared(m, self.shared, None)
        self.shared.clear()
        if self.arrays:
            self.kept.append(Chunk(m.geometry, self.arrays))
            self.arrays = []

    def finish(self, m: Machine) -> None:
        """The launch has ended: judge global memory, over all its blocks."""
        if not self.kept:
            return
        rows = self._resolved(suspicious_rows(self.kept, self.grain))
        conflicts = find_conflicts(rows, self.described, self.allowance)
        if conflicts and (self.events.all or is_strong(rows.kind).any()):
            total = math.prod(m.geometry.launch.grid) * m.geometry.threads
            scope = Scope(m.geometry.threads, total, "global", self.grain, self.events.backwards)
            conflicts = self._unordered(rows, self.events.all, scope, conflicts)
        self.conflicts.extend(("global", conflict, m.record()) for conflict in conflicts)

    def _unordered(
        self, rows: Rows, events: list[Event], scope: Scope, suspected: list[Conflict]
    ) -> list[Conflict]:
        """Of conflicts suspected for the lack of whole barriers, the ones that nothing else orders."""
        noted = self.events.through_memory
        conflicts = find_unordered(rows, events, scope, self.allowance, noted=noted)
        updates = (rows.kind & UPDATES).any() or any(event.kind == UPDATE for event in events)
        if updates and _weights(conflicts) != _weights(suspected):
            self.order_mattered = True
        return conflicts

    def _resolved(self, rows: Rows) -> Rows:
        """The rows with the kinds that follow only from all of them together."""
        return with_flags(validated(rows, self.events.strengths), self.events.strengths)

    def _judge_shared(
        self, m: Machine, accesses: list[LoggedAccess], blocks: NDArray[np.bool_] | None
    ) -> None:
        if not any(access.kind & WRITES for access in accesses):
            return
        count = m.shared.bytes.size // self.grain
        # Reads stay folded, for most are of cells that no thread writes.
        bytes_ = [m.memo.unfold(access.byte) if access.kind & WRITES else access.byte for access in accesses]
        cells = [(access, byte // self.grain) for access, byte in zip(accesses, bytes_, strict=True)]
        suspect = suspects(m, cells, count)
        if all(marked is None for marked in suspect):
            return
        engines = any(access.engine for access in accesses)
        events = self.events.since_barrier(m, blocks)
        chosen = []
        outermost = Outermost(count)
        for (access, cell), marked in zip(cells, suspect, strict=True):
            if marked is None:
                continue
            of_lanes = m.memo.unfold(cell)
            in_cells = marked[of_lanes]
            if not access.kind & WRITES and not events and not engines and in_cells.any():
                in_cells &= outermost.of(of_lanes)
            if in_cells.any():
                chosen.append(part_of(m, access, in_cells))
        if sum(access.byte.size for access in chosen) > MOST_JUDGED:
            chosen = lowest_cells(m, chosen, MOST_JUDGED)
        rows = self._resolved(spelt_out(m, chosen, self.grain))
        conflicts = find_conflicts(rows, self.described, self.allowance)
        if engines or (conflicts and (events or is_strong(rows.kind).any())):
            scope = self.events.scope_of_shared(m, self.grain)
            conflicts = self._unordered(rows, events, scope, conflicts)
        self.conflicts.extend(("shared", conflict, m.record()) for conflict in conflicts)

    def _under_way(self, m: Machine, access: LoggedAccess) -> LoggedAccess | None:
        """The part of asynchronous copies that their lanes have not waited for."""
        still = self.events.landed_until(access.lanes) < access.when
        if still.ndim == 0:  # no copy has landed yet
            return access if still else None
        return part_of(m, access, still) if still.any() else None

    def _arrays(self, m: Machine, target: Target) -> set[str]:
        """The global arrays that an access may go to: usually one, more where lanes choose between them."""
        low, high = extremes(target.bytes)
        holder = m.memory.holding(low, high + 1)
        return (
            {holder.name} if holder else {allocation.name for allocation in m.memory.touching(low, high + 1)}
        )

    def _must_track(self, m: Machine, target: Target) -> None:
        """Before a write: the reads of these arrays must have been kept, and are from now on."""
        if target.space == "shared":
            return
        arrays = self._arrays(m, target)
        for array in sorted(arrays & self._seen_reads - self.tracked):
            raise RestartTracking(array)
        self._written |= arrays

    def _keep(
        self,
        m: Machine,
        site: int,
        kind: int,
        target: Target,
        size: int,
        value: Value | None,
        *,
        engine: bool = False,
    ) -> None:
        when = self.events.tick()
        log = self.shared if target.space == "shared" else self.arrays
        lanes = target.lanes
        warp_epoch = self.events.warp_epoch_of(m, lanes)
        epoch = ZERO
        if target.space != "shared" and self._epoch is not None:
            block = m.block_of if lanes is None else m.block_of[lanes]
            epoch = self._epoch[0] if self._one_epoch else self._epoch[block]
        count = m.size if lanes is None else len(lanes)
        first = spread(target.bytes, count)  # folded: most are never read again
        for offset in range(0, max(size, self.grain), self.grain):
            byte = first + offset if offset else first
            access = LoggedAccess(
                site, kind, lanes, byte, when, value, epoch, warp_epoch, engine, self.events.span
            )
            self._append(log, (target.space, site, offset), access, count)
        if kind & STRONG:
            self.events.accessed(m, access, target, size)

    def _append(
        self, log: list[LoggedAccess], key: tuple[str, int, int], access: LoggedAccess, count: int
    ) -> None:
        """Keep the first and the latest round of a loop over the same targets: they say all."""
        rounds = self._again.get(key)
        if rounds is None or not same_targets(log[rounds[0]], access):
            self._again[key] = [len(log)]
        elif len(rounds) == 1:
            rounds.append(len(log))
        else:
            first, latest = log[rounds[0]], log[rounds[1]]
            back = first.value is not None and np.array_equal(first.value, access.value)  # type: ignore[arg-type]
            log[rounds[1]] = access._replace(value=latest.value) if back else access
            return
        self._held[key[0]].add(access, count)
        log.append(access)


def _weights(conflicts: list[Conflict]) -> set[tuple[int, int, str, str, int]]:
    """Properties of conflicts that a better known order may change."""
    return {
        (min(c.site, c.other_site), max(c.site, c.other_site), c.hazard, c.level, c.elements)
        for c in conflicts
    }
