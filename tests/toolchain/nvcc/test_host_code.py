"""Host code that does not compile costs a kernel nothing; device code that does not compile is an error."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.model import Severity
from grader.toolchain.nvcc.diagnostics import END_OF_UNIT
from grader.toolchain.nvcc.host_code import without_host_code
from tests.toolchain.nvcc.conftest import INTERFACE, KERNEL, only_message

if TYPE_CHECKING:
    from tests.toolchain.nvcc.conftest import BuildSource

GONE = "int main() {\n  cudaThreadSynchronize();\n}\n"

RIGHT: dict[str, tuple[str, int, str]] = {
    "removed function": (
        f"{KERNEL}{GONE}",
        3,
        "is undefined; removed from CUDA by version 13: use `cudaDeviceSynchronize()`",
    ),
    "removed member": (
        f"{KERNEL}void show(cudaDeviceProp p) {{ int rate = p.clockRate; }}\n",
        2,
        "use `cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, device)`",
    ),
    "missing library": (
        f"\n#include <cublas_nothere.h>\n{KERNEL}handle_t handle;\nvoid use(handle_t h) {{ h = handle; }}\n",
        2,
        "the header `cublas_nothere.h` was not found",
    ),
    "missing -D": (
        f"{KERNEL}int main() {{ static float a[SIZE]; return a[0]; }}\n",
        2,
        '"SIZE" is undefined',
    ),
    "syntax": (f"{KERNEL}int main() {{ int a = ; for (; }}\n", 2, "expected an expression"),
    "missing brace": (f"{KERNEL}int main() {{ if (true) {{ }}\n", 2, 'expected a "}"'),
    "prototype": (f"handle_t make(int);\n{KERNEL}", 1, '"handle_t"'),
    "class": (f"struct Timer {{ event_t e; void go() {{ }} }};\n{KERNEL}", 1, '"event_t"'),
    "host template": (
        f"template <typename T> nothere run(T x) {{ return x; }}\n{KERNEL}",
        1,
        '"nothere"',
    ),
    "namespace": (f"namespace hw {{ void f() {{ nothere(); }}\n}}\n{KERNEL}", 1, '"nothere" is undefined'),
}


@pytest.mark.parametrize("case", RIGHT)
def test_a_right_kernel_is_built_whatever_its_host_code_is(case: str, build_source: BuildSource) -> None:
    """The build is that of the kernel, and a remark names the error and its line."""
    source, line, message = RIGHT[case]
    built = build_source(source)
    assert (built.ok, built.findings) == (True, ())
    assert ".entry _Z5scalePKfPfi(" in built.ptx
    remark = built.warnings[0]
    assert (remark.line, remark.severity) == (line, Severity.WARNING)
    assert remark.message.startswith("not judged, for only the kernel is asked for: ")
    assert message in remark.message


def test_the_kernel_is_the_same_with_and_without_its_host_code(build_source: BuildSource) -> None:
    """Nothing of device code changes, its line numbers included."""
    begin = f"#define TILE_SIZE 8\nvoid before() {{\n}}\n__device__ int two() {{ return 2; }}\n{KERNEL}"
    whole, alone = build_source(begin), build_source(begin + GONE)
    assert (alone.ptx, alone.hazard_ptx, alone.constants) == (whole.ptx, whole.hazard_ptx, whole.constants)


DEVICE = {
    "kernel": KERNEL.replace("2 *", "two *"),
    "device function": f"__device__ int f() {{ return nothing; }}\n{KERNEL}",
    "constant of the kernel": f"const int W = nothing;\n{KERNEL.replace('2 *', 'W *')}",
    "header of the kernel": f'#include "mine.h"\n{KERNEL.replace("2 *", "TWICE *")}',
    "host function called": f"int f() {{ return nothing; }}\n{KERNEL.replace('2 *', 'f() *')}",
    "condition": f"static_assert(sizeof(int) == 5);\n{KERNEL}",
    "constexpr function": f"constexpr int f() {{ return nothing; }}\n{KERNEL}",
}


@pytest.mark.parametrize("case", DEVICE)
def test_an_error_in_device_code_stays_one(case: str, build_source: BuildSource) -> None:
    """Code that the kernel needs is never left out; all errors of the first try are reported."""
    built = build_source(DEVICE[case] + GONE)
    assert not built.ok
    assert built.findings[0].severity is Severity.ERROR
    assert "not judged" not in built.findings[0].message


def test_a_kernel_of_another_kind_is_no_excuse(build_source: BuildSource) -> None:
    """The compiler's errors about a file without the kernel are reported first, as before."""
    built = build_source(GONE.replace("main", "scale"))
    assert "cudaThreadSynchronize" in only_message(built)


def test_the_instance_that_broken_host_code_launches_is_graded(build_source: BuildSource) -> None:
    """The launch stands in `main`, which is left out: its text still shows which instance is meant."""
    main = "int main() { const int c = 3; scale<c><<<1, 1>>>(0, 0, 1); nothing(); }\n"
    assert build_source(f"template <int COARSE> {KERNEL}{main}").instance == "scale<3>"


def test_constants_of_the_file_are_known_without_host_code(build_source: BuildSource) -> None:
    """Macros and constants outside of functions stay."""
    built = build_source(f"const int TILE_SIZE = 4;\n{KERNEL}{GONE}", replace(INTERFACE))
    assert built.constants == (("TILE_SIZE", 4),)


def test_only_functions_of_the_host_are_left_out() -> None:
    """Each line stays where it is, and what belongs to the device or to neither side stays as it is."""
    unit = """# 1 "unit"
int theirs() { return 1; }
# 1 "mine"
#define-like
int table[] = {1, 2};
struct S { int f() { return 1; } };
__attribute__((device)) int d() { return '}'; }
auto g = [](int a) { return a; };
int h(int a = []{ return 1; }()) { return "{"[a]; } int i;
template <class T> bool operator==(T a, T b)
{
#pragma unroll
  return R"x(}})x"[0];
}
extern "C" { namespace n { void k() {} } }
int x;
"""
    without = without_host_code(unit, {"mine"}, {("mine", 13)})
    lines = without.text.split("\n")
    assert len(lines) == len(unit.split("\n"))
    kept = [line.split() for line in lines if line.strip()]
    original = [line.split() for line in unit.split("\n") if line.strip()]
    assert kept[:7] == original[:7]
    assert kept[7:] == [original[7], ["int", "i;"], ["extern", '"C"', "{", "namespace", "n", "{", "}", "}"]]
    assert {line for _, line in without.places} == {6, 7, 8, 9, 10, 11, 12, 13}


def test_what_is_not_closed_is_left_out_to_the_end() -> None:
    """A brace that is missing is missing at the end, unless something of the device comes before that."""
    assert END_OF_UNIT in without_host_code('# 1 "mine"\nvoid f() { int a;\nint b;\n', {"mine"}, ()).places
    kernel = '# 1 "mine"\nvoid f() { int a;\n__attribute__((global)) void k() {}\n'
    assert not without_host_code(kernel, {"mine"}, ()).places
