"""Docstrings begin with what a thing is or does, not with a question word."""

from __future__ import annotations

import re
from pathlib import Path

import grader

ROOT = Path(grader.__file__).parents[1]
QUESTION = re.compile(r'^[ \t]*r?"""(?:What|Whether|How|Where|Which|Why|Who)\b.*', re.MULTILINE)


def test_docstrings_begin_with_what_a_thing_is() -> None:
    """A noun or a verb, also in the text below a constant or a field; a question is found."""
    folders = (ROOT / name for name in ("grader", "sandbox", "tests"))
    files = (file for folder in folders for file in sorted(folder.rglob("*.py")))
    findings = [
        f"{file.relative_to(ROOT)}: {question.strip()}"
        for file in files
        for question in QUESTION.findall(file.read_text("utf-8"))
    ]
    assert not findings, "begin these docstrings with a noun or a verb:\n" + "\n".join(findings)
    assert QUESTION.findall('class A:\n    room = 1\n    """Where it is."""\n') == ['    """Where it is."""']
