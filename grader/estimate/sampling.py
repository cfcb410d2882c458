"""As many blocks as one multiprocessor holds, from all over the grid, run as machine code.

Blocks of one grid need not do the same: some lie at an edge, some find nothing to do. Those that are spread
evenly stand for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from grader.analysis.occupancy import LIMITS, Load
from grader.estimate.devices import KIB
from grader.sass.interpreter import link, run
from grader.sass.machine import WARP, Machine, Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from grader.estimate.devices import Device
    from grader.sass.listing import Listing
    from grader.sass.machine import Mask, Trace

MOST_STEPS = 60_000
"""Instructions that the sampled blocks may take, all lanes together."""

LONGEST_RUN = 64
"""So many instructions of a straight run are looked at as one."""

_RESERVED = 2 * KIB
"""Shared memory in front of a kernel's own, which newer devices keep for the system."""


@dataclass(frozen=True, slots=True)
class CodedLaunch:
    """A kernel's machine code with all that its launch gives it.

    ``memory`` is global memory, the address of its first byte ``base``; its arrays lie at ``arrays`` (first
    byte, bytes); ``banks`` are the constant banks. ``registers`` are those of a thread, ``shared_bytes``
    what a block has, static and dynamic.
    """

    listing: Listing
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    banks: Mapping[int, bytes]
    memory: NDArray[np.uint8]
    base: int
    arrays: tuple[tuple[int, int], ...]
    registers: int
    shared_bytes: int
    local_bytes: int = 0

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]


@dataclass(frozen=True, slots=True)
class SampledBlocks:
    """The blocks of one multiprocessor, run: what each warp issues and asks for.

    ``threads`` are the lanes that have a thread; ``resident`` is how many blocks a multiprocessor could hold.
    """

    launch: CodedLaunch
    device: Device
    resident: int
    blocks: tuple[int, ...]
    trace: Trace
    threads: NDArray[np.bool_]

    @property
    def warps(self) -> int:
        """Warps of all sampled blocks."""
        return len(self.threads) // WARP

    @property
    def warps_per_block(self) -> int:
        """Warps of a block."""
        return self.warps // len(self.blocks)

    @property
    def occupancy(self) -> float:
        """The share of a multiprocessor's warps that are resident where there are blocks enough."""
        threads = self.resident * self.warps_per_block * WARP
        return min(1.0, threads / LIMITS[self.device.architecture].threads)

    @property
    def has_more_blocks(self) -> bool:
        """Whether each multiprocessor gets at least twice the blocks that it holds."""
        return self.launch.blocks >= 2 * len(self.blocks) * self.device.multiprocessors

    def warps_of(self, lanes: Mask) -> NDArray[np.bool_]:
        """The warps that have any of these lanes."""
        chosen = self.threads if lanes is None else lanes & self.threads
        return np.asarray(chosen.reshape(-1, WARP).any(axis=1))


def sample(launch: CodedLaunch, device: Device) -> SampledBlocks:
    """Run the blocks that one multiprocessor holds.

    Raises what `grader.sass.interpreter.run` does.
    """
    resident = resident_blocks(launch, device)
    blocks = _spread(launch, min(resident, -(-launch.blocks // device.multiprocessors)))
    shape = Shape(launch.block, launch.grid, blocks)
    shared = launch.shared_bytes + _RESERVED
    local = -(-max(launch.local_bytes, 16) // 16) * 16 + KIB
    machine = Machine(shape, launch.memory, launch.base, shared, local)
    trace = run(link(launch.listing, launch.banks), machine, MOST_STEPS)
    trace.runs = list(_in_pieces(trace.runs))
    threads = np.ones(shape.lanes, np.bool_) if machine.threads is None else machine.threads
    return SampledBlocks(launch, device, resident, blocks, trace, threads)


_TURNS = (0.618, 0.414)
"""Multiples of these, without whole numbers, fill an interval evenly, and not both alike."""


def _spread(launch: CodedLaunch, count: int) -> tuple[int, ...]:
    """So many blocks, evenly over the grid, and not all in one column or row of it.

    One of each part of the grid, but not at one place of each: what repeats itself could do so from part to
    part.
    """
    columns, rows, layers = launch.grid
    even = tuple((2 * number + 1) * launch.blocks // (2 * count) for number in range(count))
    if columns == launch.blocks:
        return tuple(
            int((number + (number + 1) * _TURNS[0] % 1) * launch.blocks / count) for number in range(count)
        )
    spread = []
    for number, block in enumerate(even):
        x, y, z = block % columns, block // columns % rows, block // (columns * rows)
        x = (x + int(number * _TURNS[0] * columns)) % columns
        if layers > 1:
            y = (y + int(number * _TURNS[1] * rows)) % rows
        spread.append((z * rows + y) * columns + x)
    return tuple(spread) if len(set(spread)) == count else even


def _in_pieces(runs: list[tuple[int, int, Mask]]) -> Iterator[tuple[int, int, Mask]]:
    """Straight runs of instructions cut where they are long: one alone may be more than is simulated."""
    for first, last, lanes in runs:
        for start in range(first, last, LONGEST_RUN):
            yield start, min(start + LONGEST_RUN, last), lanes


def resident_blocks(launch: CodedLaunch, device: Device) -> int:
    """How many blocks a multiprocessor holds."""
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    limits = LIMITS[device.architecture]
    load = Load(device.architecture, limits, threads, launch.registers, launch.shared_bytes)
    per_partition = limits.registers // limits.partitions // load.warp_registers
    by_registers = per_partition * limits.partitions // load.warps
    by_shared = limits.shared_bytes // max(1, load.block_shared)
    return max(1, min(limits.threads // (load.warps * WARP), limits.blocks, by_registers, by_shared))


def l1_bytes(launch: CodedLaunch, device: Device, resident: int) -> int:
    """What L1 has beside shared memory: the driver sets aside the least that resident blocks need."""
    shared_bytes = resident * (launch.shared_bytes + KIB)
    carved = next((size for size in device.carve_outs if KIB * size >= shared_bytes), device.carve_outs[-1])
    return device.l1_bytes - KIB * carved
