"""Reading declarations, messages and sources: pure functions on texts."""

from __future__ import annotations

from typing import Any

import pytest

from grader.base.cpp import CppText
from grader.model import Resources
from grader.simulation.ptx import parse
from grader.toolchain.nvcc import declarations, diagnostics
from grader.toolchain.nvcc.constants import (
    UNDEFINED,
    failed_names,
    implied_constants,
    literal_constants,
    macros_taken_back,
    probing_unit,
    take_probed_values,
)
from grader.toolchain.nvcc.diagnostics import Files, read_messages
from grader.toolchain.nvcc.ptxas import refusals, resources_of
from grader.toolchain.nvcc.source import (
    LONGEST,
    harmless,
    is_header_name,
    line_count,
    readable,
    with_reached_includes,
)
from tests.bundled import bundled

FILES = Files("homework.cu", 9, ("support.h",), ("/usr/include",))


PREPROCESSED = """\
# 1 "wrapper.cu"
# 1 "student_source.cu" 1
# 1 "/usr/include/stdio.h" 1 3
__attribute__((global)) void not_theirs(int);
# 3 "student_source.cu" 2
namespace one { inline namespace two {
template <int T, typename U = float>
__attribute__((global)) __attribute__((launch_bounds((256)))) void inner(U *p) {
    __attribute__((shared)) U t[T][2 * T], other[1 << 4u];
} } }
extern "C" { void __attribute__((global)) plain(float *p); }
struct Local { void f() { const int HERE = 0x10u; } };
const char *s = "__attribute__((global)) void quoted(";
constexpr int A = 3, B{4};
enum Kind { FIRST = A + 1, SECOND };
const int TWICE = 1; namespace other { const int TWICE = 2; }
"""


def test_kernels_are_found_with_scopes_and_templates() -> None:
    """Only kernels at namespace scope in the student's own lines count."""
    own = declarations.own_text(PREPROCESSED, "student_source.cu", {"student_source.cu"})
    found = {
        kernel.name: (kernel.scopes, kernel.template, kernel.line) for kernel in declarations.kernels(own)
    }
    assert found == {
        "inner": (("one", "two"), ("int T", "typename U = float"), 5),
        "plain": ((), (), 8),
    }


def test_the_parameters_of_a_kernel_are_known_by_the_names_in_the_file() -> None:
    """The form of their types makes no difference."""
    text = """# 1 "student_source.cu" 1
__attribute__((global)) void k(const float *A, float (*f)(int), int M, unsigned int B[], int = 3, float *) {}
"""
    own = declarations.own_text(text, "student_source.cu", {"student_source.cu"})
    assert next(kernel.parameters for kernel in declarations.kernels(own)) == ("A", "f", "M", "B", "", "")


@pytest.mark.parametrize(
    ("shapes", "side"),
    [
        ((("a", (32, 32)), ("b", (32, 33))), 32),
        ((("a", (2, 8, 8)),), 8),
        ((("a", (32, 32)), ("b", (16, 16))), None),
        ((("a", (20, 20)),), None),
        ((("a", (2, 256)),), None),
        ((("a", (64,)),), None),
        ((("a", (16, 16)),), None),
        ((("a", (64, 64)),), None),
    ],
)
def test_the_side_of_square_shared_arrays_is_the_tile(shapes: Any, side: int | None) -> None:  # noqa: ANN401
    """The arrays must agree on a side that is not the default and that a block can have."""
    interface = bundled("tiled-matmul").kernel
    wanted = {} if side is None else {"TILE_SIZE": side}
    assert implied_constants(interface, ("TILE_SIZE",), shapes) == wanted
    assert implied_constants(interface, (), shapes) == {}


def test_constants_that_can_be_computed_are_known() -> None:
    """A name with two values, or one that only a compiler could work out, is not known."""
    own = declarations.own_text(PREPROCESSED, "student_source.cu", {"student_source.cu"})
    assert literal_constants(own.cpp) == {"A": 3, "B": 4, "FIRST": 4}


def test_a_constant_inside_a_function_counts_only_if_that_is_the_kernel() -> None:
    """Another kernel's tile size does not apply to this one."""
    text = """
    void helper(int *p) { const int T = 4; if (p) { const int U = 5; } }
    void mine(int *p) { const int T = 8; enum { W = 3 }; }
    namespace n { const int V = 2; void f() { const int V = 9; } }
    """
    assert literal_constants(CppText(text), "mine") == {"T": 8, "W": 3, "V": 2}
    assert literal_constants(CppText(text), "helper") == {"T": 4, "U": 5, "V": 2}
    assert literal_constants(CppText(text)) == {"V": 2}


