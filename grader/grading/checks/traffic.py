"""`traffic`: data that a kernel moves, relative to the staff's kernel on the same cases, or to an expression.

    ratio = sum of the metric over the cases / the same sum for the baseline, or `of` of each

Not moving anything is easy for a kernel that computes nothing: only cases with a right answer are counted,
and without one the item fails. Of a program or a function all launches count, or those of one kernel, and a
case without one fails. The sums and the ratio are exact.
"""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from grader.base.arithmetic import ArithmeticProblem, exactly, parse
from grader.base.records import frozen
from grader.grading.checks import output, wording
from grader.grading.checks.cases import (
    FULL,
    NOTHING,
    CaseVerdict,
    add_up_verdicts,
    cases_of_item,
    error_result,
    is_visible,
    no_verdict_reason,
    nothing_to_judge,
    our_trouble,
    question_in,
    question_result,
    verdict_where_given_up,
)
from grader.grading.checks.check import Check, key
from grader.grading.checks.credit import falling, shares_out_of_order
from grader.model import Amounts, CheckResult, Counters, Finding, FindingKind, LineCounters, Verdict
from grader.model.messages import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.grading.checks.check import Disorder
    from grader.grading.checks.credit import Shares
    from grader.model import CaseEvidence, Evidence, Named, RubricItem

METRICS = {
    "global_load_bytes": ("reads", "global-bytes"),
    "global_store_bytes": ("writes", "global-bytes"),
    "global_load_sectors": ("reads", "global-sectors"),
    "global_store_sectors": ("writes", "global-sectors"),
    "shared_load_bytes": ("reads", "shared-bytes"),
    "shared_store_bytes": ("writes", "shared-bytes"),
    "shared_bank_conflicts": ("has", "bank-conflicts"),
    "flops": ("executes", "flops"),
    "instructions": ("executes", "instructions"),
    "barriers": ("waits-at", "barriers-met"),
}
"""Counter → the texts of its verb and of its unit."""


BAND = ("none_above", "full_at")
"""The two ends of a linear band of traffic."""

_WITH_ARRAY = {"reads": "line-reads", "writes": "line-writes", "has": "line-has"}
"""The text of a line that says which array it uses, by the verb."""

_MANY = 10
"""Least ratio that is no longer given as a percentage."""

_PART = 4
"""A line is named from this part of the whole on."""


class Sums(NamedTuple):
    """A metric summed over the cases that count, for the submission, and what it is compared with."""

    submission: int
    baseline: Fraction

    @property
    def ratio(self) -> Fraction:
        """The submission's share of the baseline."""
        return self.submission / self.baseline


