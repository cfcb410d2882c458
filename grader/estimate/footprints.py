"""What blocks touch of each array: one block, a wave of blocks, and all, as sectors of 32 bytes.

How the blocks share an array follows from those that were run: the first byte that each touches, as a sum of
multiples of its indices in the grid. Blocks with the same first byte touch the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.estimate.requests import LINE_SHIFT, SECTOR_BYTES, SECTOR_SHIFT, distinct
from grader.sass.machine import WARP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.estimate.sampling import SampledBlocks
    from grader.sass.machine import MemoryAccess

_MAX_MARKS = 1 << 22
"""The most sectors of blocks that are counted without repeats; of more, all are taken to be different."""

_SECTORS_PER_TRANSFER, _SECTORS_PER_NEIGHBOURHOOD = 2, 8
"""DRAM moves two sectors at once, and those of 256 bytes as fast as neighbours."""

_MIN_SECTORS_IN_ORDER = 16
"""Of so few sectors nobody can say whether they lie in some order."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """How many sectors of an array one block touches, a wave of blocks, two waves in a row, and all.

    ``size`` are the sectors of the array. ``isolated`` is the share of what a wave touches that lies alone in
    its 256 bytes, ``partly_written`` the share of the sectors that a block writes only a part of;
    ``irregular`` is whether a block touches sectors in no order that could be found.
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
    """How many blocks run at once."""
    return min(sampled.launch.blocks, sampled.device.multiprocessors * sampled.resident)


def arrays_by_line(sampled: SampledBlocks) -> NDArray[np.int32]:
    """For each line of memory the array that it is in, counted from 1; 0 where there is none."""
    numbers = np.zeros((len(sampled.launch.memory) >> LINE_SHIFT) + 1, np.int32)
    for number, (start, size) in enumerate(sampled.launch.arrays, 1):
        numbers[start >> LINE_SHIFT : (start + size - 1 >> LINE_SHIFT) + 1] = number
    return numbers


def footprints_of(sampled: SampledBlocks, array_of: NDArray[np.int32]) -> list[Footprint]:
    """The footprint in each array of the launch; ``array_of`` is that of each line."""
    touched, written = _of_first_block(sampled)
    first_bytes = _first_bytes(sampled, array_of)
    footprints = []
    for number, (start, size) in enumerate(sampled.launch.arrays, 1):
        array_sectors = slice(start >> SECTOR_SHIFT, (start + size - 1 >> SECTOR_SHIFT) + 1)
        sectors = np.flatnonzero(touched[array_sectors])
        filled = written[array_sectors][written[array_sectors] > 0]
        partly_written = float(np.mean(filled < SECTOR_BYTES)) if len(filled) else 0.0
        footprints.append(
            _footprint(sampled, sectors, size / SECTOR_BYTES, first_bytes.get(number), partly_written)
        )
    return footprints


def _footprint(
    sampled: SampledBlocks,
    block_sectors: NDArray[np.intp],
    size: float,
    first_bytes: dict[int, int] | None,
    partly_written: float,
) -> Footprint:
    """The footprint in an array of ``size`` sectors, of which the first block touches ``block_sectors``."""
    blocks, wave = sampled.launch.blocks, wave_of(sampled)
    steps = _steps(sampled, first_bytes) if first_bytes and len(block_sectors) else None
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
    """Whether no distance between two sectors in a row is that of most."""
    if len(sectors) < _MIN_SECTORS_IN_ORDER:
        return False
    _, counts = np.unique(np.diff(sectors), return_counts=True)
    return bool(2 * counts.max() < len(sectors))


def _steps(sampled: SampledBlocks, first_bytes: dict[int, int]) -> NDArray[Any] | None:
    """By how many bytes blocks that are neighbours in x, y and z are apart; None where that differs.

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


def _of_first_block(sampled: SampledBlocks) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """The sectors that the first block touches, and how many bytes it writes of each."""
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


def _first_bytes(sampled: SampledBlocks, array_of: NDArray[np.int32]) -> dict[int, dict[int, int]]:
    """For each array the first byte that each block touches, at the first instruction that accesses it."""
    lanes = sampled.warps_per_block * WARP
    first_bytes: dict[int, dict[int, int]] = {}
    seen_instructions: set[int] = set()
    for access in sampled.trace.accesses:
        if access.space != "global" or access.instruction in seen_instructions:
            continue
        addresses = _addresses(access, slice(0, lanes), sampled)
        if not len(addresses):
            continue
        seen_instructions.add(access.instruction)
        array = int(array_of[addresses[0] >> LINE_SHIFT])
        if array not in first_bytes:
            addresses_by_block = (
                _addresses(access, slice(number * lanes, (number + 1) * lanes), sampled)
                for number in range(len(sampled.blocks))
            )
            first_bytes[array] = {
                block: int(of_block.min())
                for block, of_block in zip(sampled.blocks, addresses_by_block, strict=True)
                if len(of_block)
            }
    return first_bytes
