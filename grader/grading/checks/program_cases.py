"""Common parts of the checks of programs: the cases that count, the end of a run, reports of failures.

The first visible case that fails is reported in full; of hidden cases only the number that fail, and a
reason in which nothing that the program printed or should have printed is quoted.
"""

from __future__ import annotations

import re
import shlex
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.base.text import capital
from grader.grading.checks import program_output, wording
from grader.grading.checks.cases import (
    FULL,
    NOTHING,
    CaseVerdict,
    add_up_verdicts,
    cases_of_item,
    is_visible,
    no_verdict_reason,
    nothing_to_judge,
    partial_credit,
    stopped_by,
    verdict_where_given_up,
)
from grader.model import CheckResult, Clause, Finding, FindingKind, Verdict
from grader.model.messages import current, text_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from grader.model import Case, CaseEvidence, Comparison, Evidence, ProgramRun, RubricItem

    Judge = Callable[[CaseEvidence, ProgramRun], "RunVerdict"]


@frozen
class RunVerdict:
    """Verdict of an item on one run, which earns ``share`` of the case's points.

    ``reason`` is a clause that may be shown for a hidden case: nothing in it was chosen by the program,
    neither a status nor a signal. ``detail`` is shown for a visible one, if there is more to it, and
    ``block`` are lines that stand below.
    """

    verdict: Verdict
    reason: str = ""
    detail: str = ""
    block: tuple[str, ...] = ()
    share: Fraction = NOTHING
    kind: FindingKind = FindingKind.WRONG_OUTPUT
    ending: str = ""
    """Ending of the run, where not by itself: the `hazard` of its finding."""
    compared: Comparison | None = None
    """Comparison of an array that is wrong: its finding has a map of it."""
    stands: bool = False
    """True if it stands whatever was not followed: about who has computed a right array."""

    @property
    def full_text(self) -> str:
        """Text for a visible case, with the lines below it."""
        text = self.detail or self.reason
        return f"{text}:{program_output.indented(self.block)}" if self.block else text


RIGHT = RunVerdict(Verdict.PASS, share=FULL)


def failed(
    reason: str, detail: str = "", block: tuple[str, ...] = (), share: Fraction = NOTHING
) -> RunVerdict:
    """A run that is not as it should be."""
    return RunVerdict(Verdict.FAIL, reason, detail, block, share)


def judge_cases(item: RubricItem, evidence: Evidence, judge: Judge) -> CheckResult:
    """Judge the item's cases, each by ``judge``, which gets only runs that there are."""
    empty = nothing_to_judge(item, evidence)
    if empty is not None:
        return empty
    cases = cases_of_item(item, evidence)
    outcomes = tuple(_run_verdict(case, judge) for case in cases)
    judged = tuple(
        CaseVerdict(case, outcome.verdict, outcome.reason)
        for case, outcome in zip(cases, outcomes, strict=True)
    )
    skipped = next((case.skipped for case in cases if case.skipped), "")
    if skipped and all(outcome.verdict is not Verdict.ERROR for outcome in outcomes):
        verdicts = tuple((case.case.id, Verdict.SKIP) for case in cases)
        message = wording.printable(skipped)
        return CheckResult(item, Verdict.SKIP, NOTHING, message, case_verdicts=verdicts, needs_gpu=True)
    result = add_up_verdicts(item, judged, _message(cases, outcomes), findings=_findings(cases, outcomes))
    if item.partial == "per-number" and result.verdict is Verdict.FAIL:
        shares = zip(judged, (outcome.share for outcome in outcomes), strict=True)
        return replace(result, fraction=partial_credit(item, tuple(shares)))
    return result


def ended_early(run: ProgramRun) -> RunVerdict | None:
    """The outcome of a run that did not come to its end; None where it did."""
    if ended_by_itself(run):
        return None
    return RunVerdict(
        Verdict.FAIL,
        text_of("program-cut-short"),
        text_of("program-cut-short-because", reason=why_it_stopped(run)),
        kind=kind_of_ending(run),
        ending=name_of_ending(run),
    )


