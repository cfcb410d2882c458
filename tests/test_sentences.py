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
    """Whether an expression is the message of a record."""
    return isinstance(node, ast.Attribute) and node.attr in SENTENCES


def reads(source: str) -> Iterator[int]:
    """The lines that look into the sentence of a record."""
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


def test_no_stage_reads_a_sentence_back() -> None:
    """A code, an access or another field says what the next stage needs."""
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
