"""An archive → the folder that it holds, in memory: nothing is ever written to disk.

An archive is hostile. Of a zip file nothing is unpacked but the files that are asked for; of a tar file no
more than `MAX_UNPACKED` bytes. What is no plain file (a link, a device, an encrypted file) only matters where
it is the file that is wanted. A name that would lead out of a folder, two files of one name, and files that
lie in each other (a bomb) never come about by accident: with one of them nothing is read.

The standard library reads both formats: tar, which gzip may have compressed, and zip (PKWARE's APPNOTE
6.3.10).
"""

from __future__ import annotations

import gzip
import io
import re
import stat
import zlib
from dataclasses import field
from functools import partial
from itertools import pairwise
from struct import error as StructError  # noqa: N812 - it is a class
from tarfile import BLOCKSIZE, TarError, TarFile
from typing import IO, TYPE_CHECKING, TypeAlias, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from grader.base.records import frozen, mutable
from grader.base.text import escaped
from grader.grading.submission.items import (
    Item,
    Unusable,
    by_name,
    ending,
    is_ignored,
    not_wanted,
    require_size,
)
from grader.model import FindingCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from tarfile import TarInfo
    from typing import BinaryIO
    from zipfile import ZipInfo

MAX_UNPACKED = 32 * 2**20
"""Most bytes of all files of one student's archive together.

How well they are compressed does not matter: a table of zeros is no bomb, one byte more than this is.
"""

Trouble: TypeAlias = tuple[str, str] | None
"""Kind of a member, and the kind expected, by the names of their clauses; None where it can be read."""

LINK = ("is-link", "the-file-itself")
DEVICE = ("is-device-or-pipe", "a-source")


@frozen
class Packed:
    """A member: its whole name as it stands there, and how to get at its first bytes.

    ``trouble`` says why it cannot be read. ``load`` gives at most a given number of bytes, and raises
    `Unusable`.
    """

    name: str
    is_folder: bool
    size: int
    trouble: Trouble
    load: Callable[[int], bytes]


_LONGEST_HEADER = 16 * 1024
"""Bytes of a header beside the usual one: a long name, times to the nanosecond."""

_DAMAGED_TAR = (TarError, RuntimeError, EOFError, OSError, ValueError, OverflowError, IndexError, zlib.error)
"""Errors that `tarfile` and `gzip` raise for files that are none, or not whole."""


class _Headers(io.BytesIO):
    """A tar file of which only headers are read: no honest header has megabytes."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or not 0 <= size <= _LONGEST_HEADER:
            raise ValueError("a header that is too long")
        return super().read(size)


def tar_members(content: bytes, most: int, *, compressed: bool) -> list[Packed]:
    """Its members, ``most`` of them at most; raises `Unusable`."""
    try:
        if compressed:
            content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(MAX_UNPACKED + 1)
        if len(content) > MAX_UNPACKED:
            raise Unusable(FindingCode.ARCHIVE_TOO_LARGE, most=MAX_UNPACKED // 2**20)
        return [_tar_packed(content, info) for info in _listed(content, most)]
    except _DAMAGED_TAR as error:
        raise Unusable(FindingCode.ARCHIVE_DAMAGED) from error


def _listed(content: bytes, most: int) -> list[TarInfo]:
    headers: list[TarInfo] = []
    archive = TarFile(fileobj=_Headers(content), encoding="utf-8", errors="surrogateescape")
    while (info := archive.next()) is not None:
        headers.append(info)
        if len(headers) > most:
            raise Unusable(FindingCode.ARCHIVE_TOO_MANY, most=most)
    # `tarfile` takes a damaged header for the end, where there must be an empty block.
    end = content[archive.offset : archive.offset + BLOCKSIZE]
    if len(end) < BLOCKSIZE or any(end):
        raise Unusable(FindingCode.ARCHIVE_DAMAGED)
    return headers


def _tar_packed(content: bytes, info: TarInfo) -> Packed:
    load = partial(_tar_load, content, info.offset_data, info.size)
    return Packed(info.name, info.isdir(), info.size, None if info.isdir() else _tar_trouble(info), load)


def _tar_trouble(info: TarInfo) -> Trouble:
    if info.issym() or info.islnk():
        return LINK
    if not info.isreg() or info.issparse():
        return ("is-holes", "a-source") if info.isreg() else DEVICE
    return None


def _tar_load(content: bytes, start: int, size: int, most: int) -> bytes:
    data = content[start : start + min(size, most)] if start >= 0 <= size else b""
    if len(data) < min(size, most):
        raise Unusable(FindingCode.ARCHIVE_DAMAGED)
    return data


_LONGEST_ENTRY = 350
"""Bytes of the list of files for each member: 46, its name, its times and owners."""

_LOCAL_HEADER = 30
_ENCRYPTED = 0x1
_DAMAGED_ZIP = (
    BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    StructError,
    zlib.error,
)
"""Errors that `zipfile` raises for files that are none, or not whole."""


class _Sparing:
    """A file whose reads are limited to what an honest list of ``most`` members takes."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable
        self._file, self._members, self._most = file, most, most * _LONGEST_ENTRY

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(size) if 0 <= size <= self._most else self._file.read(self._most + 1)
        if len(content) > self._most:
            raise Unusable(FindingCode.ARCHIVE_TOO_MANY, most=self._members)
        return content

    def close(self) -> None:
        """Do nothing: the caller that opened the file closes it."""


