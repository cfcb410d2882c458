"""Kernels that a directive of the preprocessor leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.explaining.findings import compile_hint
from tests.toolchain.nvcc.conftest import KERNEL, only_message, places

if TYPE_CHECKING:
    from tests.toolchain.nvcc.conftest import BuildSource

OTHER = "__global__ void other(int *p) { p[0] = 1; }\n"


@pytest.mark.parametrize(
    ("source", "line", "directive"),
    [
        (f"#ifdef X\n{KERNEL}#endif\n", 2, "`#ifdef X` in line 1"),
        (f"{OTHER}#if 0  // old\n\n{KERNEL}#endif\n", 4, "`#if 0` in line 2"),
        (f"#if 1\n#else\n{KERNEL}#endif\n", 3, "`#else` in line 2"),
        (f"#ifdef A\n#ifdef B\n#endif\n{KERNEL}#endif\n", 4, "`#ifdef A` in line 1"),
    ],
)
def test_a_kernel_that_the_preprocessor_leaves_out_is_reported(
    source: str, line: int, directive: str, build_source: BuildSource
) -> None:
    """The message names the directive and its line, and the hint does not ask for `__global__`."""
    built = build_source(source)
    assert only_message(built) == f"no kernel named `scale` is compiled: {directive} leaves it out"
    assert places(built) == [("homework.cu", line)]
    assert "outside of that `#if`" in compile_hint(built.findings)


def test_a_kernel_in_a_comment_is_no_kernel(build_source: BuildSource) -> None:
    """A kernel that is commented out is not reported as left out by a directive."""
    built = build_source(f"#if 1\n/* {KERNEL} */\n#endif\n")
    assert only_message(built) == "no kernel named `scale`: this file has no `__global__` function"
