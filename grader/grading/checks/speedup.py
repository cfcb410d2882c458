"""`speedup`: the ratio of a baseline kernel's time to the submission's, which only a GPU can measure.

A step of credit counts as reached unless the whole interval lies below it: the device measured until that
was settled or its time was up, and what is open then counts for the student. Nothing is earned where a
timed launch left a wrong result, or took less time than the device can do it in, nor where the emulator
proves the result undefined in a case: whether a timed launch leaves it wrong is another matter each time.

The same rounds time the baseline against itself. Where that is not 1, within `NOISE`, the device was not
fit to measure anything, and that is ours.

Without a GPU the item is skipped, unless it says ``estimate: true``: then it is judged by what a model says.
A model is less sure than a measurement, and the kernel has not been run on the device. So a step of credit
counts as reached only where the whole interval is at or above it. Where there is no estimate the item is
skipped as without ``estimate``, and so it is where the results at the timed shape could not be compared; but
where those of the model solution are compared there, it is a question to the staff. A
kernel that does not build, or is not right, there or elsewhere, earns nothing, as on a GPU.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from grader.base.records import frozen
from grader.base.text import one_line
from grader.grading.checks import output, wording
from grader.grading.checks.cases import FULL, NOTHING, error_result, our_trouble, question_result
from grader.grading.checks.check import Check, key
from grader.grading.checks.credit import (
    band,
    credit_steps,
    decimals,
    highest_credit,
    is_below,
    milliseconds,
    out_of_order,
)
from grader.grading.checks.undefined import undefined_cause
from grader.model import PROBLEMS, STUDENT, CheckResult, Finding, FindingKind, Ratio, Severity, Verdict
from grader.model.messages import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from grader.grading.checks.check import Disorder
    from grader.grading.checks.credit import CreditStep, Steps
    from grader.model import Estimate, Evidence, Named, RubricItem, Threshold, Timing

NOISE = 0.02
"""Largest distance from 1 of the whole interval of the baseline against itself."""

WRONG_RESULTS = "wrong"
"""The problem of an estimate of a kernel whose results are wrong."""

WRONG_AT_SHAPE = ("wrong-at-shape", "unwritten-at-shape")
"""The problems of an estimate of a kernel whose results are wrong where it is estimated, and only there."""

FEWEST_ESTIMATED = 1
"""Decimals of an estimated ratio, which is less sure than a measured one."""


@frozen(kw_only=True)
class SpeedupCheck(Check):
    """Speed as a multiple of the baseline's.

    Credit grows from nothing at ``none_below`` to all of it at ``full_at``, a tenth at a time, or in
    ``steps``. What the measurement cannot decide counts for the student. With ``estimate`` it is judged
    without a GPU, too, by an estimated speedup; what that cannot decide earns nothing.
    """

    name: ClassVar[str] = "speedup"
    title: ClassVar[str] = "speed"
    kinds: ClassVar[tuple[str, ...]] = ("kernel", "function")
    whole_submission: ClassVar[bool] = True
    cases_key: ClassVar[str] = ""
    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("none_below", "full_at"), ("steps",))
    baseline: str = key("Identifier")
    none_below: Threshold | None = key("Speedup", None)
    full_at: Threshold | None = key("Speedup", None)
    steps: Steps | None = key("SpeedupSteps", None)
    estimate: bool | None = key("Flag", None)

    def options(self) -> Named[Any]:
        """The baseline, and the steps of credit that the item asks for in either way."""
        return Check.options(replace(self, none_below=None, full_at=None, steps=self.credit()))

    def credit(self) -> Steps:
        """All steps of credit, from the lowest."""
        if self.none_below is not None and self.full_at is not None:
            return band(self.none_below, self.full_at)
        return self.steps or ()

    def contradiction(self) -> tuple[str, str] | None:
        """Conflict where the steps of credit are not asked for, or in two ways."""
        ends = {"none_below": self.none_below, "full_at": self.full_at}
        ends_given = [name for name, end in ends.items() if end is not None]
        if self.steps is not None and ends_given:
            return ends_given[0], "expected either `none_below` and `full_at`, or `steps`, not both"
        if self.steps is None and ends_given and len(ends_given) < len(ends):
            missing = next(name for name in ends if name not in ends_given)
            return missing, f"expected a key `{missing}`, which is missing"
        if self.steps is None and not ends_given:
            return "steps", "expected `none_below` and `full_at`, or `steps`, and none is there"
        return None

    def disorder(self) -> Iterator[Disorder]:
        """Thresholds that do not grow, whether there are two ends or steps."""
        if self.none_below and self.full_at and is_below(self.full_at, self.none_below):
            yield ("none_below",), "expected at most what `full_at` says"
        for index, name, message in out_of_order(self.steps) if self.steps else ():
            yield ("steps", index, name), message
        for path in self.shares_of_solution() if self.estimate else ():
            yield path, "expected a number beside `estimate: true`: the model solution is not estimated"

    def shares_of_solution(self) -> Iterator[tuple[str | int, ...]]:
        """The keys that ask for a share of what the model solution reaches."""
        ends = ((("none_below",), self.none_below), (("full_at",), self.full_at))
        steps = ((("steps", index, "at"), at) for index, (at, _) in enumerate(self.steps or ()))
        yield from (path for path, threshold in (*ends, *steps) if threshold and threshold.of_solution)

    def judge(self, evidence: Evidence) -> CheckResult:
        """Compare the measured speedup with the item's steps; skip where nothing is timed or estimated."""
        timing = evidence.timing
        if timing is None:
            return self._untimed(evidence)
        cause = undefined_cause(evidence.cases)
        if cause:
            return CheckResult(self.item, Verdict.FAIL, NOTHING, text_of("not-timed-undefined", cause=cause))
        return self._measured(evidence, timing)

    def _measured(self, evidence: Evidence, timing: Timing) -> CheckResult:
        """Compare what was measured with the item's steps."""
        if timing.error:
            return error_result(self.item, timing.error)
        wrong = tuple(finding for finding in timing.findings if finding.severity is not Severity.INFO)
        if wrong:
            return CheckResult(self.item, Verdict.FAIL, NOTHING, wording.with_line(wrong[0]), findings=wrong)
        if timing.speedup is None:
            return _not_timed(self.item, evidence)
        trouble = self._trouble(timing)
        if trouble:
            return error_result(self.item, trouble)
        return self._judge_timing(timing, timing.speedup)

    def _untimed(self, evidence: Evidence) -> CheckResult:
        """Result where there is no GPU, or where nothing was to be timed."""
        if evidence.measures_time:
            return CheckResult(self.item, Verdict.SKIP, NOTHING, text_of("nothing-timed"))
        if self.estimate:
            return _judge_estimate(self.item, self.baseline, self.credit(), evidence)
        return _skipped(self.item, evidence.estimate)

    def _trouble(self, timing: Timing) -> str:
        """Reason why the measurement cannot be used, through no fault of the student; empty where it can."""
        baseline = timing.baseline
        if self.baseline != baseline:
            return text_of("other-kernel-timed", wanted=self.baseline, baseline=baseline)
        if timing.control is None:
            return text_of("not-timed-against-itself", baseline=baseline)
        if timing.control.low > 1 + NOISE or timing.control.high < 1 - NOISE:
            return text_of("too-noisy", ratio=f"{timing.control.median:.2f}")
        steps = self.credit()
        if not steps:
            return text_of("no-speedup-asked")
        if any(threshold.of_solution for threshold, _ in steps) and timing.solution is None:
            return text_of("solution-not-timed")
        return ""

    def _judge_timing(self, timing: Timing, speedup: Ratio) -> CheckResult:
        solution = timing.solution.median if timing.solution else 0.0
        steps = credit_steps(self.credit(), solution)
        earned = highest_credit(step for step in steps if not speedup.high < step.limit.value)
        full = earned == FULL
        findings = () if full else (Finding(FindingKind.SLOW, _against_others(timing), witnesses=("gpu",)),)
        return CheckResult(
            item=self.item,
            verdict=Verdict.PASS if full else Verdict.FAIL,
            fraction=earned,
            message=_message(timing, speedup, steps, earned),
            hint="" if full else self.item.hint,
            findings=findings,
        )


