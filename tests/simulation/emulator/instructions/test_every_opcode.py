"""No opcode without a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.simulation.emulator.instructions import CHAPTERS, OPCODES

HERE = Path(__file__).parent


@pytest.mark.parametrize("chapter", CHAPTERS, ids=[chapter.__name__.split(".")[-1] for chapter in CHAPTERS])
def test_every_opcode_of_a_chapter_appears_in_its_test(chapter: object) -> None:
    """The test of a chapter, or one of its tests, executes each of its opcodes."""
    name = chapter.__name__.split(".")[-1]  # type: ignore[attr-defined]
    files = [HERE / f"test_{name}.py", *HERE.glob(f"test_{name}_*.py")]
    source = "".join(file.read_text() for file in files).replace("\\n", " ")
    opcodes: dict[str, object] = chapter.TABLE  # type: ignore[attr-defined]
    missing = [opcode for opcode in opcodes if not re.search(rf"(?<![\w.%]){opcode}(?=[. ;\"{{])", source)]
    assert not missing


def test_every_chapter_is_in_the_table() -> None:
    """The table holds the opcodes of the chapters, and no others."""
    assert {opcode for chapter in CHAPTERS for opcode in chapter.TABLE} == OPCODES
