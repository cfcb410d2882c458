"""What is said of a wrong function: as of a kernel, its mistake, the smallest shape, what comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader import pipeline
from grader.assignment import staff_folder
from grader.kinds.function.stages import SmallerCalls
from grader.model import Submission
from grader.nvcc import Tools, find_toolchain
from grader.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.model import Grade

    Graded = Callable[[str], Grade]

ASSIGNMENT = bundled("matmul-function")


@pytest.fixture(scope="module")
def graded() -> Graded:
    """Grade a mistake of the bundled assignment, on its visible cases."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(ASSIGNMENT, 3, tools, visible_only=True)

    def grade(name: str) -> Grade:
        source = (staff_folder(ASSIGNMENT) / f"mistakes/{name}.cu").read_bytes()
        return pipeline.grade(plan, Submission("ada", f"{name}.cu", source, ""), tools)

    return grade


def _message(grade: Grade, item: str) -> str:
    return next(graded.result.message for graded in grade.items if graded.result.item.id == item)


def test_a_wrong_result_is_explained_with_the_tiles_that_its_launch_has(graded: Graded) -> None:
    """Nobody declares a tile size; the block of the launch tells it. A shape of one element fails, too."""
    grade = graded("whole_tiles_only")
    assert "`C` lacks the last tile of the sum. The smallest shape found to fail: M=1, K=1, N=1" in _message(
        grade, "any-shape"
    )
    assert grade.cause is not None
    assert (grade.cause.code, grade.cause.item) == ("last-tile-dropped", "any-shape")


def test_the_smallest_shape_is_one_step_beyond_those_that_work(graded: Graded) -> None:
    """The exchanged grid covers one tile more than it needs in the other direction."""
    grade = graded("grid_exchanged")
    assert "The smallest shape found to fail: M=1, K=1, N=17" in _message(grade, "any-shape")
    assert grade.evidence is not None
    wrong = [case for case in grade.evidence.cases if case.smallest]
    shapes = {array.name: array.shape for array in wrong[0].example}
    assert shapes == {"A": (1, 1), "B": (1, 17), "C": (1, 17)}
    assert all(comparison.heat for case in wrong for comparison in case.comparisons if comparison.wrong)


def test_calls_at_smaller_shapes_are_few(graded: Graded, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where none fails nothing is said of smaller shapes."""
    monkeypatch.setattr(SmallerCalls, "_failing", lambda *_: [])
    assert "smallest" not in _message(graded("grid_exchanged"), "any-shape")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("store_unguarded", "store-out-of-bounds"),
        ("first_barrier_missing", "barrier-before-reading"),
        ("device_pointer_on_host", "host-device-pointer"),
        ("never_copied_back", None),
    ],
)
def test_what_comes_first_is_a_kernels_mistake_unless_the_host_made_one(
    graded: Graded, name: str, code: str | None
) -> None:
    """What the host does wrong spoils the results; what it leaves undone is said by them."""
    cause = graded(name).cause
    assert (cause.code if cause else None) == code
