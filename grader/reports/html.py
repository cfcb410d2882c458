"""A page for a browser per submission: one file, and no request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.messages import templates_of, text_of
from grader.reports import excerpts, pictures, submission_page, text, trace_files, wording
from grader.reports.audience import FAILED, student_view
from grader.reports.pages import asset, page
from grader.reports.wording import in_its_words
from grader.text import capital

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.model import Grade, ItemGrade
    from grader.reports.audience import Released
    from grader.reports.text import Audience

MOST_SAMPLES = 12
"""Wrong elements in the table below a heat map."""
MOST_NAMED = 2
"""Cases whose names say more than that all fail."""


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
    shown = student_view(grade, released) if audience == "student" else grade
    return page(
        "submission.html.j2",
        style=asset("submission.css") + (asset("watch.css") if embedded else ""),
        script=asset("submission.js")
        + asset("highlight.js")
        + (asset("watch.js") if embedded else "")
        + (asset("among.js") if audience == "staff" else ""),
        preliminary=preliminary,
        among_where=templates_of(["among-where"])["among-where"],
        heading=f"{shown.assignment_title}: {shown.submission_file or shown.submission_id}",
        audience=audience,
        who=wording.who(grade),
        failing_cases=lambda item: _failing_cases(grade, shown, item),
        most_advice=text.MOST_ADVICE,
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
    "number": pictures.shown,
    "example_tables": submission_page.example_tables,
    "score": wording.score,
    "adjustment": wording.adjustment,
    "counted": wording.counted,
    "of_item": wording.of_item,
    "title": text.title,
    "apart": text.apart,
    "capital": capital,
    "untold_repair": text.untold_repair,
    "advised": text.advised,
}
"""Functions with which the template tells of a record."""


def _failing_cases(grade: Grade, shown: Grade, item: ItemGrade) -> str:
    """In which cases an item fails: all, or their names with the hidden ones counted; empty for none.

    Questions are cases of their own, and named where they are told of.
    """
    if item.result.item.check == text.ANSWERS:
        return ""
    failed = {name for name, verdict in item.result.case_verdicts if verdict in FAILED}
    ids = {case.case.id for case in grade.cases}  # a hidden case has another one where it is shown
    named = [text.case_name(case) for case in shown.cases if case.case.id in failed & ids]
    hidden = len(failed - ids)
    if not hidden and len(failed) == len(item.result.case_verdicts) > MOST_NAMED:
        return text_of("cases-all", count=len(failed))
    names = [*named, *([text_of("hidden-cases", count=hidden)] if hidden else [])]
    return text_of("cases", names="; ".join(names)) if names else ""
