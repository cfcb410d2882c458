"""A course in German: of what students see, nothing of ours is left in English."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment.feedback import read
from grader.grading.submission import read_submission, wanted_by
from grader.kinds import pipeline
from grader.model.messages import sentences_of, speaking, templates_of
from grader.model.messages.trace import TRACE_SCRIPT
from grader.reports import html, junit, platforms, text, trace_files, trace_text
from grader.reports.annotations import annotations_of, render
from grader.reports.audience import student_view
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake_file
from tests.references import MISTAKES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.model import Assignment, Grade

ROOT = Path(__file__).parents[2]
GERMAN = read((ROOT / "tests/grading/assignment/feedback_de.yaml").read_bytes(), MISTAKES)[0]

ENGLISH = re.compile(
    r"\b(?:the|is|are|of|which|that|with|where|expected|should|been|each|this|these|nothing|wrong|right"
    r"|points?|cases?|lines?|read|reads|written|after|before|between|because|cannot|could|does|would)\b",
    re.IGNORECASE,
)
"""Words that no German sentence of ours has, and nearly every English one."""

DATA = re.compile(
    r"`[^`]*`|<(?:style|head|script|code)\b[^>]*>.*?</(?:style|head|script|code)>|<pre>.*?</pre>|</?\w+|(?:type|name|id|class)=\"[^\"]*\""
    r"|“[^”]*”|identifier (?:\"|&\w+;)\w+(?:\"|&\w+;) is undefined|expected a \S+"
    r"|^::\w+ file=[^,]*,line=\d+,|^\s*[> ]\s*\d+ \|.*?$|\[\[PROPERTY[^\]]*\]\]",
    re.DOTALL | re.MULTILINE,
)
"""Names and lines of the source, keys of formats, a compiler's messages, and titles of its maker's guide."""


def in_german(name: str) -> Assignment:
    """A bundled assignment with German texts, titles and hints."""
    assignment = bundled(name)
    rubric = tuple(replace(item, title=f"Punkt {item.id}", hint="") for item in assignment.rubric)
    return replace(assignment, rubric=rubric, feedback=GERMAN, title="Aufgabe")


def reports(grade: Grade) -> Iterator[tuple[str, str]]:
    """All that a student may see of a grade, by the report's name."""
    yield "terminal", text.render(grade).plain
    yield "html", html.render(grade)
    yield "junit", junit.render([student_view(grade)])
    results = json.loads(platforms.gradescope(grade))
    yield "gradescope", "\n".join([results["output"], *(test["output"] for test in results["tests"])])
    yield "annotations", render(annotations_of(grade, "a.cu"), "github", "")
    if grade.trace is not None:
        with speaking(sentences_of(GERMAN)):
            yield "trace page", trace_files.render(grade.trace)
            yield "trace", trace_text.render(grade.trace).plain
            yield "script", re.sub(r"\{\w+\}", "", "\n".join(templates_of(TRACE_SCRIPT).values()))


def english_in(report: str) -> list[str]:
    """The lines of a report that hold English words, without data."""
    return [line.strip() for line in DATA.sub("", report).splitlines() if ENGLISH.search(line)]


SAMPLE = ("boris", "dolores", "gustav", "ivan", "lena", "quentin")
"""A kernel that is right, one that does not compile, races, accesses out of bounds, wrong outputs."""


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The tools of this machine, with the builds that others made."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


def english_sentences(tools: Tools, folder: Path, assignment: str = "tiled-matmul") -> dict[str, list[str]]:
    """The sentences left in English in the reports of a folder's submission, by the report's name."""
    plan = pipeline.make_plan(in_german(assignment), 1, tools, visible_only=False)
    submission = read_submission(folder, wanted_by(plan.assignment.interface))
    grade = pipeline.grade(plan, submission, tools)
    return {report: lines for report, shown in reports(grade) if (lines := english_in(shown))}


def test_an_english_sentence_would_be_seen() -> None:
    """Names between backticks are none."""
    assert english_in("ja\nan output is wrong\n`is` nicht") == ["an output is wrong"]


@pytest.mark.parametrize("name", SAMPLE)
def test_a_report_of_a_kernel_holds_no_english_sentence(tools: Tools, name: str) -> None:
    """Messages of a compiler and the titles of its maker's guide are not ours."""
    assert english_sentences(tools, ROOT / "tests/sample_class" / name) == {}


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"a.cu": b""},
        {"a.cu": b"int", "b.cu": b"int"},
        {"a.cu": b"\x7fELF"},
        {"a.py": b"print()"},
        {"a.cu": b"x" * 2**21},
        {"a.zip": b"PK"},
        {"a.cu": b"__global__ void tiledMatmul(int *p) {}"},
        {"a.cu": b'#include "/etc/passwd"\n#include "away.h"\n'},
        {"a.cu": b"__global__ void tiledMatMul(int *p) {}"},
    ],
    ids=range(10),
)
def test_a_report_of_what_cannot_be_built_holds_no_english_sentence(
    tools: Tools, files: dict[str, bytes], tmp_path: Path
) -> None:
    """No file, several, none that is text, a kernel of another name or with other parameters."""
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert english_sentences(tools, tmp_path) == {}


OTHER_KINDS = (
    *(
        ("matmul-function", f"matmul/matmul-function/mistakes/{name}.cu")
        for name in (
            "back_the_wrong_way",
            "block_too_large",
            "changes_input",
            "never_launched",
            "ends_the_program",
        )
    ),
    ("matmul-wb", "matmul/matmul-wb/mistakes/host_pointers_in_kernel.cu"),
    ("memory-analysis", "memory-analysis/mistakes/words_for_numbers.yaml"),
)
"""Mistakes of the host, which explain an output; a program; and answers."""


@pytest.mark.parametrize(("assignment", "file"), OTHER_KINDS, ids=range(len(OTHER_KINDS)))
def test_a_report_of_another_kind_holds_no_english_sentence(
    tools: Tools, assignment: str, file: str, tmp_path: Path
) -> None:
    """Functions, programs and answers."""
    source = mistake_file(ROOT / "reference" / file)
    (tmp_path / f"answers{source.suffix}").write_bytes(source.read_bytes())
    assert english_sentences(tools, tmp_path, assignment) == {}
