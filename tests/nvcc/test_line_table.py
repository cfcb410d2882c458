"""Lines of a program's calls, by the addresses that it gives."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from grader.nvcc.line_table import LineTable, read_line_table

if TYPE_CHECKING:
    from pathlib import Path

_LISTING = """
/job/kernel.cu:
File name                            Line number    Starting address    View    Stmt
kernel.cu                                      5            0x1000               x
cuda_runtime.h                               879            0x1010               x
kernel.cu                                      7            0x1020               x
kernel.cu                                      -            0x1030

cuda_runtime.h                               705            0x2000               x
cuda_runtime.h                                 -            0x2010
"""


def test_inlined_code_belongs_to_the_line_that_calls_it() -> None:
    """And a function of a header, or nothing at all, to nobody."""
    table = read_line_table(_LISTING, "kernel.cu")
    lines = [
        table.line(address) for address in (0x1001, 0x1010, 0x1011, 0x1020, 0x1021, 0x1030, 0x1031, 0x2008, 5)
    ]
    assert lines == [5, 5, 5, 5, 7, 7, None, None, None]
    assert table.first_line((0x2008, 0x1021, 0x1001)) == 7
    assert LineTable().line(0x1000) is None


def test_a_real_program_has_the_lines_of_its_calls(tmp_path: Path) -> None:
    """Calls in one function, and in one that calls it, with a wrapper that is inlined."""
    (tmp_path / "wrap.h").write_text(
        "void out(void *); static inline void wrap() { out(0); }\n", encoding="utf-8"
    )
    (tmp_path / "kernel.cu").write_text(
        '#include <cstdio>\n#include "wrap.h"\n__attribute__((noinline)) void out(void *p) { std::printf("%p\\n", __builtin_return_address(0)); }\n'
        "void inner() {\n  out(0);\n  wrap();\n}\nint main() {\n  out(0);\n  inner();\n}\n",
        encoding="utf-8",
    )
    options = ["-O1", "-g1", "-no-pie", "-ffunction-sections", "-fno-ipa-icf", "-x", "c++"]
    subprocess.run(["g++", *options, "kernel.cu", "-o", "program"], cwd=tmp_path, check=True)
    listing = subprocess.run(
        ["objdump", "--dwarf=decodedline", "program"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    printed = subprocess.run([tmp_path / "program"], check=True, capture_output=True, text=True)
    table = read_line_table(listing.stdout, "kernel.cu")
    assert [table.line(int(line, 16)) for line in printed.stdout.split()] == [9, 5, 6]
