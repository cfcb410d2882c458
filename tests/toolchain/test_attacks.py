"""Cheats by device code alone, on the emulator: what each of them costs, and that it costs no one else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.classroom.batch import grade_class
from grader.grading.assignment import reference_folder
from grader.kinds import pipeline
from grader.model import FindingKind, Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.attacks import FOLDER, Expected, expectations
from tests.builds import shared_builds
from tests.bundled import bundled

if TYPE_CHECKING:
    from grader.model import Grade

pytestmark = pytest.mark.timeout(600)  # the first test waits for all of them, hangs included

ASSIGNMENT = bundled("tiled-matmul")
EXPECTED = expectations("emulator")
SEED = 20
HONEST = "honest.cu"
CASES = {"square-32", "mp3", "narrow", "dot-product"}
"""Squares, visible and hidden edges, and no more: no attack looks at what distinguishes the other cases."""


@pytest.fixture(scope="module")
def grades() -> dict[str, Grade]:
    """The grades of all attacks, and of the model solution after them, on a few cases."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(ASSIGNMENT, SEED, tools, visible_only=False)
    plan = replace(plan, cases=tuple(case for case in plan.cases if case.id in CASES))
    assert len(plan.cases) == len(CASES)
    sources = {name: (FOLDER / name).read_bytes() for name in EXPECTED}
    sources[HONEST] = (reference_folder(ASSIGNMENT) / "solution.cu").read_bytes()
    submissions = [Submission(name, name, source, "") for name, source in sources.items()]
    return {one.grade.submission_id: one.grade for one in grade_class(plan, submissions, tools, jobs=2)}


def test_every_attack_is_described() -> None:
    """The folder and its table name the same files, for both backends."""
    files = sorted(path.name for path in FOLDER.glob("*.cu"))
    assert sorted(EXPECTED) == files == sorted(expectations("gpu"))


@pytest.mark.parametrize("name", EXPECTED)
def test_an_attack_file_states_what_it_is_and_what_is_true_after_it(name: str) -> None:
    """In the comment at its top."""
    top = (FOLDER / name).read_text("utf-8").split("\n#")[0]
    assert all(not line or line.startswith("//") for line in top.splitlines())
    assert "// After it: " in top


@pytest.mark.parametrize("backend", ["emulator", "gpu"])
def test_the_table_names_items_and_kinds_that_exist(backend: str) -> None:
    """A misspelt one would never be met, or never be missed."""
    items = {item.id for item in ASSIGNMENT.rubric}
    for expected in expectations(backend).values():
        assert expected.loses | expected.may_lose <= items
        assert expected.finds <= {kind.value for kind in FindingKind}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED)
def test_an_attack_on_the_emulator_ends_as_its_table_requires(grades: dict[str, Grade], name: str) -> None:
    """It loses exactly the items that it should, with the expected findings, and is no error of ours."""
    grade = grades[name]
    lost = [each.result.item.id for each in grade.items if each.result.verdict is Verdict.FAIL]
    kinds = {finding.kind.value for each in grade.items for finding in each.result.findings}
    assert (grade.error, EXPECTED[name].complaints(lost, kinds)) == ("", ())


@pytest.mark.slow
def test_the_model_solution_keeps_full_marks_beside_the_attacks(grades: dict[str, Grade]) -> None:
    """It is graded last, by the process that has seen all the others through."""
    honest = grades[HONEST]
    assert honest.error == ""
    assert [honest.score, honest.max_score] == [90, 90]


def test_a_grade_that_differs_from_the_table_is_complained_of() -> None:
    """An item lost too few or too many, a kind of finding that is missing; not what it may lose."""
    expected = Expected(frozenset({"a", "b"}), frozenset({"c"}), frozenset({"race", "fault"}))
    assert expected.complaints(["a", "b", "c"], ["fault", "race", "slow"]) == ()
    assert expected.complaints(["a", "d"], ["race"]) == (
        "keeps b",
        "loses d",
        "has no finding of kind fault",
    )
