"""How a warp's request travels: sectors of global memory, banks of shared memory.

A request to global memory moves whole sectors of 32 bytes. Shared memory has 32 banks of 4 bytes; in one
pass each bank serves one 4-byte word to any number of lanes. Wider accesses go in phases of as many
lanes as need 128 bytes (CUDA C++ Programming Guide, compute capability 5.x and later, shared memory).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.machine.geometry import WARP
from grader.emulator.machine.memo import Request
from grader.emulator.machine.values import FOLDED, unfold

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.values import Value
    from grader.emulator.memory.place import Place

SECTOR_SHIFT = 5
_BANKS = 32
_WORD = 4
"""Bytes that a bank gives at once."""
_KEY = np.int64(1 << 40)


def warps_of(m: Machine, place: Place) -> NDArray[np.intp]:
    """The warp of each lane that takes part."""
    return m.warp_of if place.lanes is None else m.warp_of[place.lanes]


def sectors(m: Machine, place: Place, size: int) -> int:
    """Distinct sectors, summed over the warps' requests (elements are aligned, so none straddles two)."""
    return _as_before(m, place, size, 1 << SECTOR_SHIFT, _sectors)


def bank_conflicts(m: Machine, place: Place, size: int) -> int:
    """Passes beyond those that a conflict-free request would take."""
    if place.bytes.ndim == 0:
        return 0
    return _as_before(m, place, size, _WORD, _bank_conflicts)


def _as_before(
    m: Machine, place: Place, size: int, grain: int, count: Callable[[Machine, Place, int], int]
) -> int:
    """What ``count`` gives, looked up where the request before differs by whole grains only, if at all.

    A loop that walks through an array asks for the same pattern again and again. Values do not change, so
    an address that is the same object is the same address.
    """
    where, key = place.bytes, (place.site, grain)
    before = m.memo.requests.get(key)
    if (
        before is not None
        and before.lanes is place.lanes
        and before.size == size
        and before.bytes.shape == where.shape
        and (shift := where.item(0) - before.bytes.item(0)) % grain == 0
    ):
        same = before.base is place.base and place.base is not None
        if same or np.array_equal(where - np.int64(shift), before.bytes):
            return before.found
    amount = count(m, place, size)
    if place.site >= 0:
        m.memo.requests[key] = Request(place.base, where, place.lanes, size, amount)
    return amount


def _sectors(m: Machine, place: Place, _size: int) -> int:
    if place.bytes.ndim == 0 and place.lanes is None:
        return m.geometry.blocks * m.geometry.warps_per_block
    warps = warps_of(m, place)
    index = place.index
    if index.ndim == 0:
        return _changes(warps)
    key = warps * _KEY + (index >> SECTOR_SHIFT)
    if (key[1:] >= key[:-1]).all():
        return _changes(key)
    return _changes(np.sort(key))


def _changes(key: NDArray[np.int64]) -> int:
    """How many different values a sorted array holds."""
    return int(np.count_nonzero(key[1:] != key[:-1])) + 1 if len(key) else 0


def _bank_conflicts(m: Machine, place: Place, size: int) -> int:
    base = place.base
    if base is not None and base.ndim == FOLDED and len(base) == 1 and place.lanes is None:
        offset = unfold(base, (1, *m.shape[1:]))
        return m.geometry.blocks * _of_threads((offset - _whole_words(offset[0])).tobytes(), size)
    warps = warps_of(m, place)
    index: Value = np.broadcast_to(place.index, warps.shape)
    if place.lanes is None and len(index) % WARP == 0 and m.geometry.threads % WARP == 0:
        rows = index.reshape(-1, WARP)
        pattern = rows - _whole_words(rows[:, :1])  # a shift of a warp turns the banks, and changes nothing
        if (pattern == pattern[0]).all():
            return len(rows) * _of_threads(pattern[0].tobytes(), size)
    return _of_warps(index, warps, size)


def _whole_words(offset: Value) -> Value:
    """Bytes rounded down to words."""
    return offset & ~np.int64(_WORD - 1)


@lru_cache(maxsize=1024)
def _of_threads(pattern: bytes, size: int) -> int:
    """The conflicts of threads from the first of a warp on that access these bytes (int64)."""
    offset = np.frombuffer(pattern, np.int64)
    offset = offset - _whole_words(offset.min())
    return _of_warps(offset, np.arange(len(offset)) // WARP, size)


def _of_warps(index: NDArray[np.int64], warps: NDArray[np.intp], size: int) -> int:
    """Extra passes, summed over warps: ``index`` is the byte of each lane, ``warps`` its warp, in order.

    Lanes of a warp that go in one phase take as many passes as the busiest bank serves different words.
    """
    first = np.flatnonzero(np.diff(warps, prepend=-1))
    warp = np.repeat(np.arange(len(first)), np.diff(first, append=len(warps)))
    together = WARP * _WORD // max(size, _WORD)
    phases = WARP // together
    phase = warp * phases + (np.arange(len(warps)) - first[warp]) // together
    words = (index[:, None] + np.arange(0, max(size, _WORD), _WORD)) >> 2
    served = np.sort((phase[:, None] * _KEY + words).reshape(-1))
    served = served[np.diff(served, prepend=-1) != 0]
    banks = np.bincount(served // _KEY * _BANKS + served % _BANKS, minlength=len(first) * phases * _BANKS)
    busiest = banks.reshape(-1, _BANKS).max(axis=1)
    return int(np.maximum(busiest - 1, 0).sum())
