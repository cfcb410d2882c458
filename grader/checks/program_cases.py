"""What the checks of programs share: which cases count, and what is told of those that fail.

The first visible case that fails is told in full; of hidden cases only how many fail, and a reason in which
nothing that the program printed or should have printed is quoted.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.checks import endings, printed, wording
from grader.checks.cases import FULL, NOTHING, CaseVerdict, decide, is_visible, nothing_to_judge, selected
from grader.model import CheckResult, Finding, FindingKind, Verdict
from grader.text import count

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from grader.model import Case, CaseEvidence, Evidence, ProgramRun, RubricItem

    Judge = Callable[[CaseEvidence, ProgramRun], "Outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an item makes of one run; ``share`` of the case's points.

    ``reason`` is a clause that may be told of a hidden case: nothing in it was chosen by the program, neither
    a status nor a signal. ``detail`` is what is told of a visible one, if there is more to it, and ``block``
    are lines that stand below.
    """

    verdict: Verdict
    reason: str = ""
    detail: str = ""
    block: tuple[str, ...] = ()
    share: Fraction = NOTHING
    kind: FindingKind = FindingKind.WRONG_OUTPUT
    ending: str = ""
    """How the run ended, where not by itself: the `hazard` of its finding."""

    @property
    def told(self) -> str:
        """What a visible case is told, with the lines below it."""
        text = self.detail or self.reason
        return f"{text}:{printed.indented(self.block)}" if self.block else text


RIGHT = Outcome(Verdict.PASS, share=FULL)


def failed(reason: str, detail: str = "", block: tuple[str, ...] = (), share: Fraction = NOTHING) -> Outcome:
    """A run that is not as it should be."""
    return Outcome(Verdict.FAIL, reason, detail, block, share)


def judge_cases(item: RubricItem, evidence: Evidence, judge: Judge) -> CheckResult:
    """Judge the item's cases, each by ``judge``, which gets only runs that there are."""
    empty = nothing_to_judge(item, evidence)
    if empty is not None:
        return empty
    cases = selected(item, evidence)
    outcomes = tuple(_outcome(case, judge) for case in cases)
    judged = tuple(
        CaseVerdict(case, outcome.verdict, outcome.reason)
        for case, outcome in zip(cases, outcomes, strict=True)
    )
    skipped = next((case.skipped for case in cases if case.skipped), "")
    if skipped and all(outcome.verdict is not Verdict.ERROR for outcome in outcomes):
        verdicts = tuple((case.case.id, Verdict.SKIP) for case in cases)
        return CheckResult(item, Verdict.SKIP, NOTHING, wording.printable(skipped), case_verdicts=verdicts)
    result = decide(item, judged, _message(cases, outcomes), findings=_findings(cases, outcomes))
    if item.partial == "per-number" and result.verdict is Verdict.FAIL:
        shares = sum((outcome.share for outcome in outcomes), NOTHING)
        return replace(result, fraction=shares / len(outcomes))
    return result


def ended_early(run: ProgramRun) -> Outcome | None:
    """The outcome of a run that did not come to its end; None where it did."""
    if endings.by_itself(run):
        return None
    why = f"{endings.EARLY}: {endings.stopped(run)}"
    return Outcome(Verdict.FAIL, endings.EARLY, why, kind=endings.kind(run), ending=run.ending)


def _outcome(case: CaseEvidence, judge: Judge) -> Outcome:
    if case.error:
        return Outcome(Verdict.ERROR, case.error)
    if case.skipped:
        return Outcome(Verdict.SKIP, case.skipped)
    if case.program is None:
        return Outcome(Verdict.ERROR, "the program was not run, and nothing says why")
    return judge(case, case.program)


def _message(cases: tuple[CaseEvidence, ...], outcomes: tuple[Outcome, ...]) -> str:
    """How many cases are right, what hidden ones fail of, and the first visible one that fails in full."""
    failing = [pair for pair in zip(cases, outcomes, strict=True) if pair[1].verdict is Verdict.FAIL]
    total = len(cases)
    if not failing:
        return "the one case is right" if total == 1 else f"all {total} cases are right"
    shown = next((pair for pair in failing if is_visible(pair[0])), None)
    right = total - len(failing)
    verb = "are" if right > 1 else "is"
    sentences = [f"{right or 'none'} of {total} cases {verb} right"] if total > 1 else []
    hidden = [outcome for case, outcome in failing if not is_visible(case)]
    if hidden:
        number = count(len(hidden), "hidden case")
        why = f"{'fails' if len(hidden) == 1 else 'fail'}{' as well' if shown else f': {hidden[0].reason}'}"
        sentences.append(f"{number} {why}")
    if shown is not None:
        sentences.append(told(*shown) if total > 1 else shown[1].told)
    return ". ".join([sentences[0], *map(wording.capital, sentences[1:])])


def told(case: CaseEvidence, outcome: Outcome) -> str:
    """A visible case that fails: which one, and all that is told of it."""
    return f"in case `{wording.printable(case.case.id)}`{given(case.case)} {outcome.told}"


def given(case: Case) -> str:
    """What a visible run was given, in parentheses; empty where it was given nothing."""
    parts = []
    if case.arguments:
        parts.append(f"arguments {printed.quoted(shlex.join(case.arguments), 60)}")
    if case.stdin:
        parts.append(f"standard input {printed.quoted(case.stdin, 40)}")
    return f" ({', '.join(parts)})" if parts else ""


def _findings(cases: tuple[CaseEvidence, ...], outcomes: tuple[Outcome, ...]) -> tuple[Finding, ...]:
    """One finding for each visible case that fails; of hidden ones, what ended them."""
    found = []
    told_already = _message(cases, outcomes)
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.verdict is not Verdict.FAIL:
            continue
        if is_visible(case):
            message = told(case, outcome) if len(cases) > 1 else outcome.told
            found.append(Finding(outcome.kind, message, outcome.ending, case=case.case.id))
        elif outcome.kind is not FindingKind.WRONG_OUTPUT:
            which = "" if outcome.reason in told_already else " (in a hidden case)"
            found.append(Finding(outcome.kind, outcome.reason + which))
    return tuple(dict.fromkeys(found))
