"""Kernels of the second round that add up: sums, extremes, counts, histograms, scans, rows of matrices."""

from __future__ import annotations

from tests.bench.estimate.records import Array, Family, Parameter, floats, launch, of_file, whole

_LENGTHS = ({"n": 150_000}, {"n": 1_500_000}, {"n": 10_000_000})
_FEWER = ({"n": 100_000}, {"n": 1_000_000}, {"n": 4_000_000})
_BY_128 = "ceil(n / 128)"
_BY_256 = "ceil(n / 256)"
_BY_512 = "ceil(n / 512)"
_STRIDES = "min(660, ceil(n / 256))"


def _counted(of: str, content: str, bins: str) -> tuple[Parameter, ...]:
    """Values and counts of them."""
    return (Array("in", of, "n", content), Array("out", "uint32", bins, "zeros"), *whole("n"))


STAGES = Family(
    "held2-reduction",
    (
        Array("in", "int32", "n", "bins"),
        Array("out", "int32", "max(264, ceil(n / 128))", "zeros"),
        *whole("n"),
    ),
    _LENGTHS,
    "out",
    "sum",
    of_file(
        "reductions",
        launch("stage_none", (256,), _BY_256),
        launch("stage_remainder", (256,), _BY_256, shared=1024),
        launch("stage_interleaved", (512,), _BY_512, shared=2048),
        launch("stage_sequential", (128,), _BY_128, shared=512),
        launch("stage_first_add", (256,), _BY_512, shared=1024),
        launch("stage_last_warp", (512,), "ceil(n / 1024)", shared=2048),
        launch("stage_unrolled", (512,), "ceil(n / 1024)"),
        launch("stage_many", (128,), "264"),
        launch("stage_warp_instruction", (256,), _BY_256),
        launch("stage_vector_shuffle", (512,), "min(264, ceil(n / 2048))"),
    ),
)
INNER = Family(
    "held2-dot",
    (
        Array("x", "float64", "n", "random"),
        Array("y", "float64", "n", "random"),
        Array("out", "float64", "1", "zeros"),
        *whole("n"),
    ),
    _FEWER,
    "out",
    "dot",
    of_file(
        "reductions",
        launch("inner_atomic", (256,), _BY_256),
        launch("inner_block", (128,), _BY_128),
        launch("inner_stride", (256,), _STRIDES),
        launch("inner_pairs", (256,), "min(528, ceil(n / 512))"),
    ),
)
LARGEST = Family(
    "held2-largest",
    (Array("in", "int32", "n", "integers"), Array("out", "int32", "1", "zeros"), *whole("n")),
    _LENGTHS,
    "out",
    "largest",
    of_file(
        "reductions",
        launch("largest_atomic", (256,), _BY_256),
        launch("largest_tree", (64,), "ceil(n / 64)"),
        launch("largest_shared", (256,), _BY_256),
        launch("largest_stride", (256,), _STRIDES),
    ),
)
COUNT = Family(
    "held2-count",
    _counted("int32", "bins", "1"),
    _LENGTHS,
    "out",
    "above 200",
    of_file(
        "counting",
        launch("count_global", (256,), _BY_256),
        launch("count_shared", (256,), _BY_256),
        launch("count_ballot", (256,), _BY_256),
        launch("count_barrier", (512,), _BY_512),
    ),
)


def _keyed(content: str, keys: str) -> tuple[Parameter, ...]:
    """Values, their keys, and sums by key."""
    key = Array("key", "int32", "n", content)
    return (floats("in", "n"), key, floats("out", keys, "zeros"), *whole("n"))


KEYED = Family(
    "held2-sums-by-key",
    _keyed("bins", "64"),
    _FEWER,
    "out",
    "sums of 64 keys",
    of_file(
        "counting",
        launch("keyed_global", (256,), _BY_256),
        launch("keyed_shared", (256,), _STRIDES),
        launch("keyed_warps", (256,), _STRIDES),
        launch("keyed_block", (256,), "64"),
    ),
)
SPREAD = Family(
    "held2-sums-by-many-keys",
    _keyed("integers", "4096"),
    _FEWER,
    "out",
    "sums of 4096 keys",
    of_file(
        "counting",
        launch("spread_global", (256,), _BY_256),
        launch("spread_shared", (512,), "min(264, ceil(n / 512))"),
        launch("spread_four", (128,), _BY_512),
    ),
)
FEW_BINS = Family(
    "held2-histogram-32",
    _counted("int32", "bins", "32"),
    _LENGTHS,
    "out",
    "32 bins",
    of_file(
        "counting",
        launch("thirty_two_global", (128,), _BY_128),
        launch("thirty_two_shared", (256,), _BY_256),
        launch("thirty_two_private", (128,), "min(528, ceil(n / 128))"),
    ),
)


def _bytes(name: str, content: str, ending: str) -> Family:
    """The histograms of bytes, whose neighbours are alike or not."""
    blocks = {
        "global": _BY_256,
        "shared": _STRIDES,
        "words": "min(528, ceil(n / 1024))",
        "runs": "ceil(n / 8192)",
    }
    return Family(
        f"held2-histogram-{name}",
        _counted("uint8", content, "256"),
        ({"n": 200_000}, {"n": 2_000_000}, {"n": 8_000_000}),
        "out",
        "histogram",
        of_file(
            "counting",
            *(
                launch(f"bytes_{kind}{ending}", (256,), grid, entry=f"bytes_{kind}")
                for kind, grid in blocks.items()
            ),
        ),
    )


