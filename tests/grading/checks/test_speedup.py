"""The `speedup` check."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from grader.grading.checks import run_checks
from grader.grading.checks.cases import FULL, NOTHING
from grader.grading.checks.credit import Steps, band
from grader.model import (
    Build,
    Case,
    CaseEvidence,
    CheckResult,
    Comparison,
    Estimate,
    Evidence,
    Finding,
    FindingKind,
    Ratio,
    RubricItem,
    Severity,
    Threshold,
    Timing,
    Verdict,
    Visibility,
)
from tests.grading.checks.judging import judge

Make = Any
"""A fixture of conftest: it takes what the record takes."""

LINEAR = band(Threshold(Fraction(1)), Threshold(Fraction(5, 4)))
RELATIVE = (
    (Threshold(Fraction(13, 10)), Fraction(1, 2)),
    (Threshold(of_solution=Fraction(9, 10)), Fraction(1)),
)

TIMED = Timing(
    baseline="naive",
    speedup=Ratio(1.5203, 1.5101, 1.5304),
    control=Ratio(1.0002, 0.998, 1.0021),
    solution=Ratio(1.53, 1.52, 1.54),
    rounds=42,
    milliseconds=(("naive", 0.4272), ("student", 0.281), ("solution", 0.2792), ("library", 0.0501)),
    floor_milliseconds=0.04215,
    shape=(("M", 1024), ("K", 1024), ("N", 1024)),
)


def at(median: float, low: float, high: float, **other: Any) -> Timing:  # noqa: ANN401 - a record's own
    """The timing of a submission with this speedup."""
    return replace(TIMED, speedup=Ratio(median, low, high), **other)


def judged(timing: Timing | None, steps: Any = LINEAR, **fields: Any) -> CheckResult:  # noqa: ANN401 - of the item
    """The check's result for a submission that builds, on a GPU."""
    options = (("baseline", "naive"), ("steps", steps))
    item = RubricItem("fast", "Fast", Fraction(10), "speedup", options=options, hint="coalesce", **fields)
    return judge(item, Evidence("gpu", Build(ok=True), timing=timing))


@pytest.mark.parametrize(
    ("measures_time", "message"),
    [
        (False, "needs a GPU: time is measured there only"),
        (True, "nothing was timed this time"),
    ],
)
def test_a_speedup_is_skipped_where_nothing_is_timed(
    item: Make, message: str, *, measures_time: bool
) -> None:
    """Neither pass nor fail."""
    result = judge(item("speedup"), Evidence("any", Build(ok=True), measures_time=measures_time))
    assert (result.verdict, result.fraction, result.message) == (Verdict.SKIP, NOTHING, message)


def test_what_reaches_the_upper_end_passes_with_its_numbers() -> None:
    """The ratio, the times behind it, where they were taken, how sure that is, and what was asked."""
    result = judged(TIMED)
    assert (result.verdict, result.fraction, result.hint) == (Verdict.PASS, FULL, "")
    assert not result.findings
    assert result.message == (
        "1.52 times as fast as the naive kernel (0.281 ms against 0.427 ms at M = K = N = 1024; "
        "99 % interval 1.51 to 1.53); 1.25 asked for full credit"
    )


def test_what_lies_between_earns_a_part_and_the_message_names_the_next_part() -> None:
    """Five tenths of the way give five tenths of the points; the finding sets the times beside each other."""
    result = judged(at(1.13, 1.127, 1.133, milliseconds=(("naive", 0.427), ("student", 0.378))))
    assert (result.verdict, result.fraction, result.hint) == (Verdict.FAIL, Fraction(1, 2), "coalesce")
    assert result.message.endswith(
        "99 % interval 1.127 to 1.133); 1.15 asked for 60 % of the points; 1.25 asked for full credit"
    )
    assert [(each.kind, each.witnesses) for each in result.findings] == [(FindingKind.SLOW, ("gpu",))]
    assert result.findings[0].message == (
        "the kernel takes 0.378 ms, 11.2 % of what this device could do at best; "
        "the naive kernel takes 0.427 ms"
    )


def test_what_is_no_faster_than_the_lower_end_earns_nothing() -> None:
    """Also where it is slower than the baseline."""
    result = judged(at(0.8, 0.79, 0.81))
    assert (result.verdict, result.fraction) == (Verdict.FAIL, NOTHING)
    assert "0.80 times as fast" in result.message
    assert "1.025 asked for 10 % of the points; 1.25 asked for full credit" in result.message


