"""Grades → the staff's own export of a learning platform, with one column filled in.

Only the cells that get a grade change; every other byte stays. So the platform takes the file back as its
own, and no grade is lost of which the grader knows nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.base.records import frozen
from grader.base.text import escaped
from grader.classroom.course.platforms import ATTRIBUTES, forms_of_name, number, recognised
from grader.classroom.course.roster import folded, indexed
from grader.classroom.course.tables import read_table
from grader.model import Student

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from fractions import Fraction

    from grader.classroom.course.platforms import Choice, Export, Key
    from grader.classroom.course.tables import Cell, Table

EXCUSED = "EX"
"""Mark by which Canvas excuses a student."""

NOT_ASSIGNED = "N/A"
"""Mark by which Canvas shows that an assignment is not a student's; it takes no grade there."""

_DECIMALS = 2
_MOST_LISTED = 12


@frozen
class Score:
    """Score of a submission. ``names`` are its other names: its id, its name in the download."""

    submission: str
    students: tuple[Student, ...]
    """Students who get it: each of a group has a row; may be empty."""
    names: tuple[str, ...]
    points: Fraction
    excused: bool = False
    """True if the student is excused: Canvas gets a mark; for other platforms the row is left as it is."""
    most: Fraction | None = None
    """Maximum score; None where it is unknown."""
    not_judged: str = ""
    """Points that are left out of the maximum, and the total, for people."""


@frozen
class Filled:
    """A gradebook with its column filled in, and what became of whom.

    ``changed`` has who, the old and the new cell, in the order of the rows, without cells that hold the same
    number already. ``without_row`` are submissions that no row belongs to, where some of a group have one
    with the others' names in brackets; ``doubtful`` those that more than one row could mean, and those that
    mean one row together: nothing is written for them. ``without_score`` are the rows that got nothing.
    """

    content: bytes
    platform: str
    column: str
    changed: tuple[tuple[str, str, str], ...]
    without_row: tuple[str, ...]
    without_score: tuple[str, ...]
    doubtful: tuple[str, ...]


def fill(
    content: bytes,
    scores: Sequence[Score],
    title: str = "",
    column: str = "",
    *,
    scale: bool | None = None,
) -> Filled:
    """Fill the scores into the one column that is meant.

    ``column`` is the user's choice: a heading, with or without what the platform adds to a title, or its
    number from 1. Without it, the column that has ``title`` is meant, or the only one for grades. With
    ``scale`` scores become the same share of the column's points, and with False they are written as they
    are; None asks where it matters. Raises `UsageError` where the file is no gradebook, where it is not clear
    which column is meant, where the only one has another title and grades that are not these scores, or where
    a full score is not what the column takes.
    """
    table = read_table(content)
    export = recognised(table)
    chosen, certain = _chosen(export, title, column)
    assigned = [row for row in range(len(export.rows)) if not _not_assigned(export, chosen, row)]
    matches = _matched(export, scores, set(assigned))
    style = _style(table, export, chosen)
    values: dict[Cell, str] = {}
    changed: list[tuple[str, str, str]] = []
    without_score: list[str] = []
    for row in assigned:
        score, cell = matches.scores.get(row), export.rows[row][chosen.index]
        if score is None or (score.excused and export.platform != "Canvas"):
            without_score.append(export.names[row])
            continue
        score = _scaled(score, _possible(export, chosen, row), chosen, scale=scale)
        new = _cell(score, style)
        _require_in_range(score, export, chosen, row)
        if not _same(cell.value, new):
            values[cell] = new
            changed.append((export.names[row], cell.value, new))
    if not certain:
        _require_no_other_grades(export, chosen, matches.scores, values)
    return Filled(
        table.replaced(values),
        export.platform,
        chosen.heading,
        tuple(changed),
        matches.without_row,
        tuple(without_score),
        matches.doubtful,
    )


# --- which column ---------------------------------------------------------------------------------------


_TITLED = ("Canvas", "Blackboard", "Brightspace")
"""Platforms whose column is named after its assignment."""


def _chosen(export: Export, title: str, column: str) -> tuple[Choice, bool]:
    """The column, and whether it certainly is the assignment's."""
    if column:
        return _named(export, column), True
    likely = [choice for choice in export.choices if choice.likely]
    titled = [choice for choice in likely or export.choices if title and folded(title) in choice.names]
    if len(titled) == 1:
        return titled[0], True
    if len(likely) == 1:
        return likely[0], not title or export.platform not in _TITLED
    offered = titled or likely or export.choices
    if not offered:
        raise UsageError(
            "the gradebook has no column for grades; export it with the assignment, and its grades if asked"
        )
    raise UsageError(
        f"it is not clear which column of the gradebook is meant: {_listed(offered)}; say it with `--column`,"
        " by its heading or its number"
    )


