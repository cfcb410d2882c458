"""Machine code of each architecture does to memory what the PTX emulator does: courses' kernels, intrinsics.

Floats may differ where ptxas makes one instruction of a product and a sum (PTX ISA, section 9.7.3).
"""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.model import Argument
from grader.simulation.sass.listing import UnknownCodeError
from tests.simulation.emulator.collection import EXAMPLES, source
from tests.simulation.emulator.nvcc import ptx
from tests.simulation.emulator.test_intrinsics import FILES, HEADERS, THREADS, _needs
from tests.simulation.sass.joined_sources import entries_of, parsed, together
from tests.simulation.sass.running import ARCHITECTURES, Case, differences, run_code, run_ptx, unlike

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulation.emulator.examples import Example
    from tests.simulation.emulator.intrinsics.tables import Table

UNKNOWN = {
    "choices": "BRX",
    "prints_and_asserts": "LEPC",
    "device_heap": "LEPC",
    "function_pointers": "CALL",
    "virtual_shapes": "CALL",
    "groups_reduce": "R2UR|WARPSYNC.EXCLUSIVE",  # votes of tiles, which take turns
    "matmul_wmma": "MOVM",
    "matmul_mma": "LDSM",
    "matmul_int8": "MMA",
}
"""Kernels of the library that end in the name of an instruction that is not interpreted."""
READ = {("groups_reduce", 75)}
"""Those of them that are run all the same, by architecture."""
NEEDS = {"dot_bytes": 80, "monte_carlo_pi": 80, "spin_lock": 80, "matmul_mma": 80, "matrix_vector_bfloat": 80}
"""Kernels that use what older devices do not have."""
WITHIN = {"halves": 4e-3, "matmul_half2": 4e-3, "matrix_vector_bfloat": 2e-2}
"""Largest differences of kernels with halves: a product is rounded or is not."""
AMBIGUOUS = {("float_to_f16", 75): "__float2half_rz(a)"}
"""Functions whose roundings nvdisasm prints alike on a device: which one it is cannot be read."""
PRECISION = {"f32": 1e-6, "f64": 1e-14, "f16": 2e-3, "f16x2": 2e-3}
FLOATS = {"f32": "f4", "f64": "f8", "f16": "f2", "f16x2": "f2"}


def options(architecture: int) -> tuple[str, ...]:
    """The options with which nvcc makes the PTX for an architecture."""
    return (f"-arch=compute_{75 if architecture == 75 else 90 if architecture == 90 else 80}",)


SMALL = """
__device__ __noinline__ float root(float x, int n) { return n ? root(x, n - 1) / (x + n) : sqrtf(x); }

extern "C" __global__ void small(const float* in, const int* order, float* out, int* counts, int n) {
    __shared__ float tile[64];
    __shared__ int bins[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    if (t < 8) bins[t] = 0;
    tile[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < t % 7; ++k) sum += tile[(t * 5 + k) % 64] * expf(-float(k));
    if (t & 1) sum = root(fabsf(sum) + 1.0f, t % 5);
    for (int by = 16; by; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
    atomicAdd(&bins[order[i] & 7], i % 3 + 1);
    __syncthreads();
    if (t < 8) atomicAdd(&counts[t], bins[t]);
    double wide = double(sum) / (1.0 + order[i] / 3);
    if (i < n) out[i] = float(wide) + (long long)order[i] * n / 7;
}
"""


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_kernel_with_a_bit_of_everything_does_the_same(architecture: int) -> None:
    """Divergence, loops, calls, shared and atomic memory, shuffles, doubles, divisions."""
    draw = np.random.default_rng(5)
    values = draw.uniform(-2, 2, 192).astype("f4")
    order = draw.integers(-1000, 1000, 192).astype("i4")
    arguments = (values, order, np.zeros(192, "f4"), np.zeros(8, "i4"), np.int32(180))
    case = Case(ptx(SMALL, options(architecture)), "small", (3, 1, 1), (64, 1, 1), arguments)
    assert differences(case, architecture) == {}


@cache
def library(architecture: int) -> str:
    """The PTX of all kernels of the library that a device has what they use for."""
    names = [make.__name__ for make in EXAMPLES if architecture >= NEEDS.get(make.__name__, 0)]
    return ptx(together({name: source(name) for name in names}), options(architecture))


def library_case(name: str, example: Example, architecture: int) -> Case:
    """A kernel of the library with the launch that goes with it."""
    text = library(architecture)
    (entry,) = entries_of(name, parsed(text))
    arguments = []
    for place, value in enumerate(example.arguments):
        direction = "in" if isinstance(value, np.ndarray) else "value"
        if place in example.out:
            direction = "inout" if place in example.updated else "out"
        arguments.append(Argument(f"a{place}", direction, value))
    return Case(text, entry, example.grid, example.block, tuple(arguments), example.shared)


@pytest.mark.slow
@pytest.mark.parametrize("make", EXAMPLES, ids=lambda make: make.__name__)
def test_a_course_kernel_does_the_same(make: Callable[[], Example]) -> None:
    """On each architecture that has what it uses; or it ends in the name of what is not interpreted."""
    name = make.__name__
    for architecture in ARCHITECTURES:
        if architecture < NEEDS.get(name, 0):
            continue
        example = make()
        case = library_case(name, example, architecture)
        if name in UNKNOWN and (name, architecture) not in READ:
            with pytest.raises(UnknownCodeError, match=UNKNOWN[name]):
                run_code(case, architecture)
            continue
        got, wanted = run_code(case, architecture).arrays, run_ptx(case)
        for place in example.out:
            one, other = got[f"a{place}"], wanted[f"a{place}"]
            if place in example.unordered:
                one, other = np.sort(one, axis=None), np.sort(other, axis=None)
            wrong = unlike(one, other, max(example.within, WITHIN.get(name, 1e-5)))
            assert not wrong, f"sm_{architecture}: {wrong} elements of output {place} differ"


