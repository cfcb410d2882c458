"""The table that a platform exports → whose rows these are, and in which columns grades may stand.

What the exports of all platforms have in common comes first, then each of them. Sources: canvas-lms
gradebook_exporter.rb and gradebook_importer.rb; Moodle's mod/assign gradingtable.php and feedback/offline;
D2L, "Importing grades"; Blackboard, "Work offline"; exports of Gradescope.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.base.records import frozen
from grader.base.text import count, escaped
from grader.classroom.course.roster import HEADINGS, folded, name_forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from grader.classroom.course.tables import Record, Table

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

    choices = _with_possible(choices_of(table, taken, title_in), _BRIGHTSPACE_MOST)
    return export_by_headings("Brightspace", table, "sid login email", choices)


_BRIGHTSPACE_MOST = re.compile(r"MaxPoints:([0-9]+(?:[.,][0-9]+)?)")
_BLACKBOARD_MOST = re.compile(r"\[Total Pts: ([0-9]+(?:[.,][0-9]+)?)")


def _with_possible(choices: Iterable[Choice], pattern: re.Pattern[str]) -> Iterator[Choice]:
    """The columns with the most points that stand in their headings."""
    for choice in choices:
        match = pattern.search(choice.heading)
        yield replace(choice, possible=number(match[1]) if match else None)


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

    choices = _with_possible(choices_of(table, columns.values(), title_in), _BLACKBOARD_MOST)
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
    names = display_names(keys, rows, full_names(rows, columns))
    choices = (
        replace(one, possible=number(possible[one.index].value) if one.index < len(possible) else None)
        for one in choices_of(table, taken, title_in)
    )
    return Export("Canvas", keys, rows, names, tuple(choices))


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
    most = {folded(heading): index for index, heading in enumerate(table.headings)}
    choices = (
        replace(one, reference=most.get(f"{form} - max points", alone))
        for one in choices_of(table, columns_by_kind(table).values(), title_in)
        for form in [folded(one.heading)]
        for alone in [most.get("max points") if form == "total score" else None]
    )
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


GENERIC = "CSV"
"""Platform of unknown files: the user says which column is meant."""

ATTRIBUTES = {
    "id": ("id",),
    "sid": ("sid",),
    "login": ("login", "email"),  # at many universities one is the other
    "email": ("email", "login"),
    "github": ("github",),
    "name": ("name",),
}
"""Attributes of a student that a column holds, by the kind of its heading."""

_LONGEST_NAME = 200
_MOST_WORDS = 10


@frozen
class Key:
    """Identifying column: the forms of each row's value, and the attributes of a student that it holds."""

    heading: str
    attributes: tuple[str, ...]
    forms: tuple[frozenset[str], ...]


@frozen
class Choice:
    """A column in which grades may stand.

    ``names`` are its heading and what is left of it without what the platform adds, folded. ``likely`` says
    that the platform takes grades there; ``reference`` is the column of most points, where there is one, and
    ``possible`` are the most points where they stand above the column or in its heading.
    """

    index: int
    heading: str
    names: frozenset[str]
    likely: bool = True
    reference: int | None = None
    possible: Fraction | None = None


@frozen
class Export:
    """A platform's table; ``keys`` with the strongest first, ``rows`` of students and their ``names``."""

    platform: str
    keys: tuple[Key, ...]
    rows: tuple[Record, ...]
    names: tuple[str, ...]
    choices: tuple[Choice, ...]


def export_by_headings(platform: str, table: Table, kinds: str, choices: Iterable[Choice]) -> Export:
    """An export whose keys, of these ``kinds``, are known by their headings."""
    rows, columns = student_rows(table), columns_by_kind(table)
    keys = keys_of(table, rows, columns, kinds)
    return Export(platform, keys, rows, display_names(keys, rows, full_names(rows, columns)), tuple(choices))


