"""Hints for what never reached a compiler, and for programs that were ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.explaining import explain_findings
from grader.explaining.findings import compile_hint
from grader.grading.submission import read_submission
from grader.grading.submission.items import MAX_BYTES
from grader.model import Finding, FindingKind, KernelInterface
from grader.toolchain.nvcc.kernel import missing_kernel

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("files", "hint"),
    [
        ({"a.cu": b"x", "b.cu": b"x"}, "leave one file with your kernel"),
        ({"README.md": b"x"}, "put the file with your kernel into it"),
        ({}, "put the file with your kernel into it"),
        ({"a.cu": b""}, "save the file in your editor"),
        ({"a.cu": b"/" * (MAX_BYTES + 1)}, "hand in the source text alone"),
        ({"a.cu": b"\x7fELF"}, "hand in the `.cu` file as an editor for programs saves it"),
    ],
)
def test_what_no_compiler_saw_has_hints_of_its_own(
    files: dict[str, bytes], hint: str, tmp_path: Path
) -> None:
    """They say what to hand in, and nothing of errors to repair."""
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    problem = read_submission(tmp_path).problem
    assert problem is not None
    assert hint in compile_hint([problem])


def test_a_file_without_a_kernel_is_not_assumed_to_have_the_function() -> None:
    """It may be another file than was meant, or one in which `__global__` was forgotten."""
    problem = missing_kernel(KernelInterface("matMul", (), (), (), ()), (), ())
    hint = compile_hint([problem])
    assert hint.startswith("put `__global__` before `void matMul`")
    assert hint.endswith("If there is no such function, this is not the file with your kernel.")


@pytest.mark.parametrize(
    ("kind", "ending", "words"),
    [
        (FindingKind.FAULT, "output-limit", "loops that print or write"),
        (FindingKind.FAULT, "signal", "indices of the host code"),
        (FindingKind.FAULT, "memory", "what is allocated"),
        (FindingKind.TIMEOUT, "time", "waits for input"),
    ],
)
def test_a_program_that_was_ended_gets_no_advice_for_devices(
    kind: FindingKind, ending: str, words: str
) -> None:
    """Neither traps nor device assertions are the reason, and no kernel is spoken of."""
    (named,) = explain_findings([Finding(kind, "the program did not come to its end: …", ending)])
    assert words in named.hint
    assert "CUDA" not in named.hint + named.read
    assert "kernel" not in named.hint + named.explanation
