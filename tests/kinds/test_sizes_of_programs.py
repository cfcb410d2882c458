"""Programs whose files write their size down: the assignment, or a case, sets it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import SpecError
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import ProgramInterface, Submission, Verdict, Visibility
from grader.reports.audience import student_view
from grader.toolchain.nvcc import Tools, build_program, find_toolchain
from grader.toolchain.nvcc.source import compile_files, with_values
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade

YAML = """
id: fill
title: Fill
submission: {kind: program, seconds: 2, emulator_seconds: 5, sizes: {N: 40}}
cases:
  - {id: plain}
  - {id: other, sizes: {N: 72}}
  - {id: secret, sizes: {N: 104}, visibility: hidden}
rubric:
  - {id: says, points: 3, check: text, matches: "^last of (40|72|104): 7$", partial: per-case}
  - {id: memory, points: 3, check: memory, partial: per-case}
"""
SOURCE = r"""#include <cstdio>
#define N 100000000  // far too many
__global__ void fill(int *p) { if (int i = blockIdx.x * 32 + threadIdx.x; i < N) p[i] = 7; }
int main() {
    static int host[N];
    int *device;
    cudaMalloc(&device, sizeof host);
    fill<<<(N + 31) / 32, 32>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("last of %d: %d\n", N, host[N - 1]);
    cudaFree(device);
}
"""


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


def _graded(tools: Tools, folder: Path, source: str) -> Grade:
    (folder / "assignment.yaml").write_text(YAML)
    plan = pipeline.make_plan(load_assignment(folder), 1, tools, visible_only=False)
    return pipeline.grade(plan, Submission("ada", "fill.cu", source.encode(), "0" * 8), tools)


def test_each_set_of_sizes_is_a_build_of_its_own(tools: Tools, tmp_path: Path) -> None:
    """The size in the file would be far too large; lines of findings are those of the file."""
    grade = _graded(tools, tmp_path, SOURCE)
    assert (grade.verdict, grade.score) == (Verdict.PASS, grade.max_score)
    assert [dict(case.case.sizes) for case in grade.cases] == [{"N": 40}, {"N": 72}, {"N": 104}]
    wrong = _graded(tools, tmp_path, SOURCE.replace("i < N", "i <= N"))
    memory = next(item.result for item in wrong.items if item.result.item.id == "memory")
    assert [(f.line, f.case) for f in memory.findings] == [(3, "plain")]
    assert memory.verdict is Verdict.FAIL


def test_sizes_of_hidden_cases_are_not_reported(tools: Tools, tmp_path: Path) -> None:
    """Neither by the report nor by a compiler that complains of them."""
    refusing = SOURCE.replace("int main() {", 'static_assert(N < 100, "N is large");\nint main() {')
    grade = _graded(tools, tmp_path, refusing)
    result = next(item.result for item in grade.items if item.result.item.id == "says")
    assert (result.verdict, result.fraction) == (Verdict.FAIL, Fraction(2, 3))
    assert "1 hidden case fails: the submission does not compile" in result.message
    assert "104" not in result.message
    assert "large" not in result.message
    hidden = next(c for c in student_view(grade).cases if c.case.visibility is Visibility.HIDDEN)
    assert hidden.case.sizes == ()


def test_a_visible_case_whose_sizes_do_not_compile_has_the_reason(tools: Tools, tmp_path: Path) -> None:
    """In the compiler's words; cases with other sizes are judged."""
    refusing = SOURCE.replace("int main() {", 'static_assert(N != 72, "no 72");\nint main() {')
    grade = _graded(tools, tmp_path, refusing)
    assert [case.verdict for case in grade.cases] == [Verdict.PASS, Verdict.FAIL, Verdict.PASS]
    result = next(item.result for item in grade.items if item.result.item.id == "says")
    assert "static assertion failed" in result.message


def test_a_file_without_the_name_is_refused_with_what_to_define(tools: Tools) -> None:
    """A file that has only a variable of that name is refused, too."""
    for source in (SOURCE.replace("N", "M"), SOURCE.replace("#define N 100000000", "int N = 9;")):
        submission = Submission("ada", "fill.cu", source.encode(), "")
        built = build_program(tools, submission, ProgramInterface(sizes=(("N", 40),)))
        (finding,) = built.findings
        assert finding.message == (
            "this file defines no `N`, by which the assignment sets its size; "
            "expected `#define N 40` or `const int N = 40;`"
        )


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("#define N 1024", "#define N 5"),
        (
            "#ifndef N\n#  define N (1 << 10) /* both */\n#endif",
            "#ifndef N\n#  define N 5 /* both */\n#endif",
        ),
        ("const int N = 1 << 10;", "const int N = 5;"),
        ("static constexpr std::size_t N{1024};", "static constexpr std::size_t N{5};"),
        ("const int M = 3, N = 4, K = 5;", "const int M = 3, N = 5, K = 5;"),
        ("const int N = std::max(1, (2 + 3)), M = 2;", "const int N = 5, M = 2;"),
        ("enum { M = 2, N = 1024 };", "enum { M = 2, N = 5 };"),
        ("enum Size : int {\n  N = 7,\n};", "enum Size : int {\n  N = 5,\n};"),
    ],
)
def test_a_definition_gets_the_number_where_its_value_stood(text: str, changed: str) -> None:
    """Whatever kind of constant it is; everything else stays, and so do lines."""
    assert with_values({"N": 5}, {"a.cu": text.encode()}) == {"a.cu": changed.encode()}


@pytest.mark.parametrize(
    "text",
    [
        "int N = 1024;",
        "for (int N = 0; N < 3; ++N) f(N);",
        "const float *N = a;",
        "const bool same = N == 4;",
        "#define N(x) 3",
        "#define NN 8",
        "// #define N 8",
        'const char *s = "const int N = 3";',
        "enum { NN = 3 };",
    ],
)
def test_what_defines_no_size_stays(text: str) -> None:
    """Variables, pointers, comparisons, other names, comments and strings."""
    assert with_values({"N": 5}, {"a.cu": text.encode()}) == {"a.cu": text.encode()}


def test_a_header_may_define_it() -> None:
    """The student's own."""
    header = (("size.h", b"#pragma once\n#define N 9\n"),)
    submission = Submission("ada", "a.cu", b'#include "size.h"\n', "", headers=header)
    files = dict(compile_files(submission, ProgramInterface(sizes=(("N", 40),))))
    assert files["size.h"] == b"#pragma once\n#define N 40\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sizes: {N: 72}", "sizes: {M: 72}", "expected one of `sizes` of the submission; `M` is none"),
        ("sizes: {N: 40}", "sizes: {N: 0}", "sizes"),
        ("sizes: {N: 40}", "sizes: {N: many}", "sizes"),
        (", sizes: {N: 40}", "", "it has none"),
    ],
)
def test_sizes_that_mean_nothing_are_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    """With their place, as every flaw."""
    (tmp_path / "assignment.yaml").write_text(YAML.replace(old, new))
    with pytest.raises(SpecError) as refused:
        load_assignment(tmp_path)
    assert message in str(refused.value)
