"""Outputs that are defined only in part: an oracle masks what may be anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade

SPEC = """\
id: evens
title: The even numbers first
reference: evens
submission:
  kind: kernel
  kernel: compact
  parameters:
    values: inout int32[N]
    kept: out int32[N]
    count: inout int32[1]
    N: int32
  launch: {block: [1], grid: [1]}
cases:
  - {id: some, shape: {N: 40}}
rubric:
  - {id: right, points: 1, check: output}
"""
ORACLE = """
import numpy as np

KINDS = ("random",)


def inputs(kind, shape, rng):
    return {"values": rng.integers(1, 100, shape["N"], np.int32), "count": np.zeros(1, np.int32)}


def expected(inputs, shape):
    values = inputs["values"]
    even = values[values % 2 == 0]
    kept = np.ma.masked_all(shape["N"], np.int32)
    kept[: len(even)] = even
    everything = np.ma.masked_all(shape["N"], np.int32)
    zero = np.zeros(shape["N"])
    return {"values": (everything, zero), "kept": (kept, zero), "count": (np.array([len(even)]), np.zeros(1))}
"""
KERNEL = """
__global__ void compact(int* values, int* kept, int* count, int N) {
    int n = 0;
    for (int i = 0; i < N; ++i) if (values[i] % 2 == 0) kept[n++] = values[i];
    for (int i = 0; i < N; ++i) values[i] = i * i;
    *count = n;
}
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An assignment whose oracle defines only the first elements."""
    root = tmp_path_factory.mktemp("course")
    for folder, name, text in (("assignments", "assignment.yaml", SPEC), ("reference", "oracle.py", ORACLE)):
        (root / folder / "evens").mkdir(parents=True)
        (root / folder / "evens" / name).write_text(text)
    return root


def _graded(course: Path, source: str) -> Grade:
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(load_assignment(course / "assignments/evens"), 1, tools, visible_only=False)
    return pipeline.grade(plan, Submission("s", "s.cu", source.encode(), "d"), tools)


def test_what_is_left_open_may_be_written_or_not(course: Path) -> None:
    """The rest of an output, and an array that the kernel may use up."""
    assert _graded(course, KERNEL).items[0].result.verdict is Verdict.PASS
    filled = _graded(course, KERNEL.replace("*count = n;", "*count = n; while (n < N) kept[n++] = -1;"))
    assert filled.items[0].result.verdict is Verdict.PASS


def test_what_is_defined_is_still_compared(course: Path) -> None:
    """A number that is missing among the first is reported with its index."""
    result = _graded(course, KERNEL.replace("kept[n++] = values[i]", "{ if (n) kept[n] = values[i]; n++; }"))
    assert result.items[0].result.verdict is Verdict.FAIL
    assert "`kept[0]`" in result.items[0].result.message
