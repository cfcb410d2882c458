"""The many ways in which students write a right file: each builds, with its own constants."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from grader.model import Constant
from tests.toolchain.nvcc.conftest import BODY, INTERFACE, KERNEL, PARAMETERS, path_is_shown

if TYPE_CHECKING:
    from tests.toolchain.nvcc.conftest import BuildSource

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
    "extern C": (f'extern "C" {KERNEL}', 16),
    "mark and carriage returns": (
        b"\xef\xbb\xbf" + f"#define TILE_SIZE \\\r\n  8\r\n// x\r\n{KERNEL}".encode(),
        8,
    ),
    "the end of a file in DOS": (f"{KERNEL}\r\n\x1a", 16),
    "latin-1": ('// größe\nconst char *s = "größe";\n'.encode("latin-1") + KERNEL.encode(), 16),
    "utf-16": (f"const int TILE_SIZE = 8;\n{KERNEL}".encode("utf-16"), 8),
    "alias": (f"#define TILE_WIDTH 32\n{KERNEL}", 32),
    "two aliases": (f"#define BLOCK_SIZE 32\n#define TILE_WIDTH 8\n{KERNEL}", 8),
    "in a comment": (f"// #define TILE_SIZE 8\n/* const int TILE_SIZE = 8; */\n{KERNEL}", 16),
    "in another kernel": (f"__global__ void other() {{ const int TILE_SIZE = 8; }}\n{KERNEL}", 16),
    "an alias, and the name in another kernel": (
        f"#define TILE_WIDTH 8\n__global__ void other(int *p) {{ const int TILE_SIZE = 4; }}\n{KERNEL}",
        8,
    ),
    "undefined at the end": (f"#define TILE_SIZE 8\n{KERNEL}\n#undef TILE_SIZE\n", 8),
    "in the kernel": (KERNEL.replace("{", "{ const int TILE_SIZE = 8; C[1] = TILE_SIZE;"), 8),
    "a parameter": (KERNEL.replace("int N", "int TILE_SIZE").replace("[N]", "[TILE_SIZE]"), 16),
    "a template parameter": (f"template <int TILE_SIZE> {KERNEL}", 16),
    "namespaces": (f"namespace hw {{ namespace one {{ const int TILE_SIZE = 8;\n{KERNEL} }} }}", 8),
    "anonymous and static": (f"namespace {{\nstatic {KERNEL}}}\n", 16),
    "with main": (KERNEL + MAIN, 16),
    "restrict and bounds": (
        KERNEL.replace("*A", "* __restrict__ A").replace("void", "void __launch_bounds__(256)"),
        16,
    ),
    "constexpr functions of the host": (
        f"#include <algorithm>\n{KERNEL.replace('{', '{ C[1] = std::max(N, 2);', 1)}",
        16,
    ),
    "void first": (f"void __global__ scale{PARAMETERS} {BODY}", 16),
    "dynamic shared, inline ptx": (
        KERNEL.replace(
            "{",
            '{ asm volatile("mov.u32 %0, %%tid.x;" : "=r"(N)); extern __shared__ float s[]; s[N] = A[0];',
        ),
        16,
    ),
    "several kernels": (f"struct S {{ int a, b, c; }};\n__global__ void other(S s) {{}}\n{KERNEL}", 16),
    "a million lines": ("// line\n" * 1_000_000 + KERNEL, 16),
}

DEFINITIONS = {
    "DEFINE": ("#define DEFINE 32", 32),
    "SHIFT": ("#define SHIFT (1 << 3)", 8),
    "DEFAULT": ("#ifndef DEFAULT\n#define DEFAULT 25\n#endif", 25),
    "NOTHING": ("#define NOTHING 0", 0),
    "CONST_INT": ("const int CONST_INT = 2 * 4;", 8),
    "INT_CONST": ("static int const INT_CONST = CONST_INT + 1;", 9),
    "CONSTEXPR": ("constexpr unsigned CONSTEXPR{10u};", 10),
    "ENUM": ("enum { FIRST = 3, ENUM };", 4),
    "NEGATIVE": ("const long NEGATIVE = -5;", -5),
    "FUNCTION": ("constexpr int twice(int x) { return 2 * x; }\nconst int FUNCTION = twice(7);", 14),
    "ABSENT": ("// #define ABSENT 3", 16),
    "A_TYPE": ("struct A_TYPE {};", 16),
    "A_FUNCTION": ("int A_FUNCTION() { return 1; }", 16),
}


def test_a_constant_is_read_however_it_is_defined(build_source: BuildSource) -> None:
    """Macros, constants and enumerators have their values; what is no number leaves the default."""
    constants = tuple(Constant(name, 16) for name in DEFINITIONS)
    source = "\n".join(text for text, _ in DEFINITIONS.values())
    built = build_source(f"{source}\n{KERNEL}", replace(INTERFACE, constants=constants))
    assert dict(built.constants) == {name: value for name, (_, value) in DEFINITIONS.items()}


@pytest.mark.parametrize("text", ["int TILE_SIZE = 4;", "#define TILE_SIZE blockDim.x"])
def test_a_value_known_only_at_run_time_leaves_the_default(text: str, build_source: BuildSource) -> None:
    """A variable, or a value of the launch, is no constant."""
    assert build_source(f"{text}\n{KERNEL}").constants == (("TILE_SIZE", 16),)


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
    """A `size_t` where the assignment passes an int32 is accepted, and its width reported."""
    assert build_source(KERNEL).parameter_bytes == (8, 8, 4)
    assert build_source(KERNEL.replace("int N", "size_t N")).parameter_bytes == (8, 8, 8)


def test_resources_are_those_of_the_kernel(build_source: BuildSource) -> None:
    """Static shared memory, registers and the stack come from ptxas."""
    used = build_source(
        f"__global__ void big(float *p) {{ __shared__ float s[99]; s[0] = p[0]; p[1] = s[0]; }}\n{KERNEL}"
    )
    assert used.resources is not None
    assert used.resources.shared_bytes == 0
    assert used.resources.registers > 0
    tile = "{ __shared__ float t[8][9]; t[threadIdx.x][0] = A[0]; __syncthreads(); C[1] = t[0][threadIdx.x];"
    shared = build_source(KERNEL.replace("{", tile)).resources
    assert shared is not None
    assert shared.shared_bytes == 8 * 9 * 4


def test_extents_of_shared_arrays_are_known(build_source: BuildSource) -> None:
    """Macros, constants and template parameters are resolved."""
    arrays = (
        "{ __shared__ float t[TILE_SIZE][TILE_SIZE + 1], u[W]; "
        "t[0][N] = A[0]; u[N] = 1; C[1] = t[N][0] + u[0];"
    )
    built = build_source(f"#define W 7\ntemplate <int TILE_SIZE> {KERNEL.replace('{', arrays)}")
    assert built.shared_shapes == (("t", (16, 17)), ("u", (7,)))


def test_warnings_keep_their_numbers(build_source: BuildSource) -> None:
    """A variable without a value is a warning that names the student's line and nvcc's number."""
    built = build_source(KERNEL.replace("{", "{\n  float sum;\n  sum += A[0]; C[1] = sum;"))
    assert built.ok
    assert [(w.file, w.line) for w in built.warnings] == [("homework.cu", 3)]
    assert 'variable "sum" is used before its value is set (#549-D)' in built.warnings[0].message


def test_the_steps_are_timed(build_source: BuildSource) -> None:
    """Every step of a build has its seconds; both builds of a unit are one step, a warning's or not."""
    source = f"{KERNEL}\n// built here alone, and in no run before: {uuid4()}\n"
    noisy = source.replace("{", "{\n  float sum;\n  sum += A[0]; C[1] = sum;")
    once = {"preprocess", "compile", "assemble"}
    assert {name for name, _ in build_source(noisy).seconds} == once
    assert {name for name, _ in build_source(source).seconds} == once
