"""A tiled product written as plain loops over threads, one element at a time, in float32.

What the diagnosis is tested with: nothing here is shared with its hypotheses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.explaining import WrongOutput
from tests.references import explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Array: TypeAlias = "NDArray[Any]"

TILE = 8
SHAPE = (19, 13, 11)
"""M, K, N: none of them equal, none a multiple of the tile, two tiles along K and N, three along M."""

THREADS = [(ty, tx) for ty in range(TILE) for tx in range(TILE)]


def inputs(shape: tuple[int, int, int] = SHAPE, seed: int = 1) -> tuple[Array, Array]:
    """Random A and B with mixed signs, no integers among them."""
    m, k, n = shape
    random = np.random.default_rng(seed)
    return (
        random.uniform(-2, 2, (m, k)).astype(np.float32),
        random.uniform(-2, 2, (k, n)).astype(np.float32),
    )


def wrong_output(a: Array, b: Array, got: Array, **fields: Any) -> WrongOutput:  # noqa: ANN401 - the record's own
    """The evidence of a product, with the bound of a float32 dot product."""
    terms = a.shape[1] * 2.0**-24
    return WrongOutput(
        array="C",
        got=got,
        expected=a.astype(np.float64) @ b.astype(np.float64),
        bound=terms / (1 - terms) * (np.abs(a).astype(np.float64) @ np.abs(b)),
        unwritten=fields.pop("unwritten", np.isnan(got)),
        inputs=(("A", a), ("B", b)),
        constants=(("TILE_SIZE", TILE),),
        **fields,
    )


def diagnose(a: Array, b: Array, got: Array, **fields: Any) -> str:  # noqa: ANN401 - the record's own
    """The id of the mistake that is named, empty for none."""
    found = explained("matmul", wrong_output(a, b, got, **fields))
    return "" if found is None else found.mistake


@dataclass(frozen=True)
class Kernel:
    """A tiled kernel as students write it; every field is one thing that they may get wrong.

    Buffers are flat. A load outside a buffer gives a number from nowhere, a store outside is lost.
    """

    tiles: Callable[[int], int] = lambda k: -(-k // TILE)
    inner: Callable[[int], range] = lambda _: range(TILE)
    first_tile: int = 0
    pad: float = 0.0
    a_index: Callable[..., int] = lambda row, k, sizes: row * sizes[1] + k
    b_index: Callable[..., int] = lambda k, col, sizes: k * sizes[2] + col
    c_index: Callable[..., int] = lambda row, col, sizes: row * sizes[2] + col
    guard: Callable[..., bool] = lambda row, col, sizes: row < sizes[0] and col < sizes[2]
    row_of: Callable[..., int] = lambda by, _bx, ty, _tx: by * TILE + ty
    col_of: Callable[..., int] = lambda _by, bx, _ty, tx: bx * TILE + tx
    sizes: Callable[[tuple[int, int, int]], tuple[int, int, int]] = lambda sizes: sizes
    a_tile: Callable[..., np.float32] = lambda tile, row, k: tile[row, k]
    b_tile: Callable[..., np.float32] = lambda tile, k, col: tile[k, col]
    keep_stale: bool = False
    reset: bool = False
    accumulate: bool = False

    def run(self, a: Array, b: Array, poison: float = float("nan")) -> Array:
        """The output array after the launch, unwritten elements still poisoned."""
        m, k, n = a.shape[0], a.shape[1], b.shape[1]
        c = np.full(m * n, poison, np.float32)
        for by in range(-(-m // TILE)):
            for bx in range(-(-n // TILE)):
                self._block(a.reshape(-1), b.reshape(-1), c, self.sizes((m, k, n)), (by, bx))
        return c.reshape(m, n)

    def _block(
        self, a: Array, b: Array, c: Array, sizes: tuple[int, int, int], block: tuple[int, int]
    ) -> None:
        sums = dict.fromkeys(THREADS, np.float32(0))
        tile_a, tile_b = np.zeros((TILE, TILE), np.float32), np.zeros((TILE, TILE), np.float32)
        for t in range(self.first_tile, self.tiles(sizes[1])):
            for ty, tx in THREADS:
                row, col = self.row_of(*block, ty, tx), self.col_of(*block, ty, tx)
                a_col, b_row = t * TILE + tx, t * TILE + ty
                index = self.a_index(row, a_col, sizes)
                self._fill(tile_a, (ty, tx), a, index, inside=row < sizes[0] and a_col < sizes[1])
                index = self.b_index(b_row, col, sizes)
                self._fill(tile_b, (ty, tx), b, index, inside=b_row < sizes[1] and col < sizes[2])
            for ty, tx in THREADS:
                total = np.float32(0) if self.reset else sums[ty, tx]
                for k in self.inner(t):
                    left, right = self.a_tile(tile_a, ty, k), self.b_tile(tile_b, k, tx)
                    total = np.float32(total + np.float32(left * right))
                sums[ty, tx] = total
        for ty, tx in THREADS:
            row, col = self.row_of(*block, ty, tx), self.col_of(*block, ty, tx)
            index = self.c_index(row, col, sizes)
            if self.guard(row, col, sizes) and index < c.size:
                c[index] = c[index] + sums[ty, tx] if self.accumulate else sums[ty, tx]

    def _fill(self, tile: Array, place: tuple[int, int], buffer: Array, index: int, *, inside: bool) -> None:
        if inside:
            tile[place] = load(buffer, index)
        elif not self.keep_stale:
            tile[place] = self.pad


def load(buffer: Array, index: int) -> np.float32:
    """An element, or what lies beyond the end."""
    return np.float32(buffer[index]) if index < buffer.size else np.float32(77.7)


def mistaken(**fields: Any) -> Array:  # noqa: ANN401 - a kernel's own
    """The output of a kernel with these mistakes for the usual inputs."""
    return Kernel(**fields).run(*inputs())
