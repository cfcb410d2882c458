"""Footprint of blocks in each array: one block, a wave of blocks, and all, as sectors of 32 bytes.

How the blocks share an array follows from those that were run: the first byte that each touches, as a sum of
multiples of its indices in the grid. Blocks with the same first byte touch the same bytes, as long as another
block that was run touches what follows from that.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import frozen
from grader.running.estimate.requests import LINE_SHIFT, SECTOR_BYTES, SECTOR_SHIFT, distinct
from grader.simulation.sass.machine import WARP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from grader.running.estimate.sampling import SampledBlocks
    from grader.simulation.sass.machine import MemoryAccess

_MAX_MARKS = 1 << 22
"""The most sectors of blocks that are counted without repeats; of more, all are taken to be different."""

_SECTORS_PER_TRANSFER, _SECTORS_PER_NEIGHBOURHOOD = 2, 8
"""DRAM moves two sectors at once, and those of 256 bytes as fast as neighbours."""

_MOST_COMPARED = 256
"""Number of accesses, spread over the run, in which two blocks are compared."""

_MIN_SECTORS_IN_ORDER = 16
"""Fewest sectors for which an order can be recognised."""


@frozen
class Footprint:
    """Number of sectors of an array that one block touches, a wave of blocks, two waves in a row, and all.

    ``size`` are the sectors of the array. ``isolated`` is the share of what a wave touches that is alone in
    its 256 bytes, ``partly_written`` the share of the sectors that a block writes only a part of;
    ``irregular`` is True if a block touches sectors in no recognised order.
    """

    size: float
    of_block: int
    of_wave: float
    of_two_waves: float
    of_all: float
    isolated: float
    partly_written: float
    irregular: bool


def wave_of(sampled: SampledBlocks) -> int:
    """Number of blocks that run at once."""
    return min(sampled.launch.blocks, sampled.device.multiprocessors * sampled.resident)


def arrays_by_line(sampled: SampledBlocks) -> NDArray[np.int32]:
    """Array of each line of memory, counted from 1; 0 where there is none."""
    numbers = np.zeros((len(sampled.launch.memory) >> LINE_SHIFT) + 1, np.int32)
    for number, (start, size) in enumerate(sampled.launch.arrays, 1):
        numbers[start >> LINE_SHIFT : (start + size - 1 >> LINE_SHIFT) + 1] = number
    return numbers


def footprints_of(sampled: SampledBlocks, array_of: NDArray[np.int32]) -> list[Footprint]:
    """The footprint in each array of the launch; ``array_of`` is that of each line."""
    touched, written = _of_first_block(sampled)
    sharing = _Sharing(sampled, array_of)
    footprints = []
    for number, (start, size) in enumerate(sampled.launch.arrays, 1):
        array_sectors = slice(start >> SECTOR_SHIFT, (start + size - 1 >> SECTOR_SHIFT) + 1)
        sectors = np.flatnonzero(touched[array_sectors])
        steps = sharing.steps(number, array_sectors) if len(sectors) else None
        filled = written[array_sectors][written[array_sectors] > 0]
        partly_written = float(np.mean(filled < SECTOR_BYTES)) if len(filled) else 0.0
        footprints.append(_footprint(sampled, sectors, size / SECTOR_BYTES, steps, partly_written))
    return footprints


class _Sharing:
    """Sharing of arrays by the blocks."""

    def __init__(self, sampled: SampledBlocks, array_of: NDArray[np.int32]) -> None:
        self._sampled = sampled
        count = len(sampled.trace.accesses)
        some = np.random.default_rng(count).choice(count, min(count, _MOST_COMPARED), replace=False)
        accesses = [sampled.trace.accesses[number] for number in np.sort(some).tolist()]
        self._first, self._last = (
            _touched(sampled, accesses, number) for number in (0, len(sampled.blocks) - 1)
        )
        self._first_bytes = cache(partial(_first_bytes, sampled, array_of))

    def steps(self, array: int, sectors: slice) -> NDArray[Any] | None:
        """Distances in bytes of blocks that are neighbours in x, y and z in an array, or None.

        The first bytes of the blocks need not determine the rest: then what they do later is looked at.
        """
        count = len(self._sampled.trace.accesses)
        for begin in (0, count // 2, 3 * count // 4):
            first_bytes = self._first_bytes(begin).get(array)
            steps = _steps(self._sampled, first_bytes) if first_bytes else None
            if steps is not None and self._foretell(steps, sectors):
                return steps
        return None

    def _foretell(self, steps: NDArray[Any], sectors: slice) -> bool:
        """True if the last block touches most of what the first does, shifted by ``steps``."""
        numbers = np.column_stack(_indices(self._sampled, np.array(self._sampled.blocks)))
        touched, elsewhere = np.flatnonzero(self._first[sectors]), self._last[sectors]
        places = touched + (numbers[-1] - numbers[0]) @ steps / SECTOR_BYTES
        is_touched = np.zeros(len(places), np.bool_)
        for sector in (np.floor(places).astype(np.int64), np.ceil(places).astype(np.int64)):
            inside = (sector >= 0) & (sector < len(elsewhere))
            is_touched[inside] |= elsewhere[sector[inside]]
        return bool(2 * is_touched.sum() >= min(len(places), elsewhere.sum()))


def _footprint(
    sampled: SampledBlocks,
    block_sectors: NDArray[np.intp],
    size: float,
    steps: NDArray[Any] | None,
    partly_written: float,
) -> Footprint:
    """The footprint in an array of ``size`` sectors, of which the first block touches ``block_sectors``."""
    blocks, wave = sampled.launch.blocks, wave_of(sampled)
    first = (blocks - wave) // 2
    parts = (
        np.arange(first, first + wave),
        np.arange(max(0, first - wave), first + wave),
        np.arange(blocks),
    )
    marks = [_union(sampled, steps, part, block_sectors) if steps is not None else None for part in parts]
    of_wave, of_two_waves, of_all = (
        min(size, float(len(block_sectors) * len(part) if marked is None else marked.sum()))
        for part, marked in zip(parts, marks, strict=True)
    )
    isolated = _isolated_share(_marks(block_sectors) if marks[0] is None else marks[0])
    irregular = steps is None and _is_irregular(block_sectors)
    return Footprint(
        size, len(block_sectors), of_wave, of_two_waves, of_all, isolated, partly_written, irregular
    )


def _isolated_share(marks: NDArray[np.bool_]) -> float:
    """The share of pairs of sectors, among those with a mark, that are alone among their neighbours."""
    padded = np.zeros(-(-len(marks) // _SECTORS_PER_NEIGHBOURHOOD) * _SECTORS_PER_NEIGHBOURHOOD, np.bool_)
    padded[: len(marks)] = marks
    pairs = (
        padded.reshape(-1, _SECTORS_PER_NEIGHBOURHOOD // _SECTORS_PER_TRANSFER, _SECTORS_PER_TRANSFER)
        .any(axis=2)
        .sum(axis=1)
    )
    return float((pairs == 1).sum() / max(1, pairs.sum()))


def _is_irregular(sectors: NDArray[np.intp]) -> bool:
    """True if no distance between two successive sectors is that of most."""
    if len(sectors) < _MIN_SECTORS_IN_ORDER:
        return False
    _, counts = np.unique(np.diff(sectors), return_counts=True)
    return bool(2 * counts.max() < len(sectors))


def _steps(sampled: SampledBlocks, first_bytes: dict[int, int]) -> NDArray[Any] | None:
    """Distances in bytes of blocks that are neighbours in x, y and z; None where they differ.

    A block at an edge may begin elsewhere: those that fit least are left out, as long as most remain.
    """
    numbers = np.array(sorted(first_bytes))
    places = np.array([first_bytes[number] for number in numbers.tolist()], np.float64)
    indices = np.column_stack((*_indices(sampled, numbers), np.ones(len(numbers))))
    unknowns = 1 + sum(extent > 1 for extent in sampled.launch.grid)
    for _ in range(max(1, len(numbers) // 2)):
        steps, _, rank, _ = np.linalg.lstsq(indices, places, rcond=None)
        if rank < unknowns:
            return None
        errors = np.abs(indices @ steps - places)
        if errors.max() < SECTOR_BYTES:
            return np.asarray(steps[:3])
        keep = np.arange(len(places)) != errors.argmax()
        indices, places = indices[keep], places[keep]
    return None


def _indices(sampled: SampledBlocks, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    columns, rows, _ = sampled.launch.grid
    return numbers % columns, numbers // columns % rows, numbers // (columns * rows)


def _union(
    sampled: SampledBlocks, steps: NDArray[Any], numbers: NDArray[np.int64], block_sectors: NDArray[np.intp]
) -> NDArray[np.bool_] | None:
    """Marks at the sectors that some blocks touch, where one touches ``block_sectors``; None for too many."""
    first_bytes = np.column_stack(_indices(sampled, numbers)) @ steps
    shifts = distinct(np.round(first_bytes / SECTOR_BYTES).astype(np.int64))
    if len(shifts) * len(block_sectors) > _MAX_MARKS:
        return None
    return _marks((block_sectors[:, None] + (shifts - shifts.min())).ravel())


def _marks(sectors: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Marks at these sectors, from the first pair of them on."""
    if not len(sectors):
        return np.zeros(0, np.bool_)
    first = int(sectors.min()) // _SECTORS_PER_TRANSFER * _SECTORS_PER_TRANSFER
    marks = np.zeros(int(sectors.max()) - first + 1, np.bool_)
    marks[sectors - first] = True
    return marks


