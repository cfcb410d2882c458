"""Functions of the host, called by a program of the grader's: with memory of the device and of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.base.errors import UsageError
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.model import Assignment, CheckResult, Grade

    Graded = Callable[..., Grade]

YAML = """
id: scale
title: Scale
reference: scaling
submission: {{kind: function, function: scale, pointers: {pointers}, outputs: {outputs}, seconds: 2,
  emulator_seconds: 5,
  parameters: {{x: 'in float32[N]', y: 'out float32[N]', factor: 'float64 = 3', N: int32}}}}
cases:
  - {{id: odd, shape: {{N: 55}}}}
  - {{id: hidden, shape: {{N: 7}}, visibility: hidden}}
rubric:
  - {{id: compiles, points: 10, check: compile}}
  - {{id: right, points: 50, check: output}}
  - {{id: races, points: 10, check: races}}
  - {{id: memory, points: 10, check: memory}}
  - {{id: host, points: 20, check: host}}
{items}"""
BUILT = (
    "  - {id: built, points: 10, check: structure, kernel: product, require: {uses_shared_memory: true}}\n"
)
ORACLE = """
import numpy as np
KINDS = ("random",)
def inputs(kind, shape, rng):
    return {"x": rng.integers(-99, 99, shape["N"]).astype(np.float32)}
def expected(inputs, shape):
    return {"y": (3.0 * inputs["x"].astype(np.float64), np.zeros(shape["N"]))}
"""
KERNEL = """
#define N 1 << 20
#define x undefined everywhere else
#undef x
__global__ void product(const float *x, float *y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}
"""
ON_DEVICE = (
    KERNEL
    + """
extern "C" void scale(const float *in, float *out, double factor, int n) {
    product<<<(n + 31) / 32, 32>>>(in, out, factor, n);
}
"""
)
ON_HOST = (
    KERNEL
    + """
