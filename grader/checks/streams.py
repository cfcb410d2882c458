"""`streams`: a program gives its work to several streams, copies and kernels to each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.checks.check import Check, key
from grader.checks.program_cases import RIGHT, RunVerdict, ended_early, failed, judge_cases
from grader.messages import text_of
from grader.model import Verdict

if TYPE_CHECKING:
    from grader.model import CaseEvidence, CheckResult, Evidence, ProgramRun


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsCheck(Check):
    """At ``least`` so many streams are given asynchronous copies and kernels, which may overlap."""

    name: ClassVar[str] = "streams"
    title: ClassVar[str] = "work in several streams"
    kinds: ClassVar[tuple[str, ...]] = ("program", "function")
    partial: ClassVar[tuple[str, ...]] = ("per-case",)
    least: int = key("Whole", 2)

    def judge(self, evidence: Evidence) -> CheckResult:
        """Judge how many streams the runs of the item's cases gave work."""
        return judge_cases(self.item, evidence, lambda case, run: _judge(case, run, self.least))


def _judge(case: CaseEvidence, run: ProgramRun, least: int) -> RunVerdict:
    early = ended_early(run)
    if early is not None:
        return early
    if case.streams is None:
        return RunVerdict(Verdict.ERROR, text_of("streams-not-counted"))
    if case.streams >= least:
        return RIGHT
    return failed(text_of("too-few-streams"), text_of("streams-counted", count=case.streams, least=least))
