"""compute-sanitizer: where it is, and how each tool is called."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import UsageError
from grader.toolchain.gpu import RaceJudge, sanitizer
from grader.toolchain.gpu.sanitizer import TOOLS, command, files, find_sanitizer, tools_for

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tools_own_text_goes_to_a_file_that_a_kernel_cannot_print_into(tool: str) -> None:
    """`printf` writes to standard output; XML and log come back as files."""
    words = command(tool, "/opt/compute-sanitizer")
    xml, written = files(tool)
    assert words[0] == "/opt/compute-sanitizer"
    pairs = dict(itertools.pairwise(words))
    assert (pairs["--tool"], pairs["--save"], pairs["--log-file"]) == (tool, xml, written)
    assert "--xml" in words
    assert (pairs["--error-exitcode"], pairs["--strip-paths"], pairs["--report-api-errors"]) == (
        "86",
        "no",
        "no",
    )


def test_each_tool_has_its_own_options() -> None:
    """Memcheck pads arrays, racecheck sums up and keeps to its share of the processors."""
    assert command("memcheck", "x")[-2:] == ("--padding", "64")
    assert {"analysis", "warn", "2"} <= set(command("racecheck", "x"))
    assert "--padding" not in command("synccheck", "x")


def test_the_tools_that_accuse_right_kernels_are_left_out_where_only_the_emulator_counts() -> None:
    """Tools whose findings would be ignored are not run."""
    assert tools_for(RaceJudge.BOTH) == tools_for(RaceJudge.SANITIZER) == TOOLS
    assert tools_for(RaceJudge.EMULATOR) == ("memcheck", "initcheck")


def test_the_sanitizer_is_found_by_name_by_variable_and_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In that order; one that is named but not there is the caller's mistake."""
    program = tmp_path / "compute-sanitizer"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sanitizer, "find_spec", lambda _name: None)
    monkeypatch.delenv("GRADER_SANITIZER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_sanitizer() == program
    assert find_sanitizer(str(program)) == program
    monkeypatch.setenv("GRADER_SANITIZER", str(tmp_path / "none"))
    with pytest.raises(UsageError, match="no program is there"):
        find_sanitizer()
