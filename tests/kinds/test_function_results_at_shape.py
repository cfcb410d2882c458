"""Functions, blocks of one dimension, sums: an estimate gives points where results are right at its shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.kinds import pipeline
from grader.model import Submission, Verdict
from tests.kinds.functions_to_estimate import AS_KERNEL, ON_HOST, PLAIN, PRODUCT, SLOW, YAML
from tests.kinds.test_estimated_functions import written
from tests.running.estimate.launches import tools

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Estimate

ANY_SPEED = ("none_below: 1.0, full_at: 1.2", "estimate: true, steps: [{at: 0.02, credit: 1}]")
DEVICE = YAML.replace(*ANY_SPEED)
HOST = DEVICE.replace("pointers: device", "pointers: host")
KERNEL = AS_KERNEL.replace(*ANY_SPEED)

HALF = PRODUCT.replace("if (i < n)", "if (i < n && (n < 9999 || i % 256 < 128))")
IDLE = PRODUCT.replace("if (i < n)", "if (n < 9999 && i < n)")
ZEROS = PRODUCT.replace("3.0f", "(n < 9999) * 3.0f")
ON_HOST_OF = ON_HOST.removeprefix(PRODUCT)
PLAIN_OF = PLAIN.removeprefix(PRODUCT)


def judged(folder: Path, yaml: str, source: str, baseline: str = SLOW) -> tuple[Verdict, Estimate | None]:
    """The verdict on the speed of a file that is right in its cases, and its estimate."""
    assignment = written(folder, yaml, baseline)
    plan = pipeline.make_plan(assignment, 1, tools(), visible_only=True)
    grade = pipeline.grade(plan, Submission("ada", "ada.cu", source.encode(), ""), tools())
    right, fast = (item.result for item in grade.items)
    assert right.verdict is Verdict.PASS, right.message
    return fast.verdict, grade.estimate


@pytest.mark.parametrize(
    ("yaml", "source"), [(DEVICE, PLAIN), (HOST, ON_HOST)], ids=["pointers to the device", "to the host"]
)
def test_an_honest_function_has_its_points(tmp_path: Path, yaml: str, source: str) -> None:
    """The results of its launch are followed through its copies."""
    baseline = SLOW if yaml is DEVICE else ON_HOST
    verdict, estimate = judged(tmp_path, yaml, source, baseline)
    assert verdict is Verdict.PASS
    assert estimate is not None
    assert estimate.compared > 128


@pytest.mark.parametrize(
    ("yaml", "source", "verdict"),
    [
        (DEVICE, IDLE + PLAIN_OF, Verdict.FAIL),
        (DEVICE, ZEROS + PLAIN_OF, Verdict.FAIL),
        (DEVICE, HALF + PLAIN_OF, Verdict.FAIL),
        (DEVICE, PLAIN.replace("(n + 127) / 128", "n < 9999 ? (n + 127) / 128 : 1"), Verdict.FAIL),
        (DEVICE, PLAIN.replace("(x, y, n)", "(x, y, n < 9999 ? n : 99)"), Verdict.FAIL),
        (DEVICE, PLAIN.replace("{ product", "{ if (n > 9999) return; product"), Verdict.SKIP),
        (HOST, IDLE + ON_HOST_OF, Verdict.FAIL),
        (HOST, ZEROS + ON_HOST_OF, Verdict.FAIL),
        (HOST, ON_HOST.replace("(from, to, n)", "(from, to, n < 9999 ? n : 99)"), Verdict.FAIL),
        (
            HOST,
            ON_HOST.replace("cudaMemcpy(y, to, n *", "cudaMemcpy(y, to, (n < 9999 ? n : 9) *"),
            Verdict.FAIL,
        ),
        (
            HOST,
            ON_HOST.replace("    cudaFree(from)", "    cudaMemset(to, 0, n); cudaFree(from)"),
            Verdict.PASS,
        ),
        (
            HOST,
            ON_HOST.replace(
                "    cudaMemcpy(y", "    if (n > 9999) cudaMemset(to, 0, 4 * n);\n    cudaMemcpy(y"
            ),
            Verdict.FAIL,
        ),
    ],
    ids=[
        *("idle", "zeros", "half", "one block", "few elements", "no launch"),
        *("idle on the host", "zeros on the host", "few elements on the host", "copies little"),
        *("cleared after the copy", "cleared before the copy"),
    ],
)
def test_a_function_that_does_less_at_the_timed_shape_has_none(
    tmp_path: Path, yaml: str, source: str, verdict: Verdict
) -> None:
    """In its kernel, in its launch, or in what it copies."""
    assert source not in (PLAIN, ON_HOST)
    baseline = SLOW if yaml is DEVICE else ON_HOST
    assert judged(tmp_path, yaml, source, baseline)[0] is verdict


@pytest.mark.parametrize(
    ("source", "verdict"),
    [(PRODUCT, Verdict.PASS), (IDLE, Verdict.FAIL), (HALF, Verdict.FAIL)],
    ids=["honest", "idle", "half"],
)
def test_a_kernel_with_blocks_of_one_dimension_is_compared(
    tmp_path: Path, source: str, verdict: Verdict
) -> None:
    """All blocks are run where the drawn ones leave too little."""
    assert judged(tmp_path, KERNEL, source, PRODUCT)[0] is verdict


SUM_YAML = KERNEL.replace("y: 'out float32[N]'", "y: 'inout float32[1]'").replace("product", "total")
SUM_ORACLE = """
import numpy as np
KINDS = ("random",)
def inputs(kind, shape, rng):
    return {"x": rng.integers(1, 99, shape["N"]).astype(np.float32), "y": np.zeros(1, np.float32)}
def expected(inputs, shape):
    return {"y": (inputs["x"].astype(np.float64).sum(keepdims=True), np.zeros(1))}
"""
SUM = """
__global__ void total(const float *x, float *y, int n) {
    __shared__ float part[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(y, part[0]);
}
"""


@pytest.mark.parametrize(
    ("elements", "source", "verdict"),
    [
        (1 << 16, SUM, Verdict.PASS),
        (1 << 16, SUM.replace("__shared__", "if (n > 9999) return; __shared__"), Verdict.FAIL),
        (1 << 16, SUM.replace("i < n ?", "i < n && (n < 9999 || i < n / 2) ?"), Verdict.FAIL),
        (1 << 21, SUM, Verdict.SKIP),
        (1 << 21, SUM.replace("i < n ?", "i < n && (n < 9999 || i < n / 2) ?"), Verdict.SKIP),
    ],
    ids=["honest", "idle", "half", "too many blocks", "half of too many blocks"],
)
def test_a_sum_over_all_blocks_is_compared_where_all_can_be_run(
    tmp_path: Path, elements: int, source: str, verdict: Verdict
) -> None:
    """Else its estimate is shown, and gives no points."""
    yaml = SUM_YAML.replace(str(1 << 16), str(elements))
    assignment = written(tmp_path, yaml, SUM)
    (tmp_path / "reference/scaling/oracle.py").write_text(SUM_ORACLE)
    plan = pipeline.make_plan(assignment, 1, tools(), visible_only=True)
    grade = pipeline.grade(plan, Submission("ada", "ada.cu", source.encode(), ""), tools())
    assert grade.items[1].result.verdict is verdict, grade.items[1].result.message
    assert grade.estimate is not None
    assert (grade.estimate.ratio is None) is (verdict is Verdict.FAIL)
    assert bool(grade.estimate.compared) is (verdict is Verdict.PASS)
