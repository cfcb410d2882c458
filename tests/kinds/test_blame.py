"""The blame for an instruction that the emulator does not interpret: it is on whoever wrote it by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import PtxSyntaxError, UnsupportedPtx
from grader.kinds import pipeline
from grader.model import FindingKind, Grade, KernelInterface, Submission, Verdict
from grader.reports import audience
from grader.running.backends.emulated_kernel import Handwriting, written_by_hand
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled

if TYPE_CHECKING:
    from grader.model import Named

ADDS = """\

extern "C" __global__ void vectorAdd(const float *a, const float *b, float *c, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  {line}
  if (i < n) c[i] = a[i] + b[i]{wrong};
}}
"""
BY_HAND = {
    "a trap for debuggers": 'if (n & 31) asm volatile("brkpt;");',
    "a video instruction": 'if (n & 31) asm volatile("{ .reg .b32 x; vadd.s32.s32.s32 x, 1, 2, 3; }");',
    "a forged end": 'if (n & 31) asm("// end inline asm\\n { .reg .b32 x; vadd.s32.s32.s32 x, 1, 2, 3; }");',
    "a built-in": "if (n & 31) { char *p = (char *)__builtin_alloca(n); p[n - 1] = 1; if (*p == 2) *c = 1; }",
    "registers without number": 'asm volatile("{ .reg .b32 x<3000000>; }");',
}


def graded(
    line: str,
    wrong: str = "",
    *,
    inline_asm: bool = False,
    before: str = "",
    headers: Named[bytes] = (),
) -> Grade:
    """A vector sum with a line of its own, on visible cases."""
    assignment = bundled("vector-add")
    assert isinstance(assignment.interface, KernelInterface)
    assignment = replace(assignment, interface=replace(assignment.interface, inline_asm=inline_asm))
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=True)
    source = (before + ADDS.format(line=line, wrong=wrong)).encode()
    return pipeline.grade(plan, Submission("me", "add.cu", source, "", headers=headers), tools)


VARIADIC = """\
#include <cstdarg>
__device__ float total(int count, ...) {
  va_list list;
  va_start(list, count);
  float sum = 0;
  for (int k = 0; k < count; ++k) sum += (float)va_arg(list, double);
  va_end(list);
  return sum;
}
"""


def test_what_the_emulator_does_not_interpret_of_plain_code_is_a_question_with_its_line() -> None:
    """A list of arguments without an end: its points stay in the maximum, and nobody calls it our failure."""
    grade = graded("if (i < n) c[i] = total(2, (double)a[i], (double)b[i]);", before=VARIADIC)
    assert (grade.verdict, grade.is_question) == (Verdict.ERROR, True)
    assert grade.max_score == graded("").max_score
    messages = {item.result.item.check: item.result.message for item in grade.items}
    assert "the emulator does not interpret `mov.u64 of %VAParam` (line 4 of add.cu)" in messages["output"]


@pytest.mark.parametrize("name", BY_HAND)
def test_what_a_student_writes_by_hand_fails_with_a_hint_of_what_to_use_instead(name: str) -> None:
    """It is no error of ours, the cases that did run are judged, and the line is reported."""
    made = graded(BY_HAND[name])
    assert (made.verdict, made.error) == (Verdict.FAIL, "")
    failing = [item.result for item in made.items if item.result.verdict is Verdict.FAIL]
    findings = [f for result in failing for f in result.findings if f.kind is FindingKind.UNSUPPORTED]
    assert findings
    assert {finding.line for finding in findings} == {4}
    assert any("use CUDA C++ instead" in result.hint or "Use CUDA C++" in result.hint for result in failing)
    if "n & 31" in BY_HAND[name]:
        assert {case.verdict for case in made.cases} == {Verdict.PASS, Verdict.FAIL}


TEXTURES = {
    "a texture": "c[0] = tex2D<float>((cudaTextureObject_t)n, 1.0f, 2.0f);",
    "a surface": "surf2Dwrite(1.0f, (cudaSurfaceObject_t)n, 4, 2);",
}


@pytest.mark.parametrize("name", TEXTURES)
def test_fetches_from_textures_are_the_students_although_a_header_writes_them(name: str) -> None:
    """No kernel is given a texture or a surface; the line is reported, and what to use instead."""
    made = graded(f"if (n & 31) {TEXTURES[name]}")
    assert (made.verdict, made.error) == (Verdict.FAIL, "")
    failing = [item.result for item in made.items if item.result.verdict is Verdict.FAIL]
    findings = [f for result in failing for f in result.findings if f.kind is FindingKind.UNSUPPORTED]
    assert {finding.line for finding in findings} == {4}
    assert all("on line 4 and is given no texture or surface" in result.message for result in failing[:1])
    assert any("arrays that the kernel is given by their subscripts" in result.hint for result in failing)
    assert {case.verdict for case in made.cases} == {Verdict.PASS, Verdict.FAIL}


def test_a_texture_in_a_function_of_the_students_has_its_line_there() -> None:
    """The innermost line of the file; none where lines are renamed or all lie in headers."""
    sources = (("texture_indirect_functions.h", 145), ("student_source.cu", 7), ("student_source.cu", 20))
    problem = UnsupportedPtx("tex.2d.v4.f32.f32", 9, sources)

    def blamed(problem: UnsupportedPtx, *, renames: bool = False) -> int | None:
        handed_in = Handwriting(renames_lines=renames)
        finding = written_by_hand(problem, "", "student_source.cu", "a.cu", handed_in)
        assert finding is not None
        return finding.line

    assert blamed(problem) == 7
    assert blamed(problem, renames=True) is None
    assert blamed(UnsupportedPtx("tex.2d.v4.f32.f32", 9)) is None


TRAP = '__device__ __forceinline__ void trap() { asm volatile("brkpt;"); }\n'
RENAMED = {
    "a directive": '#line 100 "/usr/local/cuda/include/cuda_fp16.h"\n',
    "a directive in pieces": '/* */ # \\\n li\\\nne 100 "/usr/local/cuda/include/cuda_fp16.h"\n',
    "a directive behind a comment": '/*\n*/ #line 100 "/usr/local/cuda/include/cuda_fp16.h"\n',
    "a directive around a comment": '# /*\n*/ line 100 "/usr/local/cuda/include/cuda_fp16.h"\n',
    "a directive behind a page": '#\\\f\nline 100 "/usr/local/cuda/include/cuda_fp16.h"\n',
    "a marker": '# 100 "/usr/local/cuda/include/cuda_fp16.h"\n',
}


@pytest.mark.parametrize("name", RENAMED)
def test_lines_that_claim_to_be_of_the_toolkit_are_the_students(name: str) -> None:
    """Whatever file a directive claims."""
    made = graded("if (n & 31) trap();", before=RENAMED[name] + TRAP)
    assert (made.verdict, made.error) == (Verdict.FAIL, "")


@pytest.mark.parametrize("name", RENAMED)
def test_what_cannot_be_read_is_the_students_whatever_its_lines_are_called(name: str) -> None:
    """The file does not compile for the grader; no line is reported where lines have other names."""
    made = graded(BY_HAND["registers without number"], before=RENAMED[name])
    assert (made.verdict, made.error) == (Verdict.FAIL, "")
    (compiles,) = (item.result for item in made.items if item.result.item.check == "compile")
    assert [(finding.kind, finding.line) for finding in compiles.findings] == [
        (FindingKind.UNSUPPORTED, None)
    ]


def test_what_stands_in_a_header_of_the_students_is_the_students() -> None:
    """As if it stood in the source."""
    headers = (("own.h", TRAP.encode()),)
    made = graded("if (n & 31) trap();", before='#include "own.h"\n', headers=headers)
    assert (made.verdict, made.error) == (Verdict.FAIL, "")


def test_staff_may_allow_it_and_it_is_an_error_of_ours_then() -> None:
    """With `inline_asm: true` no student loses points for what the emulator lacks."""
    made = graded(BY_HAND["a trap for debuggers"], inline_asm=True)
    assert made.verdict is Verdict.ERROR
    assert "brkpt" in audience.student_view(made).error


def test_what_a_header_writes_is_never_blamed_on_the_student() -> None:
    """Nor what nvcc makes of plain C++, nor what has no place."""
    ptx = """\
