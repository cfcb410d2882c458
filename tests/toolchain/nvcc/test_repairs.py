"""Slips that any reader understands though no compiler does: each is read as meant, and reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.model import Severity
from grader.toolchain.nvcc.source import repaired
from tests.toolchain.nvcc.conftest import KERNEL

if TYPE_CHECKING:
    from tests.toolchain.nvcc.conftest import BuildSource

BLANK = "\u00a0"
REPAIRS = {
    "notebook": (f"%%cu\n{KERNEL}", 1, "`%%cu` is a command of the notebook"),
    "notebook with a file": (
        f"\n%%writefile a.cu\n{KERNEL}",
        2,
        "`%%writefile` is a command of the notebook",
    ),
    "blank in a directive": (
        f"#define{BLANK}TILE_SIZE 16\n{KERNEL}",
        1,
        "here stand characters that look like",
    ),
    "blanks in code": (
        f"// a\n{KERNEL.replace(' * ', f'{BLANK}*{BLANK}')}int{BLANK}a;\n",
        2,
        "here and on 1 more line stand characters that look like blanks and are none (U+00A0)",
    ),
    "brackets": (f"\n#include < math.h >\n{KERNEL}", 2, "write `<math.h>`, as it was read"),
}


@pytest.mark.parametrize("case", REPAIRS)
def test_a_slip_of_copying_is_read_as_it_was_meant(case: str, build_source: BuildSource) -> None:
    """The file compiles, and a remark names the line and what to write."""
    source, line, message = REPAIRS[case]
    built = build_source(source)
    assert (built.ok, built.findings) == (True, ())
    (remark,) = built.warnings
    assert (remark.line, remark.file, remark.severity) == (line, "homework.cu", Severity.WARNING)
    assert message in remark.message


def test_a_remark_comes_after_what_does_not_compile(build_source: BuildSource) -> None:
    """Errors stay the first thing, in the lines that the student sees."""
    built = build_source(f"%%cu\n{KERNEL.replace('2 *', 'two *')}")
    assert [(finding.line, finding.severity) for finding in built.findings] == [
        (2, Severity.ERROR),
        (1, Severity.WARNING),
    ]


@pytest.mark.parametrize(
    "text",
    [
        f'const char *s = "a{BLANK}b";\n',
        "int a = 5 %% b;\n",
        "#include <math.h>\nif (a < b || c > d) {}\n",
        "// #include < iostream>\n",
    ],
)
def test_what_a_compiler_takes_stays_as_it_is(text: str) -> None:
    """Strings, comparisons and comments are no slips."""
    assert repaired(text) == (text, ())
