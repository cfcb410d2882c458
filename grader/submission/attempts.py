"""Which folder in a student's folder counts: the only one, the newest attempt, the only one with a source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.submission.files import Unusable, ending

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.submission.items import Item

MAX_DEPTH = 4
"""So many folders below one another are opened to find a submission."""

MOST_FILES = 2000
"""So many names are looked at in search of a source; a project of somebody else's may lie there."""

_NUMBERED = re.compile(
    r"(?P<word>attempt|version|try|versuch|abgabe|v)[ _-]?(?P<number>\d{1,6})", re.IGNORECASE
)
_DATED = re.compile(r"\d{4}-\d\d-\d\d(?:[T _-]?\d\d(?:[-:.h]?\d\d){1,2})?")


@dataclass(frozen=True, slots=True)
class Inner:
    """The folder that counts and what is in it.

    ``earlier`` names attempts that a newer one took the place of. ``several`` names folders that could all be
    meant, where none is chosen.
    """

    folder: Item
    items: tuple[Item, ...]
    attempt: str = ""
    earlier: tuple[str, ...] = ()
    several: tuple[str, ...] = ()


def settle(folder: Item, groups: tuple[tuple[str, ...], ...], named: str = "") -> Inner:
    """Go down as long as no file of an ending in ``groups`` lies here, and one folder certainly is next.

    A folder called ``named`` is taken before others. Raises `Unusable` where a folder cannot be read.
    """
    wanted = {one for group in groups for one in group}
    inner = Inner(folder, tuple(folder.items()))
    for _ in range(MAX_DEPTH - 1):
        folders = [item for item in inner.items if item.is_folder]
        if not folders or any(not item.is_folder and ending(item.name) in wanted for item in inner.items):
            break
        chosen, earlier, several = _next(inner.items, folders, groups, named)
        if chosen is None:
            return Inner(inner.folder, inner.items, inner.attempt, inner.earlier, several)
        attempt = chosen.name if earlier else inner.attempt
        inner = Inner(chosen, tuple(chosen.items()), attempt, (*inner.earlier, *earlier))
    return inner


def _next(
    items: tuple[Item, ...], folders: list[Item], groups: tuple[tuple[str, ...], ...], named: str
) -> tuple[Item | None, tuple[str, ...], tuple[str, ...]]:
    """The folder to go into, the attempts before it; or none, and the folders that could be meant."""
    if len(items) == 1:
        return folders[0], (), ()
    if called := [item for item in folders if named and item.name == named]:
        return called[0], (), ()
    if len(folders) > 1 and (newest := _newest(folders)) is not None:
        every = tuple(one for group in groups for one in group)
        holding = [item for item in folders if holds(item, every)]
        if holding and newest not in holding:
            return None, (), tuple(item.name for item in folders)
        return newest, tuple(item.name for item in folders if item is not newest), ()
    for group in groups:
        holding = [item for item in folders if holds(item, group)]
        if holding:
            names = tuple(item.name for item in holding)
            return (holding[0], (), ()) if len(holding) == 1 else (None, (), names)
    return None, (), ()


def _newest(folders: list[Item]) -> Item | None:
    """The last attempt by its number or date; None where the folders are not called like attempts."""
    numbered = [_NUMBERED.fullmatch(item.name) for item in folders]
    if all(numbered) and len({match["word"].lower() for match in numbered if match}) == 1:
        keys = [int(match["number"]) for match in numbered if match]
        return folders[keys.index(max(keys))] if len(set(keys)) == len(keys) else None
    if all(_DATED.fullmatch(item.name) for item in folders):
        return max(folders, key=lambda item: item.name)
    return None


def holds(item: Item, endings: tuple[str, ...]) -> bool:
    """Whether a file with such an ending lies in a folder, at most `MAX_DEPTH` folders down."""
    return any(ending(name) in endings for name in _names(item))


def _names(folder: Item) -> Iterator[str]:
    waiting = [(folder, 1)]
    looked_at = 0
    while waiting:
        current, depth = waiting.pop(0)
        for item in _readable(current):
            looked_at += 1
            if looked_at > MOST_FILES:
                return
            if not item.is_folder:
                yield item.name
            elif depth < MAX_DEPTH:
                waiting.append((item, depth + 1))


def _readable(folder: Item) -> list[Item]:
    """What is in a folder; nothing where it cannot be read, for nobody may need it."""
    try:
        return folder.items()
    except Unusable:
        return []
