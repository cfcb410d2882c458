"""Launches that leave work undone: the first cause where the output is wrong, and else not mentioned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.running.device.host_source import lines_copying_pointers
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade

YAML = """
id: scale
title: Scale
submission: {kind: program, seconds: 2, emulator_seconds: 5}
cases:
  - {id: plain}
rubric:
  - {id: says, points: 5, check: text, exact: "right\\n"}
  - {id: host, points: 10, check: host}
"""

PROGRAM = r"""#include <cstdio>
const int ROWS = 70, COLUMNS = 50, N = ROWS * COLUMNS;
__global__ void scale(const float *in, float *out, int rows, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < columns) out[r * columns + c] = 2 * in[r * columns + c];
}
__global__ void flat(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}
int main() {
    static float h[N];
    float *in, *out;
    for (int i = 0; i < N; i++) h[i] = i + 1;
    cudaMalloc(&in, N * sizeof(float)); cudaMalloc(&out, N * sizeof(float));
    cudaMemcpy(in, h, N * sizeof(float), cudaMemcpyHostToDevice);
    BEFORE
    LAUNCH
    cudaMemcpy(h, out, N * sizeof(float), cudaMemcpyDeviceToHost);
    bool right = true;
    for (int i = 0; i < N; i++) right = right && h[i] == 2 * (i + 1);
    puts(right ? "right" : "wrong");
    cudaFree(in); cudaFree(out);
}
"""
LINE = PROGRAM[: PROGRAM.index("    LAUNCH")].count("\n") + 1
ZEROS = "cudaMemset(out, 0, N * sizeof(float));"


def program(launch: str, *changes: tuple[str, str], before: str = "") -> str:
    """The program with a launch, and with what stands before it."""
    source = PROGRAM.replace("BEFORE", before).replace("LAUNCH", launch)
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return source


ROUNDED_DOWN = "scale<<<dim3(COLUMNS / 16, ROWS / 16), dim3(16, 16)>>>(in, out, ROWS, COLUMNS);"
ROUNDED_UP = "scale<<<dim3((COLUMNS + 15) / 16, (ROWS + 15) / 16), dim3(16, 16)>>>(in, out, ROWS, COLUMNS);"
PART_LEFT = {
    "blocks are rounded down": (program("flat<<<N / 256, 256>>>(in, out, N);"), "flat", "172", "3328"),
    "in zeros": (program("flat<<<N / 256, 256>>>(in, out, N);", before=ZEROS), "flat", "172", "3328"),
    "along both axes": (program(ROUNDED_DOWN), "scale", "428", "48"),
    "rows are rounded down": (
        program(ROUNDED_UP.replace("(ROWS + 15) / 16", "ROWS / 16"), before=ZEROS),
        "scale",
        "300",
        "3200",
    ),
    "one block": (program("flat<<<1, 1024>>>(in, out, N);"), "flat", "2,476", "1024"),
    "the last quarter": (
        program("for (int k = 0; k < 3; k++) flat<<<4, 256>>>(in + k * 875, out + k * 875, 875);"),
        "flat",
        "875",
        "2625",
    ),
}
"""Programs that leave a part, with the kernel, how many elements are left, and the first of them."""

INDEX = "blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)"
UNREAD = {
    "blocks": (
        program(
            "flat<<<14, 256>>>(in, out, N);",
            (INDEX, INDEX.replace("blockIdx.x * blockDim.x + ", "")),
        ),
        "`flat` never reads `blockIdx`, so 14 blocks of this launch all do the same",
    ),
    "threads": (
        program(
            "flat<<<14, 256>>>(in, out, N);",
            (INDEX, INDEX.replace(" * blockDim.x + threadIdx.x", "")),
        ),
        "`flat` never reads `threadIdx`, so 256 threads of each block of this launch all do the same",
    ),
    "one axis": (
        program(ROUNDED_UP, ("blockIdx.y * blockDim.y + threadIdx.y", "threadIdx.y")),
        "`scale` never reads `blockIdx.y`, so 5 blocks of this launch all do the same",
    ),
}
"""Programs whose blocks or threads do the same, with what is reported."""

ENOUGH = "flat<<<(N + 255) / 256, 256>>>(in, out, N);"
ROWS = """static float *rows[ROWS];
    for (int r = 0; r < ROWS; r++) {
        rows[r] = new float[COLUMNS];
        for (int c = 0; c < COLUMNS; c++) rows[r][c] = r * COLUMNS + c + 1;
    }
    """
SENT = "cudaMemcpy(in, h, N * sizeof(float), cudaMemcpyHostToDevice);"
BY_ROWS = "cudaMemcpy2D(in, 200, (void *)rows, 200, 200, ROWS, cudaMemcpyHostToDevice);"
POINTERS_SENT = {
    "array of pointers": (SENT.replace("h, N", "rows, N"), ROWS),
    "array of pointers from the heap": (
        SENT.replace("h, N", "rows, N"),
        ROWS.replace("static float *rows[ROWS]", "float **rows = new float *[ROWS]"),
    ),
    "by rows": (BY_ROWS, ROWS),
    "address of a pointer": (SENT.replace("h, N", "&p, N"), "static float *p = h;\n    "),
}
"""Copies that take pointers, with what is declared before."""
WRONG = ("2 * in", "3 * in")
OTHERWISE = {
    "a wrong factor": program(ROUNDED_UP, WRONG),
    "a wrong factor, rows padded": program(
        "flat<<<(N + 255) / 256, 256>>>(in, out, N);",
        WRONG,
        ("N = ROWS * COLUMNS", "N = ROWS * COLUMNS, PADDED = 3584"),
        ("cudaMalloc(&out, N", "cudaMalloc(&out, PADDED"),
        ("static float h[N]", "static float h[PADDED]"),
        ("cudaMemcpy(h, out, N", "cudaMemcpy(h, out, PADDED"),
    ),
    "zeros where zeros were": program(
        "flat<<<(N + 255) / 256, 256>>>(in, out, N);",
        WRONG,
        ("h[i] = i + 1", "h[i] = i < 100 ? i + 1 : 0"),
        before=ZEROS,
    ),
    "a wrong factor in the first elements, several by each thread": program(
        "flat<<<4, 64>>>(in, out, N);",
        WRONG,
        (f"int i = {INDEX}", "for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 256)"),
        ("h[i] = i + 1", "h[i] = i < 1000 ? i + 1 : 0"),
        before=ZEROS,
    ),
    "work that is handed out": program(
        "flat<<<64, 64>>>(in, out, N);",
        WRONG,
        ("__global__ void flat", "__device__ int next;\n__global__ void flat"),
        ("int i = blockIdx.x * blockDim.x + threadIdx.x;", "int i = atomicAdd(&next, 1);"),
    ),
}
"""Programs that are wrong for another reason."""

RIGHT = {
    "right": program(ROUNDED_UP),
    "every block does all": program(
        "flat<<<4, 64>>>(in, out, N);",
        (
            "int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)",
            "for (int i = threadIdx.x; i < n; i += 64)",
        ),
    ),
}


def graded(source: str, folder: Path) -> Grade:
    """The grade of a program."""
    (folder / "assignment.yaml").write_text(YAML)
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(load_assignment(folder), 1, tools, visible_only=False)
    return pipeline.grade(plan, Submission("ada", "scale.cu", source.encode(), "0" * 8), tools)


@pytest.mark.parametrize("name", PART_LEFT)
def test_too_few_threads_are_the_first_cause(name: str, tmp_path: Path) -> None:
    """The line is the launch's, the elements are counted, and the host's own item is not lost for it."""
    source, kernel, missing, first = PART_LEFT[name]
    grade = graded(source, tmp_path)
    assert grade.cause is not None
    assert (grade.cause.code, grade.cause.line) == ("part-left", LINE)
    message = f"`{kernel}` leaves {missing} of 3,500 elements of out as they were, the first is out[{first}]"
    assert grade.cause.message == message
    assert [item.result.verdict for item in grade.items] == [Verdict.FAIL, Verdict.PASS]


@pytest.mark.parametrize("name", UNREAD)
def test_blocks_or_threads_that_do_the_same_are_the_first_cause(name: str, tmp_path: Path) -> None:
    """It names the index that is missing."""
    source, message = UNREAD[name]
    grade = graded(source, tmp_path)
    assert grade.cause is not None
    assert (grade.cause.code, grade.cause.line, grade.cause.message) == ("index-unread", LINE, message)


@pytest.mark.parametrize("name", POINTERS_SENT)
def test_pointers_that_are_sent_are_the_first_cause(name: str, tmp_path: Path) -> None:
    """The line is the copy's, and the array is the one that they are sent to."""
    copy, declared = POINTERS_SENT[name]
    source = program(ROUNDED_UP, (SENT, declared + copy))
    grade = graded(source, tmp_path)
    assert grade.cause is not None
    line = source[: source.index(copy)].count("\n") + 1
    assert (grade.cause.code, grade.cause.line) == ("addresses-sent", line)
    assert grade.cause.message.startswith("in is sent addresses of the host's memory")


