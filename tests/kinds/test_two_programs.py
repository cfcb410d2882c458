"""A file that is one program for the optimiser and another without it is judged by what is graded.

Each kernel here keeps its barriers, or anything at all, for the build in which hazards are looked for, by way
of something that C++ leaves undefined. None of them may keep the points for barriers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import staff_folder
from grader.kinds import pipeline
from grader.model import FindingKind, Severity, Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.model import Grade

    Grader = Callable[[str], Grade]

ASSIGNMENT = bundled("tiled-matmul")
SOLUTION = (staff_folder(ASSIGNMENT) / "solution.cu").read_text("utf-8")

BARRIER = "__syncthreads();"

HELPERS = """
__device__ __forceinline__ int same(int* __restrict__ p, int* __restrict__ q) { *p = 1; *q = 0; return *p; }
"""

INSTEAD_OF_BARRIERS = {
    "a sum that overflows": "if (!(M + 2147483647 > M)) __syncthreads();",
    "a sum that overflows the other way": "if (!(-M - 2147483647 < M)) __syncthreads();",
    "a product that overflows": "if (M * 65536 / 65536 * 65536 * 2 / 2 != M * 65536) __syncthreads();",
    "a wrong assumption": "__builtin_assume(M < 0); if (M >= 0) __syncthreads();",
    "a number that has no opposite": (
        "{ int low = (int)(0x80000000u | threadIdx.z); if (-low == low) __syncthreads(); }"
    ),
    "an index that overflows": (
        "{ int a[2] = {1, 1}; int i = M + 2147483647; if (a[1] && i < M) __syncthreads(); }"
    ),
    "aliases that are restricted": "{ int x; if (same(&x, &x) == 0) __syncthreads(); }",
    "a constant that is changed": "{ const int c = 0; *(int*)&c = 1; if (c == 1) __syncthreads(); }",
    "a variable without a value": "{ int x; if (x == 0) __syncthreads(); }",
    "an alignment that is not there": (
        "if (((size_t)__builtin_assume_aligned(A + 1, 64) & 63) != 0) __syncthreads();"
    ),
    "a shift that is too far": "if ((1 << (M | 32)) != 0) __syncthreads();",
}

IN_FRONT = {
    "an assumption under which nothing runs": "__builtin_assume(M < 0); if (M >= 0) return;",
    "an assumption under which others store": (
        "__builtin_assume(M < 0); if (M >= 0) {} else C[0] = (float)threadIdx.x;"
    ),
    "a sum that overflows and ends it": "if (M + 2147483647 < M) return;",
}


@pytest.fixture(scope="module")
def graded() -> Grader:
    """Grade a source on the visible cases."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(ASSIGNMENT, 1, tools, visible_only=True)

    def grade(source: str) -> Grade:
        return pipeline.grade(plan, Submission("mine", "mine.cu", source.encode(), ""), tools)

    return grade


def with_first_line(line: str, *, barriers: bool) -> str:
    """The model solution with a line in front of its body."""
    source = SOLUTION if barriers else SOLUTION.replace(BARRIER, "")
    return re.sub(r"(int M, int K, int N\) \{)", rf"\1\n    {line}", source, count=1)


def verdict(grade: Grade, item: str) -> Verdict:
    """The verdict of one item."""
    return next(each.result.verdict for each in grade.items if each.result.item.id == item)


@pytest.mark.parametrize("name", INSTEAD_OF_BARRIERS)
def test_barriers_that_the_optimiser_may_drop_are_no_barriers(graded: Grader, name: str) -> None:
    """Only what is there when graded earns the item."""
    source = HELPERS + SOLUTION.replace(BARRIER, INSTEAD_OF_BARRIERS[name])
    grade = graded(source)
    assert verdict(grade, "compiles") is Verdict.PASS
    assert verdict(grade, "barriers") is Verdict.FAIL


@pytest.mark.parametrize("name", IN_FRONT)
def test_a_kernel_that_does_nothing_where_hazards_are_looked_for_loses_the_item(
    graded: Grader, name: str
) -> None:
    """Without any barrier, and with all of them."""
    assert verdict(graded(with_first_line(IN_FRONT[name], barriers=False)), "barriers") is Verdict.FAIL


