"""Nothing that a student sees depends on hidden cases: shapes, values, places, counts or times."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import CaseGrade, Grade, Submission, Verdict, Visibility
from grader.reports import audience
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.mistakes import mistake_file
from tests.reports.leaving import leaving

ROOT = Path(__file__).parents[2]
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
"""The hidden cases of two assignments: other ids, shapes and inputs, the same number of cases."""

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
    head: str = HEAD,
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
    (place / "assignment.yaml").write_text(head + cases + rubric, encoding="utf-8")
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(load_assignment(place), 20, tools, visible_only=False)
    return pipeline.grade(plan, Submission("me", file.name, file.read_bytes(), ""), tools)


@pytest.mark.parametrize("name", [*ALWAYS, *(pytest.param(n, marks=pytest.mark.slow) for n in NOW_AND_THEN)])
def test_two_assignments_that_hide_other_cases_say_the_same(tmp_path: Path, name: str) -> None:
    """The kernel is right in the visible case and wrong in every hidden one, in the same way in both."""
    file = mistake_file(STAFF / "mistakes" / f"{name}.cu")
    source = file.read_text(encoding="utf-8").splitlines()
    both = [grade(tmp_path / str(n), hidden, file) for n, hidden in enumerate(HIDDEN)]
    for graded in both:
        shown = {case.case.visibility: case.verdict for case in graded.cases}
        assert shown == {Visibility.VISIBLE: Verdict.PASS, Visibility.HIDDEN: Verdict.FAIL}
        assert not graded.error
    first, second = (leaving(_comparable(graded), source) for graded in both)
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
    """It fails on another line for each size and each bit of an input, and none of it is reported."""
    file = spy(tmp_path, MISDEEDS[name])
    source = file.read_text(encoding="utf-8").splitlines()
    both = [grade(tmp_path / str(n), hidden, file) for n, hidden in enumerate(HIDDEN)]
    outputs = []
    for graded in both:
        verdicts = {case.case.visibility: case.verdict for case in graded.cases}
        assert verdicts[Visibility.VISIBLE] is Verdict.PASS
        assert graded.verdict in {Verdict.FAIL, Verdict.ERROR}
        without_times = replace(graded, seconds=(), assignment_digest="", cases=_timeless(graded), advice=())
        outputs.append(leaving(without_times, source))
    assert outputs[0] == outputs[1]
    first = next(n for n, line in enumerate(source, start=1) if "M == 1)" in line)
    lines = {str(first + n) for n in range(len(CONDITIONS))}
    student = audience.student_view(both[0])
    for result in (item.result for item in student.items):
        assert not lines & {str(finding.line) for finding in result.findings}
        assert not lines & set(re.findall(r"\d+", result.message + result.hint))
    assert not lines & set(re.findall(r"\d+", student.error))


BITS = """\
__device__ int word;
extern "C" __global__ void tiledMatMul(const float *A, const float *B, float *C, int M, int K, int N) {
  __shared__ int tile[4];
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (M == 17 || M == 41 || M == 50) tile[0] = threadIdx.x;
  if (K == 19 || K == 35 || K == 37) word = A[-1];
  float sum = N == 18 || N == 21 ? 1 : 0;
  if (row < M && column < N) for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
  if (row < M && column < N) C[row * N + column] = sum;
}
"""
"""Races in the first, or in both hidden cases; goes outside in both, or the second; one output is wrong."""

BITS_OF_FUNCTION = """\
__global__ void product(const float *A, const float *B, float *C, int M, int K, int N, int q) {
  __shared__ int tile[4];
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (q & 1) tile[0] = threadIdx.x;
  float sum = q & 4 ? 1 : 0;
  if (row < M && column < N) for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
  if (row < M && column < N) C[row * N + column] = sum;
}
void solve(const float *A, const float *B, float *C, int M, int K, int N) {
  int q = (M == 17 || M == 41 || M == 50) | (K == 19 || K == 35 || K == 37) << 1 | (N == 18 || N == 21) << 2;
  float *a, *b, *c;
  cudaMalloc(&a, 4 * M * K); cudaMalloc(&b, 4 * K * N); cudaMalloc(&c, 4 * M * N);
  cudaMemcpy(a, A, 4 * M * K, cudaMemcpyHostToDevice); cudaMemcpy(b, B, 4 * K * N, cudaMemcpyHostToDevice);
  product<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(a, b, c, M, K, N, q);
  cudaMemcpy(C, c, 4 * M * N, cudaMemcpyDeviceToHost);
  if (!(q & 2)) cudaFree(a);
  cudaFree(b); cudaFree(c);
}
"""
FUNCTION = (
    HEAD[: HEAD.index("submission:")]
    + """\
submission:
  kind: function
  function: solve
  pointers: host
  parameters:
    {A: "in float32[M, K]", B: "in float32[K, N]", C: "out float32[M, N]", M: int32, K: int32, N: int32}
  device_memory: 64
  emulator_seconds: 10
cases:
  - {id: shown, shape: {M: 32, K: 32, N: 32}}
