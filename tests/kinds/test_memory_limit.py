"""No line of a student's file takes more memory than the limit."""

from __future__ import annotations

import gc
from functools import partial

import numpy as np
import pytest

from grader.base.memory_limit import limited
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.running.backends import emulator
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled

ASSIGNMENT = bundled("vector-add")

BIG = b"""__device__ float scratch[32 << 20];
__global__ void vectorAdd(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < (32 << 20); k += 1 << 20) scratch[k] = k;
    if (i < N) C[i] = A[i] + B[i];
}
"""


@pytest.fixture(autouse=True)
def _nothing_is_left_to_be_freed() -> None:
    """Free what earlier tests left: it would count as in use, and be given back within the limit."""
    gc.collect()


def test_more_than_the_limit_is_refused_and_afterwards_given() -> None:
    """The limit is one on what is taken within it."""
    with limited(64 << 20), pytest.raises(MemoryError):
        np.ones(256 << 20, np.uint8)
    assert np.ones(256 << 20, np.uint8)[-1] == 1


def test_a_stricter_limit_stays() -> None:
    """A limit that is set from outside is not widened."""
    with limited(64 << 20), limited(1 << 40), pytest.raises(MemoryError):
        np.ones(256 << 20, np.uint8)


def test_what_takes_too_much_memory_is_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is it an error of ours, to be tried again, nor a zero: the model solution takes less."""
    monkeypatch.setattr(emulator, "limited", partial(limited, 96 << 20))
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(ASSIGNMENT, 1, tools, visible_only=True)
    grade = pipeline.grade(plan, Submission("s", "s.cu", BIG, ""), tools)
    assert grade.is_question
    items = {item.result.item.check: item.result for item in grade.items}
    assert items["output"].verdict is Verdict.ERROR
    assert "too much work for the emulator: it takes more memory" in items["output"].message
