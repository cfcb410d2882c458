"""A kernel under several names: the copies assemble, and names lead back to cases."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError
from grader.simulation.ptx import parse
from grader.toolchain.gpu.request import index_of, name_for, with_copies
from grader.toolchain.nvcc import find_toolchain
from tests.simulation.emulator import nvcc

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
template <int N> __device__ int twice(int x) { return 2 * x + N; }
extern "C" __global__ void other(int *out) { out[threadIdx.x] = 1; }
extern "C" __global__ void kernel(int *out, int n) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int i = 0; i < n; ++i) if (i % 2) out[i] = twice<3>(tile[63 - threadIdx.x]);
}
"""


@pytest.fixture(scope="module")
def ptx() -> str:
    """The text of the build for hazards."""
    return nvcc.ptx(SOURCE)


def test_every_name_gets_a_kernel_and_the_others_stay(ptx: str) -> None:
    """The copies come beside what is there."""
    module = parse(with_copies(ptx, "kernel", [name_for(0), name_for(7)]))
    kernels = {function.name for function in module.functions if function.is_entry}
    assert kernels == {"other", "kernel", "grader_case_0", "grader_case_7"}


def test_the_copies_assemble(ptx: str, tmp_path: Path) -> None:
    """Labels, parameters and line numbers do not clash."""
    (tmp_path / "copies.ptx").write_text(with_copies(ptx, "kernel", map(name_for, range(20))))
    argv = [find_toolchain().ptxas, "-arch=sm_90", "-O0", "-lineinfo", "copies.ptx", "-o", "copies.cubin"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_kernel_that_is_not_there_is_our_error(ptx: str) -> None:
    """Part of a name does not do."""
    for name in ("kern", "kernel2", "tile"):
        with pytest.raises(OurError, match="was not found in the PTX"):
            with_copies(ptx, name, ["x"])


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("grader_case_12", 12),
        ("grader_case_3(float *, int)", 3),
        ("kernel", None),
        ("grader_case_", None),
        ("grader_case_1x", None),
        ("my_grader_case_1", None),
    ],
)
def test_a_name_leads_back_to_its_case(name: str, index: int | None) -> None:
    """With or without the parameters that a tool may print."""
    assert index_of(name) == index
