"""A class as a table: lines in the terminal, and gradebook.csv for a spreadsheet.

Each has a row per submission and a column per rubric item; in the terminal there is a note as well.

Spreadsheets take a cell that opens with ``=``, ``+``, ``-`` or ``@`` for a formula, and students choose
their file names: such a cell gets an apostrophe in front (OWASP, *CSV Injection*), and so does what would
open one where a spreadsheet takes ``;`` for the separator. What was not judged is an empty cell, which is
not a zero.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from fractions import Fraction
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from grader.base.text import headline, one_line, quoted
from grader.grading.submission.items import disguised, looks
from grader.model import FindingKind, Verdict
from grader.model.messages import text_of
from grader.reports import wording
from grader.reports.excerpts import lines_of
from grader.reports.layout import Page, Piece
from grader.reports.wording import MARKS, NOT_JUDGED, in_their_words, state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.text import Text

    from grader.model import Grade, ItemGrade

LONGEST_NAME = 24
_END = 8
"""Characters of a longer name that are kept from its end."""
SHORTEST_NOTE = 30

SHORT = frozenset(
    {
        FindingKind.RACE,
        FindingKind.BARRIER_DIVERGENCE,
        FindingKind.OUT_OF_BOUNDS,
        FindingKind.UNINITIALISED,
        FindingKind.TIMEOUT,
    }
)
"""The kinds of findings for which a note has a word; their sentences are in the submission's own report."""


