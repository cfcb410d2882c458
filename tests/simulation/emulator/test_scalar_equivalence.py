"""The vectorised emulator computes what the scalar one, which is the definition, computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.model import Argument, Launch
from grader.simulation.emulator.launch import run
from grader.simulation.ptx import Module, parse
from tests.simulation.emulator import nvcc, scalar
from tests.simulation.emulator.programs import INTS, THREADS, programs

BLOCKS = 2
REFERENCE = Path(__file__).parents[3] / "reference" / "matmul"
AWKWARD: dict[str, Any] = {
    "int32": [0, 1, -1, -(2**31), 2**31 - 1, 7],
    "int64": [0, 1, -1, -(2**63), 2**63 - 1, 2**31],
    "float32": [
        0.0,
        -0.0,
        1.0,
        np.inf,
        -np.inf,
        np.nan,
        1e-45,
        -1e-40,
        3.4e38,
        16777217.0,
        0.5,
        2147483648.0,
    ],
    "float64": [0.0, -0.0, 1.0, np.inf, np.nan, 5e-324, 1.7e308, 1 + 2.0**-52, 9.3e18, -0.5],
}


def data(seed: int) -> tuple[Argument, ...]:
    """Four buffers, half of their elements awkward ones."""
    rng = np.random.default_rng(seed)
    found = []
    for name, dtype in (("ints", "int32"), ("longs", "int64"), ("floats", "float32"), ("doubles", "float64")):
        size = BLOCKS * THREADS * INTS
        values = rng.integers(-(2**31), 2**31, size) if "int" in dtype else rng.standard_normal(size) * 1000
        values = np.where(rng.random(size) < 0.5, rng.choice(AWKWARD[dtype], size), values)
        found.append(Argument(name, "inout", values.astype(dtype)))
    return tuple(found)


def bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bits of each element; every NaN as the same one."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return array.reshape(-1).view(f"u{array.itemsize}")


def assert_equivalent(module: Module, entry: str, launch: Launch, arguments: tuple[Argument, ...]) -> None:
    """The definition, the interpreter and the native core give the same bits in every array."""
    expected = scalar.run(module, entry, launch, arguments)
    for interpreted in (True, False):
        got = run(module, entry, launch, arguments, detect=False, interpreted=interpreted)
        assert not got.findings
        for name, array in got.outputs:
            differ = np.flatnonzero(bits(array) != bits(expected[name]))
            assert not differ.size, f"{name}: {array.flat[differ[0]]} is not {expected[name].flat[differ[0]]}"


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs(), st.integers(0, 2**16))
def test_random_programs_give_the_same_bits(text: str, seed: int) -> None:
    """Branches, loops, barriers, shuffles, votes, atomics, bits, carries, halves, all types: bit for bit."""
    assert_equivalent(parse(text), "kernel", Launch((BLOCKS, 1, 1), (7, 2, 1)), data(seed))


def matrices(m: int, k: int, n: int) -> tuple[Argument, ...]:
    """The arguments of a matrix product with random operands."""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n)))
    sizes = (Argument(name, "value", np.int32(size)) for name, size in zip("MKN", (m, k, n), strict=True))
    return (
        Argument("A", "in", a),
        Argument("B", "in", b),
        Argument("C", "out", np.full((m, n), np.nan, np.float32)),
        *sizes,
    )


@pytest.mark.parametrize("options", [(), nvcc.HAZARDS], ids=["default", "O0"])
@pytest.mark.parametrize("file", ["solution.cu", "naive.cu", "double_buffered.cu"])
@pytest.mark.parametrize("tile", [4, 16])
def test_kernels_compiled_by_nvcc_give_the_same_bits(file: str, options: tuple[str, ...], tile: int) -> None:
    """Matrix products of 5x7 by 7x3, in several tiles and in one, from both builds."""
    source = (REFERENCE / file).read_text().replace("TILE_SIZE 16", f"TILE_SIZE {tile}")
    module = nvcc.compile_one(source, options)
    (entry,) = nvcc.entries(module)
    launch = Launch((-(-3 // tile), -(-5 // tile), 1), (tile, tile, 1))
    assert_equivalent(module, entry, launch, matrices(5, 7, 3))


def test_the_scalar_one_multiplies_matrices() -> None:
    """The definition itself is right where NumPy can check it: a product of whole numbers is exact."""
    a, b, *rest = matrices(5, 7, 3)
    left, right = (np.rint(np.asarray(argument.value) * 8) for argument in (a, b))
    module = nvcc.compile_one((REFERENCE / "solution.cu").read_text(), ())
    arguments = (Argument("A", "in", left), Argument("B", "in", right), *rest)
    got = scalar.run(module, nvcc.entries(module)[0], Launch((1, 1, 1), (16, 16, 1)), arguments)
    np.testing.assert_array_equal(got["C"], left @ right)
