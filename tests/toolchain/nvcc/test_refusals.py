"""Files that do not build: the message, and the line that it names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.model import FindingKind, Severity
from grader.toolchain.nvcc import stage
from tests.toolchain.nvcc.conftest import BODY, INTERFACE, KERNEL, only_message, path_is_shown, places

if TYPE_CHECKING:
    from tests.toolchain.nvcc.conftest import BuildSource

MISSING_BRACE = KERNEL.replace("}", "")

REFUSALS: dict[str, tuple[str | bytes, int | None, str]] = {
    "undefined name": (KERNEL.replace("2 *", "\n two *"), 2, 'identifier "two" is undefined'),
    "missing brace": (
        f"\n{MISSING_BRACE}",
        2,
        'at the end of the file: expected a "}" to match the "{" in line 2',
    ),
    "unterminated comment": (f"{KERNEL}/* never closed\n", 2, "unterminated comment"),
    "unterminated if": (f"#ifdef X\n{KERNEL}", 1, "unterminated #ifdef"),
    "unterminated string": (f'{KERNEL}__device__ const char *s = "abc;\n', 2, "missing closing quote"),
    "missing header": (
        f"\n#include <wb.h>\n{KERNEL.replace('2 *', 'WB *')}",
        2,
        (
            "the header `wb.h` was not found; hand in a folder with both files, or remove the #include "
            "if nothing of it is used"
        ),
    ),
    "another file": (
        f'\n#include "/etc/passwd"\n{KERNEL}',
        2,
        (
            "includes a file that is not part of the submission (`passwd`); "
            "only the submission's own headers, the assignment's and the system's may be included"
        ),
    ),
    "another file by a macro": (
        f"#define FILE </etc/passwd>\n#include <stdio.h>\n\n#include FILE\n{KERNEL}",
        4,
        (
            "includes a file that is not part of the submission (`passwd`); "
            "only the submission's own headers, the assignment's and the system's may be included"
        ),
    ),
    "itself": ("#include __FILE__\n", 1, "#include nested depth 200 exceeds maximum of 200"),
    "control characters": ("#error \x1b[31mred\x07\n", 1, "#error \\x1b[31mred\\x07"),
    "somebody else's line": (f'# 7 "/etc/shadow"\nint x = y;\n{KERNEL}', None, 'identifier "y" is undefined'),
    "our line": (f'#line 3 "grader_unit.cu"\nint x = y;\n{KERNEL}', 3, 'identifier "y" is undefined'),
    "nothing": (b"", None, "no kernel named `scale`: this file has no `__global__` function"),
    "unlike kernels": (
        "__global__ void matmul(float *p) {}\n__global__ void naive(float *p) {}\n",
        None,
        "no kernel named `scale`; this file has: `matmul`, `naive`",
    ),
    "no body": (
        KERNEL.replace(BODY, ";"),
        1,
        "the kernel `scale` is declared, but this file gives it no body",
    ),
    "template that does not compile": (
        f"\ntemplate <int TILE_SIZE> {KERNEL.replace('{', '{ static_assert(TILE_SIZE == 3); ')}",
        2,
        (
            "the kernel `scale` is a template that this file never uses, and `scale<16>` does not compile: "
            "static assertion failed"
        ),
    ),
    "too much shared memory": (
        "\n" + KERNEL.replace("{", "{ __shared__ float t[128][128]; t[N][0] = A[0]; C[1] = t[0][N];"),
        2,
        "the kernel `scale` uses 65536 bytes of static shared memory; a block may use at most 49152",
    ),
    "wrong inline ptx": (
        KERNEL.replace("{", '{\n asm volatile("frob.u32 %0, 1;" :: "r"(N));\n'),
        2,
        (
            "the assembler refuses the inline PTX `frob.u32 %r1, 1;`: "
            "Not a name of any known instruction: 'frob'"
        ),
    ),
    "too few parameters": (
        "\n__global__ void scale(const float *A, float *C) { C[0] = A[0]; }\n",
        2,
        (
            "the kernel `scale` takes 2 parameters, but the assignment passes 3: "
            "(const float* A, float* C, int N)"
        ),
    ),
    "constant output": (
        "__global__ void scale(float *C, const float *A, int N) { C[N] = A[0]; }\n",
        1,
        (
            "parameter 2 of the kernel `scale` should be `float* C`, but it is `const float*`, "
            "which the kernel cannot write to; the assignment passes (const float* A, float* C, int N)"
        ),
    ),
    "float for a number": (
        'extern "C" __global__ void scale(const float *A, float *C, float N) { C[0] = A[0] * N; }\n',
        1,
        (
            "parameter 3 of the kernel `scale` should be `int N`, but it is a 32-bit floating-point number; "
            "the assignment passes (const float* A, float* C, int N)"
        ),
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_wrong_file_gets_one_finding_in_its_own_line(case: str, build_source: BuildSource) -> None:
    """The finding names the student's file and line, states what is wrong, and shows no path of ours."""
    source, line, message = REFUSALS[case]
    built = build_source(source)
    assert only_message(built) == message
    assert places(built) == [("homework.cu", line)]
    assert built.findings[0].kind is FindingKind.COMPILE
    assert (built.error, built.ptx) == ("", "")
    assert not path_is_shown(built)


