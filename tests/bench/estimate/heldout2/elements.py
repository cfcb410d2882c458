"""Kernels of the second round with a result for each element: moves, texts, functions, sparse rows."""

from __future__ import annotations

from tests.bench.estimate.records import Array, Family, Parameter, Row, floats, launch, of_file, whole

_LENGTHS = ({"n": 160_000}, {"n": 1_600_000}, {"n": 12_800_000})
_FEWER = ({"n": 100_000}, {"n": 1_000_000}, {"n": 4_000_000})
_BY_256 = "ceil(n / 256)"
_STRIDES = "min(660, ceil(n / 256))"
_STRIPS = ("ceil(W / 32)", "ceil(H / 8)")
_SQUARES = ("ceil(W / 16)", "ceil(H / 16)")
_TILES = ("W / 32", "H / 32")
_ELEMENTS = (floats("in", "n"), floats("out", "n", "zeros"), *whole("n"))


def plane(of: str = "float32", content: str = "random", *between: Parameter) -> tuple[Parameter, ...]:
    """Two planes of a type, and what else comes between them."""
    result = Array("out", of, "W * H", "zeros")
    return (Array("in", of, "W * H", content), *between, result, *whole("W", "H"))


FLIP = Family(
    "held2-transpose",
    plane(),
    ({"W": 512, "H": 1024}, {"W": 2048, "H": 1536}, {"W": 4096, "H": 4096}),
    "out",
    "transpose",
    of_file(
        "moving",
        launch("flip_basic", (32, 8), *_STRIPS),
        launch("flip_basic_8x8", (8, 8), "ceil(W / 8)", "ceil(H / 8)", entry="flip_basic"),
        launch("flip_stores_rows", (32, 8), "ceil(H / 32)", "ceil(W / 8)"),
        launch("flip_eight", (32, 4), *_TILES),
        launch("flip_tile_16", (16, 16), "W / 16", "H / 16"),
        launch("flip_tall", (32, 16), "W / 32", "H / 64"),
        launch("flip_diagonal", (32, 8), *_TILES),
        launch("flip_four_by_four", (16, 16), "ceil(W / 64)", "ceil(H / 64)"),
    ),
)
FLIP_DOUBLES = Family(
    "held2-transpose-double",
    plane("float64"),
    ({"W": 512, "H": 512}, {"W": 1024, "H": 2048}, {"W": 4096, "H": 2048}),
    "out",
    "transpose",
    of_file(
        "moving",
        launch("flip_doubles", (16, 16), *_SQUARES),
        launch("flip_doubles_tile", (32, 8), *_TILES),
        launch("flip_doubles_pad", (32, 8), *_TILES),
        launch("flip_doubles_pad_32x32", (32, 32), *_TILES, entry="flip_doubles_pad"),
    ),
)


def _indexed(name: str, content: str, *rows: Row) -> Family:
    index = Array("index", "int32", "n", content)
    parameters = (floats("in", "n"), index, floats("out", "n", "zeros"), *whole("n"))
    shapes = ({"n": 120_000}, {"n": 1_200_000}, {"n": 12_000_000})
    return Family(name, parameters, shapes, "out", "gather", of_file("moving", *rows))


