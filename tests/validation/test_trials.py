"""What a trial tells: the same program, the items that count, the cases that caught it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from grader.model import Build, CheckResult, Grade, ItemGrade, RubricItem, Verdict
from grader.validation.records import Trial
from grader.validation.trials import outcome_of, same_program

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


def _item(item: RubricItem, verdict: Verdict, *failed: str) -> ItemGrade:
    cases = tuple((case, Verdict.FAIL) for case in failed)
    result = CheckResult(item, verdict, Fraction(verdict is Verdict.PASS), "", case_verdicts=cases)
    return ItemGrade(result, Fraction(0), item.points)


def test_a_program_is_the_same_whatever_lines_it_comes_from() -> None:
    """Only what says where in the source an instruction stands may differ."""
    one = Build(ok=True, ptx="\t.loc\t1 5 0\n\tadd.s32 \t%r1, %r2, %r3;\n$L__tmp0:\n\tret;\n")
    moved = replace(one, ptx="\t.loc\t1 7 4\n\tadd.s32 \t%r1, %r2, %r3;\n$L__tmp7:\n\tret;\n")
    other = replace(one, ptx=one.ptx.replace("add", "sub"))
    assert same_program(moved, one)
    assert not same_program(other, one)
    assert not same_program(replace(one, others=(("b", other),)), replace(one, others=(("b", one),)))
    assert not same_program(Build(ok=False), Build(ok=False))


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


def test_our_own_fault_is_told_as_such() -> None:
    """With what was said of it, if only an item says it."""
    item = _item(RubricItem("right", "", Fraction(10), "output"), Verdict.ERROR)
    item = replace(item, result=replace(item.result, message="could not be judged: no memory"))
    found = outcome_of(TRIAL, replace(GRADE, verdict=Verdict.ERROR, items=(item,)), {}, built=True)
    assert (found.error, found.failed) == ("could not be judged: no memory", ())
