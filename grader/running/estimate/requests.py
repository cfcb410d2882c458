"""Requests of warps to the memory system by their accesses: passes through the unit of loads, and lines.

Shared memory and L1 have 32 banks of 4 bytes; a pass serves any words in different banks, and all lanes that
want the same word (CUDA C++ programming guide, "Shared memory"). A load of 8 bytes per lane goes in halves
of the warp, one of 16 bytes in quarters; loads from shared memory whose lanes agree in pairs go in half as
many. That, and what stores and atomics take, was measured (`tests/bench/gpu/microbenchmarks`, patterns of
shared and global memory).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from grader.running.estimate.memory_system import NOTHING, WarpRequest
from grader.simulation.sass.machine import WARP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.running.estimate.devices import GpuModel
    from grader.simulation.sass.machine import MemoryAccess

BANKS, WORD = 32, 4
LINE_SHIFT, SECTOR_SHIFT = 7, 5
SECTOR_BYTES = 1 << SECTOR_SHIFT
LINES_A_CYCLE = 4
"""Lines that L1 looks up in a cycle."""
ATOMIC_SECTOR = 3.5
"""Cycles that atomics on a sector take a multiprocessor."""


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The values once each, in order. Without counts `np.unique` loads masked arrays, which takes time."""
    return np.unique(values, return_counts=True)[0]


@lru_cache(maxsize=1024)
def request_of_passes(passes: float) -> WarpRequest:
    """The request that takes passes and nothing else; the same object each time, for there are many."""
    return WarpRequest(passes) if passes else NOTHING


def requests_of(
    access: MemoryAccess,
    kind: str,
    device: GpuModel,
    memo: dict[bytes, tuple[float, ...]],
    threads: NDArray[np.bool_],
) -> list[WarpRequest]:
    """Request of each warp; ``kind`` as in `PipeOperation`, ``threads`` are the lanes that have a thread."""
    acting, addresses = rows_of(access, threads)
    if access.space != "global":
        return _shared(access, kind, addresses, acting, memo)
    return _global(access, kind, device, addresses, acting, memo)


def rows_of(access: MemoryAccess, threads: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """The lanes of each warp that make an access, and their addresses, both a row of 32 for each warp."""
    acting = threads if access.mask is None else threads & access.mask
    addresses = np.broadcast_to(access.addresses, threads.shape)
    return acting.reshape(-1, WARP), addresses.reshape(-1, WARP)


def _shared(
    access: MemoryAccess,
    kind: str,
    addresses: NDArray[np.int64],
    acting: NDArray[np.bool_],
    memo: dict[bytes, tuple[float, ...]],
) -> list[WarpRequest]:
    first = np.where(acting.any(axis=1), addresses[np.arange(len(addresses)), acting.argmax(axis=1)], 0)
    pattern = addresses - (first >> 2 << 2)[:, None]
    key = pattern.tobytes() + acting.tobytes() + kind.encode() + bytes([access.size])
    passes = memo.get(key)
    if passes is None:
        rows = zip(pattern, acting, strict=True)
        passes = memo[key] = tuple(
            _passes(row[mask], np.flatnonzero(mask), access.size, kind, in_pairs=True) for row, mask in rows
        )
    return [request_of_passes(number) for number in passes]


def _passes(
    row: NDArray[np.int64], lanes: NDArray[np.intp], size: int, kind: str, *, in_pairs: bool
) -> float:
    """Number of passes that one warp's access takes."""
    if not len(row):
        return 0.0
    phases = max(1, size // WORD)
    if in_pairs and phases > 1 and kind == "shared" and _agree_in_pairs(row, lanes):
        phases //= 2
    total, together = 0, WARP // phases
    for phase in range(phases):
        chosen = row[(lanes // together) == phase]
        if not len(chosen):
            continue
        words = (chosen[:, None] + np.arange(0, max(size, WORD), WORD)).ravel() >> 2
        if kind != "shared-atomic":
            words = distinct(words)
        total += int(np.bincount(words % BANKS).max())
    return float(max(total, 1))


def _agree_in_pairs(row: NDArray[np.int64], lanes: NDArray[np.intp]) -> bool:
    """True if each lane wants what its neighbour wants, or what the one after that wants."""
    if len(row) != WARP:
        return False
    return bool((row == row[lanes ^ 1]).all() or (row == row[lanes ^ 2]).all())


def _global(
    access: MemoryAccess,
    kind: str,
    device: GpuModel,
    addresses: NDArray[np.int64],
    acting: NDArray[np.bool_],
    memo: dict[bytes, tuple[float, ...]],
) -> list[WarpRequest]:
    requests = []
    for row, mask in zip(addresses, acting, strict=True):
        if not mask.any():
            requests.append(NOTHING)
            continue
        chosen = row[mask]
        base = int(chosen[0]) >> LINE_SHIFT << LINE_SHIFT
        pattern = chosen - base
        key = pattern.tobytes() + mask.tobytes() + kind.encode() + bytes([access.size])
        if key not in memo:
            memo[key] = _pattern(pattern, np.flatnonzero(mask), access.size, kind, device)
        passes, written, *sectors = memo[key]
        line = base >> LINE_SHIFT
        lines = tuple((line + int(sectors[at]), int(sectors[at + 1])) for at in range(0, len(sectors), 2))
        requests.append(WarpRequest(passes, lines, written=written))
    return requests


def _pattern(
    pattern: NDArray[np.int64], lanes: NDArray[np.intp], size: int, kind: str, device: GpuModel
) -> tuple[float, ...]:
    """The passes of a warp's access, the cycles that L2 writes, and each line with its sectors as bits."""
    ends = np.concatenate((pattern, pattern + size - 1)) if size > 1 else pattern
    sectors = distinct(ends >> SECTOR_SHIFT)
    bits: dict[int, int] = {}
    for sector in sectors.tolist():
        bits[sector >> 2] = bits.get(sector >> 2, 0) | 1 << (sector & 3)
    written = 0.0
    if kind == "load":
        looked_up = max(-(-len(bits) // LINES_A_CYCLE), device.tag_cycles * len(bits))
        passes = max(_passes(pattern, lanes, size, kind, in_pairs=False), looked_up)
    elif kind == "store":
        in_part = device.store_line * _lines_in_part(pattern, size)
        passes = max(device.store_sector * len(sectors) + in_part, 1 + size / WORD)
        written = sum(
            max(device.written_line, device.written_sector * mask.bit_count()) for mask in bits.values()
        )
    else:
        passes, written = float(len(sectors)), ATOMIC_SECTOR * len(sectors)
    return (passes, written, *(float(number) for line in bits.items() for number in line))


def _lines_in_part(pattern: NDArray[np.int64], size: int) -> int:
    """Number of lines a store writes of which it leaves a part of some sector as it is."""
    sectors, stores = np.unique(distinct(pattern) >> SECTOR_SHIFT, return_counts=True)
    return len(distinct(sectors[stores * size < SECTOR_BYTES] >> LINE_SHIFT - SECTOR_SHIFT))
