"""Every bundled assignment that asks for a kernel is complete, and its files earn what they should."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from grader.grading.assignment import bundled_ids, find_assignment, staff_folder
from grader.kinds import pipeline
from grader.model import Assignment, KernelInterface, Submission, Verdict, Visibility
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled, read_table
from tests.grade_record import grade_record
from tests.mistakes import mistake_file, mistake_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from grader.kinds.plan import Plan
    from grader.model import Grade
    from tests.conftest import Golden

    Grader = Callable[[Assignment, Path], Grade]

pytestmark = pytest.mark.timeout(600)

ASSIGNMENTS = {
    assignment.id: assignment
    for assignment in (bundled(name) for name in bundled_ids())
    if isinstance(assignment.interface, KernelInterface)
}
SEED = 11
NOT_ON_THE_EMULATOR = ("speedup",)
"""Checks that need a GPU: the items are skipped here."""


def _mistakes(assignment: Assignment) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = read_table(staff_folder(assignment) / "mistakes" / "mistakes.yaml")
    return table


def _handout(assignment: Assignment, name: str) -> Path:
    return find_assignment(assignment.id) / name


def _marked(names: Iterable[str], always: set[str]) -> list[Any]:
    """Parameters, all of them slow but a few that every run has time for."""
    return [pytest.param(name, marks=() if name in always else pytest.mark.slow) for name in names]


MISTAKES = [
    f"{name}/{file}"
    for name, assignment in ASSIGNMENTS.items()
    if name != "tiled-matmul"  # `test_mistakes` grades those, in more detail
    for file in _mistakes(assignment)
]


@pytest.fixture(scope="module")
def graded() -> Grader:
    """Grade a file on all cases of an assignment; what its submissions share is made once."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plans: dict[str, Plan] = {}

    def grade(assignment: Assignment, file: Path) -> Grade:
        if assignment.id not in plans:
            plans[assignment.id] = pipeline.make_plan(assignment, SEED, tools, visible_only=False)
        submission = Submission(file.name, file.name, file.read_bytes(), "")
        return pipeline.grade(plans[assignment.id], submission, tools)

    return grade


def _lost(grade: Grade) -> list[str]:
    return [item.result.item.id for item in grade.items if item.result.verdict is Verdict.FAIL]


# --- what the student is given --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_handout_declares_the_kernel_as_the_assignment_does(name: str) -> None:
    """README.md and skeleton.cu both show every kernel with its parameters in order."""
    kernel = ASSIGNMENTS[name].kernel
    wanted = [parameter.name for parameter in kernel.parameters]
    for file in ("README.md", "skeleton.cu"):
        text = _handout(ASSIGNMENTS[name], file).read_text("utf-8")
        for entry in (kernel.kernel, *kernel.others):
            declared = re.search(rf"__global__ void {entry}\(([^)]*)\)", text)
            assert declared, f"{file} declares no {entry}"
            assert re.findall(r"(\w+)(?:,|$)", declared[1]) == wanted


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_handout_states_the_points_of_the_rubric(name: str) -> None:
    """The table of points in README.md lists every item that a student may see, in order."""
    text = _handout(ASSIGNMENTS[name], "README.md").read_text("utf-8")
    table = text.partition("| points | for |")[2].partition("\n\n")[0]
    points = [Fraction(number) for number in re.findall(r"^\| *(\d+) *\|", table, re.MULTILINE)]
    assert points == [
        item.points for item in ASSIGNMENTS[name].rubric if item.visibility is Visibility.VISIBLE
    ]


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_some_cases_are_shown_and_some_are_not(name: str) -> None:
    """A student can try a kernel out, and cannot fit it to what is graded."""
    shown = {plan.visibility for plan in ASSIGNMENTS[name].cases}
    assert {Visibility.VISIBLE, Visibility.HIDDEN} <= shown


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_item_has_a_title_and_a_hint(name: str) -> None:
    """No point is lost without a title and a hint."""
    assert all(item.title and item.hint for item in ASSIGNMENTS[name].rubric)


