"""C = A · B by tiles, in float32: A has M rows and K columns, B has K and N; one thread for an element of C.

The kernel is the one of the textbook (Hwu, Kirk, El Hajj, *Programming Massively Parallel Processors*, 4th
edition, chapter 5): blocks of tile × tile threads, two tiles in shared memory, a phase for each tile along K,
two barriers in each phase, zeros where a tile sticks out. Quantities that begin with ``naive_`` describe the
kernel without tiles, launched alike. Each quantity is worked out step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from grader.base.records import frozen
from grader.simulation.analysis import subject
from grader.simulation.analysis.subject import (
    Definition,
    Misconception,
    Steps,
    Subject,
    number_text,
    slip,
    step,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.model import Clause


@frozen
class Product:
    """A product and its launch. The grid and the phases follow from the sizes, unless they are miscounted."""

    m: int
    k: int
    n: int
    tile: int
    grid_x: int
    grid_y: int
    phases: int

    @classmethod
    def of(cls, m: int, k: int, n: int, tile: int) -> Product:
        """The product with the blocks and phases that its sizes require."""
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
        a = subject.of_tiles(self.m, self.k, self.tile) * self.grid_x
        return a + subject.of_tiles(self.k, self.n, self.tile) * self.grid_y


Worked: TypeAlias = Callable[[Product], Steps]


def _along_x(p: Product) -> Clause:
    return step("along-x", size=p.n, tile=p.tile, blocks=p.grid_x)


def _along_y(p: Product) -> Clause:
    return step("along-y", size=p.m, tile=p.tile, blocks=p.grid_y)


def _phases(p: Product) -> Clause:
    return step("phases", size=p.k, tile=p.tile, phases=p.phases)


def _blocks(p: Product) -> Steps:
    return _along_x(p), _along_y(p), step("together", factors=f"{p.grid_x} · {p.grid_y}", blocks=p.blocks)


def _boundary(p: Product) -> Steps:
    wide, high = p.n // p.tile, p.m // p.tile
    return (
        *_blocks(p),
        step("inside", wide=wide, high=high, whole=p.whole_blocks, n=p.n, m=p.m, tile=p.tile),
        step("stick-out", blocks=p.blocks, whole=p.whole_blocks, rest=p.blocks - p.whole_blocks),
    )


def _threads(p: Product) -> Steps:
    in_all = step("tile-threads", tile=p.tile, size=p.tile**2, blocks=p.blocks, threads=p.threads)
    return *_blocks(p), in_all


def _owners(p: Product) -> Steps:
    return (step("owners", m=p.m, n=p.n, owners=p.owners),)


def _idle(p: Product) -> Steps:
    left = step("no-owners", threads=p.threads, owners=p.owners, left=p.threads - p.owners)
    return *_threads(p), *_owners(p), left


def _last(p: Product, size: int, blocks: int, along: Clause, name: str) -> Steps:
    before = (blocks - 1) * p.tile
    return (
        along,
        step(name, count=blocks - 1, tile=p.tile, before=before, end=before - 1)
        if before
        else step("first-is-last"),
        step("last-covers", size=size, before=before, rest=size - before, tile=p.tile, end=size - 1),
    )


def _barriers(p: Product) -> Steps:
    total = 2 * p.phases * p.threads
    return *_threads(p), _phases(p), step("barriers", phases=p.phases, threads=p.threads, total=total)


def _tile_bytes(p: Product) -> Clause:
    return step("tile-bytes", tile=p.tile, floats=p.tile**2, bytes=4 * p.tile**2)


def _shared(p: Product) -> Steps:
    return _tile_bytes(p), step("two-tiles", bytes=4 * p.tile**2, total=8 * p.tile**2)


def _shared_stores(p: Product) -> Steps:
    total = 8 * p.phases * p.threads
    return *_threads(p), _phases(p), step("shared-stores", threads=p.threads, phases=p.phases, total=total)


def _shared_loads(p: Product) -> Steps:
    total = 8 * p.tile * p.phases * p.threads
    loads = step("shared-loads", tile=p.tile, threads=p.threads, phases=p.phases, total=total)
    return *_threads(p), _phases(p), loads


def _a_loads(p: Product) -> Clause:
    return step("a-loads", rows=p.m, columns=p.k, blocks=p.grid_x, loads=p.a_loads)


def _b_loads(p: Product) -> Clause:
    return step("b-loads", rows=p.k, columns=p.n, blocks=p.grid_y, loads=p.b_loads)


def _a_bytes(p: Product) -> Steps:
    return _along_x(p), _a_loads(p), step("four-bytes", loads=p.a_loads, total=4 * p.a_loads)


def _b_bytes(p: Product) -> Steps:
    return _along_y(p), _b_loads(p), step("four-bytes", loads=p.b_loads, total=4 * p.b_loads)


def _load_bytes(p: Product) -> Steps:
    return (
        _along_x(p),
        _along_y(p),
        _a_loads(p),
        _b_loads(p),
        step("beyond-edge"),
        step("four-bytes-of-both", a=p.a_loads, b=p.b_loads, total=4 * p.loads),
    )


def _store_bytes(p: Product) -> Steps:
    return step("who-stores"), step("stores", m=p.m, n=p.n, total=4 * p.owners)


def _sectors(name: str) -> Worked:
    return lambda p: (_rows_of_a_warp(p), step("sectors"), step(name))


def _rows_of_a_warp(p: Product) -> Clause:
    if p.tile >= subject.WARP:
        return step("warp-in-row" if p.tile % subject.WARP == 0 else "warp-mostly")
    return step("warp-rows", rows=number_text(Fraction(subject.WARP, p.tile)), tile=p.tile)


def _owner_flops(p: Product) -> Steps:
    return (
        *_owners(p),
        step("owner-flops", k=p.k, flops=2 * p.k),
        step("all-flops", threads=p.owners, flops=2 * p.k, total=2 * p.products),
    )


def _flops(p: Product) -> Steps:
    thread_flops = 2 * p.tile * p.phases
    return (
        *_threads(p),
        _phases(p),
        step("phase-flops", tile=p.tile, phases=p.phases, flops=thread_flops),
        step("all-flops", threads=p.threads, flops=thread_flops, total=p.threads * thread_flops),
    )


def _intensity(p: Product) -> Steps:
    total, bytes_moved = 2 * p.products, 4 * p.loads
    return (
        step("needed-flops", m=p.m, n=p.n, k=p.k, total=total),
        *_load_bytes(p),
        step(
            "flops-by-bytes", total=total, moved=bytes_moved, value=number_text(Fraction(total, bytes_moved))
        ),
    )


def _naive_bytes(p: Product) -> Steps:
    return (
        step("naive-reads", floats=2 * p.k),
        *_owners(p),
        step("naive-bytes", owners=p.owners, floats=2 * p.k, total=4 * p.naive_loads),
    )


def _naive_intensity(_: Product) -> Steps:
    return step("naive-intensity"), step("naive-quarter")


def _reduction(p: Product) -> Steps:
    value = number_text(Fraction(p.naive_loads, p.loads))
    quotient = step("quotient", first=4 * p.naive_loads, second=4 * p.loads, value=value)
    return *_naive_bytes(p), *_load_bytes(p), quotient


def _remainder(p: Product, size: int, name: str) -> Steps:
    return (step(name, size=size, tile=p.tile, left=size % p.tile),)


STEPS: dict[str, Worked] = {
    "columns_left_over": lambda p: _remainder(p, p.n, "columns-left"),
    "rows_left_over": lambda p: _remainder(p, p.m, "rows-left"),
    "grid_x": lambda p: (_along_x(p),),
    "grid_y": lambda p: (_along_y(p),),
    "blocks": _blocks,
    "boundary_blocks": _boundary,
    "threads_per_block": lambda p: (step("tile-squared", tile=p.tile, size=p.tile**2),),
    "threads": _threads,
    "owner_threads": _owners,
    "idle_threads": _idle,
    "last_columns": lambda p: _last(p, p.n, p.grid_x, _along_x(p), "columns-before"),
    "last_rows": lambda p: _last(p, p.m, p.grid_y, _along_y(p), "rows-before"),
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
    "global_load_sectors": _sectors("sectors-of-tiles"),
    "global_store_sectors": _sectors("sectors-of-c"),
    "owner_flops": _owner_flops,
    "flops": _flops,
    "intensity": _intensity,
    "naive_global_load_bytes": _naive_bytes,
    "naive_global_load_sectors": _sectors("sectors-of-naive"),
    "naive_intensity": _naive_intensity,
    "reduction": _reduction,
}


FLOAT = 4
"""Bytes of a float32."""


def _situation(numbers: Mapping[str, int]) -> Product:
    return Product.of(numbers["M"], numbers["K"], numbers["N"], numbers["tile"])


_VALUES = {
    "one_tile_bytes": ("bytes", lambda p: p.tile**2 * FLOAT),
    "columns_left_over": ("columns", lambda p: p.n % p.tile),
    "rows_left_over": ("rows", lambda p: p.m % p.tile),
    "grid_x": ("blocks", lambda p: p.grid_x),
    "grid_y": ("blocks", lambda p: p.grid_y),
    "blocks": ("blocks", lambda p: p.blocks),
    "boundary_blocks": ("blocks", lambda p: p.blocks - p.whole_blocks),
    "threads_per_block": ("threads", lambda p: p.tile**2),
    "threads": ("threads", lambda p: p.threads),
    "owner_threads": ("threads", lambda p: p.owners),
    "idle_threads": ("threads", lambda p: p.threads - p.owners),
    "last_columns": ("columns", lambda p: p.last_columns),
    "last_rows": ("rows", lambda p: p.last_rows),
    "phases": ("phases", lambda p: p.phases),
    "barriers": ("barriers", lambda p: 2 * p.phases * p.threads),
    "shared_bytes": ("bytes", lambda p: 2 * p.tile**2 * FLOAT),
    "shared_store_bytes": ("bytes", lambda p: 2 * p.threads * p.phases * FLOAT),
    "shared_load_bytes": ("bytes", lambda p: 2 * p.tile * p.threads * p.phases * FLOAT),
    "a_load_bytes": ("bytes", lambda p: p.a_loads * FLOAT),
    "b_load_bytes": ("bytes", lambda p: p.b_loads * FLOAT),
    "global_load_bytes": ("bytes", lambda p: p.loads * FLOAT),
    "global_store_bytes": ("bytes", lambda p: p.owners * FLOAT),
    "global_load_sectors": ("sectors", lambda p: p.load_sectors),
    "global_store_sectors": ("sectors", lambda p: subject.of_tiles(p.m, p.n, p.tile)),
    "owner_flops": ("flop", lambda p: 2 * p.products),
    "flops": ("flop", lambda p: 2 * p.tile * p.phases * p.threads),
    "intensity": ("flop/byte", lambda p: Fraction(2 * p.products, max(1, p.loads) * FLOAT)),
    "naive_global_load_bytes": ("bytes", lambda p: p.naive_loads * FLOAT),
    "naive_global_load_sectors": ("sectors", lambda p: subject.of_naive(p.m, p.k, p.n, p.tile)),
    "naive_intensity": ("flop/byte", lambda p: Fraction(2 * p.products, p.naive_loads * FLOAT)),
    "reduction": ("", lambda p: Fraction(p.naive_loads, max(1, p.loads))),
}


def _misconceptions(p: Product) -> Iterator[Misconception]:
    """The steps that are commonly done wrong, the likeliest first."""
    t = p.tile
    yield Misconception(slip("whole-tiles"), replace(p, grid_x=p.n // t, grid_y=p.m // t, phases=p.k // t))
    yield Misconception(slip("padded"), Product.of(-(-p.m // t) * t, -(-p.k // t) * t, -(-p.n // t) * t, t))
    yield Misconception(slip("rows-and-columns"), replace(p, grid_x=p.grid_y, grid_y=p.grid_x))
    yield Misconception(slip("k-and-n"), Product.of(p.m, p.n, p.k, t))
    yield Misconception(slip("k-and-m"), Product.of(p.k, p.m, p.n, t))
    yield Misconception(slip("once"), replace(p, grid_x=1, grid_y=1))
    yield Misconception(slip("a-only"), instead=_for_loads("a_load_bytes"))
    yield Misconception(slip("b-only"), instead=_for_loads("b_load_bytes"))
    yield Misconception(
        slip("naive"),
        instead={"global_load_bytes": "naive_global_load_bytes", "intensity": "naive_intensity"},
    )
    yield Misconception(slip("loaded"), instead=_for_stores("global_load_bytes"))
    yield Misconception(slip("stored"), instead=_for_loads("global_store_bytes"))
    yield Misconception(
        slip("owners"),
        instead={"flops": "owner_flops", "owner_flops": "flops", "threads": "owner_threads"},
    )
    yield Misconception(
        slip("remainder"), instead={"last_columns": "columns_left_over", "last_rows": "rows_left_over"}
    )
    yield Misconception(slip("one-tile"), instead={"shared_bytes": "one_tile_bytes"})


def _for_loads(name: str) -> dict[str, str]:
    return {"global_load_bytes": name}


def _for_stores(name: str) -> dict[str, str]:
    return {"global_store_bytes": name}


MATMUL = Subject(
    parameters={"M": (1, None), "K": (1, None), "N": (1, None), "tile": (1, 16)},
    situation=_situation,
    quantities={name: Definition(unit, value, STEPS[name]) for name, (unit, value) in _VALUES.items()},
    misconceptions=_misconceptions,
)
