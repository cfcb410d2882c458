"""`traffic`: how much a kernel moves, next to the staff's kernel on the same cases.

    ratio = sum of the metric over the cases / the same sum for the baseline

Not moving anything is easy for a kernel that computes nothing: only cases with a right answer are counted,
and without one the item fails. The sums are integers and the ratio is exact.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from grader.checks import output, wording
from grader.checks.cases import (
    FULL,
    NOTHING,
    CaseVerdict,
    decide,
    given_up,
    is_visible,
    nothing_to_judge,
    option,
    our_trouble,
    selected,
)
from grader.model import CheckResult, Finding, FindingKind, LineCounters, Verdict

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


_WHERE = {"reads": "from", "writes": "to", "has": "in"}
_MANY = 10
"""From here on a ratio is no percentage any more."""

_PART = 4
"""A line is named from this part of the whole on."""


class Sums(NamedTuple):
    """A metric summed over the cases that count, for the submission and for the baseline."""

    metric: str
    own: int
    baseline: int

    @property
    def ratio(self) -> Fraction:
        """The submission's share of the baseline."""
        return Fraction(self.own, self.baseline)


def check(item: RubricItem, evidence: Evidence) -> CheckResult:
    """Compare the metric's ratio with what the item asks for: a limit, or steps of credit."""
    empty = nothing_to_judge(item, evidence)
    if empty is not None:
        return empty
    cases = selected(item, evidence)
    trouble = next(filter(None, map(our_trouble, cases)), "")
    if trouble:
        return _error(item, trouble)
    right = tuple(
        case for case in cases if output.judge(case).verdict is Verdict.PASS and not case.too_much_work
    )
    if not right:
        return _nothing_counted(item, cases)
    uncounted = next((case.uncounted for case in right if case.uncounted), "")
    if uncounted:
        return _error(item, f"nobody counted what the kernel moves: {uncounted}")
    baseline = str(option(item, "baseline", "naive"))
    if any(baseline not in dict(case.baselines) for case in right):
        return _error(item, f"the {baseline} kernel was not measured on every case")
    return _judge(item, evidence, right, baseline)


def _nothing_counted(item: RubricItem, cases: tuple[CaseEvidence, ...]) -> CheckResult:
    """Where no case counts: the emulator gave some up, or else all are wrong."""
    skipped = tuple(CaseVerdict(case, Verdict.SKIP, given_up(case)) for case in cases if case.too_much_work)
    if skipped:
        return decide(item, skipped, "")
    message = "only counts for a kernel that computes the right answer, and no case is right"
    return decide(item, tuple(CaseVerdict(case, Verdict.FAIL) for case in cases), message)


def _error(item: RubricItem, reason: str) -> CheckResult:
    message = f"not judged, through no fault of the submission: {wording.printable(reason)}"
    return CheckResult(item, Verdict.ERROR, NOTHING, message)


def _judge(
    item: RubricItem, evidence: Evidence, right: tuple[CaseEvidence, ...], baseline: str
) -> CheckResult:
    """The verdict over the cases that count: one sum, so one verdict for all of them."""
    metric = str(option(item, "metric", "global_load_bytes"))
    sums = _sums(metric, right, baseline)
    if not sums.baseline:
        return _error(item, f"the {baseline} kernel has {metric} = 0, so there is no ratio to it")
    earned = _credit(item, sums.ratio)
    verdict = Verdict.PASS if earned == FULL else Verdict.FAIL
    shown = tuple(case for case in right if is_visible(case))
    message = _message(item, sums, _sums(metric, shown, baseline), baseline, hidden=len(right) - len(shown))
    findings = [] if verdict is Verdict.PASS else [Finding(FindingKind.TRAFFIC, message)]
    if any(sums.ratio > limit for limit, _ in _steps(item)):
        findings += _places(metric, evidence, right)
    result = decide(
        item, tuple(CaseVerdict(case, verdict) for case in right), message, findings=tuple(findings)
    )
    return replace(result, fraction=earned)


def _sums(metric: str, cases: tuple[CaseEvidence, ...], baseline: str) -> Sums:
    return Sums(
        metric=metric,
        own=sum(getattr(case.counters, metric) for case in cases),
        baseline=sum(getattr(dict(case.baselines)[baseline], metric) for case in cases),
    )


