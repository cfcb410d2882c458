"""The smallest shape that fails is found, reported for visible cases only, and never changes a grade."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.grading.assignment import expand_cases
from grader.kinds import pipeline
from grader.kinds.attempts.smaller import SmallestShapes, at_sizes, shrunk, sizes_of
from grader.kinds.kernel import further_runs
from grader.model import Submission, Visibility
from grader.reports import grade_json, record_json
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.kinds.attempts.smaller import Sizes
    from grader.model import Grade

MISTAKES = Path(__file__).parents[2] / "reference/matmul/mistakes"


def _minimal(sizes: Sizes, fails: Callable[[Sizes], bool]) -> Sizes:
    """Sizes that were made smaller, one after the other, as a kernel's are."""
    return shrunk(sizes, further_runs.STEPS_DOWN, lambda attempts: next(filter(fails, attempts), None))


def test_one_dimension_after_the_other_is_made_as_small_as_it_can_be() -> None:
    """None of them can be smaller by itself."""
    assert _minimal((64, 64, 64), lambda sizes: sizes[1] > 16) == (1, 17, 1)
    assert _minimal((55, 48, 43), lambda sizes: sizes[0] * sizes[2] > 100) in {
        (3, 1, 34),
        (6, 1, 17),
        (5, 1, 21),
    }
    assert _minimal((8, 8), lambda _: False) == (8, 8)
    assert _minimal((8, 8), lambda _: True) == (1, 1)


@given(st.tuples(st.integers(1, 40), st.integers(1, 40)), st.integers(0, 2**20))
def test_what_comes_out_fails_and_is_minimal(sizes: tuple[int, int], seed: int) -> None:
    """Whatever fails where: nothing smaller along one axis does."""

    def fails(tried: tuple[int, ...]) -> bool:
        return tried == sizes or hash((tried, seed)) % 5 == 0

    found = _minimal(sizes, fails)
    assert fails(found)
    for axis in (0, 1):
        for smaller in range(1, found[axis]):
            assert not fails((*found[:axis], smaller, *found[axis + 1 :]))


def test_a_shape_serves_a_later_case_with_the_same_mistake_that_is_no_smaller() -> None:
    """It is searched for again for another mistake, for a smaller case, and where it was not to be kept."""
    case = next(case for case in expand_cases(bundled("tiled-matmul"), 1) if min(sizes_of(case)) > 1)
    one, own = tuple(1 for _ in case.shape), sizes_of(case)
    seen = SmallestShapes()
    assert seen.of(case, "x", lambda _: None) == ()
    assert seen.of(case, "x", lambda _: own) == ()
    assert seen.of(at_sizes(case, tuple(2 * size for size in own)), "x", lambda _: one) == case.shape
    assert seen.of(case, "y", lambda _: one) == at_sizes(case, one).shape
    assert seen.of(at_sizes(case, one), "x", lambda _: None) == ()


@pytest.fixture(scope="module")
def graded() -> dict[Visibility, Grade]:
    """A kernel that sums up one tile only, on one case that is visible, and on the same one hidden."""
    assignment = bundled("tiled-matmul")
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    source = mistake(MISTAKES / "one_tile_only.cu")
    grades = {}
    for visibility in (Visibility.VISIBLE, Visibility.HIDDEN):
        plan = pipeline.make_plan(assignment, 1, tools, visible_only=True)
        case = next(case for case in plan.cases if case.id == "mp3")
        plan = replace(plan, cases=(replace(case, visibility=visibility),))
        grades[visibility] = pipeline.grade(plan, Submission("a", "a.cu", source, ""), tools)
    return grades


def test_the_smallest_shape_is_reported_of_a_visible_case(graded: dict[Visibility, Grade]) -> None:
    """In the message, and as data in grade.json, which reads back as it was."""
    grade = graded[Visibility.VISIBLE]
    (edges,) = (item.result for item in grade.items if item.result.item.id == "edges")
    assert "The smallest shape found to fail: M=1, K=17, N=1" in edges.message
    (finding,) = (finding for finding in edges.findings if finding.case == "mp3" and finding.address)
    assert finding.smallest == (("M", 1), ("K", 17), ("N", 1))
    assert len(finding.wrong_map) == 11
    stored = next(i for i in grade_json.as_json(grade)["items"] if i["id"] == "edges")["findings"]
    (record,) = (each for each in stored if "smallest" in each)
    assert record["smallest"] == {"M": 1, "K": 17, "N": 1}
    assert record["wrong_map"] == list(finding.wrong_map)
    assert record["map_cell"] == [5, 1]
    back = record_json.load(record_json.dump(grade))
    assert back.items[2].result.findings == edges.findings


def test_the_smallest_run_is_kept_as_numbers(graded: dict[Visibility, Grade]) -> None:
    """Inputs, what is expected and what came out, with the first tile's share missing; it reads back."""
    evidence = graded[Visibility.VISIBLE].evidence
    assert evidence is not None
    (case,) = evidence.cases
    a, b, c = case.example
    assert [(array.name, array.shape) for array in case.example] == [
        ("A", (1, 17)),
        ("B", (17, 1)),
        ("C", (1, 1)),
    ]
    products = [x * y for x, y in zip(a.values, b.values, strict=True)]
    assert c.expected == pytest.approx([sum(products)])
    assert c.values == pytest.approx([sum(products[:16])], rel=1e-5)
    assert c.states == "x"
    assert case.comparisons[0].heat is not None
    assert case.comparisons[0].heat.block == (16, 16)
    back = record_json.load(record_json.dump(graded[Visibility.VISIBLE])).evidence
    assert back is not None
    assert back.cases == evidence.cases


def test_of_a_hidden_case_nothing_is_tried_and_nothing_reported(graded: dict[Visibility, Grade]) -> None:
    """No shape, no map, no element."""
    grade = graded[Visibility.HIDDEN]
    stored = grade_json.dump(grade)
    assert "smallest" not in stored
    assert "wrong_map" not in stored
    record = record_json.dump(grade)
    assert '"heat"' not in record
    assert '"example"' not in record
    assert [i.points for i in grade.items] == [i.points for i in graded[Visibility.VISIBLE].items]


def test_without_a_budget_or_with_a_failure_of_ours_nothing_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is a courtesy: an oracle that refuses a shape ends no grading."""

    def broken(*_: object) -> None:
        raise ValueError("no such shape")

    monkeypatch.setattr(further_runs, "plan_launch", broken)
    case = expand_cases(bundled("tiled-matmul"), 1)[0]
    attempts = further_runs.Attempts(
        bundled("tiled-matmul"),
        None,  # type: ignore[arg-type]  # never reached
        None,  # type: ignore[arg-type]
        case,
        further_runs.Budget(),
    )
    assert attempts.smallest("x") == ()
    spent = replace(attempts, budget=further_runs.Budget(work_left=0))
    assert not spent.fails((1, 1, 1))
