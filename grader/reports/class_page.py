"""The class as a page for staff: scores, items, mistakes, every submission, the cases; and who is alike.

The page of the class works without its script, which searches, filters and sorts. While a batch runs the page
loads itself again now and then; what is searched for stands in its address, and so stays. Submissions that
are alike are a place to look, not a verdict.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from grader.base.text import one_line, source_line
from grader.model.messages import templates_of, text_of
from grader.reports import pictures, wording
from grader.reports.class_statistics import (
    case_catches,
    counting,
    item_outcomes,
    scores_of,
    share,
    shared_causes,
)
from grader.reports.class_table import handed_in_anew, item_titles, lookalikes, mark_of, note, score_of
from grader.reports.pages import asset, page
from grader.reports.selection import case_name
from grader.reports.wording import in_their_words, state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from fractions import Fraction

    from markupsafe import Markup

    from grader.model import Alike, Grade, ItemGrade
    from grader.reports.class_statistics import CauseGroup, ItemOutcomes, Scores, SharedCause

    SourceOf = Callable[[Grade], Sequence[str]]

REFRESH_SECONDS = 15
"""Seconds after which the page loads itself again while the batch runs."""

MOST_NAMES = 12
"""Ids that a group shows before it is opened."""

MOST_FREQUENT = 7
SHORT_TITLE = 38
"""Number of mistakes that the overview names, and maximum number of characters of a name."""

NAME, NOTE, WIDEST = 16, 13, 18
"""The least width of the first and the last column in rem, and the largest of another one in characters."""

AROUND = 1
"""Lines that are shown above and below a line of code."""


STATES = ("look", "full", "partly", "nothing", "excused")
"""States of a submission in the overview of the class; ``class-state-`` begins the name of its word."""


class SubmissionRow(NamedTuple):
    """A submission in the table; ``folder`` is quoted for a link, and an item that is missing is None."""

    folder: str
    name: str
    people: str
    section: str
    late: bool
    state: str
    score: str
    share: float
    speed: str
    items: tuple[ItemGrade | None, ...]
    cause: int
    """The number of its mistake in the list of all of them, from 1; 0 for none."""
    note: str


@in_their_words
def render(
    grades: Sequence[Grade], *, source_of: SourceOf | None = None, waiting: int = 0, similar: bool = False
) -> str:
    """Write the page; ``source_of`` gives a file's lines to quote, ``waiting`` are still to be graded."""
    items = item_titles(grades)
    causes = shared_causes(grades)
    number_of = {name: number for number, cause in enumerate(causes, 1) for name in cause.ids}
    rows = [_row(grade, list(items), number_of.get(grade.submission_id)) for grade in grades]
    timed = any(map(wording.measured, grades))
    sections = sorted({row.section for row in rows} - {""})
    any_late = any(row.late for row in rows)
    sentences = [*lookalikes([grade.submission_id for grade in grades]), *handed_in_anew(grades)]
    return page(
        "class.html.j2",
        script=asset("class.js"),
        style=asset("class.css") + _columns(rows, items, sections=sections, late=any_late, timed=timed),
        heading=grades[0].assignment_title if grades else text_of("class-none"),
        waiting=waiting,
        similar=similar,
        progress=pictures.bar([pictures.Part(len(grades) / max(len(grades) + waiting, 1), "fill")]),
        refresh=REFRESH_SECONDS,
        rows=rows,
        scores=scores_of(grades),
        counted=len(counting(grades)),
        histogram=_histogram,
        of_most=lambda value: _of_most(grades, value),
        outcomes=item_outcomes(grades),
        outcome_bar=_outcome_bar,
        causes=causes,
        excerpt=lambda cause: _excerpt(cause, source_of),
        example_message=_message,
        to_paste=_to_paste,
        addresses=lambda group: _addresses(group, grades),
        folder=folder_of,
        bar=lambda part, whole: pictures.bar([pictures.Part(part / max(whole, 1), "fail")]),
        catches=case_catches(grades),
        case_name=case_name,
        items=items,
        timed=timed,
        sections=sections,
        any_late=any_late,
        shown_of=templates_of(["class-shown"])["class-shown"],
        states=[(name, sum(row.state == name for row in rows)) for name in STATES],
        look=lambda item: state_of(item).look,
        mark_of=mark_of,
        lookalikes=sentences,
        most_names=MOST_NAMES,
        most_frequent=MOST_FREQUENT,
        shortly=lambda title: one_line(title, SHORT_TITLE),
    )


def _columns(
    rows: Sequence[SubmissionRow], items: Iterable[str], *, sections: Sequence[str], late: bool, timed: bool
) -> str:
    """The widths of the columns as a style: each row of the table is laid out for itself, and all agree."""
    widths = [_width([text_of("class-section"), *sections])] if sections else []
    widths += [_width([text_of("class-late")])] if late else []
    widths.append(_width([text_of("class-score"), *(row.score for row in rows)]))
    widths += [_width([text_of("class-speed"), *(row.speed for row in rows)])] if timed else []
    widths += [_width(one_line(item).split("-")) for item in items]
    fixed = "".join(f"{width}ch " for width in widths)
    return (
        f"#table {{ --columns: minmax({NAME}rem, 4fr) {fixed}minmax({NOTE}rem, 4fr); "
        f"--least: calc({NAME + NOTE}rem + {sum(widths)}ch); }}"
    )


def _width(texts: Iterable[str]) -> int:
    """Room for each of some texts, in characters."""
    return min(max(map(len, texts), default=0), WIDEST) + 2


