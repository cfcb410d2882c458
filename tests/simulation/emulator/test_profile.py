"""Counters per source line: who asks for what, in how many sectors and passes, and where warps part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.model import Argument, Launch, LineCounters
from grader.simulation.emulator import launch as launching
from grader.simulation.emulator.launch import Kernel
from tests.simulation.emulator import nvcc

if TYPE_CHECKING:
    from grader.model import Dim3, Run
    from grader.simulation.ptx import Module

SOURCE = """\
extern "C" __global__ void rows(const float* in, float* out) {
    int t = threadIdx.x;
    out[t] = in[t * 64];  // rows
}
extern "C" __global__ void vectors(const float4* in, float4* out) {
    out[threadIdx.x] = in[threadIdx.x];  // vectors
}
extern "C" __global__ void again(const float* in, float* out, int n) {
    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
        sum += in[k];  // again
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void columns(const float* in, float* out) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];  // fill
    __syncthreads();  // wait
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];  // columns
}
extern "C" __global__ void every_other(const float* in, float* out, int n) {
    int t = threadIdx.x;
    float value = in[t];
    for (int k = 0; k < n; ++k) {
        if (t % 2 == 0)  // parts
            value = sqrtf(value + out[t + 64 * k]) * expf(value);
        else
            value = value / (out[t + 64 * k] + 3.0f) - logf(value);
    }
    out[t] = value;
}
__constant__ float table[8];
extern "C" __global__ void weighted(const float* in, float* out) {
    float sum = 0.0f;
    for (int k = 0; k < 8; ++k)
        sum += table[k] * in[threadIdx.x + k];  // weighted
    out[threadIdx.x] = sum;
}
extern "C" __global__ void counts(const int* in, int* out) {
    atomicAdd(&out[in[threadIdx.x] % 4], 1);  // atomic
}
extern "C" __global__ void bytes(const unsigned char* in, unsigned char* out) {
    out[threadIdx.x] = in[threadIdx.x];  // bytes
}
"""


@pytest.fixture(scope="module")
def module() -> Module:
    """The default build, with lines."""
    return nvcc.compile_one(SOURCE, ("-lineinfo",), name="k.cu")


def profiled(module: Module, kernel: str, grid: Dim3, block: Dim3, *values: Any) -> Run:  # noqa: ANN401
    """A launch on arrays in and out and numbers."""
    names, directions = ("in", "out", "n"), ("in", "inout", "value")
    arguments = tuple(Argument(*each) for each in zip(names, directions, values, strict=False))
    return Kernel(module, kernel, "k.cu", "k.cu").run(
        Launch(grid, block), arguments, detect=False, profile=True
    )


def at(run: Run, mark: str, array: str = "") -> LineCounters:
    """The counters of a marked line."""
    line = nvcc.line_of(SOURCE, f"// {mark}")
    (found,) = [each for each in run.lines if (each.line, each.array) == (line, array)]
    return found


def floats(*shape: int) -> np.ndarray[Any, Any]:
    """Ones."""
    return np.ones(shape, np.float32)


def test_a_strided_load_takes_a_sector_for_each_lane(module: Module) -> None:
    """Two warps, 256 bytes between neighbours: 32 sectors a request; the store needs 4."""
    run = profiled(module, "rows", (1, 1, 1), (64, 1, 1), floats(4096), floats(64))
    load, store = at(run, "rows", "in"), at(run, "rows", "out")
    assert (load.global_load_requests, load.global_load_sectors, load.global_load_bytes) == (2, 64, 256)
    assert load.global_stride == 256
    assert (store.global_store_requests, store.global_store_sectors, store.global_store_bytes) == (2, 8, 256)
    assert store.global_stride == 4


def test_the_elements_of_a_vector_are_one_request(module: Module) -> None:
    """32 lanes of 16 bytes: one request of 16 sectors."""
    run = profiled(module, "vectors", (1, 1, 1), (32, 1, 1), floats(128), floats(128))
    load = at(run, "vectors", "in")
    assert (load.global_load_requests, load.global_load_sectors, load.global_load_bytes) == (1, 16, 512)
    assert (load.global_loads, load.global_loads_distinct) == (128, 128)


@pytest.mark.parametrize("chunk", [1 << 14, 64])
def test_what_threads_of_a_block_load_again_is_counted_by_block(
    module: Module, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    """Three blocks of 64 threads read the same 10 words: 30 different ones, whatever runs side by side."""
    monkeypatch.setattr(launching, "CHUNK_LANES", chunk)
    run = profiled(module, "again", (3, 1, 1), (64, 1, 1), floats(10), floats(192), np.int32(10))
    load = at(run, "again", "in")
    assert (load.global_loads, load.global_loads_distinct) == (1920, 30)
    assert load.global_load_requests == load.global_load_sectors == 60
    assert load.global_stride == 0


def test_bank_conflicts_have_the_stride_that_causes_them(module: Module) -> None:
    """Columns of a tile of 32 x 32: all lanes on one bank, 128 bytes apart; rows have none."""
    run = profiled(module, "columns", (1, 1, 1), (32, 32, 1), floats(1024), floats(1024))
    read, fill = at(run, "columns", "tile"), at(run, "fill", "tile")
    assert (read.shared_requests, read.shared_bank_conflicts, read.shared_stride) == (32, 32 * 31, 128)
    assert (fill.shared_requests, fill.shared_bank_conflicts, fill.shared_stride) == (32, 0, 0)
    assert sum(each.shared_bank_conflicts for each in run.lines) == run.counters.shared_bank_conflicts


def test_threads_at_a_barrier_are_counted_by_line(module: Module) -> None:
    """Each of the 1024 once."""
    run = profiled(module, "columns", (1, 1, 1), (32, 32, 1), floats(1024), floats(1024))
    assert at(run, "wait").barriers == run.counters.barriers == 1024


def test_warps_that_part_are_counted_at_the_branch(module: Module) -> None:
    """Two warps part in each of five turns; the loop's own branch separates no lanes."""
    run = profiled(module, "every_other", (1, 1, 1), (64, 1, 1), floats(64), floats(320), np.int32(5))
    assert at(run, "parts").divergent_branches == 10
    assert at(run, "parts").branches >= 10
    assert sum(each.divergent_branches for each in run.lines) == 10