def _places(metric: str, evidence: Evidence, cases: tuple[CaseEvidence, ...]) -> list[Finding]:
    """The lines that move a quarter or more of what is too much, where somebody counted by line."""
    case = next((case for case in cases if case.lines and is_visible(case)), None)
    if case is None or metric not in LineCounters.__slots__:
        return []
    verb, unit = METRICS[metric]
    total = getattr(case.counters, metric)
    file = next((structure.file for _, structure in evidence.structures), "")
    amounts = sorted(((getattr(each, metric), each) for each in case.lines), key=lambda pair: -pair[0])
    found = []
    for amount, each in amounts:
        if amount and amount * _PART >= total:
            whose = f" {_WHERE[verb]} `{each.array}`" if each.array else ""
            part = f"all {total:,}" if amount == total else f"{amount:,} of the {total:,}"
            told = f"{verb} {part} {unit}{whose} in case `{case.case.id}`"
            found.append(Finding(FindingKind.TRAFFIC, told, file=file, line=each.line, case=case.case.id))
    return found


def _steps(item: RubricItem) -> tuple[tuple[Fraction, Fraction], ...]:
    """The shares of the baseline's that earn credit, with the credit; the last earns all of it."""
    at_most = option(item, "at_most")
    return option(item, "steps", ()) if at_most is None else ((at_most, FULL),)


def _credit(item: RubricItem, ratio: Fraction) -> Fraction:
    """The share of the points that a ratio earns."""
    at_least, steps = option(item, "at_least"), _steps(item)
    if at_least is not None and ratio < at_least:
        return NOTHING
    if not steps:
        return FULL
    return max((credit for limit, credit in steps if ratio <= limit), default=NOTHING)


def _message(item: RubricItem, sums: Sums, shown: Sums, baseline: str, *, hidden: int) -> str:
    """`reads 64,704 bytes of global memory; the naive kernel reads 908,160: 7.1 %, at most 10 % asked`.

    A number of hidden cases, or a ratio to which they belong, would tell of their shapes: where there are
    any, the visible ones are told by themselves, and of all together on which side of a limit they are.
    """
    verb, unit = METRICS[sums.metric]
    asked = _asked(item, _credit(item, sums.ratio))
    if not hidden:
        numbers = f"{verb} {sums.own:,} {unit}; the {baseline} kernel {verb} {sums.baseline:,}"
        return f"{numbers}: {_share(item, sums)}{asked}"
    what = f"the {unit} that the {baseline} kernel {verb}"
    overall = _overall(item, sums.ratio)
    if not shown.baseline:
        return (
            f"{verb} {overall} of {what}" if len(_limits(item)) == 1 else f"{verb} {overall} of {what}{asked}"
        )
    numbers = (
        f"{verb} {shown.own:,} {unit} in the visible cases; the {baseline} kernel {verb} {shown.baseline:,}"
    )
    told = f"{numbers}: {_share(item, shown)}, and with the hidden cases {overall}"
    return told if len(_limits(item)) == 1 else told + asked


def _share(item: RubricItem, sums: Sums) -> str:
    if sums.ratio >= _MANY:
        return f"{float(sums.ratio):,.0f} times as many"
    limits = _limits(item)
    nearest = min(limits, key=lambda limit: abs(limit - sums.ratio), default=sums.ratio)
    return wording.percent(sums.ratio, nearest)


def _limits(item: RubricItem) -> list[Fraction]:
    """All shares that decide about points."""
    at_least = option(item, "at_least")
    return [*(limit for limit, _ in _steps(item)), *([] if at_least is None else [at_least])]


def _overall(item: RubricItem, ratio: Fraction) -> str:
    """Between which limits a ratio is, and no more than that: `more than the 10 % asked`, `at most 25 %`."""
    shares, at_least = [limit for limit, _ in _steps(item)], option(item, "at_least")
    kept = min((limit for limit in shares if ratio <= limit), default=None)
    if at_least is not None and (ratio < at_least or not shares):
        word, limit = "less than" if ratio < at_least else "at least", at_least
    else:
        word, limit = ("more than", max(shares, default=ratio)) if kept is None else ("at most", kept)
    share = wording.plain_percent(limit)
    return f"{word} the {share} asked" if len(_limits(item)) == 1 else f"{word} {share}"


def _asked(item: RubricItem, earned: Fraction) -> str:
    """What is asked for full credit, and for the next part of it where there are parts."""
    steps, at_least = _steps(item), option(item, "at_least")
    parts = []
    above = next(((limit, credit) for limit, credit in steps if credit > earned), None)
    if above is not None and above[1] != FULL:
        share = wording.plain_percent(above[1])
        parts.append(f"at most {wording.plain_percent(above[0])} for {share} of the points")
    if steps:
        parts.append(
            f"at most {wording.plain_percent(steps[-1][0])}{' for full credit' if steps[1:] else ''}"
        )
    if at_least is not None:
        parts.append(f"at least {wording.plain_percent(at_least)}")
    return f", {', '.join(parts)} asked" if parts else ""