def test_a_macro_that_is_undefined_at_the_end_is_known_by_its_last_value() -> None:
    """Only macros that are gone when the file ends, and only numbers."""
    source = b"#define T 32 // tile\n#define U (2*T)\n#define V 3\n # undef T\n#undef U\n#undef W\n"
    assert macros_taken_back(source, {"T", "U", "V", "W"}) == {"T": 32, "U": 64}
    assert macros_taken_back(b"#define T 1\n#undef T\n#define T 2\n", {"T"}) == {}
    assert macros_taken_back(source, {"V"}) == {}


def test_a_comment_or_a_string_defines_nothing() -> None:
    """Nor does a parameter's default; each name of a declaration counts, and a value over two lines."""
    text = CppText(
        """const char *raw = R"x( const int R = 1; " void mine() { )x";
        void other(const int P = 4, int q = 1);
        void mine() { const int T = 1'000, U = T + 1; const int *pointer = 0; }
        struct S { static constexpr int M = 5; };"""
    )
    assert literal_constants(text, "mine") == {"T": 1000, "U": 1001, "M": 5}
    source = b"#define T \\\n 32\n/*\n#undef T\n*/\n#define U 8\n#undef U // U\n"
    assert macros_taken_back(source, {"T", "U"}) == {"U": 8}


def test_shared_arrays_need_known_extents() -> None:
    """Extents are computed from what is known; an array with an unknown one has no shape."""
    own = declarations.own_text(PREPROCESSED, "student_source.cu", {"student_source.cu"})
    assert declarations.shared_shapes(own, {"T": 8}, None) == (("t", (8, 16)), ("other", (16,)))
    assert declarations.shared_shapes(own, {}, None) == (("other", (16,)),)


@pytest.mark.parametrize("hostile", ["const " * 100_000, "k(" * 200_000, "__attribute__((shared)) " * 20_000])
def test_hostile_texts_are_read_in_reasonable_time(hostile: str) -> None:
    """No pattern goes wild on a text that never ends its declarations."""
    own = declarations.own_text(f'# 1 "s.cu"\n{hostile}', "s.cu", {"s.cu"})
    assert declarations.kernels(own) == ()
    assert literal_constants(own.cpp) == {}
    assert declarations.shared_shapes(own, {}, None) == ()


def test_messages_of_both_compilers_are_read() -> None:
    """Errors and warnings with file and line; notes, quotes and floods of dots are left out."""
    log = """\
In file included from grader_unit.cu:1:
student_source.cu:4:9: error: macro "BAD" passed 2 arguments, but takes just 1
student_source.cu:2: note: macro "BAD" defined here
student_source.cu:5:2: warning: #warning foo [-Wcpp]
student_source.cu(7): error: no instance of overloaded function "min" matches the argument list
            argument types are: (float *, int)
  a[0] = min(a, 3); secret
                 ^
/usr/include/crt/math.h(9): note #3322-D: number of parameters does not match
student_source.cu(8): warning #549-D: variable "u" is used before its value is set
/usr/include/vector(45): error: no operator "<" matches these operands
            instantiation of "void f()" at line 233 of /usr/include/heap
            instantiation of "void g()" at line 3 of student_source.cu
"""
    found = diagnostics.errors(read_messages(log), FILES)
    assert [(f.line, f.message) for f in found] == [
        (4, 'macro "BAD" passed 2 arguments, but takes just 1'),
        (
            7,
            (
                'no instance of overloaded function "min" matches the argument list; '
                "argument types are: (float *, int)"
            ),
        ),
        (3, 'no operator "<" matches these operands (in vector, which this file uses)'),
    ]
    warned = diagnostics.warnings(read_messages(log), FILES)
    assert [(w.line, w.message) for w in warned] == [
        (5, "#warning foo"),
        (8, 'variable "u" is used before its value is set (#549-D)'),
    ]
    assert "secret" not in diagnostics.plain_log(read_messages(log), FILES)


def test_probes_are_taken_out_of_the_ptx() -> None:
    """Values are read, absent names dropped, and the student's own variables left alone."""
    ptx = (
        f".global .align 8 .u64 __grader_A = 7;\n.visible .const .align 8 .u64 __grader_B = {UNDEFINED};\n"
        ".global .align 8 .u64 __grader_C;\n.global .align 4 .u32 mine = 5;\n"
    )
    taken = take_probed_values(ptx, parse(ptx), ("A", "B", "C"))
    assert taken == (".global .align 4 .u32 mine = 5;\n", {"A": 7, "C": 0})


def test_a_probe_that_is_defined_twice_is_left_to_the_assembler() -> None:
    """Inline assembly may define such a variable, too; a name that was not asked for is no probe."""
    ptx = (
        ".global .align 8 .u64 __grader_A = 7;\n.visible .entry k() {\n}\n"
        ".const .align 8 .u64 __grader_A = 1;\n.const .u64 __grader_B = 2;\n"
    )
    assert take_probed_values(ptx, parse(ptx), ("A",)) == (ptx, {})