def zip_members(file: BinaryIO, most: int, *, whole: bool) -> list[Packed]:
    """Its members, ``most`` of them at most; raises `Unusable`, also where the ``whole`` is too large."""
    try:
        archive = ZipFile(cast("IO[bytes]", _Sparing(file, most)))
    except _DAMAGED_ZIP as error:
        raise Unusable(FindingCode.ARCHIVE_DAMAGED) from error
    entries = archive.infolist()
    if len(entries) > most:
        raise Unusable(FindingCode.ARCHIVE_TOO_MANY, most=most)
    if whole and sum(info.file_size for info in entries) > MAX_UNPACKED:
        raise Unusable(FindingCode.ARCHIVE_TOO_LARGE, most=MAX_UNPACKED // 2**20)
    _require_apart(entries, archive.start_dir)
    return [_zip_packed(archive, info) for info in entries]


def _require_apart(entries: list[ZipInfo], end: int) -> None:
    """Files that overlap unpack to far more than there is: D. Fifield, *A better zip bomb*, 2019."""
    extents = sorted(
        (info.header_offset, info.header_offset + _LOCAL_HEADER + info.compress_size) for info in entries
    )
    starts_after = all(first[1] <= second[0] for first, second in pairwise([*extents, (end, end)]))
    if not starts_after or (extents and extents[0][0] < 0):
        raise Unusable(FindingCode.ARCHIVE_OVERLAPS)


def _zip_packed(archive: ZipFile, info: ZipInfo) -> Packed:
    # `filename` ends at the first NUL; the name as it stands there does not.
    name = info.orig_filename
    kind = stat.S_IFMT(info.external_attr >> 16)
    is_folder = name.replace("\\", "/").endswith("/") or kind == stat.S_IFDIR
    trouble = None if is_folder else _zip_trouble(info, kind)
    return Packed(name, is_folder, info.file_size, trouble, partial(_zip_load, archive, info))


def _zip_trouble(info: ZipInfo, kind: int) -> Trouble:
    if kind == stat.S_IFLNK:
        return LINK
    if kind not in {0, stat.S_IFREG}:
        return DEVICE
    if info.flag_bits & _ENCRYPTED:
        return "is-encrypted", "without-password"
    if info.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        return "is-compressed", "ordinary-zip"
    return None


def _zip_load(archive: ZipFile, info: ZipInfo, most: int) -> bytes:
    try:
        with archive.open(info) as stream:
            content = stream.read(most)
    except _DAMAGED_ZIP as error:
        raise Unusable(FindingCode.ARCHIVE_DAMAGED) from error
    if len(content) != min(info.file_size, most):
        raise Unusable(FindingCode.ARCHIVE_DAMAGED)
    return content


MAX_BYTES = 10 * 2**20
"""The largest archive of one student."""

MAX_MEMBERS = 10_000
"""The most files and folders in it; a `.git` may be among them."""

MAX_CLASS_MEMBERS = 50_000
"""The most in the archive of a class."""

_LONGEST_NAME = 1000
_LONGEST_PART = 255
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@frozen
class Member:
    """A file in an archive; ``trouble`` says why it cannot be read."""

    name: str
    size: int
    trouble: Trouble
    load: Callable[[int], bytes]
    is_folder: bool = False
    noun: str = "file"

    @property
    def is_file(self) -> bool:
        """True if it is a file; otherwise its trouble says what it is."""
        return not self.trouble

    def items(self) -> list[Item]:
        """None: it is a file."""
        return []

    def read(self, most: int, wanted: str) -> bytes:
        """Unpack it, and no more of it than ``most`` bytes; raises `Unusable`."""
        shown = escaped(self.name)
        if self.trouble:
            raise not_wanted(shown, *self.trouble)
        require_size(self.size, shown, most, wanted)
        content = self.load(most + 1)
        require_size(len(content), shown, most, wanted)
        return content


@mutable
class Folder:
    """A folder in an archive, or the archive itself."""

    name: str
    noun: str = "archive"
    held: dict[str, Item] = field(default_factory=dict)
    is_folder: bool = True
    is_file: bool = False
    hidden: set[str] = field(default_factory=set)
    """Names in it of what `is_ignored`."""

    def items(self) -> list[Item]:
        """Its contents, sorted."""
        return by_name(self.held.values())

    def read(self, most: int, wanted: str) -> bytes:  # noqa: ARG002 - as all items have it
        """Raise `Unusable`: it is no file."""
        raise not_wanted(escaped(self.name), "is-folder", wanted)


def opened(name: str, content: bytes) -> Folder:
    """Contents of one student's archive; raises `Unusable` where anything about it is wrong."""
    kind = ending(name)
    if kind == ".zip":
        members: Iterable[Packed] = zip_members(io.BytesIO(content), MAX_MEMBERS, whole=True)
    else:
        members = tar_members(content, MAX_MEMBERS, compressed=kind != ".tar")
    folder, spoilt = _tree(members)
    if spoilt:
        raise next(iter(spoilt.values()))
    return folder


def opened_class(name: str, file: BinaryIO) -> Folder:
    """Contents of the archive of a class, which may be large; it is read from ``file`` as items are.

    Where something is wrong with one name, all that lies under its first part is that student's problem.
    Raises `Unusable` where the archive as a whole cannot be read.
    """
    if ending(name) == ".zip":
        folder, spoilt = _tree(zip_members(file, MAX_CLASS_MEMBERS, whole=False))
    else:
        content = file.read(MAX_BYTES + 1)
        require_size(len(content), escaped(name), MAX_BYTES, "a-tar-archive")
        folder, spoilt = _tree(tar_members(content, MAX_CLASS_MEMBERS, compressed=ending(name) != ".tar"))
    for first, problem in spoilt.items():
        folder.held[first] = _Spoilt(first, problem)
    return folder


@frozen
class _Spoilt:
    """Part of an archive that must not be read."""

    name: str
    problem: Unusable
    is_folder: bool = True
    is_file: bool = False
    noun: str = "archive"

    def items(self) -> list[Item]:
        raise self.problem

    def read(self, most: int, wanted: str) -> bytes:  # noqa: ARG002 - as all items have it
        raise self.problem


def _tree(members: Iterable[Packed]) -> tuple[Folder, dict[str, Unusable]]:
    """The folder that the members make up; and by the first part of a name, what is wrong with it."""
    root = Folder("")
    spoilt: dict[str, Unusable] = {}
    for packed in members:
        name = packed.name.replace("\\", "/")
        try:
            _put(root, _parts(name), packed)
        except Unusable as unusable:
            first = next((part for part in name.split("/") if part not in {"", ".", ".."}), "archive")
            spoilt.setdefault(first, unusable)
    return root, spoilt


def _parts(name: str) -> list[str]:
    """The folders and the file of a name; raises `Unusable` for one that is no plain relative path."""
    shown = escaped(name, 60)
    parts = name.split("/")
    if name.startswith("/") or _DRIVE.match(name) or ".." in parts:
        raise Unusable(FindingCode.ARCHIVE_NAME_LEADS_OUT, name=shown)
    if _CONTROL.search(name):
        raise Unusable(FindingCode.ARCHIVE_NAME_CONTROL, name=shown)
    if len(name) > _LONGEST_NAME or max(map(len, parts)) > _LONGEST_PART:
        raise Unusable(FindingCode.ARCHIVE_NAME_LONG, name=shown, characters=len(name))
    return [part for part in parts if part not in {"", "."}]


def _put(root: Folder, parts: list[str], packed: Packed) -> None:
    """Add one member to the tree; raises `Unusable` where another is in its place."""
    if not parts:
        return
    if any(map(is_ignored, parts)):
        _hide(root, parts)
        return
    taken = Unusable(FindingCode.ARCHIVE_TWICE, name=escaped("/".join(parts), 60))
    folder = root
    for part in parts if packed.is_folder else parts[:-1]:
        inner = folder.held.setdefault(part, Folder(part, "folder"))
        if not isinstance(inner, Folder):
            raise taken
        folder = inner
    if packed.is_folder:
        return
    if parts[-1] in folder.held:
        raise taken
    folder.held[parts[-1]] = Member(parts[-1], packed.size, packed.trouble, packed.load)


def _hide(folder: Folder, parts: list[str]) -> None:
    """Note the name of what is ignored in the folder that it lies in, where that holds anything else."""
    for part in parts:
        if is_ignored(part):
            folder.hidden.add(part)
            return
        inner = folder.held.get(part)
        if not isinstance(inner, Folder):
            return
        folder = inner
