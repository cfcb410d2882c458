"""The exceptions cross process boundaries whole."""

from __future__ import annotations

import pickle

import pytest

from grader.errors import GraderError, SpecError, ToolMissing, UnsupportedPtx


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
    """The message says what is not interpreted and where it came from."""
    text = str(UnsupportedPtx("tex.1d", 7, (("a.cu", 3),)))
    assert text == "the emulator does not interpret `tex.1d` yet (PTX line 7, from a.cu:3)"
