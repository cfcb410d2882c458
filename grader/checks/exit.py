"""`exit`: the program comes to its end by itself, with the status that it should have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.checks import endings
from grader.checks.cases import option
from grader.checks.program_cases import RIGHT, Outcome, judge_cases
from grader.model import Verdict

if TYPE_CHECKING:
    from grader.model import CheckResult, Evidence, ProgramRun, RubricItem


def check(item: RubricItem, evidence: Evidence) -> CheckResult:
    """Judge how the runs of the item's cases ended; the last lines of standard error are quoted."""
    status = int(option(item, "status", 0))
    return judge_cases(item, evidence, lambda _, run: _judge(run, status))


def _judge(run: ProgramRun, status: int) -> Outcome:
    if endings.by_itself(run) and run.returncode == status:
        return RIGHT
    if endings.by_itself(run):
        reason = f"the program does not end with status {status}"
        why = f"the program ends with status {run.returncode}; expected {status}"
    else:
        reason, why = endings.EARLY, f"{endings.EARLY}: {endings.stopped(run)}"
    words = endings.last_words(run)
    detail = f"{why}. The end of what it printed to standard error" if words else why
    ending = "" if endings.by_itself(run) else run.ending
    return Outcome(Verdict.FAIL, reason, detail, words, kind=endings.kind(run), ending=ending)
