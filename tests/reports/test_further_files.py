"""Findings in files beside the one that was graded: every report quotes the lines of those files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.reports import html, junit, platforms, text
from tests.reports.sample_grades import SOURCE, missing_barrier, with_staff_texts

if TYPE_CHECKING:
    from grader.model import Grade

LINE = "    b_tile[threadIdx.x] = A_tile[3][5];"
FURTHER = {"b.cu": [f"// line {number}" for number in range(1, 9)] + [LINE, "// the last"]}


def in_b() -> Grade:
    """A race whose lines are those of `b.cu`."""
    grade = missing_barrier()
    items = []
    for item in grade.items:
        findings = tuple(replace(f, file="b.cu", other_line=None) for f in item.result.findings)
        items.append(replace(item, result=replace(item.result, findings=findings)))
    return with_staff_texts(replace(grade, items=tuple(items)))


def test_lines_of_a_further_file_are_quoted() -> None:
    """They are quoted in each report, and never the same line of the graded file."""
    grade, code = in_b(), LINE.strip()
    own = {grade.submission_id: SOURCE}
    pages = {
        "text": text.render(grade, source_lines=SOURCE, further=FURTHER).plain,
        "html": html.render(grade, source_lines=SOURCE, further=FURTHER),
        "junit": junit.render([grade], "strict", own, FURTHER),
        "gradescope": platforms.gradescope(grade, SOURCE, further=FURTHER),
        "prairielearn": platforms.prairielearn(grade, SOURCE, FURTHER),
    }
    assert [name for name, page in pages.items() if code not in page] == []
    assert SOURCE[8].strip() not in pages["text"]


@pytest.mark.parametrize("further", [{}, {"b.cu": []}, {"b.cu": ["// one line"]}, {"c.cu": [LINE] * 20}])
def test_what_is_not_there_is_not_quoted(further: dict[str, list[str]]) -> None:
    """A file that was not kept, that is shorter than the line, or another one."""
    shown = text.render(in_b(), source_lines=SOURCE, further=further).plain
    assert "b.cu:9" in shown
    assert LINE.strip() not in shown
    assert SOURCE[8].strip() not in shown
