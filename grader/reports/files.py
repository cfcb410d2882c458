"""The files that are written of a submission and of a class: their names, and what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports import class_page, class_table, grade_json, html, junit, platforms, record_json
from grader.reports.audience import student_view
from grader.reports.excerpts import NONE_FURTHER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grader.model import Grade
    from grader.reports.audience import Released
    from grader.reports.class_page import SourceOf
    from grader.reports.excerpts import Further

    Text = str | Iterable[str]
    """A file's text, or its parts one after the other, where the whole is large."""


def of_submission(
    grade: Grade,
    released: Released = "",
    *,
    source: Sequence[str] = (),
    further: Further = NONE_FURTHER,
    trace: bytes = b"",
) -> dict[str, str]:
    """The files of one submission; ``source`` are its lines to quote from, with those of ``further`` files.

    ``trace`` is that of a block (`trace_files.packed`).

    record.json, grade.json and staff.html are the staff's. The others show what a student may see: what is
    ``released`` by now; Gradescope knows the day by itself.
    """
    sources = {grade.submission_id: source}
    return {
        "record.json": record_json.dump(grade),
        "grade.json": grade_json.dump(grade),
        "junit.xml": junit.render([student_view(grade, released)], "strict", sources, further),
        "results.json": platforms.gradescope(grade, source, further=further),
        "report.html": html.render(
            grade, source_lines=source, further=further, released=released, trace=trace
        ),
        "staff.html": html.render(grade, audience="staff", source_lines=source, further=further, trace=trace),
    }


def of_class(
    grades: Sequence[Grade], source_of: SourceOf | None = None, *, similar: bool = False
) -> dict[str, Text]:
    """The files of a class, which are for its staff.

    ``source_of`` gives a submission's lines to quote, ``similar`` says whether there is a page of those that
    are alike.
    """
    return {
        "junit.xml": junit.parts(grades),
        "gradebook.csv": class_table.gradebook(grades),
        "index.html": class_page.render(grades, source_of=source_of, similar=similar),
    }