def _run_verdict(case: CaseEvidence, judge: Judge) -> RunVerdict:
    if case.error:
        return RunVerdict(Verdict.ERROR, case.error)
    if case.skipped:
        return RunVerdict(Verdict.SKIP, case.skipped)
    if case.program is None and case.findings:  # with its sizes there is no program
        return failed(stopped_by(case))
    if case.program is None:
        return RunVerdict(Verdict.ERROR, text_of("program-not-run"))
    return _unless_open(case, judge(case, case.program))


def _unless_open(case: CaseEvidence, outcome: RunVerdict) -> RunVerdict:
    """The outcome of a run, unless it may be due to what was not followed; a wrong array was there before."""
    if outcome.stands:
        return outcome
    if case.question and outcome.verdict is Verdict.FAIL and outcome.compared is None:
        return RunVerdict(Verdict.ERROR, case.question)
    undecided = FindingKind.WRONG_OUTPUT in dict(case.undecided)
    if undecided and outcome.verdict is not Verdict.PASS:
        return RunVerdict(verdict_where_given_up(case), no_verdict_reason(case))
    return outcome


def _message(cases: tuple[CaseEvidence, ...], outcomes: tuple[RunVerdict, ...]) -> str:
    """Message: the number of right cases, reasons of hidden failures, the first visible failure in full."""
    failing = [pair for pair in zip(cases, outcomes, strict=True) if pair[1].verdict is Verdict.FAIL]
    total = len(cases)
    if not failing:
        return text_of("all-right", count=total)
    shown = next((pair for pair in failing if is_visible(pair[0])), None)
    right = total - len(failing)
    sentences = []
    if total > 1:
        sentences.append(
            text_of("some-right", count=right, total=total) if right else text_of("none-right", total=total)
        )
    hidden = [outcome for case, outcome in failing if not is_visible(case)]
    if hidden and shown:
        sentences.append(text_of("hidden-fail-as-well", count=len(hidden)))
    elif hidden:
        sentences.append(text_of("hidden-fail-because", count=len(hidden), reason=hidden[0].reason))
    if shown is not None:
        sentences.append(case_sentence(*shown) if total > 1 else shown[1].full_text)
    return ". ".join([sentences[0], *map(capital, sentences[1:])])


def case_sentence(case: CaseEvidence, outcome: RunVerdict) -> str:
    """Sentence about a visible case that fails: its name, and its full text."""
    name, inputs = wording.printable(case.case.id), _inputs(case.case)
    if inputs:
        return text_of("in-case-of-sizes", case=name, sizes=inputs, sentence=outcome.full_text)
    return text_of("in-case", case=name, sentence=outcome.full_text)


def _inputs(case: Case) -> str:
    """Inputs of a visible run; empty where it had none."""
    parts = [f"{name}={extent}" for name, extent in dict((*case.sizes, *case.shape)).items()]
    if case.arguments:
        words = program_output.quoted(shlex.join(case.arguments), 60)
        parts.append(text_of("inputs-arguments", words=words))
    if case.stdin:
        parts.append(text_of("inputs-stdin", text=program_output.quoted(case.stdin, 40)))
    return ", ".join(parts)


def _findings(cases: tuple[CaseEvidence, ...], outcomes: tuple[RunVerdict, ...]) -> tuple[Finding, ...]:
    """One finding for each visible case that fails; of hidden ones, what ended them."""
    findings = []
    failing = [pair for pair in zip(cases, outcomes, strict=True) if pair[1].verdict is Verdict.FAIL]
    quoted = next((outcome for case, outcome in failing if is_visible(case)), None)
    quoted = quoted or next((outcome for _, outcome in failing), RIGHT)  # as in the item's message
    for case, outcome in failing:
        if is_visible(case):
            message = case_sentence(case, outcome) if len(cases) > 1 else outcome.full_text
            finding = Finding(outcome.kind, message, outcome.ending, case=case.case.id)
            findings.append(_with_map(finding, outcome.compared))
        elif outcome.kind is not FindingKind.WRONG_OUTPUT:
            reason = outcome.reason
            if reason != quoted.reason:
                reason = current().clause(Clause("in-hidden-case", (("sentence", reason),)))
            findings.append(Finding(outcome.kind, reason))
    return tuple(dict.fromkeys(findings))


