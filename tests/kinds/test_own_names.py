"""Messages call an array what the student's kernel calls it; data keep the assignment's names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.explaining.causes import context_of_submission
from grader.grading.checks import wording
from grader.kinds import pipeline
from grader.model import Build, Evidence, Submission
from grader.reports import text
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.nvcc.kernel import student_names
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled

if TYPE_CHECKING:
    from grader.model import CaseEvidence, Grade

VECTOR = bundled("vector-add")
MATMUL = bundled("tiled-matmul")

NO_GUARD = """\
#define BLOCK_SIZE 256
__global__ void vectorAdd(const float* left, const float* right, float* sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = left[i] - right[i];
}
"""
EXCHANGED = NO_GUARD.replace("left, const", "B, const").replace("* right,", "* A,").replace("sum,", "C,")
EXCHANGED = EXCHANGED.replace(
    "sum[i] = left[i] - right[i];", "C[i] = A[i] + B[i]; if (i == 0) ((float*)A)[0] = 1;"
)


@pytest.fixture(scope="module")
def tools() -> Tools:
    """A compiler with a cache of its own."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


def graded(tools: Tools, source: str, *, visible_only: bool = True) -> Grade:
    """A vector addition graded on the emulator."""
    plan = pipeline.make_plan(VECTOR, 1, tools, visible_only=visible_only)
    submission = Submission("anna", "add.cu", source.encode(), "d")
    return pipeline.grade(plan, submission, tools)


def _cases(grade: Grade) -> tuple[CaseEvidence, ...]:
    assert grade.evidence is not None
    return grade.evidence.cases


def report(grade: Grade, source: str) -> str:
    """The report as a student reads it, in one line."""
    shown = text.render(grade, source_lines=source.split("\n"), width=110).plain
    return " ".join(shown.split())


def test_names_belong_to_parameters_by_their_place() -> None:
    """Only those that differ, and of arrays alone: sizes have the assignment's names."""
    parameters = VECTOR.kernel.parameters
    assert student_names(parameters, ("A", "y", "z", "n")) == (("B", "y"), ("C", "z"))
    assert student_names(parameters, ("B", "A", "C", "N")) == (("A", "B"), ("B", "A"))


@pytest.mark.parametrize(
    "declared",
    [
        (),
        ("x", "y", "z"),
        ("x", "", "z", "n"),
        ("x", "x", "z", "n"),
        ("x", "__restrict__", "z", "n"),
        ("x", "y" * 41, "z", "n"),
        ("x", "\u0430", "z", "n"),
    ],
)
def test_the_assignments_names_stay_where_one_of_the_file_s_cannot_be_shown(
    declared: tuple[str, ...],
) -> None:
    """Half of them would mislead."""
    assert student_names(VECTOR.kernel.parameters, declared) == ()


def test_an_output_is_quoted_by_both_names() -> None:
    """Both are shown only if they differ."""
    assert wording.parameter("C", "P", "[3]") == "`C[3]` (your `P`)"
    assert wording.parameter("C", "C", "[3]") == wording.parameter("C", "", "[3]") == "`C[3]`"


def test_what_is_known_of_arrays_has_the_names_of_findings() -> None:
    """Otherwise no access beyond a matrix could be distinguished from one beyond a shared array."""
    built = Build(ok=True, student_names=(("A", "M"), ("C", "P")))
    assert context_of_submission(MATMUL, Evidence("emulator", built)).arrays == {"M", "B", "P"}


def test_findings_name_what_stands_on_the_line(tools: Tools) -> None:
    """An access, an output and what to do about them, in the report as a student reads it."""
    grade = graded(tools, NO_GUARD)
    output = report(grade, NO_GUARD)
    findings = [finding for case in _cases(grade) for finding in case.findings]
    assert {finding.array for finding in findings} == {"left", "right", "sum"}
    assert "reads left[1000], 1 past its end: left has 1000 elements" in output
    assert "(your `sum`)" in output
    assert "`C[" in output
    case = next(case for case in _cases(grade) if case.comparisons)
    assert [comparison.array for comparison in case.comparisons] == ["C"]


def test_names_that_are_exchanged_follow_the_line(tools: Tools) -> None:
    """The file's `A` is what the assignment passes as `B`."""
    grade = graded(tools, EXCHANGED)
    assert {case.changed_inputs for case in _cases(grade)} == {("B",)}
    output = report(grade, EXCHANGED)
    assert "wrote into its input `B` (your `A`)" in output


def test_a_hidden_case_tells_the_array_by_the_file_s_name(tools: Tools) -> None:
    """A name that no case's data can choose: that is all that is left of the finding."""
    hidden = tuple(case for case in VECTOR.cases if case.id == "one-too-many")
    plan = pipeline.make_plan(VECTOR, 1, tools, visible_only=False)
    plan = replace(plan, cases=tuple(case for case in plan.cases if case.id == hidden[0].id))
    submission = Submission("anna", "add.cu", NO_GUARD.replace(" - ", " + ").encode(), "d")
    grade = pipeline.grade(plan, submission, tools)
    memory = next(item.result for item in grade.items if item.result.item.check == "memory")
    assert {finding.array for finding in memory.findings} == {"left", "right", "sum"}
    assert all(finding.line is None for finding in memory.findings)