@pytest.mark.parametrize("tenths", range(11))
def test_a_band_gives_a_tenth_for_each_tenth_of_the_way(tenths: int) -> None:
    """And nothing in between: the last digit of a measurement decides nothing."""
    for part in (0.1, 0.5, 0.9):
        middle = 1 + 0.025 * (tenths + part)
        assert judged(at(middle, middle - 0.001, middle + 0.001)).fraction == Fraction(tenths, 10)


def test_a_step_counts_unless_the_whole_interval_lies_below_it() -> None:
    """A step that the budget could not settle counts for the student, and the message reports it."""
    reached = judged(at(1.2496, 1.2485, 1.2504, settled=False))
    assert (reached.verdict, reached.fraction) == (Verdict.PASS, FULL)
    assert reached.message.endswith(
        "99 % interval 1.2485 to 1.2504); 1.25 asked for full credit; "
        "whether it reaches 1.25 could not be decided, and that counts for the submission"
    )
    below = judged(at(1.2496, 1.2485, 1.2499))
    assert (below.verdict, below.fraction) == (Verdict.FAIL, Fraction(9, 10))
    assert "could not be decided" not in below.message
    assert "1.2499" in below.message


def test_a_doubt_about_a_lower_step_is_reported_too() -> None:
    """The step that the doubt gives is the one that is named."""
    result = judged(at(1.0995, 1.098, 1.1004))
    assert result.fraction == Fraction(2, 5)
    assert "whether it reaches 1.1 could not be decided" in result.message
    assert "1.125 asked for 50 % of the points" in result.message


def test_a_share_of_the_model_solution_is_taken_on_this_device() -> None:
    """0.9 of a solution that is 1.53 times as fast is 1.377."""
    assert judged(at(1.38, 1.377, 1.383), RELATIVE).verdict is Verdict.PASS
    result = judged(at(1.36, 1.357, 1.363), RELATIVE)
    assert (result.verdict, result.fraction) == (Verdict.FAIL, Fraction(1, 2))
    assert result.message.endswith("; 1.377 (0.9 of the model solution's 1.530) asked for full credit")


def test_a_threshold_that_lies_lower_on_this_device_still_gives_its_credit() -> None:
    """Reaching 0.9 of the solution gives full credit also where that is less than 1.3."""
    result = judged(at(1.1, 1.09, 1.11, solution=Ratio(1.2, 1.19, 1.21)), RELATIVE)
    assert (result.verdict, result.fraction) == (Verdict.PASS, FULL)


@pytest.mark.parametrize(
    ("timing", "steps", "reason"),
    [
        (Timing(error="the GPU has gone"), LINEAR, "the GPU has gone"),
        (
            replace(TIMED, control=Ratio(1.0712, 1.06, 1.08)),
            LINEAR,
            "the device was too noisy to measure: the baseline against itself gave 1.07",
        ),
        (
            replace(TIMED, control=Ratio(0.95, 0.94, 0.97)),
            LINEAR,
            "the device was too noisy to measure: the baseline against itself gave 0.95",
        ),
        (replace(TIMED, control=None), LINEAR, "the naive kernel was not timed against itself"),
        (replace(TIMED, solution=None), RELATIVE, "the model solution was not timed"),
        (replace(TIMED, baseline="slow"), LINEAR, "the naive kernel was not timed, but the slow kernel"),
        (TIMED, (), "the rubric does not say which speedup it asks for"),
        (Timing(), LINEAR, "it was not timed, and nothing says why"),
    ],
)
def test_what_cannot_be_measured_is_our_error(timing: Timing, steps: Any, reason: str) -> None:  # noqa: ANN401
    """No student pays for it."""
    result = judged(timing, steps)
    assert (result.verdict, result.fraction) == (Verdict.ERROR, NOTHING)
    assert not result.findings
    assert result.message.startswith(f"not judged, through no fault of the submission: {reason}")


@pytest.mark.parametrize("control", [Ratio(1.03, 1.019, 1.04), Ratio(0.99, 0.97, 0.981), Ratio(1, 0.9, 1.1)])
def test_a_little_noise_is_no_error(control: Ratio) -> None:
    """Only where the whole interval is off by more than 2 % does the device fail us."""
    assert judged(replace(TIMED, control=control)).verdict is Verdict.PASS


def test_without_relative_steps_no_model_solution_is_needed() -> None:
    """It is for context then."""
    assert judged(replace(TIMED, solution=None)).verdict is Verdict.PASS


