"""What lies in a folder that somebody handed in, and which of it is the source."""

from __future__ import annotations

import os
import re
import stat
from itertools import islice
from typing import TYPE_CHECKING

from grader.submission.files import MAX_BYTES, Unusable, read_bytes, read_source
from grader.submission.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grader.model import Named

SOURCES = (".cu", ".c", ".cpp", ".cuh", ".h")
"""Endings of files that may hold a kernel."""

MAX_ENTRIES = 1000
"""More than this many files in one student's folder are not a submission."""

MAX_DEPTH = 4
"""So many folders, each the only thing in the one before, are opened to find a submission."""

_IGNORED = frozenset({"__macosx", "thumbs.db", "desktop.ini"})
_HEADER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+ -]*\.(h|cuh)", re.IGNORECASE)


def entries(folder: Path) -> list[Path]:
    """What is in a folder, sorted, without hidden files and what operating systems leave behind."""
    with os.scandir(folder) as found:
        names = [entry.name for entry in found]
    kept = (folder / name for name in sorted(names) if name[0] != "." and name.casefold() not in _IGNORED)
    return [path for path in kept if not _is_our_output(path)]


def _is_our_output(path: Path) -> bool:
    """Whether a folder is what `grader grade -o` wrote: nobody handed it in."""
    return is_folder(path) and (path / "journal.jsonl").is_file() and is_folder(path / "grades")


def is_folder(path: Path) -> bool:
    """Whether it is a folder itself; a link to one is not."""
    return stat.S_ISDIR(_mode(path))


def _mode(path: Path) -> int:
    """Its own, not that of what a link leads to: that may be out of our reach."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def read_file(file: Path) -> tuple[str, bytes, Named[bytes]]:
    """The name of the source, its bytes, and no headers; raises `Unusable`."""
    if stat.S_ISREG(_mode(file)) and file.suffix.lower() not in SOURCES:
        endings = f"{', '.join(SOURCES[:-1])} or {SOURCES[-1]}"
        raise Unusable(f"`{harmless(file.name)}` is not a source file; expected the ending {endings}")
    return file.name, read_source(file, inside=None), ()


def read_folder(folder: Path) -> tuple[str, bytes, Named[bytes]]:
    """The name of the source, its bytes, and the headers beside it; raises `Unusable`."""
    files = _files(folder)
    source = _source(files)
    content = read_source(source, inside=folder)
    headers = tuple(
        (file.name, read_bytes(file, inside=folder))
        for file in files
        if file != source and _HEADER.fullmatch(file.name)
    )
    if sum(len(header) for _, header in headers) > MAX_BYTES:
        raise Unusable(f"the headers hold more than {MAX_BYTES // 2**20} MiB together; expected less")
    return source.name, content, headers


def _files(folder: Path) -> list[Path]:
    """The files of the folder or, if there is but one folder in it, of that one."""
    for _ in range(MAX_DEPTH):
        try:
            found = entries(folder)
        except OSError as error:
            reason = (error.strerror or "no reason given").lower()
            raise Unusable(f"the folder cannot be read: {reason}; check its permissions") from error
        if len(found) > MAX_ENTRIES:
            raise Unusable(f"the folder holds {len(found)} files; expected one .cu file and its headers")
        if len(found) != 1 or not is_folder(found[0]):
            break
        folder = found[0]
    if not found:
        raise Unusable("the folder is empty; expected one .cu file in it")
    return [path for path in found if not is_folder(path)]


def _source(files: list[Path]) -> Path:
    """The one ``.cu`` file, or else the one file of another ending that may hold a kernel."""
    for endings in ((".cu",), (".c", ".cpp", ".cuh"), (".h",)):
        candidates = [file for file in files if file.suffix.lower() in endings]
        if len(candidates) > 1:
            count = f"{len(candidates)} {' and '.join(endings)} files"
            raise Unusable(f"the folder holds {count} ({_listed(candidates)}); expected exactly one")
        if candidates:
            return candidates[0]
    held = f"it holds {_listed(files)}" if files else "it holds only folders"
    raise Unusable(f"the folder has no source file; expected one .cu file, and {held}")


def _listed(files: Iterable[Path]) -> str:
    names = [f"`{harmless(file.name, 60)}`" for file in islice(files, 9)]
    return ", ".join(names[:8] + ["…"] * (len(names) > 8))  # noqa: PLR2004 - eight names are enough
