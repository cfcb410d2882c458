"""How a warp's request travels: sectors of global memory, banks of shared memory.

A request to global memory moves whole sectors of 32 bytes. Shared memory has 32 banks of 4 bytes; in one
pass each bank serves one 4-byte word to any number of lanes. Wider accesses go in phases of as many
lanes as need 128 bytes (CUDA C++ Programming Guide, compute capability 5.x and later, shared memory).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.geometry import WARP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.access import Place
    from grader.emulator.machine import Machine
    from grader.emulator.values import Value

SECTOR_SHIFT = 5
_BANKS = 32
_KEY = np.int64(1 << 40)


def warps_of(m: Machine, place: Place) -> NDArray[np.intp]:
    """The warp of each lane that takes part."""
    return m.warp_of if place.lanes is None else m.warp_of[place.lanes]


def sectors(m: Machine, place: Place, size: int) -> int:
    """Distinct sectors, summed over the warps' requests (elements are aligned, so none straddles two)."""
    del size
    warps = warps_of(m, place)
    if place.index.ndim == 0:
        return _changes(warps)
    key = warps * _KEY + (place.index >> SECTOR_SHIFT)
    if (key[1:] >= key[:-1]).all():
        return _changes(key)
    return _changes(np.sort(key))


def _changes(key: NDArray[np.int64]) -> int:
    """How many different values a sorted array holds."""
    return int(np.count_nonzero(key[1:] != key[:-1])) + 1 if len(key) else 0


def bank_conflicts(m: Machine, place: Place, size: int) -> int:
    """Passes beyond those that a conflict-free request would take."""
    warps = warps_of(m, place)
    index: Value = np.broadcast_to(place.index, warps.shape)
    if place.lanes is None and len(index) % WARP == 0 and m.geometry.threads % WARP == 0:
        rows = index.reshape(-1, WARP)
        pattern = rows - rows[:, :1]  # a shift of the whole warp turns the banks, and changes nothing
        if (pattern == pattern[0]).all():
            return len(rows) * _conflicts(pattern[0].tobytes(), size)
    ends = np.flatnonzero(np.diff(warps, append=-1)) + 1
    starts = np.concatenate(([0], ends[:-1]))
    return sum(
        _conflicts((index[a:b] - index[a]).astype(np.int64).tobytes(), size)
        for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
    )


@lru_cache(maxsize=4096)
def _conflicts(pattern: bytes, size: int) -> int:
    """Extra passes for one warp whose lanes read at these byte offsets (int64)."""
    offsets = np.frombuffer(pattern, np.int64)
    lanes = max(1, WARP * 4 // size) if size > 4 else WARP  # noqa: PLR2004 - bytes of a word
    extra = 0
    for start in range(0, len(offsets), lanes):
        phase = offsets[start : start + lanes]
        words = np.unique((phase[:, None] + np.arange(0, max(size, 4), 4)) >> 2)
        extra += int(np.bincount(words % _BANKS).max()) - 1
    return extra
