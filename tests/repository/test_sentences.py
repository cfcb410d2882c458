"""A finding is data: no stage searches, splits or compares the sentences that people read."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import grader

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(grader.__file__).parent
LAYOUT = ROOT / "reports"
"""Reports lay sentences out: they ask what fits, and what stands on the page already."""

SENTENCES = ("message", "message_staff")
SEARCHES = ("search", "match", "fullmatch", "findall", "finditer", "split")
HARMLESS = ("encode", "passed", "failed")
"""A digest of a sentence, and the two sentences of a part of a rubric item."""


def is_sentence(node: ast.expr) -> bool:
    """Return whether an expression is the message of a record."""
    return isinstance(node, ast.Attribute) and node.attr in SENTENCES


def reads(source: str) -> Iterator[int]:
    """The lines that look into the sentence of a record."""
    if not any(name in source for name in SENTENCES):
        return
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.expr))
    for node in nodes:
        looks = False
        if isinstance(node, ast.Compare):
            looks = any(map(is_sentence, (node.left, *node.comparators)))
        elif isinstance(node, ast.Attribute):
            looks = is_sentence(node.value) and node.attr not in HARMLESS
        elif isinstance(node, ast.Subscript):
            looks = is_sentence(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            looks = node.func.attr in SEARCHES and any(map(is_sentence, node.args))
        if looks:
            yield node.lineno


OTHERS = (
    "grading/checks",  # sentences of an item's own: the model's answer, a speedup, traffic, a structure
    "kinds/answers",  # a sheet that cannot be read
    "kinds/comparing/arrays.py",  # what is the matter with a file that a program wrote
    "kinds/host_runs",  # how a program ended
    "toolchain/nvcc/diagnostics.py",  # messages of the compiler
    "classroom/course/anonymous.py",  # what is the matter with a submission, without names
)
"""Files whose findings have sentences that no code stands for: each makes its own."""

CODED = ("toolchain/nvcc/stage.py", "toolchain/nvcc/program.py", "grading/submission/items.py")
"""Files among these that report by code all the same."""


def words(source: str) -> Iterator[int]:
    """The lines that make a finding with a message, or give one to a finding."""
    if "Finding" not in source and not ("replace" in source and "message" in source):
        return
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", "")
        by_name = any(keyword.arg == "message" for keyword in node.keywords)
        by_place = name == "Finding" and len(node.args) > 1
        if (name == "Finding" and (by_name or by_place)) or (name == "replace" and by_name):
            yield node.lineno


def test_what_a_code_stands_for_is_worded_in_one_place() -> None:
    """The emulator, the GPU and the launches report codes and data; `messages` makes the sentences."""
    paths = [file.relative_to(ROOT).as_posix() for file in ROOT.rglob("*.py")]
    free = ("model/messages", "kinds/pipeline.py", "reports", "classroom/batch", *OTHERS)
    bound = [path for path in paths if path in CODED or not path.startswith(free)]
    assert {
        "simulation/emulator/reporter.py",
        "toolchain/gpu/answer.py",
        "kinds/kernel/stages.py",
        *CODED,
    } <= set(bound)
    assert [f"{path}:{line}" for path in bound for line in words((ROOT / path).read_text())] == []


@pytest.mark.parametrize(
    "offence",
    [
        'Finding(FindingKind.RACE, f"{threads} race")',
        "Finding(FindingKind.RACE, message)",
        'Finding(kind=FindingKind.RACE, message="threads race")',
        'replace(finding, message=finding.message + "; nothing depends on it")',
    ],
)
def test_each_way_to_word_a_finding_is_seen(offence: str) -> None:
    """The test above would find it."""
    assert list(words(offence)) != []


def test_no_stage_reads_a_sentence_back() -> None:
    """A code, an access or another field holds what the next stage needs."""
    files = (file for file in ROOT.rglob("*.py") if LAYOUT not in file.parents)
    found = [f"{file.relative_to(ROOT)}:{line}" for file in files for line in reads(file.read_text())]
    assert not found


@pytest.mark.parametrize(
    "offence",
    [
        "sign in finding.message",
        'finding.message == "x"',
        'finding.message.partition(" ")[0]',
        'result.message.startswith("not judged")',
        "PATTERN.findall(finding.message)",
        "finding.message[:5]",
    ],
)
def test_each_way_to_read_a_sentence_is_seen(offence: str) -> None:
    """The test above would find it."""
    assert list(reads(offence)) != []
