"""A case that the emulator gave up is not judged: neither a fail of the student nor an error of ours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from grader.model import Clause, Estimate, Finding, FindingKind, Run, Timing, Verdict, work_limit_reason
from grader.model.messages import sentences_of, speaking
from grader.running.backends.gpu import merge_runs
from grader.toolchain.gpu import RaceJudge
from tests.grading.checks.judging import judge

Make = Any
"""A fixture of conftest: it takes what the record takes."""

LOOP = Clause("in-loops", (("count", 32), ("lines", (25,))))
GAVE_UP = work_limit_reason(Clause("after-steps", (("steps", 30_000), ("places", (LOOP,)), ("hint", ()))))
TEXT = "too much work for the emulator: after 30,000 steps 32 threads are in the loop on line 25"


@pytest.fixture
def given_up(case: Make) -> Make:
    """A case that the emulator gave up."""
    return lambda name="b", **fields: case(name, completed=False, too_much_work=GAVE_UP, **fields)


@pytest.mark.parametrize("check", ["output", "races", "memory", "traffic"])
def test_an_item_is_skipped_where_nothing_fails(
    check: str, item: Make, case: Make, evidence: Make, given_up: Make
) -> None:
    """The message names the case, and how far it came."""
    cases = (given_up(),) if check == "traffic" else (case("a"), given_up())
    result = judge(item(check), evidence(*cases))
    assert result.verdict is Verdict.SKIP
    assert result.message == f"not judged in case `b`: {TEXT}"
    assert dict(result.case_verdicts)["b"] is Verdict.SKIP


@pytest.mark.parametrize("timing", [Timing(), None])
def test_the_speed_of_what_was_not_judged_is_no_zero(
    item: Make, case: Make, evidence: Make, given_up: Make, timing: Timing | None
) -> None:
    """No case is wrong: that one is too large for the emulator may be the assignment's doing."""
    estimate = Estimate("h200", problem="wrong")  # as where it is unknown whether all cases are right
    gathered = replace(evidence(case("a"), given_up()), timing=timing, estimate=None if timing else estimate)
    options = {"baseline": "naive", "steps": (), "estimate": True}
    result = judge(item("speedup", options=options), gathered)
    assert result.verdict is Verdict.SKIP
    assert result.message == "not judged, because whether it is right could not be judged in every case"


def test_of_a_hidden_case_no_line_is_reported(item: Make, case: Make, evidence: Make, given_up: Make) -> None:
    """The place of its threads would reveal its shape."""
    result = judge(item("output"), evidence(case("a"), given_up(hidden=True)))
    assert result.message == "not judged in a hidden case: too much work for the emulator"


def test_a_course_reports_it_in_its_own_words(item: Make, evidence: Make, given_up: Make) -> None:
    """Of a visible case with where the threads were, of a hidden one without."""
    texts = (("too-much-work", "zu viel"), ("too-much-work-because", "zu viel: {reason}"))
    with speaking(sentences_of((("clauses", (*texts, ("after-steps", "nach {steps} Schritten"))),))):
        visible, hidden = (judge(item("output"), evidence(given_up(hidden=h))).message for h in (False, True))
    assert visible.endswith(": zu viel: nach 30000 Schritten")
    assert hidden.endswith(": zu viel")


def test_what_fails_elsewhere_fails_all_the_same(
    item: Make, case: Make, evidence: Make, given_up: Make
) -> None:
    """To take long in one case is no way out of being wrong in another, or racy in this one."""
    race = Finding(FindingKind.RACE, "reads on line 3 what another writes on line 2", line=3, other_line=2)
    assert judge(item("races"), evidence(case("a"), given_up(findings=(race,)))).verdict is Verdict.FAIL
    assert judge(item("races"), evidence(case("a", findings=(race,)), given_up())).verdict is Verdict.FAIL


def test_a_gpu_decides_what_the_emulator_gave_up(item: Make, evidence: Make, case: Make) -> None:
    """Outputs are the device's; a race that could not be ruled out is not judged."""
    both = merge_runs(Run(completed=False, too_much_work=GAVE_UP), Run(), 0, (), RaceJudge.BOTH)
    assert both.run.completed
    assert (both.too_much_work, both.uncounted) == (GAVE_UP, TEXT)
    seen = case("a", too_much_work=both.too_much_work, undecided=both.undecided, uncounted=both.uncounted)
    assert judge(item("output"), evidence(seen)).verdict is Verdict.PASS
    assert judge(item("races"), evidence(seen)).verdict is Verdict.SKIP
