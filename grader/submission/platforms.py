"""Whose file it is, where a learning platform has written the student into its name.

What the platforms document, or write when staff ask for all submissions of an assignment:

    Moodle      ``Ada Lovelace_12345_assignsubmission_file_/kernel.cu``, or the same in one name,
                ``Ada Lovelace_12345_assignsubmission_file_kernel.cu``
    Canvas      ``lovelaceada_12345_678901_kernel.cu``, with ``_LATE`` after the name where it was
    Gradescope  ``submission_12345/kernel.cu``, beside ``submission_metadata.yml``

A name of any other form stays as it is: nobody guesses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.submission.items import Bundle, Renamed, by_name

if TYPE_CHECKING:
    from grader.submission.items import Item

_MOODLE = re.compile(r"(?P<student>.+_\d+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?")
_CANVAS = re.compile(r"(?P<student>[^\W_]+(?:_LATE)?_\d{2,})_\d{4,}_(?P<file>.+)")
_GRADESCOPE = re.compile(r"submission_\d+")
_GRADESCOPE_LIST = "submission_metadata.yml"


def is_download(items: list[Item]) -> bool:
    """Whether any name is one that a platform writes."""
    return any(_student(item) for item in items) or _is_gradescope(items)


def by_student(items: list[Item]) -> list[Item]:
    """An item for each student; what a platform split into several is one again, under its own names."""
    if _is_gradescope(items):
        return [item for item in items if item.name != _GRADESCOPE_LIST]
    theirs: dict[str, list[Item]] = {}
    others = []
    for item in items:
        named = _student(item)
        if named is None:
            others.append(item)
        else:
            student, name = named
            theirs.setdefault(student, []).append(Renamed(item, name) if name else item)
    return by_name([*others, *(Bundle(student, tuple(parts)) for student, parts in theirs.items())])


def _student(item: Item) -> tuple[str, str] | None:
    """The student, and what the file was called (nothing for a folder); None where the name does not say."""
    match = _MOODLE.fullmatch(item.name) or (not item.is_folder and _CANVAS.fullmatch(item.name)) or None
    return (match["student"], match["file"] or "") if match else None


def _is_gradescope(items: list[Item]) -> bool:
    names = {item.name for item in items}
    return _GRADESCOPE_LIST in names and any(map(_GRADESCOPE.fullmatch, names))