def _not_timed(item: RubricItem, evidence: Evidence) -> CheckResult:
    """Result of a submission that was left out where others are timed: its own doing, or else ours."""
    if evidence.build.error:
        return error_result(item, evidence.build.error)
    if not evidence.build.ok:
        return CheckResult(item, Verdict.FAIL, NOTHING, text_of("not-timed-without-build"))
    trouble = next(filter(None, map(our_trouble, evidence.cases)), "")
    if trouble:
        return error_result(item, trouble)
    return _without_proof(item, evidence) or error_result(item, text_of("not-timed"))


def _without_proof(item: RubricItem, evidence: Evidence) -> CheckResult | None:
    """The result where a case is wrong, or else not judged; None where all of them are right."""
    verdicts = {output.judge(case).verdict for case in evidence.cases}
    if Verdict.FAIL not in verdicts and any(case.is_own_work for case in evidence.cases):
        return question_result(item, text_of("not-timed-not-judged"))
    if Verdict.FAIL in verdicts:
        return CheckResult(item, Verdict.FAIL, NOTHING, text_of("not-timed-wrong"))
    if Verdict.SKIP in verdicts:  # too much work for the emulator is no wrong answer
        return CheckResult(item, Verdict.SKIP, NOTHING, text_of("not-timed-not-judged"))
    return None


