"""Stencils and convolutions of the second round, of lines, planes and volumes."""

from __future__ import annotations

from tests.bench.estimate.heldout2.elements import plane
from tests.bench.estimate.records import Family, floats, launch, of_file, whole

_LENGTHS = ({"n": 160_000}, {"n": 1_600_000}, {"n": 8_000_000})
_PLANES = ({"W": 512, "H": 384}, {"W": 1600, "H": 1200}, {"W": 3840, "H": 2160})
_VOLUMES = ({"W": 64, "H": 48, "D": 80}, {"W": 128, "H": 160, "D": 96}, {"W": 256, "H": 256, "D": 256})
_BY_256 = "ceil(n / 256)"
_STRIPS = ("ceil(W / 32)", "ceil(H / 8)")
_SQUARES = ("ceil(W / 16)", "ceil(H / 16)")
_ELEMENTS = (floats("in", "n"), floats("out", "n", "zeros"), *whole("n"))

MEAN9 = Family(
    "held2-stencil1d",
    _ELEMENTS,
    _LENGTHS,
    "out",
    "mean of nine",
    of_file(
        "stencils",
        launch("mean9_basic", (256,), _BY_256),
        launch("mean9_shared", (128,), "ceil(n / 128)"),
        launch("mean9_vector", (256,), "ceil(n / 1024)"),
    ),
)
SUM65 = Family(
    "held2-stencil1d-wide",
    _ELEMENTS,
    _LENGTHS,
    "out",
    "sum of 65",
    of_file(
        "stencils",
        launch("sum65_basic", (256,), _BY_256),
        launch("sum65_shared", (256,), _BY_256),
        launch("sum65_running", (128,), "ceil(n / 4096)"),
    ),
)
STAR2 = Family(
    "held2-stencil2d",
    plane(),
    _PLANES,
    "out",
    "star of a plane",
    of_file(
        "stencils",
        launch("star2_basic", (32, 8), *_STRIPS),
        launch("star2_basic_8x32", (8, 32), "ceil(W / 8)", "ceil(H / 32)", entry="star2_basic"),
        launch("star2_shared", (16, 16), *_SQUARES),
        launch("star2_column", (64,), "ceil(W / 64)", "ceil(H / 24)"),
    ),
)
HEAT = Family(
    "held2-heat-double",
    plane("float64"),
    _PLANES,
    "out",
    "heat",
    of_file(
        "stencils",
        launch("heat_basic", (16, 16), *_SQUARES),
        launch("heat_shared", (32, 8), *_STRIPS),
        launch("heat_pairs", (32, 8), "ceil(W / 64)", "ceil(H / 8)"),
    ),
)
EDGES = Family(
    "held2-edges",
    plane(),
    _PLANES,
    "out",
    "edges",
    of_file(
        "stencils",
        launch("edges_basic", (32, 8), *_STRIPS),
        launch("edges_rim", (32, 16), "ceil(W / 30)", "ceil(H / 14)"),
        launch("edges_shuffle", (32, 8), "ceil(W / 30)", "ceil(H / 8)"),
    ),
)
LEAST = Family(
    "held2-least-bytes",
    plane("uint8", "bytes"),
    _PLANES,
    "out",
    "least of 25",
    of_file(
        "stencils",
        launch("least_basic", (16, 16), *_SQUARES),
        launch("least_shared", (16, 16), *_SQUARES),
        launch("least_passes", (32, 8), *_STRIPS),
    ),
)
_VOLUME = (floats("in", "W * H * D"), floats("out", "W * H * D", "zeros"), *whole("W", "H", "D"))
_CUBES = ("ceil(W / 8)", "ceil(H / 8)", "ceil(D / 8)")
STAR3 = Family(
    "held2-stencil3d",
    _VOLUME,
    _VOLUMES,
    "out",
    "star of a volume",
    of_file(
        "volumes",
        launch("star3_basic", (32, 4, 2), "ceil(W / 32)", "ceil(H / 4)", "ceil(D / 2)"),
        launch("star3_basic_8x8x8", (8, 8, 8), *_CUBES, entry="star3_basic"),
        launch("star3_march", (32, 8), *_STRIPS),
        launch("star3_planes", (32, 8), *_STRIPS, "ceil(D / 16)"),
    ),
)
MEAN27 = Family(
    "held2-mean-of-27",
    _VOLUME,
    _VOLUMES,
    "out",
    "mean of 27",
    of_file(
        "volumes",
        launch("mean27_basic", (32, 8), *_STRIPS, "D"),
        launch("mean27_cube", (8, 8, 8), *_CUBES),
        launch("mean27_march", (64, 4), "ceil(W / 64)", "ceil(H / 4)"),
    ),
)
SMALL_MASK = Family(
    "held2-conv2d",
    plane("float32", "random", floats("mask", "9", "mask")),
    _PLANES,
    "out",
    "mask 3 x 3",
    of_file(
        "convolutions",
        launch("small_basic", (16, 16), *_SQUARES),
        launch("small_constant", (32, 8), *_STRIPS),
        launch("small_shared", (32, 8), *_STRIPS),
        launch("small_sliding", (128,), "ceil(W / 128)", "ceil(H / 16)"),
    ),
)
LARGE_MASK = Family(
    "held2-conv2d-large",
    plane("float32", "random", floats("mask", "81", "mask")),
    _PLANES,
    "out",
    "mask 9 x 9",
    of_file(
        "convolutions",
        launch("large_basic", (16, 16), *_SQUARES),
        launch("large_constant", (32, 8), *_STRIPS),
        launch("large_shared", (16, 16), *_SQUARES),
        launch("large_four", (32, 8), "ceil(W / 32)", "ceil(H / 32)"),
    ),
)
PASS = Family(
    "held2-separable",
    plane("float32", "random", floats("mask", "15", "mask")),
    _PLANES,
    "out",
    "mask 15 x 1",
    of_file(
        "convolutions",
        launch("pass_rows", (16, 16), *_SQUARES),
        launch("pass_rows_shared", (16, 8), "ceil(W / 64)", "ceil(H / 8)"),
        launch("pass_columns", (32, 8), *_STRIPS, rule="mask 1 x 15"),
        launch("pass_columns_shared", (32, 8), "ceil(W / 32)", "ceil(H / 64)", rule="mask 1 x 15"),
    ),
)
FILTER = Family(
    "held2-conv1d",
    (floats("in", "n"), floats("mask", "33", "mask"), floats("out", "n", "zeros"), *whole("n")),
    _LENGTHS,
    "out",
    "filter of 33",
    of_file(
        "convolutions",
        launch("filter_basic", (256,), _BY_256),
        launch("filter_constant", (256,), _BY_256),
        launch("filter_shared", (256,), _BY_256),
        launch("filter_window", (128,), "ceil(n / 512)"),
    ),
)
FAMILIES = (MEAN9, SUM65, STAR2, HEAT, EDGES, LEAST, STAR3, MEAN27, SMALL_MASK, LARGE_MASK, PASS, FILTER)
