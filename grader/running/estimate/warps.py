"""Operations and requests of each warp of sampled blocks, as the simulation takes them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import frozen
from grader.running.estimate.demands import Demands
from grader.running.estimate.dram import DramShares
from grader.running.estimate.footprints import wave_of
from grader.running.estimate.memory_system import NOTHING
from grader.running.estimate.multiprocessor import WarpTrace
from grader.running.estimate.operations import operation_of
from grader.running.estimate.requests import (
    LINE_SHIFT,
    SECTOR_BYTES,
    distinct,
    request_of_passes,
    requests_of,
    rows_of,
)
from grader.running.estimate.sampling import l1_bytes
from grader.simulation.sass.waiting import EXCHANGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from grader.running.estimate.memory_system import WarpRequest
    from grader.running.estimate.multiprocessor import PipeOperation
    from grader.running.estimate.sampling import SampledBlocks
    from grader.simulation.sass.machine import Mask, MemoryAccess

_ASKING = frozenset(("shared", "local", "load", "store", "atomic"))

EXCHANGE = "shared-exchange"
"""The kind of what changes a word where it is as expected, and of lanes that want one word only for one."""

_MANY_LINES = 4096
"""Number of lines from which on updates do not wait for each other."""

_TIMES, _FEW = 8, 4
"""Successive parts of an instruction's accesses, and the factor of fewer lines that makes one narrow."""


@frozen
class Changed:
    """One thing that is imagined otherwise; see `grader.model.CHANGES`."""

    no_conflicts: bool = False
    coalesced: bool = False
    shared_loads: float = 1.0
    """The share of passes through shared memory that is left."""
    no_barriers: bool = False
    times_the_blocks: int = 1
    """Factor by which more blocks are resident."""

    def concerns(self, space: str) -> bool:
        """True if accesses to a space ask for something else."""
        if space == "shared":
            return self.no_conflicts or self.shared_loads < 1
        return self.coalesced and space == "global"


AS_IS = Changed()


