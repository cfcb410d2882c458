"""Tasks other than products: moves, sums, counts, neighbourhoods, sparse rows, functions of elements."""

from __future__ import annotations

from tests.bench.estimate.records import Array, Family, Parameter, Scalar, floats, launch, of_file, whole

_LENGTHS = ({"n": 100_000}, {"n": 1_000_000}, {"n": 16_000_000})
_PLANES = ({"W": 512, "H": 512}, {"W": 1024, "H": 2048}, {"W": 4096, "H": 4096})
_BY_ELEMENT = "ceil(n / 256)"
_BY_FOURS = "ceil(n / 1024)"
_BY_TILE = ("ceil(W / 32)", "ceil(H / 32)")
_BY_HALF_TILE = ("ceil(W / 16)", "ceil(H / 16)")
_BY_STRIP = ("ceil(W / 32)", "ceil(H / 8)")
_SOME_BLOCKS = "min(1056, ceil(n / 256))"

TRANSPOSE = Family(
    "transpose",
    (floats("in", "W * H"), floats("out", "W * H", "zeros"), *whole("W", "H")),
    ({"W": 1024, "H": 1024}, {"W": 4096, "H": 1504}, {"W": 4096, "H": 4096}),
    "out",
    "transpose",
    (
        launch("transpose_naive", (32, 8), *_BY_STRIP),
        launch("transpose_naive_16x16", (16, 16), *_BY_HALF_TILE, file="transpose_naive"),
        launch("transpose_naive_32x32", (32, 32), *_BY_TILE, file="transpose_naive"),
        launch("transpose_naive_8x32", (8, 32), "ceil(W / 8)", "ceil(H / 32)", file="transpose_naive"),
        launch("transpose_reads_columns", (32, 8), "ceil(H / 32)", "ceil(W / 8)"),
        *of_file(
            "transpose_tiled",
            launch("transpose_tiled_32", (32, 32), *_BY_TILE),
            launch("transpose_tiled_32_padded", (32, 32), *_BY_TILE),
            launch("transpose_tiled_16", (16, 16), *_BY_HALF_TILE),
            launch("transpose_tiled_16_padded", (16, 16), *_BY_HALF_TILE),
        ),
        launch("transpose_coarsened", (32, 8), *_BY_TILE),
        launch("transpose_coarsened_padded", (32, 8), *_BY_TILE),
        launch("transpose_vector", (16, 16), "ceil(W / 64)", "ceil(H / 64)"),
        launch("transpose_copy", (32, 8), *_BY_STRIP, rule="copy"),
    ),
)
DIAGONAL = Family(
    "transpose-square",
    TRANSPOSE.parameters,
    ({"W": 512, "H": 512}, {"W": 1024, "H": 1024}, {"W": 2048, "H": 2048}),
    "out",
    "transpose",
    (
        launch("transpose_naive_square", (32, 8), *_BY_STRIP, file="transpose_naive"),
        launch("transpose_diagonal", (32, 8), *_BY_TILE),
        launch("transpose_coarsened_square", (32, 8), *_BY_TILE, file="transpose_coarsened"),
    ),
)
REDUCTION = Family(
    "reduction",
    (floats("in", "n"), floats("out", "max(64, ceil(n / 256))", "zeros"), *whole("n")),
    _LENGTHS,
    "out",
    "sum",
    (
        launch("reduction_interleaved", (256,), _BY_ELEMENT),
        launch("reduction_strided", (256,), _BY_ELEMENT),
        launch("reduction_sequential", (256,), _BY_ELEMENT),
        launch("reduction_sequential_1024", (1024,), _BY_FOURS),
        launch("reduction_first_add", (256,), "ceil(n / 512)"),
        launch("reduction_unrolled", (256,), "ceil(n / 512)"),
        launch("reduction_grid_stride", (256,), _SOME_BLOCKS),
        launch("reduction_grid_stride_4", (256,), _SOME_BLOCKS),
        launch("reduction_grid_stride_few", (256,), "64", file="reduction_grid_stride"),
        launch("reduction_chunks", (256,), "ceil(n / 8192)"),
        launch("reduction_vector", (256,), "min(1056, ceil(n / 1024))"),
        launch("reduction_shuffle", (256,), _SOME_BLOCKS),
        launch("reduction_atomic", (256,), _BY_ELEMENT),
        launch("reduction_shared_atomic", (256,), _BY_ELEMENT),
        launch("reduction_warp_atomic", (256,), _BY_ELEMENT),
    ),
)
SCAN = Family(
    "scan",
    (floats("in", "n"), floats("out", "n", "zeros"), *whole("n")),
    ({"n": 131_072}, {"n": 1_048_576}, {"n": 16_777_216}),
    "out",
    "scan of 512",
    (
        launch("scan_hillis_steele", (512,), "n / 512"),
        launch("scan_two_buffers", (512,), "n / 512"),
        launch("scan_blelloch", (256,), "n / 512"),
        launch("scan_blelloch_padded", (256,), "n / 512", file="scan_blelloch", entry="scan_blelloch_padded"),
        launch("scan_warp", (512,), "n / 512"),
        launch("scan_coarsened", (128,), "n / 512"),
        launch("scan_serial", (64,), "ceil(n / 32768)"),
    ),
)
_COUNTING = (
    launch("histogram_global", (256,), _BY_ELEMENT),
    launch("histogram_shared", (256,), _BY_ELEMENT),
    launch("histogram_grid_stride", (256,), _SOME_BLOCKS),
    launch("histogram_chunks", (256,), "ceil(n / 4096)"),
    launch("histogram_runs", (256,), _SOME_BLOCKS),
    launch("histogram_warps", (256,), _SOME_BLOCKS),
)


