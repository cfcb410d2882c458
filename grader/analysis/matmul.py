"""C = A · B by tiles, in float32: A has M rows and K columns, B has K and N; one thread for an element of C.

The kernel is the one of the textbook (Hwu, Kirk, El Hajj, *Programming Massively Parallel Processors*, 4th
edition, chapter 5): blocks of tile × tile threads, two tiles in shared memory, a phase for each tile along K,
two barriers in each phase, zeros where a tile sticks out. Quantities that begin with ``naive_`` are those of
the kernel without tiles, launched alike.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from grader.analysis import sectors
from grader.analysis.matmul_steps import STEPS, Product
from grader.analysis.subject import Definition, Misconception, Subject, slip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    "global_store_sectors": ("sectors", lambda p: sectors.of_tiles(p.m, p.n, p.tile)),
    "owner_flops": ("flop", lambda p: 2 * p.products),
    "flops": ("flop", lambda p: 2 * p.tile * p.phases * p.threads),
    "intensity": ("flop/byte", lambda p: Fraction(2 * p.products, max(1, p.loads) * FLOAT)),
    "naive_global_load_bytes": ("bytes", lambda p: p.naive_loads * FLOAT),
    "naive_global_load_sectors": ("sectors", lambda p: sectors.of_naive(p.m, p.k, p.n, p.tile)),
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
    quantities={name: Definition(unit, found, STEPS[name]) for name, (unit, found) in _VALUES.items()},
    misconceptions=_misconceptions,
)
