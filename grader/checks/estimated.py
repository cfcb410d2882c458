"""A speedup without a GPU: judged by what a model says, where the rubric has ``estimate: true``.

A model is less sure than a measurement, and nobody has seen the kernel run on the device. So a step of credit
counts as reached only where the whole interval is at or above it. Where there is no estimate the item is
skipped as without ``estimate``. A kernel that does not build, or is not right, earns nothing, as on a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.checks import output, wording
from grader.checks.cases import FULL, NOTHING, error_result, our_trouble
from grader.checks.credit import credit_steps, decimals, reached
from grader.messages import text_of
from grader.model import PROBLEMS, CheckResult, Verdict
from grader.text import one_line

if TYPE_CHECKING:
    from fractions import Fraction

    from grader.checks.credit import CreditStep, Steps
    from grader.model import Estimate, Evidence, Ratio, RubricItem

WRONG = "wrong"
"""The problem of an estimate of a kernel whose results are wrong."""

FEWEST_DECIMALS = 1
"""Of an estimated ratio, which is less sure than a measured one."""


def problem(estimate: Estimate) -> str:
    """Say why there is no estimate, harmless; empty where there is one."""
    if not estimate.problem:
        return ""
    if estimate.problem not in PROBLEMS:  # of a later version's
        return one_line(estimate.problem, 100)
    details = {"opcode": "?", "reason": "?", "most": "?", **dict(estimate.details)}
    return one_line(text_of(f"problem-{estimate.problem}", **details), 300)


def error_in_words(estimate: Estimate) -> str:
    """Say how well the model does."""
    return text_of("estimate-error", share=f"{100 * estimate.error_bound:.3g}")


def skipped(item: RubricItem, estimate: Estimate | None) -> CheckResult:
    """The result of an item that only a GPU can judge, where there is none."""
    name = "needs-gpu-estimated" if estimate and estimate.ratio else "needs-gpu"
    return CheckResult(item, Verdict.SKIP, NOTHING, text_of(name), needs_gpu=True)


def judged(item: RubricItem, baseline: str, steps: Steps, evidence: Evidence) -> CheckResult:
    """Compare the estimated speedup with the item's steps; skip where the model has none."""
    refusal = _without_speed(item, evidence)
    if refusal is not None:
        return refusal
    estimate = evidence.estimate
    if estimate is None:
        return CheckResult(item, Verdict.SKIP, NOTHING, text_of("needs-gpu"), needs_gpu=True)
    if estimate.ratio is None:
        reason = text_of("needs-gpu-not-estimated", reason=problem(estimate))
        return CheckResult(item, Verdict.SKIP, NOTHING, reason, needs_gpu=True)
    trouble = _trouble(estimate, baseline, steps)
    if trouble:
        return error_result(item, trouble)
    return _compared(item, credit_steps(steps, 0.0), estimate, estimate.ratio)


def _without_speed(item: RubricItem, evidence: Evidence) -> CheckResult | None:
    """The result where no speed would count: by our failure, without a build, or of wrong results."""
    trouble = evidence.build.error or next(filter(None, map(our_trouble, evidence.cases)), "")
    if trouble:
        return error_result(item, trouble)
    if not evidence.build.ok:
        return CheckResult(item, Verdict.FAIL, NOTHING, text_of("not-timed-without-build"))
    is_wrong = evidence.estimate is not None and evidence.estimate.problem == WRONG
    if is_wrong or any(output.judge(case).verdict is Verdict.FAIL for case in evidence.cases):
        return CheckResult(item, Verdict.FAIL, NOTHING, text_of("not-timed-wrong"))
    return None


def _trouble(estimate: Estimate, baseline: str, steps: Steps) -> str:
    """Why the estimate cannot be used, through no fault of the student; empty where it can."""
    if estimate.baseline != baseline:
        return text_of("other-kernel-timed", wanted=baseline, baseline=estimate.baseline)
    if not steps:
        return text_of("no-speedup-asked")
    return text_of("solution-not-timed") if any(at.of_solution for at, _ in steps) else ""


def _compared(
    item: RubricItem, steps: tuple[CreditStep, ...], estimate: Estimate, ratio: Ratio
) -> CheckResult:
    earned = reached(step for step in steps if ratio.low >= step.asked.value)
    full = earned == FULL
    return CheckResult(
        item,
        Verdict.PASS if full else Verdict.FAIL,
        earned,
        _message(estimate, ratio, steps, earned),
        "" if full else item.hint,
        estimated=True,
    )


def _message(estimate: Estimate, ratio: Ratio, steps: tuple[CreditStep, ...], earned: Fraction) -> str:
    """The estimated speedup with its interval, how well the model does, and what was asked for."""
    last = steps[-1]
    above = min((step for step in steps if step.credit > earned), key=lambda step: step.credit, default=last)
    ends = (ratio.median, ratio.low, ratio.high)
    places = decimals(ends, [step.asked for step in (above, last)], FEWEST_DECIMALS)
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
        parts.append(text_of("asked-for-share", speedup=above.asked.text(places), share=share))
    parts.append(text_of("asked-for-full", speedup=last.asked.text(places)))
    if earned < above.credit and ratio.high >= above.asked.value:
        parts.append(text_of("asked-in-doubt-estimated", speedup=above.asked.text(places)))
    return "; ".join(parts)