def _histogram(name: str, content: str) -> Family:
    rows = tuple(
        launch(f"{row.name}{name}", row.block, *row.grid, file=row.name if name else "") for row in _COUNTING
    )
    parameters = (Array("in", "int32", "n", content), Array("out", "uint32", "256", "zeros"), *whole("n"))
    return Family(f"histogram{name.replace('_', '-')}", parameters, _LENGTHS, "out", "histogram", rows)


STENCIL2D = Family(
    "stencil2d",
    (floats("in", "W * H"), floats("out", "W * H", "zeros"), *whole("W", "H")),
    _PLANES,
    "out",
    "five points",
    (
        launch("stencil2d_naive", (32, 8), *_BY_STRIP),
        launch("stencil2d_naive_16x16", (16, 16), *_BY_HALF_TILE, file="stencil2d_naive"),
        launch("stencil2d_swapped", (32, 8), "ceil(H / 32)", "ceil(W / 8)"),
        launch("stencil2d_tiled", (32, 8), *_BY_STRIP),
        launch("stencil2d_tiled_inner", (32, 8), "ceil(W / 30)", "ceil(H / 6)"),
        launch("stencil2d_columns", (128,), "ceil(W / 128)", "ceil(H / 16)"),
        launch("stencil2d_clamped", (32, 8), *_BY_STRIP),
    ),
)
STENCIL3D = Family(
    "stencil3d",
    (floats("in", "W * H * D"), floats("out", "W * H * D", "zeros"), *whole("W", "H", "D")),
    tuple(dict.fromkeys("WHD", size) for size in (96, 192, 320)),
    "out",
    "seven points",
    (
        launch("stencil3d_naive", (32, 8, 1), *_BY_STRIP, "D"),
        launch(
            "stencil3d_naive_8x8x8", (8, 8, 8), *(f"ceil({d} / 8)" for d in "WHD"), file="stencil3d_naive"
        ),
        launch("stencil3d_slabs", (32, 8), *_BY_STRIP),
        launch("stencil3d_registers", (32, 8), *_BY_STRIP, "ceil(D / 32)"),
        launch("stencil3d_tiled", (32, 8), *_BY_STRIP, "ceil(D / 32)"),
    ),
)
SAXPY = Family(
    "saxpy",
    (
        *(floats("x", "n"), floats("y", "n"), floats("out", "n", "zeros")),
        *(Scalar("a", "float32", "2.5"), *whole("n")),
    ),
    _LENGTHS,
    "out",
    "saxpy",
    (
        launch("saxpy_naive", (256,), _BY_ELEMENT),
        launch("saxpy_naive_64", (64,), "ceil(n / 64)", file="saxpy_naive"),
        launch("saxpy_naive_1024", (1024,), _BY_FOURS, file="saxpy_naive"),
        launch("saxpy_grid_stride", (256,), _SOME_BLOCKS),
        launch("saxpy_grid_stride_one_wave", (128,), "132", file="saxpy_grid_stride"),
        launch("saxpy_vector", (256,), _BY_FOURS),
        launch("saxpy_chunks", (256,), "ceil(n / 2048)"),
        launch("saxpy_misaligned", (256,), _BY_ELEMENT),
        launch("saxpy_strided", (256,), "ceil(n / 256)"),
        launch("saxpy_four", (256,), _BY_FOURS),
    ),
)
CONV1D = Family(
    "conv1d",
    (floats("in", "n"), floats("mask", "17", "mask"), floats("out", "n", "zeros"), *whole("n")),
    _LENGTHS,
    "out",
    "conv1d",
    (
        launch("conv1d_naive", (256,), _BY_ELEMENT),
        launch("conv1d_tiled", (256,), _BY_ELEMENT),
        launch("conv1d_registers", (256,), _BY_FOURS),
        launch("conv1d_global_result", (256,), _BY_ELEMENT),
    ),
)
CONV2D = Family(
    "conv2d",
    (floats("in", "W * H"), floats("mask", "25", "mask"), floats("out", "W * H", "zeros"), *whole("W", "H")),
    _PLANES,
    "out",
    "conv2d",
    (
        launch("conv2d_naive", (16, 16), *_BY_HALF_TILE),
        launch("conv2d_naive_32x8", (32, 8), *_BY_STRIP, file="conv2d_naive"),
        launch("conv2d_constant", (16, 16), *_BY_HALF_TILE),
        launch("conv2d_tiled", (16, 16), *_BY_HALF_TILE),
        launch("conv2d_tiled_constant", (16, 16), *_BY_HALF_TILE),
        launch("conv2d_tiled_input_block", (20, 20), *_BY_HALF_TILE),
    ),
)
SPARSE = Family(
    "spmv",
    (
        Array("start", "int32", "rows + 1", "row starts"),
        Array("column", "int32", "16 * rows", "columns"),
        *(floats("value", "16 * rows"), floats("x", "rows"), floats("y", "rows", "zeros"), *whole("rows")),
    ),
    ({"rows": 10_000}, {"rows": 100_000}, {"rows": 1_000_000}),
    "y",
    "spmv",
    (
        launch("spmv_scalar", (256,), "ceil(rows / 256)"),
        launch("spmv_vector", (256,), "ceil(rows / 8)"),
        launch("spmv_eight_lanes", (256,), "ceil(rows / 32)"),
    ),
)
GATHER = Family(
    "gather",
    (floats("in", "n"), Array("index", "int32", "n", "places"), floats("out", "n", "zeros"), *whole("n")),
    _LENGTHS,
    "out",
    "gather",
    (
        launch("gather_random", (256,), _BY_ELEMENT),
        launch("gather_copy", (256,), _BY_ELEMENT, rule="copy"),
        launch("gather_four", (256,), _BY_FOURS),
        launch("scatter_random", (256,), _BY_ELEMENT, rule="scatter"),
    ),
)
MATVEC = Family(
    "matvec",
    (floats("A", "M * N"), floats("x", "N"), floats("y", "M", "zeros"), *whole("M", "N")),
    ({"M": 512, "N": 512}, {"M": 2048, "N": 2048}, {"M": 8192, "N": 4096}),
    "y",
    "matvec",
    (
        launch("matvec_naive", (256,), "ceil(M / 256)"),
        launch("matvec_naive_32", (32,), "ceil(M / 32)", file="matvec_naive"),
        launch("matvec_warp", (256,), "ceil(M / 8)"),
        launch("matvec_warp_vector", (256,), "ceil(M / 8)"),
        launch("matvec_block", (256,), "M"),
        launch("matvec_tiled", (64,), "M / 64"),
    ),
)
_ROWS: tuple[Parameter, ...] = (floats("in", "R * C"), floats("out", "R * C", "zeros"), *whole("R", "C"))
_TABLES = ({"R": 1000, "C": 256}, {"R": 4096, "C": 1000}, {"R": 16384, "C": 1024})
SOFTMAX = Family(
    "softmax",
    _ROWS,
    _TABLES,
    "out",
    "softmax",
    (
        launch("softmax_naive", (128,), "ceil(R / 128)"),
        launch("softmax_warp", (256,), "ceil(R / 8)"),
        launch("softmax_block", (256,), "R"),
        launch("softmax_online", (256,), "ceil(R / 8)"),
    ),
)
LAYERNORM = Family(
    "layernorm",
    _ROWS,
    _TABLES,
    "out",
    "layernorm",
    (
        launch("layernorm_naive", (128,), "ceil(R / 128)"),
        launch("layernorm_warp", (256,), "ceil(R / 8)"),
        launch("layernorm_block", (256,), "R"),
    ),
)
ELEMENTWISE = Family(
    "elementwise",
    (floats("in", "n"), floats("out", "n", "zeros"), *whole("n")),
    _LENGTHS,
    "out",
    "elementwise",
    (
        launch("elementwise_naive", (256,), _BY_ELEMENT),
        launch("elementwise_fast", (256,), _BY_ELEMENT),
        launch("elementwise_double", (256,), _BY_ELEMENT),
        launch("elementwise_root", (256,), _BY_ELEMENT),
        launch("elementwise_vector", (256,), _BY_FOURS),
        launch("elementwise_parted", (256,), _BY_ELEMENT),
        launch("elementwise_series", (256,), _BY_ELEMENT),
    ),
)

FAMILIES = (
    *(TRANSPOSE, DIAGONAL, REDUCTION, SCAN, _histogram("", "bins"), _histogram("_skewed", "skewed bins")),
    *(STENCIL2D, STENCIL3D, SAXPY, CONV1D, CONV2D, SPARSE, GATHER, MATVEC, SOFTMAX, LAYERNORM, ELEMENTWISE),
)
