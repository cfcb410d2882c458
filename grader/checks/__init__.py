"""The checks: one class per kind of rubric item, one file per subject, and the table of them.

How `needs` works. An item is judged only where everything it needs has passed, with full marks:

- a need that failed makes the item fail, worth nothing: the rubric asked for one before the other;
- else a need that is in error makes it an error: we cannot know, and a student must not pay for that;
- else a need that is skipped makes it skipped: its points are set apart like those of the need.

An item that is skipped for itself (no GPU, no case to look at) stays so, whatever it needs: else the maximum
of points would differ between two students graded side by side.

A failed need outranks the others because no repair of ours could still earn the points. What the item saw
is kept, cases and findings: the race that is not judged is often why the result is wrong.

A penalty takes off what was found, not what could not be looked at: it costs nothing where the submission
does not build, or where something that it needs has failed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.checks import secrecy
from grader.checks.answers import AnswersCheck
from grader.checks.array import ArrayCheck, KernelOutputCheck
from grader.checks.cases import FULL, NOTHING
from grader.checks.compile import CompileCheck
from grader.checks.hazards import MemoryCheck, RacesCheck
from grader.checks.host import ExitCheck, HostCheck, StreamsCheck
from grader.checks.output import OutputCheck
from grader.checks.speedup import SpeedupCheck
from grader.checks.structure import StructureCheck
from grader.checks.text import TextCheck
from grader.checks.traffic import TrafficCheck
from grader.checks.wording import printable
from grader.errors import OurError
from grader.messages import text_of
from grader.model import Verdict

if TYPE_CHECKING:
    from grader.checks.check import Check
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


def run_checks(rubric: tuple[RubricItem, ...], evidence: Evidence) -> tuple[CheckResult, ...]:
    """Judge every item; the results are in the order of the rubric, whatever needs what.

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
                _after_needs(_judge_item(item, evidence), results), results
            )
        waiting = [item for item in waiting if item.id not in results]
    return _with_errors_of_compiler(tuple(results[item.id] for item in rubric), evidence)


def _with_errors_of_compiler(results: tuple[CheckResult, ...], evidence: Evidence) -> tuple[CheckResult, ...]:
    """The results, of which the first says why nothing was built where no item asks for just that."""
    asked = any(result.item.check == CompileCheck.name for result in results)
    if asked or evidence.build.ok or evidence.build.error or not results:
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
                )
    return result


def _not_judged(need: RubricItem, verdict: Verdict) -> str:
    """Why an item was not judged, with the title of what it needs, which is what students see."""
    name = printable(need.title or need.id)
    because = {Verdict.SKIP: "not-judged-because-skipped", Verdict.ERROR: "not-judged-because-error"}
    return text_of(because.get(verdict, "not-judged-until"), need=name)
