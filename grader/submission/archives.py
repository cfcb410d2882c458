"""An archive → the folder that it holds, in memory: nothing is ever written to disk.

An archive is hostile. Of a zip file nothing is unpacked but the files that are asked for; of a tar file no
more than `packed.MAX_UNPACKED` bytes. What is no plain file (a link, a device, an encrypted file) only
matters where it is the file that is wanted. A name that would lead out of a folder, two files of one name,
and files that lie in each other (a bomb) never come about by accident: with one of them nothing is read.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.submission import tars, zips
from grader.submission.files import Unusable, require_size
from grader.submission.items import Item, by_name, is_ignored
from grader.submission.names import ending
from grader.text import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import BinaryIO

    from grader.submission.packed import Packed

MAX_BYTES = 10 * 2**20
"""The largest archive of one student."""

MAX_MEMBERS = 10_000
"""The most files and folders in it; somebody's `.git` may be among them."""

MAX_CLASS_MEMBERS = 50_000
"""The most in the archive of a class."""

_LONGEST_NAME = 1000
_LONGEST_PART = 255
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive; ``trouble`` says why it cannot be read, to be put behind its name."""

    name: str
    size: int
    trouble: str
    load: Callable[[int], bytes]
    is_folder: bool = False
    noun: str = "file"

    @property
    def is_file(self) -> bool:
        """What is none can be told by its trouble."""
        return not self.trouble

    def items(self) -> list[Item]:
        """None: it is a file."""
        return []

    def read(self, most: int, wanted: str) -> bytes:
        """Unpack it, and no more of it than ``most`` bytes; raises `Unusable`."""
        shown = escaped(self.name)
        if self.trouble:
            raise Unusable(f"`{shown}` {self.trouble}")
        require_size(self.size, shown, most, wanted)
        content = self.load(most + 1)
        require_size(len(content), shown, most, wanted)
        return content


@dataclass(slots=True)
class Folder:
    """A folder in an archive, or the archive itself."""

    name: str
    noun: str = "archive"
    held: dict[str, Item] = field(default_factory=dict)
    is_folder: bool = True
    is_file: bool = False

    def items(self) -> list[Item]:
        """What is in it, sorted."""
        return by_name(self.held.values())

    def read(self, most: int, wanted: str) -> bytes:  # noqa: ARG002 - as all items have it
        """Never: it is no file."""
        raise Unusable(f"`{escaped(self.name)}` is a folder; expected {wanted}")


def opened(name: str, content: bytes) -> Folder:
    """What one student's archive holds; raises `Unusable` where anything about it is wrong."""
    kind = ending(name)
    if kind == ".zip":
        found: Iterable[Packed] = zips.members(io.BytesIO(content), MAX_MEMBERS, whole=True)
    else:
        found = tars.members(content, MAX_MEMBERS, compressed=kind != ".tar")
    folder, spoilt = _tree(found)
    if spoilt:
        raise Unusable(next(iter(spoilt.values())))
    return folder


def opened_class(name: str, file: BinaryIO) -> list[Item]:
    """What the archive of a class holds, which may be large; it is read from ``file`` as items are.

    Where something is wrong with one name, all that lies under its first part is that student's problem.
    Raises `Unusable` where the archive as a whole cannot be read.
    """
    if ending(name) == ".zip":
        folder, spoilt = _tree(zips.members(file, MAX_CLASS_MEMBERS, whole=False))
    else:
        content = file.read(MAX_BYTES + 1)
        require_size(len(content), escaped(name), MAX_BYTES, "a tar archive")
        folder, spoilt = _tree(tars.members(content, MAX_CLASS_MEMBERS, compressed=ending(name) != ".tar"))
    held = dict(folder.held)
    for first, message in spoilt.items():
        held[first] = _Spoilt(first, message)
    return by_name(held.values())


@dataclass(frozen=True, slots=True)
class _Spoilt:
    """What nobody may read."""

    name: str
    message: str
    is_folder: bool = True
    is_file: bool = False
    noun: str = "archive"

    def items(self) -> list[Item]:
        raise Unusable(self.message)

    def read(self, most: int, wanted: str) -> bytes:  # noqa: ARG002 - as all items have it
        raise Unusable(self.message)


def _tree(found: Iterable[Packed]) -> tuple[Folder, dict[str, str]]:
    """The folder that the members make up; and by the first part of a name, what is wrong with it."""
    root = Folder("")
    spoilt: dict[str, str] = {}
    for packed in found:
        name = packed.name.replace("\\", "/")
        try:
            _put(root, _parts(name), packed)
        except Unusable as unusable:
            first = next((part for part in name.split("/") if part not in {"", ".", ".."}), "archive")
            spoilt.setdefault(first, str(unusable))
    return root, spoilt


def _parts(name: str) -> list[str]:
    """The folders and the file of a name; raises `Unusable` for one that is no plain relative path."""
    shown = f"the archive holds `{escaped(name, 60)}`"
    parts = name.split("/")
    if name.startswith("/") or _DRIVE.match(name) or ".." in parts:
        raise Unusable(f"{shown}, which leads out of it; expected names without `..` and drives")
    if _CONTROL.search(name):
        raise Unusable(f"{shown}, a name with control characters; expected plain names")
    if len(name) > _LONGEST_NAME or max(map(len, parts)) > _LONGEST_PART:
        raise Unusable(f"{shown}, a name of {len(name):,} characters; expected shorter ones")
    return [part for part in parts if part not in {"", "."}]


def _put(root: Folder, parts: list[str], packed: Packed) -> None:
    """Add one member to the tree; raises `Unusable` where another is in its place."""
    if not parts or any(map(is_ignored, parts)):
        return
    taken = f"the archive holds `{escaped('/'.join(parts), 60)}` twice; expected it once"
    folder = root
    for part in parts if packed.is_folder else parts[:-1]:
        inner = folder.held.setdefault(part, Folder(part))
        if not isinstance(inner, Folder):
            raise Unusable(taken)
        folder = inner
    if packed.is_folder:
        return
    if parts[-1] in folder.held:
        raise Unusable(taken)
    folder.held[parts[-1]] = Member(parts[-1], packed.size, packed.trouble, packed.load)