def _with_map(finding: Finding, wrong: Comparison | None) -> Finding:
    """The finding with the first wrong element and the map of an array."""
    if wrong is None or wrong.first is None:
        return finding
    index = "".join(f"[{i}]" for i in wrong.first.index)
    return replace(
        finding,
        address=wording.printable(wrong.array) + index,
        wrong_map=wrong.wrong_map,
        map_cell=wrong.map_cell,
    )


MOST_STDERR_LINES = 5
"""Lines of standard error that are quoted."""

EXPLAINED_SIGNALS = (
    "SIGSEGV",
    "SIGBUS",
    "SIGABRT",
    "SIGFPE",
    "SIGILL",
    "SIGTRAP",
    "SIGPIPE",
    "SIGSYS",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGKILL",
)
"""Signals of which a text says what they mean."""

_THROWN = re.compile(
    r"^terminate called after throwing an instance of '(.+)'$(?:\n  what\(\):  (.*)$)?", re.MULTILINE
)
"""Message that the C++ library prints before it ends a program (libstdc++, ``vterminate.cc``)."""

LIMIT_TEXTS = {"memory": "memory-limit", "output-limit": "output-limit"}
"""The text of each limit that ends a program."""


def ended_by_itself(run: ProgramRun) -> bool:
    """True if the program came to its end."""
    return run.ending == "exit"


def why_it_stopped(run: ProgramRun) -> str:
    """Reason why a program did not come to its end, as a clause about it."""
    if run.reason is not None:
        return current().clause(run.reason)
    if run.ending == "time":
        return text_of("stopped-after", seconds=f"{run.seconds:.0f}")
    if run.ending == "signal":
        return uncaught_exception(run) or _signalled(run)
    if run.ending in LIMIT_TEXTS:
        return text_of(LIMIT_TEXTS[run.ending])
    return text_of("ended-otherwise", ending=program_output.safe_line(run.ending))


def _signalled(run: ProgramRun) -> str:
    name = signal_name(-run.returncode)
    if name in EXPLAINED_SIGNALS:
        return text_of("with-signal", reason=text_of(name.lower()), signal=name)
    return text_of("ended-by-signal", signal=name)


def uncaught_exception(run: ProgramRun) -> str | None:
    """Text of an uncaught exception, with type and text as the C++ library gives them; None without one."""
    if (run.ending, run.returncode) != ("signal", -signal.SIGABRT):
        return None
    thrown = list(_THROWN.finditer(program_output.decoded(run.stderr)))
    if not thrown:
        return None
    name, words = (program_output.safe_line(group or "", 100) for group in thrown[-1].groups())
    return text_of("uncaught-exception-with-words" if words else "uncaught-exception", type=name, words=words)


def name_of_ending(run: ProgramRun) -> str:
    """Ending of a run, as the `hazard` of its finding: as its record says, or by an exception."""
    return "exception" if uncaught_exception(run) is not None else run.ending


def kind_of_ending(run: ProgramRun) -> FindingKind:
    """Kind of the finding for such an ending in a grade."""
    if ended_by_itself(run):
        return FindingKind.WRONG_OUTPUT
    return FindingKind.TIMEOUT if run.ending == "time" else FindingKind.FAULT


def signal_name(number: int) -> str:
    """`SIGSEGV` for 11, and a text for a number without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return text_of("some-signal", number=number)


def last_lines_of_stderr(run: ProgramRun) -> tuple[str, ...]:
    """The last lines of standard error, safe to be shown."""
    lines = program_output.lines(program_output.decoded(run.stderr))[-MOST_STDERR_LINES:]
    return tuple(program_output.safe_line(line, 100) for line in lines)
