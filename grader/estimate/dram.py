"""Which part of what blocks fetch comes from DRAM, and how much of it arrives as late as that.

L2 holds nothing of the arrays when a launch begins, but what others wrote before, as it is when kernels are
timed. A sector that many blocks ask for comes from DRAM once, as long as L2 holds it until the last of them
asks. Blocks that are resident together ask for it at about the same time, so all of them wait for DRAM: what
is late is what no earlier wave of blocks has asked for.

How the blocks share an array is seen from those that were run: where each begins to touch it, as a sum of
multiples of its indices in the grid. Blocks for which that is the same touch the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.estimate.requests import LINE_SHIFT, SECTOR_BYTES, SECTOR_SHIFT, distinct
from grader.sass.machine import WARP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.estimate.multiprocessor import Request
    from grader.estimate.sampling import SampledBlocks

_L2_SHARE = 0.8
"""How much of L2 holds what blocks use again."""

_MOST_MARKS = 1 << 22
"""So many sectors of blocks are told apart at most; of more it is taken that no two are the same."""


@dataclass(frozen=True, slots=True)
class _Shares:
    """Of one array: see `Request`."""

    dram: float = 1.0
    late: float = 1.0
    evicts: float = 0.0
    evicts_written: float = 1.0
    """The same of what is written, which must go to DRAM itself once L2 is full."""


class DramShares:
    """What comes from DRAM when a block first asks for a sector, array by array."""

    def __init__(self, sampled: SampledBlocks) -> None:
        """Compare what a block touches of each array with what a wave of blocks and the grid do."""
        launch = sampled.launch
        self._array_of = np.zeros((len(launch.memory) >> LINE_SHIFT) + 1, np.int32)
        for number, (start, size) in enumerate(launch.arrays, 1):
            self._array_of[start >> LINE_SHIFT : (start + size - 1 >> LINE_SHIFT) + 1] = number
        touched, firsts = _touched(sampled, self._array_of)
        total = sum(size for _, size in launch.arrays)
        held = min(1.0, sampled.device.l2_bytes / max(1, total))
        read, written = held * sampled.device.dirty, held * sampled.device.dirty + 1 - held
        footprints = []
        for number, (start, size) in enumerate(launch.arrays, 1):
            places = np.flatnonzero(touched[start >> SECTOR_SHIFT : (start + size - 1 >> SECTOR_SHIFT) + 1])
            footprints.append(_footprint(sampled, places, size / SECTOR_BYTES, firsts.get(number)))
        room = sampled.device.l2_bytes * _L2_SHARE / SECTOR_BYTES
        lasts = sum(footprint.of_two_waves for footprint in footprints) <= room
        self._shares = [_Shares()]
        for footprint in footprints:
            shares = _shares(sampled, footprint, lasts=lasts)
            self._shares.append(replace(shares, evicts=read, evicts_written=written))

    def with_share(self, request: Request) -> Request:
        """The request with the shares of the array that its first line is in."""
        if not request.lines:
            return request
        line = min(max(request.lines[0][0], 0), len(self._array_of) - 1)
        shares = self._shares[self._array_of[line]]
        evicts = shares.evicts_written if request.written else shares.evicts
        return replace(request, dram=shares.dram, late=shares.late, evicts=evicts)


@dataclass(frozen=True, slots=True)
class _Footprint:
    """How many sectors of an array one block touches, a wave of blocks, two waves in a row, and all."""

    of_block: int
    of_wave: float
    of_two_waves: float
    of_all: float


def _wave(sampled: SampledBlocks) -> int:
    """How many blocks run at once."""
    return min(sampled.launch.blocks, sampled.device.multiprocessors * sampled.resident)


def _footprint(
    sampled: SampledBlocks, places: NDArray[np.intp], sectors: float, firsts: dict[int, int] | None
) -> _Footprint:
    """The footprint in an array of so many sectors, of which the first block touches those at ``places``."""
    blocks, wave, own = sampled.launch.blocks, _wave(sampled), len(places)
    steps = _steps(sampled, firsts) if firsts and own else None
    first = (blocks - wave) // 2
    parts = (
        range(first, first + wave),
        range(max(0, first - wave), first + wave),
        range(blocks),
    )
    counts = []
    for part in parts:
        most = min(sectors, float(own * len(part)))
        if steps is not None:
            most = min(most, float(_union(sampled, steps, np.arange(part.start, part.stop), places)))
        counts.append(most)
    return _Footprint(own, *counts)


def _shares(sampled: SampledBlocks, footprint: _Footprint, *, lasts: bool) -> _Shares:
    """The shares of an array; ``lasts``: what a wave has fetched is there for the next."""
    blocks, wave, own = sampled.launch.blocks, _wave(sampled), footprint.of_block
    if not own:
        return _Shares()
    waves = blocks / wave
    fetched = waves * footprint.of_wave
    if lasts:
        anew = footprint.of_two_waves - footprint.of_wave
        fetched = min(fetched, footprint.of_wave + (waves - 1) * anew)
    late = min(1.0, fetched / max(1.0, waves * footprint.of_wave))
    return _Shares(dram=min(1.0, fetched / (own * blocks)), late=late)


def _steps(sampled: SampledBlocks, firsts: dict[int, int]) -> NDArray[Any] | None:
    """By how many bytes blocks that are neighbours in x, y and z are apart; None where that differs.

    A block at an edge may begin elsewhere: those that fit least are left out, as long as most remain.
    """
    numbers = np.array(sorted(firsts))
    begins = np.array([firsts[number] for number in numbers.tolist()], np.float64)
    indices = np.column_stack((*_indices(sampled, numbers), np.ones(len(numbers))))
    unknown = 1 + sum(extent > 1 for extent in sampled.launch.grid)
    for _ in range(max(1, len(numbers) // 2)):
        steps, _, rank, _ = np.linalg.lstsq(indices, begins, rcond=None)
        if rank < unknown:
            return None
        off = np.abs(indices @ steps - begins)
        if off.max() < SECTOR_BYTES:
            return np.asarray(steps[:3])
        keep = np.arange(len(begins)) != off.argmax()
        indices, begins = indices[keep], begins[keep]
    return None


def _indices(sampled: SampledBlocks, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    columns, rows, _ = sampled.launch.grid
    return numbers % columns, numbers // columns % rows, numbers // (columns * rows)


def _union(
    sampled: SampledBlocks, steps: NDArray[Any], numbers: NDArray[np.int64], places: NDArray[np.intp]
) -> int:
    """How many sectors some blocks touch together, of which one touches those at ``places``."""
    begins = np.column_stack(_indices(sampled, numbers)) @ steps
    shifts = distinct(np.round(begins / SECTOR_BYTES).astype(np.int64))
    if len(shifts) * len(places) > _MOST_MARKS:
        return len(shifts) * len(places)
    low, high = int(shifts.min()), int(shifts.max())
    marks = np.zeros(int(places.max()) + high - low + 1, np.bool_)
    marks[(places[:, None] + (shifts - low)).ravel()] = True
    return int(marks.sum())


def _touched(
    sampled: SampledBlocks, array_of: NDArray[np.int32]
) -> tuple[NDArray[np.bool_], dict[int, dict[int, int]]]:
    """The sectors that the first block touches, and for each array the byte at which each block begins."""
    size = len(sampled.launch.memory)
    touched = np.zeros((size >> SECTOR_SHIFT) + 1, np.bool_)
    lanes, total = sampled.warps_per_block * WARP, len(sampled.threads)
    firsts: dict[int, dict[int, int]] = {}
    seen: set[int] = set()
    for access in sampled.trace.accesses:
        if access.space != "global":
            continue
        addresses = np.clip(access.addresses, 0, size)
        own = addresses[:lanes]
        if access.mask is not None and len(own) > 1:
            own = own[access.mask[:lanes]]
        touched[own >> SECTOR_SHIFT] = True
        if access.instruction in seen or not len(own):
            continue
        seen.add(access.instruction)
        array = int(array_of[own[0] >> LINE_SHIFT])
        if array not in firsts:
            whole = np.broadcast_to(addresses, (total,))
            acting = sampled.threads if access.mask is None else sampled.threads & access.mask
            firsts[array] = {
                block: int(whole[part][acting[part]].min())
                for number, block in enumerate(sampled.blocks)
                if acting[part := slice(number * lanes, (number + 1) * lanes)].any()
            }
    return touched, firsts
