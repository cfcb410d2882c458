"""The record of a grade that no change of the code may change: decisions, places and counters."""

from __future__ import annotations

from dataclasses import fields
from itertools import groupby
from typing import TYPE_CHECKING

from grader.model import Counters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.model import CaseGrade, Finding, Grade, ItemGrade


def grade_record(grade: Grade) -> str:
    """Verdicts, points, lines of findings and counters of a grade as text, without any sentence."""
    lines = [f"{grade.verdict} {grade.score} of {grade.max_score}, {grade.skipped_points} apart"]
    if grade.cause:
        lines.append(f"first: {grade.cause.code} line {grade.cause.line}")
    for item in grade.items:
        lines.extend(_item_lines(item))
    lines.extend(_table(grade.cases))
    return "\n".join(lines) + "\n"


def _item_lines(item: ItemGrade) -> Iterator[str]:
    result = item.result
    yield f"{result.item.id}: {result.verdict} {item.points}"
    for verdict in dict.fromkeys(verdict for _, verdict in result.case_verdicts):
        if verdict is not result.verdict:
            names = [name for name, own in result.case_verdicts if own is verdict]
            yield f"  {verdict}: {' '.join(names)}"
    for outline, findings in groupby(result.findings, _outline):
        places = ", ".join(f"{finding.address} {finding.case}".strip() for finding in findings)
        yield f"  {outline}: {places}".rstrip(" :")


def _outline(finding: Finding) -> str:
    """All of a finding but its element and its case: what follows it with the same is on its line."""
    where = "/".join(str(line) for line in (finding.line, finding.other_line) if line is not None)
    parts = [finding.kind, finding.hazard, f"{finding.file}:{where}" if finding.file or where else ""]
    return " ".join(part for part in (*parts, f"{finding.severity} × {finding.count}") if part)


def _table(cases: Sequence[CaseGrade]) -> Iterator[str]:
    """A column for each case, a row for its verdict and one for each counter that is not zero everywhere."""
    rows = [("", *(case.case.id for case in cases)), ("verdict", *(str(case.verdict) for case in cases))]
    for field in fields(Counters):
        numbers = [getattr(case.counters, field.name) for case in cases]
        if any(numbers):
            rows.append((field.name, *map(str, numbers)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *values in rows:
        cells = (value.rjust(width) for value, width in zip(values, widths[1:], strict=True))
        yield " ".join((name.ljust(widths[0]), *cells))