# --- what the staff keeps -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_table_of_mistakes_names_its_files_and_only_items_that_exist(name: str) -> None:
    """At least eight, each with its own title, and `loses` in the rubric's order, closed under `needs`."""
    assignment = ASSIGNMENTS[name]
    table = _mistakes(assignment)
    folder = staff_folder(assignment) / "mistakes"
    assert sorted(table) == mistake_names(folder)
    assert len({mistake["title"] for mistake in table.values()}) == len(table) >= 8
    assert len({mistake_file(folder / name).read_bytes() for name in table}) == len(table)
    judged = [item for item in assignment.rubric if item.check not in NOT_ON_THE_EMULATOR]
    for file, mistake in table.items():
        loses = mistake["loses"]
        assert mistake["wrong"]
        assert loses, f"{file} costs nothing"
        assert loses == [item.id for item in judged if item.id in loses]
        dragged = [item.id for item in judged if set(item.needs) & set(loses)]
        assert set(dragged) <= set(loses), f"{file} loses what other items need"


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_item_is_lost_by_some_mistake(name: str) -> None:
    """No item of the rubric is there for nothing; any broken file loses the one for compiling."""
    lost = {item for mistake in _mistakes(ASSIGNMENTS[name]).values() for item in mistake["loses"]}
    judged = {
        item.id for item in ASSIGNMENTS[name].rubric if item.check not in (*NOT_ON_THE_EMULATOR, "compile")
    }
    assert judged <= lost


# --- what they earn -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", _marked(ASSIGNMENTS, {"naive-matmul", "matmul-speedup"}))
def test_the_model_solution_has_full_marks(graded: Grader, name: str) -> None:
    """On all cases; only what needs a GPU is set apart."""
    assignment = ASSIGNMENTS[name]
    grade = graded(assignment, staff_folder(assignment) / "solution.cu")
    assert (_lost(grade), grade.error, grade.verdict) == ([], "", Verdict.PASS)
    apart = sum(item.points for item in assignment.rubric if item.check in NOT_ON_THE_EMULATOR)
    assert grade.score == grade.max_score
    assert grade.skipped_points == apart


@pytest.mark.parametrize("name", _marked(ASSIGNMENTS, {"naive-matmul"}))
def test_the_skeleton_earns_what_an_empty_hand_in_should(graded: Grader, name: str) -> None:
    """The points for compiling, and no others."""
    assignment = ASSIGNMENTS[name]
    grade = graded(assignment, _handout(assignment, "skeleton.cu"))
    assert grade.error == ""
    assert grade.score == sum(item.points for item in assignment.rubric if item.check == "compile")


@pytest.mark.parametrize(
    "file",
    _marked(MISTAKES, {"naive-matmul/not_coalesced.cu", "naive-matmul/c_indexed_with_m.cu"}),
)
def test_a_mistake_loses_exactly_the_items_it_should(graded: Grader, file: str, golden: Golden) -> None:
    """It loses those of mistakes.yaml, no more and no less, with the same findings and counters as ever."""
    name, _, mistake = file.partition("/")
    assignment = ASSIGNMENTS[name]
    grade = graded(assignment, mistake_file(staff_folder(assignment) / "mistakes" / mistake))
    assert (grade.verdict, grade.error) == (Verdict.FAIL, "")
    assert _lost(grade) == _mistakes(assignment)[mistake]["loses"]
    golden(f"grades/{name}/{mistake.removesuffix('.cu')}.txt", grade_record(grade))


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_races_inside_one_warp_cost_the_item(name: str) -> None:
    """No bundled assignment lets them pass: the tile is the student's choice, so a block may be one warp."""
    races = [item for item in ASSIGNMENTS[name].rubric if item.check == "races"]
    assert races
    assert all(dict(item.options)["severity"] == "warning" for item in races)


def test_missing_barriers_are_found_where_a_block_is_one_warp(graded: Grader, tmp_path: Path) -> None:
    """With tiles of 4 × 4 a block is half a warp, and the model solution without barriers loses the item."""
    assignment = ASSIGNMENTS["tiled-matmul"]
    text = (staff_folder(assignment) / "solution.cu").read_text("utf-8").replace("__syncthreads();", "")
    small = re.sub(r"#define TILE_SIZE \d+", "#define TILE_SIZE 4", text)
    assert small != text
    (tmp_path / "small.cu").write_text(small)
    assert "barriers" in _lost(graded(assignment, tmp_path / "small.cu"))