PICK_NEAR = _indexed(
    "held2-gather-near",
    "near places",
    launch("pick", (256,), _BY_256),
    launch("pick_four", (128,), "ceil(n / 512)"),
    launch("put", (256,), _BY_256, rule="scatter"),
)
PICK_FAR = _indexed(
    "held2-gather-far",
    "places",
    launch("pick_far", (512,), "ceil(n / 512)", entry="pick"),
    launch("pick_stride", (256,), _STRIDES),
    launch("put_four_apart", (128,), "ceil(n / 512)", rule="scatter"),
)
TABLE_ROWS = Family(
    "held2-table-rows",
    (
        *(floats("table", "20000 * 64"), Array("rows", "int32", "n", "integers")),
        *(floats("out", "64 * n", "zeros"), *whole("n")),
    ),
    ({"n": 1000}, {"n": 10_000}, {"n": 100_000}),
    "out",
    "table rows",
    of_file(
        "moving",
        launch("rows_thread", (128,), "ceil(n / 128)"),
        launch("rows_element", (256,), "ceil(n / 4)"),
        launch("rows_block", (64,), "n"),
        launch("rows_vector", (256,), "ceil(n / 16)"),
    ),
)
_TEXT = Array("in", "uint8", "n", "text")
_TEXT_OUT = (Array("out", "uint8", "n", "zeros"), *whole("n"))
UPPER = Family(
    "held2-upper-case",
    (_TEXT, *_TEXT_OUT),
    _LENGTHS,
    "out",
    "upper case",
    of_file(
        "texts",
        launch("upper_basic", (256,), _BY_256),
        launch("upper_four", (256,), "ceil(n / 1024)"),
        launch("upper_chunk", (128,), "ceil(n / 8192)"),
        launch("upper_words", (256,), "ceil(n / 4096)"),
    ),
)
WORDS = Family(
    "held2-words",
    (_TEXT, Array("out", "uint32", "1", "zeros"), *whole("n")),
    _LENGTHS,
    "out",
    "words",
    of_file(
        "texts",
        launch("words_basic", (256,), _BY_256),
        launch("words_block", (512,), "ceil(n / 512)"),
        launch("words_sixteen", (256,), "ceil(n / 4096)"),
    ),
)
MATCH = Family(
    "held2-match",
    (_TEXT, *_TEXT_OUT),
    _LENGTHS,
    "out",
    "match",
    of_file(
        "texts",
        launch("match_basic", (256,), _BY_256),
        launch("match_shared", (256,), _BY_256),
        launch("match_early", (256,), _STRIDES),
    ),
)
GREY = Family(
    "held2-grey",
    (Array("in", "uint8", "3 * n", "bytes"), *_TEXT_OUT),
    ({"n": 100_000}, {"n": 1_000_000}, {"n": 8_000_000}),
    "out",
    "grey",
    of_file(
        "texts",
        launch("grey_basic", (256,), _BY_256),
        launch("grey_floats", (128,), "ceil(n / 128)"),
        launch("grey_words", (256,), "ceil(n / 1024)"),
        launch("grey_shared", (256,), _BY_256),
    ),
)
OPTIONS = Family(
    "held2-options",
    (
        *(floats(name, "n") for name in ("price", "strike", "years")),
        floats("out", "2 * n", "zeros"),
        *whole("n"),
    ),
    _FEWER,
    "out",
    "options",
    of_file(
        "computing",
        launch("options_basic", (256,), _BY_256),
        launch("options_stride", (256,), _STRIDES),
        launch("options_four", (128,), "ceil(n / 512)"),
        launch("options_fast", (128,), "ceil(n / 128)"),
        launch("options_double", (256,), _BY_256),
    ),
)
_WORDS = (Array("in", "uint32", "n", "integers"), Array("out", "uint32", "n", "zeros"), *whole("n"))
HASH = Family(
    "held2-hash",
    _WORDS,
    _LENGTHS,
    "out",
    "hash",
    of_file(
        "computing",
        launch("hash_basic", (256,), _BY_256),
        launch("hash_four", (128,), "ceil(n / 512)"),
        launch("hash_loop", (256,), _BY_256),
    ),
)
COLLATZ = Family(
    "held2-collatz",
    _WORDS,
    ({"n": 50_000}, {"n": 400_000}, {"n": 3_000_000}),
    "out",
    "collatz",
    of_file(
        "computing",
        launch("collatz_basic", (256,), _BY_256),
        launch("collatz_zeros", (128,), "ceil(n / 128)"),
        launch("collatz_stride", (256,), _STRIDES),
    ),
)
ROOTS = Family(
    "held2-roots",
    _ELEMENTS,
    _FEWER,
    "out",
    "cube roots",
    of_file(
        "computing",
        launch("roots_basic", (256,), _BY_256),
        launch("roots_fast", (256,), _BY_256),
        launch("roots_two", (128,), _BY_256),
        launch("roots_double", (256,), _BY_256),
    ),
)
DARTS = Family(
    "held2-darts",
    (Array("out", "uint32", "1", "zeros"), *whole("n")),
    ({"n": 8192}, {"n": 65_536}, {"n": 524_288}),
    "out",
    "darts",
    of_file(
        "computing",
        launch("darts_basic", (256,), _BY_256),
        launch("darts_whole", (128,), "ceil(n / 128)"),
        launch("darts_atomics", (256,), _BY_256),
    ),
)
_SPARSE_RESULT = (floats("x", "rows"), floats("y", "rows", "zeros"), *whole("rows"))
_SPARSE_SHAPES = ({"rows": 10_000}, {"rows": 100_000}, {"rows": 500_000})


def _sparse(name: str, columns: str, *rows: Row) -> Family:
    """Rows of very different lengths, sixteen entries each on the whole."""
    parameters: tuple[Parameter, ...] = (
        *(
            Array("start", "int32", "rows + 1", "uneven row starts"),
            Array("column", "int32", "16 * rows", columns),
        ),
        *(floats("value", "16 * rows"), *_SPARSE_RESULT),
    )
    return Family(name, parameters, _SPARSE_SHAPES, "y", "uneven rows", of_file("sparse", *rows))


CSR = _sparse(
    "held2-spmv",
    "columns",
    launch("csr_thread", (256,), "ceil(rows / 256)"),
    launch("csr_warp", (256,), "ceil(rows / 8)"),
    launch("csr_four", (128,), "ceil(rows / 32)"),
    launch("csr_entries", (256,), "ceil(rows / 16)"),
    launch("csr_staged", (128,), "ceil(rows / 64)"),
)
CSR_NEAR = _sparse(
    "held2-spmv-near",
    "near columns",
    launch("csr_thread_near", (64,), "ceil(rows / 64)", entry="csr_thread"),
    launch("csr_warp_near", (128,), "ceil(rows / 4)", entry="csr_warp"),
    launch("csr_four_near", (256,), "ceil(rows / 64)", entry="csr_four"),
)
ELL = Family(
    "held2-spmv-ell",
    (Array("column", "int32", "16 * rows", "columns"), floats("value", "16 * rows"), *_SPARSE_RESULT),
    _SPARSE_SHAPES,
    "y",
    "rows of sixteen",
    of_file(
        "sparse",
        launch("ell_rows", (256,), "ceil(rows / 256)"),
        launch("ell_columns", (256,), "ceil(rows / 256)", rule="columns of rows"),
        launch("ell_vectors", (128,), "ceil(rows / 128)"),
    ),
)

FAMILIES = (
    *(FLIP, FLIP_DOUBLES, PICK_NEAR, PICK_FAR, TABLE_ROWS, UPPER, WORDS, MATCH, GREY),
    *(OPTIONS, HASH, COLLATZ, ROOTS, DARTS, CSR, CSR_NEAR, ELL),
)
