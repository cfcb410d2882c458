"""Matrix products: naive, by tiles, by registers, and what makes each of them slower."""

from __future__ import annotations

from dataclasses import replace

from tests.bench.estimate.records import Family, Parameter, Row, floats, launch, of_file, whole

_PARAMETERS: tuple[Parameter, ...] = (
    floats("A", "M * K"),
    floats("B", "K * N"),
    floats("C", "M * N", "zeros"),
    *whole("M", "K", "N"),
)
_SQUARES = tuple(dict.fromkeys("MKN", size) for size in (512, 1024, 2048, 4096))
_ODD = ({"M": 500, "K": 300, "N": 700}, {"M": 1000, "K": 1000, "N": 1000}, {"M": 2047, "K": 1025, "N": 1999})


def _product(
    name: str,
    block: tuple[int, int],
    columns: int,
    rows: int,
    *,
    file: str = "",
    swapped: bool = False,
    shared: int = 0,
) -> Row:
    """A launch in which each block makes ``columns`` × ``rows`` elements."""
    across, down = f"ceil(N / {columns})", f"ceil(M / {rows})"
    grid = (down, across) if swapped else (across, down)
    return launch(f"matmul_{name}", block, *grid, file=file and f"matmul_{file}", shared=shared)


def _blocks(file: str, *sizes: tuple[int, int], swapped: bool = False) -> tuple[Row, ...]:
    """One kernel in blocks of several sizes, an element to a thread."""
    rows = []
    for x, y in sizes:
        columns, height = (y, x) if swapped else (x, y)
        rows.append(_product(f"{file}_{x}x{y}", (x, y), columns, height, file=file, swapped=swapped))
    return tuple(rows)


_NAIVE = _product("naive", (16, 16), 16, 16)
_TILED = tuple(_product(f"tiled_{tile}", (tile, tile), tile, tile) for tile in (8, 16, 32))

_ONE_EACH_OF_16 = (
    *("naive_unroll1", "naive_unroll16", "naive_restrict", "naive_double", "naive_unguarded"),
    *("naive_four_sums", "sum_in_memory"),
    *("tiled_16_padded", "tiled_16_b_transposed", "tiled_16_b_transposed_padded", "tiled_16_a_transposed"),
    *("tiled_16_unguarded", "tiled_16_unroll1", "tiled_16_unroll4", "tiled_16_barriers"),
    *("tiled_16_low_occupancy", "tiled_16_launch_bounds", "tiled_16_only_a", "tiled_16_only_b"),
    *("tiled_16_two_buffers", "tiled_16_prefetch"),
)
_ONE_EACH_OF_32 = (
    *("tiled_32_padded", "tiled_32_b_transposed", "tiled_32_b_transposed_padded", "tiled_32_unguarded"),
    *("tiled_32_unroll1", "tiled_32_launch_bounds"),
)
_BY_REGISTERS = {
    "registers_1x2": (32, 16),
    "registers_2x1": (16, 32),
    "registers_2x2": (32, 32),
    "registers_2x4": (64, 32),
    "registers_4x4": (64, 64),
    "registers_4x4_conflicts": (64, 64),
    "registers_4x4_shallow": (64, 64),
    "registers_8x4": (64, 128),
    "registers_8x8": (128, 128),
}
"""The columns and rows that a block of 16 × 16 threads makes."""


def _columns(tile: int, count: int) -> Row:
    """Tiles of ``tile`` × ``tile`` threads that make ``count`` elements each."""
    row = _product(f"tiled_{tile}_columns{count}", (tile, tile), tile * count, tile)
    return of_file("matmul_tiled_columns", row)[0]


SQUARE = Family(
    "matmul",
    _PARAMETERS,
    _SQUARES,
    "C",
    "product",
    (
        _NAIVE,
        *_blocks("naive", (8, 8), (32, 32), (32, 8), (32, 4), (8, 32)),
        *_blocks("swapped", (16, 16), (32, 8), (32, 32), swapped=True),
        *(_product(name, (16, 16), 16, 16) for name in _ONE_EACH_OF_16),
        _product("naive_float4", (16, 16), 64, 16),
        _product("naive_rows4", (32, 8), 32, 32),
        launch("matmul_split_k", (16, 16), "ceil(N / 16)", "ceil(M / 16)", "4"),
        _product("shuffle", (32, 8), 32, 8),
        *_TILED,
        *(_product(name, (32, 32), 32, 32) for name in _ONE_EACH_OF_32),
        _product("tiled_16_swapped", (16, 16), 16, 16, swapped=True),
        _product("tiled_32_swapped", (32, 32), 32, 32, swapped=True),
        _product("tiled_16_dynamic", (16, 16), 16, 16, shared=2048),
        _product("tiled_16_dynamic_2_blocks", (16, 16), 16, 16, file="tiled_16_dynamic", shared=98304),
        *(_columns(tile, count) for tile in (16, 32) for count in (2, 4)),
        _product("rows_32x8", (32, 8), 32, 32),
        _product("registers_4x4_prefetch", (16, 16), 64, 64),
        _product("vector_4x4", (16, 16), 64, 64),
        *of_file(
            "matmul_registers",
            *(_product(name, (16, 16), *made) for name, made in _BY_REGISTERS.items()),
        ),
    ),
)


def _odd(row: Row) -> Row:
    """The same launch under another name."""
    return replace(row, name=f"{row.name}_odd", file=row.file or row.name)


_GUARDED = ("naive_restrict", "tiled_16_padded", "tiled_16_b_transposed", "tiled_16_launch_bounds")
ODD = Family(
    "matmul-odd",
    _PARAMETERS,
    _ODD,
    "C",
    "product",
    tuple(
        _odd(row)
        for row in (
            _NAIVE,
            *_blocks("naive", (32, 8)),
            *_blocks("swapped", (16, 16), swapped=True),
            *(_product(name, (16, 16), 16, 16) for name in _GUARDED),
            *_TILED,
            _columns(16, 2),
            _columns(32, 2),
        )
    ),
)

FAMILIES = (SQUARE, ODD)
