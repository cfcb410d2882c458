"""Grades of a whole class in memory: without their evidence, and what many of them have alike only once.

A grade with its evidence takes 300 kB. What the reports of a class show of it is a tenth of that, so a class
is never held with its evidence: code that needs evidence reads one record at a time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from grader.model import Build, Evidence

if TYPE_CHECKING:
    from collections.abc import Hashable

    from grader.model import CaseGrade, CheckResult, Grade, ItemGrade, StudentResults

_Value = TypeVar("_Value", bound="Hashable")


class Slimming:
    """Makes grades of one class small; what it gives must not be written in a grade's place."""

    def __init__(self) -> None:
        self._shared: dict[Hashable, Hashable] = {}

    def __call__(self, grade: Grade) -> Grade:
        """The grade as the reports of a class need it: of its evidence the build's digest is left."""
        return replace(
            grade,
            assignment_id=self._once(grade.assignment_id),
            assignment_title=self._once(grade.assignment_title),
            assignment_digest=self._once(grade.assignment_digest),
            device=self._once(grade.device),
            toolkit=self._once(grade.toolkit),
            items=tuple(map(self._item, grade.items)),
            cases=tuple(map(self._case, grade.cases)),
            cause=self._once(grade.cause),
            for_student=grade.for_student and self._for_student(grade.for_student),
            advice=self._once(grade.advice),
            versions=self._once(grade.versions),
            words=self._once(grade.words),
            seconds=tuple((self._once(stage), seconds) for stage, seconds in grade.seconds),
            evidence=self._once(_digest_of(grade.evidence)) if grade.evidence else None,
            trace=None,
        )

    def _item(self, item: ItemGrade) -> ItemGrade:
        """An item without its options, which reports have no use for and a record does not hold either."""
        return self._once(replace(item, result=self._result(item.result)))

    def _for_student(self, shown: StudentResults) -> StudentResults:
        results = tuple(self._once(self._result(result)) for result in shown.results)
        return replace(shown, results=results, cause=self._once(shown.cause))

    def _result(self, result: CheckResult) -> CheckResult:
        return replace(
            result,
            item=self._once(replace(result.item, options=())),
            case_verdicts=self._once(result.case_verdicts),
            findings=tuple(map(self._once, result.findings)),
            hint=self._once(result.hint),
            message=self._once(result.message),
        )

    def _case(self, case: CaseGrade) -> CaseGrade:
        """A case; what it has for itself is its time."""
        return replace(
            case,
            case=self._once(case.case),
            counters=self._once(case.counters),
            max_error=self._once(case.max_error),
            error_bound=self._once(case.error_bound),
            elements=self._once(case.elements),
            max_relative_error=self._once(case.max_relative_error),
        )

    def _once(self, value: _Value) -> _Value:
        """An equal value that an earlier grade had, or else this one; 0 and 0.0 are two."""
        return self._shared.setdefault((type(value), value), value)  # type: ignore[return-value] # equal


def _digest_of(evidence: Evidence) -> Evidence:
    return Evidence(evidence.backend, Build(evidence.build.ok, digest=evidence.build.digest))
