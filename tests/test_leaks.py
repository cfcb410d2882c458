"""Nothing that a student sees depends on hidden cases: shapes, values, places, counts or times."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader import pipeline
from grader.assignment import load_assignment
from grader.model import CaseGrade, Grade, Submission, Verdict, Visibility
from grader.nvcc import Tools, find_toolchain
from grader.reports import audience, html, junit, platforms, text
from grader.sandbox import LocalSandbox
from tests.builds import shared_builds

ROOT = Path(__file__).parent.parent
STAFF = ROOT / "reference/matmul"

HEAD = """\
id: leaky
title: Hidden shapes
reference: matmul
submission:
  kind: kernel
  kernel: tiledMatMul
  parameters:
    {A: "in float32[M, K]", B: "in float32[K, N]", C: "out float32[M, N]", M: int32, K: int32, N: int32}
  constants: {TILE_SIZE: {default: 16, aliases: [TILE_WIDTH, TILE_DIM, TILE, TS]}}
  launch: {block: [TILE_SIZE, TILE_SIZE], grid: [ceil(N / TILE_SIZE), ceil(M / TILE_SIZE)]}
cases:
  - {id: shown, shape: {M: 32, K: 32, N: 32}}
"""
RUBRIC = """\
rubric:
  - {id: compiles, points: 10, check: compile}
  - {id: right, points: 30, check: output, partial: per-case}
  - {id: barriers, points: 20, check: races}
  - {id: memory, points: 20, check: memory}
  - {id: reuse, points: 20, check: traffic, metric: global_load_bytes, baseline: naive, at_most: 0.5}
