"""Files into a job's folder and out of it; what comes out was written by somebody we do not trust."""

from __future__ import annotations

import os
import stat
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Named


def place(folder: Path, files: Named[bytes]) -> None:
    """Write ``files`` into ``folder``; raises ValueError for a name that leaves it."""
    for name, content in files:
        path = folder / _inside(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def fetch(folder: Path, wanted: tuple[str, ...], most: int) -> Named[bytes]:
    """Those of the ``wanted`` files that are there, regular, no links, and at most ``most`` bytes long."""
    inside = (name for name in wanted if _stays(folder, folder / _inside(name)))
    found = ((name, _read(folder / name, most)) for name in inside)
    return tuple((name, content) for name, content in found if content is not None)


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\0" in name:
        raise ValueError(f"{name!r} is no name for a file in a job's folder")
    return path


def _stays(folder: Path, path: Path) -> bool:
    """Whether no folder on the way to ``path`` is a link out of ``folder``."""
    return path.parent.resolve().is_relative_to(folder.resolve())


def _read(path: Path, most: int) -> bytes | None:
    """The file's bytes; None for what is missing, is no regular file or is too long."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode) or about.st_size > most:
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most)
