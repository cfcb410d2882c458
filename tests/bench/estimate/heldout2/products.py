"""Matrix products of the second round: by hand from global memory, by tiles, by registers, of other types."""

from __future__ import annotations

from tests.bench.estimate.records import Array, Family, Parameter, Row, floats, launch, of_file, whole

_EXTENTS = whole("M", "K", "N")
_CUBES = tuple(dict.fromkeys("MKN", size) for size in (256, 2048))
_SIZES = (
    _CUBES[0],
    {"M": 1152, "K": 384, "N": 2304},
    _CUBES[1],
    {"M": 4096, "K": 1024, "N": 2048},
)


def _matrices(of: str, a: str = "M * K", content: str = "random") -> tuple[Parameter, ...]:
    """A, B and C with elements of a type, and their extents."""
    return (
        Array("A", of, a, content),
        Array("B", of, "K * N", content),
        Array("C", of, "M * N", "zeros"),
        *_EXTENTS,
    )


def _by(name: str, block: tuple[int, ...], columns: int, rows: int, entry: str = "", shared: int = 0) -> Row:
    """A launch in which each block makes ``columns`` × ``rows`` elements."""
    return launch(name, block, f"ceil(N / {columns})", f"ceil(M / {rows})", entry=entry, shared=shared)


_GLOBAL = of_file(
    "matmul_global",
    _by("mm_basic", (16, 16), 16, 16),
    *(_by(f"mm_basic_{x}x{y}", (x, y), x, y, "mm_basic") for x, y in ((8, 8), (32, 16), (256, 1), (1, 256))),
    launch("mm_rows_along_x", (32, 8), "ceil(M / 32)", "ceil(N / 8)"),
    _by("mm_two_columns", (16, 16), 32, 16),
    launch("mm_two_rows_far", (32, 8), "ceil(N / 32)", "ceil(M / 16)"),
    _by("mm_two_by_two", (8, 8), 16, 16),
    _by("mm_four_rows", (64, 4), 64, 16),
    _by("mm_four_by_four", (16, 8), 64, 32),
    launch("mm_grid_stride", (256,), "264"),
    _by("mm_read_only", (32, 8), 32, 8),
    _by("mm_hoards_shared", (16, 16), 16, 16),
    _by("mm_bounded", (16, 16), 16, 16),
    launch("mm_block_per_row", (256,), "M"),
)
_TILES = of_file(
    "matmul_tiles",
    *(_by(name, (8, 8), 8, 8) for name in ("tw8", "tw8_loop", "tw8_pad")),
    *(_by(name, (16, 16), 16, 16) for name in ("tw16", "tw16_pad", "tw16_by2", "b_columns_16", "strips_16")),
    _by("tw16_few_blocks", (16, 16), 16, 16, "tw16", 49_152),
    _by("tw16_two_blocks", (16, 16), 16, 16, "tw16", 100_000),
    *(
        _by(name, (32, 32), 32, 32)
        for name in ("tw32", "tw32_by2", "tw32_by4", "tw32_pad_loop", "b_columns_32", "b_columns_32_pad")
    ),
    launch("crossed_32", (32, 32), "M / 32", "N / 32"),
    *(_by(f"rect_{x}x{y}", (x, y), x, y) for x, y in ((32, 16), (16, 32), (64, 8), (8, 32))),
    _by("coarse_1x2", (16, 16), 32, 16),
    _by("coarse_2x1", (32, 32), 32, 64),
    _by("coarse_2x2", (16, 16), 32, 32),
    _by("coarse_4x1", (64, 4), 64, 16),
    _by("coarse_1x4", (8, 32), 32, 32),
)
_REGISTERS = of_file(
    "matmul_registers",
    *(_by(name, (256,), 64, 64) for name in ("regs_4x4", "regs_4x4_bounded")),
    _by("regs_8x8", (256,), 128, 128),
    _by("regs_8x8_64", (64,), 64, 64),
    _by("regs_8x1", (512,), 64, 64),
    _by("regs_2x4", (256,), 64, 32),
    _by("regs_4x2_deep", (256,), 32, 64),
    _by("regs_column", (64,), 64, 16),
    _by("regs_8x4_vector", (128,), 64, 64),
    _by("swap_8", (8, 8), 8, 8),
    _by("swap_32", (32, 32), 32, 32),
    _by("copies_16", (16, 16), 16, 16),
    _by("swap_4x4", (16, 16), 64, 64),
)
PRODUCT = Family(
    "held2-matmul", _matrices("float32"), _SIZES, "C", "product", (*_GLOBAL, *_TILES, *_REGISTERS)
)
RAGGED = Family(
    "held2-matmul-ragged",
    PRODUCT.parameters,
    ({"M": 333, "K": 257, "N": 401}, {"M": 1000, "K": 900, "N": 1100}, {"M": 2049, "K": 511, "N": 1537}),
    "C",
    "product",
    of_file(
        "matmul_ragged",
        _by("ragged_basic", (32, 8), 32, 8),
        _by("ragged_zeros_first", (16, 16), 16, 16),
        _by("ragged_clamped", (32, 32), 32, 32),
        _by("ragged_remainder", (32, 32), 32, 32),
        _by("ragged_32x8", (32, 8), 32, 8),
        _by("ragged_2x2", (16, 16), 32, 32),
        _by("ragged_4x4", (256,), 64, 64),
    ),
)
DOUBLE = Family(
    "held2-matmul-double",
    _matrices("float64"),
    (_CUBES[0], {"M": 640, "K": 512, "N": 960}, dict.fromkeys("MKN", 1536)),
    "C",
    "product",
    of_file(
        "matmul_types",
        _by("dp_basic", (16, 16), 16, 16),
        *(_by(f"dp_tile{edge}", (edge, edge), edge, edge) for edge in (8, 16, 32)),
        _by("dp_regs_2x2", (16, 16), 32, 32),
    ),
)
WHOLE = Family(
    "held2-matmul-whole",
    _matrices("int32", content="bins"),
    (_CUBES[0], {"M": 768, "K": 512, "N": 1280}, _CUBES[1]),
    "C",
    "whole product",
    of_file("matmul_types", _by("whole_basic", (16, 16), 16, 16), _by("whole_tiled", (32, 32), 32, 32)),
)
TURNED = Family(
    "held2-matmul-turned",
    _matrices("float32", "K * M"),
    (_CUBES[0], {"M": 1024, "K": 384, "N": 1536}, _CUBES[1]),
    "C",
    "turned product",
    of_file(
        "matmul_types",
        _by("at_b_basic", (16, 16), 16, 16),
        _by("at_b_tiled", (16, 16), 16, 16),
        _by("at_b_outer", (256,), 64, 64),
    ),
)
EIGHTS = Family(
    "held2-batch",
    (floats("A", "64 * P"), floats("B", "64 * P"), floats("C", "64 * P", "zeros"), *whole("P")),
    ({"P": 1000}, {"P": 20_000}, {"P": 200_000}),
    "C",
    "eights",
    of_file(
        "matmul_types",
        launch("eights_basic", (256,), "ceil(P / 4)"),
        launch("eights_thread", (64,), "ceil(P / 64)"),
        launch("eights_vector", (256,), "ceil(P / 16)"),
        launch("eights_shuffle", (128,), "ceil(P / 4)"),
    ),
)

FAMILIES = (PRODUCT, RAGGED, DOUBLE, WHOLE, TURNED, EIGHTS)
