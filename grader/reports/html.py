"""Pages for a browser: one per submission, and one for the class. One file each, no script, no request.

All text is made visible (`grader.text`) and escaped, and the page forbids itself scripts and requests by a
content security policy, should anything slip through.
"""

from __future__ import annotations

from html import escape
from textwrap import dedent
from typing import TYPE_CHECKING
from urllib.parse import quote

from grader.model import Verdict
from grader.reports import maps, points, quotation, speed
from grader.reports.audience import FAILED, student_view
from grader.reports.class_table import item_titles, note
from grader.reports.lookalikes import lookalikes
from grader.reports.marks import look
from grader.reports.text import (
    ANSWERS,
    FIRST,
    MOST_ADVICE,
    MOST_FINDINGS,
    advised,
    apart,
    case_name,
    caused,
    is_told,
    sentence,
    title,
    untold_repair,
)
from grader.text import headline, many_lines, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.model import Finding, Grade, ItemGrade
    from grader.reports.audience import Released
    from grader.reports.text import Audience

POLICY = "default-src 'none'; style-src 'unsafe-inline'"

STYLE = """\
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem .8rem .2rem 0; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid; border-radius: .3rem; }
.pass { color: #2a7d2a; } .fail { color: #c62828; } .skip { color: #946c00; } .error { color: #8e24aa; }
"""


def render(
    grade: Grade,
    *,
    audience: Audience = "student",
    source_lines: Sequence[str] = (),
    released: Released = "",
) -> str:
    """Write the page of one submission; ``released`` is what students may see by now."""
    shown = student_view(grade, released) if audience == "student" else grade
    heading = f"{shown.assignment_title}: {shown.submission_file or shown.submission_id}"
    details = _details(shown, source_lines)
    first = [*_score(shown), *_overview(shown), *_cause(shown)]
    return _page(heading, [*first, *details, *_speed(shown), *_advice(shown)])


def render_class(grades: Sequence[Grade]) -> str:
    """Write the page of a class; it links to ``grades/<submission>/report.html``."""
    items = item_titles(grades)
    heading = grades[0].assignment_title if grades else "no submissions"
    columns = "".join(f'<th title="{_text(name)}">{_text(item)}</th>' for item, name in items.items())
    timed = any(map(speed.measured, grades))
    rows = [_class_row(grade, list(items), timed=timed) for grade in grades]
    fast = "<th>speed</th>" if timed else ""
    head = f"<tr><th>submission</th><th>score</th>{fast}{columns}<th>note</th></tr>"
    alike = [f"<p>{_text(sentence)}</p>" for sentence in lookalikes([g.submission_id for g in grades])]
    return _page(heading, ["<table>", head, *rows, "</table>", *alike])


def _page(heading: str, body: Sequence[str]) -> str:
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{_text(heading)}</title>",
        f"<style>\n{STYLE}</style>",
        f"<h1>{_text(heading)}</h1>",
        *body,
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _text(words: str) -> str:
    return escape(one_line(words, 1_500))


def _message(words: str) -> Iterator[str]:
    """Write a message; the lines below its first, a difference say, keep their form."""
    yield f"<p>{_text(headline(words))}</p>"
    block = dedent(words.partition("\n")[2])
    if block:
        yield f"<pre>{escape(many_lines(block, 4_000))}</pre>"


def _verdict(item: ItemGrade) -> str:
    seen = look(item.result)
    return f'<span class="{seen.name}">{seen.mark} {seen.word}</span>'


def _score(grade: Grade) -> Iterator[str]:
    if grade.verdict == Verdict.ERROR:
        yield f"<p>Not graded, through no fault of the submission: {_text(grade.error or 'see below')}</p>"
        return
    skipped = f"; {points.counted(grade.skipped_points)} not judged here" if grade.skipped_points else ""
    yield f"<p><strong>{points.score(grade)}</strong>{skipped}</p>"


def _overview(grade: Grade) -> Iterator[str]:
    yield "<table>"
    for item in grade.items:
        verdict = _verdict(item)
        name = escape(title(item) + apart(item))
        yield f'<tr><td>{verdict}</td><td class="n">{points.of_item(item)}</td><td>{name}</td></tr>'
    yield "</table>"


def _cause(grade: Grade) -> Iterator[str]:
    """Tell what explains the rest."""
    if grade.cause is not None:
        yield f"<h2>{FIRST}</h2>"
        yield f"<p>{escape(caused(grade.cause))}</p>"
        yield f"<p><em>Try:</em> {_text(sentence(grade.cause.hint))}</p>"


