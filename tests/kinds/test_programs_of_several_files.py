"""Programs of several files: which of them is compiled, which is included, and whose line a finding has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import load_assignment
from grader.grading.submission import PROGRAM, SOURCE, read_submission
from grader.kinds import pipeline
from grader.model import ProgramInterface, Submission, Verdict
from grader.toolchain.nvcc import Tools, build_program, find_toolchain
from grader.toolchain.nvcc.units import units_of
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import CheckResult, Grade

YAML = """
id: sum
title: Sum
submission: {kind: program, seconds: 2, emulator_seconds: 5}
cases:
  - {id: plain}
rubric:
  - {id: says, points: 5, check: text, lines: "96"}
  - {id: memory, points: 5, check: memory}
  - {id: host, points: 5, check: host}
  - {id: built, points: 5, check: structure, kernel: part, require: {uses_atomics: false}}
"""
FILES = {
    "main.cu": r"""#include <cstdio>
#include "work.h"
#include "part.cu"
static __global__ void work(int *p) { p[threadIdx.x] += 1; }
int main() {
    int *d, host[8];
    cudaMalloc(&d, sizeof host);
    cudaMemset(d, 0, sizeof host);
    work<<<1, 8>>>(d);
    twice(d, 8);
    part<<<1, 8>>>(d);
    cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%d\n", total(host, 8));
    cudaFree(d);
}
""",
    "part.cu": "__global__ void part(int *p) { p[threadIdx.x] += 10; }\n",
    "total.cpp": """#include "work.h"
int total(const int *v, int n) { return n ? v[0] + total(v + 1, n - 1) : 0; }
""",
    "twice.cu": """#include "work.h"
