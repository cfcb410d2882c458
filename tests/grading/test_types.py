"""Assignments in types other than float32: inputs, error bounds and named mistakes follow them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.base.data_files import data_root
from grader.base.precision import BFLOAT16, encoded, numbers, precision_of
from grader.grading.arguments import poison
from grader.grading.assignment import load_assignment
from grader.grading.oracle import load_oracle
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.model.compare import untouched
from grader.running.backends.gpu import GpuBackend
from grader.toolchain.gpu.pool import GpuPool
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.toolchain.gpu.pretend import GPU, PretendGpu

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade

SPEC = """\
id: typed
title: A product in another type
reference: matmul
submission:
  kind: kernel
  kernel: product
  parameters:
    A: in {0}[M, K]
    B: in {0}[K, N]
    C: out {1}[M, N]
    M: int32
    K: int32
    N: int32
    alpha: {0} = 1
  launch: {{block: [8, 8], grid: [ceil(N / 8), ceil(M / 8)]}}
cases:
  - {{id: counted, shape: {{M: 9, K: 21, N: 10}}, inputs: ones-and-twos}}
  - {{id: wide, shape: {{M: 9, K: 21, N: 30}}}}
  - {{id: tall, shape: {{M: 19, K: 12, N: 7}}, inputs: small-integers}}
  - {{id: spikes, shape: {{M: 16, K: 16, N: 16}}, inputs: spikes}}
rubric:
  - {{id: right, points: 1, check: output}}
  - {{id: clean, points: 1, check: memory}}
"""
KERNEL = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void product(const {0}* A, const {0}* B, {1}* C, int M, int K, int N, {0} alpha) {{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    {1} sum = 0;
    for (int k = 0; k < K; ++k) sum += ({1})A[row * K + k] * ({1})(alpha * B[k * N + col]);
    C[row * N + col] = sum;
}}
"""
TYPES = {
    "int32": ("int32", "int", "int32", "int"),
    "int64": ("int64", "long long", "int64", "long long"),
    "uint8 to int32": ("uint8", "unsigned char", "int32", "int"),
    "float64": ("float64", "double", "float64", "double"),
    "float16": ("float16", "__half", "float16", "__half"),
    "float16 to float32": ("float16", "__half", "float32", "float"),
    "bfloat16": ("bfloat16", "__nv_bfloat16", "bfloat16", "__nv_bfloat16"),
    "bfloat16 to float32": ("bfloat16", "__nv_bfloat16", "float32", "float"),
}


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler, with a cache for this module."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


def _graded(folder: Path, tools: Tools, types: str, wrong: tuple[str, str] = ("", "")) -> Grade:
    given, c_given, made, c_made = TYPES[types]
    (folder / "assignment.yaml").write_text(SPEC.format(given, made))
    source = KERNEL.format(c_given, c_made).replace(*wrong)
    plan = pipeline.make_plan(load_assignment(folder), 1, tools, visible_only=False)
    return pipeline.grade(plan, Submission("s", "s.cu", source.encode(), "d"), tools)


@pytest.mark.parametrize("types", TYPES)
def test_a_right_product_passes_in_every_type(types: str, tmp_path: Path, tools: Tools) -> None:
    """With the sum in the output's own type, which has the largest error that is allowed."""
    grade = _graded(tmp_path, tools, types)
    assert [item.result.verdict for item in grade.items] == [Verdict.PASS] * 2, grade.items[0].result.message


@pytest.mark.parametrize("types", [types for types in TYPES if types != "bfloat16"])
def test_a_mistake_has_its_name_in_every_type(types: str, tmp_path: Path, tools: Tools) -> None:
    """A missing term is named as it is for floats; sums in bfloat16 are too coarse for it in most cases."""
    grade = _graded(tmp_path, tools, types, ("k < K", "k < K - 1"))
    assert grade.items[0].result.verdict is Verdict.FAIL
    assert "`C` lacks a term of the sum" in grade.items[0].result.message


def test_on_a_gpu_bfloat16_travels_as_its_bits(tmp_path: Path, tools: Tools) -> None:
    """The harness gets arrays and scalars of bfloat16, and what comes back is read as such."""

    def product(case: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
        scalars = [each for each in case["arguments"] if each["name"] == "alpha"]
        assert [each["bytes"] for each in scalars] == ["803f"]
        exact = numbers(arrays["A"]).astype(np.float64) @ numbers(arrays["B"]).astype(np.float64)
        arrays["C"][...] = encoded(exact, "bfloat16")
        return {"state": "done", "seconds": 1e-5}

    (tmp_path / "assignment.yaml").write_text(SPEC.format("bfloat16", "bfloat16"))
    device = PretendGpu(product)
    on_device = Tools(tools.toolchain, device, tools.cache)
    pool = GpuPool((GPU,), "python3", (("sm_90", b"helpers"),))
    plan = pipeline.make_plan(
        load_assignment(tmp_path), 1, on_device, visible_only=False, backend=GpuBackend(pool)
    )
    source = KERNEL.format("__nv_bfloat16", "__nv_bfloat16").encode()
    grade = pipeline.grade(plan, Submission("s", "s.cu", source, "d"), on_device)
    assert [item.result.verdict for item in grade.items] == [Verdict.PASS] * 2, grade.items[0].result.message
    assert device.jobs


@pytest.mark.parametrize(
    "operation", ["matmul", "vector-add", "reduction", "scan", "transpose", "convolution"]
)
@pytest.mark.parametrize("dtype", ["int32", "int64", "float64", "float16", "bfloat16"])
def test_oracles_give_numbers_that_their_types_hold(operation: str, dtype: str) -> None:
    """All kinds of inputs are what a kernel gets, to the bit, and no expected value overflows."""
    arrays = ("A", "B", "C", "values", "total", "input", "output", "image", "result")
    oracle = load_oracle(data_root() / "reference" / operation, tuple((name, dtype) for name in arrays))
    shape = {"M": 20, "K": 50, "N": 30, "H": 20, "W": 30}
    for kind in oracle.kinds:
        drawn = oracle.inputs(kind, shape, np.random.default_rng(1))
        for array in drawn.values():
            assert np.array_equal(numbers(encoded(array, dtype)), array)
        for values, bound in oracle.expected(drawn, shape).values():
            largest = precision_of({"C": dtype}, "C").largest
            assert np.abs(np.asarray(values, np.float64)).max() <= largest
            assert not np.isnan(bound).any()


def test_bfloat16_is_rounded_to_nearest_even() -> None:
    """Ties go to the even neighbour, infinities and NaN stay what they are."""
    given = np.array([1.0, 1 + 2.0**-8, 1 + 3 * 2.0**-8, -3.14159, 3.4e38, np.inf, np.nan, 1e-40], np.float32)
    bits = encoded(given, "bfloat16").view(np.uint16)
    assert [hex(each) for each in bits] == [
        *("0x3f80", "0x3f80", "0x3f82", "0xc049", "0x7f80", "0x7f80", "0x7fc0", "0x1")
    ]
    assert numbers(encoded(given[:1], "bfloat16")).dtype == np.float32


def test_poison_of_bfloat16_is_a_nan_that_no_arithmetic_makes() -> None:
    """So unwritten elements are distinguished from computed ones."""
    array = np.full((2, 3), poison(BFLOAT16))
    before = array.copy()
    assert np.isnan(numbers(array)).all()
    array[1, 2] = encoded(np.array([np.nan]), "bfloat16")[0]
    assert untouched(array, before).tolist() == [[True] * 3, [True, True, False]]
