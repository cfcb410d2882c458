"""The origin of what a function hands back: its kernels, or the host; each in many ways."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import reference_folder
from grader.grading.oracle import draw_inputs, load_oracle
from grader.kinds import pipeline
from grader.model import CaseEvidence, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.kinds.function_corpus import Function, assignment_of, functions_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.kinds.plan import Plan
    from grader.model import Grade

    Graded = Callable[[Function], Grade]

_QUICK = ("plain", "parts of blocks, finished by the host", "bits flipped", "turned before it is sent")
"""The ways that are tried in every loop; all others are slow together."""


def _parameters(folder: str) -> list[object]:
    return [
        pytest.param(
            function,
            id=f"{function.operation}: {function.name}",
            marks=[] if function.name in _QUICK else [pytest.mark.slow],
        )
        for function in functions_in(folder)
    ]


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


@pytest.fixture(scope="module")
def graded(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Grade a function in the one case of its operation."""
    folder, plans = tmp_path_factory.mktemp("operations"), dict[str, "Plan"]()

    def grade(function: Function) -> Grade:
        if function.operation not in plans:
            assignment = assignment_of(function.operation, folder)
            plan = pipeline.make_plan(assignment, 11, tools, visible_only=False)
            plans[function.operation] = replace(plan, feedback=False)
        return pipeline.grade(plans[function.operation], function.submission, tools)

    return grade


def _case(grade: Grade) -> CaseEvidence:
    assert grade.evidence is not None
    (case,) = grade.evidence.cases
    assert (case.error, case.completed) == ("", True)
    return case


@pytest.mark.parametrize("function", _parameters("kernels"))
def test_what_kernels_compute_is_proved(graded: Graded, function: Function) -> None:
    """However it comes to the device and back, and whatever the host checks, repeats or finishes."""
    grade = graded(function)
    case = _case(grade)
    if "threads" in function.name and case.computed_by is not None:  # they ask in another order each time
        assert (case.of_host, case.computed_by.name) == (False, "unknown-who-computes")
        return
    assert (case.of_host, case.computed_by) == (False, None)
    assert grade.score == 100


@pytest.mark.parametrize("function", _parameters("host"))
def test_what_the_host_computes_earns_nothing(graded: Graded, function: Function) -> None:
    """However it is carried to the device, and whatever kernels do beside it."""
    grade = graded(function)
    assert _case(grade).of_host
    assert (float(grade.score), grade.verdict) == (0.0, Verdict.FAIL)
    result = grade.items[0].result
    assert "the result was computed by the host: " in result.message
    assert result.hint.startswith("Let kernels compute every element")


_ADDED_BY_HOST = """#include <cstdlib>
__global__ void idle(const float *a, const float *b) {{}}
__global__ void endless(volatile float *a) {{ while (a) a[0] = a[0] + 1; }}
void add(const float *A, const float *B, float *C, int n) {{
    float *a, *b; cudaMalloc(&a, 4 * n); cudaMalloc(&b, 4 * n);
    cudaMemcpy(a, A, 4 * n, cudaMemcpyHostToDevice); cudaMemcpy(b, B, 4 * n, cudaMemcpyHostToDevice);
    if (A[0] != {first!r}f) {{ {way} }}
    idle<<<1, 1>>>(a, b);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i) C[i] = A[i] + B[i];
    cudaFree(a); cudaFree(b);
}}
"""
_WAYS_OUT = {
    "exit": "std::exit(0);",
    "abort": "std::abort();",
    "no return": "for (volatile int i = 0;; i++);",
    "an endless launch": "endless<<<1, 1>>>(a); cudaDeviceSynchronize();",
}


@pytest.mark.slow
@pytest.mark.parametrize("way", _WAYS_OUT)
def test_a_function_that_returns_for_its_own_inputs_alone_has_computed_on_the_host(
    graded: Graded, tools: Tools, tmp_path: Path, way: str
) -> None:
    """It knows a number of its inputs, and does not come to its end in any further call."""
    assignment = assignment_of("add", tmp_path)
    (case,) = pipeline.make_plan(assignment, 11, tools, visible_only=False).cases
    inputs = draw_inputs(load_oracle(reference_folder(assignment)), case)
    first = float(inputs["A"][0])
    function = Function("add", way, _ADDED_BY_HOST.format(first=first, way=_WAYS_OUT[way]))
    seen = _case(graded(function))
    assert seen.of_host
    assert seen.computed_by is not None


@pytest.mark.slow
@pytest.mark.parametrize("function", functions_in("unknown"), ids=lambda function: function.name)
def test_where_nothing_shows_who_computes_staff_are_asked(graded: Graded, function: Function) -> None:
    """The item is an error without blame; it gives no points, and it takes none away."""
    grade = graded(function)
    case = _case(grade)
    assert not case.of_host
    assert case.computed_by is not None
    assert case.computed_by.name == "unknown-who-computes"
    (item,) = grade.items
    assert item.result.verdict is Verdict.ERROR
    assert "staff should look at the file" in item.result.message


@pytest.mark.slow
@pytest.mark.parametrize("function", functions_in("on_device"), ids=lambda function: function.name)
def test_so_it_is_with_arrays_in_device_memory(tools: Tools, tmp_path: Path, function: Function) -> None:
    """The host has no inputs of its own there, and reads what it uses."""
    assignment = assignment_of(function.operation, tmp_path, "device")
    plan = replace(pipeline.make_plan(assignment, 11, tools, visible_only=False), feedback=False)
    case = _case(pipeline.grade(plan, function.submission, tools))
    assert case.of_host == function.name.startswith("host, ")
    assert (case.computed_by is None) == function.name.startswith("kernels, ")


@pytest.mark.slow
def test_each_case_is_asked_for_itself(tools: Tools) -> None:
    """A kernel for the smallest shape speaks for that one alone."""
    function = next(f for f in functions_in("host") if f.name == "a kernel for the smallest shape")
    assignment = bundled("matmul-function")
    plan = replace(pipeline.make_plan(assignment, 5, tools, visible_only=False), feedback=False)
    grade = pipeline.grade(plan, function.submission, tools)
    assert grade.evidence is not None
    of_kernels = [case.case.id for case in grade.evidence.cases if not case.of_host]
    assert of_kernels == ["single-element"]
