"""`traffic`: how much a kernel moves, next to the staff's kernel on the same cases.

    ratio = sum of the metric over the cases / the same sum for the baseline

Not moving anything is easy for a kernel that computes nothing: only cases with a right answer are counted,
and without one the item fails. The sums are integers and the ratio is exact.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from grader.checks import output, wording
from grader.checks.cases import (
    NOTHING,
    CaseVerdict,
    decide,
    is_visible,
    nothing_to_judge,
    option,
    our_trouble,
    selected,
)
from grader.model import CheckResult, Finding, FindingKind, Verdict

if TYPE_CHECKING:
    from grader.model import CaseEvidence, Evidence, RubricItem

METRICS = {
    "global_load_bytes": ("reads", "bytes of global memory"),
    "global_store_bytes": ("writes", "bytes of global memory"),
    "global_load_sectors": ("reads", "sectors of global memory"),
    "global_store_sectors": ("writes", "sectors of global memory"),
    "shared_load_bytes": ("reads", "bytes of shared memory"),
    "shared_store_bytes": ("writes", "bytes of shared memory"),
    "shared_bank_conflicts": ("has", "shared memory bank conflicts"),
    "flops": ("executes", "floating-point operations"),
    "instructions": ("executes", "instructions"),
    "barriers": ("waits at", "barriers"),
}
"""Counter → how a sentence says it."""


class Sums(NamedTuple):
    """A metric summed over the cases that count, for the submission and for the baseline."""

    metric: str
    own: int
    baseline: int
    visible: bool
    """Whether all of the cases may be spoken of."""

    @property
    def ratio(self) -> Fraction:
        """The submission's share of the baseline."""
        return Fraction(self.own, self.baseline)


def check(item: RubricItem, evidence: Evidence) -> CheckResult:
    """Compare the metric's ratio with `at_most` and `at_least`."""
    empty = nothing_to_judge(item, evidence)
    if empty is not None:
        return empty
    cases = selected(item, evidence)
    trouble = next(filter(None, map(our_trouble, cases)), "")
    if trouble:
        return _error(item, trouble)
    right = tuple(case for case in cases if output.judge(case).verdict is Verdict.PASS)
    if not right:
        message = "only counts for a kernel that computes the right answer, and no case is right"
        return decide(item, tuple(CaseVerdict(case, Verdict.FAIL) for case in cases), message)
    uncounted = next((case.uncounted for case in right if case.uncounted), "")
    if uncounted:
        return _error(item, f"nobody counted what the kernel moves: {uncounted}")
    baseline = str(option(item, "baseline", "naive"))
    if any(baseline not in dict(case.baselines) for case in right):
        return _error(item, f"the {baseline} kernel was not measured on every case")
    return _judge(item, right, baseline)


def _error(item: RubricItem, reason: str) -> CheckResult:
    message = f"not judged, through no fault of the submission: {wording.printable(reason)}"
    return CheckResult(item, Verdict.ERROR, NOTHING, message)


def _judge(item: RubricItem, right: tuple[CaseEvidence, ...], baseline: str) -> CheckResult:
    """The verdict over the cases that count: one sum, so one verdict for all of them."""
    metric = str(option(item, "metric", "global_load_bytes"))
    sums = Sums(
        metric=metric,
        own=sum(getattr(case.counters, metric) for case in right),
        baseline=sum(getattr(dict(case.baselines)[baseline], metric) for case in right),
        visible=all(is_visible(case) for case in right),
    )
    if not sums.baseline:
        return _error(item, f"the {baseline} kernel has {metric} = 0, so there is no ratio to it")
    good = all(passed for passed, _ in _limits(item, sums.ratio))
    message = _message(item, sums, baseline)
    verdict = Verdict.PASS if good else Verdict.FAIL
    findings = () if good else (Finding(FindingKind.TRAFFIC, message),)
    return decide(item, tuple(CaseVerdict(case, verdict) for case in right), message, findings=findings)


def _limits(item: RubricItem, ratio: Fraction) -> tuple[tuple[bool, str], ...]:
    """For each limit of the item: whether the ratio keeps it, and the limit in words."""
    at_most, at_least = option(item, "at_most"), option(item, "at_least")
    limits = []
    if at_most is not None:
        limits.append((ratio <= at_most, f"at most {wording.plain_percent(at_most)}"))
    if at_least is not None:
        limits.append((ratio >= at_least, f"at least {wording.plain_percent(at_least)}"))
    return tuple(limits)


def _message(item: RubricItem, sums: Sums, baseline: str) -> str:
    """`reads 64,704 bytes of global memory; the naive kernel reads 908,160: 7.1 %, at most 10 % asked`."""
    verb, unit = METRICS[sums.metric]
    asked = ", ".join(words for _, words in _limits(item, sums.ratio))
    limits = [option(item, name) for name in ("at_most", "at_least") if option(item, name) is not None]
    nearest = min(limits, key=lambda limit: abs(limit - sums.ratio), default=sums.ratio)
    share = wording.percent(sums.ratio, nearest)
    if sums.visible:
        numbers = f"{verb} {sums.own:,} {unit}; the {baseline} kernel {verb} {sums.baseline:,}: {share}"
    else:  # a sum over hidden cases would tell their shapes
        numbers = f"{verb} {share} of the {unit} that the {baseline} kernel {verb}"
    return f"{numbers}, {asked} asked" if asked else numbers