@cache
def tables(file: str, architecture: int) -> str:
    """The PTX of all tables of a file that a device has what they are about for."""
    sources = (table.source() for table in FILES[file].TABLES if architecture >= _needs(table))
    return ptx((HEADERS if file == "halves" else "") + "\n".join(sources), options(architecture))


TABLES = [(file, table) for file, module in FILES.items() for table in module.TABLES]


@pytest.mark.slow
@pytest.mark.parametrize(("file", "table"), TABLES, ids=[table.name for _, table in TABLES])
def test_an_intrinsic_gives_the_same(file: str, table: Table) -> None:
    """For edges of its types, on each architecture."""
    for architecture in ARCHITECTURES:
        if architecture < _needs(table):
            continue
        text = tables(file, architecture)
        operands = [Argument(x, "in", column) for x, column in zip("abc", table.columns, strict=False)]
        count = Argument("n", "value", np.int32(table.count))
        arguments = (count, *operands, Argument("out", "out", table.empty()))
        case = Case(text, table.name, (-(-table.count // THREADS), 1, 1), (THREADS, 1, 1), arguments)
        got, wanted = run_code(case, architecture).arrays["out"], run_ptx(case)["out"]
        kind = FLOATS.get(table.result, got.dtype.str)
        within = max(4 * table.within, PRECISION.get(table.result, 0))
        rows = zip(
            table.entries,
            *(array.reshape(len(table.entries), -1).view(kind) for array in (got, wanted)),
            strict=True,
        )
        wrong = [expression for expression, one, other in rows if unlike(one, other, within)]
        unreadable = AMBIGUOUS.get((table.name, architecture))
        assert wrong == ([unreadable] if unreadable else []), f"sm_{architecture}: {wrong}"


MATMULS = sorted((Path(__file__).parents[2] / "kernels" / "correct").glob("*.cu"))
SHAPE = {"M": 37, "K": 50, "N": 70}
TILES = {"tile_4": 4}
"""Tiles whose size is not written as a number."""
ROWS = {"coarsened_rows": 4}
"""Rows of results for each thread, where it has several."""


@cache
def matmuls(architecture: int) -> str:
    """The PTX of all files."""
    texts = {file.stem: file.read_bytes().decode("utf-8-sig", errors="replace") for file in MATMULS}
    return ptx(together(texts), options(architecture))


@pytest.mark.slow
@pytest.mark.parametrize("file", MATMULS, ids=lambda file: file.stem)
def test_a_right_product_of_matrices_is_the_same(file: Path) -> None:
    """Each file of the labelled ones, at a shape that no tile divides."""
    m, k, n = SHAPE.values()
    draw = np.random.default_rng(3)
    a, b = draw.random((m, k), np.float32), draw.random((k, n), np.float32)
    arguments = (a, b, np.zeros((m, n), "f4"), *map(np.int32, SHAPE.values()))
    text = file.read_bytes().decode("utf-8-sig", errors="replace")
    tiles = re.search(r"TILE\w*\s*=?\s*(\d+)", text)
    tile, rows = TILES.get(file.stem, int(tiles[1]) if tiles else 16), ROWS.get(file.stem, 1)
    grid = (-(-n // tile), -(-m // (tile * rows)), 1)
    for architecture in ARCHITECTURES:
        made = matmuls(architecture)
        names = [
            name for name in entries_of(file.stem, parsed(made)) if re.search(r"tiledMatMul(?!\w*Old)", name)
        ]
        case = Case(made, names[0], grid, (tile, tile, 1), arguments)
        assert differences(case, architecture, within=1e-4) == {}


SMALL_SHAPE = dict.fromkeys("WHMN", 128) | {"n": 4096, "K": 64}


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_kernel_whose_speed_is_estimated_does_the_same(architecture: int) -> None:
    """All of them, at a small shape."""
    kernels = importlib.import_module("tests.bench.estimate.corpus")
    inputs = importlib.import_module("tests.bench.estimate.inputs")
    every = (*kernels.CORPUS, *kernels.CALIBRATION)
    files = {file: f"k{number}" for number, file in enumerate(dict.fromkeys(k.file for k in every))}
    sources = {name: (kernels.ROOT / file).read_text("utf-8") for file, name in files.items()}
    text = ptx(together(sources), options(architecture))
    wrong = {}
    for kernel in every:
        shape = {name: SMALL_SHAPE.get(name, 64) for name in kernel.shapes[0]}
        entry = next(name for name in entries_of(files[kernel.file], parsed(text)) if kernel.entry in name)
        arrays = inputs.arrays_of(kernel, shape)
        arguments = tuple(
            Argument(p.name, "inout", arrays[p.name])
            if isinstance(p, kernels.Array)
            else Argument(p.name, "value", inputs.number_of(p, shape))
            for p in kernel.parameters
        )
        case = Case(text, entry, kernel.grid_of(shape), kernel.block, arguments, kernel.shared)
        if bad := differences(case, architecture, within=1e-4):
            wrong[kernel.name] = bad
    assert wrong == {}