def test_an_atomic_is_a_store_and_no_redundant_load(module: Module) -> None:
    """To update one word again and again is what it is for."""
    run = profiled(module, "counts", (1, 1, 1), (64, 1, 1), np.arange(64, dtype="i4"), np.zeros(4, "i4"))
    update = at(run, "atomic", "out")
    assert (update.global_loads, update.global_load_requests) == (0, 0)
    assert update.global_store_requests > 0
    assert update.global_atomics == 64


def test_the_elements_of_an_array_of_bytes_are_bytes(module: Module) -> None:
    """Each is loaded once, although four of them make a word."""
    run = profiled(module, "bytes", (2, 1, 1), (64, 1, 1), np.zeros(64, "u1"), np.zeros(64, "u1"))
    load = at(run, "bytes", "in")
    assert (load.global_loads, load.global_loads_distinct) == (128, 128)
    assert at(run, "bytes", "out").global_atomics == 0


def test_constant_memory_is_not_among_what_is_loaded_again(module: Module) -> None:
    """Every thread reads every weight, but only the arrays in global memory are reported."""
    run = profiled(module, "weighted", (1, 1, 1), (64, 1, 1), floats(72), floats(64))
    assert at(run, "weighted", "in").global_loads == 8 * 64
    assert {each.array for each in run.lines} == {"in", "out"}


def test_the_totals_are_those_of_a_run_without_a_profile(module: Module) -> None:
    """Counting by line changes no counter, and without it there are no lines."""
    arrays = (
        Argument("in", "in", floats(1024)),
        Argument("out", "inout", floats(1024)),
    )
    kernel = Kernel(module, "columns", "k.cu", "k.cu")
    launch = Launch((1, 1, 1), (32, 32, 1))
    plain = kernel.run(launch, arrays, detect=False)
    counted = kernel.run(launch, arrays, detect=False, profile=True)
    assert counted.counters == plain.counters
    assert plain.lines == ()
