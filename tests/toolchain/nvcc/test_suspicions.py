"""Suspicious text that may be meant: names of one shared memory, loops that step twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.model import Severity, SourceRemark

if TYPE_CHECKING:
    from tests.toolchain.nvcc.conftest import BuildSource

HEAD = "__global__ void scale(const float *A, float *C, int N) {"
OTHER = "__global__ void other(float *x) { extern __shared__ float b[]; b[0] = x[0]; x[1] = b[2]; }"
CALLED = "__device__ void called(float *x) { extern __shared__ float b[]; b[0] = x[0]; x[1] = b[2]; }"
USED = "a[0] = A[0]; b[1] = A[1]; C[0] = a[2] + b[3];"

SHARED = {
    "in one declaration": (["extern __shared__ float a[], b[];", HEAD, USED, "}"], {"a": 1, "b": 1}),
    "in any order of the words": (
        [HEAD, "extern __shared__ __align__(16) float a[];", "__shared__ extern int b[];", USED, "}"],
        {"a": 2, "b": 3},
    ),
    "in a function that is called": (
        [CALLED, "extern __shared__ float a[];", HEAD, "called(C); a[0] = A[0]; C[0] = a[1];", "}"],
        {"a": 2, "b": 1},
    ),
    "in another kernel": (
        ["extern __shared__ float a[];", OTHER, HEAD, "a[0] = A[0]; C[0] = a[1];", "}"],
        {},
    ),
    "of fixed sizes": ([HEAD, "__shared__ float a[9];", "__shared__ float b[9];", USED, "}"], {}),
    "of which one is not used": (
        [
            HEAD,
            "extern __shared__ float a[];",
            "extern __shared__ int b[];",
            "a[0] = A[0]; C[0] = a[1];",
            "}",
        ],
        {},
    ),
}


@pytest.mark.parametrize("name", SHARED)
def test_names_of_one_dynamic_shared_memory_are_noticed(build_source: BuildSource, name: str) -> None:
    """Several names in one kernel are each noticed with their line, and cost nothing."""
    lines, expected = SHARED[name]
    made = build_source("\n".join(lines))
    assert made.ok
    assert {each.address: each.line for each in made.suspicions} == expected
    assert {each.hazard for each in made.suspicions} <= {SourceRemark.ONE_ADDRESS}
    assert {each.severity for each in made.suspicions} <= {Severity.INFO}


LOOPS = {
    "doubled": (["for (int i = 1; i < N; i++) {", "C[i] = 1;", "i *= 2; }"], ("i", 4, 2)),
    "doubled by a sum": (["for (int i = 1; i < N; ++i) {", "C[i] = 1;", "i = i + i; }"], ("i", 4, 2)),
    "doubled from the left": (
        ["int i; for (i = 1; i < N; i += 1) {", "C[i] = 1;", "i = 2 * i; }"],
        ("i", 4, 2),
    ),
    "halved": (["for (int i = N - 1; i > 0; i -= 1) {", "C[i] = 1;", "i >>= 1; }"], ("i", 4, 2)),
    "beside another": (["for (int i = 1, s = 1; i < N; i++, s++) {", "C[s] = 1;", "s <<= 1; }"], ("s", 4, 2)),
    "behind an if": (["for (int i = 1; i < N; i++) if (A[i] > 0) {", "C[i] = 1;", "i *= 2; }"], ("i", 4, 2)),
    "doubled in its header": (["for (int i = 1, s = 1; i < N; i++, s *= 2) {", "C[s] = 1; }"], None),
    "another variable": (["for (int i = 1; i < N; i++) {", "int j = i; j *= 2; C[j] = 1; }"], None),
    "an element": (["for (int i = 1; i < N; i++) {", "C[i] *= 2; }"], None),
    "an inner variable of its name": (
        ["for (int i = 1; i < N; i++) {", "for (int i = 1; i < N; i *= 2) C[i] = 1; }"],
        None,
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_that_step_twice_are_noticed(build_source: BuildSource, name: str) -> None:
    """The line of the body, and that of the header."""
    lines, expected = LOOPS[name]
    made = build_source("\n".join([HEAD, *lines, "}"]))
    assert made.ok
    noticed = [(each.address, each.line, each.other_line) for each in made.suspicions]
    assert noticed == ([] if expected is None else [expected])