def _touched(sampled: SampledBlocks, accesses: Sequence[MemoryAccess], block: int) -> NDArray[np.bool_]:
    """The sectors that a block touches in some accesses; ``block`` is its place among those that were run."""
    lanes = sampled.warps_per_block * WARP
    touched = np.zeros((len(sampled.launch.memory) >> SECTOR_SHIFT) + 1, np.bool_)
    for access in accesses:
        if access.space == "global":
            addresses = _addresses(access, slice(block * lanes, (block + 1) * lanes), sampled)
            touched[addresses >> SECTOR_SHIFT] = True
    return touched


def _of_first_block(sampled: SampledBlocks) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """Sectors that the first block touches, and the number of bytes that it writes of each."""
    size = len(sampled.launch.memory)
    touched = np.zeros((size >> SECTOR_SHIFT) + 1, np.bool_)
    stores: dict[int, list[NDArray[np.int64]]] = {}
    lanes, code = sampled.warps_per_block * WARP, sampled.launch.listing.instructions
    for access in sampled.trace.accesses:
        if access.space != "global":
            continue
        addresses = _addresses(access, slice(0, lanes), sampled)
        touched[addresses >> SECTOR_SHIFT] = True
        if code[access.instruction].opcode.startswith("ST"):
            stores.setdefault(access.size, []).append(addresses)
    written = np.zeros(len(touched), np.int32)
    for width, stored in stores.items():
        sectors = distinct(np.concatenate(stored)) >> SECTOR_SHIFT
        np.add.at(written, sectors, width)
    return touched, written


