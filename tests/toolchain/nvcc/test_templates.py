"""Kernels that are templates: the student's own instance is graded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.explaining.findings import compile_hint
from grader.model import Constant
from tests.toolchain.nvcc.conftest import INTERFACE, KERNEL, PARAMETERS, only_message, places

if TYPE_CHECKING:
    from tests.toolchain.nvcc.conftest import BuildSource

COARSE = f"template <int COARSE> {KERNEL.replace('2 *', 'COARSE *')}"
TILED = (
    f"template <int W> __global__ void scale{PARAMETERS} "
    "{ __shared__ float t[W][W + 1]; t[0][threadIdx.x] = A[N]; C[0] = t[0][N]; }\n"
)


def launches(*arguments: str) -> str:
    """Host code that launches the kernel with these template arguments."""
    calls = " ".join(f"scale<{each}><<<1, 1>>>(0, 0, 1);" for each in arguments)
    return f"int main() {{ {calls} }}\n"


@pytest.mark.parametrize(
    ("source", "instance", "tile"),
    [
        (f"#define TILE_SIZE 16\n{COARSE}{launches('1')}", "scale<1>", 16),
        (f"{COARSE}template __global__ void scale<3>{PARAMETERS};\n", "scale<3>", 16),
        (f"{COARSE}{launches('4', '16')}", "scale<16>", 16),
        (f"{COARSE}template __global__ void scale<3>{PARAMETERS};\n{launches('7')}", "scale<7>", 16),
        (f"template <int blockSize> {KERNEL}{launches('32')}", "scale<32>", 32),
        (f"template <int blockSize> {KERNEL}{launches('32', '16')}", "scale<16>", 16),
        (f"template <int K, int TILE_WIDTH> {KERNEL}{launches('16, 8')}", "scale<16, 8>", 8),
        (f"{TILED}{launches('32')}", "scale<32>", 32),
        (f"#define TILE_SIZE 8\n{TILED}{launches('32')}", "scale<32>", 8),
        (f"template <int N2, int K> {KERNEL}{launches('5, 3')}", "scale<5, 3>", 16),
        (f"template <int TILE_SIZE, int COARSE = 2> {KERNEL}", "scale<16, 2>", 16),
        (f"const int T = 4;\n{COARSE}void run() {{ scale<T><<<1, 1>>>(0, 0, 1); }}\n", "scale<4>", 16),
    ],
)
def test_the_instance_that_the_file_makes_is_graded(
    source: str, instance: str, tile: int, build_source: BuildSource
) -> None:
    """Of several the one that agrees with the constants, else the one launched; a tile is the parameter's."""
    built = build_source(source)
    assert (built.findings, built.instance) == ((), instance)
    assert built.constants == (("TILE_SIZE", tile),)


def test_an_instance_in_a_namespace_is_taken_as_it_is(build_source: BuildSource) -> None:
    """A parameter of an unknown name is no tile, whatever its value."""
    kernel = "__global__ void scale(const T *A, T *C, int N) { C[N] = A[W]; }"
    source = f"namespace hw {{ template <typename T, int W> {kernel} }}"
    use = "void use() { hw::scale<float, 32><<<1, 1>>>(0, 0, 1); }"
    built = build_source(f"#define TILE_SIZE 8\n{source}\n{use}\n")
    assert (built.entry, built.constants) == ("_ZN2hw5scaleIfLi32EEEvPKT_PS1_i", (("TILE_SIZE", 8),))


def test_a_type_is_found_among_the_instances(build_source: BuildSource) -> None:
    """An instance with another element type does not fit; the one that does is graded, or asked for."""
    kernel = "__global__ void scale(const T *A, T *C, int N) { C[N] = A[W]; }\n"
    template = f"template <typename T, int W> {kernel}"
    assert build_source(template + launches("double, 4", "float, 9")).instance == "scale<float, 9>"
    tile = template.replace("int W", "int TILE_SIZE").replace("A[W]", "A[TILE_SIZE]")
    assert build_source(tile + launches("double, 4")).instance == "scale<float, 16>"


def test_a_parameter_without_a_value_is_reported(build_source: BuildSource) -> None:
    """Its value is not guessed; the hint shows how to give one."""
    built = build_source(f"template <int TILE_SIZE, int COARSE, int K> {KERNEL}")
    assert only_message(built) == (
        "the kernel `scale` is a template that this file never uses, so that nothing gives values to its "
        "parameters `COARSE` and `K`"
    )
    assert places(built) == [("homework.cu", 1)]
    assert "template __global__ void scale<…>(…);" in compile_hint(built.findings)


def test_a_parameter_called_like_a_dimension_is_no_constant(build_source: BuildSource) -> None:
    """An assignment's dimensions and a template's parameters have names of their own."""
    interface = replace(INTERFACE, constants=(Constant("TILE_SIZE", 16, ("TILE",)),))
    built = build_source(f"template <int N, int TILE> {KERNEL.replace('int N)', 'int n)')}", interface)
    assert "parameter `N`" in only_message(built)
