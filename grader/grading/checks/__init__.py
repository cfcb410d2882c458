"""The checks: one class per kind of rubric item, one file per subject, and the table of them.

How `needs` works. An item is judged only where everything it needs has passed, with full marks:

- a need that failed makes the item fail, worth nothing: the rubric asked for one before the other;
- else a need that is in error makes it an error: we cannot know, and a student must not pay for that;
- else a need that is skipped makes it skipped: its points are set apart like those of the need.

An item that is skipped for itself (no GPU, no case to look at) stays so, whatever it needs: else the maximum
of points would differ between two students graded side by side.

A failed need outranks the others because no repair of ours could still earn the points. What the item saw
is kept, cases and findings: the race that is not judged is often why the result is wrong.

A penalty takes off for findings, not for what could not be examined: it costs nothing where the submission
does not build, or where something that it needs has failed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.errors import OurError
from grader.grading.checks import secrecy
from grader.grading.checks.answers import AnswersCheck
from grader.grading.checks.array import ArrayCheck, KernelOutputCheck
from grader.grading.checks.cases import FULL, NOTHING
from grader.grading.checks.compile import CompileCheck
from grader.grading.checks.hazards import MemoryCheck, RacesCheck
from grader.grading.checks.host import ExitCheck, HostCheck, StreamsCheck
from grader.grading.checks.output import OutputCheck
from grader.grading.checks.speedup import SpeedupCheck
from grader.grading.checks.structure import StructureCheck
from grader.grading.checks.text import TextCheck
from grader.grading.checks.traffic import TrafficCheck
from grader.grading.checks.wording import printable
from grader.model import Verdict
from grader.model.messages import text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.grading.checks.check import Check
    from grader.model import CheckResult, Evidence, RubricItem

CHECKS: tuple[type[Check], ...] = (
    CompileCheck,
    OutputCheck,
    HostCheck,
    RacesCheck,
    MemoryCheck,
    TrafficCheck,
    StructureCheck,
    SpeedupCheck,
    ExitCheck,
    TextCheck,
    ArrayCheck,
    KernelOutputCheck,
    StreamsCheck,
    AnswersCheck,
)
"""Every check there is; a new one is its own file and a line here."""

BY_NAME = {check.name: check for check in CHECKS}

BLOCKING = (Verdict.FAIL, Verdict.ERROR, Verdict.SKIP)
"""The verdicts of a need that decide for the item, the strongest first."""


def run_checks(
    rubric: tuple[RubricItem, ...],
    evidence: Evidence,
    judge: Callable[[RubricItem, Evidence], CheckResult] | None = None,
) -> tuple[CheckResult, ...]:
    """Judge every item, by ``judge`` if it is given; the results are in the order of the rubric.

    Raises:
        OurError: an item names a check that does not exist, or needs an item that does not (a spec
            that was accepted has neither), or itself.

    """
    results: dict[str, CheckResult] = {}
    waiting = list(rubric)
    while waiting:
        ready = [item for item in waiting if all(need in results for need in item.needs)]
        if not ready:
            stuck = ", ".join(item.id for item in waiting)
            raise OurError(f"rubric items wait for each other or for items that do not exist: {stuck}")
        for item in ready:
            results[item.id] = _with_staff_message(
                _after_needs((judge or _judge_item)(item, evidence), results), results
            )
        waiting = [item for item in waiting if item.id not in results]
    return _with_errors_of_compiler(tuple(results[item.id] for item in rubric), evidence)


def results_for_student(rubric: tuple[RubricItem, ...], evidence: Evidence) -> tuple[CheckResult, ...]:
    """Results of `run_checks`, in sentences that reveal one bit an item of hidden cases (`secrecy`)."""
    return run_checks(rubric, evidence, _judge_for_student)


def _with_errors_of_compiler(results: tuple[CheckResult, ...], evidence: Evidence) -> tuple[CheckResult, ...]:
    """The results, of which the first says why nothing was built where no item asks for just that."""
    judges_build = any(result.item.check == CompileCheck.name for result in results)
    if judges_build or evidence.build.ok or evidence.build.error or not results:
        return results
    first, *others = results
    return (replace(first, findings=evidence.build.findings), *others)


def check_of(item: RubricItem) -> Check:
    """The check of a rubric item; raises OurError where there is none of its name."""
    if item.check not in BY_NAME:
        raise OurError(f"rubric item {item.id} names the check {item.check}; there are {', '.join(BY_NAME)}")
    return BY_NAME[item.check].from_item(item)


def _judge_item(item: RubricItem, evidence: Evidence) -> CheckResult:
    check = check_of(item)
    result = check.judge(secrecy.visible_evidence(check, check.considered(evidence)))
    if item.penalty and not evidence.build.ok and item.check != "compile":
        return replace(result, fraction=FULL)
    return result


def _judge_for_student(item: RubricItem, evidence: Evidence) -> CheckResult:
    """The item's result as its student may read it; with ``hidden_lines`` as staff read it."""
    whole = _judge_item(item, evidence)
    if check_of(item).shows_hidden_lines or not secrecy.has_hidden_cases(evidence):
        return whole
    visible = _judge_item(item, secrecy.visible_part(evidence))
    certain = secrecy.failing_where_in_doubt(whole, evidence)
    strict = whole if certain is evidence else _judge_item(item, certain)
    return secrecy.for_student(whole, visible, strict, evidence)


def _with_staff_message(result: CheckResult, results: dict[str, CheckResult]) -> CheckResult:
    """The result with what the staff have to say about it; nothing where the item was not judged."""
    item = result.item
    words = {Verdict.PASS: item.message_pass, Verdict.FAIL: item.message_fail}.get(result.verdict, "")
    judged = all(results[need].verdict is Verdict.PASS for need in item.needs)
    return replace(result, message_staff=words) if words and judged else result


def _after_needs(result: CheckResult, results: dict[str, CheckResult]) -> CheckResult:
    """The result, unless something that the item needs has not passed."""
    if result.verdict is Verdict.SKIP:
        return result
    for verdict in BLOCKING:
        for need in result.item.needs:
            if results[need].verdict is verdict:
                return replace(
                    result,
                    verdict=verdict,
                    fraction=FULL if result.item.penalty else NOTHING,
                    message=_not_judged(results[need].item, verdict),
                    hint="",
                    judged=False,
                    is_question=results[need].is_question,
                )
    return result


def _not_judged(need: RubricItem, verdict: Verdict) -> str:
    """Reason why an item was not judged, with the title of what it needs, which is what students see."""
    name = printable(need.title or need.id)
    because = {Verdict.SKIP: "not-judged-because-skipped", Verdict.ERROR: "not-judged-because-error"}
    return text_of(because.get(verdict, "not-judged-until"), need=name)
