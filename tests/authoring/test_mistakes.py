"""The staff's files prove the assignment: right kernels get full marks, each mistake loses what it should."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.classroom.batch import grade_class
from grader.grading.assignment import reference_folder
from grader.kinds import pipeline
from grader.model import FindingKind, Grade, Launch, Submission, Verdict
from grader.toolchain.nvcc import Tools, build_kernels, find_toolchain
from grader.toolchain.nvcc.launch import plan_launch
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled, read_table
from tests.grade_record import grade_record
from tests.mistakes import mistake, mistake_file, mistake_names

if TYPE_CHECKING:
    from tests.conftest import Golden

pytestmark = pytest.mark.timeout(600)  # one of them grades forty files

ASSIGNMENT = bundled("tiled-matmul")
FOLDER = reference_folder(ASSIGNMENT)
MISTAKES = read_table(FOLDER / "mistakes/mistakes.yaml")
CORRECT = Path(__file__).parents[1] / "kernels/correct"
RIGHT = [FOLDER / "solution.cu", FOLDER / "double_buffered.cu"]
STYLES = sorted(CORRECT.iterdir())
SEED = 20
ALWAYS = {
    *("no_first_barrier.cu", "no_second_barrier.cu", "no_barriers.cu", "barrier_inside_bounds_if.cu"),
    *("no_load_guard.cu", "tile_count_rounded_down.cu", "a_indexed_with_n.cu", "no_shared_memory.cu"),
    *("uninitialised_sum.cu", "half_precision_sum.cu", "does_not_compile.cu"),
}
"""One mistake of each sort; all the others take minutes."""


def _graded(files: list[Path], *, visible_only: bool) -> dict[str, Grade]:
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(ASSIGNMENT, SEED, tools, visible_only=visible_only)
    submissions = [Submission(f.name, f.name, f.read_bytes(), "") for f in files]
    return {one.grade.submission_id: one.grade for one in grade_class(plan, submissions, tools, jobs=2)}


def _lost(grade: Grade) -> list[str]:
    return [item.result.item.id for item in grade.items if item.result.verdict is Verdict.FAIL]


class Grades(dict[str, Grade]):
    """Grades by file name, on all cases; each file is graded when it is first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
        self.plan = pipeline.make_plan(ASSIGNMENT, SEED, self.tools, visible_only=False)

    def __missing__(self, name: str) -> Grade:
        """Grade a right kernel or a mistake."""
        source = mistake(FOLDER / name if (FOLDER / name).is_file() else FOLDER / "mistakes" / name)
        self[name] = pipeline.grade(self.plan, Submission(name, name, source, ""), self.tools)
        return self[name]


@pytest.fixture(scope="module")
def grades() -> Grades:
    """The grades of the right kernels and of the mistakes."""
    return Grades()


def test_every_mistake_is_described() -> None:
    """The folder and its table name the same files."""
    assert sorted(MISTAKES) == mistake_names(FOLDER / "mistakes")


@pytest.mark.parametrize("file", RIGHT, ids=lambda path: path.stem)
def test_a_right_kernel_has_full_marks(grades: Grades, file: Path) -> None:
    """It has them whatever its number of barriers; only the speedup is set apart."""
    grade = grades[file.name]
    assert (_lost(grade), grade.error) == ([], "")
    assert [grade.score, grade.max_score, grade.skipped_points] == [90, 90, 10]


@pytest.mark.parametrize(
    "name", [each if each in ALWAYS else pytest.param(each, marks=pytest.mark.slow) for each in MISTAKES]
)
def test_a_mistake_loses_exactly_the_items_it_should(grades: Grades, name: str, golden: Golden) -> None:
    """It loses those of mistakes.yaml, no more and no less, with the same findings and counters as ever."""
    grade = grades[name]
    assert (grade.verdict, grade.error) == (Verdict.FAIL, "")
    assert _lost(grade) == [item.id for item in ASSIGNMENT.rubric if item.id in MISTAKES[name]["loses"]]
    golden(f"grades/tiled-matmul/{name.removesuffix('.cu')}.txt", grade_record(grade))


@pytest.mark.parametrize("name", ["no_first_barrier.cu", "no_second_barrier.cu", "no_barriers.cu"])
def test_a_missing_barrier_is_reported_with_lines_element_threads_and_block(
    grades: Grades, name: str
) -> None:
    """Both source lines hold what the finding reports: a tile that is stored, and a tile that is read."""
    source = mistake(FOLDER / "mistakes" / name).decode().splitlines()
    item = next(item for item in grades[name].items if item.result.item.check == "races")
    races = [finding for finding in item.result.findings if finding.kind is FindingKind.RACE]
    assert races
    for race in races:
        assert race.line
        assert race.other_line
        array = race.address.split("[")[0]
        assert array in source[race.line - 1]
        assert array in source[race.other_line - 1]
        assert race.address.count("[") == 2, "the element of a two-dimensional tile has two indices"
        assert race.thread is not None
        assert race.other_thread is not None
        assert race.thread != race.other_thread
        assert race.block is not None
        assert race.hazard in ("RAW", "WAR")


def test_a_barrier_count_decides_nothing(grades: Grades) -> None:
    """A right kernel with one barrier per tile passes; a wrong one with two in its source does not."""
    one, two = FOLDER / "double_buffered.cu", mistake_file(FOLDER / "mistakes/second_barrier_after_loop.cu")
    counts = [_code(file).count("__syncthreads()") for file in (one, two)]
    assert counts[1] == 2
    assert "barriers" not in _lost(grades[one.name])
    assert "barriers" in _lost(grades[two.name])


def _code(file: Path) -> str:
    """A file without its line comments."""
    return "\n".join(line.split("//")[0] for line in file.read_text(encoding="utf-8").splitlines())


def test_findings_depend_on_nothing_but_the_file(tmp_path: Path) -> None:
    """The same file under other names, in any order of the class, gets the same findings to the letter."""
    racy = mistake_file(FOLDER / "mistakes/no_first_barrier.cu")
    names = ("zoe.cu", "mid.cu", "Ada.cu")
    for name in names:
        (tmp_path / name).write_bytes(racy.read_bytes())
    grades = _graded([tmp_path / name for name in names], visible_only=True)
    found = [
        [repr(replace(finding, file="")) for item in grades[name].items for finding in item.result.findings]
        for name in names
    ]
    assert found[0]
    assert found[0] == found[1] == found[2]


def test_the_worked_example_of_the_lesson_launches_75_by_63_blocks() -> None:
    """1000 x 800 times 800 x 1200 with 16 x 16 tiles: 4,725 blocks."""
    source = (FOLDER / "solution.cu").read_bytes()
    built = build_kernels(
        Tools(find_toolchain(), LocalSandbox(), shared_builds()),
        Submission("s", "s.cu", source, ""),
        ASSIGNMENT.kernel,
    )
    launch = plan_launch(ASSIGNMENT.kernel, built, {"M": 1000, "K": 800, "N": 1200})
    assert launch == Launch((75, 63, 1), (16, 16, 1))
    assert 75 * 63 == 4725


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_right_kernels_in_many_styles_have_full_marks() -> None:
    """No style of a correct kernel is falsely accused, on the visible cases."""
    grades = _graded(STYLES, visible_only=True)
    accused = {
        name: (_lost(grade), grade.error)
        for name, grade in grades.items()
        if grade.score != grade.max_score or grade.error
    }
    assert accused == {}
    assert len(grades) == len(STYLES) >= 40
