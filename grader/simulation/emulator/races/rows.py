"""Records of accesses: a compact one for every access, and rows for those that may race.

The effect of accesses on order is read off their instructions, and off the accesses beside them.

The strength of an access follows from its instruction (PTX ISA sections 8.4 to 8.6, 9.7.13). The kind of two
sorts of accesses shows only beside others: reads that a compare-and-swap validates, and flags.

old = *p;  do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (old != seen);

is how the CUDA C++ Programming Guide builds atomic operations that the hardware lacks. The first read is
plain and may see anything: the swap only happens if what it saw is still there. So a plain read counts as
strong where its own thread compares that very cell afterwards.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from grader.simulation.emulator.spin_waits import awaited_loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.values import Lanes, Value
    from grader.simulation.ptx import Instruction, Module

WRITES, STRONG, NARROW, UPDATES, MAY_BE_FLAG = 1, 2, 4, 8, 16
"""The bits of a kind: it changes memory; it is strong (PTX ISA section 8.4); its scope is its block alone; it
reads and writes as one; it is strong only if a thread waits for the value that it sets."""

READ, WRITE, STRONG_READ, STRONG_WRITE = 0, WRITES, STRONG, WRITES | STRONG
ATOMIC = WRITES | STRONG | UPDATES
"""Kinds of accesses."""

COPY_ENGINE = 1 << 40
"""Added to a lane's number: the engine that carries out the lane's asynchronous copies."""


def writes(kind: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mask of the accesses that change memory."""
    changing: NDArray[np.bool_] = (kind & WRITES) != 0
    return changing


