"""Values that do not depend on every axis of a launch are held folded, with the same results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.model import Argument, Launch
from grader.simulation.emulator.machine.values import broadcasts, from_shape, over_folds, unfold
from tests.simulation.emulator import nvcc
from tests.simulation.emulator.launching import Compiled, default_build, zeros
from tests.simulation.emulator.test_scalar_equivalence import assert_equivalent

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHAPE = (3, 2, 5)
ROW, COLUMN = np.arange(2.0).reshape(1, 2, 1), np.arange(5.0).reshape(1, 1, 5)
BLOCK = np.arange(3.0).reshape(3, 1, 1)

ALONG_AXES = r"""
extern "C" __global__ void along_axes(const int* A, float* B, unsigned* C) {
    int x = threadIdx.x, y = threadIdx.y, b = blockIdx.x, one = A[0];
    int i = (b * blockDim.y + y) * blockDim.x + x;
    unsigned bits = (x * 2654435761u) ^ (y << 7) ^ (b * 40503u);
    float f = x * 0.37f + y, g = __fmaf_rn(y + 0.1f, x - 2.5f, b), h = sqrtf(x + b) / (y + one);
    for (int k = 0; k < x + y; ++k) { f = f * 1.5f - k; bits += __popc(bits) + (bits >> (k + one)); }
    if (y == one) { g = fminf(g, f); bits = __brev(bits); }
    if (x > 3 && b) { h += g; } else { h -= b; }
    __shared__ float tile[2][7];
    tile[y][x] = f + h;
    __syncthreads();
    B[i] = tile[1 - y][6 - x] + g * tile[0][x] + tile[y][one];
    C[i] = bits + (unsigned)(x == 0 ? -1 : (x * 100) / (y + 1) % x) + __mulhi(bits, x) + abs(b - x);
}
extern "C" __global__ void shared_arrays(const float* A, float* B) {
    int i = threadIdx.x;
    float x = A[i], y = x;
    for (int k = 0; k < 3; ++k) {
        if ((i + k) % 2) x += 1.0f;
        if (k == 1) y = x;
    }
    B[i] = x;
    B[i + 32] = y;
}
"""

ONE_THREAD = r"""
extern "C" __global__ void one_thread(float* A) {
    __shared__ float slot[8];
    for (int k = 0; k < 8; ++k) slot[(blockIdx.x + k) % 8] = k;
    A[blockIdx.x] = slot[0] + 10.0f * slot[(blockIdx.x + 1) % 8];
}
"""

BY_THREAD, BY_DATA = (
    f"""
extern "C" __global__ void walk(const int* A, float* B, int stride) {{
    __shared__ float tile[2048];
    int x = {index};
    for (int k = 0; k < 4; ++k) tile[x * stride + k] = k;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 4; ++k) sum += tile[x * stride + k] + B[x * stride + k * 3];
    B[threadIdx.x] = sum;
}}
"""
    for index in ("threadIdx.x", "A[threadIdx.x]")
)


@pytest.mark.parametrize("blocks", [1, 3])
def test_what_is_computed_along_some_axes_is_the_same_bits(blocks: int) -> None:
    """Integers, floats, predicates, branches and addresses made of thread and block indices."""
    lanes = blocks * 14
    arguments = (
        Argument("A", "in", np.ones(1, np.int32)),
        Argument("B", "out", np.zeros(lanes, np.float32)),
        Argument("C", "out", np.zeros(lanes, np.uint32)),
    )
    module = nvcc.compile_one(ALONG_AXES, ())
    assert_equivalent(module, "along_axes", Launch((blocks, 1, 1), (7, 2, 1)), arguments)


@pytest.mark.parametrize("options", [(), nvcc.HAZARDS], ids=["default", "O0"])
def test_blocks_of_one_thread_have_shared_memory_of_their_own(options: tuple[str, ...]) -> None:
    """Shared memory is separate where an address depends on the block only and a chunk has a block a lane."""
    arguments = (Argument("A", "out", np.zeros(5, np.float32)),)
    module = nvcc.compile_one(ONE_THREAD, options)
    assert_equivalent(module, "one_thread", Launch((5, 1, 1), (1, 1, 1)), arguments)


@pytest.mark.parametrize("in_place", [True, False])
def test_a_write_by_some_lanes_leaves_a_copy_alone(in_place: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    """Registers share arrays; what one of them becomes does not show in another."""
    monkeypatch.setattr("grader.simulation.emulator.machine.machine.UPDATES_IN_PLACE", in_place)
    arguments = (
        Argument("A", "in", np.arange(32, dtype=np.float32)),
        Argument("B", "out", np.zeros(64, np.float32)),
    )
    module = nvcc.compile_one(ALONG_AXES, nvcc.HAZARDS)
    assert_equivalent(module, "shared_arrays", Launch((1, 1, 1), (32, 1, 1)), arguments)


@pytest.fixture(scope="module")
def walks() -> tuple[Compiled, Compiled]:
    """The same accesses, the addresses from thread indices and from memory."""
    return default_build(BY_THREAD), default_build(BY_DATA)


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("threads", [40, 128])
def test_traffic_is_counted_alike_however_an_address_is_held(
    walks: tuple[Compiled, Compiled], stride: int, threads: int
) -> None:
    """Bank conflicts and sectors, for addresses that threads compute and for those that they load."""
    counters = []
    for walk in walks:
        index = np.arange(threads, dtype=np.int32)
        done = walk.run("walk", (2, 1, 1), (threads, 1, 1), index, zeros(4096), np.int32(stride))
        counters.append(done.counters)
    by_thread, by_data = counters
    loaded = 4 * 2 * threads, 2 * -(-4 * threads // 32)
    assert by_thread.shared_bank_conflicts == by_data.shared_bank_conflicts
    assert by_thread.global_load_bytes == by_data.global_load_bytes - loaded[0]
    assert by_thread.global_load_sectors == by_data.global_load_sectors - loaded[1]


def test_unfolding_gives_every_lane_its_own() -> None:
    """Lanes are numbered column by column, row by row, block by block."""
    lanes = unfold(100 * BLOCK + 10 * ROW + COLUMN, SHAPE)
    assert lanes.shape == (30,)
    assert lanes[(2 * 2 + 1) * 5 + 4] == 214
    np.testing.assert_array_equal(unfold(ROW, SHAPE), np.tile(np.repeat([0.0, 1.0], 5), 3))


def test_a_function_of_folded_values_depends_on_their_axes_only() -> None:
    """A ufunc broadcasts; what is written for one length gets one length; all axes together are flat."""

    def of_one_length(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        assert a.shape == b.shape == (10,)
        return a + b

    assert over_folds(np.add, (ROW, COLUMN), SHAPE).shape == (1, 2, 5)
    np.testing.assert_array_equal(over_folds(of_one_length, (ROW, COLUMN), SHAPE), ROW + COLUMN)
    flat = over_folds(np.add, (ROW + COLUMN, BLOCK), SHAPE)
    np.testing.assert_array_equal(flat, (ROW + COLUMN + BLOCK).reshape(-1))
    np.testing.assert_array_equal(over_folds(np.multiply, (flat, ROW), SHAPE), flat * unfold(ROW, SHAPE))


def test_a_function_may_declare_that_it_broadcasts() -> None:
    """Then it gets its operands as they are."""
    seen = []

    @broadcasts
    def shapes(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        seen.append((a.shape, b.shape))
        return a * b

    assert over_folds(shapes, (BLOCK, COLUMN), SHAPE).shape == (3, 1, 5)
    assert seen == [((3, 1, 1), (1, 1, 5))]
    assert from_shape(BLOCK, 30).ndim == 3
