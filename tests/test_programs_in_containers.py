"""Programs that call CUDA, without a GPU, in each sandbox: they reach their device, and lines are told."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from grader import pipeline
from grader.assignment import find_assignment, load_assignment, staff_folder
from grader.model import Submission
from grader.nvcc import Tools, find_toolchain, toolchain_in
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox_choice import container

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.model import Grade

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(300)]

ASSIGNMENT = load_assignment(find_assignment("streams"))
STAFF = staff_folder(ASSIGNMENT)
EARLY = "line 56: the host uses C while the device may still be at work on it"
RACE = "line 51: kernel add reads dA while a copy writes it in another stream"


def _bubblewrap() -> Tools:
    toolchain = find_toolchain()
    return Tools(toolchain, BubblewrapSandbox(toolchain.roots))


def _docker() -> Tools:
    sandbox = container(gpu=False)
    return Tools(toolchain_in(sandbox, find_toolchain().architecture), sandbox)


@pytest.mark.parametrize("make_tools", [_bubblewrap, _docker])
def test_a_program_reaches_its_device_out_of_a_sandbox(make_tools: Callable[[], Tools]) -> None:
    """The solution has full marks; what is touched too early, or races, is told with its line."""
    tools = make_tools()
    plan = pipeline.make_plan(ASSIGNMENT, 3, tools, visible_only=False)

    def graded(file: Path) -> Grade:
        return pipeline.grade(plan, Submission(file.stem, file.name, file.read_bytes(), ""), tools)

    def host(name: str) -> str:
        grade = graded(STAFF / "mistakes" / name)
        return next(item.result.message for item in grade.items if item.result.item.id == "host")

    solution = graded(STAFF / "solution.cu")
    assert (solution.score, solution.error) == (Fraction(100), "")
    assert host("nobody_waits.cu").startswith(EARLY)
    assert host("kernel_in_the_other_stream.cu").startswith(RACE)
