"""Lines of a program's calls, by the addresses that they return to."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from grader.toolchain.nvcc.runtime import call_lines
from grader.toolchain.sandbox import LocalSandbox

if TYPE_CHECKING:
    from pathlib import Path

_HEADER = "void out(void *); static inline void wrap() { out(0); }\n"
_SOURCE = """#include <cstdio>
#include "wrap.h"
__attribute__((noinline)) void out(void *) { std::printf("%p\\n", __builtin_return_address(0)); }
void inner() {
  out(0);
  wrap();
}
int main() {
  out(0);
  inner();
}
"""


def test_a_call_has_the_line_of_the_student_s_file(tmp_path: Path) -> None:
    """In one function, in one that is inlined, and by a wrapper of a header that is inlined, too."""
    (tmp_path / "wrap.h").write_text(_HEADER, encoding="utf-8")
    (tmp_path / "kernel.cpp").write_text(_SOURCE, encoding="utf-8")
    argv = ["g++", "-O1", "-g1", "-no-pie", "kernel.cpp", "-o", "program"]
    subprocess.run(argv, cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "program"], check=True, capture_output=True, text=True)
    addresses = [int(line, 16) for line in printed.stdout.split()]
    content = (tmp_path / "program").read_bytes()
    lines = call_lines(LocalSandbox(), content, ("kernel.cpp",), addresses)
    assert [lines[address] for address in addresses] == [("kernel.cpp", line) for line in (9, 5, 6)]


def test_addresses_that_belong_to_no_code_have_no_line() -> None:
    """Nor has a program that is none."""
    assert call_lines(LocalSandbox(), b"no program", ("kernel.cu",), (0, 5, 2**64 - 1)) == {}
    assert call_lines(LocalSandbox(), b"", ("kernel.cu",), ()) == {}