.visible .entry k()
{
\t.loc\t1 4 3
\t// begin inline asm
\tvadd.s32 %r1, %r2;
\t// end inline asm
\t.loc\t2 90 5, function_name $L__info_string0, inlined_at 1 5 3
\t// begin inline asm
\tmbarrier.init.b64 %rd1;
\t// end inline asm
\t.loc\t1 6 3
\tadd.odd.s32 %r1, %r2;
}
.func f()
{
\t// begin inline asm
\tbrkpt;
\t// end inline asm
}
\t.file\t1 "/box/student_source.cu"
\t.file\t2 "/usr/include/cuda/barrier"
"""
    blamed = [
        written_by_hand(UnsupportedPtx("add.odd", line), ptx, "student_source.cu", "a.cu")
        for line in (5, 9, 12, 17)
    ]
    assert [None if finding is None else (finding.hazard, finding.line) for finding in blamed] == [
        ("add.odd", 4),
        None,
        None,
        None,
    ]
    unread = PtxSyntaxError("PTX line 5: expected `;`")
    own = written_by_hand(unread, ptx, "student_source.cu", "a.cu")
    assert own is not None
    assert written_by_hand(PtxSyntaxError("the PTX ends"), ptx, "student_source.cu", "a.cu") is None


def test_a_place_that_assembly_gives_itself_is_none() -> None:
    """A `.loc` of the student's own names a file of the toolkit, and the instruction stays the student's."""
    uses_header = (
        "#include <cuda_fp16.h>\n__device__ float h(float x) { return __half2float(__float2half(x)); }\n"
    )
    line = 'if (n & 31) asm volatile(".loc 2 5 0\\n\\tbrkpt;");'
    made = graded(line, before=uses_header)
    assert (made.verdict, made.error) == (Verdict.FAIL, "")
