"""Which accesses to global memory may race at all, over all the chunks of a launch.

Accesses are kept as they were logged until the launch ends. Then tables over the cells say which are written,
touched by more than one thread, and not only strongly; the accesses to those, mostly none, are spelt out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.emulator.geometry import WARP
from grader.emulator.hazards.rows import ATOMIC, COPY_ENGINE, WRITE, Rows, touched_by_several
from grader.emulator.values import FOLDED, unfold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.geometry import Geometry
    from grader.emulator.hazards.rows import Access
    from grader.emulator.values import Shape, Value


class Chunk(NamedTuple):
    """The accesses of a chunk of blocks to global memory."""

    geometry: Geometry
    accesses: list[Access]


class _Spread(NamedTuple):
    """An access with the cell, counted from the lowest of all, and the thread of each of its lanes."""

    geometry: Geometry
    access: Access
    cell: NDArray[np.int64]

    def lanes(self) -> NDArray[np.int64]:
        """Threads by their number in the launch; copy engines far beyond."""
        access, shape = self.access, self.geometry
        lanes = np.arange(shape.size) if access.lanes is None else access.lanes
        return lanes + (shape.first_block * shape.threads + (COPY_ENGINE if access.engine else 0))


def suspicious_rows(chunks: list[Chunk], grain: int) -> Rows:
    """The rows of cells that are written, that more than one thread touches, and not only strongly.

    The tables take ten bytes for each cell between the lowest and the highest that is accessed.
    """
    spread = [
        _Spread(chunk.geometry, access, _flat(access.byte, chunk.geometry.shape) // grain)
        for chunk in chunks
        for access in chunk.accesses
    ]
    lowest = min(int(each.cell.min()) for each in spread)
    marked = _suspects(spread, lowest)
    parts = [
        _spelt_out(each, chosen)
        for each in spread
        if (chosen := np.flatnonzero(marked[each.cell - lowest])).size
    ]
    if not parts:
        return Rows._make(np.zeros(0, np.int64) for _ in Rows._fields)
    return Rows._make(np.concatenate(column) for column in zip(*parts, strict=True))


def _flat(value: Value, shape: Shape) -> NDArray[np.int64]:
    return unfold(value, shape) if value.ndim == FOLDED else value


def _suspects(spread: list[_Spread], lowest: int) -> NDArray[np.bool_]:
    """The cells, counted from the lowest, in which accesses may race."""
    count = max(int(each.cell.max()) for each in spread) - lowest + 1
    written, plain = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    for each in spread:
        if each.access.kind in (WRITE, ATOMIC):
            written[each.cell - lowest] = True
        if each.access.kind < ATOMIC:
            plain[each.cell - lowest] = True
    written &= plain
    if not written.any():
        return written
    return written & touched_by_several(
        lambda: ((each.cell - lowest, each.lanes()) for each in spread), count
    )


def _spelt_out(each: _Spread, chosen: NDArray[np.intp]) -> Rows:
    """The rows of some of an access's lanes."""
    access, shape = each.access, each.geometry
    lane = each.lanes()[chosen]
    thread = lane % COPY_ENGINE
    block = thread // shape.threads
    columns = {
        "cell": each.cell,
        "site": access.site,
        "kind": access.kind,
        "when": access.when,
        "epoch": access.epoch,
        "warp_epoch": access.warp_epoch,
    }
    spelt = {
        name: np.broadcast_to(np.asarray(value, np.int64), len(each.cell))[chosen]
        for name, value in columns.items()
    }
    bits = np.uint64(0) if access.value is None else access.value.view(f"u{access.value.dtype.itemsize}")
    return Rows(
        lane=lane,
        block=block,
        warp=block * shape.warps_per_block + thread % shape.threads // WARP,
        value=np.broadcast_to(bits, len(each.cell))[chosen].astype(np.uint64),
        **spelt,
    )