__constant__ int factor = 2;
static __global__ void work(int *p, int n) { if (threadIdx.x < n) p[threadIdx.x] *= factor; }
void twice(int *p, int n) {
    int *copy;
    cudaMalloc(&copy, 40);
    work<<<1, 32>>>(p, n);
    cudaMemcpy(copy, p, 32, cudaMemcpyDeviceToDevice);
    cudaFree(copy);
}
""",
    "work.h": "void twice(int *, int);\nint total(const int *, int);\n",
    "other.cpp": '#include "nothing.h"\nint main() { return 3; }\n',
}


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox, with a cache."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


def _folder(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def _graded(tools: Tools, folder: Path, files: dict[str, str]) -> Grade:
    (folder / "assignment.yaml").write_text(YAML)
    plan = pipeline.make_plan(load_assignment(folder), 1, tools, visible_only=False)
    return pipeline.grade(plan, read_submission(_folder(folder / "ada", files), PROGRAM), tools)


def _results(grade: Grade) -> dict[str, CheckResult]:
    return {item.result.item.id: item.result for item in grade.items}


def test_each_file_is_a_module_of_its_own(tools: Tools, tmp_path: Path) -> None:
    """Two kernels have one name; what is included and what is not needed is no part of the program."""
    grade = _graded(tools, tmp_path, FILES)
    assert grade.verdict is Verdict.PASS, grade.error
    assert grade.submission_file == "main.cu"


def test_findings_have_the_file_that_they_are_in(tools: Tools, tmp_path: Path) -> None:
    """Those of a kernel and those of the host; what was built comes back from the cache as it was."""
    twice = FILES["twice.cu"].replace("threadIdx.x < n", "threadIdx.x <= n").replace("p, 32,", "p, 80,")
    for attempt in ("first", "cached"):
        (tmp_path / attempt).mkdir()
        grade = _graded(tools, tmp_path / attempt, {**FILES, "twice.cu": twice})
        results = _results(grade)
        (memory,) = results["memory"].findings
        assert (memory.file, memory.line, memory.array) == ("twice.cu", 3, "d")
        (host,) = (f for f in results["host"].findings if str(f.code) == "host-copy-too-large")
        assert (host.file, host.line, host.address) == ("twice.cu", 8, "copy")
        assert grade.cause is not None
        assert grade.cause.line is None, "no line of another file is quoted from the file with main"
        assert grade.cause.message == f"{host.message} (twice.cu, line 8)"


def _built(tools: Tools, tmp_path: Path, files: dict[str, str]) -> tuple[str, list[tuple[str, str]]]:
    submission = read_submission(_folder(tmp_path / "ada", files), PROGRAM)
    build = build_program(tools, submission, ProgramInterface())
    return build.error, [(finding.file, finding.message) for finding in build.findings]


def test_device_code_that_another_file_is_to_complete_is_not_supported(tools: Tools, tmp_path: Path) -> None:
    """Our limit, with file and line: a course may link with -rdc=true."""
    own = {"a.cu": FILES["part.cu"] + "int main() { part<<<1, 1>>>(nullptr); }\n"}
    function = "__device__ int helper(int);\n__global__ void k(int *p) { *p = helper(*p); }\n"
    error, findings = _built(tools, tmp_path, {**own, "b.cu": function})
    assert "not supported here: device code across files (nvcc -rdc=true): `helper` of b.cu, line 1" in error
    assert not findings
    (tmp_path / "ada").rename(tmp_path / "before")
    variable = "extern __device__ int counter;\n__global__ void k(int *p) { *p = counter; }\n"
    error, findings = _built(tools, tmp_path, {**own, "b.cu": variable})
    assert "`counter` of b.cu, line 1 is to come from another file" in error


def test_a_function_that_no_file_has_is_named_with_the_file_that_calls_it(
    tools: Tools, tmp_path: Path
) -> None:
    """Also where files lie beside it that were tried."""
    files = {"a.cu": "void f(int);\nint main() { f(1); }\n", "b.cpp": "int g(int i) { return i; }\n"}
    error, [(file, message)] = _built(tools, tmp_path, files)
    assert not error
    assert file == "a.cu"
    assert message.startswith("`f(int)` is used here, but nothing defines it (undefined reference)")


def test_files_without_main_are_refused(tools: Tools, tmp_path: Path) -> None:
    """All of them."""
    _, findings = _built(tools, tmp_path, {"a.cu": "void f() {}\n", "b.cu": "void g() {}\n"})
    assert findings == [("a.cu", "none of these files has a `main` function, and a program begins there")]


@pytest.mark.parametrize(
    ("files", "first"),
    [
        ({"a.cu": "void f();", "b.cu": "int main(int argc, char **argv)\n{ }"}, "b.cu"),
        ({"a.cu": "// int main() {\nvoid f() {}", "b.cu": "auto main() -> int { }"}, "b.cu"),
        ({"a.cu": "int main() { }", "b.cpp": "int main() { }"}, "a.cu"),
        ({"a.cpp": "void f();", "b.cpp": "int main() { }"}, "b.cpp"),
        ({"a.cu": "int main() { }", "b.cu": '#include "a.cu"\n'}, "b.cu"),
        ({"b.cu": "void f();", "a.cu": "int domain() { return main(1); }"}, "a.cu"),
    ],
)
def test_a_program_begins_in_the_file_with_main(files: dict[str, str], first: str, tmp_path: Path) -> None:
    """Device code first; what another file includes is a part of that one; else the first by name."""
    submission = read_submission(_folder(tmp_path / "ada", files), PROGRAM)
    assert (submission.file, submission.problem) == (first, None)
    assert {name for name, _ in submission.headers} == files.keys() - {first}


def test_two_programs_in_one_folder_are_refused(tmp_path: Path) -> None:
    """The grader does not guess; of a kernel's files there may be one as before."""
    files = {"a.cu": "int main() { }", "b.cu": "int main() { }"}
    folder = _folder(tmp_path / "ada", files)
    problem = read_submission(folder, PROGRAM).problem
    assert problem is not None
    assert "more than one file has a `main` (`a.cu`, `b.cu`); expected one program" in problem.message
    problem = read_submission(folder, SOURCE).problem
    assert problem is not None
    assert "2 .cu files" in problem.message


def test_what_is_included_or_the_courses_is_no_source_of_its_own() -> None:
    """Nor is what lies in folders below, or is no source."""
    headers = tuple((name, b"") for name in ("a.cuh", "b.cu", "c.cpp", "d.c", "e.cu", "sub/f.cu", "g.CU"))
    submission = Submission(
        "ada", "x.cu", b'#include <../b.cu>\n# include "e.cu" // here', "", headers=headers
    )
    units = units_of(submission, ProgramInterface(include=(("c.cpp", ""),)))
    assert [(unit.file, unit.language, unit.is_host) for unit in units] == [
        ("d.c", "c", True),
        ("g.CU", "cu", False),
    ]
    assert len({unit.label for unit in units}) == 2