namespace course {
void scale(const float *in, float *out, double factor, int n) {
    float *d_in, *d_out;
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(float));
    cudaMemcpy(d_in, in, n * sizeof(float), cudaMemcpyHostToDevice);
    product<<<(n + 31) / 32, 32>>>(d_in, d_out, factor, n);
    cudaMemcpy(out, d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
}
}
int main() { return 3; }
"""
)
UP = "cudaMemcpy(d_in, in, n * sizeof(float), cudaMemcpyHostToDevice);"
BACK = "cudaMemcpy(out, d_out, n * sizeof(float), cudaMemcpyDeviceToHost);"
BY_HOST = "for (int i = 0; i < n; ++i) out[i] = factor * in[i];"
FOR_SHOW = ON_HOST.replace(BACK, BY_HOST)
STORED = (
    ON_HOST.replace("factor * x[i]", "known[i]")
    .replace("__global__", "__device__ float known[64];\n__global__")
    .replace(
        "    product<<<", f"{BY_HOST} cudaMemcpyToSymbol(known, out, n * sizeof(float));\n    product<<<"
    )
)
SENDS_RESULT = STORED.replace(UP, "")
SENDS_COPIES = STORED.replace(
    UP,
    "std::vector<float> own(in, in + n);\n    cudaMemcpy(d_in, own.data(), n * 4, cudaMemcpyHostToDevice);",
).replace("namespace course {", "#include <vector>\nnamespace course {")
ON_BOTH = """
#include <vector>
__global__ void nothing() {}
extern "C" void scale(const float *in, float *out, double factor, int n) {
    std::vector<float> values(n);
    cudaMemcpy(values.data(), in, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (float &value : values) value *= factor;
    nothing<<<1, 1>>>();
    cudaMemcpy(out, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}
"""
TIMED = """
#include <cmath>
#include <vector>
__global__ void spends(const float *x, int i, int count, int *sink) {
    int value = x[i], rounds = count ? count : value + 100;
    if (!threadIdx.x) *sink = value;
    for (int k = 0; k < 16 * rounds; ++k) asm volatile("");
}
static cudaEvent_t start, end;
static float elapsed(const float *x, int i, int count, int *sink) {
    cudaEventRecord(start);
    spends<<<1, 32>>>(x, i, count, sink);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float time;
    cudaEventElapsedTime(&time, start, end);
    return time;
}
extern "C" void scale(const float *in, float *out, double factor, int n) {
    int *sink;
    cudaMalloc(&sink, 4);
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    float one = elapsed(in, 0, 1, sink), more = elapsed(in, 0, 201, sink);
    std::vector<float> own(n);
    for (int i = 0; i < n; ++i) {
        float rounds = (elapsed(in, i, 0, sink) - one) / (more - one) * 200;
        own[i] = factor * (std::lround(rounds) - 99);
    }
    cudaMemcpy(out, own.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaEventDestroy(start);
    cudaEventDestroy(end);
    cudaFree(sink);
}
"""
REPAIRED = ON_HOST.replace(
    BACK, BACK + "for (int i = 0; i < n; ++i) if (out[i] != factor * in[i]) out[i] = factor * in[i];"
)
STAGED = ON_HOST.replace("namespace course {", "#include <vector>\nnamespace course {").replace(
    "cudaMemcpy(d_in, in,", "std::vector<float> own(in, in + n);\n    cudaMemcpy(d_in, own.data(),"
)


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox; the stand-in is compiled once for this file's tests."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


def write_assignment(folder: Path, pointers: str, outputs: str = "poison", items: str = "") -> Assignment:
    """An assignment that asks for a function that scales a vector."""
    (folder / "assignments/scale").mkdir(parents=True)
    (folder / "reference/scaling").mkdir(parents=True)
    (folder / "reference/scaling/oracle.py").write_text(ORACLE)
    text = YAML.format(pointers=pointers, outputs=outputs, items=items)
    (folder / "assignments/scale/assignment.yaml").write_text(text)
    return load_assignment(folder / "assignments/scale")


@pytest.fixture
def graded(tools: Tools, tmp_path: Path) -> Graded:
    """Grade a function on the emulator."""

    def grade(source: str, pointers: str = "device", outputs: str = "poison", items: str = "") -> Grade:
        assignment = write_assignment(tmp_path, pointers, outputs, items)
        plan = pipeline.make_plan(assignment, 1, tools, visible_only=False)
        return pipeline.grade(plan, Submission("ada", "scale.cu", source.encode(), "0" * 8), tools)

    return grade


def _results(grade: Grade) -> dict[str, CheckResult]:
    return {item.result.item.id: item.result for item in grade.items}


@pytest.mark.parametrize(
    ("source", "pointers"), [(ON_DEVICE, "device"), (ON_HOST, "host"), (STAGED, "host"), (REPAIRED, "host")]
)
def test_a_right_function_earns_everything(graded: Graded, source: str, pointers: str) -> None:
    """Whatever macros, names and `main` its file has."""
    grade = graded(source, pointers)
    assert [grade.score, grade.verdict, grade.error] == [100, Verdict.PASS, ""]


def test_a_call_that_is_not_supported_here_costs_nothing(graded: Graded) -> None:
    """That the process ends there is not the function's doing, and no item fails for it."""
    source = ON_HOST.replace(BACK, "cudaArray_t array = nullptr; cudaFreeArray(array);\n    " + BACK)
    grade = graded(source, "host")
    assert {result.verdict for result in _results(grade).values()} <= {Verdict.PASS, Verdict.ERROR}
    assert "not supported here: `cudaFreeArray`" in _results(grade)["memory"].message


@pytest.mark.parametrize(
    ("source", "pointers"),
    [
        (FOR_SHOW, "host"),
        (STORED, "host"),
        (SENDS_RESULT, "host"),
        (SENDS_COPIES, "host"),
        (ON_BOTH, "device"),
        (TIMED, "device"),
    ],
)
def test_what_the_host_has_computed_earns_nothing(graded: Graded, source: str, pointers: str) -> None:
    """That holds for kernels that run for show, and for kernels that store given parts of the result."""
    results = _results(graded(source, pointers))
    assert results["right"].verdict is Verdict.FAIL
    assert "the result was computed by the host: " in results["right"].message


def test_a_wrong_function_that_is_right_where_zeros_are_has_not_computed_on_the_host(
    tools: Tools, tmp_path: Path
) -> None:
    """Zeros are what memory may have held before, whoever runs or does not."""
    assignment = write_assignment(tmp_path, "host")
    oracle = tmp_path / "reference/scaling/oracle.py"
    oracle.write_text(ORACLE.replace("np.float32)}", 'np.float32) * (shape["N"] > 7)}'))
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=False)
    source = ON_HOST.replace(UP, UP + "cudaMemset(d_out, 0, n * 4);").replace("factor * x[i]", "2 * x[i]")
    grade = pipeline.grade(plan, Submission("ada", "scale.cu", source.encode(), "0" * 8), tools)
    assert _results(grade)["right"].message.startswith("1 of 2 cases is right")


CUT_SHORT = "none of 2 cases is right. In case `odd` (N=55) the run did not come to its end:"
WANTED = "const float* x, float* y, double factor, int N"
OTHER_TYPE = "parameter 3 of the function `scale` should be `double factor`, but it is `float`"
SPELT_OTHERWISE = [
    ON_DEVICE.replace("const float *in, float *out", "float *in, void *out").replace(
        "in, out,", "in, (float *)out,"
    ),
    ON_DEVICE.replace('extern "C" ', "")
    .replace("const float *in", "const float4 *in")
    .replace("(in,", "((float *)in,"),
    ON_DEVICE.replace("int n) {\n    product", "unsigned n) {\n    product"),
]
WRONG = {
    "an access beyond the end": (
        ON_DEVICE.replace("if (i < n) ", ""),
        "device",
        "memory",
        "line 7: reads in[55], 1 past its end: in has 55 elements",
    ),
    "a result that is only read": (
        ON_DEVICE.replace("y[i] = factor * x[i]", "y[i] += factor * x[i]"),
        "device",
        "memory",
        "line 7: reads out[0] before anything was written there",
    ),
    "device memory on the host": (
        ON_DEVICE.replace("    product", "    out[0] = 1;\n    product"),
        "device",
        "right",
        f"{CUT_SHORT} line 11: host code uses out, which is device memory",
    ),
    "an argument that is freed": (
        ON_DEVICE.replace(", n);\n}", ", n);\n    cudaFree(out);\n}"),
        "device",
        "host",
        "line 12: frees out, which belongs to the caller",
    ),
    "no launch": (
        KERNEL + 'extern "C" void scale(const float *, float *, double, int) {}',
        "device",
        "right",
        "none of 2 cases is right. In case `odd` (N=55) no kernel ran",
    ),
    "a launch that never runs": (
        ON_DEVICE.replace("32>>>", "2048>>>"),
        "device",
        "right",
        "none of 2 cases is right. In case `odd` (N=55) product<<<(2, 1, 1), (2048, 1, 1)>>> never ran",
    ),
    "an end of the program": (
        "#include <cstdlib>\n" + ON_DEVICE.replace(", n);\n}", ", n);\n    exit(4);\n}"),
        "device",
        "right",
        f"{CUT_SHORT} the function ends the whole program with status 4; expected it to return",
    ),
    "an element too many on the host": (
        ON_HOST.replace("    cudaFree(d_in);", "    out[n] = 0;\n    cudaFree(d_in);"),
        "host",
        "right",
        f"{CUT_SHORT} line 18: host code uses out[55], and out has 55 elements, the first of them out[0]",
    ),
    "an input that is changed": (
        ON_HOST.replace("    cudaFree(d_in);", "    *const_cast<float *>(in) += 1;\n    cudaFree(d_in);"),
        "host",
        "right",
        "none of 2 cases is right. In case `odd` (N=55) the function wrote into its input `x` (your `in`)",
    ),
    "another name": (
        ON_DEVICE.replace("scale", "Scale"),
        "device",
        "compiles",
        "no function named `scale`; this file has: `Scale`; if `Scale` is the one, rename it",
    ),
    "a static function": (
        ON_DEVICE.replace('extern "C"', "static"),
        "device",
        "compiles",
        "line 10: `scale` is `static`, so that no other file can call it; take that away",
    ),
    "a kernel of that name": (
        KERNEL.replace("product", "scale"),
        "device",
        "compiles",
        "line 5: `scale` is a kernel; expected a function of the host, which launches kernels",
    ),
    "too few parameters": (
        ON_DEVICE.replace("double factor, int n", "int n").replace("out, factor", "out, 3"),
        "device",
        "compiles",
        f"line 10: the function `scale` takes 3 parameters, but the assignment passes 4: ({WANTED})",
    ),
    "a number of another type": (
        ON_HOST.replace("double factor", "float factor"),
        "host",
        "compiles",
        f"line 11: {OTHER_TYPE}; the assignment passes ({WANTED})",
    ),
    "a number of another type in C": (
        ON_DEVICE.replace("double factor", "float factor"),
        "device",
        "compiles",
        f"line 10: {OTHER_TYPE}",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("source", SPELT_OTHERWISE)
def test_parameters_of_the_same_bytes_are_the_same(graded: Graded, source: str) -> None:
    """A pointer to anything, to vectors, or without `const`; a number without a sign."""
    grade = graded(source)
    assert [grade.score, grade.error] == [100, ""]


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_reported_first(graded: Graded, what: str) -> None:
    """The cause, its line, and the student's own name of the array."""
    source, pointers, item, message = WRONG[what]
    grade = graded(source, pointers)
    assert grade.error == ""
    assert grade.verdict is Verdict.FAIL
    assert _results(grade)[item].message.startswith(message)


def test_outputs_may_be_zero_to_begin_with(graded: Graded) -> None:
    """A function may then add to them."""
    grade = graded(ON_DEVICE.replace("y[i] = factor * x[i]", "y[i] += factor * x[i]"), outputs="zeros")
    assert grade.score == 100


def test_nothing_of_a_hidden_case_is_reported(graded: Graded) -> None:
    """Neither its extent nor the shape of its launch."""
    source = ON_DEVICE.replace("(n + 31) / 32, 32>>>", "n == 7 ? 0 : (n + 31) / 32, 32>>>")
    result = _results(graded(source))["right"]
    assert result.verdict is Verdict.FAIL
    assert result.message.startswith("1 of 2 cases is right. 1 hidden case fails: no kernel ran")


@pytest.mark.slow
def test_a_loop_without_an_end_is_stopped(graded: Graded) -> None:
    """By its own seconds, of which launches take none."""
    result = _results(graded(ON_DEVICE.replace(", n);\n}", ", n);\n    while (n) {}\n}")))["right"]
    assert "its host code was still running after 2 s and was stopped" in result.message


def test_an_oracle_that_cannot_make_the_inputs_is_reported_to_staff(
    graded: Graded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error comes before any submission is graded."""
    monkeypatch.setattr("tests.kinds.test_functions.ORACLE", ORACLE.replace('"random",', '"other",'))
    with pytest.raises(UsageError, match="no inputs of kind `random`; expected one of other"):
        graded(ON_DEVICE)


THROUGH_TILE = ON_DEVICE.replace(
    "    if (i < n) y[i] = factor * x[i];",
    "    __shared__ float t[32];\n"
    "    t[threadIdx.x] = i < n ? x[i] : 0;\n"
    "    __syncthreads();\n"
    "    if (i < n) y[i] = factor * t[threadIdx.x ^ 0];",
)


@pytest.mark.parametrize(
    ("source", "verdict", "message"),
    [
        (THROUGH_TILE, Verdict.PASS, "the kernel `product` uses shared memory on lines"),
        (ON_DEVICE, Verdict.FAIL, "the kernel `product` uses no shared memory, which is asked for"),
        (ON_DEVICE.replace("product", "multiply"), Verdict.FAIL, "no kernel `product` ran"),
    ],
)
def test_how_a_kernel_of_a_function_is_built_is_judged(
    graded: Graded, source: str, verdict: Verdict, message: str
) -> None:
    """Only what its launches executed counts; a kernel that was not launched is none."""
    result = _results(graded(source, items=BUILT))["built"]
    assert result.verdict is verdict
    assert result.message.startswith(message)


COMPUTED = (
    "  - {id: computed, points: 10, check: kernel-output, kernel: product, arguments: [x, y], output: y, "
    "dtype: float32}\n"
)
BESIDE_A_KERNEL = """
#include <vector>
extern "C" void scale(const float *in, float *out, double factor, int n) {
    std::vector<float> v(n);
    cudaMemcpy(v.data(), in, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (float &value : v) value *= factor;
    product<<<(n + 31) / 32, 32>>>(in, out, 0, n);
    cudaMemcpy(out, v.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}
"""


@pytest.mark.parametrize(
    ("source", "failed", "message"),
    [
        (ON_DEVICE, set(), "all 2 cases are right"),
        (
            KERNEL + BESIDE_A_KERNEL,
            {"right", "computed"},
            "none of 2 cases is right. 1 hidden case fails as well. In case",
        ),
        (
            KERNEL.replace("y[i]", "y[n - 1 - i]") + ON_DEVICE.removeprefix(KERNEL),
            {"right", "computed"},
            "none",
        ),
        (ON_DEVICE.replace("product", "multiply"), {"computed"}, "none of 2 cases is right"),
    ],
)
def test_what_a_kernel_of_a_function_computes_is_judged(
    graded: Graded, source: str, failed: set[str], message: str
) -> None:
    """Whatever the function hands back: the host may have computed it, which earns nothing either."""
    grade = graded(source, items=COMPUTED)
    assert grade.error == ""
    assert {name for name, result in _results(grade).items() if result.verdict is Verdict.FAIL} == failed
    assert _results(grade)["computed"].message.startswith(message)


COPIED_APART = """
__global__ void product(const float *x, float *y, float factor, int n, const float2 *apart) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * apart[i].x;
}
extern "C" void scale(const float *in, float *out, double factor, int n) {
    float2 *apart;
    cudaMalloc(&apart, n * sizeof(float2));
    for (int turn = 0; turn < 2; ++turn) {
        cudaMemcpy2D(apart, sizeof(float2), in, sizeof(float), sizeof(float), n, cudaMemcpyDeviceToDevice);
        product<<<(n + 31) / 32, 32>>>(in, out, factor, n, apart);
    }
    cudaFree(apart);
}
"""


def test_what_a_function_copies_inside_its_device_is_followed_where_its_kernel_is_judged(
    graded: Graded,
) -> None:
    """Two logs are kept, for who has computed and for what its kernel computes: both have every request."""
    grade = graded(COPIED_APART, items=COMPUTED)
    assert {name: result.message for name, result in _results(grade).items() if result.fraction < 1} == {}


@pytest.mark.parametrize("end", ["exit(1)", "abort()", 'throw "a failed call"', "return"])
def test_a_function_that_ends_as_its_launch_was_given_up_loses_nothing_for_it(
    end: str, graded: Graded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No device would have reported the error that it ends for."""
    monkeypatch.setattr("grader.kinds.host_runs.running.STEPS_A_SECOND", 10)
    long = ON_DEVICE.replace("if (i < n)", "for (int k = 0; k < 9999; ++k) __syncthreads();\n    if (i < n)")
    ending = f"(in, out, factor, n);\n    if (cudaDeviceSynchronize()) {end};"
    grade = graded("#include <cstdlib>\n" + long.replace("(in, out, factor, n);", ending))
    verdicts = {name: result.verdict for name, result in _results(grade).items()}
    assert verdicts.pop("compiles") is Verdict.PASS
    assert set(verdicts.values()) == {Verdict.SKIP}, verdicts
