"""Matrix products that no model has been compared with: `heldout.py` explains their purpose."""

from __future__ import annotations

from tests.bench.estimate.records import Family, Parameter, Row, floats, launch, of_file, whole

_MATRICES: tuple[Parameter, ...] = (floats("A", "M * K"), floats("B", "K * N"), floats("C", "M * N", "zeros"))
_SIZES = (*(dict.fromkeys("MKN", size) for size in (256, 768, 2048)), {"M": 4096, "K": 256, "N": 1024})


def _by(name: str, block: tuple[int, int], columns: int, rows: int, entry: str = "", shared: int = 0) -> Row:
    """A launch in which each block makes ``columns`` × ``rows`` elements."""
    return launch(name, block, f"ceil(N / {columns})", f"ceil(M / {rows})", entry=entry, shared=shared)


_GLOBAL = of_file(
    "products_global",
    _by("product_plain", (16, 16), 16, 16),
    *(_by(f"product_plain_{x}x{y}", (x, y), x, y, "product_plain") for x, y in ((64, 4), (4, 64), (128, 1))),
    launch("product_line", (256,), "ceil(M * N / 256)"),
    *(
        _by(f"product_{name}", (16, 16), 16, 16)
        for name in (
            *("unroll2", "unroll8", "guard_inside", "backwards", "pointers", "long_indices"),
            *("a_float4", "registers8"),
        )
    ),
    _by("product_columns3", (16, 16), 48, 16),
    _by("product_neighbours2", (16, 16), 32, 16),
    _by("product_rows2", (16, 16), 16, 32),
    _by("product_warp", (32, 4), 4, 1),
    _by("product_row_shared", (128, 1), 128, 1, shared=8192),
    _by("product_outer", (128, 1), 128, 16),
)
_TILED = of_file(
    "products_tiled",
    *(_by(f"tiles_{x}x{y}", (x, y), x, y) for x, y in ((16, 8), (8, 16), (32, 8), (64, 4))),
    *(_by(name, (24, 24), 24, 24) for name in ("tiles_24", "tiles_24_padded")),
    _by("tiles_8_deep", (8, 8), 8, 8),
    *(
        _by(f"tiles_16_{name}", (16, 16), 16, 16)
        for name in (
            *("shallow", "deep", "deeper", "restrict", "unroll2", "unroll8", "guard_inside"),
            *("sum_shared", "sum_global", "a_float4"),
        )
    ),
    *(
        _by(f"tiles_32_{name}", (32, 32), 32, 32)
        for name in ("shallow", "unroll8", "a_turned", "a_turned_padded")
    ),
    _by("tiles_32_dynamic", (32, 32), 32, 32, shared=8192),
    _by("tiles_16_any_size", (16, 16), 16, 16, shared=2048),
    _by("tiles_12_any_size", (12, 12), 12, 12, "tiles_16_any_size", shared=1152),
    _by("tiles_16_rows2", (16, 16), 16, 32),
    _by("tiles_16_rows3", (16, 16), 16, 48),
    _by("tiles_16_rows4_bounded", (16, 16), 16, 64),
    _by("tiles_16_rows8", (16, 16), 16, 128),
    _by("tiles_32x4_rows8", (32, 4), 32, 32),
    _by("tiles_32x16_rows2", (32, 16), 32, 32),
)
_MADE = of_file(
    "products_registers",
    _by("made_3x3", (16, 16), 48, 48),
    _by("made_2x8", (16, 16), 128, 32),
    _by("made_8x2", (16, 16), 32, 128),
    _by("made_4x8_shallow", (16, 16), 128, 64),
    _by("made_6x6", (16, 16), 96, 96),
    _by("made_6x6_bounded", (16, 16), 96, 96),
    _by("made_4x4_small", (8, 8), 32, 32),
    _by("made_4x4_wide", (32, 8), 128, 32),
    _by("made_8x8_vector", (16, 16), 128, 128),
)
PRODUCT = Family(
    "held-matmul",
    (*_MATRICES, *whole("M", "K", "N")),
    _SIZES,
    "C",
    "product",
    (*_GLOBAL, *_TILED, *_MADE),
)
FEW_THREADS = Family(
    "held-matmul-few-threads",
    PRODUCT.parameters,
    tuple(dict.fromkeys("MKN", size) for size in (256, 384, 512)),
    "C",
    "product",
    of_file(
        "products_global",
        _by("product_plain_again", (16, 16), 16, 16, "product_plain"),
        launch("product_one_column", (64,), "ceil(N / 64)"),
        launch("product_one_row", (64,), "ceil(M / 64)"),
    ),
)
BY_ROWS = Family(
    "held-rows-by-rows",
    (floats("A", "M * K"), floats("B", "N * K"), floats("C", "M * N", "zeros"), *whole("M", "K", "N")),
    _SIZES[:3],
    "C",
    "rows by rows",
    of_file(
        "products_other",
        *(_by(f"rows_by_rows_{name}", (16, 16), 16, 16) for name in ("naive", "tiled", "padded", "float4")),
    ),
)
BATCH = Family(
    "held-batch",
    (floats("A", "256 * P"), floats("B", "256 * P"), floats("C", "256 * P", "zeros"), *whole("P")),
    ({"P": 500}, {"P": 5000}, {"P": 50_000}),
    "C",
    "small products",
    of_file(
        "products_other",
        launch("batch_naive", (16, 16), "P"),
        launch("batch_shared", (16, 16), "P"),
        launch("batch_four", (16, 16), "ceil(P / 4)"),
        launch("batch_rows", (16, 8), "ceil(P / 8)"),
    ),
)

FAMILIES = (PRODUCT, FEW_THREADS, BY_ROWS, BATCH)
