"""Functions that are timed on a GPU: what a call asks of its device is recorded and not computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.base.errors import OurError
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.kinds.function.recording import recorded
from grader.model import Argument, Submission, Verdict
from grader.running.backends.gpu import GpuBackend
from grader.toolchain.gpu import RaceJudge
from grader.toolchain.gpu.pool import prepare
from grader.toolchain.gpu.replay import ArrayLocation, CopyStep, FillStep, LaunchStep
from grader.toolchain.nvcc import Tools, build_program, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.toolchain.gpu.pretend import GPU, PretendGpu

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Assignment
    from grader.toolchain.gpu.replay import Recordings

YAML = """
id: scale
title: Scale
reference: scaling
submission: {kind: function, function: scale, pointers: device, outputs: poison, seconds: 10,
  emulator_seconds: 5, parameters: {x: 'in float32[N]', y: 'out float32[N]', N: int32}}
timing: {shape: {N: 4096}, baseline: slow}
cases:
  - {id: odd, shape: {N: 55}}
rubric:
  - {id: right, points: 50, check: output}
  - {id: fast, points: 50, check: speedup, baseline: slow, none_below: 1.0, full_at: 1.2}
"""
ORACLE = """
import numpy as np
KINDS = ("random",)
def inputs(kind, shape, rng):
    return {"x": rng.integers(-99, 99, shape["N"]).astype(np.float32)}
def expected(inputs, shape):
    return {"y": (3.0 * inputs["x"].astype(np.float64), np.zeros(shape["N"]))}
"""
KERNELS = """
__constant__ float factor[2];
__device__ int calls;
__global__ void product(const float *x, float *y, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = by * x[i];
}
__global__ void sum(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += factor[1] * x[i];
}
"""
PLAIN = KERNELS + (
    'extern "C" void scale(const float *x, float *y, int n)'
    " { product<<<(n + 127) / 128, 128>>>(x, y, 3, n); }\n"
)
IN_STEPS = (
    KERNELS
    + """
extern "C" void scale(const float *x, float *y, int n) {
    float two[2] = {0, 2}, *mine;
    cudaMalloc(&mine, n * sizeof(float));
    cudaMemset(mine, 0, n * sizeof(float));
    cudaMemcpyToSymbol(factor, two, sizeof two);
    product<<<(n + 63) / 64, 64, 256>>>(x, mine, 1, n);
    cudaMemcpy(y, mine, n * sizeof(float), cudaMemcpyDeviceToDevice);
    sum<<<(n + 63) / 64, 64>>>(x + 1, y + 1, n - 1);
    cudaFree(mine);
}
"""
)
UNFIT = ["managed or pinned", "more than 2000", "more than 256 MiB", "does not return"]
UNFIT_SOURCE = (
    "#include <cstdlib>\n"
    + KERNELS
    + """
extern "C" void scale(const float *x, float *y, int n) {
    float *mine;
    if (n == 0) cudaMallocManaged(&mine, 4);
    if (n == 1) for (int i = 0; i < 2001; i++) product<<<1, 1>>>(x, y, 3, n);
    if (n == 2) cudaMalloc(&mine, 257 << 20);
    if (n == 0 || n == 2) product<<<1, 1>>>(x, mine, 3, 1);
    if (n == 3) exit(3);
}
"""
)
"""A function that does one of these, by its number."""


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    """A function that scales a vector, with a speedup over the staff's `slow.cu`."""
    return written(tmp_path)


def written(folder: Path, **changes: str) -> Assignment:
    """The assignment with other words in its file."""
    text = YAML
    for old, new in changes.items():
        text = text.replace(old, new)
    (folder / "assignments/scale").mkdir(parents=True)
    (folder / "reference/scaling").mkdir(parents=True)
    (folder / "reference/scaling/oracle.py").write_text(ORACLE)
    (folder / "reference/scaling/slow.cu").write_text(PLAIN)
    (folder / "assignments/scale/assignment.yaml").write_text(text)
    return load_assignment(folder / "assignments/scale")