def test_a_failing_probe_is_known_by_its_line() -> None:
    """A line of the wrapper leads back to the name it asks about."""
    names = ("A", "B")
    lines = probing_unit(names).decode().split("\n")
    for name in names:
        numbers = [n for n, line in enumerate(lines, 1) if f"__grader_{name} =" in line]
        assert failed_names(names, numbers) == (name,)
    assert failed_names(names, [1]) is None
    assert failed_names(names, [99]) is None


def test_resources_of_one_kernel_are_read() -> None:
    """The lines of ptxas about other kernels do not count; constant banks add up."""
    log = """\
ptxas info    : Compiling entry function 'other' for 'sm_80'
ptxas info    : Used 99 registers, used 1 barriers, 9 bytes smem
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    400 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 14 registers, used 1 barriers, 1024 bytes smem, 372 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Function properties for helper
    24 bytes stack frame, 20 bytes spill stores, 20 bytes spill loads
"""
    assert resources_of(log, "k") == Resources(14, 1024, 400, 12, 380)


def test_other_errors_of_the_assembler_are_reported() -> None:
    """An error without a line still has its message."""
    found = refusals("ptxas fatal   : Unresolved extern function 'foo'", "", "homework.cu", {})
    assert [f.message for f in found] == ["the assembler refuses the file: Unresolved extern function 'foo'"]


def test_shown_text_is_harmless() -> None:
    """One line, no control characters, no folders, no flood."""
    assert harmless("in \x1b[1m /var/grader-x/a.cu\n at 'b'\t\x00") == "in \\x1b[1m a.cu at 'b' \\x00"
    assert harmless("a / b // c and/or <cuda/atomic>") == "a / b // c and/or <cuda/atomic>"
    assert len(harmless("x" * 10_000)) == LONGEST


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (b"\xef\xbb\xbfint x;\r\n", "int x;\r\n"),
        ("int ö;\n".encode("utf-16"), "int ö;\n"),
        ("int x;\n".encode("utf-16-be"), "int x;\n"),
        ("int x;\n".encode("utf-32"), "int x;\n"),
        ("ö\n".encode("latin-1"), "ö\n"),
        (b"a\rb", "a\nb"),
        (b"int x;\r\n\x1a", "int x;\r\n"),
        (b"a\x1ab", "a\x1ab"),
        (b"", ""),
        (b"\xff\xfe\x00", "�"),
    ],
)
def test_sources_become_utf_8(source: bytes, text: str) -> None:
    """Marks, wide characters, old line ends and DOS ends of files are gone; the rest is kept."""
    assert readable(source).decode() == text


def test_lines_are_counted_as_editors_count() -> None:
    """A last line without an end is a line; an empty file has one."""
    assert [line_count(text) for text in (b"", b"a", b"a\n", b"a\nb", b"a\n\n")] == [1, 1, 1, 2, 2]


def test_only_plain_header_names_are_written() -> None:
    """Folders below, blanks and letters are fine; what could leave the folder or replace our files is not."""
    assert all(is_header_name(name) for name in ("a.h", "lib/b-1.cuh", "_x+y.hpp", "a b.h", "ü.h"))
    hostile = (
        "",
        "/a.h",
        "../a.h",
        "a/../b.h",
        ".hidden",
        "a\n.h",
        "grader_unit.cu",
        "x/" * 9 + "a.h",
    )
    assert not any(is_header_name(name) for name in hostile)


@pytest.mark.parametrize(
    ("path", "headers", "read"),
    [
        ("t.h", ("t.h",), "t.h"),
        ("../t.h", ("t.h",), "t.h"),
        ("../../lib/t.h", ("lib/t.h", "t.h"), "lib/t.h"),
        ("common/t.h", ("t.h",), "t.h"),
        ("..\\common\\t.h", ("include/t.h",), "include/t.h"),
        ("x/t.h", ("a/t.h", "b/t.h"), "x/t.h"),
        ("lib/../t.h", ("t.h",), "lib/../t.h"),
        ("none.h", ("t.h",), "none.h"),
    ],
)
def test_an_include_names_the_header_that_came_along(path: str, headers: tuple[str, ...], read: str) -> None:
    """Folders that were left behind do not matter; what is found as it stands, or is not clear, stays."""
    files = {"unit.cu": f'#include "{path}"\n'.encode(), **dict.fromkeys(headers, b"")}
    assert with_reached_includes(files, "unit.cu")["unit.cu"].decode() == f'#include "{read}"\n'


def test_a_header_below_reaches_its_neighbours() -> None:
    """Paths of a header begin where it lies."""
    files = {"unit.cu": b"", "lib/a.h": b'#include "../b.h"\n#include "../../c.h"\n', "b.h": b"", "c.h": b""}
    assert with_reached_includes(files, "unit.cu")["lib/a.h"] == b'#include "../b.h"\n#include "c.h"\n'
