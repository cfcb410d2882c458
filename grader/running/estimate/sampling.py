"""Sample of the grid: as many blocks as one multiprocessor holds, from all over it, run as machine code.

Blocks of one grid need not do the same: some are at an edge, some have nothing to do. Those that are spread
evenly stand for all of them.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import frozen
from grader.running.estimate.devices import KIB
from grader.simulation.analysis.occupancy import LIMITS, Load
from grader.simulation.sass.interpreter import run
from grader.simulation.sass.linking import link
from grader.simulation.sass.machine import WARP, ExecutionTrace, SassMachine, Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from grader.running.estimate.devices import GpuModel
    from grader.simulation.sass.listing import Listing
    from grader.simulation.sass.machine import Mask

MOST_STEPS = 60_000
"""Instructions that the sampled blocks may take, all lanes together."""

LONGEST_RUN = 64
"""Most instructions of a straight run that are looked at as one."""

_RESERVED = 2 * KIB
"""Shared memory in front of a kernel's own, which newer devices keep for the system."""


@frozen
class MachineCodeLaunch:
    """A kernel's machine code with all that its launch gives it.

    ``memory`` is global memory, the address of its first byte ``base``; its arrays are at ``arrays`` (first
    byte, bytes), the arrays of arguments by name at ``starts``; ``banks`` are the constant banks.
    ``registers`` are those of a thread, ``shared_bytes`` what a block has, static and dynamic.
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
    starts: Mapping[str, int] = field(default_factory=dict)

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]


@frozen
class SampledBlocks:
    """The blocks of one multiprocessor, run: what each warp issues and asks for.

    ``threads`` are the lanes that have a thread; ``resident`` is the number of blocks that a multiprocessor
    could hold.
    """

    launch: MachineCodeLaunch
    device: GpuModel
    resident: int
    blocks: tuple[int, ...]
    trace: ExecutionTrace
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
        """True if each multiprocessor gets at least twice the blocks that it holds."""
        return self.launch.blocks >= 2 * len(self.blocks) * self.device.multiprocessors

    def warps_of(self, lanes: Mask) -> NDArray[np.bool_]:
        """The warps that have any of these lanes."""
        chosen = self.threads if lanes is None else lanes & self.threads
        return np.asarray(chosen.reshape(-1, WARP).any(axis=1))


def sample(launch: MachineCodeLaunch, device: GpuModel) -> SampledBlocks:
    """Run the blocks that one multiprocessor holds.

    Raises what `grader.simulation.sass.interpreter.run` does.
    """
    resident = resident_blocks(launch, device)
    blocks = _spread(launch, min(resident, -(-launch.blocks // device.multiprocessors)))
    machine = machine_for(launch, blocks)
    trace = run(link(launch.listing, launch.banks), machine, MOST_STEPS)
    return SampledBlocks(launch, device, resident, blocks, _in_pieces(trace), threads_of(machine))


def machine_for(launch: MachineCodeLaunch, blocks: tuple[int, ...]) -> SassMachine:
    """Machine that runs these blocks of a launch, on the memory of the launch."""
    shape = Shape(launch.block, launch.grid, blocks)
    local = -(-max(launch.local_bytes, 16) // 16) * 16 + KIB
    return SassMachine(shape, launch.memory, launch.base, launch.shared_bytes + _RESERVED, local)


def threads_of(machine: SassMachine) -> NDArray[np.bool_]:
    """The lanes of a machine that have a thread."""
    return np.ones(machine.lanes, np.bool_) if machine.threads is None else machine.threads


_TURNS = (0.618, 0.414)
"""Multiples of these, without whole numbers, fill an interval evenly, and not both alike."""


def _spread(launch: MachineCodeLaunch, count: int) -> tuple[int, ...]:
    """``count`` blocks, spread evenly over the grid, and not all in one column or row of it.

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


def _in_pieces(trace: ExecutionTrace) -> ExecutionTrace:
    """Straight runs of instructions cut where they are long: one alone may be more than is simulated."""
    pieces, number = ExecutionTrace(accesses=trace.accesses), 0
    for (first, last, lanes), run_end in zip(trace.runs, trace.ends, strict=True):
        for start in range(first, last, LONGEST_RUN):
            end = min(start + LONGEST_RUN, last)
            while number < run_end and trace.accesses[number].instruction < end:
                number += 1
            pieces.runs.append((start, end, lanes))
            pieces.ends.append(number)
    return pieces


def resident_blocks(launch: MachineCodeLaunch, device: GpuModel) -> int:
    """Number of blocks that a multiprocessor holds."""
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    limits = LIMITS[device.architecture]
    load = Load(device.architecture, limits, threads, launch.registers, launch.shared_bytes)
    per_partition = limits.registers // limits.partitions // load.warp_registers
    by_registers = per_partition * limits.partitions // load.warps
    by_shared = limits.shared_bytes // max(1, load.block_shared)
    return max(1, min(limits.threads // (load.warps * WARP), limits.blocks, by_registers, by_shared))


def l1_bytes(launch: MachineCodeLaunch, device: GpuModel, resident: int) -> int:
    """Bytes of L1 beside shared memory: the driver sets aside the least that resident blocks need."""
    shared_bytes = resident * (launch.shared_bytes + KIB)
    carved = next((size for size in device.carve_outs if KIB * size >= shared_bytes), device.carve_outs[-1])
    return device.l1_bytes - KIB * carved
