"""`grader doctor` reports whether speed can be estimated, and that nothing else needs what that takes."""

from __future__ import annotations

from dataclasses import replace

from grader.authoring.doctor import Mark
from grader.authoring.doctor.examination import _disassembler, can_grade
from grader.toolchain.nvcc import HOW_TO_GET_NVDISASM, find_toolchain


def test_an_nvdisasm_that_is_there_is_named() -> None:
    """With its path."""
    toolchain = find_toolchain()
    line = _disassembler(toolchain)
    assert (line.mark, line.state) == (Mark.OK, f"nvdisasm at {toolchain.nvdisasm}")


def test_a_missing_disassembler_does_not_stop_grading() -> None:
    """Only the estimate goes without it, and the line names how to get it."""
    line = _disassembler(replace(find_toolchain(), nvdisasm=""))
    assert line.mark is Mark.NONE
    assert "all else goes without it" in line.state
    assert line.fix == HOW_TO_GET_NVDISASM
    assert can_grade([line])
