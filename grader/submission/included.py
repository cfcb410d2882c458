"""Headers in folders below a source: those that an ``#include`` names come along, wherever they lie."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.submission.files import Unusable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from grader.submission.items import Item

MOST_FILES = 2000
"""So many files in folders below are looked at; a project of somebody else's may lie there."""
MOST_DEPTH = 3
"""So many folders below one another are opened."""

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">\n]{1,200})[\">]", re.MULTILINE)


def from_folders(
    source: bytes,
    known: Mapping[str, bytes],
    folders: list[Item],
    wanted: re.Pattern[str],
    read: Callable[[Item], bytes],
) -> dict[str, bytes]:
    """Headers in ``folders`` by their paths, ``lib/tile.hpp``: those that the source or a header names.

    The last part of a name decides, for ``../lib/tile.hpp`` and ``tile.hpp`` may both mean that file.
    """
    waiting = [source, *known.values()]
    if not folders or not any(map(_INCLUDE.search, waiting)):
        return {}
    below = dict(_files(folders, wanted))
    taken: dict[str, bytes] = {}
    while waiting:
        names = {_last(name.decode(errors="replace")) for name in _INCLUDE.findall(waiting.pop())}
        for path in [path for path in below if _last(path) in names]:
            taken[path] = read(below.pop(path))
            waiting.append(taken[path])
    return taken


def _files(folders: list[Item], wanted: re.Pattern[str]) -> Iterator[tuple[str, Item]]:
    """Files whose names are ``wanted``, by their paths from where the folders lie."""
    waiting = [(folder.name, folder, 1) for folder in folders]
    looked_at = 0
    while waiting:
        path, folder, depth = waiting.pop(0)
        for item in _readable(folder):
            looked_at += 1
            if looked_at > MOST_FILES:
                return
            inner = f"{path}/{item.name}"
            if item.is_folder and depth < MOST_DEPTH:
                waiting.append((inner, item, depth + 1))
            elif not item.is_folder and wanted.fullmatch(item.name):
                yield inner, item


def _readable(folder: Item) -> list[Item]:
    """What is in a folder; nothing where it cannot be read, for nobody may need it."""
    try:
        return folder.items()
    except Unusable:
        return []


def _last(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1].strip()