@frozen(kw_only=True)
class TrafficCheck(Check):
    """A counter, as a share of what the baseline kernel needs, or of an expression over the case's sizes.

    All points at ``at_most`` and none above it; or credit that grows from nothing at ``none_above`` to all of
    it at ``full_at``, a tenth at a time; or credit in ``steps``. Less than ``at_least`` earns nothing.
    """

    name: ClassVar[str] = "traffic"
    title: ClassVar[str] = "memory traffic"
    kinds: ClassVar[tuple[str, ...]] = ("kernel", "program", "function")
    partial: ClassVar[tuple[str, ...]] = ("per-case",)
    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("at_most",), BAND, ("steps",))
    metric: str = key("Metric")
    baseline: str | None = key("Identifier", None)
    of: str | None = key("FormulaText", None)
    kernel: str | None = key("KernelName", None)
    at_most: Fraction | None = key("Exact", None)
    none_above: Fraction | None = key("Exact", None)
    full_at: Fraction | None = key("Exact", None)
    steps: Shares | None = key("ShareSteps", None)
    at_least: Fraction | None = key("Exact", None)

    def options(self) -> Named[Any]:
        """The counter, the baseline, and the limit or the steps of credit, to which a band is turned."""
        steps = None if self.at_most is not None else self.credit()
        return Check.options(replace(self, none_above=None, full_at=None, steps=steps))

    def credit(self) -> Shares:
        """The shares of the baseline's that earn credit, with the credit; the last earns all of it."""
        if self.at_most is not None:
            return ((self.at_most, FULL),)
        if self.none_above is not None and self.full_at is not None:
            return falling(self.none_above, self.full_at)
        return self.steps or ()

    @property
    def baseline_key(self) -> str:
        """Key of the baseline's counters: those of one kernel, or of all."""
        return f"{self.baseline}:{self.kernel}" if self.kernel else self.baseline or ""

    def contradiction(self) -> tuple[str, str] | None:
        """Conflict where there is no comparison or two of them, or no form of credit or several."""
        if self.baseline is None and self.of is None:
            return "baseline", "expected a key `baseline` or `of`, with what it is compared"
        if self.baseline is not None and self.of is not None:
            return "of", "expected only one of `baseline` and `of`"
        limits = [name for name in ("at_most", "steps", *BAND) if getattr(self, name) is not None]
        if len(limits) == 1 and limits[0] in BAND:
            missing = next(name for name in BAND if name not in limits)
            return missing, f"expected a key `{missing}`, which is missing"
        if not limits:
            return "at_most", "expected a key `at_most`, which is missing"
        if len(limits) > 1 and tuple(limits) != BAND:
            return limits[1], "expected only one of `at_most`, `none_above` with `full_at`, and `steps`"
        return None

    def disorder(self) -> Iterator[Disorder]:
        """Ends and steps that do not grow, and a lower limit above the upper one."""
        if self.none_above is not None and self.full_at is not None and self.full_at > self.none_above:
            yield ("full_at",), "expected at most what `none_above` says: less is better"
        if self.steps:
            for index, name, message in shares_out_of_order(self.steps):
                yield ("steps", index, name), message
        limit: Fraction | None
        if self.steps:
            limit, name = self.steps[-1][0], "the last of `steps`"
        elif self.full_at is not None:
            limit, name = self.full_at, "`full_at`"
        else:
            limit, name = self.at_most, "`at_most`"
        if self.at_least is not None and limit is not None and self.at_least > limit:
            yield ("at_least",), f"expected at most what {name} says"

    def judge(self, evidence: Evidence) -> CheckResult:
        """Compare the metric's ratio with what the item asks for: a limit, or steps of credit."""
        empty = nothing_to_judge(self.item, evidence)
        if empty is not None:
            return empty
        cases = cases_of_item(self.item, evidence)
        trouble = next(filter(None, map(our_trouble, cases)), "")
        if trouble:
            return error_result(self.item, trouble)
        question = question_in(cases)
        if question and not any(wrong.wrong for case in cases for wrong in case.comparisons):
            return question_result(self.item, question)
        right = tuple(case for case in cases if _is_right(case))
        if right:
            return self._judge_right(evidence, right)
        if any(case.launches == 0 for case in cases):
            return self._never_launched(cases)
        return _nothing_counted(self.item, cases)

    def _judge_right(self, evidence: Evidence, right: tuple[CaseEvidence, ...]) -> CheckResult:
        """The result over the cases with a right answer, if all is known of them that it takes."""
        uncounted = next((case.uncounted for case in right if case.uncounted), "")
        if uncounted:
            return error_result(self.item, text_of("not-counted", reason=uncounted))
        if any(self._counters(case) is None for case in right):
            return self._never_launched(right)
        if self.baseline and any(self.baseline_key not in dict(case.baselines) for case in right):
            return error_result(self.item, text_of("baseline-not-measured", baseline=self.baseline))
        try:
            return self._judge_counted(evidence, right)
        except ArithmeticProblem as problem:
            return error_result(self.item, text_of("formula-without-value", problem=str(problem)))

    def _counters(self, case: CaseEvidence) -> Counters | None:
        """Counters of the kernels that the item looks at; None where none of them was launched."""
        if case.program is None:
            return case.counters
        if not self.kernel:
            return case.counters if case.kernels else None
        return next((kernel.counters for kernel in case.kernels if kernel.kernel == self.kernel), None)

    def _never_launched(self, cases: tuple[CaseEvidence, ...]) -> CheckResult:
        """The result where a right answer comes from no launch of the kernel."""
        name = wording.printable(self.kernel or "")
        message = text_of("named-kernel-never-ran", name=name) if name else text_of("launches-nothing")
        return add_up_verdicts(self.item, tuple(CaseVerdict(case, Verdict.FAIL) for case in cases), message)

    def _sums(self, cases: tuple[CaseEvidence, ...]) -> Sums:
        """The metric over some cases; raises ArithmeticProblem where ``of`` has no value for one."""
        of_cases = [self._counters(case) or Counters() for case in cases]
        return Sums(
            sum(getattr(counters, self.metric) for counters in of_cases),
            sum(map(self._compared_with, cases), Fraction(0)),
        )

    def _compared_with(self, case: CaseEvidence) -> Fraction:
        """Whole of which the metric of a case is a share."""
        if self.of is None:
            return Fraction(getattr(dict(case.baselines)[self.baseline_key], self.metric))
        return exactly(parse(self.of), {name: Fraction(size) for name, size in case.case.shape})

    def _judge_counted(self, evidence: Evidence, right: tuple[CaseEvidence, ...]) -> CheckResult:
        """The verdict over the cases that count: one sum, so one verdict for all of them."""
        sums = self._sums(right)
        if sums.baseline <= 0 and self.of:
            return error_result(self.item, text_of("formula-zero", formula=self.of, value=str(sums.baseline)))
        if sums.baseline <= 0:
            reason = text_of("baseline-zero", baseline=self.baseline or "", metric=self.metric)
            return error_result(self.item, reason)
        earned = self._credited(evidence, right, sums)
        verdict = Verdict.PASS if earned == FULL else Verdict.FAIL
        shown = tuple(case for case in right if is_visible(case))
        message = self._message(sums, self._sums(shown), hidden=len(right) - len(shown))
        findings = [] if verdict is Verdict.PASS else [Finding(FindingKind.TRAFFIC, message)]
        if any(sums.ratio > limit for limit, _ in self.credit()):
            findings += self._places(evidence, right)
        result = add_up_verdicts(
            self.item, tuple(CaseVerdict(case, verdict) for case in right), message, findings=tuple(findings)
        )
        return replace(result, fraction=earned, amounts=self._amounts(shown))

    def _credited(self, evidence: Evidence, right: tuple[CaseEvidence, ...], sums: Sums) -> Fraction:
        """The share of the points that the cases earn, of which hidden ones decide on one thing alone.

        Credit in steps follows visible cases, and all cases together must reach the lowest step: else the
        steps would tell how much is moved in hidden ones. Where no visible case counts it is all or nothing.
        """
        overall = self._earned(sums.ratio)
        if len(self.credit()) <= 1 or all(map(is_visible, cases_of_item(self.item, evidence))):
            return overall
        shown = self._sums(tuple(filter(is_visible, right)))
        if shown.baseline <= 0:
            return overall if overall == FULL else NOTHING
        return self._earned(shown.ratio) if overall > NOTHING else NOTHING

    def _amounts(self, shown: tuple[CaseEvidence, ...]) -> Amounts | None:
        """The numbers of the visible cases, and what is asked of them; None where they move nothing."""
        sums = self._sums(shown)
        share = self.credit()[-1][0] if self.credit() else None
        if sums.baseline <= 0:
            return None
        name, unit = self.of or self.baseline or "", text_of(METRICS[self.metric][1])
        return Amounts(self.metric, sums.submission, name, round(sums.baseline), share, unit)

    def _places(self, evidence: Evidence, cases: tuple[CaseEvidence, ...]) -> list[Finding]:
        """The lines that move a quarter or more of the excess, where traffic was counted by line."""
        if all(item.name != self.metric for item in fields(LineCounters)):
            return []
        looked_at = ((case, *self._lines(case, evidence)) for case in cases if is_visible(case))
        case, file, lines = next((entry for entry in looked_at if entry[2]), (None, "", ()))
        counters = case and self._counters(case)
        if case is None or counters is None:
            return []
        total = getattr(counters, self.metric)
        verb, unit = self._verb(), text_of(METRICS[self.metric][1])
        findings = []
        amounts = sorted(((getattr(line, self.metric), line) for line in lines), key=lambda pair: -pair[0])
        for amount, line in amounts:
            if amount and amount * _PART >= total:
                part = text_of("all-of" if amount == total else "part-of", amount=amount, total=total)
                name = _WITH_ARRAY[METRICS[self.metric][0]] if line.array else "line-moves"
                message = text_of(name, verb=verb, unit=unit, part=part, array=line.array, case=case.case.id)
                findings.append(
                    Finding(FindingKind.TRAFFIC, message, file=file, line=line.line, case=case.case.id)
                )
        return findings

    def _lines(self, case: CaseEvidence, evidence: Evidence) -> tuple[str, tuple[LineCounters, ...]]:
        """The student's file, and what each line of the kernels moved that the item looks at."""
        if case.program is None:
            return next((structure.file for _, structure in evidence.structures), ""), case.lines
        chosen = [kernel for kernel in case.kernels if self.kernel in (None, kernel.kernel)]
        return next((kernel.file for kernel in chosen), ""), tuple(line for m in chosen for line in m.lines)

    def _earned(self, ratio: Fraction) -> Fraction:
        """The share of the points that a ratio earns."""
        steps = self.credit()
        if self.at_least is not None and ratio < self.at_least:
            return NOTHING
        if not steps:
            return FULL
        return max((credit for limit, credit in steps if ratio <= limit), default=NOTHING)

    def _message(self, sums: Sums, shown: Sums, *, hidden: int) -> str:
        """`reads 64,704 bytes of global memory; the naive kernel reads 908,160: 7.1 %, at most 10 % asked`.

        A number of hidden cases, or a ratio to which they belong, would tell of their shapes: where there are
        any, the visible ones are reported by themselves, and of all together only the side of a limit.
        """
        verb, unit = self._verb(), text_of(METRICS[self.metric][1])
        requirement = self._requirement(self._earned(sums.ratio))
        if not hidden:
            return text_of(
                "traffic",
                verb=verb,
                unit=unit,
                amount=sums.submission,
                compared=self._compared(sums),
                share=self._share(sums),
                asked=requirement,
            )
        overall = self._overall(sums.ratio)
        if len(self._limits()) == 1:  # what is asked is said there
            requirement = ""
        if not shown.baseline:
            return text_of("traffic-hidden", verb=verb, share=overall, whole=self._whole(), asked=requirement)
        return text_of(
            "traffic-with-hidden",
            verb=verb,
            unit=unit,
            amount=shown.submission,
            compared=self._compared(shown),
            share=self._share(shown),
            overall=overall,
            asked=requirement,
        )

    def _verb(self) -> str:
        """Verb for what a kernel does with the metric, with its name where the item gives it."""
        verb = text_of(METRICS[self.metric][0])
        return (
            text_of("kernel-moves", name=wording.printable(self.kernel), verb=verb) if self.kernel else verb
        )

    def _compared(self, sums: Sums) -> str:
        """Term of the comparison, and its amount."""
        is_whole = sums.baseline.denominator == 1
        amount = f"{sums.baseline.numerator:,}" if is_whole else f"{float(sums.baseline):,.1f}"
        if self.of:
            return text_of("formula-is", formula=self.of, amount=amount)
        verb = text_of(METRICS[self.metric][0])
        return text_of("baseline-moves", baseline=self.baseline or "", verb=verb, amount=amount)

    def _whole(self) -> str:
        """Name of the whole of which it is a share."""
        if self.of:
            return f"`{self.of}`"
        verb, unit = map(text_of, METRICS[self.metric])
        return text_of("moved-by-baseline", baseline=self.baseline or "", verb=verb, unit=unit)

    def _share(self, sums: Sums) -> str:
        if sums.ratio >= _MANY:
            return text_of("times-as-many", times=f"{float(sums.ratio):,.0f}")
        limits = self._limits()
        nearest = min(limits, key=lambda limit: abs(limit - sums.ratio), default=sums.ratio)
        return wording.percent(sums.ratio, nearest)

    def _limits(self) -> list[Fraction]:
        """All shares that decide about points."""
        return [*(limit for limit, _ in self.credit()), *([] if self.at_least is None else [self.at_least])]

    def _overall(self, ratio: Fraction) -> str:
        """Between which limits a ratio is, and no more: `more than the 10 % asked`, `at most 25 %`."""
        shares, at_least = [limit for limit, _ in self.credit()], self.at_least
        nearest = min((limit for limit in shares if ratio <= limit), default=None)
        if at_least is not None and (ratio < at_least or not shares):
            name, limit = "less-than" if ratio < at_least else "at-least", at_least
        else:
            name, limit = (
                ("more-than", max(shares, default=ratio)) if nearest is None else ("at-most", nearest)
            )
        suffix = "-asked" if len(self._limits()) == 1 else ""
        return text_of(f"{name}{suffix}", share=wording.plain_percent(limit))

    def _requirement(self, earned: Fraction) -> str:
        """Requirement for full credit, and for the next part of it where there are parts."""
        steps, at_least = self.credit(), self.at_least
        parts = []
        above = next(((limit, credit) for limit, credit in steps if credit > earned), None)
        if above is not None and above[1] != FULL:
            limit, credit = map(wording.plain_percent, above)
            parts.append(text_of("at-most-for", share=limit, credit=credit))
        if steps:
            name = "at-most-for-full" if steps[1:] else "at-most"
            parts.append(text_of(name, share=wording.plain_percent(steps[-1][0])))
        if at_least is not None:
            parts.append(text_of("at-least", share=wording.plain_percent(at_least)))
        return text_of("asked", parts=", ".join(parts)) if parts else ""


def _is_right(case: CaseEvidence) -> bool:
    """True if a case counts: it gave the right answer, as far as that was checked."""
    if case.too_much_work or any(f.kind is FindingKind.WRONG_OUTPUT for f in case.findings):
        return False
    if case.program is None or case.comparisons:
        return output.judge(case).verdict is Verdict.PASS
    return case.completed and case.program.returncode == 0 and case.launches != 0


def _nothing_counted(item: RubricItem, cases: tuple[CaseEvidence, ...]) -> CheckResult:
    """Result where no case counts: the emulator gave some up, or else all are wrong."""
    skipped = tuple(
        CaseVerdict(case, verdict_where_given_up(case), no_verdict_reason(case))
        for case in cases
        if case.too_much_work
    )
    if skipped:
        return add_up_verdicts(item, skipped, "")
    message = text_of("right-ones-count")
    return add_up_verdicts(item, tuple(CaseVerdict(case, Verdict.FAIL) for case in cases), message)
