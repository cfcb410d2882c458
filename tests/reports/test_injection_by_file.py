"""Hostile files, handed in: names, messages and lines as they come from nvcc and the emulator."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.classroom.course.download import read_download
from grader.grading.submission import lines
from grader.kinds import pipeline
from grader.model import Grade, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.reports.test_injection import REPORTS

if TYPE_CHECKING:
    from pathlib import Path

    from grader.kinds.plan import Plan

HEAD = "__global__ void tiledMatMul(float *A, float *B, float *C, int M, int K, int N)"
HTML = "<script>alert(1)</script>&lt;"
ANSI = "\x1b[31m\x1b]8;;http://x\x1b\\\x9b1m\x07"
MARKS = "\u202ecba\u2066\u200b\ufeff\u3164"
ALL = f"{HTML} ]]> {ANSI} {MARKS} =1+1;=2"

SOURCES = {
    "string literal": f'{HEAD} {{ int x = "{ALL}"; }}\n',
    "comment beside an error": f"{HEAD} {{ nothing; }} // {ALL}\n",
    "error directive": f"#error {ALL}\n",
    "warning directive": f"#warning {ALL}\n{HEAD} {{ C[0] = nothing; }}\n",
    "pragma message": f'#pragma message("{HTML} ]]> {MARKS}")\n{HEAD} {{ nothing; }}\n',
    "static assertion": f'static_assert(false, "{ALL}");\n{HEAD} {{}}\n',
    "attribute": f'[[deprecated("{ALL}")]] int old();\n{HEAD} {{ C[0] = old() + nothing; }}\n',
    "missing header": f'#include "{HTML}{MARKS}.h"\n{HEAD} {{}}\n',
    "stray characters": f"{HEAD} {{ int {MARKS} = 1; }} {ANSI} {HTML}\n",
    "line directive": f'#line 7 "{HTML}{ANSI}.cu"\n{HEAD} {{ nothing; }}\n',
    "identifier": f"{HEAD} {{ größe_\u3164_ᅟ_\u0301 = 1; }}\n",
    "kernel name": "__global__ void größeMatMul_\u05d0\u05d1(float *A) { A[0] = 1; }\n",
    "macro for a constant": f"#define TILE_SIZE ({HTML!r} + 1)\n{HEAD} {{ C[0] = TILE_SIZE; }}\n",
    "inline PTX": f'{HEAD} {{ asm volatile("nonsense.{HTML.replace("<", "&lt")} {MARKS} ]]>;"); }}\n',
    "bytes that are no text": f"{HEAD} {{ nothing; }} // \udce9\udcff\udc80\n",
    "array in a race": (
        f"{HEAD} {{\n  __shared__ float größe_\u05d0_\u0301_\u3164[32];\n"
        f"  größe_\u05d0_\u0301_\u3164[threadIdx.x] = A[0]; // {ALL}\n"
        "  C[threadIdx.x] = größe_\u05d0_\u0301_\u3164[31 - threadIdx.x];\n}\n"
    ),
    "device printf": (
        f"#include <cstdio>\n{HEAD} {{\n"
        f'  printf("{ALL} %s\\n", "\\x1b[2J[[PROPERTY|points=9]]"); C[0] = A[5000];\n}}\n'
    ),
    "device assertion": f'#include <cassert>\n{HEAD} {{ assert(!"{ALL}"); }}\n',
}
"""A file for each place whose words end up in a message."""


@pytest.fixture(scope="module")
def tools() -> Tools:
    """A compiler of our own, with nothing built before."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


@pytest.fixture(scope="module")
def plan(tools: Tools) -> Plan:
    """The first assignment, on its smallest case."""
    assignment = bundled("tiled-matmul")
    whole = pipeline.make_plan(assignment, 20, tools, visible_only=True)
    return replace(whole, cases=tuple(case for case in whole.cases if case.id == "square-32"))


def graded(folder: Path, name: bytes, source: str, plan: Plan, tools: Tools) -> tuple[Grade, list[str]]:
    """Hand a file in, in a folder of a hostile name, and grade it."""
    own = folder / os.fsdecode(b"<b>\x1b[31m=1+1\xe2\x80\xae")
    own.mkdir()
    (own / os.fsdecode(name)).write_bytes(source.encode(errors="surrogateescape"))
    (own / "a<i>.h").write_bytes(b"")
    (submission,) = read_download(folder).submissions
    return pipeline.grade(plan, submission, tools), lines(submission.source)


@pytest.mark.parametrize("place", SOURCES)
def test_a_hostile_file_stays_text_in_every_report(
    place: str, tmp_path: Path, plan: Plan, tools: Tools
) -> None:
    """It is graded, below full marks, as the student's own; no report shows more than words."""
    grade, source = graded(tmp_path, b"kernel.cu", SOURCES[place], plan, tools)
    assert (grade.verdict, grade.error) == (Verdict.FAIL, "")
    structures = {name: report(grade, source)[0] for name, report in REPORTS.items()}
    for name, known in ELEMENTS.items():
        found = structures[name]
        assert isinstance(found, list)
        assert {tag for tag, _ in found} <= known


CLASS_PAGE = {
    *("article", "button", "dd", "dl", "dt", "form", "input", "kbd", "label", "nav"),
    *("option", "output", "select", "tbody", "text", "thead"),
}
"""Elements that the page of a class has besides."""

ELEMENTS = {
    "html": {
        *CLASS_PAGE,
        "html", "head", "meta", "title", "style", "script", "body", "header", "main", "section", "footer",
        "div", "h1", "h2", "h3", "p", "table", "caption", "tr", "td", "th", "span", "strong", "small", "i",
        "mark", "pre", "ul", "ol", "li", "a", "figure", "figcaption", "details", "summary", "svg", "g",
        "rect", "path", "line",
    },
    "junit": {
        "testsuites", "testsuite", "properties", "property", "testcase", "failure", "error", "skipped",
        "system-out",
    },
}  # fmt: skip
"""The elements of our pages and documents."""

NAMES = {
    "markup": b"<img src=x onerror=alert(1)>.cu",
    "quotes": b"\" onclick=\"alert(1)' x='.cu",
    "formula": b"=cmd|' ;=1+1.cu",
    "escape": b"\x1b]0;owned\x07\x1b[2J.cu",
    "line-feeds": b"x\n=1+1,100\r\n::error::.cu",
    "no-text": b"\xff\xfe\x9b31m.cu",
    "direction": "\u202euc.\u2066x\u200b\u3164.cu".encode(),
    "cdata": b"]]>&lol;.cu",
    "rich": b"[link=x][red]{0}%s.cu",
    "option": b"--help.cu",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_file_name_stays_text_in_every_report(
    name: str, tmp_path: Path, plan: Plan, tools: Tools
) -> None:
    """The structure of each report is that of the same file under a plain name."""
    (tmp_path / "hostile").mkdir()
    (tmp_path / "plain").mkdir()
    source = f"{HEAD} {{ nothing; }}\n"
    grade, text = graded(tmp_path / "hostile", NAMES[name], source, plan, tools)
    benign, _ = graded(tmp_path / "plain", b"plain.cu", source, plan, tools)
    assert grade.submission_id.isprintable()
    assert not set(grade.submission_id) & set("/\\<>&\"'=;\x1b ")
    for report in REPORTS.values():
        assert _timeless(report(grade, text)[0]) == _timeless(report(benign, text)[0])


def _timeless(structure: object) -> object:
    """Without the seconds that stages took, which differ from run to run."""
    if isinstance(structure, dict):
        return {key: value for key, value in structure.items() if key != "seconds"}
    return structure
