"""The sizes of a tiled product, and what follows from them: blocks, threads, phases, loads."""

from __future__ import annotations

from dataclasses import dataclass

from grader.analysis import sectors


@dataclass(frozen=True, slots=True)
class Product:
    """A product and its launch. The grid and the phases follow from the sizes, unless somebody miscounts."""

    m: int
    k: int
    n: int
    tile: int
    grid_x: int
    grid_y: int
    phases: int

    @classmethod
    def of(cls, m: int, k: int, n: int, tile: int) -> Product:
        """As many blocks and phases as it takes."""
        return cls(m, k, n, tile, -(-n // tile), -(-m // tile), -(-k // tile))

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid_x * self.grid_y

    @property
    def threads(self) -> int:
        """Threads of the launch."""
        return self.blocks * self.tile**2

    @property
    def owners(self) -> int:
        """Threads that have an element of C."""
        return self.m * self.n

    @property
    def a_loads(self) -> int:
        """Elements of A that are loaded: all of them for each block along x."""
        return self.m * self.k * self.grid_x

    @property
    def b_loads(self) -> int:
        """Elements of B that are loaded: all of them for each block along y."""
        return self.k * self.n * self.grid_y

    @property
    def loads(self) -> int:
        """Elements that are loaded."""
        return self.a_loads + self.b_loads

    @property
    def naive_loads(self) -> int:
        """Elements that the naive kernel loads: a row of A and a column of B for each element of C."""
        return 2 * self.k * self.owners

    @property
    def products(self) -> int:
        """Multiplications that are needed."""
        return self.owners * self.k

    @property
    def last_columns(self) -> int:
        """Columns of C in the last blocks along x."""
        return self.n - (self.grid_x - 1) * self.tile

    @property
    def last_rows(self) -> int:
        """Rows of C in the last blocks along y."""
        return self.m - (self.grid_y - 1) * self.tile

    @property
    def whole_blocks(self) -> int:
        """Blocks of which every thread has an element of C."""
        return (self.n // self.tile) * (self.m // self.tile)

    @property
    def load_sectors(self) -> int:
        """Sectors of all loads from global memory."""
        a = sectors.of_tiles(self.m, self.k, self.tile) * self.grid_x
        return a + sectors.of_tiles(self.k, self.n, self.tile) * self.grid_y
