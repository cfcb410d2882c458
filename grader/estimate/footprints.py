"""What blocks touch of each array: one block, a wave of blocks, and all, as sectors of 32 bytes.

How the blocks share an array is seen from those that were run: where each begins to touch it, as a sum of
multiples of its indices in the grid. Blocks for which that is the same touch the same.
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

_MOST_MARKS = 1 << 22
"""So many sectors of blocks are told apart at most; of more it is taken that no two are the same."""

_SECTORS_TOGETHER, _SECTORS_NEAR = 2, 8
"""DRAM moves two sectors at once, and those of 256 bytes as fast as neighbours."""

_FEW_SECTORS = 16
"""Of so few sectors nobody can say whether they lie in some order."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """How many sectors of an array one block touches, a wave of blocks, two waves in a row, and all.

    ``size`` are the sectors of the array. ``apart`` is the share of what a wave touches that lies alone in
    its 256 bytes, ``in_part`` the share of the sectors written by a block of which it leaves a part as it
    is; ``irregular`` is whether a block touches sectors in no order that could be seen.
    """

    size: float
    of_block: int
    of_wave: float
    of_two_waves: float
    of_all: float
    apart: float
    in_part: float
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
    begins = _begins(sampled, array_of)
    footprints = []
    for number, (start, size) in enumerate(sampled.launch.arrays, 1):
        part = slice(start >> SECTOR_SHIFT, (start + size - 1 >> SECTOR_SHIFT) + 1)
        own = np.flatnonzero(touched[part])
        filled = written[part][written[part] > 0]
        in_part = float(np.mean(filled < SECTOR_BYTES)) if len(filled) else 0.0
        footprints.append(_footprint(sampled, own, size / SECTOR_BYTES, begins.get(number), in_part))
    return footprints


def _footprint(
    sampled: SampledBlocks,
    own: NDArray[np.intp],
    size: float,
    begins: dict[int, int] | None,
    in_part: float,
) -> Footprint:
    """The footprint in an array of so many sectors, of which the first block touches its ``own``."""
    blocks, wave = sampled.launch.blocks, wave_of(sampled)
    steps = _steps(sampled, begins) if begins and len(own) else None
    first = (blocks - wave) // 2
    parts = (
        np.arange(first, first + wave),
        np.arange(max(0, first - wave), first + wave),
        np.arange(blocks),
    )
    marks = [_union(sampled, steps, part, own) if steps is not None else None for part in parts]
    of_wave, of_two_waves, of_all = (
        min(size, float(len(own) * len(part) if marked is None else marked.sum()))
        for part, marked in zip(parts, marks, strict=True)
    )
    apart = _apart(_marks(own) if marks[0] is None else marks[0])
    irregular = steps is None and _is_irregular(own)
    return Footprint(size, len(own), of_wave, of_two_waves, of_all, apart, in_part, irregular)


def _apart(marks: NDArray[np.bool_]) -> float:
    """The share of pairs of sectors, among those with a mark, that are alone among their neighbours."""
    padded = np.zeros(-(-len(marks) // _SECTORS_NEAR) * _SECTORS_NEAR, np.bool_)
    padded[: len(marks)] = marks
    pairs = padded.reshape(-1, _SECTORS_NEAR // _SECTORS_TOGETHER, _SECTORS_TOGETHER).any(axis=2).sum(axis=1)
    return float((pairs == 1).sum() / max(1, pairs.sum()))


def _is_irregular(own: NDArray[np.intp]) -> bool:
    """Whether no distance between two sectors in a row is that of most."""
    if len(own) < _FEW_SECTORS:
        return False
    _, counts = np.unique(np.diff(own), return_counts=True)
    return bool(2 * counts.max() < len(own))


def _steps(sampled: SampledBlocks, begins: dict[int, int]) -> NDArray[Any] | None:
    """By how many bytes blocks that are neighbours in x, y and z are apart; None where that differs.

    A block at an edge may begin elsewhere: those that fit least are left out, as long as most remain.
    """
    numbers = np.array(sorted(begins))
    places = np.array([begins[number] for number in numbers.tolist()], np.float64)
    indices = np.column_stack((*_indices(sampled, numbers), np.ones(len(numbers))))
    unknown = 1 + sum(extent > 1 for extent in sampled.launch.grid)
    for _ in range(max(1, len(numbers) // 2)):
        steps, _, rank, _ = np.linalg.lstsq(indices, places, rcond=None)
        if rank < unknown:
            return None
        off = np.abs(indices @ steps - places)
        if off.max() < SECTOR_BYTES:
            return np.asarray(steps[:3])
        keep = np.arange(len(places)) != off.argmax()
        indices, places = indices[keep], places[keep]
    return None


def _indices(sampled: SampledBlocks, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    columns, rows, _ = sampled.launch.grid
    return numbers % columns, numbers // columns % rows, numbers // (columns * rows)


def _union(
    sampled: SampledBlocks, steps: NDArray[Any], numbers: NDArray[np.int64], own: NDArray[np.intp]
) -> NDArray[np.bool_] | None:
    """Marks at the sectors that some blocks touch, of which one touches its own; None for too many."""
    begins = np.column_stack(_indices(sampled, numbers)) @ steps
    shifts = distinct(np.round(begins / SECTOR_BYTES).astype(np.int64))
    if len(shifts) * len(own) > _MOST_MARKS:
        return None
    return _marks((own[:, None] + (shifts - shifts.min())).ravel())


def _marks(sectors: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Marks at these sectors, from the first pair of them on."""
    if not len(sectors):
        return np.zeros(0, np.bool_)
    first = int(sectors.min()) // _SECTORS_TOGETHER * _SECTORS_TOGETHER
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
        own = _addresses(access, slice(0, lanes), sampled)
        touched[own >> SECTOR_SHIFT] = True
        if code[access.instruction].opcode.startswith("ST"):
            stores.setdefault(access.size, []).append(own)
    written = np.zeros(len(touched), np.int32)
    for width, addresses in stores.items():
        sectors = distinct(np.concatenate(addresses)) >> SECTOR_SHIFT
        np.add.at(written, sectors, width)
    return touched, written


def _addresses(access: MemoryAccess, part: slice, sampled: SampledBlocks) -> NDArray[np.int64]:
    """The addresses of the acting lanes of a part, or one where it is that of all."""
    addresses = np.clip(access.addresses, 0, len(sampled.launch.memory))
    acting = sampled.threads[part] if access.mask is None else (sampled.threads & access.mask)[part]
    if len(addresses) == 1:
        return addresses if acting.any() else addresses[:0]
    return np.asarray(addresses[part][acting])


def _begins(sampled: SampledBlocks, array_of: NDArray[np.int32]) -> dict[int, dict[int, int]]:
    """For each array the byte at which each block begins, at the first instruction that accesses it."""
    lanes = sampled.warps_per_block * WARP
    begins: dict[int, dict[int, int]] = {}
    seen: set[int] = set()
    for access in sampled.trace.accesses:
        if access.space != "global" or access.instruction in seen:
            continue
        own = _addresses(access, slice(0, lanes), sampled)
        if not len(own):
            continue
        seen.add(access.instruction)
        array = int(array_of[own[0] >> LINE_SHIFT])
        if array not in begins:
            addresses = (
                _addresses(access, slice(number * lanes, (number + 1) * lanes), sampled)
                for number in range(len(sampled.blocks))
            )
            begins[array] = {
                block: int(of_block.min())
                for block, of_block in zip(sampled.blocks, addresses, strict=True)
                if len(of_block)
            }
    return begins
