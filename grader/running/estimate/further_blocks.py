"""Global memory after the blocks of a launch that are timed, and after others that are run beside them.

A device may run the blocks of a launch in any order. So the blocks that stand for the launch, then some that
are drawn by chance, then perhaps all others, each once and on the same memory, are an order that is allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import frozen
from grader.running.estimate.requests import distinct
from grader.running.estimate.sampling import MOST_STEPS, machine_for, threads_of
from grader.simulation.sass.interpreter import run
from grader.simulation.sass.linking import link
from grader.simulation.sass.machine import WARP, ExecutionTrace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from grader.model import Dim3
    from grader.running.estimate.sampling import SampledBlocks

MOST_ISSUED = 2_000_000
"""Instructions of warps that all other blocks may issue together where all are run: about a second."""

_MOST_DRAWN = 8_000_000
"""Instructions of warps that drawn blocks may issue together; side by side many of them take less time."""

_MOST_LANES = 1 << 14
_MOST_LOCAL_BYTES = 1 << 27
"""Lanes that run side by side, and their local memory together."""

_UPDATES = frozenset(("RED", "REDG", "ATOM", "ATOMG"))
_STORES = _UPDATES | {"ST", "STG"}


@frozen
class BlocksRun:
    """Number of blocks that were run, and of the instructions that their warps issued.

    ``stored`` has the addresses of their stores, by the bytes of an access; ``updates`` is True if one of
    these was atomic, so that what it leaves may be a part of what all blocks leave.
    """

    blocks: int
    issued: int
    stored: Mapping[int, NDArray[np.int64]]
    updates: bool


class LaunchedBlocks:
    """The blocks of a launch that were run so far, each once; ``ran`` begins with those that are timed."""

    def __init__(self, sampled: SampledBlocks) -> None:
        """Begin with the blocks that stand for the launch."""
        self.launch, self._taken = sampled.launch, set(sampled.blocks)
        self._program = link(self.launch.listing, self.launch.banks)
        self._storing = frozenset(
            at
            for at, instruction in enumerate(self.launch.listing.instructions)
            if instruction.opcode in _STORES
        )
        timed = sum(last - first for first, last, _ in sampled.trace.runs)
        self._steps = min(MOST_STEPS, 4 * timed + 1000)  # others may have more to do, but not that much
        self.ran = [self._ran(sampled.trace, sampled.threads, len(sampled.blocks))]

    @property
    def are_all(self) -> bool:
        """True if every block of the grid was run."""
        return len(self._taken) == self.launch.blocks

    @property
    def updates(self) -> bool:
        """True if any block made an atomic update of global memory."""
        return any(ran.updates for ran in self.ran)

    def run_some(self, count: int, rng: np.random.Generator) -> None:
        """Run about ``count`` further blocks, drawn from all over the grid, and neighbours of each.

        Neighbours show what only every second block does. There are fewer where a block has much to do.
        Raises as `interpreter.run`.
        """
        issued, ran = sum(some.issued for some in self.ran), len(self._taken)
        count = max(1, min(count, _MOST_DRAWN * ran // (3 * max(1, issued))))
        blocks = with_neighbours(sampled_blocks(self.launch.grid, count, rng), self.launch.grid)
        self._run(tuple(block for block in blocks if block not in self._taken))

    def run_all(self) -> bool:
        """Run all blocks that are left, and return True; if they would take too much work, only some or none.

        Raises what `interpreter.run` does.
        """
        issued, blocks = sum(ran.issued for ran in self.ran), len(self._taken)
        if issued * (self.launch.blocks - blocks) > MOST_ISSUED * blocks:
            return False
        rest = [block for block in range(self.launch.blocks) if block not in self._taken]
        width = self._width()
        for at in range(0, len(rest), width):
            self._run(tuple(rest[at : at + width]))
            if sum(ran.issued for ran in self.ran) > 2 * MOST_ISSUED + issued:
                break
        return self.are_all

    def _width(self) -> int:
        """Number of blocks that run side by side."""
        x, y, z = self.launch.block
        lanes = -(-x * y * z // WARP) * WARP
        most = min(_MOST_LANES, _MOST_LOCAL_BYTES // max(1, self.launch.local_bytes))
        return max(1, most // lanes)

    def _run(self, blocks: tuple[int, ...]) -> None:
        width = self._width()
        for at in range(0, len(blocks), width):
            some = blocks[at : at + width]
            machine = machine_for(self.launch, some)
            machine.trace = ExecutionTrace(kept=self._storing)
            trace = run(self._program, machine, self._steps)
            self._taken.update(some)
            self.ran.append(self._ran(trace, threads_of(machine), len(some)))

    def _ran(self, trace: ExecutionTrace, threads: NDArray[np.bool_], blocks: int) -> BlocksRun:
        code = self.launch.listing.instructions
        stored: dict[int, list[NDArray[np.int64]]] = {}
        updates = False
        for access in trace.accesses:
            if access.space == "global" and access.instruction in self._storing:
                acting = threads if access.mask is None else threads & access.mask
                stored.setdefault(access.size, []).append(
                    np.broadcast_to(access.addresses, acting.shape)[acting]
                )
                updates |= code[access.instruction].opcode in _UPDATES
        issued = sum(
            (last - first)
            * int((threads if lanes is None else lanes & threads).reshape(-1, WARP).any(1).sum())
            for first, last, lanes in trace.runs
        )
        places = {size: distinct(np.concatenate(parts)) for size, parts in stored.items()}
        return BlocksRun(blocks, issued, places, updates)


def sampled_blocks(grid: Dim3, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """About ``count`` blocks by row and column, one at a random place of each of as many parts of a grid.

    Even and odd places take turns: with their neighbours they show two blocks that do the same, wherever such
    pairs begin.
    """
    columns, rows = grid[0], grid[1] * grid[2]
    across = min(columns, count, max(1, round((count * columns / rows) ** 0.5), -(-count // rows)))
    down = min(rows, max(1, count // across))
    part = np.indices((down, across)).reshape(2, -1)
    size = np.array([[rows / down], [columns / across]])
    places: NDArray[np.int64] = ((part + rng.random(part.shape)) * size).astype(np.int64)
    places += (places + np.arange(part.shape[1])) % 2
    return np.stack((places[0] % rows, places[1] % columns))


def with_neighbours(blocks: NDArray[np.int64], grid: Dim3) -> tuple[int, ...]:
    """Blocks by their number, with those to the right of them and below them; around the edge of the grid."""
    columns, rows = grid[0], grid[1] * grid[2]
    numbers = [
        (row + down) % rows * columns + (column + right) % columns
        for row, column in blocks.T.tolist()
        for down, right in ((0, 0), (0, 1), (1, 0))
    ]
    return tuple(dict.fromkeys(numbers))


def elements_at(ran: Sequence[BlocksRun], start: int, itemsize: int, count: int) -> NDArray[np.int64]:
    """The elements of an array, by their number, in which these blocks stored anything.

    The array has ``count`` elements of ``itemsize`` bytes and begins at the byte ``start`` of memory.
    """
    marks = np.zeros(count, np.bool_)
    for stored in (stored for some in ran for stored in some.stored.items()):
        size, addresses = stored
        for byte in range(0, size, min(size, itemsize)):
            number = (addresses + byte - start) // itemsize
            marks[number[(number >= 0) & (number < count)]] = True
    return np.flatnonzero(marks)
