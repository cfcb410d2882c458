"""Reasons why an assignment is unsound, what is only reported, and what is the grader's own fault."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from grader.authoring.validation.judgement import judged, stability
from grader.authoring.validation.records import CaseUse, Explained, LargeCase, Report
from grader.authoring.validation.reports import verdict
from grader.model import Verdict
from tests.authoring.validation.sample_outcomes import STAFF, mistake, mutant, outcome, report, survivors
from tests.bundled import bundled

if TYPE_CHECKING:
    from grader.model import Assignment


@pytest.fixture(scope="module")
def assignment() -> Assignment:
    """An assignment whose items are called as the made-up outcomes have them."""
    loaded = bundled("tiled-matmul")
    names = ("right", "memory", "speedup")
    rubric = tuple(replace(item, id=name) for name, item in zip(names, loaded.rubric, strict=False))
    return replace(loaded, rubric=rubric)


def _problems(made: Report, assignment: Assignment) -> tuple[str, ...]:
    return judged(made, STAFF, assignment).problems


def test_where_all_is_as_it_should_be_nothing_is_reported(assignment: Assignment) -> None:
    """An item that could not be judged here, and a mutant that is the same program, are no problem."""
    found = judged(report(), STAFF, assignment)
    assert (found.problems, found.warnings, found.errors, found.sound) == ((), (), (), True)


def test_a_model_solution_below_full_marks_is_refused(assignment: Assignment) -> None:
    """The items that it loses are named."""
    made = report(solution=outcome("model solution", "memory"))
    assert _problems(made, assignment) == ("the model solution (seed 1) loses memory",)


def test_a_baseline_has_to_be_right_and_nothing_else(assignment: Assignment) -> None:
    """The others are compared with what it moves and how it is written, so it may lose those items."""
    items = tuple(
        replace(item, check=check)
        for item, check in zip(assignment.rubric, ("output", "memory", "speedup"), strict=True)
    )
    changed = replace(assignment, rubric=items)
    for lost, count in ((("memory",), 0), (("right",), 1)):
        problems = _problems(report(baselines=(outcome("naive.cu", *lost),)), changed)
        assert len(problems) == count
    assert problems == ("the baseline naive.cu loses right; nothing can be compared with a wrong kernel",)


def test_an_item_that_is_lost_only_with_what_it_needs_is_reported(assignment: Assignment) -> None:
    """It may be one that no kernel can lose."""
    right, memory, speedup = assignment.rubric
    changed = replace(assignment, rubric=(right, replace(memory, needs=("right",)), speedup))
    lost = (mistake("none.cu", "right", "memory"), outcome("none.cu", "right", "memory"))
    warnings = judged(report(mistakes=(lost,), mutants=()), STAFF, changed).warnings
    assert "no mistake and no mutant loses `memory` by itself: nothing shows that it can be lost" in warnings


def test_an_assignment_without_mistakes_and_mutants_is_refused(assignment: Assignment) -> None:
    """Mutants that do not compile, or are the same program, show nothing either."""
    same = (mutant("m"), outcome("m", unchanged=True))
    for mutants in ((), (same,)):
        problems = _problems(report(mistakes=(), mutants=mutants, explained=()), assignment)
        assert problems == ("there are no mistakes and no mutants: nothing shows that any item can be lost",)


def test_items_that_no_mutant_loses_are_reported_without_mistakes_too(assignment: Assignment) -> None:
    """A new assignment may have none yet."""
    killed = (mutant("m"), outcome("m", "right"))
    made = judged(report(mistakes=(), mutants=(killed,), explained=()), STAFF, assignment)
    assert made.problems == ()
    assert made.warnings[0].startswith("no mistake and no mutant loses `memory` by itself")


@pytest.mark.parametrize(
    ("lost", "items"),
    [
        (("right", "memory"), "right, memory"),
        (("right",), "right"),
        ((), "nothing"),
    ],
)
def test_a_mistake_that_loses_something_else_is_refused(
    assignment: Assignment, lost: tuple[str, ...], items: str
) -> None:
    """The mistake loses more, other, or fewer items than the table names."""
    made = report(mistakes=((mistake("no_guard.cu", "memory"), outcome("no_guard.cu", *lost)),))
    assert _problems(made, assignment) == (f"no_guard.cu (seed 1) loses {items}; the table says memory",)


def test_a_survivor_is_refused_unless_it_is_explained(assignment: Assignment) -> None:
    """Of two survivors one has an explanation."""
    assert _problems(survivors(), assignment) == (
        "no_guard.cu (seed 1) loses right; the table says memory",
        "a mutant survives: guard-dropped-1 (line 7)",
        "C of operands in TF32 stays within the error bound in every case",
    )


def test_an_explanation_must_explain_a_survivor(assignment: Assignment) -> None:
    """Not a mutant that is killed, nor one that does not exist."""
    made = report(explained=(Explained("zero-stored-2", "…"), Explained("gone-9", "…")))
    assert sorted(_problems(made, assignment)) == [
        "equivalent.yaml explains gone-9, which is no mutant of the model solution any more",
        "equivalent.yaml explains zero-stored-2, which loses right",
    ]


def test_a_mutant_that_loses_only_what_costs_nothing_lives(assignment: Assignment) -> None:
    """Style and extra credit do not tell right from wrong."""
    styled = outcome("guard-dropped-1", "style", charged=(), kills=())
    made = report(mutants=((mutant("guard-dropped-1"), styled),))
    assert _problems(made, assignment) == ("a mutant survives: guard-dropped-1 (line 7)",)


def test_a_mutant_that_does_not_compile_is_neither_killed_nor_alive(assignment: Assignment) -> None:
    """It is set aside, though it loses everything."""
    made = report(mutants=((mutant("m-1"), outcome("m-1", "right", built=False)),))
    assert made.counted() == 0
    assert _problems(made, assignment) == ()


def test_a_skeleton_must_compile_and_earn_less(assignment: Assignment) -> None:
    """An empty hand-in with full marks would be a gift."""
    assert _problems(report(skeleton=outcome("skeleton")), assignment) == (
        "the skeleton earns as much as the model solution; an empty hand-in must earn less",
    )
    broken = replace(outcome("skeleton", "right", built=False), first_loss='expected a ";"')
    assert _problems(report(skeleton=broken), assignment) == (
        'the skeleton does not compile: expected a ";"',
    )


def test_where_a_gpu_is_needed_nothing_is_decided_without_one(assignment: Assignment) -> None:
    """A mistake whose items are skipped is no problem and no proof; a skeleton may have the same points."""
    ten, skipped = Fraction(10), ("right", "memory")
    solution = outcome("model solution", skipped=skipped, max_score=ten, score=ten)
    skeleton = outcome("skeleton", "right", score=ten)
    made = report(
        solution=solution,
        skeleton=skeleton,
        mistakes=((mistake("m.cu", "right"), outcome("m.cu", skipped=skipped)),),
        mutants=(),
    )
    found = judged(made, STAFF, assignment)
    assert (found.problems, found.warnings, found.errors) == ((), (), ())
    assert (found.unjudged, found.sound) == (("m.cu",), False)
    assert verdict(found) == "not decided: 1 mistake can only be judged with a GPU"


def test_what_is_judged_must_fit_the_table_all_the_same(assignment: Assignment) -> None:
    """Of two items that it should lose one is skipped here, the other one is passed."""
    strayed = mistake("m.cu", "right", "speedup"), outcome("m.cu", "memory", skipped=("speedup",))
    assert _problems(report(mistakes=(strayed,)), assignment) == (
        "m.cu (seed 1) loses memory; the table says right, speedup",
    )


def test_files_and_table_must_agree(assignment: Assignment) -> None:
    """A disagreement of the staff's files is a problem of the assignment."""
    staff = replace(STAFF, problems=("x.cu: lies in mistakes/, but mistakes.yaml does not name it",))
    assert judged(report(), staff, assignment).problems == staff.problems


