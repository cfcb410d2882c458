"""The bundled assignments' own kernels: models, baselines, and mistakes that are right but slow."""

from __future__ import annotations

from pathlib import Path

from tests.bench.estimate.records import Array, Family, Parameter, Row, floats, launch, whole

_REFERENCE = Path("reference")


def _family(
    operation: str,
    entry: str,
    block: tuple[int, ...],
    grid: tuple[str, ...],
    files: tuple[str, ...],
) -> tuple[str, Path, tuple[Row, ...]]:
    rows = tuple(
        launch(f"calibration_{operation}_{Path(file).stem}", block, *grid, file=file, entry=entry)
        for file in files
    )
    return f"calibration-{operation}", _REFERENCE / operation, rows


def _made(
    parts: tuple[str, Path, tuple[Row, ...]],
    parameters: tuple[Parameter, ...],
    numbers: str,
    shapes: tuple[dict[str, int], ...],
    output: str,
    rule: str,
) -> Family:
    name, folder, rows = parts
    return Family(name, (*parameters, *whole(*numbers)), shapes, output, rule, rows, folder)


FAMILIES = (
    _made(
        _family(
            "matmul",
            "tiledMatMul",
            (16, 16),
            ("ceil(N / 16)", "ceil(M / 16)"),
            ("naive", "solution", "double_buffered", "mistakes/no_shared_memory", "mistakes/only_a_tiled"),
        ),
        (floats("A", "M * K"), floats("B", "K * N"), floats("C", "M * N", "zeros")),
        "MKN",
        tuple(dict.fromkeys("MKN", size) for size in (512, 1024, 2048, 4096)),
        "C",
        "product",
    ),
    _made(
        _family(
            "transpose",
            "transpose",
            (32, 8),
            ("ceil(N / 32)", "ceil(M / 32)"),
            (
                *("naive", "solution", "unpadded", "mistakes/no_tile", "mistakes/column_reads"),
                *("mistakes/no_padding", "mistakes/padding_on_rows"),
            ),
        ),
        (floats("input", "M * N"), floats("output", "M * N", "zeros")),
        "MN",
        ({"M": 1024, "N": 1024}, {"M": 2048, "N": 4096}, {"M": 4096, "N": 4096}),
        "output",
        "bundled transpose",
    ),
    _made(
        _family(
            "reduction",
            "sumReduce",
            (256,),
            ("min(ceil(N / 256), 8)",),
            (
                *("naive", "solution", "mistakes/atomic_for_every_element"),
                *("mistakes/atomic_for_every_warp", "mistakes/tree_without_shuffles"),
            ),
        ),
        (floats("values", "N"), floats("total", "1", "zeros")),
        "N",
        ({"N": 100_000}, {"N": 1_000_000}, {"N": 16_000_000}),
        "total",
        "bundled sum",
    ),
    _made(
        _family(
            "scan",
            "inclusiveScan",
            (256,),
            ("M",),
            ("naive", "solution", "mistakes/one_thread", "mistakes/every_sum_from_the_start"),
        ),
        (floats("input", "M * N"), floats("output", "M * N", "zeros")),
        "N",
        ({"M": 256, "N": 1024}, {"M": 1024, "N": 1024}, {"M": 1024, "N": 8192}),
        "output",
        "scan of rows",
    ),
    _made(
        _family(
            "histogram",
            "histogram",
            (128,),
            ("min(ceil(N / 128), 8)",),
            ("naive", "solution", "mistakes/global_atomics"),
        ),
        (Array("values", "uint8", "N", "bytes"), Array("counts", "int32", "B", "zeros")),
        "NB",
        ({"N": 100_000, "B": 256}, {"N": 1_000_000, "B": 256}, {"N": 16_000_000, "B": 64}),
        "counts",
        "bundled histogram",
    ),
    _made(
        _family(
            "vector-add",
            "vectorAdd",
            (256,),
            ("ceil(N / 256)",),
            (
                *("naive", "solution", "mistakes/dealt_out_across_blocks", "mistakes/four_in_a_row"),
                "mistakes/steps_of_one_block",
            ),
        ),
        (floats("A", "N"), floats("B", "N"), floats("C", "N", "zeros")),
        "N",
        ({"N": 100_000}, {"N": 1_000_000}, {"N": 4_000_000}),
        "C",
        "vector sum",
    ),
)
