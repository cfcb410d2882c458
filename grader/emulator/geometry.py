"""Which lane is which thread of which block, and what its special registers hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.values import Value
    from grader.model import Dim3, Launch

WARP = 32
"""Lanes of a warp."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """Which lane is which thread: lane = block-in-chunk * threads + linear thread index."""

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


def special_registers(shape: Geometry, lane: NDArray[np.intp]) -> dict[str, Value]:
    """``%tid.x`` and the like (PTX ISA chapter 10); scalars where all lanes agree."""
    grid, block = shape.launch.grid, shape.launch.block
    thread, linear = lane % shape.threads, lane // shape.threads + shape.first_block
    found: dict[str, Value] = {}
    for name, index, extents in (("tid", thread, block), ("ctaid", linear, grid)):
        x, y, _ = extents
        for axis, values in (("x", index % x), ("y", index // x % y), ("z", index // (x * y))):
            found[f"%{name}.{axis}"] = _scalar_if_uniform(values.astype(np.uint32))
    for name, extents in (("ntid", block), ("nctaid", grid)):
        for axis, extent in zip("xyz", extents, strict=True):
            found[f"%{name}.{axis}"] = np.uint32(extent)
    found["%laneid"] = (thread % WARP).astype(np.uint32)
    found["%warpid"] = (thread // WARP).astype(np.uint32)
    found["%nwarpid"] = np.uint32(shape.warps_per_block)
    bit = np.uint32(1) << found["%laneid"]
    found["%lanemask_eq"] = bit
    found["%lanemask_lt"] = bit - np.uint32(1)
    found["%lanemask_le"] = (bit - np.uint32(1)) | bit
    found["%lanemask_gt"] = ~found["%lanemask_le"]
    found["%lanemask_ge"] = ~found["%lanemask_lt"]
    found["%smid"] = (linear % 108).astype(np.uint32)
    found["%gridid"] = np.uint64(1)
    return found


def _scalar_if_uniform(values: NDArray[np.uint32]) -> Value:
    return values[0] if (values == values[0]).all() else values
