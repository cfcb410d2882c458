"""Pages for a browser: one per submission, and one for the class. One file each, no script, no request.

The pages are templates, in the folder beside this file, and whatever a template fills in is escaped. All text
is made visible (`grader.text`) as well. The page forbids itself scripts and requests by a content security
policy, should anything slip through.
"""

from __future__ import annotations

from functools import cache
from textwrap import dedent
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from grader.messages import text_of
from grader.model import Verdict
from grader.reports import excerpts, text, wording
from grader.reports.audience import FAILED, student_view
from grader.reports.class_table import item_titles, lookalikes, mark_of, note, score_of
from grader.reports.wording import look
from grader.reports.words import in_its_words
from grader.text import headline, many_lines, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Template

    from grader.model import CheckResult, Finding, Grade, ItemGrade
    from grader.reports.audience import Released
    from grader.reports.text import Audience

LONGEST_LINE = 1_500
LONGEST_BLOCK = 4_000


class ClassRow(NamedTuple):
    """A row of the class's page; ``folder`` is quoted for a link, and an item that is missing is None."""

    folder: str
    name: str
    score: str
    speed: str
    items: tuple[ItemGrade | None, ...]
    note: str


@in_its_words
def render(
    grade: Grade,
    *,
    audience: Audience = "student",
    source_lines: Sequence[str] = (),
    released: Released = "",
) -> str:
    """Write the page of one submission; ``released`` is what students may see by now."""
    shown = student_view(grade, released) if audience == "student" else grade

    def quoted(finding: Finding) -> list[str]:
        rows = excerpts.quote(finding, shown.submission_file, source_lines)
        return [(row.gutter + row.code).rstrip() for row in rows]

    return template("submission.html.j2").render(
        heading=f"{shown.assignment_title}: {shown.submission_file or shown.submission_id}",
        grade=shown,
        speed=wording.speed(shown),
        quote=quoted,
        failing_cases=lambda item: _failing_cases(shown, item),
        simply_passes=_simply_passes,
        where=excerpts.lines_in_words,
        map_is_telling=excerpts.says_something,
        map_legend=excerpts.legend,
        map_rows=excerpts.drawing,
        look=look,
        score=wording.score,
        adjustment=wording.adjustment,
        counted=wording.counted,
        of_item=wording.of_item,
        title=text.title,
        apart=text.apart,
        caused=text.caused,
        sentence=text.sentence,
        is_told=text.is_told,
        untold_repair=text.untold_repair,
        most_findings=text.MOST_FINDINGS,
        advised=text.advised,
        most_advice=text.MOST_ADVICE,
    )


def render_class(grades: Sequence[Grade]) -> str:
    """Write the page of a class; it links to ``grades/<submission>/report.html``."""
    items = item_titles(grades)
    return template("class.html.j2").render(
        heading=grades[0].assignment_title if grades else "no submissions",
        items=items,
        timed=any(map(wording.measured, grades)),
        rows=[_class_row(grade, list(items)) for grade in grades],
        look=look,
        mark_of=mark_of,
        lookalikes=list(lookalikes([grade.submission_id for grade in grades])),
    )


@cache
def template(name: str) -> Template:
    """Give a template of the folder; it escapes what it fills in, and refuses a name that it is not given.

    ``words("cases", names=…)`` is a text of `grader.messages.reports` in the language of the grade.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - `check` writes no page

    environment = Environment(
        loader=PackageLoader("grader.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "headline": headline,
        "below_headline": _below_headline,
        "line": lambda words: one_line(words, LONGEST_LINE),
        "lines": lambda words: many_lines(words, LONGEST_BLOCK),
    }
    environment.globals["words"] = text_of
    return environment.get_template(name)


def _below_headline(message: str) -> str:
    """The lines of a message below its first, without the indentation that they share."""
    return dedent(message.partition("\n")[2])


def _simply_passes(result: CheckResult) -> bool:
    """Whether there is nothing to tell of an item but that it passes."""
    return result.verdict == Verdict.PASS and not (result.findings or result.message_staff)


def _failing_cases(grade: Grade, item: ItemGrade) -> list[str]:
    """The names of the cases in which an item fails; of questions, none, which are cases of their own."""
    if item.result.item.check == text.ANSWERS:
        return []
    failed = {name for name, verdict in item.result.case_verdicts if verdict in FAILED}
    return [text.case_name(case) for case in grade.cases if case.case.id in failed]


def _class_row(grade: Grade, items: Sequence[str]) -> ClassRow:
    by_id = {item.result.item.id: item for item in grade.items}
    return ClassRow(
        quote(grade.submission_id, safe="", errors="backslashreplace"),
        grade.submission_id,
        score_of(grade),
        wording.times(grade),
        tuple(by_id.get(item) for item in items),
        note(grade),
    )
