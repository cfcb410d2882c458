"""The exceptions cross process boundaries whole."""

from __future__ import annotations

import errno
import os
import pickle
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from grader.base.errors import (
    GraderError,
    SpecError,
    ToolMissing,
    UnsupportedPtx,
    described,
    described_bug,
    exhausted,
)


@pytest.mark.parametrize(
    "problem",
    [
        SpecError(("a.yaml:1:2: x: expected y", "a.yaml:3:4: z")),
        UnsupportedPtx("tex.1d", 7, (("a.cu", 3),)),
        ToolMissing("no nvcc"),
    ],
    ids=lambda problem: type(problem).__name__,
)
def test_survives_pickling(problem: GraderError) -> None:
    """Text and exit code are the same on the other side."""
    copy = pickle.loads(pickle.dumps(problem))  # noqa: S301 - our own bytes
    assert (type(copy), str(copy), copy.exit_code) == (type(problem), str(problem), problem.exit_code)


def test_unsupported_ptx_names_instruction_and_lines() -> None:
    """The message names what is not interpreted and where it came from."""
    text = str(UnsupportedPtx("tex.1d", 7, (("a.cu", 3),)))
    assert text == "the emulator does not interpret `tex.1d` yet (PTX line 7, from a.cu:3)"


@pytest.mark.parametrize(
    ("problem", "lacking"),
    [
        (MemoryError(), "too little memory"),
        (OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), "too little memory"),
        (OSError(errno.EMFILE, os.strerror(errno.EMFILE), "/a/module.py"), "too few files"),
        (OSError(errno.ENFILE, os.strerror(errno.ENFILE)), "too few files"),
        (BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)), "too few processes"),
        (RuntimeError("can't start new thread"), "too few processes or threads"),
        (ImportError("libx.so: failed to map segment from shared object"), "too little memory"),
        (ImportError("libx.so: cannot open shared object file: Too many open files"), "too few files"),
    ],
    ids=str,
)
def test_a_limit_of_the_machine_is_no_fault_of_the_grader(problem: Exception, lacking: str) -> None:
    """The words name the limit and what to do, wherever the exception is put into words."""
    assert lacking in exhausted(problem)
    assert described(problem) == exhausted(problem)
    assert described_bug("the autograder", problem) == f"the autograder failed: {exhausted(problem)}"


@pytest.mark.parametrize(
    "problem",
    [OSError(errno.ENOENT, "none"), OSError("text"), RuntimeError("a bug"), KeyError("x")],
    ids=str,
)
def test_any_other_exception_is_about_no_limit(problem: Exception) -> None:
    """It keeps its type in the text: it is a bug."""
    assert exhausted(problem) == ""
    assert described(problem).startswith(type(problem).__name__)


GRADER = Path(sys.executable).with_name("grader")
FEW = [(resource.RLIMIT_NOFILE, 10), (resource.RLIMIT_AS, 60 << 20), (resource.RLIMIT_AS, 120 << 20)]


@pytest.mark.parametrize(("kind", "limit"), FEW)
@pytest.mark.parametrize(
    "words", [["list"], ["check", "vector-add", "KERNEL"], ["grade", "vector-add", "KERNEL"]]
)
def test_a_command_that_lacks_something_of_the_machine_reports_what(
    kind: int, limit: int, words: list[str], tmp_path: Path
) -> None:
    """The output does not accuse the grader, whatever fails first; what works with so little may."""
    kernel = tmp_path / "ada.cu"
    kernel.write_text("no kernel\n", encoding="utf-8")
    command = [str(kernel) if word == "KERNEL" else word for word in words]
    done = subprocess.run(
        [GRADER, *command, *(["-o", tmp_path / "out"] if words[0] == "grade" else ())],
        preexec_fn=lambda: resource.setrlimit(kind, (limit, limit)),
        capture_output=True,
        text=True,
        check=False,
    )
    output = done.stdout + done.stderr
    assert "fault of the grader" not in output
    assert "Traceback" not in output
    assert done.returncode in (0, 1) or "this machine" in output
