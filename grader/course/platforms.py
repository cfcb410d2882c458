"""The table that a platform exports → whose rows these are, and in which columns grades may stand.

Sources: canvas-lms gradebook_exporter.rb and gradebook_importer.rb; Moodle's mod/assign gradingtable.php and
feedback/offline; D2L, "Importing grades"; Blackboard, "Work offline"; exports of Gradescope.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.course.exports import (
    ATTRIBUTES,
    GENERIC,
    Choice,
    Export,
    Key,
    choices_of,
    columns_by_kind,
    export_by_headings,
    forms_of,
    full_names,
    keys_of,
    name_key,
    number,
    shown_names,
    student_rows,
)
from grader.course.roster import HEADINGS, folded
from grader.errors import UsageError
from grader.text import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.course.tables import Record, Table


_LONGEST_HEADING = 2_000


def recognised(table: Table) -> Export:
    """Whose export the table is, by its headings, and Moodle's, which are in any language, by its rows.

    Raises `UsageError` where it has no rows, one of another width, nothing that says whose the rows are, or
    one person twice.
    """
    if any(len(heading) > _LONGEST_HEADING for heading in table.headings):
        raise UsageError(
            f"the gradebook has a heading of more than {_LONGEST_HEADING:,} characters; expected the CSV file"
            " that the platform exports"
        )
    attempts = (recognise(table) for recognise in (_brightspace, _blackboard, _canvas, _gradescope, _moodle))
    export = next(filter(None, attempts), None) or _generic(table)
    if not export.rows:
        raise UsageError(
            "the gradebook has headings, but no row of a student below them; export it with students"
        )
    if not export.keys:
        headings = ", ".join(f"`{escaped(heading, 40)}`" for heading in table.headings[:8])
        raise UsageError(
            f"no heading of the gradebook says who the students are ({headings}); expected a number, a login,"
            " an e-mail address or a name"
        )
    if export.platform != GENERIC:
        _require_distinct(table, export)
    return export


def _require_distinct(table: Table, export: Export) -> None:
    key = export.keys[0]
    if key.attributes == ATTRIBUTES["name"]:
        return
    seen: dict[str, int] = {}
    for index, form in ((index, form) for index, forms in enumerate(key.forms) for form in forms):
        if form in seen:
            first, second = (table.line_of(export.rows[row]) for row in (seen[form], index))
            raise UsageError(
                f"lines {first} and {second} of the gradebook are both of `{escaped(form, 40)}` (column"
                f" `{escaped(key.heading, 40)}`); expected everybody once"
            )
        seen[form] = index


def _brightspace(table: Table) -> Export | None:
    """``OrgDefinedId``, ``Username``, ``<item> Points Grade <Numeric MaxPoints:…>``, an end of line."""
    forms = [folded(heading) for heading in table.headings]
    end = "end-of-line indicator"
    if "orgdefinedid" not in forms and end not in forms:
        return None
    taken = [*columns_by_kind(table).values(), *(index for index, form in enumerate(forms) if form == end)]

    def title_in(heading: str) -> str | None:
        title, words, limits = heading.rpartition(" Points Grade")
        return title if words and re.fullmatch(r"(?: *<.*>)? *", limits) else None

    return export_by_headings("Brightspace", table, "sid login email", choices_of(table, taken, title_in))


_NUMBERED = re.compile(r"(?P<title>.*)\|\s*[0-9]+\s*")
"""Blackboard's heading of a graded column: title, most points in brackets, number."""


def _blackboard(table: Table) -> Export | None:
    """``Last Name``, ``First Name``, ``Username``, …, ``<item> [Total Pts: 100 Score] |4711``."""
    if not any(map(_NUMBERED.fullmatch, table.headings)):
        return None
    columns = columns_by_kind(table)
    if "login" not in columns:
        return None

    def title_in(heading: str) -> str | None:
        match = _NUMBERED.fullmatch(heading)
        front = match["title"].rstrip() if match else ""
        title, _, most = front.removesuffix("]").rpartition("[") if front.endswith("]") else (front, "", "")
        # Most points "up to" something have columns that Blackboard computes.
        return title.rstrip() if match and ": up to " not in most else None

    choices = choices_of(table, columns.values(), title_in)
    return export_by_headings("Blackboard", table, "login sid email", choices)


_TOTALS = re.compile(
    r"(?:Current|Final) (?:Score|Points|Grade)|Override (?:Score|Grade|Status)|\(read only\)", re.IGNORECASE
)