FREQUENT = _bytes("frequent", "frequent bytes", "")
SMOOTH = _bytes("smooth", "smooth bytes", "_smooth")
MANY_BINS = Family(
    "held2-histogram-2048",
    _counted("int32", "integers", "2048"),
    _LENGTHS,
    "out",
    "2048 bins",
    of_file(
        "counting",
        launch("many_bins_global", (256,), _STRIDES),
        launch("many_bins_shared", (512,), "min(396, ceil(n / 512))", shared=8192),
        launch("many_bins_packed", (256,), "ceil(n / 4096)"),
    ),
)
_PIECES = ({"n": 65_536}, {"n": 1_048_576}, {"n": 8_388_608})
RUNS = Family(
    "held2-scan",
    (floats("in", "n"), floats("out", "n", "zeros"), *whole("n")),
    _PIECES,
    "out",
    "scan of 1024",
    of_file(
        "scans",
        launch("runs_thread", (64,), "ceil(n / 65536)"),
        launch("runs_hillis_steele", (1024,), "n / 1024"),
        launch("runs_hillis_steele_global", (1024,), "n / 1024"),
        launch("runs_blelloch", (512,), "n / 1024"),
        launch("runs_blelloch_padded", (512,), "n / 1024"),
        launch("runs_shuffle", (1024,), "n / 1024"),
        launch("runs_warp", (128,), "ceil(n / 4096)"),
        launch("runs_eight", (128,), "n / 1024"),
    ),
)
BEFORE = Family(
    "held2-scan-exclusive",
    (Array("in", "int32", "n", "bins"), Array("out", "int32", "n", "zeros"), *whole("n")),
    _PIECES,
    "out",
    "exclusive scan of 512",
    of_file(
        "scans",
        launch("before_naive", (256,), _BY_256),
        launch("before_hillis_steele", (512,), "n / 512"),
        launch("before_shuffle", (512,), "n / 512"),
        launch("before_fours", (128,), "n / 512"),
    ),
)


def _vector(of: str, x: str, y: str) -> tuple[Parameter, ...]:
    """A matrix, the vector that it is multiplied with, and the result."""
    return (
        Array("A", of, "M * N", "random"),
        Array("x", of, x, "random"),
        Array("y", of, y, "zeros"),
        *whole("M", "N"),
    )


TIMES = Family(
    "held2-matvec",
    _vector("float32", "N", "M"),
    ({"M": 1024, "N": 512}, {"M": 4096, "N": 2048}, {"M": 4096, "N": 4096}),
    "y",
    "matvec",
    of_file(
        "rows",
        launch("mv_basic", (128,), "ceil(M / 128)"),
        launch("mv_shared_vector", (256,), "ceil(M / 8)"),
        launch("mv_block_vector", (128,), "M"),
        launch("mv_tiles", (32, 8), "M / 32"),
    ),
)
TURNED_TIMES = Family(
    "held2-matvec-turned",
    _vector("float32", "M", "N"),
    ({"M": 512, "N": 1024}, {"M": 2000, "N": 3000}, {"M": 4096, "N": 4096}),
    "y",
    "turned matvec",
    of_file(
        "rows",
        launch("mtv_basic", (128,), "ceil(N / 128)"),
        launch("mtv_parts", (128,), "ceil(N / 128)", "ceil(M / 128)"),
        launch("mtv_warp", (128,), "ceil(N / 4)"),
        launch("mtv_vector", (32, 8), "ceil(N / 128)"),
    ),
)
DOUBLE_TIMES = Family(
    "held2-matvec-double",
    _vector("float64", "N", "M"),
    ({"M": 1000, "N": 600}, {"M": 2048, "N": 2048}, {"M": 4096, "N": 3072}),
    "y",
    "matvec",
    of_file(
        "rows",
        launch("dmv_basic", (64,), "ceil(M / 64)"),
        launch("dmv_warp", (32, 8), "ceil(M / 8)"),
        launch("dmv_block", (256,), "M"),
    ),
)
_TABLE = floats("in", "R * C")
_RESULT = (floats("out", "R * C", "zeros"), *whole("R", "C"))
LOG_SOFTMAX = Family(
    "held2-log-softmax",
    (_TABLE, *_RESULT),
    ({"R": 1000, "C": 250}, {"R": 4096, "C": 1000}, {"R": 16_384, "C": 512}),
    "out",
    "log softmax",
    of_file(
        "rows",
        launch("log_softmax_thread", (64,), "ceil(R / 64)"),
        launch("log_softmax_block", (128,), "R"),
        launch("log_softmax_warp", (32, 4), "ceil(R / 4)"),
    ),
)
NORMED = Family(
    "held2-layernorm",
    (_TABLE, floats("gain", "C"), floats("shift", "C"), *_RESULT),
    ({"R": 1000, "C": 256}, {"R": 4096, "C": 1000}, {"R": 16_384, "C": 768}),
    "out",
    "gain and shift",
    of_file(
        "rows",
        launch("normed_thread", (64,), "ceil(R / 64)"),
        launch("normed_block", (256,), "R"),
        launch("normed_warp", (32, 8), "ceil(R / 8)"),
    ),
)

FAMILIES = (
    *(STAGES, INNER, LARGEST, COUNT, KEYED, SPREAD, FEW_BINS, FREQUENT, SMOOTH, MANY_BINS, RUNS, BEFORE),
    *(TIMES, TURNED_TIMES, DOUBLE_TIMES, LOG_SOFTMAX, NORMED),
)
