"""The sizes of a tiled product, and how each quantity is worked out, in sentences with numbers in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from grader.analysis import sectors
from grader.analysis.subject import Steps, shown


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


Worked: TypeAlias = Callable[[Product], Steps]


def _along_x(p: Product) -> str:
    return f"along x there are ceil(N / tile) = ceil({p.n} / {p.tile}) = {p.grid_x} blocks"


def _along_y(p: Product) -> str:
    return f"along y there are ceil(M / tile) = ceil({p.m} / {p.tile}) = {p.grid_y} blocks"


def _phases(p: Product) -> str:
    return f"a block works in ceil(K / tile) = ceil({p.k} / {p.tile}) = {p.phases} phases"


def _blocks(p: Product) -> Steps:
    return _along_x(p), _along_y(p), f"together {p.grid_x} · {p.grid_y} = {p.blocks:,} blocks"


def _boundary(p: Product) -> Steps:
    wide, high = p.n // p.tile, p.m // p.tile
    return (
        *_blocks(p),
        (
            f"{wide} · {high} = {p.whole_blocks:,} of them lie inside C with all their threads "
            f"({p.n} // {p.tile} = {wide} along x, {p.m} // {p.tile} = {high} along y)"
        ),
        f"the others stick out: {p.blocks:,} - {p.whole_blocks:,} = {p.blocks - p.whole_blocks:,}",
    )


def _threads(p: Product) -> Steps:
    in_block = p.tile**2
    return (
        *_blocks(p),
        f"each has {p.tile} · {p.tile} = {in_block:,} threads: {p.blocks:,} · {in_block:,} = {p.threads:,}",
    )


def _owners(p: Product) -> Steps:
    return (f"C has M · N = {p.m} · {p.n} = {p.owners:,} elements, and each has one thread",)


def _idle(p: Product) -> Steps:
    left = p.threads - p.owners
    return *_threads(p), *_owners(p), f"the others have none: {p.threads:,} - {p.owners:,} = {left:,}"


def _last(size: int, blocks: int, tile: int, along: str, what: str) -> Steps:
    before = (blocks - 1) * tile
    return (
        f"{along}",
        f"the {blocks - 1} before the last cover {blocks - 1} · {tile} = {before} {what}, 0 to {before - 1}"
        if before
        else "the first block is the last one",
        f"the last covers {size} - {before} = {size - before} of {tile}, {before} to {size - 1}",
    )


def _barriers(p: Product) -> Steps:
    total = 2 * p.phases * p.threads
    sentence = f"each thread comes to two barriers in a phase: 2 · {p.phases} · {p.threads:,} = {total:,}"
    return *_threads(p), _phases(p), sentence


def _tile_bytes(p: Product) -> str:
    return f"a tile has {p.tile} · {p.tile} = {p.tile**2:,} floats of 4 bytes: {4 * p.tile**2:,} bytes"


def _shared(p: Product) -> Steps:
    return _tile_bytes(p), f"a tile of A and a tile of B: 2 · {4 * p.tile**2:,} = {8 * p.tile**2:,} bytes"


def _shared_stores(p: Product) -> Steps:
    total = 8 * p.phases * p.threads
    return (
        *_threads(p),
        _phases(p),
        (
            f"in each phase every thread stores 2 floats, zeros included: "
            f"{p.threads:,} · {p.phases} · 2 · 4 = {total:,} bytes"
        ),
    )


def _shared_loads(p: Product) -> Steps:
    total = 8 * p.tile * p.phases * p.threads
    return (
        *_threads(p),
        _phases(p),
        (
            f"in each phase every thread reads a row and a column of {p.tile} floats: "
            f"{p.threads:,} · {p.phases} · 2 · {p.tile} · 4 = {total:,} bytes"
        ),
    )


def _a_loads(p: Product) -> str:
    return (
        f"each of the {p.m} · {p.k} elements of A is loaded once for every block along x: "
        f"{p.m} · {p.k} · {p.grid_x} = {p.a_loads:,} loads"
    )


def _b_loads(p: Product) -> str:
    return (
        f"each of the {p.k} · {p.n} elements of B is loaded once for every block along y: "
        f"{p.k} · {p.n} · {p.grid_y} = {p.b_loads:,} loads"
    )


def _a_bytes(p: Product) -> Steps:
    return _along_x(p), _a_loads(p), f"4 bytes each: {p.a_loads:,} · 4 = {4 * p.a_loads:,} bytes"


def _b_bytes(p: Product) -> Steps:
    return _along_y(p), _b_loads(p), f"4 bytes each: {p.b_loads:,} · 4 = {4 * p.b_loads:,} bytes"


def _load_bytes(p: Product) -> Steps:
    return (
        f"{_along_x(p)}, {_along_y(p)}",
        _a_loads(p),
        _b_loads(p),
        "threads beyond an edge load nothing and put 0 into the tile",
        f"4 bytes each: ({p.a_loads:,} + {p.b_loads:,}) · 4 = {4 * p.loads:,} bytes",
    )


def _store_bytes(p: Product) -> Steps:
    return (
        "only threads that have an element of C store, once, after the last phase",
        f"M · N · 4 = {p.m} · {p.n} · 4 = {4 * p.owners:,} bytes",
    )


def _sectors(what: str) -> Worked:
    def steps(p: Product) -> Steps:
        return (
            f"a warp is 32 threads in a row of the block, x first: {_rows_of_a_warp(p)}",
            "a warp's request takes every 32-byte sector (8 floats) that one of its active threads asks for",
            f"counted warp by warp over {what}",
        )

    return steps


def _rows_of_a_warp(p: Product) -> str:
    if p.tile >= 32:  # noqa: PLR2004 - a warp
        return (
            "all of it lies in one row of the tile" if p.tile % 32 == 0 else "mostly in one row of the tile"
        )
    return f"it takes {shown(Fraction(32, p.tile))} rows of a tile of {p.tile}"


def _owner_flops(p: Product) -> Steps:
    return (
        *_owners(p),
        f"an owner multiplies and adds K = {p.k} times, which are 2 · {p.k} = {2 * p.k} operations",
        f"{p.owners:,} · {2 * p.k} = {2 * p.products:,} operations",
    )


def _flops(p: Product) -> Steps:
    thread_flops = 2 * p.tile * p.phases
    return (
        *_threads(p),
        _phases(p),
        (
            f"in each phase every thread multiplies and adds {p.tile} times, zeros included: "
            f"{p.phases} · {p.tile} · 2 = {thread_flops} operations"
        ),
        f"{p.threads:,} · {thread_flops} = {p.threads * thread_flops:,} operations",
    )


def _intensity(p: Product) -> Steps:
    total, moved = 2 * p.products, 4 * p.loads
    return (
        f"the product needs 2 · M · N · K = 2 · {p.m} · {p.n} · {p.k} = {total:,} operations",
        *_load_bytes(p),
        f"{total:,} / {moved:,} = {shown(Fraction(total, moved))} operations for each byte that is read",
    )


def _naive_bytes(p: Product) -> Steps:
    return (
        f"without tiles every owner reads a row of A and a column of B itself: 2 · K = {2 * p.k} floats",
        *_owners(p),
        f"{p.owners:,} · {2 * p.k} · 4 = {4 * p.naive_loads:,} bytes",
    )


def _naive_intensity(_: Product) -> Steps:
    return (
        "for each multiplication and addition, 2 operations, a thread reads two floats, 8 bytes",
        "2 / 8 = 0.25 operations for each byte, whatever the sizes are",
    )


def _reduction(p: Product) -> Steps:
    return (
        *_naive_bytes(p),
        *_load_bytes(p),
        f"{4 * p.naive_loads:,} / {4 * p.loads:,} = {shown(Fraction(p.naive_loads, p.loads))}",
    )


def _left_over(size: int, tile: int, what: str) -> Steps:
    return (f"{size} % {tile} = {size % tile} {what} are left over beside whole tiles",)


STEPS: dict[str, Worked] = {
    "columns_left_over": lambda p: _left_over(p.n, p.tile, "columns"),
    "rows_left_over": lambda p: _left_over(p.m, p.tile, "rows"),
    "grid_x": lambda p: (_along_x(p),),
    "grid_y": lambda p: (_along_y(p),),
    "blocks": _blocks,
    "boundary_blocks": _boundary,
    "threads_per_block": lambda p: (f"tile · tile = {p.tile} · {p.tile} = {p.tile**2:,} threads",),
    "threads": _threads,
    "owner_threads": _owners,
    "idle_threads": _idle,
    "last_columns": lambda p: _last(p.n, p.grid_x, p.tile, _along_x(p), "columns"),
    "last_rows": lambda p: _last(p.m, p.grid_y, p.tile, _along_y(p), "rows"),
    "phases": lambda p: (_phases(p),),
    "barriers": _barriers,
    "one_tile_bytes": lambda p: (_tile_bytes(p),),
    "shared_bytes": _shared,
    "shared_store_bytes": _shared_stores,
    "shared_load_bytes": _shared_loads,
    "a_load_bytes": _a_bytes,
    "b_load_bytes": _b_bytes,
    "global_load_bytes": _load_bytes,
    "global_store_bytes": _store_bytes,
    "global_load_sectors": _sectors(
        "all tiles of A, for each block along x, and of B, for each block along y"
    ),
    "global_store_sectors": _sectors("C, which is stored once"),
    "owner_flops": _owner_flops,
    "flops": _flops,
    "intensity": _intensity,
    "naive_global_load_bytes": _naive_bytes,
    "naive_global_load_sectors": _sectors("all steps along K, one load from A and one from B in each"),
    "naive_intensity": _naive_intensity,
    "reduction": _reduction,
}
