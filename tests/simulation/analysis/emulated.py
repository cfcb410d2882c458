"""The model solution and the naive kernel on the emulator, with tiles of any size."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tests.simulation.emulator.launching import Compiled
from tests.simulation.emulator.nvcc import compile_one

if TYPE_CHECKING:
    from grader.model import Counters

REFERENCE = Path(__file__).parents[3] / "reference" / "matmul"


@cache
def kernel(name: str, tile: int) -> Compiled:
    """A kernel of the staff's with tiles of this size, built as outputs and counters are."""
    source = (
        (REFERENCE / f"{name}.cu").read_text().replace("#define TILE_SIZE 16", f"#define TILE_SIZE {tile}")
    )
    source = source.replace("__global__ void tiledMatMul", 'extern "C" __global__ void tiledMatMul')
    return Compiled(source, compile_one(source, ()), detect=False)


def counters(name: str, m: int, k: int, n: int, tile: int) -> Counters:
    """Return the emulator's counters of a product of M by K times K by N."""
    a, b, c = (np.ones(shape, np.float32) for shape in ((m, k), (k, n), (m, n)))
    sizes = (np.int32(m), np.int32(k), np.int32(n))
    grid = (-(-n // tile), -(-m // tile), 1)
    run = kernel(name, tile).run("tiledMatMul", grid, (tile, tile, 1), a, b, c, *sizes, directions="iio")
    assert run.completed
    return run.counters
