"""``OUT/removed/``: the grades of who is no longer in the class, until they are back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from grader.base.errors import StorageError
from grader.classroom.batch import places
from grader.classroom.batch.folder import GRADES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.classroom.batch.folder import OutFolder

REMOVED = "removed"


def remove_others(out: OutFolder, submissions: Sequence[str]) -> tuple[str, ...]:
    """Move grades of those who are not in the class any more into ``removed/``; gives their ids.

    A grade that was moved there before is kept: a later one gets a number behind ``~``, which no id has.
    """
    folder, staying = places.folder_in(out.path, GRADES), set(submissions)
    removed = places.folder_in(out.path, REMOVED)
    gone = sorted(path.name for path in folder.iterdir() if path.name not in staying and path.is_dir())
    for name in gone:
        target, number = removed / name, 1
        while os.path.lexists(target):
            number += 1
            target = removed / f"{name}~{number}"
        try:
            target.parent.mkdir(exist_ok=True)
            (folder / name).rename(target)
        except OSError as problem:
            raise StorageError(places.cannot_write(target, problem)) from None
    return tuple(gone)


def bring_back(out: OutFolder, submissions: Sequence[str]) -> None:
    """Move grades that were removed last back to where they were, of those who are in the class again."""
    removed = places.folder_in(out.path, REMOVED)
    for name in submissions:
        target, number = out.folder_of(name), 1
        newest = removed / name
        while (later := removed / f"{name}~{number + 1}").is_dir():
            newest, number = later, number + 1
        if newest.is_dir() and not newest.is_symlink() and not target.exists():
            try:
                newest.rename(target)
            except OSError as problem:
                raise StorageError(places.cannot_write(target, problem)) from None