@in_their_words
def render_class(grades: Sequence[Grade], *, width: int = 100, ascii_only: bool = False) -> Text:
    """Lay out a class, in the order given; marks stand for whole verdicts, numbers for partial credit."""
    page = Page(width, ascii_only)
    items = item_titles(grades)
    names = [_name(grade.submission_id, max(LONGEST_NAME, width // 5)) for grade in grades]
    room = max((cell_len(name) for name in [text_of("class-submission"), *names]), default=0)
    scores = [score_of(grade) for grade in grades]
    score_room = max((len(score) for score in [text_of("class-score"), *scores]), default=0)
    narrowest = [max((len(_mark(grade, item)) for grade in grades), default=1) for item in items]
    speeds = _speeds(grades)
    fixed = room + score_room + 4 + len(speeds[0])
    headings, columns = _headings(list(items), narrowest, width - fixed)
    first = f"{text_of('class-submission'):<{room}}  {text_of('class-score'):>{score_room}}"
    page.line((f"{first}  {speeds[0]}{headings}{text_of('class-note')}", "bold"))
    for grade, name, score, fast in zip(grades, names, scores, speeds[1:], strict=True):
        cells = _cells(grade, list(items), columns)
        page.line(f"{set_cell_size(name, room)}  {score:>{score_room}}  {fast}", *cells, note(grade))
    page.blank()
    waiting = any(state_of(item).look is NOT_JUDGED for grade in grades for item in grade.items)
    _legend(page, items, numbered=headings.startswith("1 "), waiting=waiting)
    page.paragraph(_summary(grades))
    for sentence in (*lookalikes([grade.submission_id for grade in grades]), *handed_in_anew(grades)):
        page.paragraph(one_line(sentence))
    return page.text()


def _name(submission: str, limit: int) -> str:
    """An id as a row has room for it: its end stays, where platforms write the distinguishing number."""
    name = one_line(submission)
    return name if len(name) <= limit else f"{name[: limit - _END - 1]}…{name[-_END:]}"


def item_titles(grades: Sequence[Grade]) -> dict[str, str]:
    """Give the title of every rubric item in these grades, by id, in the order they come up."""
    titles: dict[str, str] = {}
    for grade in grades:
        for item in grade.items:
            titles.setdefault(item.result.item.id, item.result.item.title)
    return titles


def note(grade: Grade) -> str:
    """Say in one line what is wrong: our error or a question, a named mistake, a finding, or an item."""
    if grade.error:
        return one_line(text_of("note-question" if grade.is_question else "note-error", reason=grade.error))
    failed = [i.result for i in grade.items if i.result.verdict in {Verdict.FAIL, Verdict.ERROR}]
    failed = [result for result in failed if result.item.counts] or failed  # extra credit comes last
    if not failed:
        return text_of("note-too-much-work") if grade.took_too_much_work else ""
    findings = [finding for result in failed for finding in result.findings]
    mistake = next((finding for finding in findings if finding.kind == FindingKind.MISTAKE), None)
    if mistake is not None:
        return one_line(mistake.message)
    short = next((finding for finding in findings if finding.kind in SHORT and lines_of(finding)), None)
    if short is None or failed[0].verdict == Verdict.ERROR:
        return one_line(headline(failed[0].message))
    lines = lines_of(short)
    name = "note-lines" if len(lines) > 1 else "note-line"
    return text_of(name, what=text_of(f"kind-{short.kind}"), line=lines[0], other_line=lines[-1])


def score_of(grade: Grade) -> str:
    """`60/75`, or the mark of an error of ours."""
    if grade.verdict == Verdict.ERROR:
        return MARKS[Verdict.ERROR]
    return f"{wording.points_text(grade.score)}/{wording.points_text(grade.max_score)}"


def _speeds(grades: Sequence[Grade]) -> list[str]:
    """A column of measured speedups with its heading; of no width where nothing was timed."""
    shown = [wording.times(grade) for grade in grades]
    if not any(shown):
        return [""] * (len(shown) + 1)
    column = [text_of("class-speed"), *shown]
    room = max(map(len, column))
    return [f"{text:>{room}}  " for text in column]


def _headings(ids: list[str], narrowest: list[int], room: int) -> tuple[str, list[int]]:
    """Head the columns with the ids where a note still fits beside them, else with numbers."""
    shown = [one_line(item_id, LONGEST_NAME) for item_id in ids]
    columns = [max(len(name), least) + 2 for name, least in zip(shown, narrowest, strict=True)]
    if sum(columns) + SHORTEST_NOTE > room:
        shown = [str(number) for number in range(1, len(ids) + 1)]
        columns = [max(len(name), least) + 2 for name, least in zip(shown, narrowest, strict=True)]
    return "".join(f"{name:<{column}}" for name, column in zip(shown, columns, strict=True)), columns


def _cells(grade: Grade, ids: list[str], columns: list[int]) -> list[Piece]:
    items = {item.result.item.id: item for item in grade.items}
    return [_cell(items.get(item_id), column) for item_id, column in zip(ids, columns, strict=True)]


def _cell(item: ItemGrade | None, column: int) -> Piece:
    if item is None:
        return " " * column
    return f"{mark_of(item):<{column}}", state_of(item).look.style


def mark_of(item: ItemGrade) -> str:
    """The verdict, or the points where there is partial credit."""
    verdict = item.result.verdict
    partial = verdict == Verdict.FAIL and item.points != 0
    return wording.points_text(item.points) if partial else state_of(item).look.mark


def _mark(grade: Grade, item_id: str) -> str:
    return next((mark_of(item) for item in grade.items if item.result.item.id == item_id), "")


def _legend(page: Page, items: dict[str, str], *, numbered: bool, waiting: bool) -> None:
    if numbered:
        names = [f"{number} {one_line(item_id)}" for number, item_id in enumerate(items, start=1)]
        page.paragraph("   ".join(names), style="dim")
    waits = text_of("class-legend-waits") if waiting else ""
    page.paragraph(text_of("class-legend", waits=waits), style="dim")


def _summary(grades: Sequence[Grade]) -> str:
    graded = [grade for grade in grades if grade.verdict != Verdict.ERROR]
    unjudged = sum(grade.took_too_much_work for grade in graded)
    full = sum(grade.score >= grade.max_score and not grade.took_too_much_work for grade in graded)
    questions = sum(grade.is_question for grade in grades if grade.verdict is Verdict.ERROR)
    errors = len(grades) - len(graded) - questions
    parts = [text_of("class-submissions", count=len(grades)), text_of("class-full", count=full)]
    if errors:
        parts.append(text_of("class-not-graded", count=errors))
    if questions:
        parts.append(text_of("class-questions", count=questions))
    if unjudged:
        parts.append(text_of("class-unjudged", count=unjudged))
    if graded:
        mean = sum((grade.score for grade in graded), Fraction(0)) / len(graded)
        parts.append(text_of("class-mean", points=wording.counted(mean)))
    return ", ".join(parts)


_NUMBERED = re.compile(r"-\d+$")
"""Suffix of an id where another one looks the same (`grader.grading.submission.items.ids`)."""

_MOST_LETTERS = 3


@in_their_words
def handed_in_anew(grades: Sequence[Grade]) -> tuple[str, ...]:
    """A sentence about those whose points were set by hand for what they had handed in before, if any."""
    names = [grade.submission_id for grade in grades if any(map(grade.is_of_earlier, grade.adjustments))]
    return (text_of("handed-in-anew", names=quoted(names)),) if names else ()


def lookalikes(ids: Sequence[str]) -> Iterator[str]:
    """A sentence for each id that looks like another one because of letters of another script."""
    first: dict[str, str] = {}
    for name in sorted(ids, key=lambda name: bool(disguised(name))):
        first.setdefault(looks(name), name)
    for name in ids:
        letters = disguised(name)
        same = (first.get(looks(one)) for one in (name, _NUMBERED.sub("", name)))
        other = next((one for one in same if one not in (None, name)), None)
        if letters and other is not None:
            letters_in_words = ", ".join(
                f"U+{ord(letter):04X} {_called(letter)}" for letter in letters[:_MOST_LETTERS]
            )
            yield text_of("lookalike", name=name, other=other, letters=letters_in_words)


def _called(character: str) -> str:
    return unicodedata.name(character, "a letter of another script")


BEFORE_ITEMS = ("submission", "file", "score", "max_score", "skipped_points", "verdict")
AFTER_ITEMS = ("error",)
MEASURED = "measured_speedup"
"""A column only where something was timed; an item may well be called `speedup`."""
FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "|", "%")
SEPARATED_FORMULA = re.compile(r"(;[\s\"']*)(?=[=+\-@|%＝＋－＠])")
UNJUDGED = {Verdict.SKIP, Verdict.ERROR}


def gradebook(grades: Sequence[Grade]) -> str:
    """Write the gradebook in the order given; RFC 4180 quoting, lines end in a line feed."""
    items = list(item_titles(grades))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    timed = any(map(wording.measured, grades))
    of_class = _of_class(grades)
    before = (*BEFORE_ITEMS, MEASURED) if timed else BEFORE_ITEMS
    writer.writerow([*before, *(_heading(item) for item in items), *AFTER_ITEMS, *of_class])
    for grade in grades:
        writer.writerow(
            [
                *_row(grade, items, timed=timed),
                *(spreadsheet_cell(of_class[name](grade)) for name in of_class),
            ]
        )
    return out.getvalue()


def _of_class(grades: Sequence[Grade]) -> dict[str, Callable[[Grade], str]]:
    """Columns about who handed in, as far as a platform, a roster or staff said anything of it."""
    columns = {"student": _students, "section": _sections, "late": _late, "adjusted": _adjusted}
    return {name: value for name, value in columns.items() if any(map(value, grades))}


def _students(grade: Grade) -> str:
    return "; ".join(one.name for one in grade.hand_in.students if one.name) if grade.hand_in else ""


def _sections(grade: Grade) -> str:
    sections = (one.section for one in grade.hand_in.students) if grade.hand_in else ()
    return "; ".join(dict.fromkeys(filter(None, sections)))


def _late(grade: Grade) -> str:
    return "late" if grade.hand_in and grade.hand_in.late else ""


def _adjusted(grade: Grade) -> str:
    return "; ".join(wording.adjustments(grade))


def spreadsheet_cell(text: str) -> str:
    """Make a text harmless in a spreadsheet, on one line."""
    shown = SEPARATED_FORMULA.sub(r"\1'", one_line(text, 1000))
    return f"'{shown}" if shown.startswith(FORMULA_STARTS) else shown


def _heading(item: str) -> str:
    """Name an item's column; an item with the name of a fixed column says that it is one."""
    return f"{item} (item)" if item in (*BEFORE_ITEMS, MEASURED, *AFTER_ITEMS) else spreadsheet_cell(item)


def _row(grade: Grade, items: list[str], *, timed: bool) -> list[str]:
    earned = {
        item.result.item.id: "" if item.result.verdict in UNJUDGED else wording.points_text(item.points)
        for item in grade.items
    }
    fast = wording.measured(grade)
    return [
        spreadsheet_cell(grade.submission_id),
        spreadsheet_cell(grade.submission_file),
        "" if grade.verdict == Verdict.ERROR else wording.points_text(grade.score),
        wording.points_text(grade.max_score),
        wording.points_text(grade.skipped_points),
        grade.verdict.value,
        *([f"{fast.median:.4f}" if fast else ""] if timed else []),
        *(earned.get(item, "") for item in items),
        spreadsheet_cell(grade.error),
    ]
