"""The assignment `tile-phases`: its numbers are right; solution and mistakes earn what they should."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.grading.assignment import staff_folder
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake_file, mistake_names
from tests.program_assignments import failed_items, graded_on_host, mistakes

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade

ASSIGNMENT = bundled("tile-phases")
STAFF = staff_folder(ASSIGNMENT)
MISTAKES = mistakes(ASSIGNMENT)
ITEMS = {item.id: dict(item.options) for item in ASSIGNMENT.rubric}


def test_every_mistake_is_described() -> None:
    """The folder and its table name the same files."""
    assert sorted(MISTAKES) == mistake_names(STAFF / "mistakes")
    assert len(MISTAKES) >= 6


def test_the_solution_has_full_marks(tmp_path: Path) -> None:
    """On the visible case and on the sizes that only grading asks for."""
    grade = graded_on_host(ASSIGNMENT, STAFF / "solution.cu", tmp_path)
    assert [grade.score, grade.max_score, grade.verdict, grade.error] == [100, 100, Verdict.PASS, ""]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_loses_exactly_the_items_it_should(name: str, tmp_path: Path) -> None:
    """The lost items are those that mistakes.yaml names; it is never an error of ours."""
    grade = graded_on_host(ASSIGNMENT, mistake_file(STAFF / "mistakes" / name), tmp_path)
    assert (grade.verdict, grade.error) == (Verdict.FAIL, "")
    assert failed_items(grade) == [
        item.id for item in ASSIGNMENT.rubric if item.id in MISTAKES[name]["loses"]
    ]


def test_a_self_check_leaves_the_other_sizes_out(tmp_path: Path) -> None:
    """The sizes that grading uses besides are set apart, and named nowhere."""
    grade = graded_on_host(ASSIGNMENT, STAFF / "solution.cu", tmp_path, visible_only=True)
    assert [grade.score, grade.max_score, grade.skipped_points] == [70, 70, 30]
    assert [case.case.id for case in grade.cases] == ["four-by-two"]


@pytest.fixture(scope="module")
def by_nvcc() -> dict[str, Grade]:
    """The grades of the solution and of the skeleton, built as a student's file is."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(ASSIGNMENT, 3, tools, visible_only=False)
    files = (STAFF / "solution.cu", ASSIGNMENT.path / "skeleton.cu")
    return {
        file.stem: pipeline.grade(plan, Submission(file.stem, file.name, file.read_bytes(), ""), tools)
        for file in files
    }


def test_it_is_built_and_run_as_students_files_are(by_nvcc: dict[str, Grade]) -> None:
    """With nvcc, and without a GPU: it calls nothing that would need one."""
    grade = by_nvcc["solution"]
    assert [grade.score, grade.max_score, grade.error] == [100, 100, ""]


def test_the_skeleton_earns_what_an_empty_hand_in_should(by_nvcc: dict[str, Grade]) -> None:
    """It compiles, and no more."""
    assert [by_nvcc["skeleton"].score, by_nvcc["skeleton"].max_score] == [5, 100]
    assert "compiles" not in failed_items(by_nvcc["skeleton"])


# --- the numbers, by hand --------------------------------------------------------------------------------


def numbers(item: str) -> dict[str, float]:
    """The values that an item expects, by the names of its numbers."""
    return {number.name: float(number.value) for number in ITEMS[item]["numbers"]}


def test_reads_of_the_lesson() -> None:
    """Naive: 4 of A and 4 of B for each of 16 elements. Tiled: 1 and 1 in each of 2 phases."""
    assert numbers("reads") == {
        "naive reads per element": 4 + 4,
        "naive reads in all": 16 * (4 + 4),
        "tiled reads per element": 2 * (1 + 1),
        "tiled reads in all": 16 * 2 * (1 + 1),
        "savings": 128 / 64,
    }


def test_tiles_of_the_lesson() -> None:
    """The rows of A and B are 1 2 3 4, 5 6 7 8, 9 10 11 12, 13 14 15 16; the block is the upper left one."""
    by_hand = {1: ((0, 1), [1, 2, 5, 6], [1, 2, 5, 6]), 2: ((2, 3), [3, 4, 7, 8], [9, 10, 13, 14])}
    expected = [n for columns, a, b in by_hand.values() for n in (*columns, *a, *b)]
    assert list(numbers("phases").values()) == expected
    first, second = 1 * 1 + 2 * 5, 3 * 9 + 4 * 13
    assert (first, second, first + second) == (11, 79, 90)
    assert r"=\s*11\s*\+\s*79\s*=\s*90" in ITEMS["product"]["matches"]


@pytest.mark.parametrize(
    ("item", "width", "tile", "c00", "naive", "tiled"),
    [
        # 1*1+2*9+3*17+4*25 = 170 and 5*33+6*41+7*49+8*57 = 1210; 64 elements, 16 and 2 * 2 reads each
        ("larger-tiles", 8, 4, 170 + 1210, 64 * 16, 64 * 4),
        # 1*1+2*7 = 15, 3*13+4*19 = 115 and 5*25+6*31 = 311; 36 elements, 12 and 3 * 2 reads each
        ("more-tiles", 6, 2, 15 + 115 + 311, 36 * 12, 36 * 6),
    ],
)
def test_other_sizes(item: str, width: int, tile: int, c00: int, naive: int, tiled: int) -> None:
    """By hand, and by NumPy."""
    asked = numbers(item)
    a = np.arange(1, width * width + 1).reshape(width, width)
    last = width // tile - 1
    assert (a @ a)[0, 0] == c00 == next(v for name, v in asked.items() if name.startswith("C[0][0]"))
    assert (asked["naive reads in all"], asked["tiled reads in all"]) == (naive, tiled)
    assert (asked["tile phases"], asked["savings"]) == (width / tile, naive / tiled)
    tiles = {
        "A": a[:tile, last * tile : (last + 1) * tile],
        "B": a[last * tile : (last + 1) * tile, :tile],
    }
    for name, value in asked.items():
        if place := re.search(r"([AB])_tile\[(\d)\]\[(\d)\]", name):
            assert value == tiles[place[1]][int(place[2]), int(place[3])]
    assert (asked[f"phase {last + 1}, first column"], asked[f"phase {last + 1}, last column"]) == (
        last * tile,
        last * tile + tile - 1,
    )


def test_the_sample_in_the_readme_is_what_is_graded() -> None:
    """Students see the very lines."""
    readme = (ASSIGNMENT.path / "README.md").read_text("utf-8")
    assert f"```\n{ITEMS['layout']['lines']}```" in readme
    for claim in ("**8** reads", "**128**", "**4** per element, **64** in all", "**2.00x**"):
        assert claim in readme