"""
HIDDEN = (
    (("first-one", 17, 19, 23, "random"), ("second-one", 33, 35, 18, "spikes")),
    (("ein-anderer", 41, 53, 29, "spikes"), ("noch-einer", 50, 37, 21, "random")),
)
"""What two assignments hide: other ids, shapes and inputs, the same number of cases."""

ALWAYS = ["no_store_guard"]
NOW_AND_THEN = [
    "tile_count_rounded_down",
    "no_zero_fill",
    "guard_one_too_far",
    "no_load_guard",
    "pads_with_one",
]


def grade(
    folder: Path,
    hidden: tuple[tuple[str, int, int, int, str], ...],
    file: Path,
    rubric: str = RUBRIC,
) -> Grade:
    """One submission, graded with these hidden cases."""
    place = folder / "assignments" / "leaky"
    place.mkdir(parents=True)
    shutil.copytree(
        STAFF, folder / "reference/matmul", ignore=shutil.ignore_patterns("mistakes", "__pycache__")
    )
    cases = "".join(
        f"  - {{id: {name}, shape: {{M: {m}, K: {k}, N: {n}}}, inputs: {kind}, visibility: hidden}}\n"
        for name, m, k, n, kind in hidden
    )
    (place / "assignment.yaml").write_text(HEAD + cases + rubric, encoding="utf-8")
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(load_assignment(place), 20, tools, visible_only=False)
    return pipeline.grade(plan, Submission("me", file.name, file.read_bytes(), ""), tools)


def reports(graded: Grade, source: list[str]) -> dict[str, str]:
    """All that a student may be shown of a grade."""
    return {
        "text": text.render(graded, source_lines=source, width=100).plain,
        "html": html.render(graded, source_lines=source),
        "junit": junit.render([audience.student_view(graded)]),
        "gradescope": platforms.gradescope(graded),
    }


@pytest.mark.parametrize("name", [*ALWAYS, *(pytest.param(n, marks=pytest.mark.slow) for n in NOW_AND_THEN)])
def test_two_assignments_that_hide_other_cases_say_the_same(tmp_path: Path, name: str) -> None:
    """The kernel is right in the visible case and wrong in every hidden one, in the same way in both."""
    file = STAFF / "mistakes" / f"{name}.cu"
    source = file.read_text(encoding="utf-8").splitlines()
    both = [grade(tmp_path / str(n), hidden, file) for n, hidden in enumerate(HIDDEN)]
    for graded in both:
        shown = {case.case.visibility: case.verdict for case in graded.cases}
        assert shown == {Visibility.VISIBLE: Verdict.PASS, Visibility.HIDDEN: Verdict.FAIL}
        assert not graded.error
    # What differs from run to run anyway: how long it took, and which assignment it was.
    first, second = (
        reports(replace(graded, seconds=(), assignment_digest="", cases=_timeless(graded)), source)
        for graded in both
    )
    for kind in first:
        assert first[kind] == second[kind], kind


def _timeless(graded: Grade) -> tuple[CaseGrade, ...]:
    """The cases without the seconds of the visible ones; those of the hidden ones must not show anyway."""
    visible = Visibility.VISIBLE
    return tuple(replace(c, seconds=0.0) if c.case.visibility is visible else c for c in graded.cases)


SPY = """\
#include <cassert>
__device__ int word; __device__ volatile int flag;
{own_arrays}
__device__ __noinline__ int deep(int n) {{
  volatile int a[64]; a[n & 63] = n; return deep(n + 1) + a[n & 63];
}}
extern "C" __global__ void tiledMatMul(const float *A, const float *B, float *C, int M, int K, int N) {{
  __shared__ int tile[4];
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (M != 32) {{
{lines}
  }}
  float sum = 0;
  if (row < M && column < N) for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
  if (row < M && column < N) C[row * N + column] = sum;
}}
"""
"""A right kernel that commits a misdeed in every hidden case, on the line that its data choose."""

VALUES = (1, *sorted({size for case in HIDDEN[0] + HIDDEN[1] for size in case[1:4]}))
"""The sizes of all hidden cases, and one that none has."""

CONDITIONS = [
    *(f"{size} == {value}" for size in "MKN" for value in VALUES),
    *(f"(__float_as_int(A[0]) >> {bit}) & 1" for bit in range(32)),
]
MISDEEDS = {
    "a race in shared memory": "tile[0] = threadIdx.x;",
    "a race between blocks": "word = blockIdx.x;",
    "a race in an array of the line's own": "own{line} = threadIdx.x;",
    "a store outside": "C[M * N + {line}] = 1;",
    "a load outside": "if (A[M * K + {line}] == 7) word = 1;",
    "a store outside shared memory": "tile[M - M + 4 + {line}] = 1;",
    "a misaligned store": "*(double *)((char *)C + 4) = 0;",
    "a value that nobody set": "{{ float u[2]; if (M < 0) u[0] = u[1] = 0; if (u[M & 1] == 1) C[0] = 1; }}",
    "a barrier that some miss": "if (threadIdx.x == 0) __syncthreads();",
    "a kernel that hangs": "while (flag == 0) ;",
    "a trap": "__trap();",
    "an assertion": "assert(M == {line});",
    "a stack that is full": "word = deep(M);",
    "an instruction that is not interpreted": 'asm volatile("brkpt;");',
}
QUICK = ("a race in an array of the line's own", "a store outside", "an instruction that is not interpreted")


def spy(folder: Path, misdeed: str) -> Path:
    """The file that would tell."""
    lines = [f"    if ({each}) {{{misdeed.format(line=n)}}}" for n, each in enumerate(CONDITIONS)]
    own = " ".join(f"__device__ int own{n};" for n in range(len(CONDITIONS)))
    file = folder / "spy.cu"
    text = SPY.format(own_arrays=own, lines="\n".join(lines))
    file.write_text("\n" * 5000 + text, encoding="utf-8")  # no other number looks like one of these lines
    return file


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in MISDEEDS]
)
def test_a_kernel_that_wants_to_tell_of_hidden_cases_cannot(tmp_path: Path, name: str) -> None:
    """It fails on another line for each size and each bit of an input, and none of it is told."""
    file = spy(tmp_path, MISDEEDS[name])
    source = file.read_text(encoding="utf-8").splitlines()
    both = [grade(tmp_path / str(n), hidden, file) for n, hidden in enumerate(HIDDEN)]
    told = []
    for graded in both:
        verdicts = {case.case.visibility: case.verdict for case in graded.cases}
        assert verdicts[Visibility.VISIBLE] is Verdict.PASS
        assert graded.verdict in {Verdict.FAIL, Verdict.ERROR}
        grade_told = replace(graded, seconds=(), assignment_digest="", cases=_timeless(graded), advice=())
        told.append(reports(grade_told, source))
    assert told[0] == told[1]
    first = next(n for n, line in enumerate(source, start=1) if "M == 1)" in line)
    lines = {str(first + n) for n in range(len(CONDITIONS))}
    student = audience.student_view(both[0])
    for result in (item.result for item in student.items):
        assert not lines & {str(finding.line) for finding in result.findings}
        assert not lines & set(re.findall(r"\d+", result.message + result.hint))
    assert not lines & set(re.findall(r"\d+", student.error))


def test_an_item_that_prefers_help_to_secrecy_tells_lines(tmp_path: Path) -> None:
    """`hidden_lines: true` says where, and still neither shape nor element nor count."""
    file = spy(tmp_path, MISDEEDS["a store outside"])
    rubric = RUBRIC.replace("check: memory}", "check: memory, hidden_lines: true}")
    graded = grade(tmp_path / "a", HIDDEN[0], file, rubric)
    memory = next(i.result for i in audience.student_view(graded).items if i.result.item.id == "memory")
    lines = file.read_text(encoding="utf-8").splitlines()
    where = [finding.line for finding in memory.findings]
    assert {"if (M == 17)", "if (N == 23)"} <= {
        lines[line - 1].split(" {")[0].strip() for line in where if line
    }
    assert all(finding.address == "C" and finding.count == 1 for finding in memory.findings)


@pytest.mark.slow
def test_times_of_hidden_cases_and_of_whole_runs_are_not_told(tmp_path: Path) -> None:
    """They would tell how large a hidden case is."""
    file = STAFF / "mistakes/does_not_compile.cu"
    graded = grade(tmp_path, HIDDEN[0], file)
    cases = tuple(
        replace(case, seconds=77.125) if case.case.visibility is Visibility.HIDDEN else case
        for case in graded.cases
    )
    timed = replace(graded, cases=cases, seconds=(("run", 88.125), ("build", 99.125)))
    for kind, told in reports(timed, []).items():
        assert not {"77.1", "88.1", "99.1"} & {told[i : i + 4] for i in range(len(told))}, kind
