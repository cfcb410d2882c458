"""What a student may see of a grade.

A hidden case or item shows its title and its verdict. Its shape, values, counters and speed, measured or
estimated, would give it away. The checks write their messages for students to begin with (they quote visible
cases only); this is where everything else is left out, and where a message that names a hidden case all the
same is caught.

``after_due_date`` and ``after_published`` count as hidden until somebody says that they are released: a
report does not know whether the day has come. What is ``hidden`` stays hidden for good. What items say was
written when the cases were hidden; `grader.batch.rescore` has it said anew where evidence was kept.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from grader.messages import text_of
from grader.model import CaseGrade, Cause, Counters, Finding, Grade, ItemGrade, Named, Verdict, Visibility
from grader.reports.wording import in_its_words

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Released: TypeAlias = Literal["", "due_date", "published"]
"""What has come since the work was graded; when grades are published, the due date is over."""

SHOWN: dict[Released, frozenset[Visibility]] = {
    "": frozenset({Visibility.VISIBLE}),
    "due_date": frozenset({Visibility.VISIBLE, Visibility.AFTER_DUE_DATE}),
    "published": frozenset({Visibility.VISIBLE, Visibility.AFTER_DUE_DATE, Visibility.AFTER_PUBLISHED}),
}
"""What a student may see when."""

FAILED = {Verdict.FAIL, Verdict.ERROR}
WORDS = {
    Verdict.PASS: "item-passes",
    Verdict.FAIL: "item-fails",
    Verdict.SKIP: "item-is-skipped",
    Verdict.ERROR: "item-is-in-error",
}
"""The texts of an item of which nothing else may be told; ``-hidden`` where its cases are hidden."""


@in_its_words
def student_view(grade: Grade, released: Released = "") -> Grade:
    """Leave out what is hidden, the seeds, and which tools looked; scores and verdicts stay as they are.

    Hidden cases lose their ids too, which often tell the shape: they become ``hidden-1``, ``hidden-2``…
    """
    shown = SHOWN[released]
    hidden = [case.case.id for case in grade.cases if case.case.visibility not in shown]
    alias = {case_id: f"hidden-{number}" for number, case_id in enumerate(hidden, start=1)}
    speed_is_hidden = _speed_is_hidden(grade, shown)
    return replace(
        grade,
        seed=0,
        items=tuple(_item(item, alias, shown) for item in grade.items),
        cases=tuple(_case(case, alias) for case in grade.cases),
        timing=None if speed_is_hidden else grade.timing,
        estimate=None if speed_is_hidden else grade.estimate,
        witnesses=(),
        error=_error(grade, alias),
        evidence=None,
        cause=_cause(grade, alias, shown),
    )


def _error(grade: Grade, alias: Mapping[str, str]) -> str:
    """What may be told of errors of ours: those of a hidden case name instructions that the kernel chose.

    One that names a hidden case, such as the oracle's, may say of what shape it is.
    """
    if _names_hidden(grade.error, alias):
        return text_of("grader-error-hidden")
    broken = {case.case.id for case in grade.cases if case.verdict is Verdict.ERROR}
    if not grade.error or not broken & set(alias):
        return grade.error
    return text_of("grader-error" if broken - set(alias) else "grader-error-hidden")


def _cause(grade: Grade, alias: Mapping[str, str], shown: Collection[Visibility]) -> Cause | None:
    """What explains the rest, unless its item is hidden or it quotes a hidden case."""
    cause = grade.cause
    if cause is None or _names_hidden(cause.message + cause.hint, alias):
        return None
    items = {item.result.item.id: item.result.item for item in grade.items}
    return cause if cause.item in items and items[cause.item].visibility in shown else None


def _speed_is_hidden(grade: Grade, shown: Collection[Visibility]) -> bool:
    """Tell whether an item that judges the speed may not be looked into: the numbers would tell it."""
    items = [item.result.item for item in grade.items]
    return any(item.check == "speedup" and item.visibility not in shown for item in items)


def _case(grade: CaseGrade, alias: Mapping[str, str]) -> CaseGrade:
    case = replace(grade.case, seed=0)
    if case.id not in alias:
        return replace(grade, case=case)
    bare = replace(
        case, id=alias[case.id], shape=(), inputs="", arguments=(), stdin="", kernel="", files=(), sizes=()
    )
    return CaseGrade(bare, grade.verdict, None, None, 0.0, Counters(), too_much_work=grade.too_much_work)


def _item(grade: ItemGrade, alias: Mapping[str, str], shown: Collection[Visibility]) -> ItemGrade:
    result = grade.result
    verdicts: Named[Verdict] = tuple(
        (alias.get(case, case), verdict) for case, verdict in result.case_verdicts
    )
    item = replace(result.item, cases=tuple(alias.get(name, name) for name in result.item.cases), options=())
    findings = tuple(
        _without_withheld_steps(finding, shown) for finding in result.findings if finding.case not in alias
    )
    result = replace(result, item=item, findings=findings, case_verdicts=verdicts)
    if item.visibility not in shown:
        message = text_of(WORDS[result.verdict])
        item = replace(item, hint="")
        result = replace(result, item=item, message=message, message_staff="", hint="", findings=())
        result = replace(result, case_verdicts=(), amounts=None, estimated=False)
    elif _names_hidden(result.message + result.hint, alias):
        message = text_of(f"{WORDS[result.verdict]}-hidden")
        result = replace(result, message=message, hint=item.hint)
    return replace(grade, result=result)


def _without_withheld_steps(finding: Finding, shown: Collection[Visibility]) -> Finding:
    """The finding without an explanation that waits for the day when grades are published."""
    if not finding.withheld or Visibility.AFTER_PUBLISHED in shown:
        return finding
    return replace(finding, steps=())


def _names_hidden(text: str, alias: Mapping[str, str]) -> bool:
    """Tell whether ``text`` quotes a hidden case; ids are often plain words, so the quotes matter."""
    return any(case in text and re.search(rf"[`'\"]{re.escape(case)}[`'\"]", text) for case in alias)
