"""On a GPU (`pytest -m gpu`): programs and functions run there, and on the emulator, which sees hazards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import staff_folder
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.running.backends import prepare
from grader.toolchain.gpu import devices
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.kinds.test_functions import ON_DEVICE, ON_HOST, write_assignment
from tests.mistakes import mistake_file
from tests.program_assignments import failed_items, mistakes

if TYPE_CHECKING:
    from pathlib import Path

    from grader.kinds.plan import Plan
    from grader.model import Grade

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(900)]

BY_CHANCE = {
    "matmul-program": ("kernel", "product", "other-shape", "ends-well"),
    "matmul-function": ("aligned", "any-shape"),
    "matmul-wb": ("kernel", "solution", "ends-well"),
}
"""Items that a wrong file may earn on a device, where memory that was never written may hold zeros."""

ASSIGNMENTS = {name: bundled(name) for name in BY_CHANCE}
MISTAKES = {name: mistakes(assignment) for name, assignment in ASSIGNMENTS.items()}
FILES = [(name, file) for name, files in MISTAKES.items() for file in files]

RACING = [(name, file) for name, file in FILES if "barrier" in file]


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


@pytest.fixture(scope="module")
def plans(tools: Tools) -> dict[str, Plan]:
    """The plan of each assignment, shared by all submissions, for the GPUs that are here."""
    backend = prepare("gpu", tools, devices.visible(devices.find_gpus()))
    return {
        name: pipeline.make_plan(assignment, 3, tools, visible_only=False, backend=backend)
        for name, assignment in ASSIGNMENTS.items()
    }


def _graded(plan: Plan, tools: Tools, name: str) -> Grade:
    """The grade of one of the staff's files."""
    file = mistake_file(staff_folder(plan.assignment) / name)
    return pipeline.grade(plan, Submission(file.stem, file.name, file.read_bytes(), ""), tools)


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_solution_has_full_marks(plans: dict[str, Plan], tools: Tools, name: str) -> None:
    """On the device and on the emulator."""
    grade = _graded(plans[name], tools, "solution.cu")
    assert [grade.score, grade.max_score, grade.verdict, grade.error] == [100, 100, Verdict.PASS, ""]
    assert grade.backend == "gpu"


@pytest.mark.parametrize(("name", "file"), FILES)
def test_a_mistake_loses_what_the_emulator_sees_on_a_device_too(
    plans: dict[str, Plan], tools: Tools, name: str, file: str
) -> None:
    """Only items that depend on the contents of memory, and what needs them, may go by chance."""
    grade = _graded(plans[name], tools, f"mistakes/{file}")
    assert (grade.verdict, grade.error) == (Verdict.FAIL, "")
    expected = set(MISTAKES[name][file]["loses"])
    lost = set(failed_items(grade)) & set(BY_CHANCE[name])
    for item in ASSIGNMENTS[name].rubric:  # an item stands below what it needs
        if lost.intersection(item.needs):
            lost.add(item.id)
    assert set(failed_items(grade)) <= expected | lost
    assert expected - set(BY_CHANCE[name]) <= set(failed_items(grade))


@pytest.mark.parametrize(("name", "file"), RACING)
def test_what_races_has_the_points_of_a_self_check(
    plans: dict[str, Plan], tools: Tools, name: str, file: str
) -> None:
    """Its results are undefined, so the emulator decides about them, each time alike."""
    emulated = pipeline.make_plan(ASSIGNMENTS[name], 3, tools, visible_only=False)
    on_gpu, alone = (_graded(plan, tools, f"mistakes/{file}") for plan in (plans[name], emulated))
    assert [(item.result.item.id, item.points) for item in on_gpu.items] == [
        (item.result.item.id, item.points) for item in alone.items
    ]


@pytest.mark.parametrize(("source", "pointers"), [(ON_DEVICE, "device"), (ON_HOST, "host")])
def test_a_function_gets_its_arrays_on_a_device(
    tools: Tools, tmp_path: Path, source: str, pointers: str
) -> None:
    """In device memory, or behind guard pages of the host; and the result is that of the device."""
    backend = prepare("gpu", tools, devices.visible(devices.find_gpus()))
    assignment = write_assignment(tmp_path, pointers)
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=False, backend=backend)
    right = pipeline.grade(plan, Submission("ada", "scale.cu", source.encode(), ""), tools)
    assert [right.score, right.error] == [100, ""]
    wrong = source.replace("factor * x[i]", "factor + x[i]")
    grade = pipeline.grade(plan, Submission("bob", "scale.cu", wrong.encode(), ""), tools)
    assert failed_items(grade) == ["right"]