def _require_no_other_grades(
    export: Export, chosen: Choice, scores: Mapping[int, Score], values: Mapping[Cell, str]
) -> None:
    """Raise `UsageError` where a student has a grade there that is none of ours, but perhaps another work's.

    A column that is empty, or holds what the same scores gave the last time, is filled.
    """
    for row, record in enumerate(export.rows):
        cell = record[chosen.index]
        if cell.value.strip() and (cell in values or row not in scores):
            raise UsageError(
                f"the only column for grades, `{escaped(chosen.heading, 80)}`, has another title than this"
                f" assignment, and grades that are none of its (`{escaped(cell.value, 20)}` for"
                f" {escaped(export.names[row], 60)}); say that it is meant with `--column {chosen.index + 1}`"
            )


def _named(export: Export, column: str) -> Choice:
    exact = [choice for choice in export.choices if choice.heading == column]
    named = exact or [choice for choice in export.choices if folded(column) in choice.names]
    if not named and column.isascii() and column.isdigit():
        named = [choice for choice in export.choices if str(choice.index + 1) == column.lstrip("0")]
    if len(named) == 1:
        return named[0]
    shown = escaped(column, 80)
    if named:
        raise UsageError(
            f"several columns of the gradebook are called `{shown}`: {_listed(named)}; give the number of one"
        )
    raise UsageError(
        f"the gradebook has no column `{shown}` for grades;"
        + (f" expected one of {_listed(export.choices)}" if export.choices else " it has none at all")
    )


def _listed(choices: Sequence[Choice]) -> str:
    shown = [
        f"`{escaped(choice.heading, 80)}` (column {choice.index + 1})" for choice in choices[:_MOST_LISTED]
    ]
    number_of_others = len(choices) - len(shown)
    return ", ".join(shown) + (f" and {number_of_others:,} more" if number_of_others else "")


def _not_assigned(export: Export, chosen: Choice, row: int) -> bool:
    return export.platform == "Canvas" and export.rows[row][chosen.index].value.strip() == NOT_ASSIGNED


# --- whose row ------------------------------------------------------------------------------------------


@frozen
class _Matches:
    scores: dict[int, Score]
    without_row: tuple[str, ...]
    doubtful: tuple[str, ...]


_NUMBERS = (ATTRIBUTES["id"], ATTRIBUTES["sid"])
"""Attributes whose values are unique to a person, unlike addresses and logins."""


def _matched(export: Export, scores: Sequence[Score], assigned: set[int]) -> _Matches:
    """The score of each row; only what means one row, and alone, counts."""
    finder = _RowFinder(export, scores)
    owners: dict[int, set[int]] = {}
    doubtful: set[int] = set()
    without_row: list[str] = []
    for index, score in enumerate(scores):
        people = score.students or (Student(),)
        rows = [finder.rows_of(person, score) & assigned for person in people]
        for several in rows:
            if len(several) > 1:
                doubtful.add(index)
            else:
                for row in several:
                    owners.setdefault(row, set()).add(index)
        missing = [person for person, of_person in zip(people, rows, strict=True) if not of_person]
        if missing:
            without_row.append(_without_row(score, missing))
    doubtful |= {index for together in owners.values() if len(together) > 1 for index in together}
    written = {row: scores[min(of_person)] for row, of_person in owners.items() if not of_person & doubtful}
    return _Matches(
        written, tuple(without_row), tuple(scores[index].submission for index in sorted(doubtful))
    )


def _without_row(score: Score, missing: Sequence[Student]) -> str:
    """The submission, and who of its group has no row where the others have one."""
    if len(missing) == max(1, len(score.students)):
        return score.submission
    names = (person.name or person.login or person.email or person.id for person in missing)
    return f"{score.submission} ({', '.join(filter(None, names))})"


class _RowFinder:
    """Finder of the rows that a student may have."""

    def __init__(self, export: Export, scores: Sequence[Score]) -> None:
        keys = export.keys
        has_names = any(key.attributes == ATTRIBUTES["name"] for key in keys)
        self._called = export.names if export.platform == "Moodle" and has_names else ()
        self._keys = [(key, indexed(enumerate(key.forms))) for key in keys]
        people = [person for score in scores for person in score.students]
        self._decisive = [
            key
            for key, index in self._keys
            if key.attributes in _NUMBERS and any(_values(person, key) & index.keys() for person in people)
        ]
        """The numbers that identify a student: where they differ, an equal name is another person's."""

    def rows_of(self, person: Student, score: Score) -> set[int]:
        """The rows with the person's strongest key that has any; last those with the submission's names."""
        other_numbers: list[Key] = []
        for key, index in self._keys:
            values = _values(person, key)
            rows = _with_any(index, values, other_numbers)
            if key.attributes == ATTRIBUTES["id"]:
                rows -= self._rows_of_others(rows, person, score)
            if rows:
                return rows
            if values and key in self._decisive:
                other_numbers.append(key)
        if len(score.students) > 1:  # the names of a group's submission are no person's
            return set()
        names = {
            name for written_name in (score.submission, *score.names) for name in _spellings(written_name)
        }
        return set[int]().union(*(_with_any(index, names, other_numbers) for _, index in self._keys))

    def _rows_of_others(self, rows: set[int], person: Student, score: Score) -> set[int]:
        """The rows with a person's number and another's name: in Moodle teams have numbers, too."""
        if not person.name or not self._called:
            return set()
        words_of_person = _words(person.name, *score.names)
        return {row for row in rows if (words := _words(self._called[row])) and not words_of_person & words}