def _message(timing: Timing, speedup: Ratio, steps: tuple[CreditStep, ...], earned: Fraction) -> str:
    """The speedup with its interval, what was asked for, and where the doubt counted for the student."""
    last = steps[-1]
    above = min((step for step in steps if step.credit > earned), key=lambda s: s.credit, default=last)
    certain = highest_credit(step for step in steps if speedup.low >= step.limit.value)
    doubtful = next(step for step in steps if step.credit == earned) if earned > certain else None
    quoted = (above, last, *((doubtful,) if doubtful else ()))
    measured = (speedup.median, speedup.low, speedup.high)
    places = decimals(measured, [step.limit for step in quoted])
    median, low, high = (f"{value:.{places}f}" for value in measured)
    fast = text_of(
        "as-fast",
        median=median,
        baseline=timing.baseline,
        times=_times(timing),
        level=f"{timing.level * 100:g}",
        low=low,
        high=high,
    )
    parts = [fast]
    if above is not last:
        share = wording.plain_percent(above.credit)
        parts.append(text_of("asked-for-share", speedup=_speedup_text(above, timing, places), share=share))
    parts.append(text_of("asked-for-full", speedup=_speedup_text(last, timing, places)))
    if doubtful is not None:
        parts.append(text_of("asked-in-doubt", speedup=doubtful.limit.text(places)))
    return "; ".join(parts)


def _times(timing: Timing) -> str:
    """`0.281 ms against 0.427 ms at M = K = N = 1024; `, of what is known."""
    times = dict(timing.milliseconds)
    if not {STUDENT, timing.baseline} <= times.keys():
        return ""
    student, baseline = milliseconds(times[STUDENT], times[timing.baseline])
    shape = wording.sizes(timing.shape)
    name = "times-against-at" if shape else "times-against"
    return text_of(name, student=student, baseline=baseline, shape=shape)


def _speedup_text(step: CreditStep, timing: Timing, places: int) -> str:
    """`1.25`, or `1.37 (0.9 of the model solution's 1.52)`."""
    text, threshold = step.limit.text(places), step.threshold
    if threshold.fixed or not threshold.of_solution or timing.solution is None:
        return text
    share = f"{float(threshold.of_solution):.10g}"
    return text_of("of-solution", speedup=text, share=share, solution=f"{timing.solution.median:.{places}f}")


def _against_others(timing: Timing) -> str:
    """Times of the staff's kernels and the share of the device's peak, next to the submission."""
    times = dict(timing.milliseconds)
    names = {timing.baseline: "baseline-takes", "solution": "solution-takes"}
    others = [name for name in names if name in times]
    if STUDENT not in times or not others:
        return text_of("slower")
    student, *rest = milliseconds(times[STUDENT], *(times[name] for name in others))
    comparisons = text_of("and").join(
        text_of(names[name], baseline=timing.baseline, time=time)
        for name, time in zip(others, rest, strict=True)
    )
    share = timing.roofline_share
    if share is None:
        return text_of("kernel-takes", time=student, others=comparisons)
    return text_of("kernel-takes-share", time=student, share=f"{100 * share:.3g}", others=comparisons)


# --- without a GPU --------------------------------------------------------------------------------


def estimate_problem(estimate: Estimate) -> str:
    """Say why there is no estimate, harmless; empty where there is one."""
    if not estimate.problem:
        return ""
    if estimate.problem not in PROBLEMS:  # of a later version's
        return one_line(estimate.problem, 100)
    names = ("opcode", "reason", "most", "element", "expected", "got", "share")
    details = {**dict.fromkeys(names, "?"), **dict(estimate.details)}
    return one_line(text_of(f"problem-{estimate.problem}", **details), 300)


def error_in_words(estimate: Estimate) -> str:
    """Say how well the model does."""
    return text_of("estimate-error", share=f"{100 * estimate.error_bound:.3g}")


def _skipped(item: RubricItem, estimate: Estimate | None) -> CheckResult:
    """The result of an item that only a GPU can judge, where there is none."""
    name = "needs-gpu-estimated" if estimate and estimate.ratio else "needs-gpu"
    return CheckResult(item, Verdict.SKIP, NOTHING, text_of(name), needs_gpu=True)


def _judge_estimate(item: RubricItem, baseline: str, steps: Steps, evidence: Evidence) -> CheckResult:
    """Compare the estimated speedup with the item's steps; skip where the model has none."""
    refusal = _without_speed(item, evidence)
    if refusal is not None:
        return refusal
    estimate = evidence.estimate
    if estimate is None or estimate.ratio is None:
        return _without_estimate(item, estimate)
    trouble = _estimate_trouble(estimate, baseline, steps)
    if trouble:
        return error_result(item, trouble)
    doubt = _doubt(estimate)
    if doubt:
        return _undecided(item, estimate, doubt)
    return _judge_ratio(item, credit_steps(steps, 0.0), estimate, estimate.ratio)


