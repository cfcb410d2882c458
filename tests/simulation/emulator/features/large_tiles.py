"""Expected results of the kernels of `large_tiles.cu`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.simulation.emulator.examples import Example, draw

if TYPE_CHECKING:
    from numpy.typing import NDArray

A = draw(5).integers(0, 100, 1024).astype(np.int32)

COLLECTIVES = {64: (2, 128), 128: (2, 128), 256: (1, 512), 512: (1, 512)}
"""By the size of the tiles the blocks that are launched, and the threads of each."""


def large_tiles() -> dict[str, Example]:
    """`large_tiles.cu`."""
    copied = np.concatenate([_reversed(A[:256], 64), A[:256].reshape(4, 64).sum(1)])
    return {
        **{f"collectives_of_{size}": _collectives(size, *launch) for size, launch in COLLECTIVES.items()},
        **{f"reversed_in_{size}": _of(512, _reversed(A[:512], size)) for size in (32, 64, 256, 512)},
        "reversed_in_1024": _of(1024, A[::-1] + 1024, shared=4096),
        "tiles_of_tiles": _of(256, _tiles_of_tiles(A[:256])),
        "copies_of_tiles": _of(256, copied),
        "one_tile_leaves": _of(256, _sums(A[:256], 64) * (np.arange(256) // 64 != 1)),
    }


def _of(threads: int, expected: NDArray[Any], *, blocks: int = 1, shared: int = 0) -> Example:
    """Blocks of a number of threads, which read `A` and write the second argument."""
    arguments = (A[: blocks * threads], np.zeros(expected.size, np.int32))
    wanted = (expected.astype(np.int32),)
    return Example(arguments, (1,), wanted, (blocks, 1, 1), (threads, 1, 1), shared)


def _sums(values: NDArray[Any], size: int) -> NDArray[Any]:
    """For each thread the sum over its tile."""
    sums: NDArray[Any] = values.reshape(-1, size).sum(1, dtype=np.int32)
    return sums.repeat(size)


def _reversed(values: NDArray[Any], size: int) -> NDArray[Any]:
    return values.reshape(-1, size)[:, ::-1].reshape(-1)


def _collectives(size: int, blocks: int, threads: int) -> Example:
    values = A[: blocks * threads]
    tiles, rank = values.reshape(-1, size), np.arange(values.size)
    votes = (tiles == 7).any(1) + 2 * (tiles >= 1).all(1)
    ranks = rank % size + 10000 * (rank % threads // size)
    of_tiles = (tiles.sum(1), tiles.max(1), tiles[:, 3], votes)
    return _of(threads, np.concatenate([*(each.repeat(size) for each in of_tiles), ranks]), blocks=blocks)


def _tiles_of_tiles(values: NDArray[Any]) -> NDArray[Any]:
    rank = np.arange(values.size)
    for _ in range(2):
        values = (values + rank % 64 // 32)[rank ^ 33] + 64
    least: NDArray[Any] = values.reshape(-1, 128).min(1)
    result: NDArray[Any] = values + least.repeat(128)
    return result
