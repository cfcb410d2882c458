"""Arrays in `__constant__` and `__device__` variables of a student's file, filled and read by the grader."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.base.arithmetic import Name
from grader.base.errors import PtxSyntaxError, SpecError
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Argument, KernelInterface, Launch, Parameter, Submission, Verdict
from grader.reports import text
from grader.running.backends.emulator import EMULATOR
from grader.running.backends.gpu import GpuBackend
from grader.simulation.emulator.launch import Kernel
from grader.simulation.ptx import parse
from grader.simulation.ptx.parser import module_variables, symbol_called
from grader.toolchain.gpu.pool import GpuPool
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.nvcc.launch import missing_variable
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.toolchain.gpu.pretend import GPU, PretendGpu

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade

SPEC = """\
id: filter
title: A filter in constant memory
reference: filter
submission:
  kind: kernel
  kernel: apply
  parameters: {N: int32}
  symbols:
    weights: in float32[R]
    bias: float32 = 0.5
    x: in float32[N]
    y: out float32[N]
    calls: inout int32[1]
  launch: {block: [32], grid: [ceil(N / 32)]}
cases:
  - {id: short, shape: {N: 20, R: 3}}
  - {id: long, shape: {N: 150, R: 5}}
rubric:
  - {id: compiles, points: 1, check: compile}
  - {id: right, points: 1, check: output, needs: [compiles]}
  - {id: races, points: 1, check: races, needs: [compiles]}
  - {id: memory, points: 1, check: memory, needs: [compiles]}
"""
ORACLE = """
import numpy as np

KINDS = ("random",)


def inputs(kind, shape, rng):
    x, weights = rng.integers(-9, 10, shape["N"]), rng.integers(1, 5, shape["R"])
    given = {"x": x.astype(np.float32), "weights": weights.astype(np.float32)}
    return given | {"calls": np.full(1, 7, np.int32)}


def expected(inputs, shape):
    n, x, w = shape["N"], inputs["x"].astype(float), inputs["weights"].astype(float)
    y = np.array([sum(w[k] * x[(i + k) % n] for k in range(3)) for i in range(n)]) + 0.5
    return {"y": (y, np.zeros(n)), "calls": (np.array([7 + n]), np.zeros(1))}
"""
KERNEL = """
namespace course { __constant__ float weights[5]; }
static __constant__ float bias;
__device__ float x[200];
__device__ float y[200];
__device__ int calls;
__global__ void apply(int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float sum = bias;
    for (int k = 0; k < 3; ++k) sum += course::weights[k] * x[(i + k) % N];
    y[i] = sum;
    atomicAdd(&calls, 1);
}
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the assignment and its oracle."""
    root = tmp_path_factory.mktemp("course")
    write(root, SPEC)
    return root


def write(root: Path, spec: str) -> Path:
    """The assignment and its oracle as in a course's folder; gives the assignment's."""
    for folder, name, content in (
        ("assignments", "assignment.yaml", spec),
        ("reference", "oracle.py", ORACLE),
    ):
        (root / folder / "filter").mkdir(parents=True)
        (root / folder / "filter" / name).write_text(content)
    return root / "assignments" / "filter"


def _graded(course: Path, source: str, device: PretendGpu | None = None) -> Grade:
    tools = Tools(find_toolchain(), device or LocalSandbox(), shared_builds())
    pool = GpuPool((GPU,), "python3", (("sm_90", b"helpers"),))
    assignment = load_assignment(course / "assignments/filter")
    plan = pipeline.make_plan(
        assignment, 1, tools, visible_only=False, backend=GpuBackend(pool) if device else EMULATOR
    )
    return pipeline.grade(plan, Submission("s", "s.cu", source.encode(), "d"), tools)


def _verdicts(grade: Grade) -> list[Verdict]:
    return [item.result.verdict for item in grade.items]


def test_variables_are_filled_before_each_launch_and_read_after_it(course: Path) -> None:
    """Constants, globals, a scalar and a counter; in namespaces, static, and larger than needed."""
    grade = _graded(course, KERNEL)
    assert _verdicts(grade) == [Verdict.PASS] * 4, [item.result.message for item in grade.items]


@pytest.mark.parametrize(
    ("right", "wrong", "item", "words"),
    [
        ("weights[k]", "weights[2 - k]", 1, "`y[0]` should be"),
        ("y[i] = sum;", "if (i) y[i] = sum;", 1, "`y[0]` should be"),
        ("y[i] = sum;", "y[i / 2] = sum;", 2, "y[0]"),
        ("x[(i + k) % N]", "x[i + k + 190]", 3, "x[200]"),
        ("atomicAdd(&calls, 1)", "calls += 1", 2, "calls"),
    ],
)
def test_mistakes_are_reported_by_the_names_of_the_variables(
    right: str, wrong: str, item: int, words: str, course: Path
) -> None:
    """Wrong and missing values, a race, and an access beyond the end of the variable."""
    grade = _graded(course, KERNEL.replace(right, wrong))
    result = grade.items[item].result
    assert result.verdict is Verdict.FAIL
    assert words in result.message


@pytest.mark.parametrize(
    ("right", "wrong", "item", "message"),
    [
        (
            "weights",
            "w",
            0,
            "there is no variable `weights` in device memory; expected `__constant__` or `__device__ float",
        ),
        (
            "__device__ float x[200]",
            "__device__ float x[100]",
            1,
            "`x` has room for 100 elements of float, and 150 are needed",
        ),
    ],
)
def test_a_variable_that_is_missing_or_too_small_is_reported(
    right: str, wrong: str, item: int, message: str, course: Path
) -> None:
    """The message names what was expected, and how much is needed."""
    result = _graded(course, KERNEL.replace(right, wrong)).items[item].result
    assert result.verdict is Verdict.FAIL
    assert message in result.message + "".join(finding.message for finding in result.findings)


def test_an_output_in_constant_memory_is_reported() -> None:
    """A kernel cannot write there."""
    interface = KernelInterface(
        "k", (), (), (), (), symbols=(Parameter("y", "out", "float32", (Name("N"),)),)
    )
    lacking = missing_variable(interface, ".visible .const .align 4 .b8 y[800];\n")
    assert lacking is not None
    assert lacking.message == (
        "`y` is `__constant__`, which a kernel cannot write to; expected `__device__ float y[N]`"
    )


def test_a_size_of_a_hidden_case_is_not_reported(tmp_path: Path) -> None:
    """That a variable is too small for one shows no number of it."""
    spec = SPEC.replace("{N: 150, R: 5}}", "{N: 150, R: 5}, visibility: hidden}")
    write(tmp_path, spec)
    grade = _graded(tmp_path, KERNEL.replace("x[200]", "x[100]"))
    assert grade.items[1].result.verdict is Verdict.FAIL
    assert "150" not in text.render(grade).plain


def test_the_emulator_does_not_rely_on_what_the_build_read() -> None:
    """The launch is refused, with a finding, if the emulator's own parser finds no such variable."""
    ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"
    argument = Argument("y", "out", np.zeros(3, np.float32), is_parameter=False, symbol="y")
    run = Kernel(parse(ptx), "k").run(Launch((1, 1, 1), (1, 1, 1)), (argument,), detect=True)
    assert not run.launched
    assert [finding.message for finding in run.findings] == [
        "`y` is no variable in device memory that holds what is put into it"
    ]


