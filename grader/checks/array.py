"""`array`: an ``.npy`` file that the program wrote holds what the oracle computes.

The file was compared before (`grader.program_outputs`): a program's own word about its result counts nothing
here. A file that is not there, or no such array, is a finding about the output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.checks import wording
from grader.checks.cases import option
from grader.checks.output import element_sentence
from grader.checks.program_cases import RIGHT, Outcome, ended_early, failed, judge_cases
from grader.model import FindingKind, Verdict

if TYPE_CHECKING:
    from grader.model import CaseEvidence, CheckResult, Evidence, ProgramRun, RubricItem


def check(item: RubricItem, evidence: Evidence) -> CheckResult:
    """Judge the array that the runs of the item's cases left."""
    output = str(option(item, "output"))
    return judge_cases(item, evidence, lambda case, run: _judge(case, run, output))


def _judge(case: CaseEvidence, run: ProgramRun, output: str) -> Outcome:
    early = ended_early(run)
    if early is not None:
        return early
    about_it = (found for found in case.findings if found.address == output)
    malformed = next((found for found in about_it if found.kind is FindingKind.WRONG_OUTPUT), None)
    if malformed is not None:
        return failed(f"there is no array `{output}` to look at", wording.printable(malformed.message))
    found = next((comparison for comparison in case.comparisons if comparison.array == output), None)
    if found is None:
        return Outcome(Verdict.ERROR, f"no array `{output}` was compared")
    if not found.wrong:
        return RIGHT
    explained = f"; {found.explanation}" if found.explanation else ""
    return failed(found.explanation or f"`{output}` is wrong", element_sentence(found) + explained)