def _details(grade: Grade, source: Sequence[str]) -> Iterator[str]:
    """Tell of every item that did not simply pass."""
    for item in grade.items:
        result = item.result
        if result.verdict == Verdict.PASS and not (result.findings or result.message_staff):
            continue
        yield f"<h2>{_verdict(item)}: {escape(title(item) + apart(item))}</h2>"
        if result.message_staff:
            yield from _message(result.message_staff)
        yield from _message(result.message)
        if result.item.check != ANSWERS:
            yield from _failing_cases(grade, item)
        for finding in result.findings[:MOST_FINDINGS]:
            yield from _finding(grade, finding, result.message, source)
            if untold_repair(finding, result.hint):
                yield f"<p><em>Try:</em> {_text(finding.repair)}</p>"
            if finding.steps:
                yield f"<ol>{''.join(f'<li>{_text(step)}</li>' for step in finding.steps)}</ol>"
        if len(result.findings) > MOST_FINDINGS:
            yield f"<p>… and {len(result.findings) - MOST_FINDINGS} more</p>"
        if result.hint:
            yield f"<p><em>Try:</em> {_text(result.hint)}</p>"


def _speed(grade: Grade) -> Iterator[str]:
    """Tell how fast it was next to the staff's kernels."""
    told = speed.speed(grade)
    if told is None:
        return
    yield f"<h2>{escape(told.heading)}</h2>"
    yield "<table>"
    for row in told.rows:
        numbers = "".join(f'<td class="n">{escape(text)}</td>' for text in row[1:3])
        yield f"<tr><td>{escape(row.kernel)}</td>{numbers}<td>{escape(row.speedup)}</td></tr>"
    yield "</table>"
    yield from (f"<p>{escape(remark)}</p>" for remark in told.remarks if remark)


def _advice(grade: Grade) -> Iterator[str]:
    """Tell what could be better about a right kernel."""
    if grade.advice:
        yield "<h2>Advice, which costs no points</h2>"
        told = (f"<li>{escape(advised(advice))}</li>" for advice in grade.advice[:MOST_ADVICE])
        yield f"<ul>{''.join(told)}</ul>"


def _failing_cases(grade: Grade, item: ItemGrade) -> Iterator[str]:
    failed = {name for name, verdict in item.result.case_verdicts if verdict in FAILED}
    names = [case_name(case) for case in grade.cases if case.case.id in failed]
    if names:
        yield f"<p>Cases: {escape('; '.join(names))}</p>"


def _finding(grade: Grade, finding: Finding, told: str, source: Sequence[str]) -> Iterator[str]:
    if not is_told(finding, told):
        yield from _message(finding.message)
    where = quotation.place(finding)
    if where:
        yield f"<p><code>{escape(where)}</code></p>"
    if maps.says_something(finding):
        yield f"<p>{_text(maps.legend(finding))}</p>"
        drawn = "\n".join(maps.drawing(finding))
        yield f"<pre>{escape(drawn)}</pre>"
    rows = quotation.quote(finding, grade.submission_file, source)
    if rows:
        code = "\n".join((row.gutter + row.code).rstrip() for row in rows)
        yield f"<pre>{escape(code)}</pre>"


def _class_row(grade: Grade, items: list[str], *, timed: bool) -> str:
    earned = {item.result.item.id: item for item in grade.items}
    cells = "".join(_class_cell(earned.get(item)) for item in items)
    failed = grade.verdict == Verdict.ERROR
    score = "!" if failed else f"{points.shown(grade.score)}/{points.shown(grade.max_score)}"
    link = f"grades/{quote(grade.submission_id, safe='', errors='backslashreplace')}/report.html"
    name = f'<a href="{escape(link)}">{_text(grade.submission_id)}</a>'
    fast = f'<td class="n">{escape(speed.times(grade))}</td>' if timed else ""
    return f'<tr><td>{name}</td><td class="n">{score}</td>{fast}{cells}<td>{_text(note(grade))}</td></tr>'


def _class_cell(item: ItemGrade | None) -> str:
    if item is None:
        return "<td></td>"
    verdict = item.result.verdict
    partial = verdict == Verdict.FAIL and item.points != 0
    seen = look(item.result)
    shown = points.shown(item.points) if partial else seen.mark
    return f'<td class="{seen.name}" title="{seen.word}">{shown}</td>'