def _row(grade: Grade, items: Sequence[str], cause: int | None) -> SubmissionRow:
    by_id = {item.result.item.id: item for item in grade.items}
    people = grade.hand_in.students if grade.hand_in else ()
    return SubmissionRow(
        folder_of(grade.submission_id),
        grade.submission_id,
        ", ".join(one.name for one in people if one.name),
        ", ".join(dict.fromkeys(one.section for one in people if one.section)),
        bool(grade.hand_in and grade.hand_in.late) or any(one.days for one in grade.adjustments),
        _state(grade),
        score_of(grade),
        round(float(share(grade)), 4) if grade.verdict != "error" else -1.0,
        wording.times(grade),
        tuple(by_id.get(item) for item in items),
        cause or 0,
        note(grade),
    )


def _state(grade: Grade) -> str:
    """The state of a submission, one of `STATES`."""
    if grade.excused:
        return "excused"
    if grade.verdict == "error" or grade.took_too_much_work or grade.has_question:
        return "look"
    if grade.score >= grade.max_score:
        return "full"
    return "partly" if grade.score > 0 else "nothing"


def folder_of(submission: str) -> str:
    """A submission's folder below ``grades/``, for a link."""
    return quote(submission, safe="", errors="backslashreplace")


def _histogram(scores: Scores) -> Markup:
    bars = ", ".join(
        text_of("class-histogram-bar", lower=10 * index, upper=10 * index + 10, number=number)
        for index, number in enumerate(scores.counts)
        if number
    )
    return pictures.histogram(
        scores.counts,
        text_of("class-histogram", bars=bars),
        mark=(float(scores.mean), text_of("class-the-mean")),
    )


def _of_most(grades: Sequence[Grade], value: Fraction) -> str:
    """A share of what could be had, in points where that is the same for all, else in percent."""
    most = {grade.max_score for grade in counting(grades)}
    return wording.points_text(value * most.pop()) if len(most) == 1 else f"{float(100 * value):.3g} %"


def _outcome_bar(outcomes: ItemOutcomes) -> Markup:
    whole = max(outcomes.judged, 1)
    kinds = {"pass": outcomes.passed, "partly": outcomes.partly, "fail": outcomes.failed}
    return pictures.bar([pictures.Part(number / whole, kind) for kind, number in kinds.items()])


def _excerpt(cause: SharedCause, source_of: SourceOf | None) -> list[tuple[int, str, bool]]:
    """The line that shows a mistake in the example's file, between its neighbours."""
    lines = source_of(cause.example) if source_of and cause.line else ()
    if cause.line is None or not 1 <= cause.line <= len(lines):
        return []
    shown = range(max(1, cause.line - AROUND), min(len(lines), cause.line + AROUND) + 1)
    return [(number, source_line(lines[number - 1]), number == cause.line) for number in shown]


def _message(cause: SharedCause) -> str:
    """Message of the example."""
    grade = cause.example
    return one_line(grade.cause.message if grade.cause else note(grade), 400)


def _addresses(group: CauseGroup, grades: Sequence[Grade]) -> str:
    """The addresses of a group, to write to all of them; empty where the roster has none."""
    of_id = {grade.submission_id: grade.hand_in.students for grade in grades if grade.hand_in}
    everybody = (student.email for name in group.ids for student in of_id.get(name, ()))
    return ", ".join(dict.fromkeys(one_line(email) for email in everybody if email))


def _to_paste(group: CauseGroup) -> str:
    """Text for adjustments.yaml that gives one comment to all of a group."""
    ids = ", ".join(json.dumps(name, ensure_ascii=False) for name in group.ids)
    return f'groups:\n  - students: [{ids}]\n    comment: ""\n    by: ""\n'


MOST_LINES = 300
"""Maximum number of lines of a file that are shown."""


_DIGEST = re.compile(r'<meta name="digest" content="([0-9a-f]+)">')


class Side(NamedTuple):
    """A submission of a pair: its id, its quoted folder, and its lines, each with whether it is marked."""

    name: str
    folder: str
    lines: list[tuple[int, str, bool]]
    more: int


def digest_in(page: str) -> str:
    """The digest that a page, or its beginning, says it was written with; empty where it says none."""
    match = _DIGEST.search(page)
    return match[1] if match else ""


def render_similar(
    title: str,
    pairs: Sequence[Alike],
    sources: Mapping[str, Sequence[str]],
    digest: str = "",
    more: int = 0,
) -> str:
    """Write the page; ``sources`` are the files' lines, and ``digest`` identifies its inputs.

    ``more`` is how many pairs there are beside these.
    """
    return page(
        "similar.html.j2",
        style=asset("class.css"),
        heading=title,
        digest=digest,
        pairs=[
            (
                pair,
                round(100 * pair.share),
                (
                    _side(pair.first, pair.first_lines, sources),
                    _side(pair.second, pair.second_lines, sources),
                ),
            )
            for pair in pairs
        ],
        more=more,
    )


def _side(name: str, marked: Collection[int], sources: Mapping[str, Sequence[str]]) -> Side:
    lines = sources.get(name, ())
    lines = lines[:-1] if lines and not lines[-1] else lines  # nothing is behind the last line feed
    shown = [
        (number, source_line(line), number in marked) for number, line in enumerate(lines[:MOST_LINES], 1)
    ]
    return Side(name, folder_of(name), shown, len(lines) - len(shown))
