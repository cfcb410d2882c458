"""Suspects among the accesses to global memory, over all the chunks of a launch.

Accesses are kept as they were logged until the launch ends. Then tables over the cells say which are written,
touched by more than one thread, and not only strongly; the accesses to those, mostly none, are spelt out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.emulator.machine.geometry import WARP
from grader.emulator.machine.values import FOLDED, unfold
from grader.emulator.races.rows import (
    COPY_ENGINE,
    MAY_BE_FLAG,
    NARROW,
    STRONG,
    WRITES,
    Rows,
    touched_by_several,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.machine.geometry import Geometry
    from grader.emulator.machine.values import Shape, Value
    from grader.emulator.races.rows import LoggedAccess


MOST_PLACES = 1 << 24
"""Cells between the lowest and the highest that tables are made for; beyond, only for those accessed."""

MOST_JUDGED = 1 << 21
"""Accesses that are compared at most: where more are suspicious, those to the lowest cells tell enough."""


class Chunk(NamedTuple):
    """The accesses of a chunk of blocks to global memory."""

    geometry: Geometry
    accesses: list[LoggedAccess]


class _Spread(NamedTuple):
    """An access with what it takes to compute the cell and the thread of each of its lanes."""

    geometry: Geometry
    access: LoggedAccess
    grain: int

    def cell(self) -> NDArray[np.int64]:
        """The cell of each lane; computed each time, for all of them together may take much memory."""
        return _flat(self.access.byte, self.geometry.shape) // self.grain

    def lanes(self) -> NDArray[np.int64]:
        """Threads by their number in the launch; copy engines far beyond."""
        access, shape = self.access, self.geometry
        lanes = np.arange(shape.size) if access.lanes is None else access.lanes
        return lanes + (shape.first_block * shape.threads + (COPY_ENGINE if access.engine else 0))


def suspicious_rows(chunks: list[Chunk], grain: int) -> Rows:
    """The rows of cells that are written, that more than one thread touches, and not only strongly.

    The tables take some twenty bytes for each cell.
    """
    spread = [_Spread(chunk.geometry, access, grain) for chunk in chunks for access in chunk.accesses]
    table = _table(spread)
    marked = _suspects(spread, table)
    if marked.any():
        marked = _as_many_as_can_be_judged(spread, table, marked)
    parts = [
        _spelt_out(portion, chosen)
        for portion in spread
        if (chosen := np.flatnonzero(marked[table.positions(portion.cell())])).size
    ]
    if not parts:
        return Rows._make(np.zeros(0, np.int64) for _ in Rows._fields)
    return Rows._make(np.concatenate(column) for column in zip(*parts, strict=True))


def _flat(value: Value, shape: Shape) -> NDArray[np.int64]:
    return unfold(value, shape) if value.ndim == FOLDED else value


class _Table(NamedTuple):
    """Where cells stand in tables: counted from the lowest, or, where they lie far apart, among ``cells``."""

    lowest: int
    total: int
    cells: NDArray[np.int64] | None = None

    def positions(self, cell: NDArray[np.int64]) -> NDArray[np.intp]:
        """The position of each cell."""
        return cell - self.lowest if self.cells is None else np.searchsorted(self.cells, cell)


def _table(spread: list[_Spread]) -> _Table:
    lowest = min(int(portion.access.byte.min()) // portion.grain for portion in spread)
    count = max(int(portion.access.byte.max()) // portion.grain for portion in spread) - lowest + 1
    if count <= MOST_PLACES:
        return _Table(lowest, count)
    cells = np.unique(np.concatenate([np.unique(portion.cell()) for portion in spread]))
    return _Table(lowest, len(cells), cells)


def _as_many_as_can_be_judged(
    spread: list[_Spread], table: _Table, marked: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """The lowest of the marked cells, such that at most `MOST_JUDGED` accesses are to be compared."""
    accesses = np.zeros(table.total, np.int64)
    for portion in spread:
        np.add.at(accesses, table.positions(portion.cell()), 1)
    where = np.flatnonzero(marked)
    enough = int(np.searchsorted(np.cumsum(accesses[where]), MOST_JUDGED)) + 1
    if enough >= len(where):
        return marked
    fewer = np.zeros_like(marked)
    fewer[where[:enough]] = True
    return fewer


def _suspects(spread: list[_Spread], table: _Table) -> NDArray[np.bool_]:
    """The cells, by their positions in the table, in which accesses may race."""
    written, plain = np.zeros(table.total, np.bool_), np.zeros(table.total, np.bool_)
    for portion in spread:
        cell = table.positions(portion.cell())
        if portion.access.kind & WRITES:
            written[cell] = True
        if portion.access.kind & (STRONG | NARROW | MAY_BE_FLAG) != STRONG:
            plain[cell] = True
    written &= plain
    if not written.any():
        return written
    return written & touched_by_several(
        lambda: ((table.positions(portion.cell()), portion.lanes()) for portion in spread), table.total
    )


def _spelt_out(portion: _Spread, chosen: NDArray[np.intp]) -> Rows:
    """The rows of some of an access's lanes."""
    access, shape = portion.access, portion.geometry
    lane = portion.lanes()[chosen]
    thread = lane % COPY_ENGINE
    block = thread // shape.threads
    columns = {
        "cell": portion.cell(),
        "site": access.site,
        "kind": access.kind,
        "when": access.when,
        "epoch": access.epoch,
        "warp_epoch": access.warp_epoch,
    }
    spelt = {
        name: np.broadcast_to(np.asarray(value, np.int64), len(columns["cell"]))[chosen]
        for name, value in columns.items()
    }
    bits = np.uint64(0) if access.value is None else access.value.view(f"u{access.value.dtype.itemsize}")
    return Rows(
        lane=lane,
        block=block,
        warp=block * shape.warps_per_block + thread % shape.threads // WARP,
        value=np.broadcast_to(bits, len(columns["cell"]))[chosen].astype(np.uint64),
        **spelt,
    )