def test_a_size_without_end_is_no_variable() -> None:
    """Assembly of a student's may hold anything."""
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    with pytest.raises(PtxSyntaxError, match="a number of 9,000 digits"):
        module_variables(f"{head}.global .b8 y[{'9' * 9000}];\n")
    assert symbol_called("y", ("_Z" + "9" * 9000 + "y",)) is None


def test_on_a_gpu_each_build_gets_the_names_of_its_variables(course: Path) -> None:
    """The cubins have mangled names, and what comes back is compared as any output is."""

    def filtered(case: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
        assert [each.get("symbol", "") for each in case["arguments"]] == [
            "",
            "weights",
            "bias",
            "x",
            "y",
            "calls",
        ]
        assert arrays["bias"].tolist() == [0.5]
        n, x, w = len(arrays["x"]), arrays["x"], arrays["weights"]
        arrays["y"][...] = [sum(w[k] * x[(i + k) % n] for k in range(3)) + 0.5 for i in range(n)]
        arrays["calls"] += n
        return {"state": "done", "seconds": 1e-5}

    device = PretendGpu(filtered)
    assert _verdicts(_graded(course, KERNEL, device)) == [Verdict.PASS] * 4
    (kernel,) = json.loads(dict(device.jobs[0].files)["request.json"])["kernels"].values()
    assert kernel["symbols"]["weights"] == "_ZN6course7weightsE"
    assert set(kernel["symbols"]) == {"weights", "bias", "x", "y", "calls"}


def test_a_global_variable_comes_before_others_of_its_name() -> None:
    """Else the first one of that name is meant."""
    names = ("_ZN2ns1FE", "F", "_ZN43_INTERNAL_33b7aa8f_12_histogram_cu_9a67759b1GE", "_ZN2ns1HE")
    assert [symbol_called(name, names) for name in "FGHI"] == ["F", names[2], names[3], None]


def test_the_sizes_of_variables_are_read_from_the_text() -> None:
    """Elements of any type, with and without extents; shared variables and functions are none."""
    ptx = (
        ".global .align 4 .b8 A[256];\n.visible .const .align 8 .f64 F[3][5];\n.global .u32 n = 3;\n"
        ".weak .global .attribute(.managed) .align 4 .b8 M[12];\n.shared .align 4 .b8 s[64];\n"
    )
    found = {name: (each.space, each.size) for name, each in module_variables(ptx).items()}
    assert found == {"A": ("global", 256), "F": ("const", 120), "n": ("global", 4), "M": ("global", 12)}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "    weights: in float32[R]",
            "    N: in float32[R]",
            "symbols.N: expected a name of its own; `N` is",
        ),
        ("    bias: float32 = 0.5", "    bias: dim3 = N", "symbols.bias: expected an array or a number"),
        (
            "    x: in float32[N]",
            "    x: in float32[Q]",
            "symbols.x: `Q` is neither a dimension of the cases",
        ),
        (
            "rubric:",
            "timing: {shape: {N: 9, R: 3}}\nrubric:",
            "timing: launches are not timed where variables",
        ),
    ],
)
def test_symbols_that_make_no_sense_are_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    """As all of an assignment, with the place in the file."""
    (tmp_path / "assignment.yaml").write_text(SPEC.replace(old, new))
    with pytest.raises(SpecError) as caught:
        load_assignment(tmp_path)
    assert message in str(caught.value)