def _without_estimate(item: RubricItem, estimate: Estimate | None) -> CheckResult:
    """The result where the model says nothing; results that are wrong at the shape earn nothing."""
    if estimate is None:
        return CheckResult(item, Verdict.SKIP, NOTHING, text_of("needs-gpu"), needs_gpu=True)
    problem = estimate_problem(estimate)
    if estimate.problem in WRONG_AT_SHAPE:
        reason = text_of("not-timed-wrong-at", reason=problem)
        return CheckResult(item, Verdict.FAIL, NOTHING, reason, text_of(f"hint-{estimate.problem}"))
    return _undecided(item, estimate, text_of("needs-gpu-not-estimated", reason=problem))


def _undecided(item: RubricItem, estimate: Estimate, reason: str) -> CheckResult:
    """The result where only a GPU would tell: a question where the model solution leaves no such doubt."""
    if estimate.is_own_doubt:
        return question_result(item, reason)
    return CheckResult(item, Verdict.SKIP, NOTHING, reason, needs_gpu=True)


def _doubt(estimate: Estimate) -> str:
    """Reason why an estimate gives no points: it may be of less work than the result takes; empty else."""
    student = dict(estimate.kernels).get(STUDENT)
    if student and student.launches > 1:  # one that waits for a word of an earlier one is estimated as idle
        return text_of("needs-gpu-several-launches", launches=student.launches)
    return "" if estimate.compared else text_of("needs-gpu-not-compared")


def _without_speed(item: RubricItem, evidence: Evidence) -> CheckResult | None:
    """The result where no speed would count: by our failure, without a build, or of wrong results."""
    trouble = evidence.build.error or next(filter(None, map(our_trouble, evidence.cases)), "")
    if trouble:
        return error_result(item, trouble)
    if not evidence.build.ok:
        return CheckResult(item, Verdict.FAIL, NOTHING, text_of("not-timed-without-build"))
    refusal = _without_proof(item, evidence)
    is_wrong = evidence.estimate is not None and evidence.estimate.problem == WRONG_RESULTS
    if refusal is None and is_wrong:
        return CheckResult(item, Verdict.FAIL, NOTHING, text_of("not-timed-wrong"))
    return refusal


def _estimate_trouble(estimate: Estimate, baseline: str, steps: Steps) -> str:
    """Reason why the estimate cannot be used, through no fault of the student; empty where it can."""
    if estimate.baseline != baseline:
        return text_of("other-kernel-timed", wanted=baseline, baseline=estimate.baseline)
    if not steps:
        return text_of("no-speedup-asked")
    return text_of("solution-not-timed") if any(at.of_solution for at, _ in steps) else ""


def _judge_ratio(
    item: RubricItem, steps: tuple[CreditStep, ...], estimate: Estimate, ratio: Ratio
) -> CheckResult:
    earned = highest_credit(step for step in steps if ratio.low >= step.limit.value)
    full = earned == FULL
    return CheckResult(
        item,
        Verdict.PASS if full else Verdict.FAIL,
        earned,
        _estimated_message(estimate, ratio, steps, earned),
        "" if full else item.hint,
        estimated=True,
    )


def _estimated_message(
    estimate: Estimate, ratio: Ratio, steps: tuple[CreditStep, ...], earned: Fraction
) -> str:
    """The estimated speedup with its interval, how well the model does, and what was asked for."""
    last = steps[-1]
    above = min((step for step in steps if step.credit > earned), key=lambda step: step.credit, default=last)
    ends = (ratio.median, ratio.low, ratio.high)
    places = decimals(ends, [step.limit for step in (above, last)], FEWEST_ESTIMATED)
    median, low, high = (f"{value:.{places}f}" for value in ends)
    shape = wording.sizes(estimate.shape)
    fast = text_of(
        "as-fast-estimated-at" if shape else "as-fast-estimated",
        median=median,
        low=low,
        high=high,
        baseline=estimate.baseline,
        shape=shape,
        device=estimate.device_name or estimate.device,
        error=error_in_words(estimate),
    )
    parts = [fast]
    if above is not last:
        share = wording.plain_percent(above.credit)
        parts.append(text_of("asked-for-share", speedup=above.limit.text(places), share=share))
    parts.append(text_of("asked-for-full", speedup=last.limit.text(places)))
    if earned < above.credit and ratio.high >= above.limit.value:
        parts.append(text_of("asked-in-doubt-estimated", speedup=above.limit.text(places)))
    return "; ".join(parts)
