"""Outcomes of a trial: the same program, the items that count, the cases that caught it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import pytest

from grader.authoring.validation.records import Trial
from grader.authoring.validation.trials import TrialRunner, outcome_of, program, same_program
from grader.kinds.plan import Plan
from grader.model import (
    Build,
    Case,
    CaseGrade,
    CheckResult,
    Counters,
    Grade,
    ItemGrade,
    RubricItem,
    Verdict,
    Visibility,
)
from grader.simulation.emulator.launch import STEPS
from tests.bundled import bundled

if TYPE_CHECKING:
    from grader.toolchain.nvcc import Tools

TRIAL = Trial("m-1", "solution.cu", b"", 1)

GRADE = Grade(
    assignment_id="a",
    assignment_title="A",
    assignment_digest="",
    submission_id="s",
    submission_file="s.cu",
    submission_digest="",
    backend="emulator",
    device="",
    toolkit="",
    seed=1,
    verdict=Verdict.FAIL,
    score=Fraction(0),
    max_score=Fraction(10),
    skipped_points=Fraction(0),
    items=(),
    cases=(),
)


def _item(item: RubricItem, verdict: Verdict, *named: str) -> ItemGrade:
    cases = tuple((case, verdict) for case in named)
    result = CheckResult(item, verdict, Fraction(verdict is Verdict.PASS), "", case_verdicts=cases)
    return ItemGrade(result, Fraction(0), item.points)


def test_a_program_is_the_same_whatever_lines_it_comes_from() -> None:
    """Only marks of the place in the source that an instruction comes from may differ."""
    one = Build(ok=True, ptx="\t.loc\t1 5 0\n\tadd.s32 \t%r1, %r2, %r3;\n$L__tmp0:\n\tret;\n")
    moved = replace(one, ptx="\t.loc\t1 7 4\n\tadd.s32 \t%r1, %r2, %r3;\n$L__tmp7:\n\tret;\n")
    other = replace(one, ptx=one.ptx.replace("add", "sub"))
    assert same_program(moved, one)
    assert not same_program(other, one)
    assert not same_program(replace(one, others=(("b", other),)), replace(one, others=(("b", one),)))
    assert not same_program(Build(ok=False), Build(ok=False))


def test_programs_of_one_mark_differ_in_no_build() -> None:
    """Lines do not matter; the -O0 build, in which hazards show, and the constants of the launch do."""
    one = Build(ok=True, ptx="\tret;\n", hazard_ptx="\t.loc\t1 5 0\n\tbar.sync 0;\n", entry="k")
    assert program(replace(one, hazard_ptx="\t.loc\t1 9 0\n\t\n\tbar.sync 0;\n")) == program(one)
    others = (
        replace(one, hazard_ptx="\n"),
        replace(one, ptx="\n"),
        replace(one, constants=(("TILE", 8),)),
        replace(one, others=(("other", one),)),
    )
    assert len({program(each) for each in (one, *others)}) == 5


@pytest.mark.parametrize(
    ("trial", "steps", "feedback"),
    [
        (TRIAL, STEPS, False),
        (replace(TRIAL, quick=True), 7, False),
        (replace(TRIAL, feedback=True), STEPS, True),
    ],
)
def test_only_mutants_are_given_up_early(
    monkeypatch: pytest.MonkeyPatch, trial: Trial, steps: int, *, feedback: bool
) -> None:
    """A trial that stands for a student's work is followed as far as grading follows it."""
    seen: list[Plan] = []

    def graded(plan: Plan, *_others: object) -> Grade:
        seen.append(plan)
        return GRADE

    plan = Plan(bundled("vector-add"), 1, (), ())
    runner = TrialRunner(plan.assignment, cast("Tools", None), quick_steps=7)  # nothing is built
    runner._plans[1] = plan
    monkeypatch.setattr(runner, "build", lambda *_: Build(ok=True))
    monkeypatch.setattr("grader.kinds.pipeline.grade_built", graded)
    assert runner.attempt(trial).error == ""
    assert [(each.steps, each.feedback) for each in seen] == [(steps, feedback)]


def test_style_and_extra_credit_cost_nothing_that_counts() -> None:
    """They are lost, but a mutant that loses nothing else lives; cases drawn from one plan are one."""
    plain = RubricItem("right", "", Fraction(10), "output")
    style = RubricItem("shared", "", Fraction(5), "structure")
    extra = RubricItem("more", "", Fraction(5), "output", extra=True)
    items = (
        _item(plain, Verdict.FAIL, "random-1", "random-2", "wide"),
        _item(style, Verdict.FAIL),
        _item(extra, Verdict.FAIL, "odd"),
        _item(replace(plain, id="speed"), Verdict.SKIP),
    )
    plans = {"random-1": "random", "random-2": "random", "wide": "wide", "odd": "odd"}
    found = outcome_of(TRIAL, replace(GRADE, items=items), plans, built=True)
    assert found.failed == ("right", "shared", "more")
    assert found.charged == ("right",)
    assert found.kills == (("random", ("right",)), ("wide", ("right",)))
    assert found.skipped == ("speed",)


@pytest.mark.parametrize(("quick", "charged"), [(True, ("right",)), (False, ())])
def test_a_mutant_that_takes_too_much_work_is_killed(*, quick: bool, charged: tuple[str, ...]) -> None:
    """It earns nothing in that case; a file that stands for a student's work is only not judged there."""
    item = _item(RubricItem("right", "", Fraction(10), "output"), Verdict.SKIP, "wide", "tall")
    case = Case("wide", (), (), Visibility.VISIBLE, "", 1)
    given_up = CaseGrade(case, Verdict.SKIP, None, None, 0.0, Counters(), too_much_work=True)
    cases = (given_up, replace(given_up, case=replace(case, id="tall"), too_much_work=False))
    outcome = outcome_of(
        replace(TRIAL, quick=quick), replace(GRADE, items=(item,), cases=cases), {}, built=True
    )
    assert (outcome.charged, outcome.failed) == (charged, ())
    assert outcome.kills == ((("wide", ("right",)),) if quick else ())


def test_our_own_fault_is_reported_as_such() -> None:
    """The error is the message of the item, if only an item has one."""
    item = _item(RubricItem("right", "", Fraction(10), "output"), Verdict.ERROR)
    item = replace(item, result=replace(item.result, message="could not be judged: no memory"))
    found = outcome_of(TRIAL, replace(GRADE, verdict=Verdict.ERROR, items=(item,)), {}, built=True)
    assert (found.error, found.failed) == ("could not be judged: no memory", ())
