"""What was handed in as a tree of folders and files, wherever it lies: on disk, in an archive, in parts."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from grader.model import Detail, FindingCode
from grader.submission.files import Unusable, part, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_OF_TOOLS = frozenset({".git", ".hg", ".svn", ".idea", ".vscode", ".ipynb_checkpoints", ".cache", ".venv"})
"""Folders of tools, which may hold copies of sources that nobody handed in."""

_IGNORED = frozenset({"__macosx", "thumbs.db", "desktop.ini"})


class Item(Protocol):
    """A folder or a file that somebody handed in."""

    @property
    def name(self) -> str:
        """Its last name; any characters at all."""

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder itself; a link to one is not."""

    @property
    def is_file(self) -> bool:
        """Whether it is a file itself: no folder, link, device or pipe."""

    @property
    def noun(self) -> str:
        """What messages call it where it is a folder: ``folder``, ``archive``."""

    def items(self) -> list[Item]:
        """What is in a folder, sorted by name, without what `is_ignored`; raises `Unusable`."""

    def read(self, most: int, wanted: str) -> bytes:
        """The bytes of a file, ``most`` at most, which is to be ``wanted``; raises `Unusable`."""


def is_ignored(name: str) -> bool:
    """Whether it is a hidden file, or what operating systems leave behind."""
    return name.startswith(".") or name.casefold() in _IGNORED


@dataclass(frozen=True, slots=True)
class OnDisk:
    """A file or folder on disk; ``inside`` is the student's folder, which no link may lead out of."""

    path: Path
    inside: Path | None = None
    noun: str = "folder"

    @property
    def name(self) -> str:
        """Its name in the file system."""
        return self.path.name

    @property
    def is_folder(self) -> bool:
        """By its own mode."""
        return stat.S_ISDIR(mode(self.path))

    @property
    def is_file(self) -> bool:
        """By its own mode."""
        return stat.S_ISREG(mode(self.path))

    def items(self) -> list[Item]:
        """What is in it; all of it is this student's."""
        try:
            contents = entries(self.path)
        except OSError as error:
            reason: Detail = error.strerror.lower() if error.strerror else part("no-reason")
            raise Unusable(FindingCode.FOLDER_UNREADABLE, reason=reason) from error
        return [OnDisk(path, self.inside or self.path) for path in contents]

    def read(self, most: int, wanted: str) -> bytes:
        """See `read_bytes`."""
        return read_bytes(self.path, self.inside, most, wanted)


def entries(folder: Path) -> list[Path]:
    """What is in a folder on disk, sorted, without what nobody handed in; raises OSError."""
    with os.scandir(folder) as scanned:
        names = [entry.name for entry in scanned]
    kept = (folder / name for name in sorted(names) if not is_ignored(name))
    return [path for path in kept if not _is_our_output(path)]


def dotted(folder: Path, endings: Iterable[str]) -> list[Path]:
    """The folders in one on disk that begin with a dot and hold a file with such an ending; raises OSError.

    A student's folder may be called so, and so may what tools leave behind, which holds no such file.
    """
    with os.scandir(folder) as scanned:
        names = sorted(
            entry.name
            for entry in scanned
            if entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
        )
    return [folder / name for name in names if name not in _OF_TOOLS and _holds(folder / name, endings)]


def _holds(folder: Path, endings: Iterable[str]) -> bool:
    """Whether a folder can be read and holds a file with one of ``endings``."""
    try:
        return any(path.name.lower().endswith(tuple(endings)) for path in entries(folder))
    except OSError:
        return False


def _is_our_output(path: Path) -> bool:
    """Whether a folder is what `grader grade -o` wrote: nobody handed it in."""
    return (
        stat.S_ISDIR(mode(path))
        and (path / "journal.jsonl").is_file()
        and stat.S_ISDIR(mode(path / "grades"))
    )


def mode(path: Path) -> int:
    """Its own mode, not that of what a link leads to: that may be out of our reach."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


@dataclass(frozen=True, slots=True)
class Renamed:
    """An item under the name that it had before a learning platform put the student's in front."""

    item: Item
    name: str

    @property
    def is_folder(self) -> bool:
        """As before."""
        return self.item.is_folder

    @property
    def is_file(self) -> bool:
        """As before."""
        return self.item.is_file

    @property
    def noun(self) -> str:
        """As before."""
        return self.item.noun

    def items(self) -> list[Item]:
        """As before."""
        return self.item.items()

    def read(self, most: int, wanted: str) -> bytes:
        """As before."""
        return self.item.read(most, wanted)


@dataclass(frozen=True, slots=True)
class Bundle:
    """All that one student handed in, where it lies side by side with what others did."""

    name: str
    parts: tuple[Item, ...]
    is_folder: bool = True
    is_file: bool = False
    noun: str = "submission"

    def items(self) -> list[Item]:
        """Its files, and what its folders hold."""
        contents = [inner for part in self.parts for inner in (part.items() if part.is_folder else [part])]
        return by_name(contents)

    def read(self, most: int, wanted: str) -> bytes:  # noqa: ARG002 - as all items have it
        """Never: it is no file."""
        raise Unusable(FindingCode.SEVERAL_FILES, wanted=part(wanted))


def by_name(items: Iterable[Item]) -> list[Item]:
    """Sorted by their names."""
    return sorted(items, key=lambda item: item.name)
