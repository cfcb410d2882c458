"""The assignment `streams`, without a GPU: what its files earn, and what a student reads first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader import pipeline
from grader.assignment import find_assignment, load_assignment, staff_folder
from grader.model import Submission, Verdict
from grader.nvcc import Tools, find_toolchain
from grader.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.program_assignments import lost, mistakes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.model import Grade

    Graded = Callable[[Path], Grade]

ASSIGNMENT = load_assignment(find_assignment("streams"))
STAFF = staff_folder(ASSIGNMENT)
MISTAKES = mistakes(ASSIGNMENT)
FIRST = {
    "b_in_the_other_stream.cu": (
        "host",
        "line 51: kernel add reads dB while a copy writes it in another stream, and nothing makes one wait",
    ),
    "nobody_waits.cu": ("host", "line 56: the host uses C while the device may still be at work on it"),
    "one_stream.cu": ("overlap", "none of 2 cases is right"),
    "wrong_direction.cu": (
        "host",
        "line 53: the copy is said to be cudaMemcpyHostToDevice, but it goes from the device to the host",
    ),
    "offset_in_bytes.cu": ("host", "line 53: copies device memory at 0x7"),
}
"""What the item says that is about a mistake."""


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Grade a file, with hidden cases."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds(tmp_path_factory))
    plan = pipeline.make_plan(ASSIGNMENT, 3, tools, visible_only=False)

    def grade(file: Path) -> Grade:
        return pipeline.grade(plan, Submission(file.stem, file.name, file.read_bytes(), ""), tools)

    return grade


def test_every_mistake_is_described() -> None:
    """The folder and its table name the same files, of which there are enough."""
    assert sorted(MISTAKES) == sorted(path.name for path in (STAFF / "mistakes").glob("*.cu"))
    assert len(MISTAKES) >= 25


def test_the_solution_earns_everything_without_a_gpu(graded: Graded) -> None:
    """In hidden cases, too."""
    grade = graded(STAFF / "solution.cu")
    assert [grade.score, grade.max_score, grade.skipped_points, grade.error] == [100, 100, 0, ""]


def test_a_program_that_launches_nothing_earns_nothing_of_what_kernels_show(graded: Graded) -> None:
    """The skeleton compiles, and no item is an error of ours."""
    grade = graded(ASSIGNMENT.path / "skeleton.cu")
    assert (int(grade.score), grade.verdict) == (5, Verdict.FAIL)
    message = next(item.result.message for item in grade.items if item.result.item.id == "races")
    assert message == "no kernel of the program ran in case `default`, so there is nothing to judge"


@pytest.mark.parametrize("name", FIRST)
def test_a_mistake_loses_its_items_and_says_why(graded: Graded, name: str) -> None:
    """Exactly those of the table, with the line and the name of the array."""
    grade = graded(STAFF / "mistakes" / name)
    assert lost(grade) == [item.id for item in ASSIGNMENT.rubric if item.id in MISTAKES[name]["loses"]]
    item, message = FIRST[name]
    assert next(i.result.message for i in grade.items if i.result.item.id == item).startswith(message)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", sorted(set(MISTAKES) - set(FIRST)))
def test_the_other_mistakes_lose_what_the_table_says(graded: Graded, name: str) -> None:
    """No more and no less."""
    grade = graded(STAFF / "mistakes" / name)
    assert lost(grade) == [item.id for item in ASSIGNMENT.rubric if item.id in MISTAKES[name]["loses"]]
