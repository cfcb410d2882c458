"""Names that a file declares although a macro has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.explaining.findings import compile_hint
from grader.toolchain.nvcc.macros import replaced_names
from tests.toolchain.nvcc.conftest import KERNEL

if TYPE_CHECKING:
    from tests.toolchain.nvcc.conftest import BuildSource


@pytest.mark.parametrize(
    ("before", "name", "line"),
    [
        ("#define T 16\ntemplate <typename T>\n__device__ T twice(T x) { return x + x; }\n", "T", 1),
        ("#define M 1000\n__device__ int one(const int M) { return 1; }\n", "M", 1),
    ],
)
def test_a_name_that_a_macro_replaces_is_named_with_the_macro(
    before: str, name: str, line: int, build_source: BuildSource
) -> None:
    """The compiler's own words are about a missing bracket, name or `;`."""
    built = build_source(before + KERNEL)
    assert not built.ok
    assert f"`{name}` is a macro, by the `#define` on line {line}" in compile_hint(built.findings)


@pytest.mark.parametrize(
    "text",
    [
        "#define TILE 16\n__shared__ float tile[TILE][TILE];",
        "#define RESTRICT __restrict__\nvoid f(float* RESTRICT a);",
        "#define T 16\n#undef T\ntemplate <typename T> void f(T);",
        "#define T 16\n// typename T\nint x = T; float y = x * T;",
        "#define F(x) x\nint F(int);",
    ],
)
def test_a_macro_that_is_used_replaces_no_declared_name(text: str) -> None:
    """Its value is wanted, it ends before, or it stands in a comment."""
    assert not replaced_names(text.encode())
