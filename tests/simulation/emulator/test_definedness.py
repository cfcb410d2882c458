"""Reading an unset value is an error where the value decides something, and a remark where it never does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.model import Argument, Build, FindingKind, Launch, Severity
from grader.running.backends import emulated_kernel
from grader.running.backends.emulated_kernel import EmulatedKernel
from grader.simulation.emulator.definedness import mattering_reads
from tests.simulation.emulator import nvcc

if TYPE_CHECKING:
    from grader.model import Finding

MATTERS = {
    "stored": "if (t < 32) s[t] = in[t];\n__syncthreads();\nout[t] = s[t];  // here",
    "stored_after_arithmetic": "if (t < 32) s[t] = 1;\n__syncthreads();\nout[t] = 2 * s[t] + 1;  // here",
    "decides_a_branch": (
        "if (t < 32) s[t] = 1;\n__syncthreads();\nif (s[t] > 0)  // here\n    out[t] = 1; else out[t] = 1;"
    ),
    "is_an_index": "if (t < 32) s[t] = 1;\n__syncthreads();\nint k = s[t];  // here\nout[t] = in[k & 31];",
    "is_added_atomically": "if (t < 32) s[t] = 1;\n__syncthreads();\natomicAdd(&out[0], s[t]);  // here",
    "is_added_to_atomically": "atomicAdd(&s[t], 1);  // here\n__syncthreads();\nif (t == 0) out[0] = 1;",
    "is_exchanged_and_used": "int x = atomicExch(&s[t], t);  // here\nout[t] = x;",
    "goes_through_shared_memory": (
        "if (t < 32) s[t] = 1;\n__syncthreads();\nu[t] = s[t];  // here\n__syncthreads();\nout[t] = u[t ^ 1];"
    ),
    "goes_through_a_function": "if (t < 32) s[t] = 1;\n__syncthreads();\nout[t] = twice(s[t]);  // here",
    "goes_through_a_shuffle": (
        "if (t < 31) s[t] = 1;\n__syncthreads();\nint x = s[t % 32];  // here\n"
        "out[t] = __shfl_sync(~0u, x, 31);"
    ),
    "is_a_local_variable": "int x;  // no value\nout[t] = x + in[t];  // here",
    "is_an_array_of_a_thread": "int a[4];\na[t % 2] = 1;\nout[t] = a[in[0] & 3];  // here",
    "is_part_of_a_vector": (
        "float4* v = (float4*)s;\nif (t < 8) ((float*)s)[4 * t + 1] = 1;\n__syncthreads();\n"
        "if (t < 8) { float4 x = v[t];  // here\n    out[t] = x.z; }"
    ),
}

DOES_NOT = {
    "thrown_away_by_a_choice": (
        "if (t < 32) s[t] = 1;\n__syncthreads();\nint x = s[t];  // here\nout[t] = t < 32 ? x : 0;"
    ),
    "exchanged": "atomicExch(&s[t], 0);  // here\n__syncthreads();\nout[t] = s[t ^ 1];",
    "stored_under_a_guard": (
        "if (t < 32) s[t] = 1;\n__syncthreads();\nint x = s[t] * 3;  // here\nif (t < 32) out[t] = x;"
    ),
    "copied_about": (
        "if (t < 32) s[t] = 1;\n__syncthreads();\nu[t] = s[t];  // here\n__syncthreads();\n"
        "if (t < 32) out[t] = u[t];"
    ),
    "overwritten": (
        "if (t < 32) s[t] = 1;\n__syncthreads();\nint x = s[t];  // here\nu[t] = x;\nu[t] = t;\n"
        "__syncthreads();\nout[t] = u[63 - t];"
    ),
    "other_parts_of_a_vector": (
        "float4* v = (float4*)s;\nif (t < 8) ((float*)s)[4 * t + 1] = 1;\n__syncthreads();\n"
        "if (t < 8) { float4 x = v[t];  // here\n    out[t] = x.y; }"
    ),
    "a_sum_over_a_last_section_that_is_not_full": (
        "if (t < 50) s[t] = in[t % 32];\n__syncthreads();\n"
        "for (int by = 1; by < 64; by *= 2) {\n"
        "    int k = (t + 1) * by * 2 - 1;\n    int x = k < 64 ? s[k] + s[k - by] : 0;  // here\n"
        "    __syncthreads();\n    if (k < 64) s[k] = x;\n    __syncthreads();\n}\nif (t < 32) out[t] = s[t];"
    ),
}

HEAD = "__shared__ __align__(16) int s[64], u[64];\nint t = threadIdx.x;"


HELPER = "__device__ __noinline__ int twice(int x) { return 2 * x; }\n"
SOURCE = HELPER + "".join(
    f'extern "C" __global__ void {name}(const int* in, int* out) {{\n{HEAD}\n{body}\n}}\n'
    for name, body in {**MATTERS, **DOES_NOT}.items()
)
"""A kernel with each body, in one file: they are compiled together."""


def marked_line(name: str) -> int:
    """The line of a kernel that is marked."""
    before, _, after = SOURCE.partition(f" void {name}(")
    return before.count("\n") + next(
        number for number, text in enumerate(after.split("\n"), 1) if "// here" in text
    )


@pytest.fixture(scope="module")
def built() -> Build:
    """All kernels, in both builds."""
    default, hazards = nvcc.ptx(SOURCE, ("-lineinfo",)), nvcc.ptx(SOURCE)
    return Build(ok=True, ptx=default, hazard_ptx=hazards, source_name="kernel.cu")


def arguments_of_case() -> tuple[Argument, ...]:
    """Arrays for 64 threads."""
    return (
        Argument("in", "in", np.arange(64, dtype=np.int32)),
        Argument("out", "inout", np.zeros(64, np.int32)),
    )


def undefined_reads(built: Build, name: str, steps: int = 0) -> list[Finding]:
    """The findings about a kernel's marked line, of a case that is run as graded."""
    arguments = arguments_of_case()
    launch = Launch((1, 1, 1), (64, 1, 1))
    kernel = EmulatedKernel(replace(built, entry=name), "kernel.cu", "kernel.cu")
    run = kernel.launch(launch, arguments, steps=steps)
    assert run.completed
    unset = [finding for finding in run.findings if finding.kind is FindingKind.UNINITIALISED]
    return [finding for finding in unset if finding.line == marked_line(name)]


