"""gradebook.csv: a row per submission, a column per rubric item, for a spreadsheet.

Spreadsheets take a cell that opens with ``=``, ``+``, ``-`` or ``@`` for a formula, and students choose
their file names: such a cell gets an apostrophe in front (OWASP, *CSV Injection*), and so does what would
open one where a spreadsheet takes ``;`` for the separator. What was not judged is an empty cell, which is
not a zero.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from grader.model import Verdict
from grader.reports import wording
from grader.reports.class_table import item_titles
from grader.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.model import Grade

BEFORE_ITEMS = ("submission", "file", "score", "max_score", "skipped_points", "verdict")
AFTER_ITEMS = ("error",)
MEASURED = "measured_speedup"
"""A column only where something was timed; an item may well be called `speedup`."""
FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "|", "%")
SEPARATED_FORMULA = re.compile(r"(;[\s\"']*)(?=[=+\-@|%＝＋－＠])")
NOT_JUDGED = {Verdict.SKIP, Verdict.ERROR}


def render(grades: Sequence[Grade]) -> str:
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
            [*_row(grade, items, timed=timed), *(cell(of_class[name](grade)) for name in of_class)]
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
    return "; ".join(map(wording.adjustment, grade.adjustments))


def cell(text: str) -> str:
    """Make a text harmless in a spreadsheet, on one line."""
    shown = SEPARATED_FORMULA.sub(r"\1'", one_line(text, 1000))
    return f"'{shown}" if shown.startswith(FORMULA_STARTS) else shown


def _heading(item: str) -> str:
    """Name an item's column; an item with the name of a fixed column says that it is one."""
    return f"{item} (item)" if item in (*BEFORE_ITEMS, MEASURED, *AFTER_ITEMS) else cell(item)


def _row(grade: Grade, items: list[str], *, timed: bool) -> list[str]:
    earned = {
        item.result.item.id: "" if item.result.verdict in NOT_JUDGED else wording.shown(item.points)
        for item in grade.items
    }
    fast = wording.measured(grade)
    return [
        cell(grade.submission_id),
        cell(grade.submission_file),
        "" if grade.verdict == Verdict.ERROR else wording.shown(grade.score),
        wording.shown(grade.max_score),
        wording.shown(grade.skipped_points),
        grade.verdict.value,
        *([f"{fast.median:.4f}" if fast else ""] if timed else []),
        *(earned.get(item, "") for item in items),
        cell(grade.error),
    ]
