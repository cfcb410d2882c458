"""The geometry of a launch: the thread and the block of each lane, and its special registers."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import frozen
from grader.simulation.emulator.machine.values import scalar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from grader.model import Dim3, Launch
    from grader.simulation.emulator.machine.values import Shape, Value

RESERVED = 1 << 20
"""Offset of the shared memory that the system reserves: beyond all that a program can have."""

RESERVED_BYTES = 1 << 10
"""Number of reserved bytes (CUDA C++ Programming Guide, compute capability 8.0 to 9.0)."""

WARP = 32
"""Lanes of a warp."""

BARRIERS = 16
"""Named barriers of a block (PTX ISA section 9.7.13.1)."""

SMS = 108
"""Number of multiprocessors that a launch sees."""


@frozen
class Geometry:
    """Mapping of threads to lanes: lane = block-in-chunk * threads + linear thread index."""

    launch: Launch
    first_block: int
    blocks: int

    @property
    def threads(self) -> int:
        """Threads per block."""
        x, y, z = self.launch.block
        return x * y * z

    @property
    def size(self) -> int:
        """Lanes in the chunk."""
        return self.blocks * self.threads

    @property
    def shape(self) -> Shape:
        """Lanes as blocks, rows of threads in a block (y and z), threads in a row."""
        x, y, z = self.launch.block
        return (self.blocks, y * z, x)

    @property
    def warps_per_block(self) -> int:
        """Warps per block; the last may be partial."""
        return -(-self.threads // WARP)

    def block_index(self, lane: int) -> Dim3:
        """``blockIdx`` of a lane."""
        return unflatten(self.first_block + lane // self.threads, self.launch.grid)

    def thread_index(self, lane: int) -> Dim3:
        """``threadIdx`` of a lane."""
        return unflatten(lane % self.threads, self.launch.block)


def unflatten(index: int, extents: Dim3) -> Dim3:
    """The index with its x, y and z: x runs fastest."""
    x, y, _ = extents
    return (index % x, index // x % y, index // (x * y))


@lru_cache(maxsize=4)
def special_registers(shape: Geometry) -> Mapping[str, Value]:
    """``%tid.x`` and the like (PTX ISA chapter 10), folded; scalars where all lanes agree.

    They are cached, for a program may launch the same grid many times.
    """
    grid, block = shape.launch.grid, shape.launch.block
    _, rows, columns = shape.shape
    thread = np.arange(shape.threads).reshape(1, rows, columns)
    linear = np.arange(shape.first_block, shape.first_block + shape.blocks).reshape(-1, 1, 1)
    registers: dict[str, Value] = {}
    for name, index, extents in (("tid", thread, block), ("ctaid", linear, grid)):
        x, y, _ = extents
        for axis, values in (("x", index % x), ("y", index // x % y), ("z", index // (x * y))):
            registers[f"%{name}.{axis}"] = values.astype(np.uint32)
    for name, extents in (("ntid", block), ("nctaid", grid)):
        for axis, extent in zip("xyz", extents, strict=True):
            registers[f"%{name}.{axis}"] = scalar(np.uint32(extent))
    registers["%laneid"] = (thread % WARP).astype(np.uint32)
    registers["%warpid"] = (thread // WARP).astype(np.uint32)
    registers["%nwarpid"] = scalar(np.uint32(shape.warps_per_block))
    bit = np.uint32(1) << registers["%laneid"]
    registers["%lanemask_eq"] = bit
    registers["%lanemask_lt"] = bit - np.uint32(1)
    registers["%lanemask_le"] = (bit - np.uint32(1)) | bit
    registers["%lanemask_gt"] = ~registers["%lanemask_le"]
    registers["%lanemask_ge"] = ~registers["%lanemask_lt"]
    registers["%smid"] = (linear % SMS).astype(np.uint32)
    registers["%gridid"] = scalar(np.uint64(1))
    return {
        name: value if value.ndim == 0 else folded(value, shape.size) for name, value in registers.items()
    }


def folded(values: NDArray[np.uint32], lanes: int) -> Value:
    """An array over (block, row, column) without the axes on which it does not depend."""
    for axis in range(3):
        first = values.take([0], axis)
        if (values == first).all():
            values = first
    if values.size == 1:
        return scalar(values[0, 0, 0])
    return values.reshape(-1) if values.size == lanes else values