def _addresses(access: MemoryAccess, part: slice, sampled: SampledBlocks) -> NDArray[np.int64]:
    """The addresses of the acting lanes of a part, or one where it is that of all."""
    addresses = np.clip(access.addresses, 0, len(sampled.launch.memory))
    acting = sampled.threads[part] if access.mask is None else (sampled.threads & access.mask)[part]
    if len(addresses) == 1:
        return addresses if acting.any() else addresses[:0]
    return np.asarray(addresses[part][acting])


def _first_bytes(
    sampled: SampledBlocks, array_of: NDArray[np.int32], begin: int
) -> dict[int, dict[int, int]]:
    """First byte of each array that each block touches, at the first instruction that accesses it.

    Only accesses from ``begin`` on are looked at.
    """
    lanes = sampled.warps_per_block * WARP
    first_bytes: dict[int, dict[int, int]] = {}
    seen_instructions: set[int] = set()
    for access in sampled.trace.accesses[begin:]:
        if access.space != "global" or access.instruction in seen_instructions:
            continue
        addresses = _addresses(access, slice(0, lanes), sampled)
        if not len(addresses):
            continue
        seen_instructions.add(access.instruction)
        for array in set(array_of[addresses >> LINE_SHIFT].tolist()) - first_bytes.keys():
            first_bytes[array] = {}
            for number, block in enumerate(sampled.blocks):
                of_block = _addresses(access, slice(number * lanes, (number + 1) * lanes), sampled)
                of_array = of_block[array_of[of_block >> LINE_SHIFT] == array]
                if len(of_array):
                    first_bytes[array][block] = int(of_array.min())
    return first_bytes
