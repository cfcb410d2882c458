"""`exit`: the program comes to its end by itself, with the status that it should have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.checks.check import Check, key
from grader.checks.program_cases import (
    RIGHT,
    RunVerdict,
    ended_by_itself,
    judge_cases,
    kind_of_ending,
    last_lines_of_stderr,
    why_it_stopped,
)
from grader.messages import text_of
from grader.model import Verdict

if TYPE_CHECKING:
    from grader.model import CheckResult, Evidence, ProgramRun


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitCheck(Check):
    """It ends by itself, with this status."""

    name: ClassVar[str] = "exit"
    title: ClassVar[str] = "how it ends"
    kinds: ClassVar[tuple[str, ...]] = ("program",)
    partial: ClassVar[tuple[str, ...]] = ("per-case",)
    status: int = key("Status", 0)

    def judge(self, evidence: Evidence) -> CheckResult:
        """Judge how the runs of the item's cases ended; the last lines of standard error are quoted."""
        return judge_cases(self.item, evidence, lambda _, run: _judge(run, self.status))


def _judge(run: ProgramRun, status: int) -> RunVerdict:
    if ended_by_itself(run) and run.returncode == status:
        return RIGHT
    if ended_by_itself(run):
        reason = text_of("wrong-status", status=status)
        detail = text_of("other-status", actual=run.returncode, status=status)
    else:
        reason = text_of("program-cut-short")
        detail = text_of("program-cut-short-because", reason=why_it_stopped(run))
    words = last_lines_of_stderr(run)
    if words:
        detail = text_of("with-stderr", sentence=detail)
    ending = "" if ended_by_itself(run) else run.ending
    return RunVerdict(Verdict.FAIL, reason, detail, words, kind=kind_of_ending(run), ending=ending)
