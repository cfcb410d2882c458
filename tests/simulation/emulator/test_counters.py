"""Exact counters of a launch: bytes, sectors, bank conflicts, operations, barriers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.simulation.emulator.observers import _of_lanes
from tests.simulation.emulator.launching import Compiled, default_build, zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.model import Run

REFERENCE = Path(__file__).parents[3] / "reference" / "matmul"

OWNERS = """
#define TILE 32
// The tiled product in which only the owners of an element of C compute: the guard stands around the sum,
// not around the barriers, and the sum stops at K.
extern "C" __global__ void owners(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        int a = start + threadIdx.x, b = start + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;
        __syncthreads();
        if (row < M && col < N) {
            for (int k = 0; k < TILE && start + k < K; ++k) {
                sum += tileA[threadIdx.y][k] * tileB[k][threadIdx.x];
            }
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
"""

PATTERNS = """
extern "C" __global__ void global_stride(const float* A, float* B, int stride) {
    B[threadIdx.x] = A[threadIdx.x * stride];
}
extern "C" __global__ void global_offset(const float* A, float* B) {
    B[threadIdx.x] = A[threadIdx.x + 1];
}
extern "C" __global__ void global_vector(const float4* A, float4* B) {
    B[threadIdx.x] = A[threadIdx.x];
}
extern "C" __global__ void global_bytes(const char* A, char* B) {
    B[threadIdx.x] = A[threadIdx.x];
}
extern "C" __global__ void global_doubles(const double* A, double* B) {
    B[threadIdx.x] = A[threadIdx.x];
}
extern "C" __global__ void half_the_lanes(const float* A, float* B) {
    if (threadIdx.x % 2) B[threadIdx.x] = A[threadIdx.x];
}
extern "C" __global__ void shared_stride(float* A, int stride) {
    extern __shared__ volatile float words[];
    words[threadIdx.x * stride] = 1.0f;
    A[threadIdx.x] = words[threadIdx.x * stride];
}
extern "C" __global__ void shared_column(float* A) {
    __shared__ volatile float tile[32][32];
    tile[threadIdx.x][0] = 1.0f;
    A[threadIdx.x] = 0.0f;
}
extern "C" __global__ void shared_padded_column(float* A) {
    __shared__ volatile float tile[32][33];
    tile[threadIdx.x][0] = 1.0f;
    A[threadIdx.x] = 0.0f;
}
extern "C" __global__ void shared_vector(float4* A) {
    __shared__ float4 words[32];
    words[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    A[threadIdx.x] = words[31 - threadIdx.x];
}
extern "C" __global__ void shared_doubles(double* A) {
    __shared__ volatile double words[32];
    words[threadIdx.x] = 1.0;
    A[threadIdx.x] = 0.0;
}
extern "C" __global__ void operations(float* A, double* B) {
    float x = A[threadIdx.x];
    x = __fmaf_rn(x, x, x);
    x = __fadd_rn(__fmul_rn(x, x), 1.0f);
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 8; @p sub.f32 %0, %0, 0f3F800000; }"
                 : "+f"(x) : "r"(threadIdx.x));
    A[threadIdx.x] = x;
    B[threadIdx.x] = __dadd_rn(B[threadIdx.x], 1.0);
}
__constant__ float table[32];
extern "C" __global__ void constants(const float* A, float* B) {
    B[threadIdx.x] = A[threadIdx.x] + table[3] * table[threadIdx.x];
}
extern "C" __global__ void constants_or_not(const float* A, float* B) {
    const float* from = threadIdx.x % 2 ? A : table;
    B[threadIdx.x] = from[threadIdx.x];
}
extern "C" __global__ void barriers(float* A) {
    for (int k = 0; k < 3; ++k) __syncthreads();
    A[threadIdx.x] = 0.0f;
}
"""


def matmul(file: str, tile: int) -> Compiled:
    """A kernel of the reference folder with its tiles made so wide."""
    return default_build((REFERENCE / file).read_text().replace("TILE_SIZE 16", f"TILE_SIZE {tile}"))


def product(
    kernels: Compiled, entry: str, tile: int, shape: tuple[int, int, int], *, ones: bool = False
) -> Run:
    """Launch a matrix product; random operands, or ones and twos."""
    m, k, n = shape
    rng = np.random.default_rng(5)
    a, b = ((np.ones if ones else rng.standard_normal)(size) for size in ((m, k), (k, n)))
    b = 2 * b
    grid, block = (-(-n // tile), -(-m // tile), 1), (tile, tile, 1)
    values = (a.astype("f4"), b.astype("f4"), zeros(m, n), np.int32(m), np.int32(k), np.int32(n))
    return kernels.run(entry, grid, block, *values, directions="iio")


ENTRY = "_Z11tiledMatMulPKfS0_Pfiii"


@pytest.fixture(scope="module")
def tiled() -> Compiled:
    """The model solution."""
    return matmul("solution.cu", 16)


@pytest.fixture(scope="module")
def patterns() -> Compiled:
    """The kernels with one access pattern each."""
    return default_build(PATTERNS)


def test_a_tiled_product_moves_each_element_once_per_tile_that_needs_it(tiled: Compiled) -> None:
    """55x48 by 48x43 in 16x16 tiles: 3 columns of tiles read A, 4 rows read B; C is written once."""
    counters = product(tiled, ENTRY, 16, (55, 48, 43)).counters
    assert counters.global_load_bytes == 4 * (3 * 55 * 48 + 4 * 48 * 43) == 64_704
    assert counters.global_store_bytes == 4 * 55 * 43 == 9_460


def test_every_launched_thread_computes_in_the_model_solution() -> None:
    """142x110 by 110x146 in 32x32 tiles: 25 blocks, 4 phases, 32 products of 2 operations each."""
    counters = product(matmul("solution.cu", 32), ENTRY, 32, (142, 110, 146)).counters
    assert counters.flops == 25 * 32 * 32 * 4 * 32 * 2 == 6_553_600


def test_with_a_guard_only_owners_of_an_element_compute() -> None:
    """The same product, computed by 142*146 threads over 110 products."""
    result = product(default_build(OWNERS), "owners", 32, (142, 110, 146))
    assert result.counters.flops == 142 * 146 * 110 * 2 == 4_561_040
    assert not result.findings


def test_tiles_read_sixteen_times_less_than_the_naive_kernel(tiled: Compiled) -> None:
    """A square of 64 in 16x16 tiles."""
    shape = (64, 64, 64)
    naive = product(matmul("naive.cu", 16), ENTRY, 16, shape).counters
    assert naive.global_load_bytes == 16 * product(tiled, ENTRY, 16, shape).counters.global_load_bytes


def test_ones_by_twos_is_twice_the_inner_extent(tiled: Compiled) -> None:
    """34x34: every element 68."""
    result = product(tiled, ENTRY, 16, (34, 34, 34), ones=True)
    np.testing.assert_array_equal(dict(result.outputs)["C"], 68)


@pytest.mark.parametrize(("stride", "sectors"), [(0, 1), (1, 4), (2, 8), (3, 12), (8, 32), (32, 32)])
def test_a_stride_spreads_a_request_over_more_sectors(patterns: Compiled, stride: int, sectors: int) -> None:
    """32 lanes of 4 bytes are 4 sectors side by side, one if all read one element, 32 if far apart."""
    counters = patterns.run(
        "global_stride", (2, 1, 1), (32, 1, 1), zeros(1024), zeros(32), np.int32(stride)
    ).counters
    assert counters.global_load_sectors == 2 * sectors
    assert counters.global_load_bytes == 2 * 128
    assert counters.global_store_sectors == 2 * 4


def test_a_request_that_is_off_by_one_element_touches_one_more_sector(patterns: Compiled) -> None:
    """128 bytes from byte 4 on lie in 5 sectors."""
    counters = patterns.run("global_offset", (1, 1, 1), (32, 1, 1), zeros(40), zeros(32)).counters
    assert counters.global_load_sectors == 5


@pytest.mark.parametrize(
    ("kernel", "dtype", "bytes_per_lane", "sectors"),
    [
        ("global_vector", "float32", 16, 16),
        ("global_bytes", "int8", 1, 1),
        ("global_doubles", "float64", 8, 8),
    ],
)
def test_sectors_follow_from_the_bytes_of_a_request(
    patterns: Compiled, kernel: str, dtype: str, bytes_per_lane: int, sectors: int
) -> None:
    """Side by side: a float4 a lane is 16 sectors, a byte a lane one, a double a lane 8."""
    size = 32 * max(1, bytes_per_lane // np.dtype(dtype).itemsize)
    result = patterns.run(kernel, (1, 1, 1), (32, 1, 1), zeros(size, dtype=dtype), zeros(size, dtype=dtype))
    assert result.counters.global_load_bytes == result.counters.global_store_bytes == 32 * bytes_per_lane
    assert result.counters.global_load_sectors == result.counters.global_store_sectors == sectors


def test_lanes_that_do_not_take_part_move_nothing(patterns: Compiled) -> None:
    """Every other lane: half the bytes, but all the sectors."""
    counters = patterns.run("half_the_lanes", (1, 1, 1), (32, 1, 1), zeros(32), zeros(32)).counters
    assert (counters.global_load_bytes, counters.global_load_sectors) == (64, 4)


@pytest.mark.parametrize(
    ("stride", "extra"), [(0, 0), (1, 0), (2, 1), (3, 0), (4, 3), (16, 15), (32, 31), (33, 0)]
)
def test_bank_conflicts_follow_from_the_stride(patterns: Compiled, stride: int, extra: int) -> None:
    """As many passes as lanes meet in one bank on different words; odd strides and broadcasts are free."""
    size = 4 * (31 * stride + 1)
    counters = patterns.run(
        "shared_stride", (2, 1, 1), (32, 1, 1), zeros(32), np.int32(stride), shared=size
    ).counters
    assert counters.shared_bank_conflicts == 2 * 2 * extra
    assert counters.shared_load_bytes == counters.shared_store_bytes == 2 * 128


@pytest.mark.parametrize(
    ("kernel", "dtype", "words", "extra"),
    [
        ("shared_column", "float32", 32, 31),
        ("shared_padded_column", "float32", 32, 0),
        ("shared_vector", "float32", 128, 0),
        ("shared_doubles", "float64", 32, 0),
    ],
)
def test_columns_conflict_unless_padded_and_wide_accesses_go_in_phases(
    patterns: Compiled, kernel: str, dtype: str, words: int, extra: int
) -> None:
    """A column of a tile lies in one bank, a padded one in 32; wide elements side by side are free."""
    counters = patterns.run(kernel, (1, 1, 1), (32, 1, 1), zeros(words, dtype=dtype)).counters
    assert counters.shared_bank_conflicts == extra


def _passes(index: NDArray[np.int64], warps: NDArray[np.intp], size: int) -> int:
    """Extra passes of lanes, one warp and phase after the other, from the words that each bank serves."""
    together, extra = 128 // max(size, 4), 0
    for warp in np.unique(warps):
        lanes = index[warps == warp]
        for first in range(0, len(lanes), together):
            words = {
                (int(lane) + byte) // 4 for lane in lanes[first : first + together] for byte in range(size)
            }
            extra += max(sum(word % 32 == bank for word in words) for bank in range(32)) - 1
    return extra


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_conflicts_of_some_lanes_are_looked_up_by_their_pattern(size: int) -> None:
    """The first bank and the warp are no part of the pattern: a shift by whole words turns the banks."""
    draw = np.random.default_rng(size)
    for _ in range(20):
        warps = np.sort(draw.integers(0, 5, draw.integers(1, 70)))
        warps = warps[np.r_[[True] * min(32, len(warps)), warps[32:] != warps[:-32]]]  # at most 32 of a warp
        index = draw.integers(0, 64, len(warps)) * max(size, 4)
        packed = index - index[0] + (warps - warps[0]) * (1 << 40)
        assert _of_lanes(packed.tobytes(), size) == _passes(index, warps, size)


def test_an_fma_counts_as_two_operations_and_predicated_lanes_count_alone(patterns: Compiled) -> None:
    """A fused multiply-add, a product, a sum and a double sum for all; one difference for 8 of 32."""
    counters = patterns.run(
        "operations", (1, 1, 1), (32, 1, 1), zeros(32), zeros(32, dtype="float64")
    ).counters
    assert counters.flops == 32 * (2 + 1 + 1 + 1) + 8


def test_constant_memory_is_no_global_memory(patterns: Compiled) -> None:
    """It has a cache of its own: only the load from the array counts, 32 lanes of 4 bytes."""
    counters = patterns.run("constants", (1, 1, 1), (32, 1, 1), zeros(32), zeros(32)).counters
    assert (counters.global_load_bytes, counters.global_load_sectors) == (128, 4)


def test_a_request_that_is_partly_to_constant_memory_hides_nothing(patterns: Compiled) -> None:
    """Odd lanes read the array: whatever is made of the others, those 64 bytes are counted."""
    counters = patterns.run("constants_or_not", (1, 1, 1), (32, 1, 1), zeros(32), zeros(32)).counters
    assert counters.global_load_bytes >= 64


def test_barriers_count_per_thread(patterns: Compiled) -> None:
    """Three barriers, two blocks of 48 threads."""
    assert patterns.run("barriers", (2, 1, 1), (48, 1, 1), zeros(48)).counters.barriers == 3 * 96


def test_more_blocks_than_run_side_by_side_count_alike(patterns: Compiled) -> None:
    """Counters grow with the grid, also over many chunks of blocks."""
    args = (zeros(1024), zeros(1024), np.int32(1))
    one, many = (
        patterns.run("global_stride", (blocks, 1, 1), (1024, 1, 1), *args).counters for blocks in (1, 50)
    )
    assert many.global_load_sectors == 50 * one.global_load_sectors
    assert many.instructions == 50 * one.instructions