def test_an_item_that_nothing_loses_is_reported(assignment: Assignment) -> None:
    """It may still be right; nothing shows it."""
    made = report(mistakes=((mistake("m.cu", "right"), outcome("m.cu", "right")),), mutants=())
    (warning,) = judged(made, STAFF, assignment).warnings
    assert warning.startswith("no mistake and no mutant loses `memory`")


def test_a_case_that_catches_nothing_is_reported(assignment: Assignment) -> None:
    """A spare one is not: it is in the table."""
    made = report(uses=(CaseUse("one", 0, (), spare=True), CaseUse("two", 3, (), spare=True)))
    assert judged(made, STAFF, assignment).warnings == ("case `one` catches nothing at all",)


def test_a_fault_of_ours_is_no_verdict(assignment: Assignment) -> None:
    """A mutant that could not be graded is neither killed nor alive, and the report is not sound."""
    failed = outcome("m-1", verdict=Verdict.ERROR, error="the emulator does not interpret `x`")
    found = judged(report(mutants=((mutant("m-1"), failed),)), STAFF, assignment)
    assert found.problems == ()
    assert found.errors == ("m-1: the emulator does not interpret `x`",)
    assert not found.sound


def test_other_seeds_must_show_the_same() -> None:
    """A model solution that falls, a mistake that loses something else with another seed."""
    fallen = outcome("model solution", "memory", seed=7)
    strayed = (mistake("m.cu", "memory"), outcome("m.cu", "right", seed=3))
    found = stability([outcome("model solution", seed=5), fallen], [strayed], 3)
    assert (found.solution_seeds, found.mistake_seeds) == (3, 3)
    assert found.strays == (
        "the model solution (seed 7) loses memory",
        "m.cu (seed 3) loses right; the table says memory",
    )


def test_a_case_that_is_too_large_for_the_emulator_is_reported_and_no_problem(assignment: Assignment) -> None:
    """With its shape, how long it takes or why it was given up, and what to do."""
    large = (
        LargeCase("wide", (("M", 512), ("N", 512)), 31.4),
        LargeCase("wider", (), 2.0, "too much work for the emulator: it takes more memory than there is"),
    )
    found = judged(report(solution=outcome("model solution", large=large)), STAFF, assignment)
    assert found.sound
    smaller = "; a smaller shape shows the same mistakes sooner"
    assert found.warnings[:2] == (
        f"case `wide` (M = N = 512) takes 31 s, for each submission{smaller}",
        f"case `wider` is not judged where there is no GPU: {large[1].given_up}{smaller}",
    )
