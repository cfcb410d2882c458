"""Programs without a GPU that call its runtime for ever: how long the first case takes, and further ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader import pipeline
from grader.assignment import load_assignment
from grader.model import Submission, Verdict
from grader.nvcc import Tools, find_toolchain
from grader.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.model import Grade

    Graded = Callable[[str], Grade]

YAML = """
id: wait
title: Wait
submission: {kind: program, seconds: 2, emulator_seconds: 3}
cases:
  - {id: one, arguments: ["1"]}
  - {id: two, arguments: ["2"], visibility: hidden}
rubric:
  - {id: ends, points: 5, check: exit, status: 0, partial: per-case}
"""
PROGRAM = r"""#include <cstdlib>
#include <unistd.h>
__global__ void nothing() {}
int main(int count, char **arguments) {
    nothing<<<1, 1>>>();
    if (std::atoi(arguments[1]) == 1) while (cudaStreamQuery(0) != 17) {}
    BODY
    return 0;
}
"""


@pytest.fixture
def graded(tmp_path: Path) -> Graded:
    """Grade a program that calls for ever in its first case, and does something else in the second."""
    (tmp_path / "assignment.yaml").write_text(YAML)
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(load_assignment(tmp_path), 1, tools, visible_only=False)

    def grade(body: str) -> Grade:
        source = PROGRAM.replace("BODY", body).encode()
        return pipeline.grade(plan, Submission("ada", "wait.cu", source, "0" * 8), tools)

    return grade


@pytest.mark.slow
def test_who_calls_for_ever_in_one_case_has_less_time_for_launches_in_the_next(graded: Graded) -> None:
    """Both fail, for both took all of the program's own time and more; the second one is stopped earlier."""
    first, second = graded("while (cudaStreamQuery(0) != 17) {}").cases
    assert first.verdict is second.verdict is Verdict.FAIL
    assert (first.seconds or 0) > 10
    assert 2 < (second.seconds or 0) < 7


@pytest.mark.slow
def test_a_hidden_case_that_ends_after_one_that_does_not_is_judged(graded: Graded) -> None:
    """It takes more calls than none, and is right."""
    _, second = graded("for (int i = 0; i < 1000; ++i) cudaStreamQuery(0);").cases
    assert second.verdict is Verdict.PASS


@pytest.mark.slow
def test_what_launches_take_of_the_lesser_time_is_no_fault_of_the_programs(
    graded: Graded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hidden case whose launches alone take longer is not judged, which is no zero."""
    monkeypatch.setattr("grader.kinds.program.running.STEPS_A_SECOND", 10**9)
    slow = "nothing<<<4096, 1024>>>(); for (;;) nothing<<<4096, 1024>>>();"
    _, second = graded(slow).cases
    assert second.verdict is Verdict.SKIP