def is_strong(kind: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mask of the accesses that are strong, within their scope."""
    strong: NDArray[np.bool_] = (kind & STRONG) != 0
    return strong


def number_of(cells: NDArray[np.int64]) -> int:
    """Number of different cells; ``np.unique`` would load masked arrays, which takes 8 ms."""
    ordered = np.sort(cells)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + min(1, ordered.size)


def conflicting(
    kind: NDArray[np.int64], other_kind: NDArray[np.int64], same_block: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Mask of the pairs of accesses to one cell that conflict: one writes, and not morally strong.

    Two strong accesses are morally strong if each has the other's thread in its scope (PTX ISA section 8.7).
    """
    strong = is_strong(kind & other_kind) & (same_block | ((kind | other_kind) & NARROW == 0))
    racy: NDArray[np.bool_] = writes(kind | other_kind) & ~strong
    return racy


class LoggedAccess(NamedTuple):
    """One instruction's accesses: most are never read again.

    ``byte`` is the byte that each of ``lanes`` reads or writes, maybe folded; ``when`` counts all accesses
    and synchronisations.
    """

    site: int
    kind: int
    lanes: Lanes
    byte: Value
    when: int
    value: Value | None
    epoch: Value
    """Barrier interval of each lane's block, where accesses of several are kept together."""
    warp_epoch: Value
    engine: bool = False
    """Done by the lanes' copy engines, not by the lanes."""
    span: int = 0
    """Number of times all warps of the chunk had synchronised, each as a whole; -1 if not all together."""


class Rows(NamedTuple):
    """Accesses spelt out, one row each, all arrays of one length."""

    cell: NDArray[np.int64]
    lane: NDArray[np.int64]
    block: NDArray[np.int64]
    warp: NDArray[np.int64]
    site: NDArray[np.int64]
    kind: NDArray[np.int64]
    when: NDArray[np.int64]
    epoch: NDArray[np.int64]
    warp_epoch: NDArray[np.int64]
    value: NDArray[np.uint64]

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Rows:
        """Some of the rows."""
        return Rows._make(column[rows] for column in self)


def spelt_out(m: Machine, accesses: list[LoggedAccess], grain: int) -> Rows:
    """The rows of some accesses."""

    def column(values: Iterator[Value]) -> NDArray[np.int64]:
        return np.concatenate([np.asarray(value, np.int64) for value in values])

    lanes = [lanes_of(m, access) for access in accesses]
    counts = [len(part) for part in lanes]

    def each_lane(values: Iterator[Value | int]) -> NDArray[np.int64]:
        return column(np.broadcast_to(value, count) for value, count in zip(values, counts, strict=True))

    lane = column(iter(lanes))
    return Rows(
        cell=column(m.memo.unfold(access.byte) // grain for access in accesses),
        lane=lane + COPY_ENGINE * each_lane(access.engine for access in accesses),
        block=m.block_of[lane].astype(np.int64),
        warp=m.warp_of[lane].astype(np.int64),
        site=each_lane(access.site for access in accesses),
        kind=each_lane(access.kind for access in accesses),
        when=each_lane(access.when for access in accesses),
        epoch=each_lane(access.epoch for access in accesses),
        warp_epoch=each_lane(access.warp_epoch for access in accesses),
        value=np.concatenate([_bits(access, count) for access, count in zip(accesses, counts, strict=True)]),
    )


def _bits(access: LoggedAccess, count: int) -> NDArray[np.uint64]:
    if access.value is None:
        return np.zeros(count, np.uint64)
    return np.broadcast_to(access.value.view(f"u{access.value.dtype.itemsize}"), count).astype(np.uint64)


def lanes_of(m: Machine, access: LoggedAccess) -> NDArray[np.intp]:
    """The lanes of an access as indices."""
    return np.arange(m.size) if access.lanes is None else access.lanes


def of_blocks(m: Machine, access: LoggedAccess, blocks: NDArray[np.bool_]) -> LoggedAccess | None:
    """The part of an access that lanes of some blocks make; None if they make none of it."""
    chosen = blocks[m.block_of[lanes_of(m, access)]]
    return part_of(m, access, chosen) if chosen.any() else None


def part_of(m: Machine, access: LoggedAccess, mask: NDArray[np.bool_]) -> LoggedAccess:
    """The part of an access that some of its lanes make."""

    def part(value: Value) -> Value:
        return value if value.ndim == 0 else value[mask]

    return access._replace(
        lanes=lanes_of(m, access)[mask],
        byte=m.memo.unfold(access.byte)[mask],
        value=None if access.value is None else part(access.value),
        epoch=part(access.epoch),
        warp_epoch=part(access.warp_epoch),
    )


def lowest_cells(m: Machine, accesses: list[LoggedAccess], most: int) -> list[LoggedAccess]:
    """The parts of accesses, unfolded, that go to the lowest bytes: about ``most`` in all."""
    bytes_ = np.concatenate([access.byte for access in accesses])
    bound = max(int(np.partition(bytes_, most)[most]), int(bytes_.min()) + 16)
    parts = [(access, access.byte < bound) for access in accesses]
    return [part_of(m, access, low) for access, low in parts if low.any()]


def same_targets(one: LoggedAccess, other: LoggedAccess) -> bool:
    """True if the same lanes access the same cells, with nothing in between that orders them."""
    if one.kind != other.kind or one.byte.shape != other.byte.shape or one.byte.item(0) != other.byte.item(0):
        return False
    if (one.lanes is None) != (other.lanes is None):
        return False
    pairs = ((one.byte, other.byte), (one.epoch, other.epoch), (one.warp_epoch, other.warp_epoch))
    if not all(mine is yours or np.array_equal(mine, yours) for mine, yours in pairs):
        return False
    return one.lanes is other.lanes or np.array_equal(one.lanes, other.lanes)  # type: ignore[arg-type]


Accesses: TypeAlias = "list[tuple[LoggedAccess, NDArray[np.int64]]]"
"""Accesses, each with its cells; the cells of reads may be folded."""


def suspects(m: Machine, accesses: Accesses, count: int) -> list[NDArray[np.bool_] | None]:
    """For each access a mask of the ``count`` suspect cells: written, and touched by several threads.

    Where all warps keep synchronising, several threads of one warp must touch a cell between two such
    moments; touched at different moments it takes threads of several warps.
    """
    spans = {access.span for access, _ in accesses}
    if len(spans) == 1 or -1 in spans or any(access.engine for access, _ in accesses):
        return [suspect_cells(m, accesses, count, np.arange(m.size))] * len(accesses)
    across = suspect_cells(m, accesses, count, m.warp_of)
    suspect_by_span = {}
    for span in spans:
        part = [(access, cell) for access, cell in accesses if access.span == span]
        within = suspect_cells(m, part, count, np.arange(m.size))
        suspect_by_span[span] = within if across is None else across if within is None else within | across
    return [suspect_by_span[access.span] for access, _ in accesses]


def suspect_cells(
    m: Machine, accesses: Accesses, count: int, agent: NDArray[np.intp]
) -> NDArray[np.bool_] | None:
    """The cells that are written and that more than one agent touches; None if there are none.

    ``agent`` gives each lane's number, or that of its warp.
    """
    written, writers = np.zeros(count, np.bool_), 0
    for access, cell in accesses:
        if access.kind & WRITES:
            written[cell] = True
            writers += cell.size
    concerned = [(a, cell) for a, cell in accesses if a.kind & WRITES or np.count_nonzero(written[cell])]
    if np.count_nonzero(written) == writers and all(access.kind & WRITES for access, _ in concerned):
        return None  # each cell by one lane: the usual case, where threads fill a tile
    touching = [
        (m.memo.unfold(cell), agent[lanes_of(m, access)] + (COPY_ENGINE if access.engine else 0))
        for access, cell in concerned
    ]
    shared = touched_by_several(lambda: touching, count) & written
    return shared if shared.any() else None


def touched_by_several(
    parts: Callable[[], Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]]], count: int
) -> NDArray[np.bool_]:
    """Mask of the ``count`` cells that several agents touch.

    ``parts`` gives cells and the agent at each, the same each time it is called: they are gone through twice.
    """
    owner = np.zeros(count, np.int64)  # counted from 1: zeros take memory only where they are touched
    for cell, agents in parts():
        owner[cell] = agents + 1
    shared = np.zeros(count, np.bool_)
    for cell, agents in parts():
        different = owner[cell] != agents + 1
        if different.any():
            shared[cell[different]] = True
    return shared