def test_every_error_is_reported_once(build_source: BuildSource) -> None:
    """Several errors are several findings, each in its line; warnings do not mix in."""
    built = build_source("int x;\n" + KERNEL.replace("2 *", "two *") + "int f() { return y; }\nint y2 = z;\n")
    assert [(f.line, f.message) for f in built.findings] == [
        (2, 'identifier "two" is undefined'),
        (3, 'identifier "y" is undefined'),
        (4, 'identifier "z" is undefined'),
    ]


def test_a_flood_of_errors_is_cut(build_source: BuildSource) -> None:
    """Twenty findings and a note are enough."""
    built = build_source("".join(f"int a{i} = b{i};\n" for i in range(90)))
    assert len(built.findings) == 21
    assert built.findings[19].line == 20
    assert built.findings[20].message == "and 70 more errors; the first ones often cause the others"
    assert built.findings[20].severity is Severity.INFO


def test_a_flood_of_error_directives_is_cut(build_source: BuildSource) -> None:
    """The preprocessor's errors are cut as well."""
    built = build_source("#error enough\n" * 5000)
    assert len(built.findings) == 21
    assert built.findings[0].message == "#error enough"


def test_a_file_that_becomes_too_large_is_refused(
    build_source: BuildSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it is read, which would take minutes."""
    monkeypatch.setattr(stage, "MOST_PTX_BYTES", 1000)
    built = build_source(f"// refused under this limit alone, and builds are shared\n{KERNEL}")
    assert not built.ok
    assert built.findings[0].message.endswith("bytes of PTX; expected 1,000 at most")


def test_headers_of_the_assignment_are_found(build_source: BuildSource) -> None:
    """A course's header can be included either way, and a student's copy does not replace it."""
    interface = replace(INTERFACE, include=(("support.h", "#define TWICE 2\n"),))
    source = '#include "support.h"\n#include <support.h>\n' + KERNEL.replace("2 *", "TWICE *")
    built = build_source(source, interface, headers=(("support.h", b"#error mine\n"),))
    assert built.ok


@pytest.mark.parametrize("name", ["my tile.h", "größe.h", "lib dir/tile-2.0.cuh"])
def test_headers_may_be_called_what_people_call_files(build_source: BuildSource, name: str) -> None:
    """Blanks and letters of other alphabets are part of honest names."""
    built = build_source(f'#include "{name}"\n{KERNEL}', headers=((name, b"#define WIDTH 7\n"),))
    assert built.ok, built.findings


def test_an_error_in_a_header_names_the_header(build_source: BuildSource) -> None:
    """A header that came with the submission is a place of its own."""
    built = build_source(
        f'#include "lib/mine.h"\n{KERNEL}', headers=(("lib/mine.h", b"\n__device__ int x = y;\n"),)
    )
    assert places(built) == [("lib/mine.h", 2)]


def test_a_misspelt_header_is_guessed(build_source: BuildSource) -> None:
    """A header with nearly the same name is suggested."""
    needing = KERNEL.replace("2 *", "TWICE *")
    built = build_source(f'#include "suport.h"\n{needing}', headers=(("support.h", b""),))
    assert only_message(built) == "the header `suport.h` was not found; did you mean `support.h`?"


def test_a_header_with_a_hostile_name_is_left_out(build_source: BuildSource) -> None:
    """Names that leave the folder, or would shadow our own files, are never written."""
    hostile = (
        "../up.h",
        "/etc/x.h",
        "-o.h",
        "grader_unit.cu",
        "cuda_runtime.h",
        "a;b.h",
        "student_source.cu",
    )
    built = build_source(KERNEL, headers=tuple((name, b"#error taken\n") for name in hostile))
    assert built.ok


def test_an_error_inside_a_system_header_is_reported_where_it_comes_from(build_source: BuildSource) -> None:
    """A template of the library that does not compile is the student's line that uses it."""
    use = "__host__ __device__ void f() { Q q[3];\n std::sort(q, q + 3); }\n"
    source = f"#include <algorithm>\nstruct Q {{}};\n{use}{KERNEL}"
    built = build_source(source)
    assert set(places(built)) == {("homework.cu", 4)}
    assert built.findings[0].message.startswith(
        'no operator "<" matches these operands; operand types are: Q < Q'
    )


def test_the_right_overload_and_instance_are_chosen(build_source: BuildSource) -> None:
    """Of several kernels with the name, the one that fits the assignment and the tile size is taken."""
    doubles = KERNEL.replace("float", "double")
    assert build_source(doubles + KERNEL).entry == "_Z5scalePKfPfi"
    uses = "void use() { scale<32><<<1, 1>>>(0, 0, 1); scale<16><<<1, 1>>>(0, 0, 1); }\n"
    assert build_source(f"template <int T> {KERNEL}{uses}").entry == "_Z5scaleILi16EEvPKfPfi"