def _canvas(table: Table) -> Export | None:
    """``Student``, ``ID``, …, ``Section``, columns of staff's own, ``<title> (4711)``, totals."""
    head = (*table.headings, "", "")
    named = "Student" in head[0] and "ID" in head[1]
    parted = "LastName" in head[0] and "FirstName" in head[1] and "ID" in head[2]
    section = next((index for index, heading in enumerate(head[:9]) if "Section" in heading), 0)
    if not (named or parted) or not section:
        return None
    rows = student_rows(table, is_student=lambda row: not _beside_students(row))
    possible = next((row for row in table.records[1:] if "Points Possible" in row[0].value), ())
    taken = {
        *range(section + 1),
        *(index for index, heading in enumerate(head) if _TOTALS.search(heading)),
        *(index for index, cell in enumerate(possible) if _TOTALS.search(cell.value)),
    }

    def title_in(heading: str) -> str | None:
        title, _, own_id = heading.rstrip().removesuffix(")").rpartition("(")
        return title.rstrip() if own_id.isdigit() and heading.rstrip().endswith(")") else None

    columns = {"last": 0, "first": 1, "id": 2} if parted else {"name": 0, "id": 1}
    for index, heading in enumerate(head[:section]):
        columns |= {kind: index for kind, words in _SIS.items() if words in heading}
    keys = keys_of(table, rows, columns, "id sid login")
    names = shown_names(keys, rows, full_names(rows, columns))
    return Export("Canvas", keys, rows, names, tuple(choices_of(table, taken, title_in)))


_SIS = {"sid": "SIS User ID", "login": "SIS Login ID"}
_POSTING = re.compile(r"(?:Muted|Manual Posting.*)?", re.IGNORECASE)


def _beside_students(row: Record) -> bool:
    """Tell whether a row of Canvas is about assignments, or of the student that staff see the course as."""
    front = row[0].value.strip()
    return (
        "Points Possible" in front
        or front == "Student, Test"
        or all(_POSTING.fullmatch(cell.value.strip()) for cell in row)
    )


def _gradescope(table: Table) -> Export | None:
    """``SID``, ``Email``, and ``Total Score`` of one assignment, or ``<title>``, ``<title> - Max Points``."""
    forms = {folded(heading) for heading in table.headings}

    def title_in(heading: str) -> str | None:
        form = folded(heading)
        return heading if form == "total score" or f"{form} - max points" in forms else None

    if "email" not in forms or not any(map(title_in, table.headings)):
        return None
    choices = choices_of(table, columns_by_kind(table).values(), title_in)
    return export_by_headings("Gradescope", table, "sid email", choices)


_PARTICIPANT = re.compile(r"(\D++)([0-9]{1,18}+)")
_MOODLE_WIDTH = 6


def _moodle(table: Table) -> Export | None:
    """The worksheet for grading offline, with headings in the teacher's language.

    The first column holds a word and a number (``Participant 123``, ``Teilnehmer/in123``), the second the
    name, unless the marking is blind; the grade stands before the most points, which are the same for all.
    The column that says that a grade may not be changed says so in that language, too: Moodle itself leaves
    these rows alone.
    """
    if len(table.headings) < _MOODLE_WIDTH or _is_of_another_kind(table.headings[0]):
        return None
    rows = student_rows(table)
    numbers = [match for row in rows if (match := _PARTICIPANT.fullmatch(row[0].value.strip()))]
    if (
        not rows
        or len(numbers) < len(rows)
        or len({match[1] for match in numbers}) > 1
        or not _is_word(numbers[0][1])
    ):
        return None
    keys = [Key(table.headings[0], ATTRIBUTES["id"], tuple(frozenset({match[2]}) for match in numbers))]
    address = next((index for index in range(1, len(rows[0])) if _holds_addresses(rows, index)), None)
    if address is not None:
        emails = tuple(forms_of(row[address].value) for row in rows)
        keys.append(Key(table.headings[address], ATTRIBUTES["email"], emails))
    names = [row[1].value.strip() for row in rows]
    if address is not None or folded(table.headings[1]) in HEADINGS["name"] or len(set(names)) == len(names):
        keys.append(name_key(names))
    else:
        names = [row[0].value.strip() for row in rows]
    return Export("Moodle", tuple(keys), rows, tuple(names), tuple(_before_most_points(table, rows)))


def _is_word(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _is_of_another_kind(heading: str) -> bool:
    """Tell whether a heading is one of a login, an address…, which may end in numbers as well."""
    form = folded(heading)
    return any(form in names for kind, names in HEADINGS.items() if kind not in {"id", "name"})


def _holds_addresses(rows: Sequence[Record], index: int) -> bool:
    values = [row[index].value.strip() for row in rows]
    return any(values) and all(re.fullmatch(r"[^\s@]+@[^\s@]+", value) for value in values if value)


def _before_most_points(table: Table, rows: Sequence[Record]) -> Iterator[Choice]:
    """The columns of a worksheet; likely are those of grades or nothing, with one number for all behind."""
    for index, heading in enumerate(table.headings[2:], start=2):
        behind = {row[index + 1].value for row in rows} if index + 1 < len(rows[0]) else set[str]()
        most = number(behind.pop()) if len(behind) == 1 else None
        grades = [number(row[index].value) for row in rows if row[index].value.strip() not in {"", "-"}]
        likely = bool(most and all(grade is not None and grade <= most for grade in grades))
        yield Choice(index, heading, frozenset({folded(heading)}), likely, index + 1 if likely else None)


def _generic(table: Table) -> Export:
    """Any table with a heading that says who the students are."""
    choices = choices_of(table, columns_by_kind(table).values(), lambda _: None)
    return export_by_headings(GENERIC, table, "id sid login email github", choices)