class WarpTraces:
    """Makes the traces of warps from that of all lanes, as they are and with one thing imagined otherwise."""

    def __init__(self, sampled: SampledBlocks) -> None:
        """Look at what the blocks share."""
        code = sampled.launch.listing.instructions
        self.operations = tuple(operation_of(instruction, sampled.device) for instruction in code)
        """The operation of each instruction of the kernel."""
        self._sampled = sampled
        self._patterns: dict[bytes, tuple[float, ...]] = {}
        self._dram = DramShares(sampled)
        self._parts = _parts_of_l2(sampled, self.operations)
        self._as_is: dict[tuple[object, ...], list[WarpRequest]] = {}
        """The requests of each access of the kernel as it is; what no change concerns stays so."""
        self._imagined: dict[tuple[Changed, tuple[object, ...]], list[WarpRequest]] = {}
        self._asked: NDArray[np.float64] | None = None

    def demands(self, issues: Sequence[int]) -> NDArray[np.float64]:
        """Demands of each run, as `Demands` gives them; ``issues`` are the instructions of each run."""
        if self._asked is None:
            sampled = self._sampled
            room = l1_bytes(sampled.launch, sampled.device, sampled.resident) // SECTOR_BYTES
            demands = Demands(sampled, self.operations, *self._dram.by_array, self._updating, room)
            self._asked = demands.of_runs(issues)
        return self._asked

    def of_runs(self, chosen: Sequence[bool], changed: Changed) -> list[WarpTrace]:
        """Trace of each warp in the runs that are chosen; its marks are where those begin."""
        sampled = self._sampled
        operations: list[list[int]] = [[] for _ in range(sampled.warps)]
        requests: list[list[WarpRequest]] = [[] for _ in range(sampled.warps)]
        marks: list[list[int]] = [[] for _ in range(sampled.warps)]
        nothing = [NOTHING] * sampled.warps
        for (first, last, lanes, accesses), is_chosen in zip(self._runs(), chosen, strict=True):
            if not is_chosen:
                continue
            warps = np.flatnonzero(sampled.warps_of(lanes)).tolist()
            for warp in warps:
                marks[warp].append(len(operations[warp]))
                operations[warp] += range(first, last)
            for numbers in accesses:
                of_warps = self._together(numbers, changed) if numbers else nothing
                for warp in warps:
                    requests[warp].append(of_warps[warp])
        return [WarpTrace(*parts) for parts in zip(operations, requests, marks, strict=True)]

    def _runs(self) -> Iterator[tuple[int, int, Mask, list[list[int]]]]:
        """Each run with the numbers of the accesses of each memory instruction, one for each space."""
        asking = [operation.kind in _ASKING for operation in self.operations]
        trace, begin = self._sampled.trace, 0
        for (first, last, lanes), end in zip(trace.runs, trace.ends, strict=True):
            accesses: dict[int, list[int]] = {at: [] for at in range(first, last) if asking[at]}
            for number in range(begin, end):
                accesses[trace.accesses[number].instruction].append(number)
            begin = end
            yield first, last, lanes, list(accesses.values())

    def _together(self, numbers: Sequence[int], changed: Changed) -> list[WarpRequest]:
        """Requests of each warp in the accesses that one instruction makes: to every space."""
        first, *others = (self._requests(number, changed) for number in numbers)
        for other in others:
            first = [_both(*requests) for requests in zip(first, other, strict=True)]
        return first

    def _requests(self, number: int, changed: Changed) -> list[WarpRequest]:
        """Requests of each warp in an access; the same list for an access that was made before."""
        access = self._sampled.trace.accesses[number]
        key = self._key(number, access)
        as_is = self._as_is.get(key)
        if as_is is None:
            as_is = self._as_is[key] = self._requests_as_is(number, access)
        if not changed.concerns(access.space):
            return as_is
        imagined = self._imagined.get((changed, key))
        if imagined is None:
            distinct_ones = {id(request): request for request in as_is}
            changes = {at: _imagined(one, access, changed) for at, one in distinct_ones.items()}
            imagined = self._imagined[changed, key] = [changes[id(request)] for request in as_is]
        return imagined

    def _key(self, number: int, access: MemoryAccess) -> tuple[object, ...]:
        """The same for accesses that ask for the same; of atomic ones each asks for something else."""
        if self.operations[access.instruction].kind == "atomic":
            return (number,)
        return (access.instruction, id(access.addresses), id(access.mask), access.space)

    def _requests_as_is(self, number: int, access: MemoryAccess) -> list[WarpRequest]:
        sampled, at = self._sampled, access.instruction
        kind = self._kind(access)
        requests = requests_of(access, kind, sampled.device, self._patterns, sampled.threads)
        if access.space == "global":
            requests = [self._dram.with_share(request) for request in requests]
        if self.operations[at].kind == "atomic":
            return self._contended(number, access, requests)
        if kind == EXCHANGE:
            return self._exchanging(access, requests)
        return requests

    def _exchanging(self, access: MemoryAccess, requests: list[WarpRequest]) -> list[WarpRequest]:
        """Requests of an exchange in shared memory, with the words that it changes."""
        acting, addresses = rows_of(access, self._sampled.threads)
        return [
            replace(request, exchanged=tuple(distinct(row[lanes] >> 2).tolist()))
            if request.passes
            else request
            for request, row, lanes in zip(requests, addresses, acting, strict=True)
        ]

    def _contended(self, number: int, access: MemoryAccess, requests: list[WarpRequest]) -> list[WarpRequest]:
        """Requests of an atomic instruction, with the time that others take at the same places in L2.

        One part of L2 updates sector after sector, and an address that several lanes update once for each.
        """
        sector, update = self._sector_and_update(number)
        acting, addresses = rows_of(access, self._sampled.threads)
        contended = []
        for request, row, lanes in zip(requests, addresses, acting, strict=True):
            if request.lines:
                _, counts = np.unique(row[lanes], return_counts=True)
                sectors = sum(bits.bit_count() for _, bits in request.lines)
                contended.append(replace(request, hot=max(sectors * sector, int(counts.max()) * update)))
            else:
                contended.append(request)
        return contended

    def _updating(self, number: int) -> float:
        """The cycles between two updates of one address by an atomic access."""
        return self._sector_and_update(number)[1]

    def _sector_and_update(self, number: int) -> tuple[float, float]:
        """The cycles of an atomic access for a sector, and for each update of one address.

        All that are active do so, in as many parts of L2 as they go to.
        """
        sampled, device = self._sampled, self._sampled.device
        at = sampled.trace.accesses[number].instruction
        real = not {"F32", "F64"}.isdisjoint(sampled.launch.listing.instructions[at].modifiers)
        update = device.atomic_real_ns if real else device.atomic_integer_ns
        active = min(sampled.launch.blocks, device.multiprocessors)
        cycles = device.clock_ghz * active / self._parts.get(number, 1.0)
        return device.atomic_sector_ns * cycles, update * cycles

    def _kind(self, access: MemoryAccess) -> str:
        """The kind of an access, where stores and atomics in shared memory are kinds of their own."""
        at = access.instruction
        instruction = self._sampled.launch.listing.instructions[at]
        if self.operations[at].kind == "atomic" and access.space == "shared":  # by a generic address
            return "shared-atomic"
        if instruction.opcode == "STS":
            return "shared-store"
        if instruction.opcode == "ATOMS" and not EXCHANGES.isdisjoint(instruction.modifiers):
            return EXCHANGE
        if instruction.opcode == "ATOMS" and "POPC" not in instruction.modifiers:
            return "shared-atomic"
        return self.operations[at].kind


