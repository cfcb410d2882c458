"""On a GPU (`pytest -m gpu`): whole programs of `boundary-safe-lesson` earn what its table lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import staff_folder
from grader.kinds import pipeline
from grader.model import Grade, Submission, Verdict
from grader.running.backends import prepare
from grader.toolchain.gpu import devices
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake_file
from tests.program_assignments import failed_items, mistakes

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(900)]

ASSIGNMENT = bundled("boundary-safe-lesson")
STAFF = staff_folder(ASSIGNMENT)
MISTAKES = mistakes(ASSIGNMENT)


@pytest.fixture(scope="module")
def grades() -> dict[str, Grade]:
    """The solution, the skeleton and every mistake, one after the other on the GPUs that are here."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    backend = prepare("gpu", tools, devices.visible(devices.find_gpus()))
    plan = pipeline.make_plan(ASSIGNMENT, 3, tools, visible_only=False, backend=backend)
    files: list[Path] = [STAFF / "solution.cu", ASSIGNMENT.path / "skeleton.cu"]
    files += [mistake_file(STAFF / "mistakes" / name) for name in MISTAKES]
    return {
        file.name: pipeline.grade(plan, Submission(file.stem, file.name, file.read_bytes(), ""), tools)
        for file in files
    }


def test_the_solution_has_full_marks(grades: dict[str, Grade]) -> None:
    """All widths are right, and nothing is set apart."""
    grade = grades["solution.cu"]
    assert [grade.score, grade.max_score, grade.verdict, grade.error] == [100, 100, Verdict.PASS, ""]


def test_the_skeleton_compiles_and_earns_nothing_else(grades: dict[str, Grade]) -> None:
    """It launches nothing and leaves no array."""
    assert [grades["skeleton.cu"].score, grades["skeleton.cu"].max_score] == [10, 100]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_loses_exactly_the_items_it_should(grades: dict[str, Grade], name: str) -> None:
    """Exactly the items that mistakes.yaml names are lost, and there is never an error of ours."""
    grade = grades[name]
    assert (grade.verdict, grade.error) == (Verdict.FAIL, "")
    assert failed_items(grade) == [
        item.id for item in ASSIGNMENT.rubric if item.id in MISTAKES[name]["loses"]
    ]