def test_a_finding_in_the_timed_launches_costs_everything() -> None:
    """However fast it was; the first finding is the message."""
    stale = Finding(FindingKind.WRONG_OUTPUT, "a timed launch left the result of the one before")
    early = Finding(FindingKind.SLOW, "faster than the device can be")
    result = judged(replace(TIMED, findings=(stale, early)))
    assert (result.verdict, result.fraction) == (Verdict.FAIL, NOTHING)
    assert (result.message, result.findings) == (stale.message, (stale, early))


def test_a_remark_about_the_timed_launches_costs_nothing() -> None:
    """Findings that merely inform."""
    remark = Finding(FindingKind.SLOW, "the first launch took 3 ms", severity=Severity.INFO)
    assert judged(replace(TIMED, findings=(remark,))).verdict is Verdict.PASS


def test_a_submission_that_could_not_be_timed_fails_where_others_are_timed(
    item: Make, case: Make, comparison: Make
) -> None:
    """Its points stay in the maximum: what does not build or is wrong must not count as skipped."""
    broken = judge(item("speedup"), Evidence("gpu", Build(ok=False), timing=Timing()))
    assert (broken.verdict, broken.message) == (
        Verdict.FAIL,
        "nothing could be timed, because the submission does not build",
    )
    wrong = Evidence("gpu", Build(ok=True), (case("a", comparisons=(comparison(1),)),), timing=Timing())
    result = judge(item("speedup"), wrong)
    assert result.verdict is Verdict.FAIL
    assert "does not compute the right answer" in result.message
    ours = Evidence("gpu", Build(ok=True), (case("a", error="no memory"),), timing=Timing())
    assert judge(item("speedup"), ours).verdict is Verdict.ERROR


def test_a_speedup_that_needs_a_failed_item_is_not_judged(item: Make) -> None:
    """Whatever was measured, or was not."""
    rubric = (item("compile"), item("speedup", needs=("compile",)))
    result = run_checks(rubric, Evidence("gpu", Build(ok=False), timing=Timing()))[1]
    assert (result.verdict, result.message) == (Verdict.FAIL, "not judged until “an item” passes")


ESTIMATE = Estimate(
    "h200",
    "NVIDIA H200",
    "naive",
    (("M", 1024), ("K", 1024), ("N", 1024)),
    Ratio(1.52, 1.31, 1.74),
    0.124,
    compared=4352,
)
RIGHT = CaseEvidence(
    Case("c", (), (), Visibility.VISIBLE, "random", 1), (Comparison("C", 4, 0, 0, 0.0, 1.0),)
)


def without_gpu(
    estimate: Estimate | None,
    *,
    counts: bool = True,
    steps: Steps = LINEAR,
    build: Build = Build(ok=True),  # noqa: B008 - frozen
    cases: tuple[CaseEvidence, ...] = (RIGHT,),
) -> CheckResult:
    """The check's result without a GPU, for an item for which estimates count, or do not."""
    options = (("baseline", "naive"), ("steps", steps), *((("estimate", True),) if counts else ()))
    item = RubricItem("fast", "Fast", Fraction(10), "speedup", options=options, hint="coalesce")
    return judge(item, Evidence("emulator", build, cases, estimate=estimate))


def between(low: float, high: float) -> Estimate:
    """An estimate with this interval."""
    return replace(ESTIMATE, ratio=Ratio((low + high) / 2, low, high))


def test_an_estimate_gives_no_points_unless_the_item_asks_for_it() -> None:
    """The item is skipped as without, and the message states that the estimate gives no points."""
    result = without_gpu(ESTIMATE, counts=False)
    assert (result.verdict, result.fraction, result.needs_gpu) == (Verdict.SKIP, NOTHING, True)
    assert result.message == "needs a GPU: time is measured there only; an estimate gives no points"
    failed = without_gpu(replace(ESTIMATE, ratio=None, problem="failed"), counts=False)
    assert failed.message == "needs a GPU: time is measured there only"


def test_an_item_may_be_judged_by_the_estimate() -> None:
    """The message states that it was estimated, for which device, and how accurate estimates are."""
    result = without_gpu(ESTIMATE)
    assert (result.verdict, result.fraction, result.estimated) == (Verdict.PASS, FULL, True)
    assert result.message == (
        "estimated for an NVIDIA H200 at M = K = N = 1024, not measured: 1.5 times as fast as the naive "
        "kernel (1.3 to 1.7; nine in ten estimates were off by at most 12.4 % where a GPU measured them); "
        "1.25 asked for full credit"
    )


