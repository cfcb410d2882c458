"""What each warp of sampled blocks issues and asks of memory, as the simulation takes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from grader.estimate.multiprocessor import NOTHING, WarpTrace
from grader.estimate.requests import LINE_SHIFT, SECTOR_BYTES, distinct, requests_of
from grader.sass.machine import WARP
from grader.sass.retries import EXCHANGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from grader.estimate.dram import DramShares
    from grader.estimate.multiprocessor import Operation, Request
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


AS_IS = Changed()


class WarpTraces:
    """Makes the traces of warps from that of all lanes."""

    def __init__(
        self,
        sampled: SampledBlocks,
        operations: Sequence[Operation],
        dram: DramShares,
        changed: Changed = AS_IS,
    ) -> None:
        """``operations`` are those of the kernel's instructions."""
        self._sampled, self._operations, self._changed = sampled, operations, changed
        self._memo: dict[bytes, tuple[float, ...]] = {}
        self._dram = dram
        self._parts = _parts_of_l2(sampled, operations)

    def of_runs(self, chosen: Sequence[bool]) -> list[WarpTrace]:
        """What each warp issues in the runs that are chosen; its marks are where those begin."""
        sampled = self._sampled
        operations: list[list[int]] = [[] for _ in range(sampled.warps)]
        requests: list[list[Request]] = [[] for _ in range(sampled.warps)]
        marks: list[list[int]] = [[] for _ in range(sampled.warps)]
        for (first, last, lanes, pairs), is_chosen in zip(self._runs(), chosen, strict=True):
            if not is_chosen:
                continue
            warps = np.flatnonzero(sampled.warps_of(lanes)).tolist()
            for warp in warps:
                marks[warp].append(len(operations[warp]))
                operations[warp] += range(first, last)
            for at, access in pairs:
                made = self._requests(access, at) if access else [NOTHING] * sampled.warps
                for warp in warps:
                    requests[warp].append(made[warp])
        return [WarpTrace(*parts) for parts in zip(operations, requests, marks, strict=True)]

    def _runs(self) -> Iterator[tuple[int, int, Mask, list[tuple[int, MemoryAccess | None]]]]:
        """Each run with its memory instructions and what each accessed; None where no lane did."""
        asking = [operation.kind in _ASKING for operation in self._operations]
        accesses = iter(self._sampled.trace.accesses)
        access = next(accesses, None)
        for first, last, lanes in self._sampled.trace.runs:
            pairs: list[tuple[int, MemoryAccess | None]] = []
            for at in range(first, last):
                if not asking[at]:
                    continue
                if access is not None and access.instruction == at:
                    pairs.append((at, access))
                    access = next(accesses, None)
                else:
                    pairs.append((at, None))
            yield first, last, lanes, pairs

    def _requests(self, access: MemoryAccess, at: int) -> list[Request]:
        sampled = self._sampled
        made = requests_of(access, self._kind(at), sampled.device, self._memo, sampled.threads)
        made = [self._dram.with_share(self._imagined(request, access)) for request in made]
        if self._operations[at].kind == "atomic":
            return self._contended(access, at, made)
        if self._kind(at) == EXCHANGE:
            return self._exchanging(access, made)
        return made

    def _exchanging(self, access: MemoryAccess, made: list[Request]) -> list[Request]:
        """Requests of an exchange in shared memory, with the words that it changes."""
        acting, addresses = self._rows(access)
        return [
            replace(request, exchanged=tuple(distinct(row[lanes] >> 2).tolist()))
            if request.passes
            else request
            for request, row, lanes in zip(made, addresses, acting, strict=True)
        ]

    def _rows(self, access: MemoryAccess) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """The lanes of each warp that make an access, and their addresses."""
        threads = self._sampled.threads
        acting = threads if access.mask is None else threads & access.mask
        addresses = np.broadcast_to(access.addresses, threads.shape)
        return acting.reshape(-1, WARP), addresses.reshape(-1, WARP)

    def _contended(self, access: MemoryAccess, at: int, made: list[Request]) -> list[Request]:
        """Requests of an atomic instruction, with the time that others take at the same places in L2.

        One part of L2 updates sector after sector, and an address that several lanes update once for each.
        """
        sampled, device = self._sampled, self._sampled.device
        real = not {"F32", "F64"}.isdisjoint(sampled.launch.listing.instructions[at].modifiers)
        update = device.atomic_real_ns if real else device.atomic_integer_ns
        active = min(sampled.launch.blocks, device.multiprocessors)
        acting, addresses = self._rows(access)
        contended = []
        for request, row, lanes in zip(made, addresses, acting, strict=True):
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
        return self._operations[at].kind

    def _imagined(self, request: Request, access: MemoryAccess) -> Request:
        changed = self._changed
        if changed is AS_IS or not request.passes:
            return request
        least = max(1.0, access.size / 4)
        if access.space == "shared":
            passes = min(request.passes, least) if changed.no_conflicts else request.passes
            return replace(request, passes=passes * changed.shared_loads)
        if changed.coalesced and request.lines:
            return _coalesced(request, access.size, least)
        return request


def _parts_of_l2(sampled: SampledBlocks, operations: Sequence[Operation]) -> dict[int, float]:
    """For each atomic instruction, in how many parts of L2 the lines lie that it updates."""
    lines: dict[int, set[int]] = {}
    for access in sampled.trace.accesses:
        if operations[access.instruction].kind == "atomic":
            touched = lines.setdefault(access.instruction, set())
            if len(touched) < _MANY_LINES:
                acting = sampled.threads if access.mask is None else sampled.threads & access.mask
                addresses = np.broadcast_to(access.addresses, acting.shape)[acting]
                touched.update(distinct(addresses >> LINE_SHIFT).tolist())
    return {at: max(1.0, len(touched) / sampled.device.atomic_lines) for at, touched in lines.items()}


def _coalesced(request: Request, size: int, least: float) -> Request:
    """The request as if its lanes' elements were neighbours: as few lines as hold a warp's."""
    sectors = max(1, 32 * size // SECTOR_BYTES)
    have = sum(bits.bit_count() for _, bits in request.lines)
    if have <= sectors:
        return request
    lines = tuple((line, 0xF) for line, _ in request.lines[: max(1, sectors // 4)])
    return replace(request, passes=min(request.passes, least), lines=lines)
