"""Tensor cores as CUDA programs use them: `nvcuda::wmma`, and `mma.sync` with `ldmatrix`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.model import FindingKind
from tests.simulation.emulator.instructions.builds import BUILDS, built
from tests.simulation.emulator.launching import Compiled, only

if TYPE_CHECKING:
    from numpy.typing import NDArray

Matrix = np.ndarray[Any, Any]
ONE_WARP = (32, 1, 1)


@pytest.fixture(params=BUILDS, ids=lambda build: f"sm_{build[0]}-{'O0' if build[1] else 'O3'}")
def program(request: pytest.FixtureRequest) -> Compiled:
    """The file of programs, in each build."""
    device, detect = request.param
    return built("matrix.cu", device, detect=detect)


@dataclass(frozen=True)
class Tile:
    """A kernel for one warp: extents, element types, and which matrices lie column by column."""

    kernel: str
    extents: tuple[int, int, int]
    operands: str
    sums: str
    by_column: str = ""
    device: int = 75


TILES = [
    Tile("half_square", (16, 16, 16), "f2", "f4", "b"),
    Tile("half_tall", (32, 8, 16), "f2", "f2", "a"),
    Tile("half_wide", (8, 32, 16), "f2", "f4", "c"),
    Tile("char_square", (16, 16, 16), "i1", "i4", "b"),
    Tile("byte_tall", (32, 8, 16), "u1", "i4", "c"),
    Tile("byte_wide", (8, 32, 16), "u1", "i4", "ab"),
    Tile("bfloat_square", (16, 16, 16), "bf", "f4", "", 80),
    Tile("bfloat_tall", (32, 8, 16), "bf", "f4", "ab", 80),
    Tile("bfloat_wide", (8, 32, 16), "bf", "f4", "", 80),
    Tile("double_small", (8, 8, 4), "f8", "f8", "bc", 80),
    Tile("tf32_square", (16, 16, 8), "f4", "f4", "b", 80),
]


def _stored(numbers: NDArray[np.int64], kind: str, *, by_column: bool) -> Matrix:
    """Numbers as a kernel finds them; a bfloat16 is the upper half of a float32."""
    whole = np.ascontiguousarray(numbers.T if by_column else numbers)
    if kind == "bf":
        return (whole.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return whole.astype(kind)


@pytest.mark.parametrize("tile", TILES, ids=[tile.kernel for tile in TILES])
def test_a_warp_multiplies_fragments_of_every_shape(program: Compiled, tile: Tile) -> None:
    """2 (A B + C) of small whole numbers, which every type holds exactly, in each layout."""
    if not any(function.name == tile.kernel for function in program.module.functions):
        assert tile.device == 80
        return
    (m, n, k), draw = tile.extents, np.random.default_rng(5)
    low = 0 if tile.operands == "u1" else -9
    numbers = {"a": draw.integers(low, 9, (m, k)), "b": draw.integers(low, 9, (k, n))}
    numbers["c"] = draw.integers(-9, 9, (m, n))
    kinds = {"a": tile.operands, "b": tile.operands, "c": tile.sums}
    stored = {
        name: _stored(values, kinds[name], by_column=name in tile.by_column)
        for name, values in numbers.items()
    }
    strides = [np.int32(array.shape[1]) for array in stored.values()]
    done = program.run(tile.kernel, (1, 1, 1), ONE_WARP, *stored.values(), *strides, directions="iib")
    got = dict(done.outputs)["C"]
    assert not done.findings, done.findings[0].message
    expected = 2 * (numbers["a"] @ numbers["b"] + numbers["c"])
    assert np.array_equal(got.T if "c" in tile.by_column else got, expected)


@pytest.mark.parametrize("kernel", ["wmma_matmul", "ldmatrix_matmul"])
def test_course_kernels_multiply_matrices(program: Compiled, kernel: str) -> None:
    """Several blocks and tiles: the product to within float32's rounding of the sums, and no finding."""
    m, n, k = 64, 96, 48
    draw = np.random.default_rng(7)
    a, b = draw.standard_normal((m, k)).astype("f2"), draw.standard_normal((k, n)).astype("f2")
    rows, columns, threads = (32, 32, 128) if kernel == "wmma_matmul" else (16, 8, 32)
    arguments = (a, b, np.zeros((m, n), "f4"), np.int32(n), np.int32(k))
    done = program.run(kernel, (n // columns, m // rows, 1), (threads, 1, 1), *arguments, directions="iio")
    assert not done.findings, done.findings[0].message
    exact, bound = a.astype("f8") @ b.astype("f8"), np.abs(a.astype("f8")) @ np.abs(b.astype("f8"))
    assert (np.abs(dict(done.outputs)["C"] - exact) <= k * 2.0**-24 * bound).all()
    if not program.detect:
        assert done.counters.flops == 2 * m * n * k


def test_a_product_counts_its_traffic_and_operations() -> None:
    """Every byte of a tile once, in whole sectors; 2 M N K operations for the product, M N to scale it."""
    program = built("matrix.cu", 80, detect=False)
    arrays = (np.ones((16, 16), "f2"), np.ones((16, 16), "f2"), np.ones((16, 16), "f4"))
    done = program.run("half_square", (1, 1, 1), ONE_WARP, *arrays, *[np.int32(16)] * 3, directions="iib")
    counters = done.counters
    assert counters.flops == 2 * 16**3 + 16**2
    assert (counters.global_load_bytes, counters.global_load_sectors) == (2048, 64)
    assert (counters.global_store_bytes, counters.global_store_sectors) == (1024, 32)


def test_a_tile_in_padded_shared_memory_has_few_bank_conflicts() -> None:
    """Rows of 48 bytes spread over the banks; rows of 32 bytes would collide in each phase of 8 lanes."""
    program = built("matrix.cu", 80, detect=False)
    a, b, c = np.zeros((32, 16), "f2"), np.zeros((16, 32), "f2"), np.zeros((32, 32), "f4")
    done = program.run(
        "wmma_matmul", (1, 1, 1), (128, 1, 1), a, b, c, np.int32(32), np.int32(16), directions="iio"
    )
    assert done.counters.shared_load_bytes == 4 * 2 * 512
    assert done.counters.shared_bank_conflicts <= 4 * 2 * 4


def test_a_tile_that_no_thread_wrote_is_reported_where_it_is_loaded() -> None:
    """`wmma.load` of shared memory before anything was stored there."""
    program = built("matrix.cu", 80, detect=True)
    done = program.run(
        "stale_tile", (1, 1, 1), ONE_WARP, np.ones(256, "f2"), np.zeros(256, "f4"), directions="io"
    )
    finding = only(done)
    assert (finding.kind, finding.line) == (FindingKind.UNINITIALISED, program.line("// never written"))


@pytest.mark.parametrize(("stride", "kind"), [(32, FindingKind.OUT_OF_BOUNDS), (20, FindingKind.MISALIGNED)])
def test_a_wrong_leading_dimension_is_reported(stride: int, kind: FindingKind) -> None:
    """One that leads past the end of the array, and one that is no multiple of 16 bytes."""
    program = built("matrix.cu", 80, detect=True)
    a = np.ones(16 * 20, "f2")
    done = program.run(
        "any_stride", (1, 1, 1), ONE_WARP, a, np.zeros(256, "f4"), np.int32(stride), directions="io"
    )
    finding = only(done)
    assert (finding.kind, finding.line) == (kind, program.line("// the stride may be wrong"))
    assert kind != FindingKind.OUT_OF_BOUNDS or finding.address == "A[320]"


@pytest.mark.parametrize("threads", [32, 16])
def test_half_a_warp_is_reported(threads: int) -> None:
    """Lanes that go another way, and lanes that the block does not have."""
    program = built("matrix.cu", 80, detect=True)
    block = (threads, 1, 1)
    done = program.run(
        "half_a_warp", (1, 1, 1), block, np.ones(256, "f2"), np.zeros(256, "f4"), directions="io"
    )
    finding = next(each for each in done.findings if each.kind == FindingKind.BARRIER_DIVERGENCE)
    assert finding.line == program.line("// the others go past")
    assert "all 32 lanes of a warp" in finding.message