def test_a_step_counts_only_where_the_whole_estimated_interval_is_above_it() -> None:
    """A doubtful step earns nothing here: a measurement would decide it."""
    result = without_gpu(between(1.14, 1.4))
    assert (result.verdict, result.fraction, result.hint) == (Verdict.FAIL, Fraction(1, 2), "coalesce")
    assert result.message.endswith(
        "1.15 asked for 60 % of the points; 1.25 asked for full credit; "
        "an estimate cannot tell whether it reaches 1.15, so that earns nothing"
    )
    below = without_gpu(between(0.8, 0.9))
    assert (below.verdict, below.fraction) == (Verdict.FAIL, NOTHING)
    assert "cannot tell" not in below.message


def test_what_cannot_be_estimated_is_skipped_with_its_reason() -> None:
    """No one is to blame for an instruction that the model does not know."""
    model = Estimate("h200", problem="machine-code", details=(("opcode", "HGMMA"),))
    result = without_gpu(model)
    assert (result.verdict, result.needs_gpu, result.estimated) == (Verdict.SKIP, True, False)
    assert result.message == (
        "needs a GPU, for its speed cannot be estimated: "
        "the model does not know the machine instruction `HGMMA`"
    )
    assert without_gpu(None).message == "needs a GPU: time is measured there only"


def test_a_kernel_that_is_wrong_earns_nothing_by_an_estimate() -> None:
    """As on a GPU, where it is not timed: whether a case or the estimate saw it."""
    wrong = replace(RIGHT, comparisons=(Comparison("C", 4, 2, 0, 9.0, 1.0),))
    for result in (
        without_gpu(ESTIMATE, cases=(wrong,)),
        without_gpu(Estimate("h200", problem="wrong")),
    ):
        assert (result.verdict, result.fraction) == (Verdict.FAIL, NOTHING)
        assert result.message == "not timed, because it does not compute the right answer in every case"
    unbuilt = without_gpu(None, build=Build(ok=False), cases=())
    assert unbuilt.message == "nothing could be timed, because the submission does not build"


def test_a_kernel_that_is_wrong_only_where_it_is_estimated_earns_nothing() -> None:
    """The message names the element, and the hint gives advice."""
    numbers = (("element", "C[0][3]"), ("expected", "2.5"), ("got", "0"))
    result = without_gpu(replace(ESTIMATE, ratio=None, problem="wrong-at-shape", details=numbers))
    assert (result.verdict, result.fraction, result.needs_gpu) == (Verdict.FAIL, NOTHING, False)
    assert result.message == (
        "no speed counts, for its results are wrong at the shape that is estimated: "
        "`C[0][3]` is 0, and should be 2.5"
    )
    assert result.hint == "compute the whole result at every shape, also at the one that is timed"
    missing = without_gpu(replace(ESTIMATE, ratio=None, problem="unwritten-at-shape", details=numbers[:2]))
    assert (missing.verdict, missing.fraction) == (Verdict.FAIL, NOTHING)
    assert "no block writes `C[0][3]`, which should be 2.5" in missing.message


def test_an_estimate_whose_results_were_not_compared_gives_no_points() -> None:
    """Neither one of an earlier version, which compared none: a GPU decides."""
    for estimate in (
        replace(ESTIMATE, compared=0),
        replace(ESTIMATE, ratio=None, problem="less-than-share", details=(("share", "50"),)),
    ):
        result = without_gpu(estimate)
        assert (result.verdict, result.fraction, result.needs_gpu) == (Verdict.SKIP, NOTHING, True)
    assert "leave 50 % of the results" in result.message


def test_a_failure_of_ours_is_an_error_beside_an_estimate_too() -> None:
    """An estimate beside another baseline, or of a share that was not estimated, is an error as well."""
    assert without_gpu(ESTIMATE, cases=(replace(RIGHT, error="broken"),)).verdict is Verdict.ERROR
    assert without_gpu(replace(ESTIMATE, baseline="other")).verdict is Verdict.ERROR
    assert without_gpu(ESTIMATE, steps=RELATIVE).verdict is Verdict.ERROR


def test_where_a_gpu_measures_the_estimate_decides_nothing() -> None:
    """The measured speedup does."""
    options = (("baseline", "naive"), ("steps", LINEAR), ("estimate", True))
    item = RubricItem("fast", "Fast", Fraction(10), "speedup", options=options)
    timed = judge(item, Evidence("gpu", Build(ok=True), timing=at(0.8, 0.79, 0.81), estimate=ESTIMATE))
    assert (timed.verdict, timed.fraction, timed.estimated) == (Verdict.FAIL, NOTHING, False)
    untimed = judge(item, Evidence("gpu", Build(ok=True), measures_time=True, estimate=ESTIMATE))
    assert untimed.message == "nothing was timed this time"
