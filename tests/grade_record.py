"""The record of a grade that no change of the code may change: decisions, places and counters."""

from __future__ import annotations

from dataclasses import astuple, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.model import CaseGrade, Finding, Grade, ItemGrade


def grade_record(grade: Grade) -> str:
    """Verdicts, points, lines of findings and counters of a grade as text, without any sentence."""
    lines = [f"{grade.verdict} {grade.score} of {grade.max_score}, {grade.skipped_points} apart"]
    if grade.cause:
        lines.append(f"first: {grade.cause.code} line {grade.cause.line}")
    for item in grade.items:
        lines.extend(_item_lines(item))
    lines.extend(_case_line(case) for case in grade.cases)
    return "\n".join(lines) + "\n"


def _item_lines(item: ItemGrade) -> Iterator[str]:
    result = item.result
    yield f"{result.item.id}: {result.verdict} {item.points}"
    for name, verdict in result.case_verdicts:
        if verdict is not result.verdict:
            yield f"  {name}: {verdict}"
    for finding in result.findings:
        yield f"  {_finding_line(finding)}"


def _finding_line(finding: Finding) -> str:
    where = [str(line) for line in (finding.line, finding.other_line) if line is not None]
    parts = [finding.kind, finding.hazard, f"{finding.file}:{'/'.join(where)}", finding.address, finding.case]
    return " ".join(part for part in (*parts, f"{finding.severity} × {finding.count}") if part)


def _case_line(case: CaseGrade) -> str:
    counters = zip(fields(case.counters), astuple(case.counters), strict=True)
    numbers = " ".join(f"{field.name}={number}" for field, number in counters if number)
    return f"case {case.case.id}: {case.verdict} {numbers}".rstrip()