REMARKS = {
    "threads that store one value at once": "__shared__ volatile int z; z = 1;",
    "a value without effect that nobody set": (
        "__shared__ volatile int z[4]; int unused = z[1]; z[2] = 1; (void)unused;"
    ),
}


@pytest.mark.parametrize("name", REMARKS)
def test_no_remark_hides_the_races_of_the_optimised_program(graded: Grader, name: str) -> None:
    """A remark that costs nothing in one build must not stand for a race that costs the item in the other."""
    with_remark = with_first_line(REMARKS[name], barriers=True)
    assert verdict(graded(with_remark), "barriers") is Verdict.PASS
    barriers = INSTEAD_OF_BARRIERS["a sum that overflows"]
    assert verdict(graded(with_remark.replace(BARRIER, barriers)), "barriers") is Verdict.FAIL


PLACES = {
    "read": "float4 all = *(float4*)four; if (all.x + all.y + all.z + all.w > 99.0f + three[M % 3]) return;",
    "written": (
        "float4 all[1] = {{1, 2, 3, 4}}; *(float4*)four = all[0]; if (four[1] > 9.0f + three[M % 3]) return;"
    ),
}
"""Accesses of four numbers at once to an array that only the unoptimised build misplaces.

That build copies an element as a whole; what `make_float4` or a variable hold it stores number by number.
"""

LOCAL = "float three[3] = {0, 1, 2}; float four[4] = {1, 2, 3, 4};"


@pytest.mark.parametrize("name", PLACES)
def test_what_only_the_unoptimised_build_misaligns_is_a_warning(graded: Grader, name: str) -> None:
    """It has its line, costs nothing, and hides nothing that the graded build does."""
    line = f"{LOCAL} {PLACES[name]}"
    source = with_first_line(line, barriers=True)
    grade = graded(source)
    (warning,) = {
        (finding.severity, finding.line)
        for item in grade.items
        for finding in item.result.findings
        if finding.kind is FindingKind.MISALIGNED
    }
    assert warning == (Severity.WARNING, 1 + source.split("\n").index(f"    {line}"))
    assert grade.score == grade.max_score
    barriers = INSTEAD_OF_BARRIERS["a sum that overflows"]
    assert verdict(graded(source.replace(BARRIER, barriers)), "barriers") is Verdict.FAIL


UNUSED = "float* none = M < 0 ? C : (float*)(size_t)(M * 0); if (*none > 0 && M < 0 && M > 0) return;"
"""A read from the null pointer, of which the optimiser keeps nothing."""


def test_a_read_from_nowhere_that_only_the_unoptimised_build_makes_is_a_warning(graded: Grader) -> None:
    """A device never makes it; the source has it all the same."""
    source = with_first_line(UNUSED, barriers=True)
    grade = graded(source)
    (warning,) = {
        (finding.severity, finding.line)
        for item in grade.items
        for finding in item.result.findings
        if finding.goes_nowhere
    }
    assert warning == (Severity.WARNING, 1 + source.split("\n").index(f"    {UNUSED}"))
    assert grade.score == grade.max_score
    barriers = INSTEAD_OF_BARRIERS["a sum that overflows"]
    assert verdict(graded(source.replace(BARRIER, barriers)), "barriers") is Verdict.FAIL


def test_what_both_builds_misalign_costs_the_item(graded: Grader) -> None:
    """Four numbers at once, from a place that only the shape decides."""
    line = "float five[8]; for (int i = 0; i < 8; ++i) five[i] = A[(i * M) % 7]; "
    line += "if (((float4*)(five + M % 3 + 1))->x > 1e9f || ((float4*)(five + M % 3 + 2))->y > 1e9f) return;"
    assert verdict(graded(with_first_line(line, barriers=True)), "memory") is Verdict.FAIL


def test_the_model_solution_loses_nothing(graded: Grader) -> None:
    """It gets no finding but remarks."""
    grade = graded(SOLUTION)
    assert grade.score == grade.max_score
    assert not [f for item in grade.items for f in item.result.findings if f.severity is not Severity.INFO]
