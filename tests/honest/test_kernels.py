"""Honest kernels at the edges of what is allowed: full marks for all of them, and not a word against any."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.classroom.course.download import read_download
from grader.grading.assignment import reference_folder
from grader.grading.submission.items import MAX_BYTES
from grader.kinds import pipeline
from grader.model import Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.grading.submission.packing import tarred, zipped

if TYPE_CHECKING:
    from grader.kinds.pipeline import Plan
    from grader.model import Grade, Submission

ASSIGNMENT = bundled("tiled-matmul")
SOLUTION = (reference_folder(ASSIGNMENT) / "solution.cu").read_bytes()
KERNELS = Path(__file__).parent / "kernels"
SEED = 20

_FUNCTIONS = "".join(
    f"__device__ float f{number}(float x) {{ return x * {number}.0f; }}\n" for number in range(1000)
)
_HEADERS = {
    f"part_{number}.h": f"#pragma once\n#define PART_{number} {number}\n".encode() for number in range(200)
}

GENERATED: dict[str, dict[str, bytes]] = {
    # long files, which are generated rather than stored
    "comment_of_900_kb": {"k.cu": b"/*" + b"all work and no play \n" * 40_000 + b"*/\n" + SOLUTION},
    "line_of_200_kb": {"k.cu": b"int spread[] = {" + b"0, " * 60_000 + b"0};  // one line\n" + SOLUTION},
    "source_of_1_mib": {"k.cu": SOLUTION + b"/" * (MAX_BYTES - len(SOLUTION))},
    "thousand_functions": {"k.cu": _FUNCTIONS.encode() + SOLUTION},
    "thousand_macros": {"k.cu": b"".join(b"#define M%d %d\n" % (n, n) for n in range(1000)) + SOLUTION},
    "blank_lines": {"k.cu": b"\n" * 100_000 + SOLUTION},
    # many files
    "two_hundred_headers": {
        **_HEADERS,
        "k.cu": b"".join(b'#include "%s"\n' % name.encode() for name in _HEADERS) + SOLUTION,
    },
    "chain_of_headers": {
        **{f"link{n}.h": f'#include "link{n + 1}.h"\n'.encode() for n in range(100)},
        "link100.h": b"#define REACHED 1\n",
        "k.cu": b'#include "link0.h"\nstatic_assert(REACHED);\n' + SOLUTION,
    },
    "kernel_in_a_header": {"tiled_kernel.cuh": SOLUTION, "main.cu": b'#include "tiled_kernel.cuh"\n'},
    # encodings
    "utf_16": {"k.cpp": SOLUTION.decode().encode("utf-16")},
    "latin_1": {"k.cu": b"// Gr\xf6\xdfe der Kachel\n" + SOLUTION},
    # archives
    "in_a_zip": {
        "homework.zip": zipped({"hw/k.cu": b'#include "t.h"\n' + SOLUTION, "hw/t.h": b"#define T 1\n"})
    },
    "in_a_tar": {"homework.tgz": tarred({"./k.cu": SOLUTION, "./README.md": b"hello"}, compressed=True)},
}

NAMES = (
    "final (2) copy.cu", "it's done.cu", "Übung 3 – Lösung.cu", "--help.cu", "-o out.cu", "@file.cu",
    "a;b.cu", "$(HOME).cu", "%s%n.cu", "*.cu", "kernel.v2.final.CU", "解答.cu", "two\nlines.cu",
    "a&b<c>.cu", "nul.cu", "x" * 250 + ".cu", "=1+1.cu", "{0}.cu", "[red].cu", "#1.cu", "`id`.cu",
    'quote".cu', "back\\slash.cu",
)  # fmt: skip
"""Names that students give their files; each has to be as good as any other."""


def _hand_in(folder: Path) -> None:
    for file in sorted(KERNELS.glob("*.cu")):
        (folder / file.name).write_bytes(file.read_bytes())
    for name, files in GENERATED.items():
        (folder / name).mkdir()
        for file_name, content in files.items():
            (folder / name / file_name).write_bytes(content)
    for number, name in enumerate(NAMES):
        (folder / f"name-{number:02}").mkdir()
        (folder / f"name-{number:02}" / name).write_bytes(SOLUTION)


def _accused(grade: Grade) -> list[str]:
    """Return all errors, lost items and findings of a kernel that is right."""
    lost = [item.result for item in grade.items if item.result.verdict not in {Verdict.PASS, Verdict.SKIP}]
    messages = [finding.message for item in grade.items for finding in item.result.findings]
    return [grade.error, *(f"{result.item.id}: {result.message}" for result in lost), *messages]


@dataclass(frozen=True)
class Class:
    """All of them, handed in as a class, and what it takes to grade one on the visible cases."""

    plan: Plan
    tools: Tools
    submissions: dict[str, Submission]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Class:
    """The class; each is graded by the test that asks for it."""
    folder = tmp_path_factory.mktemp("class")
    _hand_in(folder)
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(ASSIGNMENT, SEED, tools, visible_only=True)
    return Class(plan, tools, {one.id: one for one in read_download(folder).submissions})


IDS = [
    *(path.stem for path in sorted(KERNELS.glob("*.cu"))),
    *GENERATED,
    *(f"name-{n:02}" for n in range(len(NAMES))),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", IDS)
def test_an_honest_kernel_has_full_marks(honest: Class, name: str) -> None:
    """All items but the speedup pass, with no finding and no error of ours."""
    grade = pipeline.grade(honest.plan, honest.submissions[name], honest.tools)
    assert [one for one in _accused(grade) if one] == []
    assert [grade.score, grade.max_score, grade.skipped_points] == [90, 90, 10]


def test_there_are_enough_of_them() -> None:
    """As many as were promised, with the correct kernels in other styles and the programs beside them."""
    assert len(IDS) == len(set(IDS)) >= 80
