"""A page for a browser per submission: one file, and no request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.base.text import capital
from grader.model.messages import templates_of
from grader.reports import excerpts, pictures, submission_page, trace_files, wording
from grader.reports.pages import asset, page
from grader.reports.selection import selected
from grader.reports.wording import in_its_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.model import Grade
    from grader.reports.audience import Released
    from grader.reports.selection import Audience

MOST_SAMPLES = 12
"""Wrong elements in the table below a heat map."""


@in_its_words
def render(
    grade: Grade,
    *,
    audience: Audience = "student",
    source_lines: Sequence[str] = (),
    further: excerpts.Further = excerpts.NONE_FURTHER,
    released: Released = "",
    trace: bytes = b"",
    preliminary: bool = False,
) -> str:
    """Write the page of one submission; ``released`` is what students may see by now.

    ``trace`` is the trace that is kept beside the grade (`grader.reports.trace_files.packed`). A page is
    ``preliminary`` where grading will look at more than what is graded here.
    """
    embedded = trace_files.embedded(trace)
    shown = selected(grade, audience, released)
    shown_grade = shown.grade
    return page(
        "submission.html.j2",
        style=asset("submission.css") + (asset("watch.css") if embedded else ""),
        script=asset("submission.js")
        + asset("highlight.js")
        + (asset("watch.js") if embedded else "")
        + (asset("among.js") if audience == "staff" else ""),
        preliminary=preliminary,
        among_where=templates_of(["among-where"])["among-where"],
        heading=f"{shown_grade.assignment_title}: {shown_grade.submission_file or shown_grade.submission_id}",
        audience=audience,
        who=wording.submission_label(grade),
        most_samples=MOST_SAMPLES,
        jump_where=templates_of(["jump-where"])["jump-where"],
        trace=embedded,
        embedded=(embedded.script_hash, embedded.style_hash) if embedded else None,
        **submission_page.view(
            grade, shown, excerpts.Sources(grade.submission_file, source_lines, further), embedded
        ),
        **_TELLING,
    )


_TELLING = {
    "map_is_telling": excerpts.says_something,
    "map_legend": excerpts.legend,
    "map_rows": excerpts.drawing,
    "number": pictures.table_number,
    "example_tables": submission_page.example_tables,
    "score": wording.score,
    "adjustments": wording.adjustments,
    "not_graded": wording.not_graded,
    "counted": wording.counted,
    "of_item": wording.of_item,
    "capital": capital,
}
"""Functions with which the template describes a record."""
