"""The staff's mistakes as files to hand in, whether they lie in `mistakes/` or are edits of another file."""

from __future__ import annotations

import hashlib
import tempfile
from functools import cache
from pathlib import Path

from grader.authoring.validation import mistake_sources


def mistake(path: Path) -> bytes:
    """The bytes of `.../mistakes/NAME`; of any other file those that it has."""
    return path.read_bytes() if path.is_file() else _sources(path.parents[1])[path.name]


def mistake_file(path: Path) -> Path:
    """The file `.../mistakes/NAME`, or one of that name elsewhere with the same bytes."""
    return path if path.is_file() else _written(path)


def mistake_files(folder: Path) -> list[Path]:
    """All of a folder `mistakes` that are code, in the order of their names."""
    return [mistake_file(folder / name) for name in mistake_names(folder)]


def mistake_names(folder: Path) -> list[str]:
    """The names of those."""
    return sorted(name for name in _sources(folder.parent) if name.endswith(".cu"))


@cache
def _sources(staff: Path) -> dict[str, bytes]:
    return mistake_sources(staff)


@cache
def _written(path: Path) -> Path:
    """In a folder of this process, below one that is called `mistakes` as well."""
    source, key = mistake(path), hashlib.sha256(str(path.parent).encode()).hexdigest()[:8]
    place = Path(_folder().name) / key / path.parent.name
    place.mkdir(parents=True, exist_ok=True)
    (place / path.name).write_bytes(source)
    return place / path.name


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mistakes-")
