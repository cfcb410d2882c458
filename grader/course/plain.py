"""Folders and files that no platform named: which of them are students', and at which level they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.course.entries import Doubt, Entry, Left, Level, StaffQuestion
from grader.submission.attempts import holds, settle
from grader.submission.files import ARCHIVES, UNREAD_ARCHIVES, Unusable, ending, stem

if TYPE_CHECKING:
    from grader.submission.items import Item

Groups = tuple[tuple[str, ...], ...]

_HANDED_IN = "submitted files"
"""What Teams keeps beside ``Working files``."""

_MOST_ASKED = 200
"""So many folders of a level are looked into, in search of the level that is meant."""


def plain(
    level: Level, groups: Groups, assignment: str
) -> tuple[tuple[Entry, ...], tuple[StaffQuestion, ...]]:
    """An entry for each student, and what nobody can know.

    A file is a submission by its ending, also that of an archive which cannot be read. So is a folder, even
    with nothing in it that can be graded, for its student shall hear that; where something lies in several
    folders below, it is asked about.
    """
    endings = {suffix for group in groups for suffix in group}
    entries: list[Entry] = []
    questions: list[StaffQuestion] = []
    for item in level.items:
        if not item.is_folder:
            if ending(item.name) in {*endings, *UNREAD_ARCHIVES} or not item.is_file:
                entries.append(Entry(item, item.name, stem(item.name), item.name, file=item.name))
            continue
        try:
            inner = settle(item, groups, assignment)
        except Unusable:  # its student will hear why
            entries.append(Entry(item, item.name, item.name, item.name, file=item.name))
            continue
        if inner.several:
            questions.append(StaffQuestion(Doubt.SEVERAL, (item.name,), inner.several))
            continue
        entries += [
            Entry(item, item.name, item.name, item.name, left=Left.EARLIER, file=f"{item.name}/{name}")
            for name in inner.earlier
        ]
        entries.append(
            Entry(
                inner.folder,
                item.name,
                item.name,
                item.name,
                attempt=inner.attempt,
                attempts=len(inner.earlier) + 1,
                file=item.name,
            )
        )
    if questions and not entries:
        names = tuple(name for question in questions for name in question.names)
        return (), (StaffQuestion(Doubt.LEVEL, names, questions[0].detail),)
    return tuple(entries), tuple(questions)


def next_level(level: Level, groups: Groups, assignment: str, *, unwrap: bool) -> Item | None:
    """The folder in which the students' are, where they are not here: None where this level is the one.

    It is the only folder (in an archive, which is to be ``unwrap``ped, whatever it holds; on disk where it
    holds several students' and no source of its own), the one that is called like the assignment, or the only
    one that may be.
    """
    endings = {suffix for group in groups for suffix in group}
    folders = [item for item in level.items if item.is_folder]
    if len(level.items) == 1 and folders:
        return folders[0] if unwrap or _holds_several(folders[0], groups) else None
    if of_teams := [item for item in folders if item.name.casefold() == _HANDED_IN]:
        return of_teams[0]
    if any(
        _settles(item, groups) if item.is_folder else ending(item.name) in endings for item in level.items
    ):
        return None
    if of_assignment := [item for item in folders if assignment and item.name == assignment]:
        return of_assignment[0]
    holding = [item for item in folders[:_MOST_ASKED] if holds(item, tuple(endings))]
    return holding[0] if len(holding) == 1 else None


def _settles(item: Item, groups: Groups) -> bool:
    """Whether a folder certainly is one student's."""
    endings = {one for group in groups for one in group}
    try:
        inner = settle(item, groups)
    except Unusable:
        return True
    return any(not one.is_folder and ending(one.name) in endings for one in inner.items)


def _holds_several(folder: Item, groups: Groups) -> bool:
    """Whether no source certainly is a folder's own, but several students' folders or archives lie in it."""
    try:
        inner = settle(folder, groups)
    except Unusable:
        return False
    sources = {suffix for group in groups for suffix in group}.difference(ARCHIVES)
    if any(not item.is_folder and ending(item.name) in sources for item in inner.items):
        return False
    archives = [item for item in inner.items if not item.is_folder and ending(item.name) in ARCHIVES]
    return len(inner.several) + len(archives) > 1 or bool(archives and inner.items != tuple(archives))
