"""What each warp of sampled blocks issues and asks of memory, as the simulation takes it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from grader.estimate.dram import DramShares
from grader.estimate.footprints import wave_of
from grader.estimate.memory_system import NOTHING
from grader.estimate.multiprocessor import WarpTrace
from grader.estimate.operations import operation_of
from grader.estimate.requests import LINE_SHIFT, SECTOR_BYTES, distinct, requests_of, rows_of
from grader.sass.waiting import EXCHANGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.estimate.memory_system import Request
    from grader.estimate.multiprocessor import Operation
    from grader.estimate.sampling import SampledBlocks
    from grader.sass.machine import Mask, MemoryAccess

_ASKING = frozenset(("shared", "local", "load", "store", "atomic"))

EXCHANGE = "shared-exchange"
"""The kind of what changes a word where it is as expected, and of lanes that want one word only for one."""

_MANY_LINES = 4096
"""With so many lines, updates do not wait for each other."""


@dataclass(frozen=True, slots=True)
class Changed:
    """One thing that is imagined otherwise; see `grader.model.CHANGES`."""

    no_conflicts: bool = False
    coalesced: bool = False
    shared_loads: float = 1.0
    """The share of passes through shared memory that is left."""
    no_barriers: bool = False
    times_the_blocks: int = 1
    """So many times as many blocks are resident."""

    def concerns(self, space: str) -> bool:
        """Whether accesses to a space ask for something else."""
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
        self._as_is: dict[int, list[Request]] = {}
        """The requests of each access of the kernel as it is; what no change concerns stays so."""

    def of_runs(self, chosen: Sequence[bool], changed: Changed) -> list[WarpTrace]:
        """What each warp issues in the runs that are chosen; its marks are where those begin."""
        sampled = self._sampled
        operations: list[list[int]] = [[] for _ in range(sampled.warps)]
        requests: list[list[Request]] = [[] for _ in range(sampled.warps)]
        marks: list[list[int]] = [[] for _ in range(sampled.warps)]
        nothing = [NOTHING] * sampled.warps
        for (first, last, lanes, accesses), is_chosen in zip(self._runs(), chosen, strict=True):
            if not is_chosen:
                continue
            warps = np.flatnonzero(sampled.warps_of(lanes)).tolist()
            for warp in warps:
                marks[warp].append(len(operations[warp]))
                operations[warp] += range(first, last)
            for number in accesses:
                of_warps = nothing if number is None else self._requests(number, changed)
                for warp in warps:
                    requests[warp].append(of_warps[warp])
        return [WarpTrace(*parts) for parts in zip(operations, requests, marks, strict=True)]

    def _runs(self) -> Iterator[tuple[int, int, Mask, list[int | None]]]:
        """Each run with the number of the access of each memory instruction; None where no lane made one."""
        asking = [operation.kind in _ASKING for operation in self.operations]
        trace, number = self._sampled.trace, 0
        for first, last, lanes in trace.runs:
            accesses: list[int | None] = []
            for at in range(first, last):
                if not asking[at]:
                    continue
                if number < len(trace.accesses) and trace.accesses[number].instruction == at:
                    accesses.append(number)
                    number += 1
                else:
                    accesses.append(None)
            yield first, last, lanes, accesses

    def _requests(self, number: int, changed: Changed) -> list[Request]:
        """What each warp asks for in an access."""
        access = self._sampled.trace.accesses[number]
        if number not in self._as_is:
            self._as_is[number] = self._requests_as_is(access)
        if not changed.concerns(access.space):
            return self._as_is[number]
        return [_imagined(request, access, changed) for request in self._as_is[number]]

    def _requests_as_is(self, access: MemoryAccess) -> list[Request]:
        sampled, at = self._sampled, access.instruction
        requests = requests_of(access, self._kind(at), sampled.device, self._patterns, sampled.threads)
        requests = [self._dram.with_share(request) for request in requests]
        if self.operations[at].kind == "atomic":
            return self._contended(access, requests)
        if self._kind(at) == EXCHANGE:
            return self._exchanging(access, requests)
        return requests

    def _exchanging(self, access: MemoryAccess, requests: list[Request]) -> list[Request]:
        """Requests of an exchange in shared memory, with the words that it changes."""
        acting, addresses = rows_of(access, self._sampled.threads)
        return [
            replace(request, exchanged=tuple(distinct(row[lanes] >> 2).tolist()))
            if request.passes
            else request
            for request, row, lanes in zip(requests, addresses, acting, strict=True)
        ]

    def _contended(self, access: MemoryAccess, requests: list[Request]) -> list[Request]:
        """Requests of an atomic instruction, with the time that others take at the same places in L2.

        One part of L2 updates sector after sector, and an address that several lanes update once for each.
        """
        sampled, device, at = self._sampled, self._sampled.device, access.instruction
        real = not {"F32", "F64"}.isdisjoint(sampled.launch.listing.instructions[at].modifiers)
        update = device.atomic_real_ns if real else device.atomic_integer_ns
        active = min(sampled.launch.blocks, device.multiprocessors)
        acting, addresses = rows_of(access, self._sampled.threads)
        contended = []
        for request, row, lanes in zip(requests, addresses, acting, strict=True):
            if request.lines:
                _, counts = np.unique(row[lanes], return_counts=True)
                sectors = sum(bits.bit_count() for _, bits in request.lines)
                longest = max(sectors * device.atomic_sector_ns, int(counts.max()) * update)
                hot = longest * device.clock_ghz * active / self._parts[at]
                contended.append(replace(request, hot=hot))
            else:
                contended.append(request)
        return contended

    def _kind(self, at: int) -> str:
        """The kind of an access, where stores and atomics in shared memory are kinds of their own."""
        instruction = self._sampled.launch.listing.instructions[at]
        if instruction.opcode == "STS":
            return "shared-store"
        if instruction.opcode == "ATOMS" and not EXCHANGES.isdisjoint(instruction.modifiers):
            return EXCHANGE
        if instruction.opcode == "ATOMS" and "POPC" not in instruction.modifiers:
            return "shared-atomic"
        return self.operations[at].kind


def _imagined(request: Request, access: MemoryAccess, changed: Changed) -> Request:
    """The request with one thing changed that concerns it."""
    least = max(1.0, access.size / 4)
    if access.space != "global":
        passes = min(request.passes, least) if changed.no_conflicts else request.passes
        return replace(request, passes=passes * changed.shared_loads) if passes else request
    return _coalesced(request, access.size, least) if request.lines else request


def _parts_of_l2(sampled: SampledBlocks, operations: Sequence[Operation]) -> dict[int, float]:
    """For each atomic instruction, in how many parts of L2 the lines lie that blocks update at once."""
    blocks = len(sampled.blocks)
    block_of = (np.arange(sampled.warps) // sampled.warps_per_block)[:, None]
    updates: dict[int, set[int]] = {}
    for access in sampled.trace.accesses:
        if operations[access.instruction].kind == "atomic":
            pairs = updates.setdefault(access.instruction, set())
            if len(pairs) < _MANY_LINES:
                acting, addresses = rows_of(access, sampled.threads)
                pairs.update(distinct(((addresses >> LINE_SHIFT) * blocks + block_of)[acting]).tolist())
    return {
        at: max(1.0, _lines_at_once(pairs, sampled) / sampled.device.atomic_lines)
        for at, pairs in updates.items()
    }


def _lines_at_once(pairs: set[int], sampled: SampledBlocks) -> float:
    """How many lines the blocks of the whole device update at once; ``pairs`` are a line and a sampled block.

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


def _coalesced(request: Request, size: int, least: float) -> Request:
    """The request as if its lanes' elements were neighbours: as few lines as hold a warp's."""
    sectors = max(1, 32 * size // SECTOR_BYTES)
    have = sum(bits.bit_count() for _, bits in request.lines)
    if have <= sectors:
        return request
    lines = tuple((line, 0xF) for line, _ in request.lines[: max(1, sectors // 4)])
    return replace(request, passes=min(request.passes, least), lines=lines)
