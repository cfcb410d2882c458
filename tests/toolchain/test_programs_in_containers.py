"""Programs that call CUDA in each sandbox, without a GPU: they reach their device, and lines are reported."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import staff_folder
from grader.kinds import pipeline
from grader.model import Submission
from tests.bundled import bundled
from tests.mistakes import mistake_file
from tests.sandboxed import in_bubblewraps, in_containers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.model import Grade
    from grader.toolchain.nvcc import Tools

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(300)]

MESSAGES = {
    "streams": {
        "nobody_waits.cu": (
            "host",
            "line 56: the host uses C while the device may still be at work on it for line 53",
        ),
        "kernel_in_the_other_stream.cu": (
            "host",
            "line 51: kernel add reads dA while a copy writes it in another",
        ),
    },
    "matmul-function": {
        "writes_beyond_c.cu": (
            "aligned",
            (
                "none of 2 cases is right. In case `square-32` (M=32, K=32, N=32) the run did not come to "
                "its end: line 36: host code uses C[1024], and C has 1,024 elements"
            ),
        ),
    },
    "matmul-wb": {"freed_twice.cu": ("host", "line 64: frees deviceA a second time")},
}
"""By assignment and mistake, the item that reports it, and how its message begins."""


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("make_tools", [in_bubblewraps, in_containers])
def test_host_code_reaches_its_device_out_of_a_sandbox(make_tools: Callable[[], Tools], name: str) -> None:
    """The solution has full marks; a mistake of the host is reported with its line."""
    tools, assignment = make_tools(), bundled(name)
    plan = pipeline.make_plan(assignment, 3, tools, visible_only=False)

    def graded(file: Path) -> Grade:
        return pipeline.grade(plan, Submission(file.stem, file.name, file.read_bytes(), ""), tools)

    solution = graded(staff_folder(assignment) / "solution.cu")
    assert (solution.score, solution.error) == (Fraction(100), "")
    for file, (item_id, message) in MESSAGES[name].items():
        grade = graded(mistake_file(staff_folder(assignment) / "mistakes" / file))
        reported = next(item.result.message for item in grade.items if item.result.item.id == item_id)
        assert reported.startswith(message)