def recordings_of(
    assignment: Assignment, tools: Tools, source: str, number: int = 1000, *, inputs: tuple[float, ...] = (0,)
) -> Recordings:
    """The recordings of a function called with arrays of 1000, `x` full of each of the inputs."""
    built = build_program(tools, Submission("ada", "scale.cu", source.encode(), "0"), assignment.function)
    assert built.ok, built
    sets = [
        (
            Argument("x", "in", np.full(1000, value, np.float32)),
            Argument("y", "out", np.zeros(1000, np.float32)),
            Argument("N", "value", np.int32(number)),
        )
        for value in inputs
    ]
    return recorded(assignment.function, built, tools, sets)


def test_launches_copies_and_fills_are_recorded_with_what_they_name(
    assignment: Assignment, tools: Tools
) -> None:
    """Arguments by their names, whatever the function has of its own by names of the recording's."""
    (recording,) = recordings_of(assignment, tools, IN_STEPS, inputs=(1, 2))
    fill, upload, product, copy, addition = recording.steps
    ((mine, size),) = recording.scratch
    assert size == 4000
    assert fill == FillStep(ArrayLocation(mine), 0, 4000)
    (variable,) = recording.variables
    ((content, raw),) = recording.contents
    assert "factor" in variable
    assert upload == CopyStep(ArrayLocation(variable), ArrayLocation(content), 8)
    assert np.frombuffer(raw, np.float32).tolist() == [0, 2]
    assert isinstance(product, LaunchStep)
    assert (product.launch.grid, product.launch.block) == ((16, 1, 1), (64, 1, 1))
    assert product.launch.shared_bytes == 256
    pointers = [[(at, place) for at, place in places] for _, places in product.parameters]
    assert pointers == [[(0, ArrayLocation("x"))], [(0, ArrayLocation(mine))], [], []]
    assert product.parameters[3][0] == (1000).to_bytes(4, "little")
    assert copy == CopyStep(ArrayLocation("y"), ArrayLocation(mine), 4000)
    assert isinstance(addition, LaunchStep)
    assert addition.parameters[0][1] == ((0, ArrayLocation("x", 4)),)


@pytest.mark.parametrize("reason", UNFIT)
def test_what_cannot_be_recorded_is_not_timed_and_has_a_reason(
    assignment: Assignment, tools: Tools, reason: str
) -> None:
    """It is our limit: no student loses points for it."""
    with pytest.raises(OurError, match=reason):
        recordings_of(assignment, tools, UNFIT_SOURCE, UNFIT.index(reason))


def test_the_staffs_function_is_recorded_before_the_first_submission(
    assignment: Assignment, tools: Tools
) -> None:
    """At the shape that is timed; nothing runs on the GPU for that."""
    pretended = PretendGpu()
    inside = Tools(tools.toolchain, pretended, tools.cache)
    backend = GpuBackend(prepare(inside, (GPU,), RaceJudge.BOTH))
    plan = pipeline.make_plan(assignment, 7, inside, visible_only=False, backend=backend)
    assert plan.timing is not None
    recordings = plan.timing.baseline.launch
    assert isinstance(recordings, tuple)
    ((step,),) = (recording.steps for recording in recordings)
    assert isinstance(step, LaunchStep)
    assert step.launch.grid == (32, 1, 1)
    assert pretended.jobs == []


def test_without_a_gpu_nothing_is_recorded_and_the_item_is_skipped(
    assignment: Assignment, tools: Tools
) -> None:
    """As for kernels."""
    plan = pipeline.make_plan(assignment, 7, tools, visible_only=False)
    grade = pipeline.grade(plan, Submission("ada", "scale.cu", PLAIN.encode(), "0"), tools)
    right, fast = (item.result for item in grade.items)
    assert right.verdict is Verdict.PASS
    assert fast.verdict is Verdict.SKIP
    assert fast.message == "needs a GPU: time is measured there only"


def test_a_baseline_that_is_no_function_is_an_error_of_the_staffs(tmp_path: Path, tools: Tools) -> None:
    """Named with its file."""
    assignment = written(tmp_path)
    (tmp_path / "reference/scaling/slow.cu").write_text(KERNELS)
    inside = Tools(tools.toolchain, PretendGpu(), tools.cache)
    backend = GpuBackend(prepare(inside, (GPU,), RaceJudge.BOTH))
    with pytest.raises(OurError, match=r"the staff's function slow\.cu does not build: no function named"):
        pipeline.make_plan(assignment, 7, inside, visible_only=False, backend=backend)