def student_rows(
    table: Table, *, is_student: Callable[[Record], bool] = lambda _: True
) -> tuple[Record, ...]:
    """The rows of students; raises `UsageError` where one has not as many cells as there are headings."""
    width = len(table.headings)
    filled = (row for row in table.records[1:] if any(cell.value.strip() for cell in row))
    rows = tuple(row for row in filled if is_student(row))
    for row in rows:
        if len(row) != width:
            raise UsageError(
                f"the gradebook, line {table.line_of(row)}: has {count(len(row), 'cell')}, but there are "
                f"{width:,} headings; export the gradebook anew"
            )
    return rows


def columns_by_kind(table: Table) -> dict[str, int]:
    """Column of each kind of value, by the heading; raises `UsageError` where two columns have one."""
    columns: dict[str, int] = {}
    for index, heading in enumerate(table.headings):
        form = folded(heading.replace("_", " "))
        kind = next((kind for kind, names in HEADINGS.items() if form in names), None)
        if kind is None:
            continue
        if kind in columns and folded(table.headings[columns[kind]]) == folded(heading):
            raise UsageError(
                f"columns {columns[kind] + 1} and {index + 1} of the gradebook are both headed"
                f" `{escaped(heading, 40)}`; expected one of them"
            )
        columns.setdefault(kind, index)
    return columns


def keys_of(table: Table, rows: Sequence[Record], columns: dict[str, int], kinds: str) -> tuple[Key, ...]:
    """The keys of these ``kinds`` that the table has, and the name last."""
    keys = [
        Key(
            table.headings[columns[kind]],
            ATTRIBUTES[kind],
            tuple(forms_of(row[columns[kind]].value) for row in rows),
        )
        for kind in kinds.split()
        if kind in columns
    ]
    names = full_names(rows, columns)
    return (*keys, name_key(names)) if any(names) else tuple(keys)


def forms_of(value: str) -> frozenset[str]:
    """A value as it is compared: Brightspace puts ``#`` in front, so that spreadsheets take it for text."""
    form = folded(value).removeprefix("#")
    return frozenset({form} if form else ())


def name_key(names: Sequence[str]) -> Key:
    """The key that a name is, in either order."""
    return Key("name", ATTRIBUTES["name"], tuple(frozenset(forms_of_name(name)) for name in names))


def forms_of_name(name: str) -> set[str]:
    """The ways to write a name; what is too long for one has a single way, for there would be too many."""
    return (
        name_forms(name) if len(name) <= _LONGEST_NAME and name.count(" ") < _MOST_WORDS else {folded(name)}
    )


def full_names(rows: Sequence[Record], columns: dict[str, int]) -> tuple[str, ...]:
    """The name in each row, from one column or from two."""
    if "name" in columns:
        return tuple(row[columns["name"]].value.strip() for row in rows)
    parts = [columns[kind] for kind in ("first", "last") if kind in columns]
    return tuple(" ".join(filter(None, (row[part].value.strip() for part in parts))) for row in rows)


def display_names(keys: Sequence[Key], rows: Sequence[Record], names: Sequence[str]) -> tuple[str, ...]:
    """Display name of each row: the name, or else the first key with a value."""
    return tuple(
        names[index] or next((min(key.forms[index]) for key in keys if key.forms[index]), f"row {index + 1}")
        for index in range(len(rows))
    )


def choices_of(table: Table, taken: Iterable[int], title_in: Callable[[str], str | None]) -> Iterator[Choice]:
    """The columns that are not taken; ``title_in`` a heading is None where the platform grades nothing."""
    closed = set(taken)
    for index, heading in enumerate(table.headings):
        if index not in closed:
            title = title_in(heading)
            names = frozenset({folded(heading), folded(title or heading)})
            yield Choice(index, heading, names, likely=title is not None)


def number(cell: str) -> Fraction | None:
    """The number in a cell, with a decimal point or comma; None where it holds something else."""
    match = re.fullmatch(r"\s*(-?[0-9]{1,9})(?:[.,]([0-9]{1,9}))?\s*", cell)
    return Fraction(f"{match[1]}.{match[2] or 0}") if match else None
