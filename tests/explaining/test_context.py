"""Advice about one item uses the others: the output's mistake, stores that leave their array."""

from __future__ import annotations

import pytest

from grader.explaining import SubmissionContext, context_of_submission
from grader.grading.assignment import staff_folder
from grader.kinds import pipeline
from grader.model import (
    Access,
    Build,
    Case,
    CaseEvidence,
    Comparison,
    Evidence,
    Finding,
    FindingKind,
    Grade,
    Submission,
    Visibility,
)
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake


def evidence(*cases: CaseEvidence) -> Evidence:
    """Some cases of a build that went well."""
    return Evidence("emulator", Build(ok=True), cases)


def case(name: str, mistake: str, wrong: int, *findings: Finding) -> CaseEvidence:
    """A case whose output C is wrong in a way that has a name."""
    compared = Comparison("C", 100, wrong, 0, 1.0, 0.0, mistake=mistake)
    what = Case(name, (("M", 5),), (), Visibility.VISIBLE, "random", 1)
    return CaseEvidence(what, comparisons=(compared,), findings=findings)


def outside(verb: str, array: str, line: int) -> Finding:
    """An access beyond the end of an array."""
    access = Access(verb, "global", array, (9,), 4)
    return Finding(FindingKind.OUT_OF_BOUNDS, "", line=line, address=f"{array}[9]", access=access)


def test_the_mistake_of_most_elements_and_its_array_are_known() -> None:
    """A small shape that looks like another mistake does not decide."""
    assignment = bundled("naive-matmul")
    cases = (case("tiny", "b-transposed", 1), case("wide", "a-leading-dimension", 90))
    found = context_of_submission(assignment, evidence(*cases))
    assert (found.shown, found.misread, found.vectors) == ("a-leading-dimension", "A", frozenset())
    second = context_of_submission(assignment, evidence(case("a", "b-leading-dimension", 9)))
    assert second.misread == "B"
    output = context_of_submission(assignment, evidence(case("a", "output-leading-dimension", 9)))
    assert output.misread == "C"


def test_stores_that_leave_an_array_with_rows_are_known_by_line() -> None:
    """Not loads, and not the stores into a shared tile."""
    findings = (outside("write", "C", 12), outside("read", "B", 10))
    assignment = bundled("naive-matmul")
    found = context_of_submission(
        assignment, evidence(case("a", "", 9, *findings, outside("write", "tile", 8)))
    )
    assert found == SubmissionContext(arrays=frozenset("ABC"), spilled=frozenset({("C", 12)}))


def test_arrays_with_one_index_are_vectors() -> None:
    """Of whatever type and direction."""
    assignment = bundled("vector-add")
    assert context_of_submission(assignment, evidence()).vectors == {"A", "B", "C"}
    assert context_of_submission(bundled("memory-analysis"), evidence()) == SubmissionContext()


def graded(name: str, file: str) -> Grade:
    """A file of the staff's, on the visible cases."""
    assignment = bundled(name)
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=True)
    source = mistake(staff_folder(assignment) / "mistakes" / file)
    return pipeline.grade(plan, Submission("s", file, source, ""), tools)


def hints(grade: Grade) -> dict[str, str]:
    """The hint of each item that has one."""
    return {item.result.item.id: item.result.hint for item in grade.items if item.result.hint}


@pytest.mark.slow
def test_a_guard_with_exchanged_bounds_is_reported_in_every_item() -> None:
    """No student is sent to the grid or to atomic operations."""
    found = hints(graded("naive-matmul", "guard_swapped.cu"))
    assert set(found) == {"edges", "memory", "owners"}
    assert found["edges"].startswith("Exchange the bounds in the guard")
    assert all(
        hint.startswith("Look at the bounds in the guard") for hint in (found["memory"], found["owners"])
    )
    assert not any("tomic" in hint or "together reach" in hint for hint in found.values())


@pytest.mark.slow
def test_a_wrong_row_length_is_reported_before_the_guard() -> None:
    """The guard is right there."""
    found = hints(graded("tiled-matmul", "a_indexed_with_n.cu"))
    assert found["memory"].startswith("Look at the length of a row first")
    assert found["edges"].startswith("Index `A` with its own number of columns")


@pytest.mark.slow
def test_a_vector_s_hints_do_not_talk_of_rows() -> None:
    """Nor of columns."""
    for hint in hints(graded("vector-add", "guard_on_the_store_only.cu")).values():
        assert "row" not in hint
        assert "column" not in hint


@pytest.mark.slow
def test_counting_bytes_by_atomic_operations_gets_no_advice_about_either() -> None:
    """Each byte is loaded once, and the data choose the bin."""
    assert graded("histogram", "global_atomics.cu").advice == ()