@pytest.mark.parametrize(
    ("declared", "taken"),
    [
        ("float p[4][8]", "p"),
        ("float (*p)[8]", "p"),
        ("float *p", "p"),
        ("float p[8]", "&p"),
        ("float p", "&p"),
    ],
)
def test_copies_of_numbers_are_not_taken_for_copies_of_pointers(declared: str, taken: str) -> None:
    """Arrays of arrays lie in one piece."""
    assert (
        lines_copying_pointers(f"void f() {{ {declared}; cudaMemcpy(d, {taken}, 8, kind); }}") == frozenset()
    )


@pytest.mark.parametrize("name", OTHERWISE)
def test_a_program_that_is_wrong_for_another_reason_gets_no_such_cause(name: str, tmp_path: Path) -> None:
    """Padding stays as it was, a value may be what was there, and work may be handed out by a counter."""
    grade = graded(OTHERWISE[name], tmp_path)
    assert [item.result.verdict for item in grade.items] == [Verdict.FAIL, Verdict.PASS]
    assert grade.cause is None or grade.cause.code not in {"part-left", "index-unread"}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_remarked_where_the_output_is_right(name: str, tmp_path: Path) -> None:
    """Several blocks may do the same on purpose."""
    grade = graded(RIGHT[name], tmp_path)
    assert grade.cause is None
    assert [finding for item in grade.items for finding in item.result.findings] == []
