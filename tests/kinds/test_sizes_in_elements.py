"""Sizes that count elements where the runtime counts bytes: reported at the call, and as the first cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.base.precision import BFLOAT16
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.running.device.element_sizes import PointedArray, filled_in_bytes
from grader.running.device.errors import HostCode
from grader.running.device.memory import DeviceAllocation
from grader.running.device.requests import Sharing
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.model import Grade

    Graded = Callable[[str], Grade]

FLOAT = np.dtype(np.float32)
YAML = """
id: move
title: Move
submission: {{kind: program, seconds: 2, emulator_seconds: 5}}
cases:
  - {{id: plain}}
rubric:
  - {{id: says, points: 5, check: text, exact: "99.50 49.50\\n"}}
  - {{id: memory, points: 10, check: memory}}
{host}"""
HOST_ITEM = "  - {id: host, points: 10, check: host}\n"
MOVE = r"""#include <cstdio>
__global__ void move(double *x, const double *v, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) x[i] += 0.5 * v[i];
}
int main() {
    const int n = 100;
    double x[n], v[n], *dx, *dv;
    for (int i = 0; i < n; i++) { x[i] = i; v[i] = 1; }
    cudaMalloc(&dx, n * sizeof(double));
    cudaMalloc(&dv, n * sizeof(double));
    cudaMemcpy(dx, x, n * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(dv, v, n * sizeof(double), cudaMemcpyHostToDevice);
    move<<<(n + 31) / 32, 32>>>(dx, dv, n);
    cudaMemcpy(x, dx, n * sizeof(double), cudaMemcpyDeviceToHost);
    printf("%.2f %.2f\n", x[99], x[49]);
    cudaFree(dx); cudaFree(dv);
}
"""
GRID = MOVE.replace("double *v, int n)", "double *v, int rows, int columns)").replace(
    "if (i < n)", "if (i < rows * columns)"
)
GRID = GRID.replace("dv, n);", "dv, 10, 10);")
WITHOUT_NUMBER = MOVE.replace(", int n) {", ") {\n    const int n = 100;").replace("dv, n);", "dv);")
ALLOCATED = "cudaMalloc(&dv, n * sizeof(double));", "cudaMalloc(&dv, n);"
EVERYWHERE = " * sizeof(double)", ""
SENT = "cudaMemcpy(dv, v, n * sizeof(double), cudaMemcpyHostToDevice)"
FILLED = (
    MOVE.replace("const double *v", "const int *v")
    .replace("double x[n], v[n], *dx, *dv;", "double x[n], *dx; int v[n], *dv;")
    .replace("&dv, n * sizeof(double)", "&dv, n * sizeof(int)")
    .replace(
        "cudaMemcpy(dv, v, n * sizeof(double), cudaMemcpyHostToDevice)", "cudaMemset(dv, 1, n * sizeof(int))"
    )
)
MOVED = {
    "one array": (
        MOVE.replace(*ALLOCATED).replace("(dv, v, n * sizeof(double)", "(dv, v, n"),
        "allocated-elements",
        11,
    ),
    "one array, whole copy": (MOVE.replace(*ALLOCATED), "allocated-elements", 11),
    "all sizes": (MOVE.replace(*EVERYWHERE), "allocated-elements", 10),
    "rows times columns": (GRID.replace(*EVERYWHERE), "allocated-elements", 10),
    "no number among the arguments": (WITHOUT_NUMBER.replace(*EVERYWHERE), "allocated-elements", 11),
    "floats": (MOVE.replace(*EVERYWHERE).replace("double", "float"), "allocated-elements", 10),
    "copy to the device": (MOVE.replace("(dx, x, n * sizeof(double)", "(dx, x, n"), "copied-elements", 12),
    "copies to the device": (
        MOVE.replace("(dx, x, n * sizeof(double)", "(dx, x, n").replace(
            "(dv, v, n * sizeof(double)", "(dv, v, n"
        ),
        "copied-elements",
        12,
    ),
    "copy to the host": (MOVE.replace("(x, dx, n * sizeof(double)", "(x, dx, n"), "copied-elements", 15),
    "a fill with ones": (FILLED, "filled-bytes", 13),
    "all copies": (
        MOVE.replace("n * sizeof(double), cuda", "n, cuda"),
        "copied-elements",
        12,
    ),
}
"""Programs with the code of their first mistake, and its line."""

QUARTERS = "for (int k = 0; k < n; k += n / 4)\n        "
RIGHT = {
    "filled and stored to": MOVE.replace("x[i] +=", "x[i] =")
    .replace("0.5 * v[i]", "i + 0.5 * v[i]")
    .replace(
        "cudaMemcpy(dx, x, n * sizeof(double), cudaMemcpyHostToDevice)",
        "cudaMemset(dx, 1, n * sizeof(double))",
    ),
    "right": MOVE,
    "quarters of floats": MOVE.replace("double", "float")
    .replace("cudaMemcpy(x, dx, n * sizeof(float)", QUARTERS + "cudaMemcpy(x + k, dx + k, n")
    .replace("cudaMemcpy(dv, v, n * sizeof(float)", QUARTERS + "cudaMemcpy(dv + k, v + k, n"),
    "whole blocks": MOVE.replace("n * sizeof(double));", "128 * sizeof(double));"),
    "the first elements come back": MOVE.replace("x[99], x[49]", "x[9] + 90, x[9] + 40").replace(
        "(x, dx, n * sizeof(double)", "(x, dx, n"
    ),
}


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


def graded(source: str, host: str, tools: Tools, folder: Path) -> Grade:
    """The grade of a program, with or without an item about the host."""
    (folder / "assignment.yaml").write_text(YAML.format(host=host))
    plan = pipeline.make_plan(load_assignment(folder), 1, tools, visible_only=False)
    return pipeline.grade(plan, Submission("ada", "move.cu", source.encode(), "0" * 8), tools)


@pytest.mark.parametrize("host", [HOST_ITEM, ""], ids=["host item", "no host item"])
@pytest.mark.parametrize("name", MOVED)
def test_a_size_in_elements_is_the_first_cause(name: str, host: str, tools: Tools, tmp_path: Path) -> None:
    """At the line of the call, whether or not an item looks at host code; no guard is advised."""
    source, code, line = MOVED[name]
    grade = graded(source, host, tools, tmp_path)
    assert grade.cause is not None
    assert (str(grade.cause.code), grade.cause.line) == (f"host-{code}", line)


FLOATS = MOVE.replace("double", "float")
BEYOND = FLOATS.replace("n * sizeof(float)", "4 * n").replace("if (i < n)", "if (i <= n)")
MEANT = {
    "sizeof": FLOATS.replace("&dv, n *", "&dv, n / 4 *").replace("dv, v, n *", "dv, v, n / 4 *"),
    "as long as an extent": BEYOND.replace("(n + 31) / 32, 32", "25, 16"),
}


@pytest.mark.parametrize("name", MEANT)
def test_a_size_that_is_meant_is_not_blamed_for_a_kernels_mistake(
    name: str, tools: Tools, tmp_path: Path
) -> None:
    """Its bytes are as many as the launch has elements, or threads, by chance."""
    grade = graded(MEANT[name], HOST_ITEM, tools, tmp_path)
    results = {item.result.item.id: item.result for item in grade.items}
    assert (results["host"].verdict, results["memory"].verdict) == (Verdict.PASS, Verdict.FAIL)
    assert "host" not in str(grade.cause.code if grade.cause else "")


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_keeps_its_points(name: str, tools: Tools, tmp_path: Path) -> None:
    """Nor one whose arrays are longer, or of which only a part comes back."""
    grade = graded(RIGHT[name], HOST_ITEM, tools, tmp_path)
    assert grade.verdict is Verdict.PASS, [item.result.message for item in grade.items]


@pytest.mark.parametrize("name", ["all sizes", "copies to the device"])
def test_no_item_advises_what_would_not_help(name: str, tools: Tools, tmp_path: Path) -> None:
    """The guard is there, and kernels are not to blame for what they read."""
    grade = graded(MOVED[name][0], HOST_ITEM, tools, tmp_path)
    hints = {item.result.item.id: item.result.hint for item in grade.items}
    assert hints["memory"] == ""


def test_a_short_copy_back_takes_no_advice_from_a_kernel_that_is_wrong(tools: Tools, tmp_path: Path) -> None:
    """Bytes that come back alter nothing that kernels do."""
    longer = "cudaMalloc(&dv, 1024); cudaMemset(dv, 0, 1024);"
    source = MOVED["copy to the host"][0].replace(ALLOCATED[0], longer).replace("if (i < n)", "if (i <= n)")
    grade = graded(source, HOST_ITEM, tools, tmp_path)
    hints = {item.result.item.id: item.result.hint for item in grade.items}
    assert "Guard the" in hints["memory"]


def test_a_fill_of_numbers_that_have_no_type_here_is_left_alone() -> None:
    """A bfloat16 is bytes to NumPy: what it becomes has no number to show."""
    allocation = DeviceAllocation(0, 4, Sharing.DEVICE, 1, 1)
    fills, content = {1: (1, 9)}, np.ones(4, np.uint8)
    mistakes = [filled_in_bytes(PointedArray(allocation, "a", t), fills, content) for t in (BFLOAT16, FLOAT)]
    assert [mistake and mistake.code for mistake in mistakes] == [None, HostCode.FILLED_BYTES]


def test_the_sentence_counts_in_elements_and_bytes(tools: Tools, tmp_path: Path) -> None:
    """With the kernel that uses the array, and the size that it needs."""
    grade = graded(MOVED["all sizes"][0], HOST_ITEM, tools, tmp_path)
    (host,) = (item.result for item in grade.items if item.result.item.id == "host")
    assert host.verdict is Verdict.FAIL
    assert [finding.message for finding in host.findings][:2] == [
        f"100 bytes are allocated for {array}, and move uses it as 100 elements of 8 bytes each: allocate "
        "100 * 8 bytes (`sizeof` of an element)"
        for array in ("dx", "dv")
    ]
