"""`grader trace` of launches of whole programs and functions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from grader.cli import main

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM_YAML = """
id: shift
title: Shift
submission: {kind: program, seconds: 5, emulator_seconds: 5}
cases:
  - {id: plain, arguments: [3, x]}
  - {id: idle, arguments: [none]}
  - {id: secret, visibility: hidden}
rubric:
  - {id: races, points: 10, check: races}
"""
PROGRAM = """#include <cstring>
__constant__ float factor[2];
__global__ void reverse(int *p, float *q) {
    __shared__ int s[8];
    s[threadIdx.x] = p[threadIdx.x];
    p[threadIdx.x] = s[7 - threadIdx.x];
    q[threadIdx.x] = factor[0] * p[threadIdx.x];
}
__global__ void fill(int *p) { p[threadIdx.x] = 10 * threadIdx.x; }
int main(int, char **words) {
    if (!std::strcmp(words[1], "none")) return 1;
    int *device; float *other, two[2] = {2, 3};
    cudaMalloc(&device, 32);
    cudaMalloc(&other, 64);
    cudaMemcpyToSymbol(factor, two, 8);
    fill<<<1, 8>>>(device);
    reverse<<<1, 8>>>(device, other);
    fill<<<1, 8>>>(device);
    cudaDeviceSynchronize();
    cudaFree(device); cudaFree(other);
}
"""


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    """The command up to the file."""
    (tmp_path / "assignment.yaml").write_text(PROGRAM_YAML)
    (tmp_path / "shift.cu").write_text(PROGRAM)
    return ["trace", str(tmp_path), str(tmp_path / "shift.cu"), "--sandbox", "local", "--width", "100"]


def test_the_first_launch_with_a_finding_is_traced_with_the_memory_that_it_found(
    program: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Arrays have the names of the host, elements the types of the kernel's parameters."""
    assert main([*program, "--json", str(tmp_path / "t.json"), "--html", str(tmp_path / "t.html")]) == 1
    printed = capsys.readouterr().out
    assert "case plain: 3 x; launch 2 of 3 (line 17); grid 1, block 8" in printed
    assert "all threads load device[0..7]" in printed
    assert "✗ line 6: in block (0, 0) thread (7, 0) reads s[0]" in printed
    assert "140  120  100   80   60   40   20    0" in printed
    document = json.loads((tmp_path / "t.json").read_text())
    assert document["launched"] == {"number": 2, "count": 3, "line": 17}
    assert document["arguments"] == ["3", "x"]
    arrays = {array["name"]: array for array in document["arrays"]}
    assert arrays["device"]["values"] == [0, 10, 20, 30, 40, 50, 60, 70]
    assert arrays["other"]["values"] == [None] * 16
    assert (arrays["factor"]["dtype"], arrays["factor"]["values"]) == ("float32", [2.0, 3.0])
    assert "launch 2 of 3" in (tmp_path / "t.html").read_text()


def test_a_launch_may_be_named_by_kernel_and_number(
    program: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Then its kernel's launches are counted alone; it is not wrong itself."""
    assert main([*program, "--kernel", "fill", "--launch", "2"]) == 0
    assert "launch 2 of 2 (line 18)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--launch", "9"], "--launch 9: case plain had 3 launches: 2 of `fill`, 1 of `reverse`"),
        (["--kernel", "fil"], "--kernel fil: case plain had 3 launches"),
        (["--kernel", "fill", "--launch", "3"], "--launch 3: case plain had 3 launches: 2 of `fill`"),
        (["--case", "idle"], "no kernel ran in case idle"),
        (["--case", "secret"], "no visible case `secret`; there are plain, idle"),
        (["--shape", "N=3"], "--shape N=3: case plain has no sizes"),
        (["--block", "0,1"], "--block 0,1: the grid is 1 × 1 × 1"),
    ],
)
def test_what_is_not_there_is_answered_with_what_there_is(
    program: list[str], typed: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 2, with one sentence; hidden cases are not revealed."""
    assert main([*program, *typed]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("int main() { return missing; }", "does not compile"),
        ("int main() { return 0; }", "calls no CUDA"),
        ("#include <cuda_runtime.h>\nint main() { cudaDeviceSynchronize(); }", "no kernel ran in case plain"),
        ("__global__ void k() {} int main() { k<<<1, 2000>>>(); }", "no kernel ran in case plain: "),
    ],
)
def test_a_file_without_a_launch_is_refused_with_the_reason(
    program: list[str], tmp_path: Path, source: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It does not compile, calls nothing, launches nothing, or its launch is refused."""
    (tmp_path / "shift.cu").write_text(source)
    assert main(program) == 2
    assert message in capsys.readouterr().err


FUNCTION_YAML = """
id: rows
title: Rows
reference: rows
submission: {kind: function, function: rows, pointers: device, seconds: 5, emulator_seconds: 5,
  parameters: {x: 'in float32[M, N]', y: 'out float32[M, N]', M: int32, N: int32}}
cases:
  - {id: odd, shape: {M: 3, N: 5}}
rubric:
  - {id: right, points: 10, check: output}
"""
ORACLE = """
import numpy as np
KINDS = ("random", "counting")
def inputs(kind, shape, rng):
    size = shape["M"] * shape["N"]
    x = np.arange(size) if kind == "counting" else rng.integers(-9, 9, size)
    return {"x": x.astype(np.float32).reshape(shape["M"], shape["N"])}
def expected(inputs, shape):
    return {"y": (2.0 * inputs["x"].astype(np.float64), np.zeros((shape["M"], shape["N"])))}
"""
FUNCTION = """
__global__ void twice(const float *x, float *y, int n) {
    if (threadIdx.x < n) y[n * blockIdx.x + threadIdx.x] = 2 * x[n * blockIdx.x + threadIdx.x];
}
extern "C" void rows(const float *in, float *out, int m, int n) { twice<<<m, 32>>>(in, out, n); }
"""


def test_a_launch_of_a_function_is_traced_on_another_shape(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its arrays have the extents of the assignment, and the names of the function's parameters."""
    (tmp_path / "assignments/rows").mkdir(parents=True)
    (tmp_path / "reference/rows").mkdir(parents=True)
    (tmp_path / "assignments/rows/assignment.yaml").write_text(FUNCTION_YAML)
    (tmp_path / "reference/rows/oracle.py").write_text(ORACLE)
    (tmp_path / "rows.cu").write_text(FUNCTION)
    command = ["trace", str(tmp_path / "assignments/rows"), str(tmp_path / "rows.cu"), "--sandbox", "local"]
    typed = ["--shape", "M=2,N=4", "--inputs", "counting", "--block", "1", "--width", "100"]
    assert main([*command, *typed]) == 0
    printed = capsys.readouterr().out
    assert "M=2, N=4; inputs counting, seed 1; launch 1 of 1 (line 5); grid 2, block 32" in printed
    assert "load in[1][0..3]" in printed
    assert "8  10  12  14" in printed