class Outermost:
    """Picks, of the lanes that read a cell in one instruction, the lowest and the highest.

    Where only whole warps and blocks synchronise nothing is lost: whether some reader's thread, warp or
    block differs from a writer's shows at the ends, for lanes are numbered warp by warp and block by block.
    Of writers all are kept: their values matter.
    """

    def __init__(self, cells: int) -> None:
        self._first = np.empty(cells, np.intp)
        self._last = np.empty(cells, np.intp)

    def of(self, cell: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A mask over the lanes of an access, in increasing order; of equal cells the last one stays."""
        position = np.arange(len(cell))
        self._last[cell] = position
        self._first[cell[::-1]] = position[::-1]
        ends: NDArray[np.bool_] = (self._first[cell] == position) | (self._last[cell] == position)
        return ends


_STRONG = {"relaxed", "acquire", "release", "acq_rel", "sc"}
_BLOCK_ONLY = {"cta"}


class Strength(NamedTuple):
    """Degree to which an access can take part in synchronisation.

    ``strong``: it never races with another strong one in whose scope it is. ``volatile``: it may read or
    write a flag. ``acquires``, ``releases``: it synchronises by itself. ``wide``: with other blocks too.
    ``compares``: it is a compare-and-swap. ``awaits``: a loop repeats until it reads another value.
    """

    strong: bool
    volatile: bool
    acquires: bool
    releases: bool
    wide: bool
    compares: bool
    awaits: bool = False


def strength_of(instruction: Instruction) -> Strength:
    """The strength of a load, store or atomic operation."""
    words = set(instruction.modifiers)
    by_phase = "mbarrier" in (instruction.opcode, *words)  # its synchronisation is in events of their own
    plain = by_phase and bool(words & {"init", "inval"})
    return Strength(
        strong=instruction.opcode in ("atom", "red") or bool(words & _STRONG) or (by_phase and not plain),
        volatile="volatile" in words,
        acquires=bool(words & {"acquire", "acq_rel"}) and not by_phase,
        releases=bool(words & {"release", "acq_rel"}) and not by_phase,
        wide=not words & _BLOCK_ONLY,
        compares="cas" in words,
    )


def synchronises_through_memory(module: Module) -> bool:
    """True if a module has fences, or accesses that synchronise by themselves."""
    return any(
        instruction.opcode in ("membar", "fence")
        or not {"acquire", "release", "acq_rel"}.isdisjoint(instruction.modifiers)
        for function in module.functions
        for instruction in function.body
    )


def synchronises_in_parts(module: Module) -> bool:
    """True if a module has barriers for some threads of a block, or asynchronous copies."""
    return any(_is_partial(instruction) for function in module.functions for instruction in function.body)


def _is_partial(instruction: Instruction) -> bool:
    if instruction.opcode in ("cp", "mbarrier"):
        return True
    if instruction.opcode not in ("bar", "barrier") or "warp" in instruction.modifiers:
        return False
    return "arrive" in instruction.modifiers or len(instruction.operands) > 1


def orders_by_whole_barriers(module: Module) -> bool:
    """True if nothing but barriers of whole blocks orders the accesses of a module's threads."""
    return not synchronises_in_parts(module) and not any(
        instruction.opcode in ("atom", "red", "fence", "membar", "redux")
        or {"warp", "volatile", *_STRONG}.intersection(instruction.modifiers)
        for function in module.functions
        for instruction in function.body
    )


class Strengths:
    """The strengths of the numbered sites of a module, each computed once."""

    def __init__(self, module: Module, sites: Sequence[Instruction]) -> None:
        self._module, self.sites = module, sites
        self._cache: dict[int, Strength] = {}

    @cached_property
    def _awaited(self) -> frozenset[int]:
        return awaited_loads(self._module)

    def __getitem__(self, site: int) -> Strength:
        """The strength of a site."""
        if site not in self._cache:
            strength = strength_of(self.sites[site])
            if strength.volatile and not strength.strong:
                strength = strength._replace(awaits=self.sites[site].ptx_line in self._awaited)
            self._cache[site] = strength
        return self._cache[site]


def validated(rows: Rows, strengths: Strengths) -> Rows:
    """The rows with each plain read that a later compare-and-swap of its lane validates as a strong one."""
    atomic = (rows.kind & UPDATES) != 0
    if not atomic.any():
        return rows
    comparing = [site for site in np.unique(rows.site[atomic]).tolist() if strengths[site].compares]
    if not comparing:
        return rows
    swaps = atomic & np.isin(rows.site, comparing)
    _, group = np.unique(np.stack((rows.cell, rows.lane)), axis=1, return_inverse=True)
    group = group.reshape(-1)
    latest = np.full(int(group.max()) + 1, -1, np.int64)
    np.maximum.at(latest, group[swaps], rows.when[swaps])
    good = (rows.kind == READ) & (latest[group] > rows.when)
    return rows._replace(kind=np.where(good, STRONG_READ, rows.kind))


def with_flags(rows: Rows, strengths: Strengths) -> Rows:
    """The rows with each write that may set a flag as a strong one where a loop waits for that very cell.

    All others are plain: a `volatile` word for which no thread waits is data.
    """
    open_question = (rows.kind & MAY_BE_FLAG) != 0
    if not open_question.any():
        return rows
    waiting = [site for site in np.unique(rows.site).tolist() if strengths[site].awaits]
    is_flag = np.isin(rows.cell, rows.cell[np.isin(rows.site, waiting)])
    kind = np.where(open_question & ~is_flag, rows.kind & ~STRONG, rows.kind)
    return rows._replace(kind=kind & ~MAY_BE_FLAG)