"""
)
FUNCTION_RUBRIC = """\
rubric:
  - {id: compiles, points: 10, check: compile}
  - {id: right, points: 30, check: output, partial: per-case}
  - {id: barriers, points: 20, check: races}
  - {id: memory, points: 20, check: memory}
  - {id: host, points: 20, check: host, severity: info}
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["kernel", "function"])
def test_hidden_cases_that_fail_the_same_items_in_another_way_look_the_same(
    tmp_path: Path, kind: str
) -> None:
    """Every file and format is the same, whichever hidden cases fail an item, and however many."""
    file = tmp_path / "bits.cu"
    file.write_text(BITS if kind == "kernel" else BITS_OF_FUNCTION, encoding="utf-8")
    head, rubric = (HEAD, RUBRIC) if kind == "kernel" else (FUNCTION, FUNCTION_RUBRIC)
    both = [grade(tmp_path / str(n), hidden, file, rubric, head) for n, hidden in enumerate(HIDDEN)]
    failing = [[dict(item.result.case_verdicts) for item in graded.items] for graded in both]
    counts = [[sum(v is Verdict.FAIL for v in verdicts.values()) for verdicts in items] for items in failing]
    assert counts[0] != counts[1]  # staff see that they are not the same
    assert [one.result.verdict for one in both[0].items] == [one.result.verdict for one in both[1].items]
    shown = [leaving(_comparable(graded), file.read_text().splitlines()) for graded in both]
    assert "hidden cases" in shown[0]["junit.xml"]
    for name, content in shown[0].items():
        assert content == shown[1][name], name


def _comparable(graded: Grade) -> Grade:
    """A grade without what differs from run to run, and without which assignment it was."""
    return replace(graded, seconds=(), assignment_digest="", cases=_timeless(graded))


PROGRAM = """\
#include <cstdio>
#include <cstdlib>
__global__ void add(int *x, int q) {
  __shared__ int tile[1];
  if (q & 2) tile[0] = threadIdx.x;
  x[threadIdx.x] = threadIdx.x;
}
int main(int count, char **words) {
  int n = count > 1 ? atoi(words[1]) : 32, q = n == 32 ? 0 : n, *x;
  cudaMalloc(&x, 4 * 32);
  add<<<1, 32>>>(x, q & 2);
  cudaDeviceSynchronize();
  if (q & 1) fprintf(stderr, "%d", n);
  printf("%s", q & 4 ? words[1] : "right");
  if (!(q & 8)) cudaFree(x);
  if (q & 64) abort();
  return q & 16 ? n : 0;
}
"""
PROGRAM_YAML = """\
id: leaky
title: Hidden arguments
submission: {{kind: program, seconds: 5, emulator_seconds: 5}}
cases:
  - {{id: plain}}
{cases}
rubric:
  - {{id: compiles, points: 10, check: compile}}
  - {{id: ends, points: 20, check: exit, partial: per-case}}
  - {{id: says, points: 20, check: text, lines: right}}
  - {{id: barriers, points: 20, check: races}}
  - {{id: host, points: 20, check: host, severity: info}}
"""


@pytest.mark.slow
def test_hidden_runs_of_a_program_that_fail_the_same_items_look_the_same(tmp_path: Path) -> None:
    """A status, a signal, a text, a race and memory that is never freed, in one run, in two or in all."""
    file = tmp_path / "spells.cu"
    file.write_text(PROGRAM, encoding="utf-8")
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    shown = []
    for number, arguments in enumerate(((30, 64, 128), (18, 12, 95))):
        place = tmp_path / str(number)
        place.mkdir()
        cases = "\n".join(
            f"  - {{id: c{number}{n}, arguments: [{one}], visibility: hidden}}"
            for n, one in enumerate(arguments)
        )
        (place / "assignment.yaml").write_text(PROGRAM_YAML.format(cases=cases), encoding="utf-8")
        plan = pipeline.make_plan(load_assignment(place), 20, tools, visible_only=False)
        graded = pipeline.grade(plan, Submission("me", file.name, file.read_bytes(), ""), tools)
        assert [one.result.verdict for one in graded.items] == [Verdict.PASS, *[Verdict.FAIL] * 4]
        shown.append(leaving(_comparable(graded), PROGRAM.splitlines()))
    for name, content in shown[0].items():
        assert content == shown[1][name], name


def test_an_item_that_prefers_help_to_secrecy_tells_lines(tmp_path: Path) -> None:
    """`hidden_lines: true` shows lines, and still neither shape nor element nor count."""
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
def test_times_of_hidden_cases_and_of_whole_runs_are_not_reported(tmp_path: Path) -> None:
    """They would tell how large a hidden case is."""
    file = mistake_file(STAFF / "mistakes/does_not_compile.cu")
    graded = grade(tmp_path, HIDDEN[0], file)
    cases = tuple(
        replace(case, seconds=77.125) if case.case.visibility is Visibility.HIDDEN else case
        for case in graded.cases
    )
    timed = replace(graded, cases=cases, seconds=(("run", 88.125), ("build", 99.125)))
    for kind, output in leaving(timed, []).items():
        assert not {"77.1", "88.1", "99.1"} & {output[i : i + 4] for i in range(len(output))}, kind