@pytest.mark.parametrize("name", MATTERS)
def test_a_value_that_no_thread_set_is_an_error_where_it_decides_something(built: Build, name: str) -> None:
    """It reaches global memory, a branch, an address or an atomic operation, by whatever way."""
    (finding,) = undefined_reads(built, name)
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize("name", DOES_NOT)
def test_a_value_that_no_thread_set_is_a_remark_where_it_decides_nothing(built: Build, name: str) -> None:
    """It is read, and perhaps computed with and copied, and thrown away."""
    for finding in undefined_reads(built, name):
        assert finding.severity is Severity.INFO
        assert finding.message.endswith("; nothing depends on it")


def test_following_a_value_that_no_thread_set_takes_no_more_work_than_the_case_may(
    built: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The launch is followed once more with the case's own budget, which it kept to before."""
    budgets = []

    def followed(*arguments: Any) -> set[tuple[int, str]]:  # noqa: ANN401 - those of `mattering_reads`
        budgets.append(arguments[-1])
        return mattering_reads(*arguments)

    monkeypatch.setattr(emulated_kernel, "mattering_reads", followed)
    (finding,) = undefined_reads(built, "stored", steps=5000)
    assert finding.severity is Severity.ERROR
    assert budgets == [5000]


def test_what_a_case_showed_is_forgotten_in_the_next(built: Build) -> None:
    """A kernel is linked once for all cases; among its first threads nothing is unset."""
    kernel = EmulatedKernel(replace(built, entry="stored"), "kernel.cu", "kernel.cu")
    tracked = kernel._kernel(detect=True)
    first, second, third = (
        mattering_reads(tracked, Launch((1, 1, 1), (threads, 1, 1)), arguments_of_case(), 5000)
        for threads in (64, 32, 64)
    )
    assert first == third
    assert first
    assert not second
