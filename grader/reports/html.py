"""A page for a browser per submission: one file, and no request. What all pages share is here as well.

The pages are templates, in the folder beside this file, and whatever a template fills in is escaped. All text
is made visible (`grader.text`) as well. A page works without its script; by a content security policy it
forbids itself requests, and scripts and styles other than ours, should anything slip through.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from grader.messages import text_of
from grader.reports import excerpts, pictures, submission_page, text, wording
from grader.reports.audience import FAILED, student_view
from grader.reports.prose import prose
from grader.reports.words import in_its_words
from grader.text import below_headline, headline, many_lines, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Template

    from grader.model import Grade, ItemGrade
    from grader.reports.audience import Released
    from grader.reports.text import Audience

LONGEST_LINE = 1_500
LONGEST_BLOCK = 4_000
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
) -> str:
    """Write the page of one submission; ``released`` is what students may see by now."""
    shown = student_view(grade, released) if audience == "student" else grade
    return page(
        "submission.html.j2",
        style=asset("submission.css"),
        script=asset("submission.js"),
        heading=f"{shown.assignment_title}: {shown.submission_file or shown.submission_id}",
        failing_cases=lambda item: _failing_cases(grade, shown, item),
        most_advice=text.MOST_ADVICE,
        most_samples=MOST_SAMPLES,
        **submission_page.view(grade, shown, excerpts.Sources(grade.submission_file, source_lines, further)),
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
    "sentence": text.sentence,
    "untold_repair": text.untold_repair,
    "advised": text.advised,
}
"""Functions with which the template tells of a record."""


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
        "below_headline": below_headline,
        "line": lambda words: one_line(words, LONGEST_LINE),
        "prose": lambda words: prose(one_line(words, LONGEST_LINE)),
        "lines": lambda words: many_lines(words, LONGEST_BLOCK),
    }
    environment.globals["words"] = text_of
    return environment.get_template(name)


def page(name: str, *, style: str = "", script: str = "", **values: object) -> str:
    """Fill a template that extends ``page.html.j2``, with the style sheet of all pages and its own."""
    from markupsafe import Markup  # noqa: PLC0415 - as Jinja2

    style = asset("style.css") + style
    return template(name).render(
        style=Markup(style),  # noqa: S704 - ours
        style_hash=hash_of(style),
        script=Markup(script),  # noqa: S704 - ours
        script_hash=hash_of(script),
        **values,
    )


@cache
def asset(name: str) -> str:
    """Read a file of the templates' folder that is put into pages as it is."""
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def hash_of(text: str) -> str:
    """Write the hash by which a content security policy allows a script or a style (CSP 3, section 2.3.1)."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _failing_cases(grade: Grade, shown: Grade, item: ItemGrade) -> list[str]:
    """The names of the cases in which an item fails, the hidden ones counted.

    Of questions there are none, which are cases of their own.
    """
    if item.result.item.check == text.ANSWERS:
        return []
    failed = {name for name, verdict in item.result.case_verdicts if verdict in FAILED}
    ids = {case.case.id for case in grade.cases}  # a hidden case has another one where it is shown
    named = [text.case_name(case) for case in shown.cases if case.case.id in failed & ids]
    hidden = len(failed - ids)
    return [*named, *([text_of("hidden-cases", count=hidden)] if hidden else [])]