def _words(*names: str) -> set[str]:
    """The words of names: two ways to write one have some in common."""
    return {word for name in names for word in re.findall(r"[^\W\d_]+", folded(name))}


def _with_any(index: dict[str, set[int]], values: set[str], other_numbers: Sequence[Key]) -> set[int]:
    """The rows with one of the values, without those that have another number."""
    rows = set[int]().union(*(index.get(value, set()) for value in values))
    return {row for row in rows if not any(key.forms[row] for key in other_numbers)}


def _values(person: Student, key: Key) -> set[str]:
    """Values that a student has for a key, as they are compared."""
    if key.attributes == ATTRIBUTES["name"]:
        return forms_of_name(person.name)
    values = (folded(getattr(person, attribute)).removeprefix("#") for attribute in key.attributes)
    return {value for value in values if value}


def _spellings(name: str) -> set[str]:
    """A submission's name, and with blanks for the ``_`` that an id has in their stead."""
    return {folded(name), folded(name.replace("_", " "))} - {""}


# --- what is written ------------------------------------------------------------------------------------


@frozen
class _Style:
    """Number format of the file: the decimal mark, and the decimals that are always there."""

    mark: str = "."
    decimals: int = 0


def _style(table: Table, export: Export, chosen: Choice) -> _Style:
    """Write decimals as other cells of the column do, or else as other cells of the file do."""
    columns = [column for column in (chosen.index, chosen.reference) if column is not None]
    near = [row[column].value for row in table.records[1:] for column in columns if column < len(row)]
    all_cells = (cell.value for row in table.records[1:] for cell in row)
    mark = _mark(near) or _mark(all_cells) or "."
    decimals = 0
    if export.platform == "Moodle":
        parts = (re.fullmatch(r"\s*[0-9]+[.,]([0-9]+)\s*", value) for value in near)
        decimals = max((len(match[1]) for match in parts if match), default=0)
    return _Style(mark, min(decimals, _DECIMALS))


def _mark(values: Iterable[str]) -> str:
    """The decimal mark of these cells; none where they have no decimals, or some with each."""
    matches = (re.fullmatch(r"\s*-?[0-9]+([.,])[0-9]{1,5}\s*", value) for value in values)
    marks = {match[1] for match in matches if match}
    return marks.pop() if len(marks) == 1 else ""


def _cell(score: Score, style: _Style) -> str:
    """A cell that no spreadsheet takes for a formula: a number of at most two decimals, or ``EX``."""
    if score.excused:
        return EXCUSED
    if score.points < 0:
        raise UsageError(
            f"{escaped(score.submission, 80)}: has {float(score.points):g} points, which no gradebook takes;"
            " expected zero or more"
        )
    integer, _, part = f"{float(round(score.points, _DECIMALS)):.{_DECIMALS}f}".partition(".")
    part = part.rstrip("0").ljust(style.decimals, "0")
    return integer + (style.mark + part if part else "")


def _possible(export: Export, chosen: Choice, row: int) -> Fraction | None:
    """The most points of a cell, where the file says them: 0 says nothing."""
    most = chosen.possible
    if chosen.reference is not None:
        most = number(export.rows[row][chosen.reference].value)
    return most or None


def _scaled(score: Score, possible: Fraction | None, chosen: Choice, *, scale: bool | None) -> Score:
    """The score as it is to be written; raises `UsageError` where it is of other points than the column."""
    if score.excused or scale is False or score.most is None:
        return score
    column = f"the column `{escaped(chosen.heading, 80)}`"
    if possible is None:
        if scale:
            raise UsageError(f"nothing says how many points {column} takes, so nothing can be scaled to them")
        return score
    if score.most == possible:
        return score
    reached = f"{float(score.most):g}"
    missing = f" ({score.not_judged} not judged)" if score.not_judged else ""
    if not scale or not score.most:
        raise UsageError(
            f"{escaped(score.submission, 80)}: {reached} points could be reached{missing}, and {column} takes"
            f" {float(possible):g}; --scale writes the same share of these, --no-scale the points as they are"
            " (for a course: `scale = true` or `false` in grader.toml)"
        )
    return replace(score, points=score.points * possible / score.most)


def _same(old: str, new: str) -> bool:
    value = number(old)
    return old.strip() == new or (value is not None and value == number(new))


def _require_in_range(score: Score, export: Export, chosen: Choice, row: int) -> None:
    """Moodle passes over a grade that is more than the most points, and says nothing."""
    if chosen.reference is None or score.excused:
        return
    most = number(export.rows[row][chosen.reference].value)
    if most is not None and round(score.points, _DECIMALS) > most:
        raise UsageError(
            f"{escaped(score.submission, 80)}: has {float(score.points):g} points, but the column"
            f" `{escaped(chosen.heading, 40)}` takes at most {float(most):g}, and {export.platform} leaves"
            " out what is more; change the most points there, and download the worksheet again"
        )
