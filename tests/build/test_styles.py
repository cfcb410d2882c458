"""The many ways in which students write a right file: each builds, with its own constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.build.conftest import BODY, KERNEL, PARAMETERS, path_is_shown

if TYPE_CHECKING:
    from tests.build.conftest import BuildSource

MAIN = """
#include <stdio.h>
#include <vector>
#define CHECK(call) do { cudaError_t error = (call); \\
    if (error != cudaSuccess) { fprintf(stderr, "%s\\n", cudaGetErrorString(error)); exit(1); } } while (0)
static int helper(std::vector<float> &v) { return (int)v.size(); }
int main(int argc, char **argv) {
    std::vector<float> v(10);
    float *d;
    CHECK(cudaMalloc((void **)&d, 40));
    scale<<<dim3(1, 1), dim3(16, 16)>>>(d, d, helper(v));
    CHECK(cudaDeviceSynchronize());
    printf("%f\\n", v[0]);
    return 0;
}
"""

STYLES: dict[str, tuple[str | bytes, int]] = {
    "plain": (KERNEL, 16),
    "extern C": (f'extern "C" {KERNEL}', 16),
    "carriage returns": (f"#define TILE_SIZE \\\r\n  8\r\n// x\r\n{KERNEL}".encode(), 8),
    "old line ends": (f"#define TILE_SIZE 8\r{KERNEL}".replace("\n", "\r"), 8),
    "mark": (b"\xef\xbb\xbf#define TILE_SIZE 8\n" + KERNEL.encode(), 8),
    "latin-1": ("// größe\nconst char *s = \"größe\";\n".encode("latin-1") + KERNEL.encode(), 16),
    "utf-16": (f"const int TILE_SIZE = 8;\n{KERNEL}".encode("utf-16"), 8),
    "alias": (f"#define TILE_WIDTH 32\n{KERNEL}", 32),
    "two aliases": (f"#define BLOCK_SIZE 32\n#define TILE_WIDTH 8\n{KERNEL}", 8),
    "const int": (f"const int TILE_WIDTH = 4;\n{KERNEL}", 4),
    "int const": (f"static int const TILE_SIZE = 2 * 4;\n{KERNEL}", 8),
    "constexpr": (f"constexpr unsigned TILE_SIZE{{25u}};\n{KERNEL}", 25),
    "enum": (f"enum {{ TILE_SIZE = 10 }};\n{KERNEL}", 10),
    "ifndef": (f"#ifndef TILE_SIZE\n#define TILE_SIZE (1 << 3)\n#endif\n{KERNEL}", 8),
    "zero": (f"#define TILE_SIZE 0\n{KERNEL}", 0),
    "in a comment": (f"// #define TILE_SIZE 8\n/* const int TILE_SIZE = 8; */\n{KERNEL}", 16),
    "in the kernel": (KERNEL.replace("{", "{ const int TILE_SIZE = 8; C[1] = TILE_SIZE;"), 8),
    "a type": (f"struct TILE_SIZE {{}};\n#define TILE_WIDTH 8\n{KERNEL}", 8),
    "a variable": (f"int TILE_SIZE = 4;\n{KERNEL}", 16),
    "a block dimension": (f"#define TILE_SIZE blockDim.x\n{KERNEL}", 16),
    "a parameter": (KERNEL.replace("int N", "int TILE_SIZE").replace("[N]", "[TILE_SIZE]"), 16),
    "template": (f"template <int TILE_SIZE> {KERNEL}", 16),
    "namespace": (f"namespace hw {{ namespace one {{ const int TILE_SIZE = 8;\n{KERNEL} }} }}", 8),
    "anonymous namespace": (f"namespace {{\n{KERNEL}}}\n", 16),
    "static": (f"static {KERNEL}", 16),
    "with main": (KERNEL + MAIN, 16),
    "wide integers": (KERNEL.replace("int N", "size_t N"), 16),
    "restrict": (KERNEL.replace("*A", "* __restrict__ A").replace("*C", "*__restrict__ C"), 16),
    "launch bounds": (KERNEL.replace("void", "void __launch_bounds__(256)"), 16),
    "void first": (f"void __global__ scale{PARAMETERS} {BODY}", 16),
    "dynamic shared": (KERNEL.replace("{", "{ extern __shared__ float s[]; s[0] = A[0]; C[1] = s[0];"), 16),
    "inline ptx": (KERNEL.replace("{", '{ asm volatile("mov.u32 %0, %%tid.x;" : "=r"(N));'), 16),
    "several kernels": (f"__global__ void other(struct Some *s) {{}}\n{KERNEL}", 16),
    "no last line end": (KERNEL.strip(), 16),
    "a million lines": ("// line\n" * 1_000_000 + KERNEL, 16),
}


@pytest.mark.parametrize("style", STYLES)
def test_a_right_file_builds_with_its_own_constants(style: str, build_source: BuildSource) -> None:
    """Each style gives both PTX texts, the entry and the tile size that the source means."""
    source, tile_size = STYLES[style]
    built = build_source(source)
    assert (built.ok, built.findings) == (True, ())
    assert f".entry {built.entry}(" in built.ptx
    assert f".entry {built.entry}(" in built.hazard_ptx
    assert built.constants == (("TILE_SIZE", tile_size),)
    assert "__grader" not in built.ptx + built.hazard_ptx


def test_hazard_ptx_has_the_students_lines(build_source: BuildSource) -> None:
    """The wrapper does not shift lines, and the file table names the neutral file without a folder."""
    built = build_source("#define TILE_SIZE 8\n\n" + KERNEL.replace("{", "{\n"))
    assert f'"{built.source_name}"' in built.hazard_ptx
    lines = {line.split()[2] for line in built.hazard_ptx.splitlines() if line.strip().startswith(".loc")}
    assert lines == {"3", "4"}
    assert not path_is_shown(built)


def test_the_widths_of_parameters_are_remembered(build_source: BuildSource) -> None:
    """A `size_t` where the assignment passes an int32 is accepted, and its width told."""
    assert build_source(KERNEL).parameter_bytes == (8, 8, 4)
    assert build_source(KERNEL.replace("int N", "size_t N")).parameter_bytes == (8, 8, 8)


def test_resources_are_those_of_the_kernel(build_source: BuildSource) -> None:
    """Static shared memory, registers and the stack come from ptxas."""
    used = build_source(f"__global__ void big(float *p) {{ __shared__ float s[99]; s[0] = p[0]; p[1] = s[0]; }}\n{KERNEL}")
    assert used.resources is not None
    assert used.resources.shared_bytes == 0
    assert used.resources.registers > 0
    tile = "{ __shared__ float t[8][9]; t[threadIdx.x][0] = A[0]; __syncthreads(); C[1] = t[0][threadIdx.x];"
    shared = build_source(KERNEL.replace("{", tile)).resources
    assert shared is not None
    assert shared.shared_bytes == 8 * 9 * 4


def test_extents_of_shared_arrays_are_known(build_source: BuildSource) -> None:
    """Macros, constants and template parameters are resolved."""
    arrays = "{ __shared__ float t[TILE_SIZE][TILE_SIZE + 1], u[W]; t[0][N] = A[0]; u[N] = 1; C[1] = t[N][0] + u[0];"
    built = build_source(f"#define W 7\ntemplate <int TILE_SIZE> {KERNEL.replace('{', arrays)}")
    assert built.shared_shapes == (("t", (16, 17)), ("u", (7,)))


def test_warnings_keep_their_numbers(build_source: BuildSource) -> None:
    """A variable without a value is a warning that names the student's line and nvcc's number."""
    built = build_source(KERNEL.replace("{", "{\n  float sum;\n  sum += A[0]; C[1] = sum;"))
    assert built.ok
    assert [(w.file, w.line) for w in built.warnings] == [("homework.cu", 3)]
    assert 'variable "sum" is used before its value is set (#549-D)' in built.warnings[0].message


def test_the_steps_are_timed(build_source: BuildSource) -> None:
    """Every step of a build has its seconds."""
    assert {name for name, _ in build_source(KERNEL).seconds} == {
        "preprocess",
        "compile",
        "compile-for-hazards",
        "assemble",
    }
