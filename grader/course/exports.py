"""What the exports of learning platforms have in common: whose the rows are, and where grades may stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from grader.course.roster import HEADINGS, folded, name_forms
from grader.errors import UsageError
from grader.text import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from grader.course.tables import Record, Table

GENERIC = "CSV"
"""Where nobody knows the platform, the user says which column is meant."""

ATTRIBUTES = {
    "id": ("id",),
    "sid": ("sid",),
    "login": ("login", "email"),  # at many universities one is the other
    "email": ("email", "login"),
    "github": ("github",),
    "name": ("name",),
}
"""What of a student stands in a column, by the kind of its heading."""

_LONGEST_NAME = 200
_MOST_WORDS = 10


@dataclass(frozen=True, slots=True)
class Key:
    """Something that tells whose a row is: the forms of each row's value, and what it is of a student."""

    heading: str
    attributes: tuple[str, ...]
    forms: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A column in which grades may stand.

    ``names`` are its heading and what is left of it without what the platform adds, folded. ``likely`` says
    that the platform takes grades there; ``reference`` is the column of most points, where there is one.
    """

    index: int
    heading: str
    names: frozenset[str]
    likely: bool = True
    reference: int | None = None


@dataclass(frozen=True, slots=True)
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
    return Export(platform, keys, rows, shown_names(keys, rows, full_names(rows, columns)), tuple(choices))


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
                f"the gradebook, line {table.line_of(row)}: has {len(row):,} cells, but there are {width:,}"
                " headings; export the gradebook anew"
            )
    return rows


def columns_by_kind(table: Table) -> dict[str, int]:
    """Where each kind of value stands, by the heading; raises `UsageError` where two columns have one."""
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


def shown_names(keys: Sequence[Key], rows: Sequence[Record], names: Sequence[str]) -> tuple[str, ...]:
    """What each row is called for people: the name, or else the first key with a value."""
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
