"""On a GPU (`pytest -m gpu`): whole programs run there, and on the emulator, which sees their hazards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader import pipeline
from grader.assignment import find_assignment, load_assignment, staff_folder
from grader.backends import prepare
from grader.gpu import devices
from grader.model import Grade, Submission, Verdict
from grader.nvcc import Tools, find_toolchain
from grader.sandbox import LocalSandbox
from tests.program_assignments import lost, mistakes

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(900)]

ASSIGNMENT = load_assignment(find_assignment("matmul-program"))
STAFF = staff_folder(ASSIGNMENT)
MISTAKES = mistakes(ASSIGNMENT)
BY_CHANCE = ("kernel", "product", "other-shape", "ends-well")
"""Items that a wrong program may earn on a device, where memory that nobody wrote may hold zeros."""


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Grade]:
    """Grade one of the staff's files on the GPUs that are here."""
    tools = Tools(find_toolchain(), LocalSandbox(), tmp_path_factory.mktemp("builds"))
    backend = prepare("gpu", tools, devices.visible(devices.find_gpus()))
    plan = pipeline.make_plan(ASSIGNMENT, 3, tools, visible_only=False, backend=backend)

    def grade(name: str) -> Grade:
        file = STAFF / name
        return pipeline.grade(plan, Submission(file.stem, file.name, file.read_bytes(), ""), tools)

    return grade


def test_the_solution_has_full_marks(graded: Callable[[str], Grade]) -> None:
    """On the device and on the emulator."""
    grade = graded("solution.cu")
    assert [grade.score, grade.max_score, grade.verdict, grade.error] == [100, 100, Verdict.PASS, ""]
    assert grade.backend == "gpu"


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_loses_what_the_emulator_sees_on_a_device_too(
    graded: Callable[[str], Grade], name: str
) -> None:
    """What depends on the contents of memory may come out well; nothing else may, and nothing is ours."""
    grade = graded(f"mistakes/{name}")
    assert (grade.verdict, grade.error) == (Verdict.FAIL, "")
    expected = set(MISTAKES[name]["loses"])
    assert set(lost(grade)) <= expected | set(BY_CHANCE)
    assert expected - set(BY_CHANCE) <= set(lost(grade))