def _both(one: WarpRequest, other: WarpRequest) -> WarpRequest:
    """Request of lanes of a warp to different spaces, of which at most one has lines."""
    whole = one if one.lines else other
    return replace(whole, passes=one.passes + other.passes)


def _imagined(request: WarpRequest, access: MemoryAccess, changed: Changed) -> WarpRequest:
    """The request with one thing changed that concerns it."""
    least = max(1.0, access.size / 4)
    if access.space != "global":
        passes = min(request.passes, least) if changed.no_conflicts else request.passes
        if not passes:
            return request
        fewer = request_of_passes(passes * changed.shared_loads)
        return replace(fewer, exchanged=request.exchanged) if request.exchanged else fewer
    return _coalesced(request, access.size, least) if request.lines else request


def _parts_of_l2(sampled: SampledBlocks, operations: Sequence[PipeOperation]) -> dict[int, float]:
    """Number of parts of L2 with the lines that blocks update at once, for each atomic access, by number.

    Those are the lines of its instruction, unless it goes to few of them for some time.
    """
    numbers: dict[int, list[int]] = {}
    for number, access in enumerate(sampled.trace.accesses):
        if operations[access.instruction].kind == "atomic" and access.space == "global":
            numbers.setdefault(access.instruction, []).append(number)
    parts: dict[int, float] = {}
    for of_instruction in numbers.values():
        parts |= dict.fromkeys(of_instruction, _parts(of_instruction, sampled))
        length = -(-len(of_instruction) // _TIMES)
        times = [of_instruction[at : at + length] for at in range(0, len(of_instruction), length)]
        lines = [len(_updated(some, sampled)) for some in times]
        few = [some for some, count in zip(times, lines, strict=True) if count < max(lines) / _FEW]
        narrow = [number for some in few for number in some]
        parts |= dict.fromkeys(narrow, _parts(narrow, sampled) if narrow else 1.0)
    return parts


def _parts(numbers: Sequence[int], sampled: SampledBlocks) -> float:
    """Number of parts of L2 with the lines that blocks update at once by these accesses."""
    return max(1.0, _lines_at_once(_updated(numbers, sampled), sampled) / sampled.device.atomic_lines)


def _updated(numbers: Sequence[int], sampled: SampledBlocks) -> set[int]:
    """The lines that these accesses update, each with the sampled block that does, as one number."""
    blocks = len(sampled.blocks)
    block_of = (np.arange(sampled.warps) // sampled.warps_per_block)[:, None]
    pairs: set[int] = set()
    for number in numbers:
        if len(pairs) >= _MANY_LINES:
            break
        acting, addresses = rows_of(sampled.trace.accesses[number], sampled.threads)
        pairs.update(distinct(((addresses >> LINE_SHIFT) * blocks + block_of)[acting]).tolist())
    return pairs


def _lines_at_once(pairs: set[int], sampled: SampledBlocks) -> float:
    """Number of lines that the device's blocks update at once; ``pairs`` are a line and a sampled block.

    Blocks that each have lines of their own update the more lines the more blocks there are, and those that
    all update the same do not: what sampling more blocks adds to the lines is taken to go on so, as far as
    the arrays that are updated have lines.
    """
    blocks, lines = len(sampled.blocks), {pair // len(sampled.blocks) for pair in pairs}
    at_once = wave_of(sampled)
    if blocks == 1 or at_once <= blocks or not pairs:
        return float(len(lines))
    growth = math.log(max(1.0, len(lines) * blocks / len(pairs))) / math.log(blocks)
    lines_of_arrays = sum(
        -(-size // (1 << LINE_SHIFT))
        for start, size in sampled.launch.arrays
        if not lines.isdisjoint(range(start >> LINE_SHIFT, (start + size - 1 >> LINE_SHIFT) + 1))
    )
    return float(max(len(lines), min(lines_of_arrays, len(lines) * (at_once / blocks) ** growth)))


def _coalesced(request: WarpRequest, size: int, least: float) -> WarpRequest:
    """The request as if its lanes' elements were neighbours: as few lines as hold a warp's."""
    sectors = max(1, 32 * size // SECTOR_BYTES)
    have = sum(bits.bit_count() for _, bits in request.lines)
    if have <= sectors:
        return request
    lines = tuple((line, 0xF) for line, _ in request.lines[: max(1, sectors // 4)])
    return replace(request, passes=min(request.passes, least), lines=lines)
