"""The first round of kernels that say how well a model estimates: timed before any was run on them.

They have been looked at since; `heldout2/` has a second round. Nothing of a model may be changed because of
its estimates of a round. Once that has happened, another has to be written.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.bench.estimate import heldout_products
from tests.bench.estimate.records import Array, Family, floats, kernels, launch, of_file, whole

HELD_OUT_FOLDER = Path("tests/bench/estimate/heldout")

_LENGTHS = ({"n": 200_000}, {"n": 2_000_000}, {"n": 12_000_000})
_WHOLE_PIECES = ({"n": 131_072}, {"n": 2_097_152}, {"n": 8_388_608})
_PLANES = ({"W": 640, "H": 480}, {"W": 1920, "H": 1080}, {"W": 4096, "H": 2048})
_TABLES = ({"R": 600, "C": 300}, {"R": 3000, "C": 2000}, {"R": 10_000, "C": 1024})
_BY_256 = "ceil(n / 256)"
_STRIDES = "min(792, ceil(n / 256))"
_STRIPS = ("ceil(W / 32)", "ceil(H / 8)")
_SQUARES = ("ceil(W / 16)", "ceil(H / 16)")
_LINE = (floats("in", "n"), floats("out", "n", "zeros"), *whole("n"))
_PLANE = (floats("in", "W * H"), floats("out", "W * H", "zeros"), *whole("W", "H"))

TURN = Family(
    "held-transpose",
    _PLANE,
    ({"W": 512, "H": 768}, {"W": 2048, "H": 1024}, {"W": 3072, "H": 4096}),
    "out",
    "transpose",
    of_file(
        "moving",
        launch("turn_naive", (16, 16), *_SQUARES),
        launch("turn_naive_64x2", (64, 2), "ceil(W / 64)", "ceil(H / 2)", entry="turn_naive"),
        launch("turn_rows", (64,), "ceil(H / 64)"),
        launch("turn_tiles_8", (8, 8), "ceil(W / 8)", "ceil(H / 8)"),
        launch("turn_tiles_64", (64, 4), "ceil(W / 64)", "ceil(H / 64)"),
        launch("turn_tiles_32_by_2", (32, 2), "ceil(W / 32)", "ceil(H / 32)"),
        launch("turn_swizzled", (32, 8), "W / 32", "H / 32"),
        launch("turn_reads_float4", (8, 32), "ceil(W / 32)", "ceil(H / 32)"),
    ),
)
RECORDS = Family(
    "held-records",
    (floats("in", "8 * n"), floats("out", "n", "zeros"), *whole("n")),
    ({"n": 100_000}, {"n": 1_000_000}, {"n": 4_000_000}),
    "out",
    "records",
    of_file(
        "moving",
        launch("records_structures", (256,), _BY_256),
        launch("records_vectors", (256,), _BY_256),
        launch("records_staged", (256,), _BY_256),
        launch("records_arrays", (256,), _BY_256, rule="records by fields"),
    ),
)
SUM = Family(
    "held-reduction",
    (floats("in", "n"), floats("out", "ceil(n / 512)", "zeros"), *whole("n")),
    _LENGTHS,
    "out",
    "sum",
    of_file(
        "adding",
        launch("tree_remainders", (512,), "ceil(n / 512)"),
        launch("tree_of_four", (1024,), "ceil(n / 1024)"),
        launch("tree_last_warp", (128,), "ceil(n / 512)"),
        launch("tree_one_warp", (32,), "ceil(n / 512)"),
        launch("tree_double", (64,), "ceil(n / 1024)"),
    ),
)
DOT = Family(
    "held-dot",
    (floats("x", "n"), floats("y", "n"), floats("out", "1", "zeros"), *whole("n")),
    ({"n": 200_000}, {"n": 1_000_000}, {"n": 4_000_000}),
    "out",
    "dot",
    of_file(
        "adding",
        launch("dot_naive", (256,), _BY_256),
        launch("dot_tree", (256,), _BY_256),
        launch("dot_strides", (256,), _STRIDES),
        launch("dot_float4", (128,), "min(660, ceil(n / 512))"),
    ),
)
ROW_SUMS = Family(
    "held-row-sums",
    (floats("in", "R * C"), floats("out", "R", "zeros"), *whole("R", "C")),
    _TABLES,
    "out",
    "row sums",
    of_file(
        "adding",
        launch("row_sums_naive", (128,), "ceil(R / 128)"),
        launch("row_sums_warp", (32, 4), "ceil(R / 4)"),
        launch("row_sums_block", (128,), "R"),
        launch("row_sums_tiled", (32, 4), "ceil(R / 32)"),
    ),
)
COLUMN_SUMS = Family(
    "held-column-sums",
    (floats("in", "R * C"), floats("out", "C", "zeros"), *whole("R", "C")),
    _TABLES,
    "out",
    "column sums",
    of_file(
        "adding",
        launch("column_sums_naive", (128,), "ceil(C / 128)"),
        launch("column_sums_parts", (128,), "ceil(C / 128)", "ceil(R / 64)"),
        launch("column_sums_shared", (32, 8), "ceil(C / 32)"),
        launch("column_sums_block", (256,), "C"),
    ),
)
TIMES = Family(
    "held-matvec",
    (floats("A", "M * N"), floats("x", "N"), floats("y", "M", "zeros"), *whole("M", "N")),
    ({"M": 1000, "N": 700}, {"M": 4096, "N": 1024}, {"M": 4096, "N": 4096}),
    "y",
    "matvec",
    of_file(
        "adding",
        launch("times_vector_naive", (128,), "ceil(M / 128)"),
        launch("times_vector_shared", (256,), "ceil(M / 256)"),
        launch("times_vector_rows4", (32, 4), "ceil(M / 16)"),
        launch("times_vector_eight", (256,), "ceil(M / 32)"),
    ),
)
PREFIX = Family(
    "held-scan",
    _LINE,
    _WHOLE_PIECES,
    "out",
    "scan of 256",
    of_file(
        "ordering",
        *(
            launch(f"prefix_{name}", (256,), "n / 256")
            for name in ("naive", "naive_shared", "doubling", "tree", "warps")
        ),
    ),
)
SORT = Family(
    "held-sort",
    _LINE,
    _WHOLE_PIECES,
    "out",
    "sorted by 256",
    of_file(
        "ordering",
        *(launch(f"sort_{name}", (256,), "n / 256") for name in ("odd_even", "by_rank", "bitonic")),
    ),
)
STEP = Family(
    "held-bitonic-step",
    _LINE,
    _WHOLE_PIECES,
    "out",
    "bitonic step",
    of_file(
        "ordering",
        launch("step_elements", (256,), "n / 256"),
        launch("step_pairs", (256,), "n / 512"),
        launch("step_vectors", (128,), "n / 1024"),
    ),
)
BINS = Family(
    "held-histogram",
    (Array("in", "uint8", "n", "bytes"), Array("out", "uint32", "16", "zeros"), *whole("n")),
    _LENGTHS,
    "out",
    "sixteen bins",
    of_file(
        "ordering",
        launch("bins_naive", (256,), _BY_256),
        launch("bins_shared", (256,), _STRIDES),
        launch("bins_private", (128,), "min(1056, ceil(n / 128))"),
        launch("bins_votes", (256,), _STRIDES),
    ),
)
LETTER = Family(
    "held-letters",
    (Array("in", "uint8", "n", "bytes"), Array("out", "uint32", "1", "zeros"), *whole("n")),
    _LENGTHS,
    "out",
    "a letter",
    of_file(
        "ordering",
        launch("letter_naive", (256,), _BY_256),
        launch("letter_block", (512,), "ceil(n / 512)"),
        launch("letter_strides", (256,), _STRIDES),
        launch("letter_words", (256,), "min(528, ceil(n / 1024))"),
    ),
)
THREE = Family(
    "held-stencil1d",
    _LINE,
    _LENGTHS,
    "out",
    "three points",
    of_file(
        "neighbours",
        launch("three_naive", (128,), "ceil(n / 128)"),
        launch("three_shared", (256,), _BY_256),
        launch("three_eight", (128,), "ceil(n / 1024)"),
    ),
)
NINE = Family(
    "held-stencil2d",
    _PLANE,
    _PLANES,
    "out",
    "nine points",
    of_file(
        "neighbours",
        launch("nine_naive", (32, 8), *_STRIPS),
        launch("nine_shared", (16, 16), *_SQUARES),
        launch("nine_columns", (128,), "ceil(W / 128)", "ceil(H / 32)"),
    ),
)
SEVEN = Family(
    "held-conv2d",
    (floats("in", "W * H"), floats("mask", "49", "mask"), floats("out", "W * H", "zeros"), *whole("W", "H")),
    _PLANES,
    "out",
    "seven by seven",
    of_file(
        "neighbours",
        *(
            launch(f"seven_{name}", (16, 16), *_SQUARES)
            for name in ("naive", "constant", "shared", "clipped")
        ),
    ),
)
ROW_MASK = Family(
    "held-conv1d",
    (floats("in", "W * H"), floats("mask", "9", "mask"), floats("out", "W * H", "zeros"), *whole("W", "H")),
    _PLANES,
    "out",
    "row mask",
    of_file(
        "neighbours",
        *(
            launch(f"row_mask_{name}", (128,), "ceil(W / 128)", "H")
            for name in ("naive", "constant", "shared")
        ),
        launch("column_mask_registers", (128,), "ceil(W / 128)", "ceil(H / 64)", rule="column mask"),
    ),
)
LIFE = Family(
    "held-life",
    (
        *(Array("in", "uint8", "W * H", "bytes"), Array("out", "uint8", "W * H", "zeros")),
        *whole("W", "H"),
    ),
    _PLANES,
    "out",
    "life",
    of_file(
        "neighbours",
        launch("life_naive", (16, 16), *_SQUARES),
        launch("life_compared", (32, 8), *_STRIPS),
        launch("life_shared", (32, 8), *_STRIPS),
    ),
)
LOGISTIC = Family(
    "held-logistic",
    _LINE,
    _LENGTHS,
    "out",
    "logistic",
    of_file(
        "computing",
        *(launch(f"logistic_{name}", (256,), _BY_256) for name in ("naive", "fast", "double", "tanh")),
        launch("logistic_strides", (256,), _STRIDES),
    ),
)
POWERS = Family(
    "held-powers",
    _LINE,
    _LENGTHS,
    "out",
    "powers",
    of_file(
        "computing",
        *(launch(f"powers_{name}", (256,), _BY_256) for name in ("naive", "sorted", "root")),
    ),
)
BODIES = Family(
    "held-bodies",
    (floats("in", "4 * n"), floats("out", "3 * n", "zeros"), *whole("n")),
    ({"n": 1024}, {"n": 4096}, {"n": 16384}),
    "out",
    "bodies",
    of_file(
        "computing",
        *(launch(f"bodies_{name}", (128,), "n / 128") for name in ("naive", "vectors", "shared")),
        launch("bodies_two", (64,), "n / 128"),
    ),
)
DISTANCE = Family(
    "held-distances",
    (floats("X", "P * D"), floats("Y", "Q * D"), floats("out", "P * Q", "zeros"), *whole("P", "Q", "D")),
    ({"P": 512, "Q": 512, "D": 16}, {"P": 1024, "Q": 2048, "D": 32}, {"P": 4096, "Q": 4096, "D": 64}),
    "out",
    "distances",
    of_file(
        "computing",
        launch("distance_naive", (16, 16), "ceil(Q / 16)", "ceil(P / 16)"),
        launch("distance_swapped", (16, 16), "ceil(P / 16)", "ceil(Q / 16)"),
        launch("distance_shared", (16, 16), "Q / 16", "P / 16"),
        launch("distance_registers", (16, 16), "Q / 32", "P / 32"),
    ),
)
NEAREST = Family(
    "held-nearest",
    (
        *(floats("in", "4 * n"), floats("centre", "128"), Array("out", "int32", "n", "zeros")),
        *whole("n"),
    ),
    ({"n": 100_000}, {"n": 1_000_000}, {"n": 4_000_000}),
    "out",
    "nearest",
    of_file(
        "computing",
        launch("nearest_naive", (256,), _BY_256),
        launch("nearest_shared", (256,), _BY_256),
        launch("nearest_warp", (32, 8), "ceil(n / 8)"),
    ),
)
ESCAPE = Family(
    "held-mandelbrot",
    (Array("out", "int32", "W * H", "zeros"), *whole("W", "H")),
    ({"W": 512, "H": 512}, {"W": 1024, "H": 1024}, {"W": 2048, "H": 2048}),
    "out",
    "escape",
    of_file(
        "computing",
        launch("escape_naive", (16, 16), *_SQUARES),
        launch("escape_naive_32x4", (32, 4), "ceil(W / 32)", "ceil(H / 4)", entry="escape_naive"),
        launch("escape_pieces", (8, 16), "ceil(W / 128)", "ceil(H / 16)"),
        launch("escape_strides", (256,), "396"),
    ),
)

FAMILIES = (
    *heldout_products.FAMILIES,
    *(TURN, RECORDS, SUM, DOT, ROW_SUMS, COLUMN_SUMS, TIMES, PREFIX, SORT, STEP, BINS, LETTER),
    *(THREE, NINE, SEVEN, ROW_MASK, LIFE, LOGISTIC, POWERS, BODIES, DISTANCE, NEAREST, ESCAPE),
)
HELD_OUT = tuple(kernel for family in FAMILIES for kernel in kernels(replace(family, folder=HELD_OUT_FOLDER)))
