"""Texts of students that are made to be read over and over: whoever reads them looks at nothing twice."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from grader.base.cpp import CppText
from grader.model import Submission
from grader.running.backends.emulated_kernel import handwriting
from grader.simulation.ptx.facts import origin
from grader.toolchain.nvcc import source
from grader.toolchain.nvcc.constants import constants_everywhere, literal_constants
from grader.toolchain.nvcc.declarations import kernels, own_text
from grader.toolchain.nvcc.host_code import without_host_code
from grader.toolchain.nvcc.kernel import excluded_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_SECONDS = 5.0
"""CPU time; some took minutes while their readers went back and forth."""

OPEN_STRINGS = 'R"(\n"' + '\\"' * 50_000 + '\n)";'
HEADS = ("namespace " * 100 + "-" + "{}" * 500 + "template<" * 110 + "{}" * 500) * 100


def _host_code(text: str) -> object:
    return without_host_code(f'# 1 "a.cu"\n{text}', {"a.cu"}, ())


READERS: dict[str, tuple[Callable[[str], object], str]] = {
    "lines without a word": (
        lambda text: handwriting(Submission("me", "a.cu", text.encode(), "")),
        "\n" * 40_000,
    ),
    "lines of assembly without a word": (
        lambda text: origin(f'.file 1 "a.cu"\n{text}\t.loc 1 2 3\nbrkpt;', text.count("\n") + 3),
        "\n" * 100_000,
    ),
    "comments that never end": (lambda text: CppText(text).code, "'/*'+" * 40_000),
    "strings that never end": (lambda text: CppText(text).code, OPEN_STRINGS),
    "templates that never end": (lambda text: CppText(text).code, "a<" * 200_000),
    "comparisons that may be templates": (lambda text: CppText(text).code, "x = " + "a<b " * 25_000),
    "braces behind words": (_host_code, HEADS),
    "strings that never end, without host code": (_host_code, OPEN_STRINGS),
    "strings that never end, among constants": (
        lambda text: literal_constants(CppText(text), "k"),
        OPEN_STRINGS,
    ),
    "strings that never end, among kernels": (
        lambda text: kernels(own_text(f'# 1 "a.cu"\n{text}', "a.cu", ["a.cu"])),
        OPEN_STRINGS,
    ),
    "strings that never end, among directives": (
        lambda text: excluded_kernel((("a.cu", text.encode()),), "k"),
        OPEN_STRINGS,
    ),
    "kernels in a string": (
        lambda text: excluded_kernel((("a.cu", text.encode()),), "k"),
        'R"(\n' + "__global__ k(\n" * 30_000 + ')";',
    ),
    "blanks in brackets": (
        lambda text: list(source.repair_remarks(text, "a.cu")),
        "#include < a>\n" * 60_000,
    ),
    "constants without a value": (lambda text: constants_everywhere(CppText(text)), "const int a " * 20_000),
}


@pytest.mark.parametrize("name", READERS)
def test_no_text_takes_minutes_to_be_read(name: str) -> None:
    """A student who hands in such a file cannot have the time run out, which would be an error of ours."""
    reader, text = READERS[name]
    began = time.process_time()
    reader(text)
    assert time.process_time() - began < MOST_SECONDS


def test_what_was_read_as_meant_is_reported_a_few_times() -> None:
    """A file with one slip on every line has no remark for each."""
    assert len(list(source.repair_remarks("#include < a>\n" * 1000, "a.cu"))) == 20
